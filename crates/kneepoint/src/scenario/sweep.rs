// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sweeps: every combination of the values in `[sweep]`, written into the tree.
//!
//! Fields that vary together form one axis with its own name, whose values are tables of paths and values.
//! A point is labelled by its `name`, or else by its first value:
//!
//! ```text
//! [sweep]
//! bandwidth = [{ "topology.rate" = "1mbit", "flows.long.count" = 5 }, { "topology.rate" = "1gbit", … }]
//! ```

use super::extensions::Extensions;
use super::host;
use super::scheme;
use super::traffic::label;
use super::tree::{Key, Node, Table, Value};
use crate::fault::Faults;
use crate::suggest::did_you_mean;
use crate::tcp::Host;

/// More cases would take days to run and gigabytes to list.
const GREATEST_PRODUCT: usize = 10_000;

/// A field and its values, or a name for fields that vary together.
pub(crate) struct Axis {
    path: Key,
    values: Vec<Node>,
}

/// The axes of `[sweep]`, in order.
pub(crate) fn axes(root: &Table, faults: &mut Faults) -> Vec<Axis> {
    let mut axes = Vec::new();
    let Some((key, node)) = root.entries.iter().find(|(key, _)| key.text == "sweep") else { return axes };
    match &node.value {
        Value::Table(table) => collect("", table, &mut axes, faults),
        _ => faults.add_with_help(
            &node.span,
            "`sweep` must be a section",
            "write its axes under a line `[sweep]`",
        ),
    }
    let cases = axes.iter().try_fold(1usize, |cases, axis| cases.checked_mul(axis.values.len()));
    if cases.is_none_or(|cases| cases > GREATEST_PRODUCT) {
        let message = format!("the sweep has more than {GREATEST_PRODUCT} combinations");
        faults.add_with_help(&key.span, message, "sweep fewer values, or split the scenario");
    }
    axes
}

/// Collects axes; a path may be one quoted key or dotted keys.
fn collect(prefix: &str, table: &Table, axes: &mut Vec<Axis>, faults: &mut Faults) {
    for (key, node) in &table.entries {
        let path = format!("{prefix}{}", key.text);
        match &node.value {
            Value::Table(inner) => collect(&format!("{path}."), inner, axes, faults),
            Value::List(values) if !values.is_empty() => {
                let swept = |value: &Node| Node { swept: true, ..value.clone() };
                let values = values.iter().map(swept).collect();
                axes.push(Axis { path: Key { text: path, span: key.span.clone() }, values });
            }
            _ => {
                let message = format!("{path}: `{}` is not a list of values", node.show());
                faults.add_with_help(
                    &node.span,
                    message,
                    "write them as in `\"topology.rate\" = [\"1mbit\", \"10mbit\"]`",
                );
            }
        }
    }
}

/// The number of combinations.
pub(crate) fn combinations(axes: &[Axis]) -> usize {
    axes.iter().map(|axis| axis.values.len()).product()
}

/// The settings of one combination and the tree with them applied; the last axis varies fastest.
pub(crate) fn point(
    root: &Table,
    axes: &[Axis],
    mut index: usize,
    extensions: &Extensions,
    faults: &mut Faults,
) -> (Vec<(String, String)>, Table) {
    let mut tree = root.clone();
    let mut chosen = Vec::new();
    for axis in axes.iter().rev() {
        chosen.push((axis, &axis.values[index % axis.values.len()]));
        index /= axis.values.len();
    }
    chosen.reverse();
    let mut settings = Vec::new();
    for (axis, value) in chosen {
        match &value.value {
            Value::Table(together) if !is_field(&axis.path, extensions) => {
                let first = || together.entries.first().map(|(_, first)| first);
                let label = together.get("name").or_else(first).map(Node::show);
                settings.push((axis.path.text.clone(), label.unwrap_or_default()));
                write_all(&mut tree, together, extensions, faults);
            }
            _ => {
                let label = value.show();
                let label = if axis.path.text == "scheme" { scheme::declared(&label) } else { label };
                settings.push((axis.path.text.clone(), label));
                write(&mut tree, &axis.path, value, extensions, faults);
            }
        }
    }
    (settings, tree)
}

/// Whether a path names a field, and not a set of fields that vary together.
fn is_field(path: &Key, extensions: &Extensions) -> bool {
    path.text.contains('.') || extensions.top().contains(&path.text.as_str())
}

/// Writes several fields. A path that starts with `sweep.` replaces the values of an axis.
pub(crate) fn write_all(tree: &mut Table, settings: &Table, extensions: &Extensions, faults: &mut Faults) {
    for (path, value) in &settings.entries {
        let value = Node { swept: true, ..value.clone() };
        match path.text.strip_prefix("sweep.") {
            Some(axis) => assign(tree, &["sweep", axis], path, &value, faults),
            None => write(tree, path, &value, extensions, faults),
        }
    }
}

pub(super) fn write(
    tree: &mut Table,
    path: &Key,
    value: &Node,
    extensions: &Extensions,
    faults: &mut Faults,
) {
    let steps: Vec<&str> = path.text.split('.').collect();
    match steps.as_slice() {
        ["scheme"] => write_scheme(tree, path, value, extensions, faults),
        ["sweep", ..] | ["run", "seed" | "seeds"] => {
            let message = format!("`{}` cannot be swept", path.text);
            faults.add_with_help(
                &path.span,
                message,
                "every case runs with every seed; set `seeds` in [run]",
            );
        }
        ["figure", ..] => {
            let message = format!("`{}` cannot be swept", path.text);
            faults.add_with_help(
                &path.span,
                message,
                "all cases are in one figure: write its fields in [figure]",
            );
        }
        [section, group, rest @ ..]
            if extensions.sections().any(|one| one == *section) && !rest.is_empty() =>
        {
            for table in groups(tree, section, group, path, extensions, faults) {
                assign(table, rest, path, value, faults);
            }
        }
        ["link", link, rest @ ..] if !rest.is_empty() => {
            for table in links(tree, link, path, faults) {
                assign(table, rest, path, value, faults);
            }
        }
        [section, field] if extensions.sections().any(|one| one == *section) => {
            let message = format!("`{}`: there may be several groups of [[{section}]]", path.text);
            faults.add_with_help(
                &path.span,
                message,
                format!("name one, or all as in `{section}.*.{field}`"),
            );
        }
        steps => assign(tree, steps, path, value, faults),
    }
}

/// The groups of a section selected by a path: the group of that name, or all for `*`.
fn groups<'t>(
    tree: &'t mut Table,
    section: &str,
    name: &str,
    path: &Key,
    extensions: &Extensions,
    faults: &mut Faults,
) -> Vec<&'t mut Table> {
    let nodes = match tree.get_mut(section).map(|node| &mut node.value) {
        Some(Value::List(nodes)) => nodes.as_mut_slice(),
        _ => &mut [],
    };
    let mut tables: Vec<&mut Table> = nodes
        .iter_mut()
        .filter_map(|node| match &mut node.value {
            Value::Table(table) => Some(table),
            _ => None,
        })
        .collect();
    if name != "*" {
        let names: Vec<String> = tables.iter().map(|table| label(table, section, extensions)).collect();
        tables.retain(|table| label(table, section, extensions) == name);
        if tables.is_empty() {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let message = format!("no group of [[{section}]] is named `{name}`");
            faults.add_with_help(&path.span, message, did_you_mean(name, &names));
        }
    }
    tables
}

/// The links of a graph selected by a path: the one between two nodes, `a-b`, or all for `*`.
fn links<'t>(tree: &'t mut Table, name: &str, path: &Key, faults: &mut Faults) -> Vec<&'t mut Table> {
    let nodes = match tree.get_mut("link").map(|node| &mut node.value) {
        Some(Value::List(nodes)) => nodes.as_mut_slice(),
        _ => &mut [],
    };
    let tables = nodes.iter_mut().filter_map(|node| match &mut node.value {
        Value::Table(table) => Some(table),
        _ => None,
    });
    let end = |table: &Table, field: &str| table.get(field).map(Node::show).unwrap_or_default();
    let called = |table: &Table| format!("{}-{}", end(table, "from"), end(table, "to"));
    let (own, others): (Vec<&mut Table>, Vec<&mut Table>) =
        tables.partition(|table| name == "*" || called(table) == name);
    if own.is_empty() {
        let names: Vec<String> = others.iter().map(|table| called(table)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let message = format!("no [[link]] leads from and to as in `{name}`");
        faults.add_with_help(&path.span, message, did_you_mean(name, &names));
    }
    own
}

/// Writes a value at a path, creating the tables in between.
pub(super) fn assign(table: &mut Table, steps: &[&str], path: &Key, value: &Node, faults: &mut Faults) {
    let [step, rest @ ..] = steps else { return };
    if table.get(step).is_none() {
        let key = Key { text: step.to_string(), span: path.span.clone() };
        let inner = Table { span: path.span.clone(), entries: Vec::new() };
        table.entries.push((key, Node { span: path.span.clone(), swept: true, value: Value::Table(inner) }));
    }
    let Some(node) = table.get_mut(step) else { return };
    if rest.is_empty() {
        *node = value.clone();
        return;
    }
    // A name in place of a table is the table's kind: `cc = "pert"`, swept by `cc.t1`.
    if let Some(kind) = node.as_text().map(|text| Node { swept: node.swept, ..Node::text(text, &node.span) })
    {
        let key = Key { text: "kind".into(), span: node.span.clone() };
        node.value = Value::Table(Table { span: node.span.clone(), entries: vec![(key, kind)] });
    }
    match &mut node.value {
        Value::Table(inner) => assign(inner, rest, path, value, faults),
        _ => faults.add(&path.span, format!("`{step}` in `{}` has no fields", path.text)),
    }
}

/// Applies a scheme: controller and recovery of all groups, discipline and feedback of the bottleneck.
fn write_scheme(tree: &mut Table, path: &Key, value: &Node, extensions: &Extensions, faults: &mut Faults) {
    let Some(parts) = value.as_text().map(scheme::Parts::of) else {
        let message = format!("`{}` is not a scheme", value.show());
        faults.add_with_help(
            &value.span,
            message,
            "write it as in `pert`, `sack/droptail` or `pert:t1=5ms/red`",
        );
        return;
    };
    let text = |text: &str| Node { swept: true, ..Node::text(text, &value.span) };
    let host = match tree.get("tcp").map(|node| &node.value) {
        Some(Value::Table(tcp)) => host::host(tcp).unwrap_or(Host::Paper),
        _ => Host::Paper,
    };
    let recovery = parts.recovery(host);
    for section in extensions.connecting() {
        if tree.get(section).is_none() {
            continue;
        }
        for table in groups(tree, section, "*", path, extensions, faults) {
            assign(table, &["cc"], path, &text(parts.control), faults);
            if let Some(recovery) = recovery {
                assign(table, &["tcp", "recovery"], path, &text(recovery.name()), faults);
            }
        }
    }
    assign(tree, &["queue"], path, &text(parts.queue), faults);
    if let Some(feedback) = parts.feedback {
        assign(tree, &["feedback"], path, &text(feedback), faults);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Choosing one of a family by name: `"pert"`, `"pert:t1=5ms"` or `{ kind = "pert", t1 = "5ms" }`.

use std::ops::Range;

use super::extensions::Extensions;
pub(crate) use super::family::{Family, Members};
use super::reader::{Shape, fill};
use super::tree::{Key, Node, Table, Value};
use crate::fault::Faults;
use crate::settings::Raw;
use crate::settings::names::same_name;
use crate::suggest::{MANY, did_you_mean};
use crate::tcp;

/// Whether a name means a preset before it means a member: `reno` is both.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Precedence {
    Members,
    Presets,
}

/// A choice, and the recovery of its preset.
pub(crate) struct Chosen<F> {
    pub config: F,
    pub recovery: Option<tcp::Recovery>,
}

/// Reads a choice; `None` after a fault.
pub(crate) fn choose<F: Family>(
    node: &Node,
    place: &str,
    precedence: Precedence,
    extensions: &Extensions,
    faults: &mut Faults,
) -> Option<Chosen<F>> {
    let table = unfold(node, F::MEMBERS, place, faults)?;
    choose_from(&table, &Table::default(), place, precedence, extensions, faults)
}

/// Keys of a choice's table besides the parameters of the member that it names.
pub(super) const BESIDES: &[&str] = &["kind"];

/// Reads a choice from a table with a `kind`; `None` after a fault.
pub(crate) fn choose_in<F: Family>(
    table: &Table,
    place: &str,
    precedence: Precedence,
    extensions: &Extensions,
    faults: &mut Faults,
) -> Option<Chosen<F>> {
    choose_from(table, &Table::default(), place, precedence, extensions, faults)
}

/// Reads a choice whose parameters begin at those that `defaults` has under its name, or else at its own; `None` after a fault.
pub(crate) fn choose_from<F: Family>(
    table: &Table,
    defaults: &Table,
    place: &str,
    precedence: Precedence,
    extensions: &Extensions,
    faults: &mut Faults,
) -> Option<Chosen<F>> {
    let members = F::MEMBERS;
    let kind = match table.get("kind").map(|kind| (kind, kind.as_text())) {
        Some((kind, Some(name))) => (name, &kind.span),
        Some((kind, None)) => {
            let help = meant::<F>(&kind.show(), extensions);
            faults.add_with_help(&kind.span, format!("`{}` is not a {}", kind.show(), members.what), help);
            return None;
        }
        None if members.implied => (members.registry[0].name, &table.span),
        None => {
            let help = meant::<F>("", extensions);
            faults.add_with_help(
                &table.span,
                format!("{place} needs `kind`, the name of a {}", members.what),
                help,
            );
            return None;
        }
    };
    let kind = (members.declared(kind.0).unwrap_or(kind.0), kind.1);
    let Some(mut chosen) = named::<F>(kind.0, precedence, extensions) else {
        let message = format!("there is no {} called `{}`", members.what, kind.0);
        faults.add_with_help(kind.1, message, meant::<F>(kind.0, extensions));
        return None;
    };
    let place = format!("{place} (kind {})", kind.0);
    let before = faults.len();
    let common = defaults.entries.iter().find(|(key, _)| same_name(&key.text, kind.0));
    if let Some((_, Node { value: Value::Table(common), .. })) = common {
        let shape = Shape { place: &place, ..Shape::default() };
        fill(common, shape, &mut [&mut chosen.config], faults);
    }
    let shape = Shape { place: &place, besides: BESIDES, required: (members.required)(kind.0) };
    fill(table, shape, &mut [&mut chosen.config], faults);
    (faults.len() == before).then_some(chosen)
}

/// The remedy for a name that no member has.
pub(super) fn meant<F: Family>(name: &str, extensions: &Extensions) -> String {
    let names = extensions.names::<F>();
    let help = did_you_mean(name, &names);
    if names.len() > MANY { help + " (`knee list` shows all names)" } else { help }
}

fn named<F: Family>(name: &str, precedence: Precedence, extensions: &Extensions) -> Option<Chosen<F>> {
    let member = || extensions.member::<F>(name).map(|config| Chosen { config, recovery: None });
    let preset = || {
        let (preset, _) = F::MEMBERS.presets().find(|(preset, _)| preset.name == name)?;
        let mut config = F::member(preset.of)?;
        for (field, value) in preset.set {
            config.assign(field, &Raw::guess(value)).ok()?;
        }
        Some(Chosen { config, recovery: preset.recovery })
    };
    match precedence {
        Precedence::Members => member().or_else(preset),
        Precedence::Presets => preset().or_else(member),
    }
}

/// The long form of a choice from a family: a table with a `kind`.
pub(crate) fn unfold(node: &Node, family: Members, place: &str, faults: &mut Faults) -> Option<Table> {
    let mut table = match (&node.value, node.as_text()) {
        (Value::Table(table), _) => table.clone(),
        (_, Some(text)) => {
            let kind = Node { swept: node.swept, ..Node::text(text, &node.span) };
            Table { span: node.span.clone(), entries: vec![(key("kind", &node.span), kind)] }
        }
        _ => {
            let message = format!("{place}: `{}` is not a name", node.show());
            faults.add_with_help(&node.span, message, "write a name in quotes, or a table with a `kind`");
            return None;
        }
    };
    let short = table.get("kind").and_then(Node::as_text).map(str::to_string).unwrap_or_default();
    let Some((kind, settings)) = short.split_once(':') else { return Some(table) };
    let span = table.place("kind").clone();
    if let Some(name) = table.get_mut("kind") {
        name.value = Value::Scalar(Raw::Text(kind.trim().to_string()));
    }
    for setting in settings.split(',') {
        let Some((name, value)) = setting.split_once('=') else {
            let message = format!("{place}: `{}` sets nothing", setting.trim());
            faults.add_with_help(&span, message, "write settings as in `pert:t1=5ms,decrease=0.3`");
            return None;
        };
        let value = Node { span: span.clone(), swept: false, value: Value::Scalar(Raw::guess(value.trim())) };
        table.entries.push((key(family.parameter(kind, name), &span), value));
    }
    Some(table)
}

fn key(text: &str, span: &Range<usize>) -> Key {
    Key { text: text.to_string(), span: span.clone() }
}

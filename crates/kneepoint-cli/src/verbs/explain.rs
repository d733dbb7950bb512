// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee explain`: equations, source and parameters of an algorithm, as its own file states them.

use clap::Args;
use kneepoint::settings::Field;
use serde_json::{Value, json};

use crate::catalogue::{self, Item, Kind};
use crate::failure::Failure;
use crate::files;

/// What to explain.
#[derive(Args)]
pub struct Arguments {
    /// A name that `knee list` shows
    name: String,
}

/// Explains everything of that name: a controller and a recovery may share one.
pub fn explain(arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let all = catalogue::items(&Kind::ALL);
    let named = all.iter().filter(|item| item.name == arguments.name).collect::<Vec<_>>();
    if named.is_empty() {
        let message = format!("nothing is called `{}`", arguments.name);
        let near = catalogue::nearest(&arguments.name, all.iter().map(|item| item.name));
        let list = "`knee list` shows every name";
        return Err(Failure::usage(
            message,
            near.map_or(list.to_string(), |near| format!("did you mean `{near}`? {list}")),
        ));
    }
    if as_json {
        return files::print_json(&named.into_iter().map(explanation_json).collect());
    }
    files::print(named.into_iter().map(explanation).collect::<Vec<_>>().join("\n"))
}

fn explanation_json(item: &Item) -> Value {
    json!({
        "kind": item.kind.singular(),
        "name": item.name,
        "summary": item.summary,
        "citation": item.citation,
        "header": item.header,
        "parameters": catalogue::fields_json(item.fields),
    })
}

fn explanation(item: &Item) -> String {
    // The fences are for documentation in HTML.
    let header = item.header.lines().filter(|line| !line.starts_with("```")).collect::<Vec<_>>().join("\n");
    let mut text = format!("{} ({})\n\n{}\n", item.name, item.kind.singular(), header.trim_end());
    if !item.fields.is_empty() {
        text += &format!("\nParameters\n\n{}", table(item.fields));
    }
    text
}

/// Name, default, allowed values, then the sentence on a line of its own where a terminal is narrow.
fn table(fields: &[Field]) -> String {
    let allowed = |field: &Field| match (field.range)() {
        Some(range) => range,
        None if field.choices.is_empty() => field.kind.to_string(),
        None => field.choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
    };
    let rows = fields.iter().map(|field| {
        [field.name.to_string(), (field.default)(), allowed(field), field.doc.replace('\n', " ")]
    });
    let heading = ["name", "default", "allowed", ""].map(str::to_string);
    let rows = std::iter::once(heading).chain(rows).collect::<Vec<_>>();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (name, default, range) = (width(0), width(1), width(2).min(32));
    rows.iter()
        .map(|[n, d, r, doc]| {
            format!("  {n:<name$}  {d:<default$}  {r:<range$}  {doc}").trim_end().to_string() + "\n"
        })
        .collect()
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee explain`: equations, source and parameters of an algorithm, from the documentation in its file.

use clap::Args;
use kneepoint::settings::Field;
use kneepoint::suggest::closest;
use serde_json::{Value, json};

use crate::catalogue::{self, Item, Kind};
use crate::failure::Failure;
use crate::{files, terminal};

/// Arguments of `knee explain`.
#[derive(Args)]
pub struct Arguments {
    /// A name shown by `knee list`
    name: String,
}

/// Explains every item of that name: a controller and a recovery may share one.
pub fn explain(arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let all = catalogue::items(&Kind::ALL);
    let named = all.iter().filter(|item| item.name == arguments.name).collect::<Vec<_>>();
    if named.is_empty() {
        let names = all.iter().map(|item| item.name).collect::<Vec<_>>();
        let near = closest(&arguments.name, &names).map(|near| format!("did you mean `{near}`? "));
        return Err(Failure::usage(
            format!("nothing is named `{}`", arguments.name),
            near.unwrap_or_default() + "`knee list` shows every name",
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
    let header = terminal::documentation(&item.header, terminal::columns());
    let mut text = format!("{} ({})\n\n{header}", item.name, item.kind.singular());
    if !item.fields.is_empty() {
        text += &format!("\nParameters\n\n{}", table(item.fields));
    }
    text
}

/// A table of name, default, allowed values and description.
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
            terminal::hanging(
                &format!("  {n:<name$}  {d:<default$}  {r:<range$}  "),
                doc,
                terminal::columns(),
            )
        })
        .collect()
}

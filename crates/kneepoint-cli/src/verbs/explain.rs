// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee explain`: equations, source and parameters of an algorithm, from the documentation in its file.

use clap::Args;
use kneepoint::settings::Field;
use kneepoint::suggest::closest;
use serde_json::{Value, json};

use crate::catalogue::{self, Item, Kind};
use crate::failure::Failure;
use crate::{completion, files, terminal};

/// Arguments of `knee explain`.
#[derive(Args)]
pub struct Arguments {
    /// A name shown by `knee list`
    #[arg(add = completion::name())]
    name: String,
}

/// Explains every item of that name: a controller and a recovery may share one.
pub fn explain(arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let all = catalogue::items(&Kind::ALL);
    let named = all.iter().filter(|item| item.is_called(&arguments.name)).collect::<Vec<_>>();
    if named.is_empty() {
        let names = all.iter().map(|item| item.name).collect::<Vec<_>>();
        let near = closest(&arguments.name, &names).map(|near| format!("did you mean `{near}`? "));
        return Err(Failure::usage(
            format!("nothing is named `{}`", arguments.name),
            near.unwrap_or_default() + "`knee list` shows every name",
        ));
    }
    if as_json {
        let items: Vec<_> = named.into_iter().map(explanation_json).collect();
        return files::print_json(&json!({ "items": items }));
    }
    let text = named.iter().map(|item| explanation(item, terminal::columns())).collect::<Vec<_>>().join("\n");
    files::print(meanings(&named) + &text)
}

/// Where a name means what, if it means several things.
fn meanings(items: &[&Item]) -> String {
    let [first, _, ..] = items else { return String::new() };
    let width = items.iter().map(|item| item.kind.singular().len()).max().unwrap_or(0);
    let meaning = |item: &&Item| {
        let name = format!("  {:<width$}  ", item.kind.singular());
        terminal::hanging(&name, item.kind.written(), terminal::columns())
    };
    let lines = items.iter().map(meaning).collect::<String>();
    format!("`{}` is the name of {} things, by where it is written:\n{lines}\n", first.name, items.len())
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

fn explanation(item: &Item, columns: Option<usize>) -> String {
    let header = terminal::documentation(&item.header, columns);
    let mut text = format!("{} ({})\n\n{header}", item.name, item.kind.singular());
    if !item.fields.is_empty() {
        text += &format!("\nParameters\n\n{}", table(item.fields, columns));
    }
    text
}

/// A table of name, default, allowed values and description.
fn table(fields: &[Field], columns: Option<usize>) -> String {
    let allowed = |field: &Field| match field.range() {
        Some(range) => range,
        None if field.choices.is_empty() => field.kind.to_string(),
        None => field.choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "),
    };
    let rows = fields
        .iter()
        .map(|field| [field.name.to_string(), field.default(), allowed(field), field.doc.replace('\n', " ")]);
    let heading = ["name", "default", "allowed", ""].map(str::to_string);
    let rows = std::iter::once(heading).chain(rows).collect::<Vec<_>>();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (name, default, range) = (width(0), width(1).min(20), width(2).min(32));
    let row = |[n, d, r, doc]: &[String; 4]| {
        let cells = format!("  {n:<name$}  {d:<default$}  {r:<range$}");
        match columns {
            // Such as a list of rates by default.
            Some(columns) if cells.trim_end().chars().count() > columns => {
                terminal::hanging(&format!("  {n:<name$}  "), &format!("{d}, {r}: {doc}"), Some(columns))
            }
            _ => terminal::hanging(&format!("{cells}  "), doc, columns),
        }
    };
    rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_explanation_fits_a_terminal_and_says_all_that_a_pipe_gets() {
        let letters = |text: &str| text.split_whitespace().collect::<String>();
        for item in catalogue::items(&Kind::ALL) {
            let shown = explanation(&item, Some(80));
            for line in shown.lines() {
                assert!(line.chars().count() <= 80, "{}: {line}", item.name);
            }
            let whole = terminal::documentation(&item.header, None);
            let header = terminal::documentation(&item.header, Some(80));
            assert_eq!(letters(&header), letters(&whole), "{}", item.name);
            let shown = letters(&shown);
            for field in item.fields {
                for part in [field.name, &field.default(), field.doc] {
                    assert!(shown.contains(&letters(part)), "{}: {part} of {}", item.name, field.name);
                }
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee explain`: equations, source and parameters of an algorithm, from the documentation in its file.

mod keys;

use clap::Args;
use kneepoint::settings::Field;
use kneepoint::suggest::guess;
use kneepoint_bench::session::Session;
use serde_json::{Value, json};

use super::Verb;
use crate::catalogue::{self, Item, Kind};
use crate::failure::Failure;
use crate::{completion, terminal};

/// Explain an algorithm: equations, source, parameters
#[derive(Args)]
#[command(after_help = "Example:\n  knee explain pert")]
pub struct Arguments {
    /// A name shown by `knee list`, the head of a column in a table, or a key of JSON, CSV or Parquet
    #[arg(add = completion::name())]
    name: String,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: None };

/// Explains every item of that name: a controller and a recovery may share one.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let name = &arguments.name;
    let all = catalogue::known(session.extensions(), &Kind::ALL);
    let named = all.iter().filter(|item| item.is_called(name)).collect::<Vec<_>>();
    if !named.is_empty() {
        return print(session, &named, as_json);
    }
    let keys = keys::named(name);
    if !keys.is_empty() {
        return keys::print(session, &keys, as_json);
    }
    let headed = catalogue::headed(name);
    if !headed.is_empty() {
        return print(session, &headed.iter().collect::<Vec<_>>(), as_json);
    }
    let meant = catalogue::with_words(name);
    match &meant[..] {
        [] => Err(unknown(name, &all)),
        [first, rest @ ..] if rest.iter().all(|other| other.name == first.name) => {
            print(session, &meant.iter().collect::<Vec<_>>(), as_json)
        }
        several => Err(ambiguous(name, several)),
    }
}

fn print(session: &Session, named: &[&Item], as_json: bool) -> Result<(), Failure> {
    if as_json {
        let items: Vec<_> = named.iter().map(|item| explanation_json(item)).collect();
        return session.print_json(&json!({ "items": items }));
    }
    let text = named.iter().map(|item| explanation(item, terminal::columns())).collect::<Vec<_>>().join("\n");
    session.print(meanings(named) + &text)
}

/// The failure for an unknown name.
fn unknown(name: &str, all: &[Item]) -> Failure {
    let names = all.iter().map(|item| item.name).collect::<Vec<_>>();
    Failure::usage(
        format!("nothing is named `{name}`"),
        guess(name, &names) + "`knee list` shows every name; docs/output.md has the keys of files",
    )
}

/// Names in a remedy.
const OFFERED: usize = 8;

/// The failure for a word that several names have.
fn ambiguous(name: &str, items: &[Item]) -> Failure {
    let mut names = items.iter().map(|item| format!("`{}`", item.name)).collect::<Vec<_>>();
    names.dedup();
    let more = match names.len().saturating_sub(OFFERED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names.truncate(OFFERED);
    Failure::usage(
        format!("nothing is named `{name}`, and several names have it as a word"),
        format!("name one: {}{more}; `knee list` shows every name", names.join(", ")),
    )
}

/// The meanings of a name, if it has several.
fn meanings(items: &[&Item]) -> String {
    let [first, rest @ ..] = items else { return String::new() };
    if rest.is_empty() || rest.iter().any(|other| other.name != first.name) {
        return String::new();
    }
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
            // For example, a list of rates by default.
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
    use kneepoint::measure::Subject;

    use super::*;

    #[test]
    fn every_metric_is_found_by_its_key_and_says_its_heading_and_unit() {
        let all = catalogue::items(&[Kind::Metrics]);
        for metric in Subject::ALL.iter().flat_map(|subject| subject.metrics()) {
            let item = all.iter().find(|item| item.is_called(&metric.key)).expect("every metric is an item");
            assert!(
                item.header.contains(&metric.title) && item.header.contains(&metric.key),
                "{}",
                metric.key
            );
            let meant = catalogue::headed(&metric.short);
            assert!(meant.iter().any(|one| one.name == metric.key), "{}", metric.short);
        }
    }

    #[test]
    fn a_word_that_one_name_has_stands_for_it() {
        let names = |items: Vec<Item>| items.iter().map(|item| item.name).collect::<Vec<_>>();
        assert_eq!(names(catalogue::headed("Jain")), ["jain_index"]);
        assert_eq!(names(catalogue::with_words("jain")), ["jain_index"]);
        assert!(names(catalogue::headed("p99 delay")).contains(&"queueing_delay_p99_ms"));
        assert!(catalogue::with_words("chains").is_empty() && catalogue::with_words("").is_empty());
    }

    #[test]
    fn every_explanation_fits_a_terminal_and_says_all_that_a_pipe_gets() {
        let letters = |text: &str| text.split_whitespace().collect::<String>();
        for item in catalogue::items(&Kind::ALL) {
            let shown = explanation(&item, Some(80));
            for line in shown.lines() {
                assert!(line.chars().count() <= 80, "{}: {line}", item.name);
            }
            let whole = terminal::documentation(&item.header, None);
            assert!(
                !whole.contains("](super") && !whole.contains("](crate"),
                "{}: a link within the source leads a reader nowhere",
                item.name
            );
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The schema agrees with the reader.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use kneepoint::scenario::{Fault, example, parse, parse_with, schema};
use serde_json::{Map, Number, Value, json};
use toml::de::{DeTable, DeValue};

use crate::common::mutations;
use crate::common::schema::{Refusal, Validator};

fn table(table: &DeTable) -> Value {
    let entries = table.iter().map(|(key, value)| (key.get_ref().to_string(), node(value.get_ref())));
    Value::Object(entries.collect::<Map<_, _>>())
}

fn node(value: &DeValue) -> Value {
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Integer(number) => {
            let whole = i64::from_str_radix(number.as_str(), number.radix());
            whole.map_or_else(
                |_| json!(number.as_str().parse::<f64>().unwrap_or(f64::MAX)),
                |whole| json!(whole),
            )
        }
        // JSON has no NaN and no infinity; nothing in a scenario may be null.
        DeValue::Float(number) => number
            .as_str()
            .parse()
            .ok()
            .and_then(Number::from_f64)
            .map_or(Value::Null, |number| json!(number)),
        DeValue::Boolean(value) => json!(value),
        DeValue::Datetime(date) => json!(date.to_string()),
        DeValue::Array(values) => values.iter().map(|one| node(one.get_ref())).collect(),
        DeValue::Table(inner) => table(inner),
    }
}

fn validator() -> &'static Validator {
    static VALIDATOR: LazyLock<Validator> = LazyLock::new(|| Validator::new(schema()));
    &VALIDATOR
}

fn refusals(text: &str) -> Vec<String> {
    let document = table(DeTable::parse(text).unwrap().get_ref());
    validator().refusals(&document).into_iter().map(|(place, why)| format!("{place}: {why}")).collect()
}

fn scenarios() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut scenarios: Vec<(String, String)> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    scenarios.sort();
    assert!(scenarios.len() >= 6);
    scenarios
}

#[test]
fn the_schema_takes_the_example_and_every_scenario() {
    assert_eq!(refusals(&example()), [""; 0]);
    for (name, text) in scenarios() {
        assert_eq!(refusals(&text), [""; 0], "{name}");
    }
}

#[test]
fn every_scenario_is_read() {
    for (name, text) in scenarios() {
        let folder = Path::new(&name).parent().unwrap();
        let read = |file: &str| std::fs::read_to_string(folder.join(file)).map_err(|error| error.to_string());
        let plan = parse_with(&text, &read).unwrap_or_else(|faults| panic!("{name}: {faults:#?}"));
        assert!(!plan.cases.is_empty() && plan.name != "untitled", "{name}");
    }
}

#[test]
fn what_the_schema_refuses_the_reader_refuses_too() {
    let scenario = "[topology]\nrate = \"1mbit\"\n[[flows]]\ncc = \"reno\"\n";
    assert_eq!(refusals(scenario), [""; 0]);
    for wrong in [
        "nmae = \"x\"\n[topology]\nrate = \"1mbit\"\n[[flows]]\ncc = \"reno\"\n",
        "[topology]\nrate = \"1mbit\"\n",
        "[topology]\nkind = \"chain\"\nrtt = \"1s\"\nrate = \"1mbit\"\n[[flows]]\ncc = \"reno\"\n",
        "[topology]\nrate = \"1mbit\"\n[[flows]]\ncount = -1\ncc = \"reno\"\n",
        "[topology]\nrate = \"1mbit\"\n[[flows]]\ncc = \"rno\"\n",
        "[tcp]\nrecovery = \"x\"\n[topology]\nrate = \"1mbit\"\n[[flows]]\ncc = \"reno\"\n",
        "[topology]\nrate = \"1mbit\"\n[[flows]]\ncc = { kind = \"reno\", decrease = 2 }\n",
    ] {
        assert!(!refusals(wrong).is_empty(), "{wrong}");
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_number_in_percent_is_the_same_number_for_both() {
    let with = |p: &str| {
        format!(
            "[topology]\nrate = \"1mbit\"\n[[flows]]\ncc = \"reno\"\n[loss]\nkind = \"uniform\"\np = {p}\n"
        )
    };
    let plan =
        |p: &str| parse(&with(p)).unwrap_or_else(|faults| panic!("{p}: {faults:#?}")).cases[0].valid.clone();
    for (percent, plain) in [("\"1%\"", "0.01"), ("\"0.7 %\"", "0.007"), ("\"100%\"", "1")] {
        assert_eq!(plan(percent), plan(plain), "{percent}");
        assert_eq!(refusals(&with(percent)), [""; 0], "{percent}");
    }
    for wrong in ["\"1\"", "\"-1%\"", "\"1 percent\"", "\"%\""] {
        assert!(!refusals(&with(wrong)).is_empty() && parse(&with(wrong)).is_err(), "{wrong}");
    }
    assert!(parse(&with("\"101%\"")).is_err());
}

/// A kind of fault that a schema cannot express, and words of its messages.
struct Kind {
    name: &'static str,
    says: &'static [&'static str],
}

/// Only these kinds: a schema sees one value at a time, and a text as a text.
const INEXPRESSIBLE: &[Kind] = &[
    Kind {
        name: "a quantity out of its range: it is a text with a unit",
        says: &[
            "\" is outside the allowed range",
            "] is outside the allowed range",
            "is outside the allowed range: times",
            "bdp` is outside the allowed range",
            "is not a whole number of packets",
            "is out of range: a",
        ],
    },
    Kind {
        name: AGREE,
        says: &[
            "reaches beyond duration",
            "is empty: let it end after it begins",
            "ends before it begins",
            "asks for more than 2000000 samples",
            "is not before the end of the run",
            "is not after the start",
            "starts after the end of the run",
            "stops before it starts",
            "is shorter than",
            "is above that of its access link",
            "does not hold one packet",
            "above the",
            "both `",
            "a size of",
            "one flow at",
            "comes after",
        ],
    },
    Kind {
        name: "a name that has to exist, or to be one of its kind",
        says: &[
            "there is no node",
            "there is no router",
            "no path leads",
            "enters and leaves at the same router",
            "two groups of traffic are called",
            "two nodes called",
            "cannot be distinguished from a path",
            "` to itself",
        ],
    },
    Kind {
        name: "a field that another section requires, or excludes",
        says: &["a graph needs", "means nothing in a", "has no links", "is the mean of a trace"],
    },
    Kind { name: "a scenario without a sender", says: &["nobody sends anything"] },
    Kind {
        name: "the content of a file",
        says: &["files cannot be opened here", ": line ", "\" is not a transfer"],
    },
];
const AGREE: &str = "values that do not agree with each other";
/// Told by its place.
const SHORT: &str = "settings behind a name, as in `pert:t1=5ms`";
const DATE: &str = "a date, which is a text in JSON";
const SWEPT: &str = "a sweep, whose values are those of other fields";

/// The kind of a fault that a schema cannot express.
fn kind(text: &str, fault: &Fault) -> Option<&'static str> {
    let line = text[..fault.span.start].rfind('\n').map_or(0, |at| at + 1);
    let line = text[line..].lines().next().unwrap_or_default();
    let value = line.split_once('=').map_or(line, |(_, value)| value).trim();
    let by_message =
        INEXPRESSIBLE.iter().find(|kind| kind.says.iter().any(|says| fault.message.contains(says)));
    let begins_like_a_date = value
        .get(..5)
        .is_some_and(|year| year.ends_with('-') && year[..4].bytes().all(|c| c.is_ascii_digit()));
    // `[run]: …`, against `[run] has no field …`, `[run] needs …`
    let of_a_section = fault.message.starts_with('[')
        && ![" has no field ", " needs `"].iter().any(|says| fault.message.contains(says));
    match by_message {
        Some(kind) => Some(kind.name),
        None if of_a_section => Some(AGREE),
        None if text.lines().any(|any| any.trim_start().starts_with("[sweep")) => Some(SWEPT),
        None if begins_like_a_date => Some(DATE),
        None if value.contains('"') && value.contains(':') => Some(SHORT),
        None => None,
    }
}

/// The sections that a sweep writes to: former contents are not read.
fn replaced(document: &Value) -> Vec<String> {
    fn paths(value: &Value, above: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(table) => table.iter().for_each(|(key, inner)| {
                let path = format!("{above}{key}");
                found.push(path.clone());
                paths(inner, &format!("{path}."), found);
            }),
            // Fields that vary together.
            Value::Array(values) => {
                values.iter().filter(|one| one.is_object()).for_each(|one| paths(one, "", found))
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    paths(&document["sweep"], "", &mut found);
    found
}

/// Whether a schema's refusal at a place concerns a field that a sweep replaces.
fn is_replaced(swept: &[String], section: &str) -> bool {
    let by_scheme =
        |path: &String| path == "scheme" && !["run", "topology", "node", "link", "tcp"].contains(&section);
    swept.iter().any(|path| path.split('.').next() == Some(section) || by_scheme(path))
}

#[test]
fn the_schema_and_the_reader_agree_on_changed_scenarios() {
    let mut wrong: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut met: BTreeSet<&str> = BTreeSet::new();
    let (mut both, mut neither) = (0, 0);
    for case in 0..mutations::cases() {
        let text = mutations::mutated(case);
        let Ok(document) = DeTable::parse(&text) else { continue };
        let document = table(document.get_ref());
        let refused = validator().refusals(&document);
        let mut note = |what: String, example: &str| {
            let known =
                wrong.entry(what.chars().filter(|c| !c.is_ascii_digit()).take(120).collect()).or_default();
            *known = (known.0 + 1, example.to_string());
        };
        match parse(&text) {
            Ok(_) if refused.is_empty() => both += 1,
            Err(_) if !refused.is_empty() => neither += 1,
            Ok(_) => {
                let swept = replaced(&document);
                let unread = |(place, _): &&Refusal| {
                    is_replaced(&swept, place.trim_start_matches('/').split('/').next().unwrap_or_default())
                };
                for (place, why) in refused.iter().filter(|one| !unread(one)) {
                    note(format!("the schema alone refuses {place}: {why}"), &text);
                }
            }
            Err(faults) => {
                for fault in &faults {
                    match kind(&text, fault) {
                        Some(kind) => {
                            met.insert(kind);
                        }
                        None => note(format!("the reader alone refuses: {}", fault.message), &text),
                    }
                }
            }
        }
    }
    for (what, (count, _)) in &wrong {
        println!("{count} times {what}");
    }
    if let Some((what, (_, example))) = wrong.first_key_value() {
        panic!("{} differences, as {what}:\n{example}", wrong.len());
    }
    assert!(
        mutations::cases() < 1000 || (both > 100 && neither > 100),
        "{both} accepted, {neither} refused by both"
    );
    // Few texts meet few kinds.
    if mutations::cases() >= 100_000 {
        let all = INEXPRESSIBLE.iter().map(|kind| kind.name).chain([SHORT, DATE, SWEPT]);
        let never: Vec<&str> = all.filter(|kind| !met.contains(kind)).collect();
        assert!(never.is_empty(), "nothing is refused for {never:?}");
    }
}

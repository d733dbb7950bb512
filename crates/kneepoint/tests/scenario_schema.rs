// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The schema agrees with the reader.

use std::path::Path;

use kneepoint::scenario::{example, parse, parse_with, schema};
use serde_json::{Map, Number, Value, json};
use toml::de::{DeTable, DeValue};

fn table(table: &DeTable) -> Value {
    let entries = table.iter().map(|(key, value)| (key.get_ref().to_string(), node(value.get_ref())));
    Value::Object(entries.collect::<Map<_, _>>())
}

fn node(value: &DeValue) -> Value {
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Integer(number) => json!(number.as_str().parse::<i64>().unwrap()),
        DeValue::Float(number) => json!(Number::from_f64(number.as_str().parse().unwrap()).unwrap()),
        DeValue::Boolean(value) => json!(value),
        DeValue::Datetime(date) => json!(date.to_string()),
        DeValue::Array(values) => values.iter().map(|one| node(one.get_ref())).collect(),
        DeValue::Table(inner) => table(inner),
    }
}

fn refusals(text: &str) -> Vec<String> {
    let document = table(DeTable::parse(text).unwrap().get_ref());
    let validator = jsonschema::draft202012::new(&schema()).unwrap();
    validator.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path())).collect()
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
fn the_schema_is_a_schema() {
    assert!(jsonschema::meta::is_valid(&schema()));
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

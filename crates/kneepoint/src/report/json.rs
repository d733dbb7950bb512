// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Outcomes for machines. Numbers read back unchanged; an undefined one is `null`. The series go to CSV or Parquet.

use serde::Serialize;

use super::SCHEMA_VERSION;

/// An outcome with its version.
#[derive(Serialize)]
struct Versioned<'a, T> {
    schema_version: u32,
    #[serde(flatten)]
    outcome: &'a T,
}

/// Serializing fails only for values other than objects, and for maps with keys other than strings; outcomes are objects without such maps.
const OBJECTS: &str = "outcomes are objects with string keys";

/// An outcome as one JSON object, indented: `schema_version`, and the fields of the outcome.
pub fn render(outcome: &impl Serialize) -> String {
    let versioned = Versioned { schema_version: SCHEMA_VERSION, outcome };
    serde_json::to_string_pretty(&versioned).expect(OBJECTS) + "\n"
}

/// The same on one line.
pub fn line(outcome: &impl Serialize) -> String {
    serde_json::to_string(&Versioned { schema_version: SCHEMA_VERSION, outcome }).expect(OBJECTS)
}

/// A JSON object whose one list has each of its objects on a line: a document for one reader, lines for another.
pub fn lines(list: &str, objects: &[serde_json::Value]) -> String {
    let objects = objects.iter().map(serde_json::Value::to_string).collect::<Vec<_>>();
    format!("{{\"schema_version\": {SCHEMA_VERSION}, \"{list}\": [\n{}\n]}}\n", objects.join(",\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    #[test]
    fn an_outcome_has_its_version_first_and_a_list_has_a_line_for_each_object() {
        let text = super::render(&json!({"a": 0.1, "b": f64::NAN}));
        assert!(text.starts_with("{\n  \"schema_version\": 4,\n  \"a\": 0.1,\n  \"b\": null\n}"), "{text}");
        let objects = [json!({"a": 1}), json!({"a": 2})];
        let lines = super::lines("claims", &objects);
        assert_eq!(lines.lines().count(), 4);
        let read: Value = serde_json::from_str(&lines).unwrap();
        assert_eq!(read, json!({"schema_version": 4, "claims": objects}));
        assert_eq!(super::line(&json!({"a": 1})), r#"{"schema_version":4,"a":1}"#);
    }
}

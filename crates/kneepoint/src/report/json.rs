// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Outcomes for machines. Numbers read back as they were; an undefined one is `null`. The series go to CSV or Parquet.

use serde::Serialize;

use super::SCHEMA_VERSION;

/// An outcome as one JSON object, indented: `schema_version`, and the fields of the outcome.
pub fn render(outcome: &impl Serialize) -> String {
    #[derive(Serialize)]
    struct Versioned<'a, T> {
        schema_version: u32,
        #[serde(flatten)]
        outcome: &'a T,
    }
    let versioned = Versioned { schema_version: SCHEMA_VERSION, outcome };
    // Fails only for maps with keys other than strings; outcomes have none.
    let mut text = serde_json::to_string_pretty(&versioned).expect("outcomes have string keys");
    text.push('\n');
    text
}

/// A JSON array with one object on each line: a document for one reader, lines for another.
pub fn lines(objects: &[serde_json::Value]) -> String {
    let objects = objects.iter().map(serde_json::Value::to_string).collect::<Vec<_>>();
    format!("[\n{}\n]\n", objects.join(",\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    #[test]
    fn an_outcome_has_its_version_first_and_a_list_has_a_line_for_each_object() {
        let text = super::render(&json!({"a": 0.1, "b": f64::NAN}));
        assert!(text.starts_with("{\n  \"schema_version\": 2,\n  \"a\": 0.1,\n  \"b\": null\n}"), "{text}");
        let objects = [json!({"a": 1}), json!({"a": 2})];
        let lines = super::lines(&objects);
        assert_eq!(lines.lines().count(), 4);
        assert_eq!(serde_json::from_str::<Value>(&lines).unwrap(), json!(objects));
    }
}

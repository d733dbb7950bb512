// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The keywords of JSON Schema (2020-12) that ours has. An independent validator reads it in `crates/kneepoint-py/tests/test_schema.py`.

use std::collections::BTreeMap;

use regex_lite::Regex;
use serde_json::{Value, json};

/// A schema with its patterns.
pub struct Validator {
    schema: Value,
    patterns: BTreeMap<String, Regex>,
}

/// The place in the document, and the broken rule.
pub type Refusal = (String, String);

impl Validator {
    pub fn new(schema: Value) -> Validator {
        let mut patterns = BTreeMap::new();
        compile(&schema, &mut patterns);
        Validator { schema, patterns }
    }

    pub fn refusals(&self, document: &Value) -> Vec<Refusal> {
        let mut found = Vec::new();
        self.judge(&self.schema, document, "", &mut found);
        found
    }

    fn takes(&self, rules: &Value, value: &Value) -> bool {
        let mut found = Vec::new();
        self.judge(rules, value, "", &mut found);
        found.is_empty()
    }

    fn judge(&self, rules: &Value, value: &Value, place: &str, found: &mut Vec<Refusal>) {
        for (keyword, rule) in rules.as_object().expect("a schema") {
            if !self.holds(rules, keyword, rule, value) {
                found.push((place.to_string(), format!("{keyword}: {rule}")));
            }
            for (at, within, part) in self.below(rules, keyword, rule, value, place) {
                self.judge(within, part, &at, found);
            }
        }
    }

    /// Whether a keyword holds of a value itself. It does not apply to values of another type.
    fn holds(&self, rules: &Value, keyword: &str, rule: &Value, value: &Value) -> bool {
        let limit = || rule.as_f64().expect("a number");
        let length = || rule.as_u64().expect("a length") as usize;
        match keyword {
            "type" => either(rule).iter().any(|kind| is(kind.as_str().expect("a type"), value)),
            "enum" => either(rule).iter().any(|one| same(one, value)),
            "minimum" => value.as_f64().is_none_or(|number| number >= limit()),
            "maximum" => value.as_f64().is_none_or(|number| number <= limit()),
            "minItems" => value.as_array().is_none_or(|list| list.len() >= length()),
            "maxLength" => value.as_str().is_none_or(|text| text.chars().count() <= length()),
            "pattern" => {
                value.as_str().is_none_or(|text| self.matches(rule.as_str().expect("a pattern"), text))
            }
            "required" => {
                let has = |name: &Value| value.get(name.as_str().expect("a name")).is_some();
                !value.is_object() || either(rule).iter().all(has)
            }
            "additionalProperties" => rule != &json!(false) || self.others(rules, value).next().is_none(),
            "anyOf" => either(rule).iter().any(|one| self.takes(one, value)),
            "not" => !self.takes(rule, value),
            "$ref" | "if" | "then" | "items" | "properties" | "patternProperties" => true,
            "$schema" | "$defs" | "title" | "description" | "default" => true,
            other => panic!("`{other}` is new in the schema"),
        }
    }

    /// The schemas that a keyword applies to the value, or to the values in it.
    fn below<'v>(
        &'v self,
        rules: &'v Value,
        keyword: &str,
        rule: &'v Value,
        value: &'v Value,
        place: &str,
    ) -> Vec<(String, &'v Value, &'v Value)> {
        let under =
            |(key, within, part): (&str, &'v Value, &'v Value)| (format!("{place}/{key}"), within, part);
        let entries = || value.as_object().into_iter().flatten();
        match keyword {
            "$ref" => {
                let pointer = rule.as_str().and_then(|text| text.strip_prefix('#')).expect("our definition");
                vec![(place.to_string(), self.schema.pointer(pointer).expect("a definition"), value)]
            }
            "then" if self.takes(&rules["if"], value) => vec![(place.to_string(), rule, value)],
            "items" => {
                let items = value.as_array().into_iter().flatten().enumerate();
                items.map(|(at, item)| under((&at.to_string(), rule, item))).collect()
            }
            "properties" => {
                entries().filter_map(|(key, part)| Some(under((key, rule.get(key)?, part)))).collect()
            }
            "patternProperties" => {
                let each = rule.as_object().into_iter().flatten();
                let matching = |(pattern, within): (&'v String, &'v Value)| {
                    let keys = entries().filter(move |(key, _)| self.matches(pattern, key));
                    keys.map(move |(key, part)| (key.as_str(), within, part))
                };
                each.flat_map(matching).map(under).collect()
            }
            "additionalProperties" if rule.is_object() => {
                self.others(rules, value).map(|(key, part)| under((key, rule, part))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The entries that only `additionalProperties` covers.
    fn others<'v>(
        &'v self,
        rules: &'v Value,
        value: &'v Value,
    ) -> impl Iterator<Item = (&'v str, &'v Value)> {
        let of_patterns = move |key: &str| {
            let mut patterns = rules["patternProperties"].as_object().into_iter().flatten();
            patterns.any(|(pattern, _)| self.matches(pattern, key))
        };
        let known = move |key: &str| rules["properties"].get(key).is_some() || of_patterns(key);
        let entries = value.as_object().into_iter().flatten();
        entries.filter(move |(key, _)| !known(key)).map(|(key, part)| (key.as_str(), part))
    }

    fn matches(&self, pattern: &str, text: &str) -> bool {
        self.patterns[pattern].is_match(text)
    }
}

/// Compiles the patterns in a schema.
fn compile(schema: &Value, patterns: &mut BTreeMap<String, Regex>) {
    let mut add = |pattern: &str| {
        let regex = Regex::new(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
        patterns.insert(pattern.to_string(), regex);
    };
    match schema {
        Value::Object(table) => {
            table.get("pattern").and_then(Value::as_str).map(&mut add);
            table
                .get("patternProperties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
                .for_each(|(one, _)| add(one));
            table.values().for_each(|one| compile(one, patterns));
        }
        Value::Array(list) => list.iter().for_each(|one| compile(one, patterns)),
        _ => {}
    }
}

/// A list unchanged; a single value as a list.
fn either(rule: &Value) -> &[Value] {
    rule.as_array().map_or(std::slice::from_ref(rule), Vec::as_slice)
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        other => panic!("no type is called `{other}`"),
    }
}

/// Whether two values are equal: 2 is 2.0.
fn same(one: &Value, other: &Value) -> bool {
    one == other || one.is_number() && one.as_f64() == other.as_f64()
}

#[test]
fn every_keyword_takes_and_refuses() {
    for (schema, taken, refused) in [
        (json!({ "type": "integer" }), json!(2.0), json!(2.5)),
        (json!({ "type": ["string", "array"] }), json!([]), json!(1)),
        (json!({ "enum": ["a", 2] }), json!(2.0), json!("2")),
        (json!({ "minimum": 1, "maximum": 2 }), json!("9"), json!(3)),
        (json!({ "minimum": 1 }), json!(1), json!(0.9)),
        (json!({ "minItems": 1 }), json!([1]), json!([])),
        (json!({ "maxLength": 1 }), json!("ä"), json!("äh")),
        (json!({ "pattern": "^[^\\u0000-\\u001f]+$" }), json!("a b"), json!("a\tb")),
        (json!({ "required": ["a"] }), json!({ "a": 1 }), json!({ "b": 1 })),
        (
            json!({ "properties": { "a": { "type": "string" } } }),
            json!({ "a": "", "b": 1 }),
            json!({ "a": 1 }),
        ),
        (
            json!({ "properties": { "a": {} }, "additionalProperties": false }),
            json!({ "a": 1 }),
            json!({ "b": 1 }),
        ),
        (json!({ "additionalProperties": { "type": "string" } }), json!({ "a": "" }), json!({ "a": 1 })),
        (
            json!({ "patternProperties": { "^a": { "type": "string" } }, "additionalProperties": false }),
            json!({ "ab": "" }),
            json!({ "ab": 1 }),
        ),
        (
            json!({ "patternProperties": { "^a": {} }, "additionalProperties": false }),
            json!({ "a": 1 }),
            json!({ "b": 1 }),
        ),
        (json!({ "items": { "type": "string" } }), json!(["a"]), json!(["a", 1])),
        (json!({ "anyOf": [{ "type": "string" }, { "minimum": 5 }] }), json!(5), json!(4)),
        (json!({ "not": { "type": "string" } }), json!(1), json!("")),
        (json!({ "if": { "type": "string" }, "then": { "enum": ["a"] } }), json!(1), json!("b")),
        (json!({ "$ref": "#/$defs/one", "$defs": { "one": { "type": "string" } } }), json!(""), json!(1)),
    ] {
        let validator = Validator::new(schema.clone());
        assert_eq!(validator.refusals(&taken), [], "{schema} takes {taken}");
        assert_ne!(validator.refusals(&refused), [], "{schema} refuses {refused}");
    }
}

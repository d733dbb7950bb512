// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The JSON Schema of scenarios, for editors that complete and check while one types.

use serde_json::{Map, Value, json};

use super::choose::Family;
use super::family::{FAMILIES, Member, Members};
use super::outline::{Fields, HEAD, Part, Section, sections, sentence};
use crate::settings::Field;
use crate::{cc, tcp};

/// The schema (2020-12), written from the declared fields.
pub fn schema() -> Value {
    let mut properties = Map::new();
    add(&mut properties, HEAD());
    for one in sections() {
        let mut value = section(&one);
        if one.repeated {
            value = json!({ "type": "array", "items": value });
        }
        value["description"] = json!(one.about);
        properties.insert(one.name.into(), value);
    }
    properties.insert("controllers".into(), parameters(&<cc::Config as Family>::MEMBERS));
    properties.insert(
        "sweep".into(),
        json!({
            "type": "object",
            "description": "Fields by path and the values they take, in every combination.",
            "additionalProperties": { "$ref": "#/$defs/axis" },
        }),
    );
    let mut definitions = Map::new();
    definitions.insert(
        "axis".into(),
        json!({
            "anyOf": [
                { "type": "array", "minItems": 1 },
                { "type": "object", "additionalProperties": { "$ref": "#/$defs/axis" } },
            ],
        }),
    );
    for family in FAMILIES {
        definitions.insert(family.definition.into(), choice(family));
    }
    let options = object([<tcp::Options as crate::settings::Settings>::fields as Fields], &[], &[]);
    definitions.insert(OPTIONS.into(), options);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A Kneepoint scenario",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "required": ["topology"],
        "anyOf": crate::traffic::sources().map(|(name, ..)| json!({ "required": [name] })).collect::<Vec<_>>(),
        "$defs": definitions,
    })
}

/// The definition of a table of TCP options.
const OPTIONS: &str = "options";

fn section(section: &Section) -> Value {
    match section.choice {
        Some(family) => reference(family.definition),
        None => object(section.fields.iter().copied().chain(section.own), section.parts, section.required),
    }
}

fn reference(definition: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{definition}") })
}

fn object(fields: impl IntoIterator<Item = Fields>, parts: &[(&str, Part)], required: &[&str]) -> Value {
    let mut properties = Map::new();
    for list in fields {
        add(&mut properties, list());
    }
    for (name, part) in parts {
        let definition = match part {
            Part::One(family) => family.definition,
            Part::Options => OPTIONS,
        };
        properties.insert((*name).into(), reference(definition));
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false, "required": required })
}

/// One of a family: its name, perhaps with settings, or a table with a `kind`.
fn choice(family: &Members) -> Value {
    let all = family.all();
    let mut forms: Vec<Value> =
        all.iter().enumerate().map(|(place, one)| member(one, family.implied && place == 0)).collect();
    if !family.implied {
        let names = family.names().join("|");
        forms.push(json!({ "type": "string", "pattern": format!("^\\s*({names})\\s*(:.*)?$") }));
    }
    json!({ "anyOf": forms })
}

/// A table of parameters under the name of each member.
fn parameters(family: &Members) -> Value {
    let each = family.all().into_iter().map(|member| {
        let mut properties = Map::new();
        add(&mut properties, (member.fields)());
        let value = json!({
            "type": "object",
            "description": member.about,
            "properties": properties,
            "additionalProperties": false,
        });
        (member.name.to_string(), value)
    });
    json!({
        "type": "object",
        "description": "Parameters of controllers wherever a group chooses one of them, as in `[controllers.pert]`.",
        "properties": each.collect::<Map<_, _>>(),
        "additionalProperties": false,
    })
}

fn member(member: &Member, implied: bool) -> Value {
    let mut properties = Map::new();
    add(&mut properties, (member.fields)());
    properties.insert("kind".into(), json!({ "const": member.name, "description": member.about }));
    let kind = (!implied).then_some("kind");
    let required: Vec<&str> = kind.into_iter().chain(member.required.iter().copied()).collect();
    json!({
        "type": "object",
        "description": member.about,
        "properties": properties,
        "additionalProperties": false,
        "required": required,
    })
}

fn add(properties: &mut Map<String, Value>, fields: &[Field]) {
    for field in fields {
        properties.insert(field.name.into(), property(field));
    }
}

fn property(field: &Field) -> Value {
    let range = (field.range)();
    let mut description = sentence(field);
    if let Some(range) = &range {
        description = format!("{description} Allowed: {range}.");
    }
    let mut value = json!({ "description": description, "type": field.json });
    if let [one] = field.json {
        value["type"] = json!(one);
    }
    if field.json.contains(&"array") {
        let items = field.json.iter().find(|kind| **kind != "array");
        value["items"] = json!({ "type": items });
        value["minItems"] = json!(1);
    }
    if !field.choices.is_empty() {
        value["enum"] = field.choices.iter().map(|(name, _)| json!(name)).collect();
    }
    let default = (field.default)();
    value["default"] = if field.json.contains(&"string") { json!(default) } else { bare(&default) };
    let ends = range.as_deref().and_then(|range| range.split_once(" to "));
    if let Some((least, greatest)) = ends.filter(|_| !field.json.contains(&"string")) {
        (value["minimum"], value["maximum"]) = (bare(least), bare(greatest));
    }
    value
}

/// A number or a bool as JSON.
fn bare(text: &str) -> Value {
    let whole = || text.parse::<u64>().map(|number| json!(number));
    let number = || text.parse::<f64>().map(|number| json!(number));
    text.parse::<bool>()
        .map(|value| json!(value))
        .or_else(|_| whole())
        .or_else(|_| number())
        .unwrap_or_default()
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The JSON Schema of scenarios, for editors that complete and check while one types.

use serde_json::{Map, Value, json};

use super::outline::{Fields, HEAD, Member, Part, Section, members, names, sections, sentence};
use crate::settings::Field;
use crate::tcp;

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
    properties.insert(
        "sweep".into(),
        json!({
            "type": "object",
            "description": "Fields by path and the values they take, in every combination.",
            "additionalProperties": { "$ref": "#/$defs/axis" },
        }),
    );
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A Kneepoint scenario",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "required": ["topology"],
        "anyOf": super::traffic::sections().map(|name| json!({ "required": [name] })).collect::<Vec<_>>(),
        "$defs": {
            "axis": {
                "anyOf": [
                    { "type": "array", "minItems": 1 },
                    { "type": "object", "additionalProperties": { "$ref": "#/$defs/axis" } },
                ],
            },
            "cc": choice(Part::Control),
            "discipline": choice(Part::Queue),
            "channel": choice(Part::Channel),
            "topology": choice(Part::Topology),
            "options": object([<tcp::Options as crate::settings::Settings>::fields as Fields], &[], &[]),
        },
    })
}

fn section(section: &Section) -> Value {
    match section.choice {
        Some(part) => reference(part),
        None => object(section.fields.iter().copied().chain(section.own), section.parts, section.required),
    }
}

fn reference(part: Part) -> Value {
    let name = match part {
        Part::Control => "cc",
        Part::Queue => "discipline",
        Part::Channel => "channel",
        Part::Topology => "topology",
        Part::Options => "options",
    };
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn object(fields: impl IntoIterator<Item = Fields>, parts: &[(&str, Part)], required: &[&str]) -> Value {
    let mut properties = Map::new();
    for list in fields {
        add(&mut properties, list());
    }
    for (name, part) in parts {
        properties.insert((*name).into(), reference(*part));
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false, "required": required })
}

/// One of a family: its name, perhaps with settings, or a table with a `kind`.
fn choice(part: Part) -> Value {
    let members = members(part);
    let mut forms: Vec<Value> =
        members.iter().enumerate().map(|(place, one)| member(one, part, place == 0)).collect();
    if part != Part::Topology {
        let names: Vec<String> = names(part).into_iter().map(str::to_string).collect();
        forms.push(json!({ "type": "string", "pattern": format!("^\\s*({})\\s*(:.*)?$", names.join("|")) }));
    }
    json!({ "anyOf": forms })
}

/// A network without a kind is the first of the table.
fn member(member: &Member, part: Part, first: bool) -> Value {
    let mut properties = Map::new();
    add(&mut properties, (member.fields)());
    properties.insert("kind".into(), json!({ "const": member.name, "description": member.about }));
    let kind = (!(first && part == Part::Topology)).then_some("kind");
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
        value["items"] = json!({ "type": "string" });
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The JSON Schema of scenarios, for editors that complete and check while one types.

use serde_json::{Map, Value, json};

use super::choose::Family;
use super::effects::{EFFECTS, HANDOVER};
use super::families::FAMILIES;
use super::family::{Member, Members};
use super::outline::{Fields, HEAD, Part, Section, sections, sentence};
use super::written;
use crate::settings::{Field, names};
use crate::{cc, tcp};

/// The schema (2020-12), written from the declared fields.
pub fn schema() -> Value {
    let mut properties = Map::new();
    add(&mut properties, HEAD);
    let mut definitions = Map::new();
    let mut unless_swept = Map::new();
    for one in sections() {
        let mut value = section(&one);
        if one.repeated {
            let definition = format!("{}-section", one.name);
            let each = reference(&definition);
            definitions.insert(definition, value);
            value = json!({ "anyOf": [{ "type": "array", "items": each }, each] });
        }
        value["description"] = json!(one.about);
        properties.insert(one.name.into(), value);
        let swept: Vec<&str> = one.required.iter().copied().filter(|name| by_sweep(name)).collect();
        if !swept.is_empty() {
            // Keywords for lists and keywords for tables each apply to their own kind.
            unless_swept
                .insert(one.name.into(), json!({ "items": { "required": swept }, "required": swept }));
        }
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
    let options = object([<tcp::Options as crate::settings::Settings>::FIELDS], &[], &[]);
    definitions.insert(OPTIONS.into(), options);
    for part in EFFECTS.iter().chain([&HANDOVER]) {
        definitions.insert(part.name.into(), object([part.fields], &[], &[]));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A Kneepoint scenario",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "required": ["topology"],
        "if": { "not": { "required": ["sweep"] } },
        "then": { "properties": unless_swept },
        "anyOf": crate::traffic::sources().map(|(name, ..)| json!({ "required": [name] })).collect::<Vec<_>>(),
        "$defs": definitions,
    })
}

/// The definition of a table of TCP options.
const OPTIONS: &str = "options";

fn section(section: &Section) -> Value {
    match section.choice {
        Some(family) => reference(family.definition),
        None => {
            let required: Vec<&str> =
                section.required.iter().copied().filter(|name| !by_sweep(name)).collect();
            object(section.fields.iter().copied().chain(section.own), section.parts, &required)
        }
    }
}

/// Whether a sweep over schemes gives the field to every group.
fn by_sweep(field: &str) -> bool {
    field == "cc"
}

fn reference(definition: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{definition}") })
}

fn object(fields: impl IntoIterator<Item = Fields>, parts: &[(&str, Part)], required: &[&str]) -> Value {
    let mut properties = Map::new();
    for list in fields {
        add(&mut properties, list);
    }
    for (name, part) in parts {
        let definition = match part {
            Part::One(family) => family.definition,
            Part::Options => OPTIONS,
            Part::Table(part) => part.name,
        };
        properties.insert((*name).into(), reference(definition));
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false, "required": required })
}

/// One of a family: its name, perhaps with settings, or a table with a `kind`.
fn choice(family: &Members) -> Value {
    let all = family.all();
    let mut forms: Vec<Value> =
        all.iter().enumerate().map(|(place, one)| member(one, family.implied, place == 0)).collect();
    if !family.implied {
        // The suggestions of editors, and all accepted forms.
        forms.push(json!({ "enum": family.names() }));
        forms.push(json!({ "type": "string", "pattern": written::named(&family.names()) }));
    }
    json!({ "anyOf": forms })
}

/// One of these names, as declared, which editors suggest, or written in another way; or one of these numbers.
fn spelled<'n>(names: impl IntoIterator<Item = &'n str>, numbers: impl IntoIterator<Item = Value>) -> Value {
    let names: Vec<&str> = names.into_iter().collect();
    let pattern = written::whole(&written::spellings(&names));
    let declared: Vec<Value> = names.into_iter().map(Value::from).chain(numbers).collect();
    json!({ "anyOf": [{ "enum": declared }, { "type": "string", "pattern": pattern }] })
}

/// Another spelling of a key of `[controllers]`: the value under the declared key.
fn reference_to(controller: &str) -> Value {
    json!({ "$ref": format!("#/properties/controllers/properties/{controller}") })
}

/// A table of parameters under the name of each member.
fn parameters(family: &Members) -> Value {
    let each = family.all().into_iter().map(|member| {
        let mut properties = Map::new();
        add(&mut properties, member.fields);
        let value = json!({
            "type": "object",
            "description": member.about,
            "properties": properties,
            "additionalProperties": false,
        });
        (member.name.to_string(), value)
    });
    let each: Map<_, _> = each.collect();
    let also: Map<_, _> =
        each.keys().map(|name| (format!("^{}$", names::pattern(name)), reference_to(name))).collect();
    json!({
        "type": "object",
        "description": "Parameters of controllers wherever a group chooses one of them, as in `[controllers.pert]`.",
        "properties": each,
        "patternProperties": also,
        "additionalProperties": false,
    })
}

/// A table of a member's fields. Where the first is implied, a choice is always a table whose `kind` is a plain name.
fn member(member: &Member, implied: bool, first: bool) -> Value {
    let mut properties = Map::new();
    add(&mut properties, member.fields);
    let mut kind = match implied {
        true => spelled([member.name], []),
        // Settings may follow the name there, too.
        false => json!({
            "anyOf": [{ "enum": [member.name] }, { "type": "string", "pattern": written::named(&[member.name]) }],
        }),
    };
    kind["description"] = json!(member.about);
    properties.insert("kind".into(), kind);
    let needed = (!(implied && first)).then_some("kind");
    let required: Vec<&str> = needed.into_iter().chain(member.required.iter().copied()).collect();
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
    let range = field.range();
    let mut description = sentence(field);
    if let Some(range) = &range {
        description = format!("{description} Allowed: {range}.");
    }
    let mut value = json!({ "description": description, "type": field.json });
    if let [one] = field.json {
        value["type"] = json!(one);
    }
    let default = field.default();
    let word = word(field, &default, range.as_deref());
    if field.kind == "number" || word.is_some() && !field.json.contains(&"string") {
        value["type"] = json!(field.json.iter().chain(TEXT).collect::<Vec<_>>());
    }
    if field.choices.iter().any(|(name, _)| is_number(name)) {
        value["type"] = json!(["string", "integer"]);
    }
    value["default"] = if field.json.contains(&"string") || word.as_ref() == Some(&default) {
        json!(default)
    } else {
        bare(&default)
    };
    let each = allowed(field, range.as_deref());
    if field.json.contains(&"array") {
        let mut items = each.clone();
        let kinds = field.json.iter().filter(|kind| **kind != "array");
        let percent = TEXT.iter().filter(|_| field.kind == "number");
        let kinds: Vec<&&str> = kinds.chain(percent).collect();
        items.insert("type".into(), if let [one] = kinds[..] { json!(one) } else { json!(kinds) });
        value["items"] = json!(items);
        value["minItems"] = json!(1);
    }
    for (key, rule) in each {
        value[key] = rule;
    }
    let forms: Vec<String> = written::form(field.kind).into_iter().chain(word).collect();
    if !forms.is_empty() {
        value["pattern"] = json!(written::whole(&forms.join("|")));
    }
    value
}

/// The word that may replace a value: the default, or the word at the end of the range.
fn word(field: &Field, default: &str, range: Option<&str>) -> Option<String> {
    let is_word = !default.is_empty() && default.chars().all(|letter| letter.is_ascii_lowercase());
    let any_text = field.json.contains(&"string") && written::form(field.kind).is_none();
    let is_value = any_text || default.parse::<bool>().is_ok();
    if is_word && !is_value {
        return Some(default.to_string());
    }
    let (_, other) = range?.strip_suffix('`')?.rsplit_once(", or `")?;
    Some(other.to_string())
}

/// Numbers may be written in percent, as texts, and words stand instead of values.
const TEXT: &[&str] = &["string"];

/// The allowed values, alone or in a list.
fn allowed(field: &Field, range: Option<&str>) -> Map<String, Value> {
    let mut rules = Map::new();
    if !field.choices.is_empty() {
        let names = field.choices.iter().map(|(name, _)| *name);
        let numbers = names.clone().filter(|name| is_number(name)).map(bare);
        rules.insert("anyOf".into(), spelled(names, numbers)["anyOf"].take());
    }
    if let Some(form) = written::form(field.kind) {
        rules.insert("pattern".into(), json!(written::whole(&form)));
    }
    if field.kind == "name" {
        rules.insert("maxLength".into(), json!(100));
    }
    let values = range.map(|range| range.split_once(", or ").map_or(range, |(values, _)| values));
    let ends = values.and_then(|values| values.split_once(" to "));
    if let Some((least, greatest)) = ends.filter(|_| !field.json.contains(&"string")) {
        rules.extend([("minimum".to_string(), bare(least)), ("maximum".to_string(), bare(greatest))]);
    }
    rules
}

/// Whether a name looks like a number, such as `2006`, and may be written as one.
fn is_number(name: &str) -> bool {
    name.parse::<u32>().is_ok()
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

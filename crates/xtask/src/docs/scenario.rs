// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `docs/reference/scenario.md`: every section of a scenario and its fields, from the JSON Schema.

use std::fmt::Write;

use kneepoint::scenario;
use serde_json::{Map, Value};

const PREFACE: &str = "\
# Scenarios

*Generated from the sources by `cargo run -p xtask -- docs`; do not edit.*

A scenario is a file in TOML: a network, its traffic, and when to measure. `knee init FILE` writes a short one and `knee init --all FILE` one with every
field, `knee check FILE` finds mistakes with line, column and remedy, and `knee schema` prints the JSON Schema, with which editors complete and check
([`scenario.schema.json`](../scenario.schema.json)). [The first tutorial](../tutorials/first-hour.md#3-your-own-question) writes one.

```toml
[run]
duration = \"60s\"
seeds = 3

[topology]
kind = \"dumbbell\"
rate = \"10mbit\"
rtt = \"40ms\"
buffer = \"1bdp\"

[[flows]]
name = \"long\"
count = 4
cc = \"cubic\"

[sweep]
scheme = [\"cubic/droptail\", \"cubic/codel\", \"pert/droptail\"]
\"topology.rtt\" = [\"20ms\", \"80ms\"]
```

## How values are written

| value | examples |
|---|---|
| time | `60s`, `1.5ms`, `10us`, `2min` |
| interval | `10s..60s`; where a group starts, each flow draws an instant of it |
| rate | `150mbit`, `1.5gbit`, `64kbit` |
| size | `1500b`, `64kb`, `2mb` |
| buffer | `1bdp` (bandwidth-delay products), `750pkt`, `500kb`, `100ms` |
| fraction | `0.01` or `\"1%\"` |
| algorithm | its name, `\"codel\"`; with parameters `\"codel:target=10ms\"` or `{ kind = \"codel\", target = \"10ms\" }` |
| file | a name, relative to the folder of the scenario |

A field of `[sweep]`, of `--set` and of claims has a *path*: `topology.rtt`, `flows.long.cc` (the group `long`), `flows.*.count` (all groups),
`link.a-b.rate` (a link of a graph), `scheme` (the controllers of all groups and the queue).

## Sections

| section | what it is |
|---|---|
";

/// Sections whose values are chosen from a family, and where the family is described.
const FAMILIES: [(&str, &str, &str); 6] = [
    ("discipline", "a queue discipline", "queue-disciplines"),
    ("feedback", "a kind of explicit feedback", "explicit-feedback"),
    ("channel", "a model of losses", "channels"),
    ("capacity", "a model of capacity", "capacities"),
    ("topology", "a topology", "topologies"),
    ("cc", "a congestion control", "congestion-controls"),
];

/// A table of TOML, or the sections of one name.
struct Section<'s> {
    name: &'s str,
    /// As written: `[run]`, `[[flows]]`.
    title: String,
    about: &'s str,
    /// The definition that it refers to in the schema, and the fields that are declared in place.
    refers: &'s str,
    fields: Option<&'s Map<String, Value>>,
}

/// The page.
pub fn page() -> String {
    page_of(&scenario::schema())
}

fn page_of(schema: &Value) -> String {
    let none = Map::new();
    let all = schema["properties"].as_object().unwrap_or(&none);
    let definitions = &schema["$defs"];
    let sections: Vec<Section> = all.iter().map(|(name, value)| section(name, value, definitions)).collect();
    let mut page = PREFACE.to_string();
    for one in &sections {
        let link = if detailed(one) {
            format!("[`{}`](#{})", one.title, one.name)
        } else {
            format!("`{}`", one.title)
        };
        // Writing to a string cannot fail.
        let more = match one.name {
            "tcp" => " [TCP options](../algorithms.md#tcp-options) lists them.".to_string(),
            _ => chosen(one.refers),
        };
        let _ = writeln!(page, "| {link} | {}{more} |", cell(one.about));
    }
    for one in sections.iter().filter(|one| detailed(one)) {
        let _ = write!(page, "\n## {}\n\n`{}`. {}\n\n", one.name, one.title, one.about);
        page.push_str("| field | default | meaning |\n|---|---|---|\n");
        for (name, field) in one.fields.into_iter().flatten() {
            let _ = writeln!(page, "| `{name}` | {} | {} |", default(field), meaning(field));
        }
    }
    page
}

/// Whether a section has its own table on the page.
fn detailed(section: &Section) -> bool {
    !["controllers", "tcp", "sweep"].contains(&section.name)
        && section.fields.is_some_and(|fields| !fields.is_empty())
}

fn section<'s>(name: &'s str, value: &'s Value, definitions: &'s Value) -> Section<'s> {
    // One table, or several of the same kind.
    let several =
        value["anyOf"].as_array().filter(|all| all[0]["type"] == "array").and_then(|all| all.last());
    let refers = value["$ref"].as_str().or(several.and_then(|one| one["$ref"].as_str())).unwrap_or("");
    let refers = refers.rsplit('/').next().unwrap_or("");
    let declared = value["properties"].as_object().or(definitions[refers]["properties"].as_object());
    let title =
        match (several.is_some(), refers.is_empty() && declared.is_none() && value["type"] == "string") {
            (true, _) => format!("[[{name}]]"),
            (_, true) => name.to_string(),
            _ => format!("[{name}]"),
        };
    Section { name, title, about: value["description"].as_str().unwrap_or(""), refers, fields: declared }
}

/// The place where the values of a family are described.
fn chosen(refers: &str) -> String {
    let family = FAMILIES.iter().find(|(name, ..)| *name == refers);
    family.map_or(String::new(), |(_, what, at)| format!(" `kind` is [{what}](../algorithms.md#{at})."))
}

fn default(field: &Value) -> String {
    match &field["default"] {
        Value::Null => String::new(),
        Value::String(text) => format!("`\"{}\"`", cell(text)),
        other => format!("`{other}`"),
    }
}

fn meaning(field: &Value) -> String {
    let refers = field["$ref"].as_str().unwrap_or("").rsplit('/').next().unwrap_or("");
    let mut text = cell(field["description"].as_str().unwrap_or(""));
    let words = [&field["enum"], &field["anyOf"][0]["enum"]].into_iter().find_map(Value::as_array);
    if let Some(words) = words {
        let words: Vec<String> =
            words.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect();
        let _ = write!(text, " One of {}.", words.join(", "));
    }
    let family = FAMILIES.iter().find(|(name, ..)| *name == refers);
    if let Some((_, what, at)) = family {
        let _ = write!(text, " [{}](../algorithms.md#{at}).", capital(what));
    } else if refers == "options" {
        text.push_str(" Options of the hosts of this group: [TCP options](../algorithms.md#tcp-options).");
    } else if !refers.is_empty() {
        let _ = write!(text, " As [`[{refers}]`](#{refers}).");
    }
    text.trim().to_string()
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_of_the_schema_is_on_the_page_with_its_fields() {
        let schema = scenario::schema();
        let page = page_of(&schema);
        for (name, value) in schema["properties"].as_object().expect("sections") {
            let one = section(name, value, &schema["$defs"]);
            assert!(page.contains(&format!("`{}`", one.title)), "{name}");
            for field in one.fields.into_iter().flatten().map(|(field, _)| field).filter(|_| detailed(&one)) {
                assert!(page.contains(&format!("| `{field}` |")), "{name}.{field}");
            }
        }
        assert!(
            page.contains("| `duration` | `\"60s\"` | The end of the run. Allowed: 1ms to 1000000s. |"),
            "{page}"
        );
    }
}

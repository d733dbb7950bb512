// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Differences between the scenarios, the files, the seeds and the programs of two results.

use std::collections::{BTreeMap, BTreeSet};

use toml::Value;

use super::super::Manifest;
use super::Change;

/// Every difference of two manifests: fields of scenarios first. A difference that several scenarios share is listed
/// once.
pub(super) fn changes(a: &Manifest, b: &Manifest) -> Vec<Change> {
    let mut found: Vec<Change> = Vec::new();
    for (name, first, second) in scenarios(a, b) {
        for (what, one, other) in fields(first, second) {
            let known = |change: &&mut Change| change.what == what && change.a == one && change.b == other;
            match found.iter_mut().find(known) {
                Some(change) => change.scenarios.push(name.to_string()),
                None => found.push(Change { what, scenarios: vec![name.to_string()], a: one, b: other }),
            }
        }
    }
    found.extend(others(a, b));
    found
}

/// The scenarios of both sides by name, with an empty text for a missing one. Two single ones match
/// under any names.
fn scenarios<'m>(a: &'m Manifest, b: &'m Manifest) -> Vec<(&'m str, &'m str, &'m str)> {
    if let ([(_, first)], [(name, second)]) = (&a.scenario[..], &b.scenario[..]) {
        return vec![(name, first, second)];
    }
    let named = |of: &'m Manifest| -> BTreeMap<&'m str, &'m str> {
        of.scenario.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
    };
    let (first, second) = (named(a), named(b));
    // Fields of one side alone belong to cases of one side alone, which are listed elsewhere.
    second.iter().filter_map(|(name, text)| Some((*name, *first.get(name)?, *text))).collect()
}

/// A field and its values on both sides.
type Field = (String, Option<String>, Option<String>);

/// The fields of two scenarios that differ; one for the whole text where either is invalid TOML.
fn fields(a: &str, b: &str) -> Vec<Field> {
    if a == b {
        return Vec::new();
    }
    let (Ok(first), Ok(second)) = (a.parse::<toml::Table>(), b.parse::<toml::Table>()) else {
        return vec![("the text of the scenario".into(), Some("one text".into()), Some("another".into()))];
    };
    let (mut first, mut second) = (flat(first), flat(second));
    // Titles repeat other fields.
    for of in [&mut first, &mut second] {
        of.remove("name");
    }
    differing(&first, &second)
        .map(|key| (key.clone(), first.get(key).cloned(), second.get(key).cloned()))
        .collect()
}

/// The value of a field in all scenarios of a result; `*` in its path represents every section. None where they differ, or where a
/// scenario omits it.
pub(super) fn fixed(manifest: &Manifest, path: &str) -> Option<String> {
    let mut all = BTreeSet::new();
    for (_, text) in &manifest.scenario {
        let fields = flat(text.parse::<toml::Table>().ok()?);
        let mut own = fields.into_iter().filter(|(field, _)| is_path(path, field)).peekable();
        own.peek()?;
        all.extend(own.map(|(_, value)| value));
    }
    let mut found = all.into_iter();
    found.next().filter(|_| found.next().is_none())
}

/// Whether a field has this path.
fn is_path(path: &str, field: &str) -> bool {
    let plain = |text: &str| text.strip_suffix(".kind").unwrap_or(text).to_string();
    let (path, field) = (plain(path), plain(field));
    let (wanted, own) = (path.split('.'), field.split('.'));
    wanted.clone().count() == own.clone().count()
        && wanted.zip(own).all(|(one, other)| one == "*" || one == other)
}

/// Keys under which two maps differ.
fn differing<'m>(
    a: &'m BTreeMap<String, String>,
    b: &'m BTreeMap<String, String>,
) -> impl Iterator<Item = &'m String> {
    let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    keys.into_iter().filter(|key| a.get(*key) != b.get(*key))
}

/// Every value by its path: `topology.rtt`, and `flows.long.cc` of a section that has a name.
fn flat(table: toml::Table) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    table.into_iter().for_each(|(key, value)| spread(key, value, &mut found));
    found
}

fn spread(path: String, value: Value, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Table(inner) => {
            inner.into_iter().for_each(|(key, field)| spread(format!("{path}.{key}"), field, found));
        }
        Value::Array(sections) if !sections.is_empty() && sections.iter().all(Value::is_table) => {
            for (place, section) in sections.into_iter().enumerate() {
                let name = section.get("name").and_then(Value::as_str).map(String::from);
                spread(format!("{path}.{}", name.unwrap_or_else(|| (place + 1).to_string())), section, found);
            }
        }
        other => {
            found.insert(path, written(&other));
        }
    }
}

/// A value as people write it: a text without its quotes.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(written).collect::<Vec<_>>().join(", "),
        Value::Table(table) => {
            let pairs = table.iter().map(|(key, inner)| format!("{key} = {}", written(inner)));
            pairs.collect::<Vec<_>>().join(", ")
        }
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        Value::Datetime(date) => date.to_string(),
    }
}

/// Differences outside the scenarios.
fn others(a: &Manifest, b: &Manifest) -> Vec<Change> {
    let change = |what: String, one: Option<String>, other: Option<String>| {
        (one != other).then(|| Change { what, scenarios: Vec::new(), a: one, b: other })
    };
    let seeds = |of: &Manifest| Some(told(&of.seeds));
    let version = |of: &Manifest| Some(of.tool_version.clone());
    let own = [
        change("seeds".into(), seeds(a), seeds(b)),
        change("version of knee".into(), version(a), version(b)),
        change("revision of its source".into(), a.git_revision.clone(), b.git_revision.clone()),
    ];
    let of = |kind: &'static str, one: &BTreeMap<String, String>, other: &BTreeMap<String, String>| {
        let keys: Vec<String> = differing(one, other).cloned().collect();
        let (one, other) = (one.clone(), other.clone());
        keys.into_iter().filter_map(move |key| {
            change(format!("{kind} {key}"), one.get(&key).cloned(), other.get(&key).cloned())
        })
    };
    let files = of("file", &a.files, &b.files);
    own.into_iter().flatten().chain(files).chain(of("preset", &a.presets, &b.presets)).collect()
}

/// Seeds in few words: `1 to 10`, or each of them.
fn told(seeds: &[u64]) -> String {
    match seeds {
        [first, .., last] if seeds.windows(2).all(|pair| pair[1] == pair[0] + 1) && seeds.len() > 2 => {
            format!("{first} to {last}")
        }
        several => several.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(scenarios: &[(&str, &str)]) -> Manifest {
        let scenario = scenarios.iter().map(|(name, text)| (name.to_string(), text.to_string()));
        Manifest { scenario: scenario.collect(), seeds: vec![1, 2, 3], ..Manifest::default() }
    }

    #[test]
    fn a_field_that_differs_is_named_by_its_path_with_both_values() {
        let one = "# a remark\n[topology]\nrtt = '20ms'\nbuffer = '1bdp'\n[[flows]]\nname = 'long'\ncc = 'cubic'\n[run]\nseeds = 3\n";
        let other =
            "[topology]\nrtt = '80ms'\n[[flows]]\nname = 'long'\ncc = 'cubic'\ncount = 2\n[run]\nseeds = 3\n";
        let changed = changes(&manifest(&[("one", one)]), &manifest(&[("other", other)]));
        let told: Vec<_> = changed
            .iter()
            .map(|found| (found.what.as_str(), found.a.as_deref(), found.b.as_deref()))
            .collect();
        assert_eq!(
            told,
            [
                ("flows.long.count", None, Some("2")),
                ("topology.buffer", Some("1bdp"), None),
                ("topology.rtt", Some("20ms"), Some("80ms")),
            ]
        );
        assert!(
            changes(&manifest(&[("one", one)]), &manifest(&[("one", &one[11..])])).is_empty(),
            "a remark is no setting"
        );
    }

    #[test]
    fn what_differs_in_several_scenarios_alike_is_said_once_and_versions_are_compared() {
        let (a, b) = ("rate = 1\n", "rate = 2\n");
        let one = manifest(&[("x", a), ("y", a), ("gone", a)]);
        let other =
            Manifest { tool_version: "9".into(), seeds: vec![1, 2], ..manifest(&[("x", b), ("y", b)]) };
        let changed = changes(&one, &other);
        assert_eq!(
            changed.iter().map(|found| found.what.as_str()).collect::<Vec<_>>(),
            ["rate", "seeds", "version of knee"]
        );
        assert_eq!(changed[0].scenarios, ["x", "y"]);
        assert_eq!((changed[1].a.as_deref(), changed[1].b.as_deref()), (Some("1 to 3"), Some("1, 2")));
    }

    #[test]
    fn a_text_that_is_no_toml_differs_as_a_whole() {
        let changed = changes(&manifest(&[("x", "= 1")]), &manifest(&[("x", "a = 1")]));
        assert_eq!(changed[0].what, "the text of the scenario");
    }
}

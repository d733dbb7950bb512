// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Laws: promises of every algorithm, as checks for tests of the laboratory and of other crates.
//!
//! Each check panics with the case that breaks the law. A crate with algorithms of its own tries them with
//! [`controllers::hold`], [`queues::hold`] and [`sources::hold`].

pub mod controllers;
pub mod queues;
pub mod sources;

use std::collections::BTreeSet;
use std::fmt::Debug;

use crate::settings::{Assign, Entry, Field, Raw, Refusal};
use crate::units::{Bytes, Rate, Span};

/// The algorithm with its defaults, then with each parameter at each end of its range and at each choice.
pub fn variants<C: Assign + Clone>(defaults: &C) -> Vec<C> {
    let mut variants = vec![defaults.clone()];
    for field in defaults.declared() {
        for raw in extremes(field) {
            let mut variant = defaults.clone();
            assert_eq!(variant.assign(field.name, &raw), Ok(()), "{}", field.name);
            // One end may contradict another parameter; the check excludes such values.
            if variant.agree().is_ok() {
                variants.push(variant);
            }
        }
    }
    variants
}

/// The header of the source has a title with a sentence and a citation, and every parameter is documented.
pub fn documented(entry: &Entry) {
    let (name, summary) = (entry.name, entry.summary());
    assert!(summary.contains(": ") && summary.ends_with('.'), "{name}: title `{summary}`");
    assert!(entry.citation().len() > 20, "{name}: citation `{}`", entry.citation());
    assert!(entry.source.contains("#[test]"), "{name} has no test of its own");
    for field in entry.fields {
        assert!(field.doc.ends_with('.'), "{name} {}: `{}`", field.name, field.doc);
    }
}

/// Every parameter has its documented default, and a value out of range is refused with the range in the message.
pub fn held_to_their_range<C: Assign + Clone + PartialEq + Debug>(name: &str, defaults: &C) {
    assert_eq!(defaults.agree(), Ok(()), "{name}");
    let names: BTreeSet<_> = defaults.declared().iter().map(|field| field.name).collect();
    assert_eq!(names.len(), defaults.declared().len(), "{name} has two parameters of one name");
    for field in defaults.declared() {
        let place = format!("{name} {}", field.name);
        // A list holds its elements to their own range, and a file may have any name.
        let is_path = field.kind.contains("path");
        let is_list = field.kind.contains("list of");
        let is_named = !field.choices.is_empty() || ["true or false", "rule"].contains(&field.kind);
        let unbounded = is_named || is_path || is_list;
        assert!(unbounded || field.range().is_some(), "{place} has no range");

        let mut same = defaults.clone();
        assert_eq!(same.assign(field.name, &written(field, &field.default())), Ok(()), "{place}");
        assert_eq!(same, *defaults, "{place}: the documented default is another one");

        for raw in trespasses(field) {
            let refused = same.assign(field.name, &raw);
            let Err(Refusal::Value(message)) = refused else { panic!("{place} = {raw}: {refused:?}") };
            assert!(message.contains(&field.range().unwrap()), "{place}: {message}");
        }
        if !is_path {
            let Err(Refusal::Value(nonsense)) = same.assign(field.name, &Raw::Text("nonsense".into())) else {
                panic!("{place} takes nonsense")
            };
            assert!(field.choices.iter().all(|(choice, _)| nonsense.contains(choice)), "{place}: {nonsense}");
        }
        assert_eq!(same, *defaults, "{place}: a refusal changed it");
    }
    assert_eq!(defaults.clone().assign("no_such_parameter", &Raw::Bool(true)), Err(Refusal::Unknown));
}

/// Allowed values at the edge of a field.
fn extremes(field: &Field) -> Vec<Raw> {
    let ends = ends(field).into_iter().flat_map(|(from, to)| [from, to]);
    let choices = field.choices.iter().map(|(name, _)| name.to_string());
    let switch = ["false", "true"].into_iter().filter(|_| field.kind == "true or false").map(String::from);
    ends.chain(choices).chain(switch).map(|text| written(field, &text)).collect()
}

/// Values just outside a field's range.
fn trespasses(field: &Field) -> Vec<Raw> {
    let Some((from, to)) = ends(field) else { return Vec::new() };
    let stepped = |text: &str, step: i64| -> Option<Raw> {
        let stepped = |value: u64| value.checked_add_signed(step);
        match field.kind {
            "number" => text.parse().ok().map(|value: f64| Raw::Float(value + step as f64 * 1e-6)),
            "whole number" => text.parse().ok().map(|value: i64| Raw::Integer(value + step)),
            "time" => stepped(text.parse::<Span>().unwrap().0).map(|it| Raw::Text(Span(it).to_string())),
            "rate" => stepped(text.parse::<Rate>().unwrap().0).map(|it| Raw::Text(Rate(it).to_string())),
            "data" => stepped(text.parse::<Bytes>().unwrap().0).map(|it| Raw::Text(Bytes(it).to_string())),
            kind => panic!("{}: a {kind} with a range", field.name),
        }
    };
    [stepped(&from, -1), stepped(&to, 1)].into_iter().flatten().collect()
}

/// Both ends of a field's range, as documented.
fn ends(field: &Field) -> Option<(String, String)> {
    let range = field.range()?;
    // A word may replace a value: `0s to 100s, or `rtt``.
    let (values, _) = range.split_once(", or ").unwrap_or((&range, ""));
    let (from, to) = values.split_once(" to ").unwrap();
    Some((from.to_string(), to.to_string()))
}

/// In a scenario's form.
fn written(field: &Field, text: &str) -> Raw {
    let value = match field.kind {
        "number" => text.parse().ok().map(Raw::Float),
        "whole number" => text.parse().ok().map(Raw::Integer),
        "true or false" => text.parse().ok().map(Raw::Bool),
        _ => None,
    };
    value.unwrap_or_else(|| Raw::Text(text.to_string()))
}

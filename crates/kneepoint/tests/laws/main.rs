// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Laws that hold for every registered algorithm, whatever it is: here what the registries promise, in
//! `controllers`, `queues`, `stamps`, `sources`, `rules` and `probabilities` how their algorithms behave.

mod controllers;
mod probabilities;
mod queues;
mod rules;
mod sources;
mod stamps;

use std::collections::BTreeSet;
use std::fmt::Debug;

use kneepoint::rng::Rng;
use kneepoint::settings::{Entry, Field, Raw, Refusal};
use kneepoint::traffic::{self, abr};
use kneepoint::units::{Bytes, Rate, Span};
use kneepoint::{cc, feedback, law, queue};

/// What the registries of all families have in common.
trait Family: Clone + PartialEq + Debug {
    const REGISTRY: &'static [Entry];
    fn named(name: &str) -> Option<Self>;
    fn set(&mut self, name: &str, raw: &Raw) -> Result<(), Refusal>;
    fn check(&self) -> Result<(), String>;

    /// Every algorithm with its defaults, then with each parameter at each end of its range and at each choice.
    fn variants() -> Vec<Self> {
        let mut variants = Vec::new();
        for entry in Self::REGISTRY {
            let defaults = Self::named(entry.name).unwrap();
            variants.push(defaults.clone());
            for field in (entry.fields)() {
                for raw in extremes(field) {
                    let mut variant = defaults.clone();
                    assert_eq!(variant.set(field.name, &raw), Ok(()), "{} {}", entry.name, field.name);
                    // One end may contradict another parameter; the check is what keeps such a one out.
                    if variant.check().is_ok() {
                        variants.push(variant);
                    }
                }
            }
        }
        variants
    }
}

macro_rules! families {
    ($($family:ident)*) => { $(
        impl Family for $family::Config {
            const REGISTRY: &'static [Entry] = $family::REGISTRY;
            fn named(name: &str) -> Option<Self> {
                $family::Config::named(name)
            }
            fn set(&mut self, name: &str, raw: &Raw) -> Result<(), Refusal> {
                $family::Config::set(self, name, raw)
            }
            fn check(&self) -> Result<(), String> {
                $family::Config::check(self)
            }
        }
    )* };
}
families! { law cc queue feedback traffic abr }

/// Both ends of a field's range, as they are documented.
fn ends(field: &Field) -> Option<(String, String)> {
    let range = (field.range)()?;
    // A word may stand in the place of a value: `0s to 100s, or `rtt``.
    let (values, _) = range.split_once(", or ").unwrap_or((&range, ""));
    let (from, to) = values.split_once(" to ").unwrap();
    Some((from.to_string(), to.to_string()))
}

/// As a scenario would write it.
fn written(field: &Field, text: &str) -> Raw {
    match field.kind {
        "number" => Raw::Float(text.parse().unwrap()),
        "whole number" => Raw::Integer(text.parse().unwrap()),
        "true or false" => Raw::Bool(text.parse().unwrap()),
        _ => Raw::Text(text.to_string()),
    }
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

fn entries_are_named_documented_and_tested<F: Family>() {
    let mut names = BTreeSet::new();
    for entry in F::REGISTRY {
        let name = entry.name;
        assert!(names.insert(name), "{name} is registered twice");
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{name}");
        let summary = entry.summary();
        assert!(summary.contains(": ") && summary.ends_with('.'), "{name}: title `{summary}`");
        assert!(entry.citation().len() > 20, "{name}: citation `{}`", entry.citation());
        assert!(entry.source.contains("#[test]"), "{name} has no test of its own");
        assert!(entry.source.contains("SPDX-License-Identifier"), "{name} has no licence line");
        assert!(F::named(name).is_some());
    }
    assert!(F::named("no-such-algorithm").is_none());
}

#[test]
fn every_algorithm_is_named_documented_and_tested() {
    entries_are_named_documented_and_tested::<law::Config>();
    entries_are_named_documented_and_tested::<cc::Config>();
    entries_are_named_documented_and_tested::<queue::Config>();
    entries_are_named_documented_and_tested::<traffic::Config>();
    entries_are_named_documented_and_tested::<abr::Config>();
}

fn parameters_are_declared_and_held_to_their_range<F: Family>() {
    for entry in F::REGISTRY {
        let defaults = F::named(entry.name).unwrap();
        assert_eq!(defaults.check(), Ok(()), "{}", entry.name);
        let names: BTreeSet<_> = (entry.fields)().iter().map(|field| field.name).collect();
        assert_eq!(names.len(), (entry.fields)().len(), "{} has two parameters of one name", entry.name);
        for field in (entry.fields)() {
            let place = format!("{} {}", entry.name, field.name);
            assert!(field.doc.ends_with('.'), "{place}: `{}`", field.doc);
            // A list holds its elements to a range of their own, and a file may have any name.
            let is_path = field.kind.contains("path");
            let is_list = field.kind.contains("list of");
            let is_named = !field.choices.is_empty() || ["true or false", "rule"].contains(&field.kind);
            let unbounded = is_named || is_path || is_list;
            assert!(unbounded || (field.range)().is_some(), "{place} has no range");

            let mut same = defaults.clone();
            assert_eq!(same.set(field.name, &written(field, &(field.default)())), Ok(()), "{place}");
            assert_eq!(same, defaults, "{place}: the documented default is another one");

            for raw in trespasses(field) {
                let refused = same.set(field.name, &raw);
                let Err(Refusal::Value(message)) = refused else { panic!("{place} = {raw}: {refused:?}") };
                assert!(message.contains(&(field.range)().unwrap()), "{place}: {message}");
            }
            if !is_path {
                let Err(Refusal::Value(nonsense)) = same.set(field.name, &Raw::Text("nonsense".into()))
                else {
                    panic!("{place} takes nonsense")
                };
                assert!(field.choices.iter().all(|(name, _)| nonsense.contains(name)), "{place}: {nonsense}");
            }
            assert_eq!(same, defaults, "{place}: a refusal changed it");
        }
        assert_eq!(defaults.clone().set("no_such_parameter", &Raw::Bool(true)), Err(Refusal::Unknown));
    }
}

#[test]
fn every_parameter_out_of_range_is_refused_with_the_range_in_the_message() {
    parameters_are_declared_and_held_to_their_range::<law::Config>();
    parameters_are_declared_and_held_to_their_range::<cc::Config>();
    parameters_are_declared_and_held_to_their_range::<queue::Config>();
    parameters_are_declared_and_held_to_their_range::<feedback::Config>();
    parameters_are_declared_and_held_to_their_range::<traffic::Config>();
    parameters_are_declared_and_held_to_their_range::<abr::Config>();
}

/// One of `choices`, each as likely.
fn pick<T: Copy>(rng: &mut Rng, choices: &[T]) -> T {
    choices[rng.below(choices.len() as u64) as usize]
}

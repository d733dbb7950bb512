// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What differs between the cases of a study, as data: names and units for people, columns for files.
//!
//! ```text
//! topology.rtt  = ["20ms", "1s"]        RTT, ms                 rtt_ms     20, 1000
//! topology.buffer = ["0.5bdp", "1bdp"]  buffer, BDP             buffer_bdp 0.5, 1
//! flows.long.cc = ["cubic", "bbr"]      congestion control      cc         cubic, bbr
//! ```

mod name;
mod quantity;

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{Comparison, Manifest, SchemeResult};
use crate::measure::Subject;
use crate::scenario::Settings;
use crate::study::Frame;
use crate::table::{Cell, Row};
use quantity::Quantity;

crate::keys! {
/// A factor of a study: an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// The field: `topology.rtt`, `flows.long.cc`; `scheme` for schemes.
    pub key: String,
    /// For people: `RTT`, `buffer`, `congestion control`, `scheme`.
    pub name: String,
    /// The unit of its numbers: `ms`, `Mbit/s`, `BDP`, `packets`; empty without one.
    pub unit: &'static str,
    /// Its column in files: `rtt_ms`, `buffer_bdp`, `cc`, `scheme`; unique, and no metric's key.
    pub column: String,
    /// Its levels, in the order of the sweep.
    pub levels: Vec<Level>,
}

/// A value of a factor.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Level {
    /// For people: `20 ms`, `cubic`. No two levels of a factor have the same.
    pub text: String,
    /// In the unit of the factor; null where its levels are names.
    pub number: Option<f64>,
}
}

/// A value of a scenario in the form for people: `1bdp` is `1 BDP`, `3s..9s` is `3 s..9 s`; names are unchanged.
pub(super) fn people(written: &str) -> String {
    let number = |text: &str| Quantity::all(&[text]).map(|read| read[0].text());
    let interval = |(from, to): (&str, &str)| Some(format!("{}..{}", number(from)?, number(to)?));
    number(written).or_else(|| written.split_once("..").and_then(interval)).unwrap_or_else(|| written.into())
}

impl Factor {
    /// The unit of this name, if factors have it.
    pub(super) fn unit_named(name: &str) -> Option<&'static str> {
        quantity::unit_named(name)
    }

    /// Whether its levels are numbers, so that it can be an axis with a scale.
    pub fn is_numeric(&self) -> bool {
        self.levels.iter().all(|level| level.number.is_some())
    }

    /// The level that a value denotes, in whatever unit it is written.
    pub(super) fn level_of(&self, written: &str) -> Option<usize> {
        let same = |level: &Level| {
            let read = Quantity::all(&[&level.text, written]);
            level.text == written || read.is_some_and(|both| both[0] == both[1])
        };
        self.levels.iter().position(same)
    }

    /// A level in a file.
    pub fn cell(&self, level: usize) -> Cell {
        let Level { text, number } = &self.levels[level];
        number.map_or_else(|| Cell::Text(text.clone()), Cell::Number)
    }

    /// A level with the name of its factor, for places without a column heading: `RTT 20 ms`, `cubic`.
    pub fn told(&self, level: usize) -> String {
        let text = &self.levels[level].text;
        if self.is_named() { text.clone() } else { format!("{} {text}", self.name) }
    }

    /// Whether its levels are names of algorithms, which need no further word.
    fn is_named(&self) -> bool {
        !self.is_numeric() && name::SPEAKING.contains(&self.name.as_str())
    }
}

/// The factors of a study and the place of each of its cases in them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Factors {
    /// In the order of the sweep.
    pub factors: Vec<Factor>,
    /// For each case, the place of its level in each factor.
    pub levels: Vec<Vec<usize>>,
}

impl Factors {
    /// The factors of cases that have values of the same fields, in the same order.
    pub fn of(cases: &[Settings]) -> Factors {
        let keys: Vec<&str> = cases.first().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        let values = |place: usize| cases.iter().filter_map(move |case| Some(case.get(place)?.1.as_str()));
        let labels: Vec<Vec<&str>> = (0..keys.len()).map(|place| distinct(values(place))).collect();
        let read: Vec<Option<Vec<Quantity>>> = labels.iter().map(|labels| Quantity::all(labels)).collect();
        let units: Vec<&'static str> = keys
            .iter()
            .zip(&read)
            .map(|(key, read)| read.as_ref().map_or("", |read| quantity::unit(key, read)))
            .collect();
        let names = name::names(&keys, &units);
        let factors = names.into_iter().enumerate().map(|(place, (name, column))| Factor {
            key: keys[place].to_string(),
            name,
            unit: units[place],
            column,
            levels: levels(&labels[place], read[place].as_deref(), units[place]),
        });
        let place = |axis: usize, value: &str| labels[axis].iter().position(|label| *label == value);
        let places = |case: &Settings| {
            let each = case.iter().enumerate().filter_map(|(axis, (_, value))| place(axis, value));
            each.collect()
        };
        Factors { factors: factors.collect(), levels: cases.iter().map(places).collect() }
    }

    /// The name of a case: its levels, or `otherwise` where nothing is varied.
    pub fn name(&self, case: usize, otherwise: &str) -> String {
        let told = self.factors.iter().zip(&self.levels[case]).map(|(factor, level)| factor.told(*level));
        match told.collect::<Vec<_>>() {
            none if none.is_empty() => otherwise.to_string(),
            told => told.join(", "),
        }
    }
}

/// More levels than this are named by the first and the last.
const MOST_LISTED: usize = 8;

/// Distinct values, in order of appearance.
fn distinct<'l>(labels: impl Iterator<Item = &'l str>) -> Vec<&'l str> {
    let mut seen = BTreeSet::new();
    labels.filter(|label| seen.insert(*label)).collect()
}

/// Levels for people; as written where two would read the same.
fn levels(labels: &[&str], read: Option<&[Quantity]>, unit: &'static str) -> Vec<Level> {
    let as_written = |label: &&str| label.to_string();
    let Some(read) = read else {
        return labels.iter().map(|label| Level { text: as_written(label), number: None }).collect();
    };
    let mut texts: Vec<String> = read.iter().map(Quantity::text).collect();
    if texts.iter().collect::<BTreeSet<_>>().len() < texts.len() {
        texts = labels.iter().map(as_written).collect();
    }
    let numbers = read.iter().map(|quantity| Some(quantity.number(unit)));
    texts.into_iter().zip(numbers).map(|(text, number)| Level { text, number }).collect()
}

impl Comparison {
    /// Schemes without further factors.
    pub fn of_schemes(title: String, schemes: Vec<SchemeResult>, manifest: Manifest) -> Comparison {
        let named = |scheme: &SchemeResult| vec![("scheme".to_string(), scheme.scheme.clone())];
        let Factors { factors, levels } = Factors::of(&schemes.iter().map(named).collect::<Vec<_>>());
        let placed =
            schemes.into_iter().zip(levels).map(|(scheme, levels)| SchemeResult { levels, ..scheme });
        Comparison { title, factors, schemes: placed.collect(), cautions: Vec::new(), manifest }
    }

    /// The factors with several levels, with their places.
    pub fn varied(&self) -> impl Iterator<Item = (usize, &Factor)> {
        self.factors.iter().enumerate().filter(|(_, factor)| factor.levels.len() > 1)
    }

    /// What was varied: `36 rows: congestion control cubic, reno; RTT 20 ms, 80 ms, 200 ms`.
    pub(super) fn design(&self) -> String {
        let levels = |factor: &Factor| {
            let texts: Vec<&str> = factor.levels.iter().map(|level| level.text.as_str()).collect();
            match texts[..] {
                [first, .., last] if texts.len() > MOST_LISTED => {
                    format!("{first} to {last}, {} in all", texts.len())
                }
                _ => texts.join(", "),
            }
        };
        let varied = self.varied().map(|(_, factor)| format!("{} {}", factor.name, levels(factor)));
        format!("{} rows: {}", self.schemes.len(), varied.collect::<Vec<_>>().join("; "))
    }

    /// The rows of all runs under the levels of their factors: labels are keys and texts.
    pub fn frame(&self) -> Frame {
        let mut frame = Frame::default();
        for scheme in &self.schemes {
            let level =
                |(factor, level): (&Factor, &usize)| (factor.key.clone(), factor.levels[*level].text.clone());
            let labels: Vec<(String, String)> = self.factors.iter().zip(&scheme.levels).map(level).collect();
            for run in &scheme.runs {
                // A row for each length of a queue is more than any figure shows.
                let is_shown = |row: &&Row| Subject::FEW.iter().any(|subject| subject.has(row));
                let rows: Vec<Row> = run.rows.iter().filter(is_shown).cloned().collect();
                frame.add(&labels, run.seed, &rows);
            }
        }
        frame
    }
}

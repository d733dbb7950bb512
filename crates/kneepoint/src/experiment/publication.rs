// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The common part of a publication's experiments: readings of its open questions, and tolerances for its words.
//!
//! ```text
//! [[reading]]               id, about, taken, the reason for the choice, and its experiments
//! [reading.set]             its settings in each of them
//! [[reading.alternative]]   name, and under `set` the settings instead
//! [[word]]                  a word of the text, as in `similar`, and the number that it is in every check
//! ```
//!
//! A reading belongs to the experiments some of whose runs it changes, or those that it names. Each alternative is run
//! alone; [`Scope::Joint`] runs every combination of the alternatives, but of readings with `joint = false`, so that a reader sees
//! which of them go together.

use std::collections::BTreeMap;

use super::expression::{Check, Expression};
use super::sections::{Alternative, SharedSilence, WordParams, Words};
use super::subject::Around;
use super::{Reading, Scope, Variant, read};
use crate::fault::Faults;
use crate::scenario::reader::{Shape, section, settings};
use crate::scenario::sweep::write_all;
use crate::scenario::tree::{Key, Node, Table, Value};
use crate::scenario::{self, Fault};
use crate::study::Work;
use crate::suggest::did_you_mean;

/// More combinations than this make an unreadable table.
const GREATEST_JOINT: usize = 256;

/// The common part of a publication's experiments; nothing by default.
#[derive(Clone, Debug, Default)]
pub struct Publication {
    /// The shared readings.
    pub(super) readings: Vec<Shared>,
    /// The words that are numbers in checks, in the order of the file.
    pub words: Vec<Word>,
}

/// A word of the text that is a number in checks.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Word {
    /// The word, as in `similar`.
    pub name: String,
    /// The number.
    pub value: f64,
    /// The quantity that it counts.
    pub about: String,
}

/// A reading that several experiments share.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub id: String,
    pub about: String,
    pub taken: String,
    pub because: String,
    /// The figures and tables concerned; if none is named, all whose runs it changes.
    pub experiments: Vec<String>,
    /// Whether its alternatives are also combined with other readings' alternatives.
    pub joint: bool,
    pub set: Table,
    pub alternatives: Vec<(String, Table)>,
}

/// The alternative taken of each shared reading, by name; a reading that is not named has none.
pub type Choice = BTreeMap<String, String>;

impl Publication {
    /// Reads the file of a publication. The error holds every fault found, in order of place.
    pub fn parse(text: &str) -> Result<Publication, Vec<Fault>> {
        let mut faults = Faults::default();
        let publication = scenario::root(text, &mut faults).map(|root| publication(&root, &mut faults));
        match publication {
            Some(publication) if faults.is_empty() => Ok(publication),
            _ => Err(faults.finish(text)),
        }
    }

    /// Puts numbers in place of the words in a check.
    pub(super) fn settle(&self, check: &mut Check) {
        for side in [&mut check.left, &mut check.right] {
            replace(side, &self.words);
        }
    }
}

fn publication(root: &Table, faults: &mut Faults) -> Publication {
    for (key, _) in root.entries.iter().filter(|(key, _)| !["reading", "word"].contains(&key.text.as_str())) {
        let message = format!("a publication has no section `{}`", key.text);
        faults.add_with_help(&key.span, message, did_you_mean(&key.text, &["reading", "word"]));
    }
    let mut words: Vec<Word> = Vec::new();
    for table in root.tables("word", faults) {
        let shape = Shape { place: "[[word]]", besides: &[], required: &["name", "value", "about"] };
        let WordParams { name: Words(name), value, about: Words(about) } = settings(table, shape, faults);
        if words.iter().any(|word| word.name == name) {
            let message = format!("`{name}` has two values");
            faults.add_with_help(
                table.place("name"),
                message,
                "give a word one value in the whole publication",
            );
        }
        words.push(Word { name, value, about });
    }
    let mut readings: Vec<Shared> = Vec::new();
    for table in root.tables("reading", faults) {
        let reading = shared(table, faults);
        if readings.iter().any(|other| other.id == reading.id) {
            let message = format!("two readings are called `{}`", reading.id);
            faults.add_with_help(table.place("id"), message, "give each an `id` of its own");
        }
        readings.push(reading);
    }
    let together = readings.iter().filter(|reading| reading.joint);
    let joint = together.map(|reading| 1 + reading.alternatives.len()).try_fold(1, usize::checked_mul);
    if joint.is_none_or(|joint| joint > GREATEST_JOINT) {
        let message = format!("the readings have more than {GREATEST_JOINT} combinations");
        faults.add_with_help(
            &root.span,
            message,
            "give those that matter to few experiments `joint = false`",
        );
    }
    Publication { readings, words }
}

fn shared(table: &Table, faults: &mut Faults) -> Shared {
    let required = &["id", "about", "taken", "because"];
    let shape = Shape { place: "[[reading]]", besides: &["set", "alternative"], required };
    let SharedSilence { id, about, taken, because, experiments, joint } = settings(table, shape, faults);
    let alternatives = table.tables("alternative", faults).into_iter().map(|other| {
        let own = Shape { place: "[[reading.alternative]]", besides: &["set"], required: &["name"] };
        let Alternative { name: Words(name) } = settings(other, own, faults);
        (name, unplaced(section(other, "set", faults)))
    });
    let alternatives = alternatives.collect();
    Shared {
        id: id.0,
        about: about.0,
        taken: taken.0,
        because: because.0,
        experiments: experiments.0,
        joint,
        set: unplaced(section(table, "set", faults)),
        alternatives,
    }
}

/// Settings without their places, which are not places in an experiment's file.
fn unplaced(table: Table) -> Table {
    let entries = table.entries.into_iter().map(|(key, node)| (Key { span: 0..0, ..key }, nowhere(node)));
    Table { span: 0..0, entries: entries.collect() }
}

fn nowhere(node: Node) -> Node {
    let value = match node.value {
        Value::Table(inner) => Value::Table(unplaced(inner)),
        Value::List(nodes) => Value::List(nodes.into_iter().map(nowhere).collect()),
        value => value,
    };
    Node { span: 0..0, value, ..node }
}

impl Shared {
    /// Whether it concerns the experiment with this id.
    pub fn concerns(&self, id: &str) -> bool {
        let names =
            |figure: &String| id.strip_suffix(figure.as_str()).is_some_and(|rest| rest.ends_with('-'));
        self.experiments.is_empty() || self.experiments.iter().any(names)
    }

    fn told(&self) -> Reading {
        let Shared { id, about, taken, because, .. } = self.clone();
        Reading { shared: Some(id), about, taken, because }
    }

    /// Its settings under a choice.
    pub fn under(&self, choice: &Choice) -> &Table {
        let chosen = choice.get(&self.id);
        let alternative = self.alternatives.iter().find(|(name, _)| Some(name) == chosen);
        alternative.map_or(&self.set, |(_, set)| set)
    }
}

/// An experiment under the readings of its publication.
pub(super) struct Under<'e> {
    pub publication: &'e Publication,
    pub id: &'e str,
    /// Its scenario as the experiment writes it.
    pub body: &'e Table,
    pub around: Around<'e>,
}

/// Its verdict.
pub(super) struct Read {
    /// The scenario under the readings taken.
    pub body: Table,
    pub taken: Variant,
    /// The variants under other choices.
    pub others: Vec<Variant>,
    /// The readings that it shares.
    pub readings: Vec<Reading>,
    pub seeds: Vec<u64>,
}

impl Under<'_> {
    pub fn read(&self, scope: Scope, faults: &mut Faults) -> Option<Read> {
        let concerned: Vec<&Shared> =
            self.publication.readings.iter().filter(|reading| reading.concerns(self.id)).collect();
        let none = Choice::new();
        let body = self.set(&concerned, &none, faults);
        let (points, seeds) = read::points(&body, self.around, faults)?;
        let taken = Variant { name: None, choice: none, points };
        let (mut relevant, mut others) = (Vec::new(), Vec::new());
        for reading in &concerned {
            let asked = reading.joint || scope != Scope::Joint;
            let single = choices(&[reading]).into_iter().filter(|choice| asked && !choice.is_empty());
            let alone: Vec<Variant> =
                single.filter_map(|choice| self.variant(&concerned, &choice, faults)).collect();
            let changes = |variant: &Variant| variant.works().ne(taken.works());
            let textual =
                alone.is_empty() && taken.points.iter().any(|point| matches!(point.work, Work::Packets(_)));
            if !reading.experiments.is_empty() || textual || alone.iter().any(changes) {
                relevant.push(*reading);
                others.extend(alone);
            }
        }
        if scope == Scope::Joint {
            let together: Vec<&Shared> = relevant.iter().copied().filter(|reading| reading.joint).collect();
            let several = choices(&together).into_iter().filter(|choice| choice.len() > 1);
            others.extend(several.filter_map(|choice| self.variant(&concerned, &choice, faults)));
        }
        let readings = relevant.into_iter().map(Shared::told).collect();
        Some(Read { body, taken, others, readings, seeds })
    }

    fn variant(&self, concerned: &[&Shared], choice: &Choice, faults: &mut Faults) -> Option<Variant> {
        let (points, _) = read::points(&self.set(concerned, choice, faults), self.around, faults)?;
        let name = choice.iter().map(|(id, name)| format!("{id}: {name}")).collect::<Vec<_>>().join("; ");
        Some(Variant { name: Some(name), choice: choice.clone(), points })
    }

    /// The scenario under a choice.
    fn set(&self, concerned: &[&Shared], choice: &Choice, faults: &mut Faults) -> Table {
        let mut body = self.body.clone();
        // A computation has no senders to configure.
        for reading in concerned.iter().filter(|_| self.body.get("topology").is_some()) {
            write_all(&mut body, reading.under(choice), self.around.extensions, faults);
        }
        body
    }
}

impl Variant {
    /// The inputs of its runs.
    fn works(&self) -> impl Iterator<Item = String> {
        self.points.iter().map(|point| point.work.identity())
    }
}

/// Every combination of the alternatives of some readings, the one with none of them first, then those with one.
pub(super) fn choices(readings: &[&Shared]) -> Vec<Choice> {
    let mut choices = vec![Choice::new()];
    for reading in readings {
        let with = |choice: &Choice, (name, _): &(String, Table)| {
            let mut choice = choice.clone();
            choice.insert(reading.id.clone(), name.clone());
            choice
        };
        let more: Vec<Choice> = choices
            .iter()
            .flat_map(|choice| reading.alternatives.iter().map(|one| with(choice, one)))
            .collect();
        choices.extend(more);
    }
    choices.sort_by_key(Choice::len);
    choices
}

fn replace(expression: &mut Expression, words: &[Word]) {
    match expression {
        Expression::Number(_) => {}
        Expression::Observed(reference) => {
            let word = words.iter().find(|word| word.name == reference.metric);
            if let Some(word) = word.filter(|_| reference.labels.is_empty()) {
                *expression = Expression::Number(word.value);
            }
        }
        Expression::Negative(inner) | Expression::Absolute(inner) | Expression::Along(_, inner, _) => {
            replace(inner, words);
        }
        Expression::Pair(left, _, right) => {
            replace(left, words);
            replace(right, words);
        }
        Expression::Extreme(_, several) => several.iter_mut().for_each(|one| replace(one, words)),
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Every named item that can be listed or explained, from the registries of the library.

use clap::ValueEnum;
use kneepoint::link::{capacity, loss};
use kneepoint::measure::{self, Metric, Subject};
use kneepoint::scenario::TOPOLOGIES;
use kneepoint::scenario::scheme::{Of, PRESETS, Preset};
use kneepoint::settings::{Entry, Field, Setting, Settings};
use kneepoint::traffic::{self, abr};
use kneepoint::{cc, feedback, fluid, law, predict, queue, tcp};
use serde_json::{Value, json};

/// The kinds of named items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Congestion controls.
    Controllers,
    /// Queue disciplines.
    Queues,
    /// Explicit feedback of links.
    Feedback,
    /// Laws of early response.
    Laws,
    /// Congestion predictors.
    Predictors,
    /// Fluid models.
    Models,
    /// Names from papers for algorithms with particular settings.
    Presets,
    /// Shapes of networks.
    Topologies,
    /// Loss recovery algorithms.
    Recoveries,
    /// Loss models.
    Channels,
    /// How fast a link transmits over time.
    Capacities,
    /// Sources of traffic.
    Sources,
    /// Rules of adaptive bit rate.
    Rules,
    /// Sets of parameters that belong to no algorithm.
    Options,
    /// Numbers that a run is measured by.
    Metrics,
    /// Columns of the sampled series.
    Columns,
}

impl Kind {
    /// In the order of listing.
    pub const ALL: [Kind; 16] = [
        Kind::Controllers,
        Kind::Queues,
        Kind::Feedback,
        Kind::Laws,
        Kind::Predictors,
        Kind::Models,
        Kind::Presets,
        Kind::Topologies,
        Kind::Recoveries,
        Kind::Channels,
        Kind::Capacities,
        Kind::Sources,
        Kind::Rules,
        Kind::Options,
        Kind::Metrics,
        Kind::Columns,
    ];

    /// The name of one item.
    pub fn singular(self) -> &'static str {
        match self {
            Kind::Controllers => "controller",
            Kind::Queues => "queue",
            Kind::Feedback => "feedback",
            Kind::Laws => "law",
            Kind::Predictors => "predictor",
            Kind::Models => "fluid model",
            Kind::Presets => "preset",
            Kind::Topologies => "topology",
            Kind::Recoveries => "recovery",
            Kind::Channels => "channel",
            Kind::Capacities => "capacity",
            Kind::Sources => "source",
            Kind::Rules => "rule",
            Kind::Options => "options",
            Kind::Metrics => "metric",
            Kind::Columns => "column",
        }
    }

    /// The heading of a list.
    pub fn plural(self) -> &'static str {
        match self {
            Kind::Controllers => "controllers",
            Kind::Queues => "queues",
            Kind::Feedback => "feedback",
            Kind::Laws => "laws",
            Kind::Predictors => "predictors",
            Kind::Models => "models",
            Kind::Presets => "presets",
            Kind::Topologies => "topologies",
            Kind::Recoveries => "recoveries",
            Kind::Channels => "channels",
            Kind::Capacities => "capacities",
            Kind::Sources => "sources",
            Kind::Rules => "rules",
            Kind::Options => "options",
            Kind::Metrics => "metrics",
            Kind::Columns => "columns",
        }
    }
}

/// A named item.
pub struct Item {
    /// Its kind.
    pub kind: Kind,
    /// Its name in scenarios.
    pub name: &'static str,
    /// One sentence.
    pub summary: String,
    /// The publication, if any.
    pub citation: String,
    /// Its documentation.
    pub header: String,
    /// Its parameters.
    pub fields: &'static [Field],
}

/// All items of the given kinds.
pub fn items(kinds: &[Kind]) -> Vec<Item> {
    kinds.iter().flat_map(|kind| of_kind(*kind)).collect()
}

fn of_kind(kind: Kind) -> Vec<Item> {
    let plain = |name, about: &str| Item {
        kind,
        name,
        summary: about.to_string(),
        citation: String::new(),
        header: about.to_string(),
        fields: &[],
    };
    match kind {
        Kind::Controllers => cc::REGISTRY.iter().map(|entry| registered(kind, entry)).collect(),
        Kind::Queues => queue::REGISTRY.iter().map(|entry| registered(kind, entry)).collect(),
        Kind::Feedback => feedback::REGISTRY.iter().map(|entry| registered(kind, entry)).collect(),
        Kind::Laws => law::REGISTRY.iter().map(|entry| registered(kind, entry)).collect(),
        Kind::Predictors => predict::REGISTRY.iter().map(|entry| registered(kind, entry)).collect(),
        Kind::Models => fluid::REGISTRY.iter().map(|entry| registered(kind, entry)).collect(),
        Kind::Presets => {
            let schemes = PRESETS.iter().map(|preset| preset_item(preset, plain(preset.name, preset.about)));
            let predictors = predict::PRESETS.iter().map(|preset| {
                stands_for(plain(preset.name, preset.about), "predictor", preset.of, settings(preset.set))
            });
            schemes.chain(predictors).collect()
        }
        Kind::Topologies => TOPOLOGIES.iter().map(|entry| described(kind, entry)).collect(),
        Kind::Recoveries => tcp::Recovery::CHOICES.iter().map(|(name, about)| plain(name, about)).collect(),
        Kind::Channels => loss::REGISTRY.iter().map(|entry| described(kind, entry)).collect(),
        Kind::Capacities => capacity::REGISTRY.iter().map(|entry| described(kind, entry)).collect(),
        Kind::Sources => traffic::REGISTRY.iter().map(|entry| registered(kind, entry)).collect(),
        Kind::Rules => abr::REGISTRY.iter().map(|entry| registered(kind, entry)).collect(),
        Kind::Options => vec![Item {
            fields: tcp::Options::fields(),
            ..plain("tcp", "Options of a TCP sender and its receiver.")
        }],
        Kind::Metrics => metrics(plain),
        Kind::Columns => measure::COLUMNS
            .iter()
            .map(|column| {
                let subject =
                    if column.subject == Subject::Run { "" } else { &format!("[{}]", column.subject) };
                let header = format!("{}{subject}\n\n{}", column.name, column.about);
                Item { header, ..plain(column.name, column.about) }
            })
            .collect(),
    }
}

/// The metrics of all subjects. Those of the same key are one item.
fn metrics(plain: impl Fn(&'static str, &str) -> Item) -> Vec<Item> {
    let mut keys: Vec<(&'static str, Vec<(Subject, &'static str)>)> = Vec::new();
    for subject in Subject::ALL {
        for Metric { key, title, .. } in subject.metrics() {
            match keys.iter_mut().find(|(known, _)| known == key) {
                Some((_, subjects)) => subjects.push((*subject, title)),
                None => keys.push((key, vec![(*subject, title)])),
            }
        }
    }
    let item = |(key, subjects): (&'static str, Vec<(Subject, &str)>)| {
        let same = |one: &(Subject, &str), other: &(Subject, &str)| one.1 == other.1;
        let titles = subjects.chunk_by(same).map(|chunk| {
            let names = chunk.iter().map(|(subject, _)| subject.to_string()).collect::<Vec<_>>();
            format!("{} ({})", chunk[0].1, names.join(", "))
        });
        let summary = titles.collect::<Vec<_>>().join("; ");
        let mut paragraphs = vec![summary.clone()];
        for definition in subjects.iter().flat_map(|(subject, _)| subject.definitions()) {
            if !paragraphs.contains(&definition) {
                paragraphs.push(definition);
            }
        }
        Item { header: paragraphs.join("\n\n"), ..plain(key, &summary) }
    };
    keys.into_iter().map(item).collect()
}

/// An entry whose header is a description without a citation.
fn described(kind: Kind, entry: &Entry) -> Item {
    Item { citation: String::new(), ..registered(kind, entry) }
}

fn preset_item(preset: &Preset, item: Item) -> Item {
    let family = match preset.family {
        Of::Control => "controller",
        Of::Queue => "queue",
    };
    let mut with = settings(preset.set);
    with.extend(preset.recovery.map(|recovery| format!("recovery = {recovery}")));
    with.extend(preset.feedback.map(|feedback| format!("feedback = {feedback}")));
    stands_for(item, family, preset.of, with)
}

/// Adds a sentence with the algorithm and the settings that a preset stands for.
fn stands_for(item: Item, family: &str, of: &str, with: Vec<String>) -> Item {
    let header = format!("{}\n\nStands for the {family} `{of}` with {}.", item.summary, with.join(", "));
    Item { header, ..item }
}

fn settings(set: &[(&str, &str)]) -> Vec<String> {
    set.iter().map(|(name, value)| format!("{name} = {value}")).collect()
}

fn registered(kind: Kind, entry: &Entry) -> Item {
    Item {
        kind,
        name: entry.name,
        summary: entry.summary(),
        citation: entry.citation(),
        header: entry.header(),
        fields: (entry.fields)(),
    }
}

impl Item {
    /// Kind, name, summary and citation.
    pub fn json(&self) -> Value {
        json!({"kind": self.kind.singular(), "name": self.name, "summary": self.summary, "citation": self.citation})
    }
}

/// Parameters as JSON, each with its type, default, range and choices.
pub fn fields_json(fields: &[Field]) -> Value {
    let field = |field: &Field| {
        let choices =
            field.choices.iter().map(|(name, doc)| json!({"name": name, "doc": doc})).collect::<Vec<_>>();
        json!({
            "name": field.name,
            "kind": field.kind,
            "default": (field.default)(),
            "range": (field.range)(),
            "choices": choices,
            "doc": field.doc,
        })
    };
    fields.iter().map(field).collect()
}

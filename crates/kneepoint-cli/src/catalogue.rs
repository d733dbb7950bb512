// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Every named item that can be listed or explained, from the registries of the library.

use clap::ValueEnum;
use kneepoint::link::{capacity, loss};
use kneepoint::measure::{self, Subject};
use kneepoint::metric::{Better, Metric};
use kneepoint::report::output;
use kneepoint::scenario::scheme::{Of, PRESETS};
use kneepoint::scenario::{Extensions, TOPOLOGIES};
use kneepoint::settings::names::same_name;
use kneepoint::settings::{Entry, Field, Setting, Settings};
use kneepoint::traffic::{self, abr, rtp};
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
    /// The rate of a link over time.
    Capacities,
    /// Sources of traffic.
    Sources,
    /// Rules of adaptive bit rate.
    Rules,
    /// Rate controls of media.
    RateControls,
    /// Sets of parameters that belong to no algorithm.
    Options,
    /// Metrics of a run.
    Metrics,
    /// Columns of the sampled series.
    Columns,
}

impl Kind {
    /// In the order of listing.
    pub const ALL: [Kind; 17] = [
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
        Kind::RateControls,
        Kind::Options,
        Kind::Metrics,
        Kind::Columns,
    ];

    /// The name of one item, the heading of a list, and where the name is written.
    const fn words(self) -> [&'static str; 3] {
        match self {
            Kind::Controllers => ["controller", "controllers", "`cc` of a group; first in a scheme"],
            Kind::Queues => ["queue", "queues", "[queue], or `queue` of a link; second in a scheme"],
            Kind::Feedback => ["feedback", "feedback", "[feedback]; third in a scheme"],
            Kind::Laws => ["law", "laws", "not written: queues and PERT are made of it"],
            Kind::Predictors => ["predictor", "predictors", "`knee predict --predictors`"],
            Kind::Models => ["fluid model", "models", "`knee fluid`"],
            Kind::Presets => {
                ["preset", "presets", "instead of the full name, before which it is written in a scheme"]
            }
            Kind::Topologies => ["topology", "topologies", "`kind` in [topology]"],
            Kind::Recoveries => ["recovery", "recoveries", "`recovery` in [tcp] or with --tcp"],
            Kind::Channels => ["channel", "channels", "[loss], or `loss` of a link"],
            Kind::Capacities => ["capacity", "capacities", "[capacity], or `capacity` of a link"],
            Kind::Sources => ["source", "sources", "a section of traffic, [[NAME]]; bulk is [[flows]]"],
            Kind::Rules => ["rule", "rules", "`rule` in [[vod]]"],
            Kind::RateControls => ["rate control", "rate-controls", "`control` in [[media]]"],
            Kind::Options => ["options", "options", "[tcp], `tcp` of a group, or --tcp"],
            Kind::Metrics => ["metric", "metrics", "claims, JSON and CSV"],
            Kind::Columns => ["column", "columns", "the series, CSV and Parquet"],
        }
    }

    /// The name of one item.
    pub fn singular(self) -> &'static str {
        self.words()[0]
    }

    /// The heading of a list.
    pub fn plural(self) -> &'static str {
        self.words()[1]
    }

    /// The place where the name of one is written.
    pub fn written(self) -> &'static str {
        self.words()[2]
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

/// The same, with a session's algorithms of others.
pub fn known(extensions: &Extensions, kinds: &[Kind]) -> Vec<Item> {
    let entries = |kind: Kind| -> Vec<&Entry> {
        match kind {
            Kind::Controllers => {
                extensions.controllers().iter().filter_map(|one| Some(one.external()?.entry())).collect()
            }
            Kind::Queues => {
                extensions.queues().iter().filter_map(|one| Some(one.external()?.entry())).collect()
            }
            Kind::Sources => {
                extensions.traffic().iter().filter_map(|one| Some(one.external()?.entry())).collect()
            }
            _ => Vec::new(),
        }
    };
    let all = |kind: &Kind| {
        let theirs = entries(*kind).into_iter().map(|entry| registered(*kind, entry));
        of_kind(*kind).into_iter().chain(theirs).collect::<Vec<_>>()
    };
    kinds.iter().flat_map(all).collect()
}

/// The members of a family, and the presets of its members.
pub fn choices(kind: Kind) -> Vec<Item> {
    let family = match kind {
        Kind::Controllers => Some(Of::Control),
        Kind::Queues => Some(Of::Queue),
        _ => None,
    };
    let names = PRESETS.iter().filter(|preset| Some(preset.family) == family).map(|preset| preset.name);
    let names: Vec<&str> = match kind {
        Kind::Predictors => predict::PRESETS.iter().map(|preset| preset.name).collect(),
        _ => names.collect(),
    };
    let mut all = of_kind(kind);
    let alone = |item: &Item| names.contains(&item.name) && all.iter().all(|member| member.name != item.name);
    let presets: Vec<Item> = of_kind(Kind::Presets).into_iter().filter(alone).collect();
    all.extend(presets);
    all
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
            let schemes =
                PRESETS.iter().map(|preset| stands_for(plain(preset.name, preset.about), &preset.meaning()));
            let predictors = predict::PRESETS
                .iter()
                .map(|preset| stands_for(plain(preset.name, preset.about), &preset.meaning()));
            schemes.chain(predictors).collect()
        }
        Kind::Topologies => TOPOLOGIES.iter().map(|entry| described(kind, entry)).collect(),
        Kind::Recoveries => tcp::Recovery::CHOICES.iter().map(|(name, about)| plain(name, about)).collect(),
        Kind::Channels => loss::REGISTRY.iter().map(|entry| described(kind, entry)).collect(),
        Kind::Capacities => capacity::REGISTRY.iter().map(|entry| described(kind, entry)).collect(),
        Kind::Sources => traffic::REGISTRY.iter().map(|entry| registered(kind, entry)).collect(),
        Kind::Rules => abr::REGISTRY.iter().map(|entry| registered(kind, entry)).collect(),
        Kind::RateControls => rtp::REGISTRY.iter().map(|entry| registered(kind, entry)).collect(),
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

/// The metrics of all subjects. Metrics with the same key are one item.
fn metrics(plain: impl Fn(&'static str, &str) -> Item) -> Vec<Item> {
    let mut keys: Vec<(&'static Metric, Vec<(Subject, &'static str)>)> = Vec::new();
    for subject in Subject::ALL {
        for metric in subject.metrics() {
            match keys.iter_mut().find(|(known, _)| known.key == metric.key) {
                Some((_, subjects)) => subjects.push((*subject, &metric.title)),
                None => keys.push((metric, vec![(*subject, &metric.title)])),
            }
        }
    }
    let item = |(metric, subjects): (&'static Metric, Vec<(Subject, &str)>)| {
        let same = |one: &(Subject, &str), other: &(Subject, &str)| one.1 == other.1;
        let titles = subjects.chunk_by(same).map(|chunk| {
            let names = chunk.iter().map(|(subject, _)| subject.to_string()).collect::<Vec<_>>();
            format!("{} ({})", chunk[0].1, names.join(", "))
        });
        let summary = titles.collect::<Vec<_>>().join("; ");
        let mut paragraphs = vec![summary.clone(), written_as(metric)];
        for definition in subjects.iter().flat_map(|(subject, _)| subject.definitions()) {
            if !paragraphs.contains(&definition) {
                paragraphs.push(definition);
            }
        }
        Item { header: paragraphs.join("\n\n"), ..plain(&metric.key, &summary) }
    };
    keys.into_iter().map(item).collect()
}

/// The form of a metric in files and tables, with its units, and its better direction.
fn written_as(Metric { key, short, unit, better, .. }: &Metric) -> String {
    let in_files = match output::unit(key) {
        "" => String::new(),
        one => format!(", in {one}"),
    };
    let in_tables = if unit.is_empty() { String::new() } else { format!(", in {unit}") };
    let better = match better {
        Some(Better::Less) => " Less is better.",
        Some(Better::More) => " More is better.",
        None => "",
    };
    format!("`{key}` in claims, JSON, CSV and Parquet{in_files}; `{short}` in tables{in_tables}.{better}")
}

/// The metrics that have this head of a column in tables.
pub fn headed(head: &str) -> Vec<Item> {
    let metrics = Subject::ALL.iter().flat_map(|subject| subject.metrics());
    let keys = metrics.filter(|metric| same_words(&metric.short, head)).map(|metric| metric.key.as_str());
    let keys = keys.collect::<Vec<_>>();
    items(&[Kind::Metrics]).into_iter().filter(|item| keys.contains(&item.name)).collect()
}

/// The items that have all of these words in their names.
pub fn with_words(text: &str) -> Vec<Item> {
    let wanted = words(text);
    let has = |item: &Item| !wanted.is_empty() && wanted.iter().all(|one| words(item.name).contains(one));
    items(&Kind::ALL).into_iter().filter(has).collect()
}

fn same_words(one: &str, other: &str) -> bool {
    words(one) == words(other)
}

/// The words of a name or a heading, in small letters.
fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric() && c != '%').filter(|part| !part.is_empty());
    parts.map(str::to_lowercase).collect()
}

/// An entry whose header is a description without a citation.
fn described(kind: Kind, entry: &Entry) -> Item {
    Item { citation: String::new(), ..registered(kind, entry) }
}

/// Adds a sentence that lists the settings of a preset.
fn stands_for(item: Item, meaning: &str) -> Item {
    Item { header: format!("{}\n\nStands for {meaning}.", item.summary), ..item }
}

fn registered(kind: Kind, entry: &Entry) -> Item {
    Item {
        kind,
        name: entry.name,
        summary: entry.summary(),
        citation: entry.citation(),
        header: entry.header(),
        fields: entry.fields,
    }
}

impl Item {
    /// Whether this is its name, in any spelling.
    pub fn is_called(&self, name: &str) -> bool {
        same_name(self.name, name)
    }

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
            "default": field.default(),
            "range": field.range(),
            "choices": choices,
            "doc": field.doc,
        })
    };
    fields.iter().map(field).collect()
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The outline of a scenario: every section with the lists of fields that its reader reads.
//!
//! [`schema`](super::schema) and [`example`](super::example) are written from it.

use super::choose::Family;
use super::effects::{self, EFFECTS, HANDOVER};
use super::extensions::Extensions;
pub(super) use super::family::Member;
use super::family::Members;
use super::figure::FigureSpec;
use super::proxy::{self, Proxy};
use super::sections::{self, Endpoints, Flows, Head, Process, Run, Sessions};
use super::topology::{self, LinkFields, NodeFields};
use crate::link::{capacity, loss};
use crate::settings::{Entry, Field, Settings, names};
use crate::traffic::{Kind, sources};
use crate::{cc, feedback, queue, tcp};

/// A list of declared fields.
pub(super) type Fields = &'static [Field];

/// A section.
#[derive(Clone, Copy)]
pub(super) struct Section {
    pub name: &'static str,
    pub about: &'static str,
    /// Whether there may be several: `[[name]]`.
    pub repeated: bool,
    /// Whether a scenario without it is incomplete.
    pub wanted: bool,
    pub fields: &'static [Fields],
    /// Further fields: the parameters of a source.
    pub own: Option<Fields>,
    pub required: &'static [&'static str],
    /// Fields that choose one of a family or hold their own table.
    pub parts: &'static [(&'static str, Part)],
    /// Whether the section itself chooses one of a family.
    pub choice: Option<&'static Members>,
}

impl Section {
    /// Its fields, with the fields of its possible members.
    fn all(&self) -> impl Iterator<Item = &'static Field> {
        let members = self.choice.map_or(&[][..], |family| family.registry);
        let own = self.fields.iter().copied().chain(self.own);
        own.chain(members.iter().map(|member| member.fields)).flatten()
    }
}

/// A choice or a nested table.
#[derive(Clone, Copy)]
pub(super) enum Part {
    /// One of a family.
    One(&'static Members),
    /// A table of TCP options.
    Options,
    /// A table like the section of this name.
    Table(&'static effects::Part),
}

impl Part {
    pub const CONTROL: Part = Part::One(&<cc::Config as Family>::MEMBERS);
    pub const QUEUE: Part = Part::One(&<queue::Config as Family>::MEMBERS);
    pub const FEEDBACK: Part = Part::One(&<feedback::Config as Family>::MEMBERS);
    pub const LOSS: Part = Part::One(&<loss::Config as Family>::MEMBERS);
    pub const CAPACITY: Part = Part::One(&<capacity::Config as Family>::MEMBERS);

    /// The fields that its table may have.
    fn fields(self) -> impl Iterator<Item = &'static Field> {
        let (options, members): (&[Field], &[Entry]) = match self {
            Part::One(family) => (&[], family.registry),
            Part::Options => (tcp::Options::FIELDS, &[]),
            Part::Table(part) => (part.fields, &[]),
        };
        options.iter().chain(members.iter().flat_map(|member| member.fields))
    }
}

impl Member {
    /// A field's default as TOML, as this member has it.
    pub fn default(&self, field: &Field) -> String {
        let set = self.set.iter().find(|(name, _)| *name == field.name);
        set.map_or_else(|| default(field), |(_, value)| (*value).to_string())
    }
}

/// A section of nothing.
pub(super) const PLAIN: Section = Section {
    name: "",
    about: "",
    repeated: false,
    wanted: false,
    fields: &[],
    own: None,
    required: &[],
    parts: &[],
    choice: None,
};

/// Fields before all sections.
pub(super) const HEAD: Fields = Head::FIELDS;

/// The sections that are not traffic, without `[sweep]`, whose keys are paths to the fields of the others.
const SECTIONS: &[Section] = &[
    Section {
        name: "run",
        about: "Times of the run, and its repetitions.",
        wanted: true,
        fields: &[Run::FIELDS],
        ..PLAIN
    },
    Section {
        name: "topology",
        about: "The network.",
        wanted: true,
        choice: Some(&<topology::Config as Family>::MEMBERS),
        ..PLAIN
    },
    Section {
        name: "node",
        about: "The nodes of a graph; without any, its links bring them.",
        repeated: true,
        fields: &[NodeFields::FIELDS],
        required: &["name"],
        ..PLAIN
    },
    Section {
        name: "link",
        about: "The links of a graph.",
        repeated: true,
        fields: &[LinkFields::FIELDS],
        required: topology::LINK_REQUIRED,
        parts: &[
            ("queue", Part::QUEUE),
            ("feedback", Part::FEEDBACK),
            ("loss", Part::LOSS),
            ("capacity", Part::CAPACITY),
            ("policer", Part::Table(&EFFECTS[0])),
            ("reordering", Part::Table(&EFFECTS[1])),
            ("duplication", Part::Table(&EFFECTS[2])),
            ("corruption", Part::Table(&EFFECTS[3])),
            ("handover", Part::Table(&HANDOVER)),
        ],
        ..PLAIN
    },
    Section {
        name: "queue",
        about: "The queue discipline of bottlenecks.",
        wanted: true,
        choice: Some(&<queue::Config as Family>::MEMBERS),
        ..PLAIN
    },
    Section {
        name: "reverse_queue",
        about: "The queue discipline of the bottlenecks against the direction of most data.",
        choice: Some(&<queue::Config as Family>::MEMBERS),
        ..PLAIN
    },
    Section {
        name: "feedback",
        about: "Feedback from bottlenecks to senders in addition to drops and marks, in the direction of most data.",
        choice: Some(&<feedback::Config as Family>::MEMBERS),
        ..PLAIN
    },
    Section {
        name: "loss",
        about: "Losses on bottlenecks besides the drops of their queues.",
        wanted: true,
        choice: Some(&<loss::Config as Family>::MEMBERS),
        ..PLAIN
    },
    Section {
        name: "capacity",
        about: "How the capacity of bottlenecks varies, in the direction of most data, or is shared by both directions.",
        choice: Some(&<capacity::Config as Family>::MEMBERS),
        ..PLAIN
    },
    beside(&EFFECTS[0]),
    beside(&EFFECTS[1]),
    beside(&EFFECTS[2]),
    beside(&EFFECTS[3]),
    beside(&HANDOVER),
    Section {
        name: effects::REVERSE,
        about: "The bottlenecks against the direction of most data, where they differ; their queue is then measured.",
        parts: &[
            ("loss", Part::LOSS),
            ("capacity", Part::CAPACITY),
            ("policer", Part::Table(&EFFECTS[0])),
            ("reordering", Part::Table(&EFFECTS[1])),
            ("duplication", Part::Table(&EFFECTS[2])),
            ("corruption", Part::Table(&EFFECTS[3])),
        ],
        ..PLAIN
    },
    Section {
        name: proxy::PROXY,
        about: "Proxies that split connections, as on satellite links; their hosts have to be Linux's (`preset` in [tcp]).",
        fields: &[Proxy::FIELDS],
        required: &["at"],
        parts: &[("cc", Part::CONTROL)],
        ..PLAIN
    },
    Section {
        name: "tcp",
        about: "The options of every sender and receiver; a group may have its own under `tcp`.",
        wanted: true,
        fields: &[tcp::Options::FIELDS],
        ..PLAIN
    },
    Section {
        name: "figure",
        about: "How the report draws the swept factors; omitted settings are chosen automatically.",
        fields: &[FigureSpec::FIELDS],
        ..PLAIN
    },
];

/// The section of the bottlenecks' further effects.
const fn beside(part: &'static effects::Part) -> Section {
    Section { name: part.name, about: part.about, fields: std::slice::from_ref(&part.fields), ..PLAIN }
}

/// The sections of traffic; an example begins with the first.
fn traffic() -> impl Iterator<Item = Section> {
    sources().enumerate().map(|(place, (name, entry, source))| {
        let kind = source.nature().kind;
        let fields: &[Fields] = match kind {
            Kind::Transfers => &[Flows::FIELDS, Endpoints::FIELDS],
            Kind::Sessions => &[Sessions::FIELDS, Endpoints::FIELDS],
            Kind::Process => &[Process::FIELDS, Endpoints::FIELDS],
            Kind::Streams | Kind::Datagrams => &[sections::Members::FIELDS, Endpoints::FIELDS],
        };
        let parts: &[_] = match kind.connects() {
            true => &[("cc", Part::CONTROL), ("tcp", Part::Options)],
            false => &[],
        };
        let required: &[_] = if kind.connects() { &["cc"] } else { &[] };
        let about =
            entry.source.lines().nth(1).and_then(|line| line.strip_prefix("//! ")).unwrap_or_default();
        let (repeated, wanted, own) = (true, place == 0, Some(entry.fields));
        Section { name, about, repeated, wanted, fields, own, parts, required, ..PLAIN }
    })
}

/// Every section but `[sweep]`, traffic last.
pub(super) fn sections() -> impl Iterator<Item = Section> {
    SECTIONS.iter().copied().chain(traffic())
}

/// The fields of a scenario by their paths in `[sweep]`, each with a sentence. Nodes of a graph have no paths, and the figure is the same
/// for all cases.
pub fn paths() -> Vec<(String, String)> {
    let mut paths =
        vec![("scheme".to_string(), "The control of all groups and the queue of bottlenecks.".to_string())];
    for section in sections().filter(|section| !["node", "figure"].contains(&section.name)) {
        let prefix = format!("{}.{}", section.name, if section.repeated { "*." } else { "" });
        let fields = section.all().map(|field| (field.name, sentence(field)));
        let kind = section.choice.map(|family| ("kind", format!("The name of a {}.", family.what)));
        let parts = section.parts.iter().map(|(name, _)| (*name, String::new()));
        for (name, about) in kind.into_iter().chain(parts).chain(fields) {
            let path = format!("{prefix}{name}");
            if !paths.iter().any(|(known, _)| *known == path) {
                paths.push((path, about));
            }
        }
    }
    paths
}

/// A path to a field with its section and its fields as declared. The name of a group, names of other crates, and
/// foreign paths stay unchanged.
pub(super) fn spelled(path: &str, extensions: &Extensions) -> String {
    let mut steps: Vec<&str> = path.split('.').collect();
    let head = HEAD.iter().map(|field| field.name).chain(["scheme"]);
    steps[0] = names::spelled(steps[0], extensions.top().into_iter().chain(head));
    if let Some(section) = sections().find(|section| section.name == steps[0]) {
        let parts = section.parts.iter().map(|(name, _)| *name).chain(["kind"]);
        let added = extensions.entries().flat_map(|entry| entry.fields);
        let known = section.all().chain(added).map(|field| field.name);
        let place = if section.repeated { 2 } else { 1 };
        if let Some(step) = steps.get_mut(place) {
            *step = names::spelled(step, parts.chain(known));
        }
        let part = section.parts.iter().find(|(name, _)| steps.get(place) == Some(name));
        if let (Some((_, part)), Some(step)) = (part, steps.get_mut(place + 1)) {
            *step = names::spelled(step, part.fields().map(|field| field.name).chain(["kind"]));
        }
    }
    steps.join(".")
}

/// A field's sentences on one line.
pub(super) fn sentence(field: &Field) -> String {
    field.doc.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// A field's default as TOML.
pub(super) fn default(field: &Field) -> String {
    let default = field.default();
    if field.json.contains(&"string") { format!("\"{default}\"") } else { default }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The outline of a scenario: every section with the lists of fields that its reader reads.
//!
//! [`schema`](super::schema) and [`example`](super::example) are written from it.

use super::channel::{self, CHANNELS};
use super::choose::Family;
use super::sections::{Head, Run};
use super::topology::{LinkFields, NodeFields, TOPOLOGIES};
use crate::settings::{Field, Settings};
use crate::{cc, queue, tcp};

/// A list of declared fields.
pub(super) type Fields = fn() -> &'static [Field];

/// A section.
#[derive(Clone, Copy)]
pub(super) struct Section {
    pub name: &'static str,
    pub about: &'static str,
    /// Whether there may be several: `[[name]]`.
    pub repeated: bool,
    /// Whether a scenario without it says less than it should.
    pub wanted: bool,
    pub fields: &'static [Fields],
    /// Fields that stand beside these: the parameters of a source.
    pub own: Option<Fields>,
    pub required: &'static [&'static str],
    /// Fields that choose one of a family or hold a table of their own.
    pub parts: &'static [(&'static str, Part)],
    /// Whether the section itself chooses one of a family.
    pub choice: Option<Part>,
}

impl Section {
    /// Whether it is the traffic that an example begins with.
    pub fn is_first_traffic(&self) -> bool {
        self.wanted && self.repeated
    }
}

/// What is chosen or nested.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Part {
    Control,
    Queue,
    Channel,
    Topology,
    Options,
}

/// A member of a family.
pub(super) struct Member {
    pub name: &'static str,
    pub about: String,
    pub fields: Fields,
    pub required: &'static [&'static str],
    /// The defaults that a preset changes.
    pub set: &'static [(&'static str, &'static str)],
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

/// What stands before all sections.
pub(super) const HEAD: Fields = Head::fields;

/// The sections that are not traffic, without `[sweep]`, whose keys are paths to the fields of the others.
const SECTIONS: &[Section] = &[
    Section {
        name: "run",
        about: "When things happen, and how often the whole is repeated.",
        wanted: true,
        fields: &[Run::fields],
        ..PLAIN
    },
    Section { name: "topology", about: "The network.", wanted: true, choice: Some(Part::Topology), ..PLAIN },
    Section {
        name: "node",
        about: "The nodes of a graph; without any, its links bring them.",
        repeated: true,
        fields: &[NodeFields::fields],
        required: &["name"],
        ..PLAIN
    },
    Section {
        name: "link",
        about: "The links of a graph.",
        repeated: true,
        fields: &[LinkFields::fields],
        required: super::topology::LINK_REQUIRED,
        parts: &[("queue", Part::Queue), ("loss", Part::Channel)],
        ..PLAIN
    },
    Section {
        name: "queue",
        about: "The queue discipline of bottlenecks.",
        wanted: true,
        choice: Some(Part::Queue),
        ..PLAIN
    },
    Section {
        name: "reverse_queue",
        about: "The queue discipline of the bottlenecks against the direction of most data.",
        choice: Some(Part::Queue),
        ..PLAIN
    },
    Section {
        name: "loss",
        about: "What bottlenecks lose beside what their queues drop.",
        wanted: true,
        choice: Some(Part::Channel),
        ..PLAIN
    },
    Section {
        name: "tcp",
        about: "The options of every sender and receiver; a group may have its own under `tcp`.",
        wanted: true,
        fields: &[tcp::Options::fields],
        ..PLAIN
    },
];

/// Every section but `[sweep]`, those of traffic last.
pub(super) fn sections() -> impl Iterator<Item = Section> {
    SECTIONS.iter().copied().chain(super::traffic::outline())
}

/// The members of a family, the default first.
pub(super) fn members(part: Part) -> Vec<Member> {
    match part {
        Part::Options => Vec::new(),
        Part::Topology => {
            let member = |one: &super::Topology| Member {
                name: one.name,
                about: one.about.into(),
                fields: one.fields,
                required: one.required,
                set: &[],
            };
            TOPOLOGIES.iter().map(member).collect()
        }
        Part::Channel => {
            let member = |one: &super::Channel| Member {
                name: one.name,
                about: one.about.into(),
                fields: one.fields,
                required: &[],
                set: &[],
            };
            CHANNELS.iter().map(member).collect()
        }
        Part::Control => registered(cc::REGISTRY, cc::Config::presets()),
        Part::Queue => registered(queue::REGISTRY, queue::Config::presets()),
    }
}

fn registered(
    registry: &'static [crate::settings::Entry],
    presets: Vec<&'static super::scheme::Preset>,
) -> Vec<Member> {
    let member = |entry: &crate::settings::Entry| Member {
        name: entry.name,
        about: entry.summary(),
        fields: entry.fields,
        required: &[],
        set: &[],
    };
    let mut members: Vec<Member> = registry.iter().map(member).collect();
    for preset in presets {
        let base = registry.iter().find(|entry| entry.name == preset.of);
        if let Some(base) = base.filter(|_| registry.iter().all(|entry| entry.name != preset.name)) {
            let (name, about) = (preset.name, preset.about.into());
            members.push(Member { name, about, fields: base.fields, required: &[], set: preset.set });
        }
    }
    members
}

/// Every name that a part may choose.
pub(super) fn names(part: Part) -> Vec<&'static str> {
    match part {
        Part::Control => cc::Config::names(),
        Part::Queue => queue::Config::names(),
        Part::Channel => channel::Config::names(),
        Part::Topology | Part::Options => members(part).iter().map(|member| member.name).collect(),
    }
}

/// A field's sentences on one line.
pub(super) fn sentence(field: &Field) -> String {
    field.doc.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// A field's default as TOML.
pub(super) fn default(field: &Field) -> String {
    let default = (field.default)();
    if field.json.contains(&"string") { format!("\"{default}\"") } else { default }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A family whose members a scenario chooses by name: its registry, and its presets and the members of other crates.

use super::extensions::Extensions;
use super::presets::{Of, PRESETS, Preset};
use crate::settings::{Assign, Entry, Field, names};

/// A family's registry, and how scenarios write a choice of it.
#[derive(Clone, Copy)]
pub(crate) struct Members {
    /// The name of a member in messages.
    pub what: &'static str,
    /// The name of its definition in the schema.
    pub definition: &'static str,
    /// The members, the default first.
    pub registry: &'static [Entry],
    /// The section of the example in which each is written with its fields.
    pub section: &'static str,
    /// The presets that stand for members with other defaults.
    pub presets: Option<Of>,
    /// The mandatory fields of a member.
    pub required: fn(&str) -> &'static [&'static str],
    /// Whether a table without a `kind` is the first of the registry, and a choice is always a table.
    pub implied: bool,
}

/// A family of which a scenario chooses: the configuration of a registry.
pub(crate) trait Family: Assign + Clone {
    const MEMBERS: Members;
    fn member(name: &str) -> Option<Self>;
    fn called(&self) -> &'static str;
    /// Members of other crates, with their defaults.
    fn added(_: &Extensions) -> &[Self] {
        &[]
    }
}

/// A member as the outline shows it, or a preset.
pub(super) struct Member {
    pub name: &'static str,
    pub about: String,
    pub fields: &'static [Field],
    pub required: &'static [&'static str],
    /// The defaults that a preset changes.
    pub set: &'static [(&'static str, &'static str)],
}

impl Members {
    pub(super) const PLAIN: Members = Members {
        what: "",
        definition: "",
        registry: &[],
        section: "",
        presets: None,
        required: |_| &[],
        implied: false,
    };

    /// Its presets. A preset exists if the member that it represents does.
    pub(super) fn presets(&self) -> impl Iterator<Item = (&'static Preset, &'static Entry)> {
        let Members { presets: of, registry, .. } = *self;
        let own = PRESETS.iter().filter(move |preset| Some(preset.family) == of);
        own.filter_map(move |preset| Some((preset, registry.iter().find(|entry| entry.name == preset.of)?)))
    }

    /// Every member, then the presets whose names are not members' names.
    pub(super) fn all(&self) -> Vec<Member> {
        let member = |entry: &Entry| Member {
            name: entry.name,
            about: entry.summary(),
            fields: entry.fields,
            required: (self.required)(entry.name),
            set: &[],
        };
        let named = |(preset, entry): (&Preset, &Entry)| Member {
            name: preset.name,
            about: preset.about.into(),
            set: preset.set,
            ..member(entry)
        };
        let alone = |name: &str| self.registry.iter().all(|entry| entry.name != name);
        let presets = self.presets().filter(|(preset, _)| alone(preset.name));
        self.registry.iter().map(member).chain(presets.map(named)).collect()
    }

    /// The parameters of a member, or of the member behind a preset.
    fn fields(&self, name: &str) -> &'static [Field] {
        let member = self.registry.iter().find(|entry| entry.name == name);
        let preset = || self.presets().find(|(preset, _)| preset.name == name).map(|(_, entry)| entry);
        member.or_else(preset).map_or(&[], |entry| entry.fields)
    }

    /// A parameter of a member, `T1`, as declared.
    pub(super) fn parameter<'w>(&self, member: &str, written: &'w str) -> &'w str {
        let member = self.declared(member.trim()).unwrap_or_default();
        names::spelled(written.trim(), self.fields(member).iter().map(|field| field.name))
    }

    /// The name of a member or a preset that this denotes, in any spelling.
    pub(super) fn declared(&self, written: &str) -> Option<&'static str> {
        let members = self.registry.iter().map(|entry| entry.name);
        names::declared(written, members.chain(self.presets().map(|(preset, _)| preset.name)))
    }

    /// Their names.
    pub(super) fn names(&self) -> Vec<&'static str> {
        self.all().iter().map(|member| member.name).collect()
    }
}

impl Extensions {
    /// A member of a family by its name.
    pub(super) fn member<F: Family>(&self, name: &str) -> Option<F> {
        let added = || F::added(self).iter().find(|one| one.called() == name).cloned();
        F::member(name).or_else(added)
    }

    /// Every name that a scenario may give to a member of a family.
    pub(super) fn names<F: Family>(&self) -> Vec<&'static str> {
        F::MEMBERS.names().into_iter().chain(F::added(self).iter().map(F::called)).collect()
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Further effects of bottlenecks on packets, each in its own table: `[policer]`, or `policer = { … }` of a link.

use super::choose::{Family, Precedence, choose};
use super::extensions::Extensions;
use super::reader::{Shape, fill, section};
use super::tree::{Node, Table};
use crate::fault::Faults;
use crate::link::effects::Effects;
use crate::link::effects::corruption::Corruption;
use crate::link::effects::duplication::Duplication;
use crate::link::effects::policer::Policer;
use crate::link::effects::reordering::Reordering;
use crate::link::handover::Handover;
use crate::link::{LinkSpec, capacity, loss};
use crate::settings::{Assign, Auto, Field, List, Or, Settings};
use crate::units::Rate;

/// A table that a link or a scenario may have: its name, its subject, and its fields.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub name: &'static str,
    pub about: &'static str,
    pub fields: &'static [Field],
}

/// The effects of each direction, in the order of the fields of [`Effects`].
pub(super) const EFFECTS: [Part; 4] = [
    Part {
        name: "policer",
        about: "A token bucket before the queue of bottlenecks, which drops what exceeds it.",
        fields: Policer::FIELDS,
    },
    Part {
        name: "reordering",
        about: "Packets that others overtake behind bottlenecks; receiving groups report the metrics of RFC 4737.",
        fields: Reordering::FIELDS,
    },
    Part {
        name: "duplication",
        about: "Packets that bottlenecks deliver twice.",
        fields: Duplication::FIELDS,
    },
    Part {
        name: "corruption",
        about: "Packets that bottlenecks deliver with a wrong bit, and that their receivers ignore.",
        fields: Corruption::FIELDS,
    },
];

/// That of both.
pub(super) const HANDOVER: Part = Part {
    name: "handover",
    about: "Handovers of bottlenecks at regular times, both directions together: another delay, another rate, an outage before.",
    fields: Handover::FIELDS,
};

/// Reads the effects of a table, each of which replaces `base`'s. `place` is the name of the table in messages.
pub(super) fn effects(
    table: &Table,
    base: &Effects,
    place: impl Fn(&str) -> String,
    faults: &mut Faults,
) -> Effects {
    let mut effects = base.clone();
    let Effects { policer, reordering, duplication, corruption } = &mut effects;
    let mut read = |name: &str, target: &mut dyn Assign| {
        if table.get(name).is_some() {
            let called = place(name);
            let shape = Shape { place: &called, ..Shape::default() };
            fill(&section(table, name, faults), shape, &mut [target], faults);
        }
    };
    let targets: [&mut dyn Assign; 4] = [policer, reordering, duplication, corruption];
    EFFECTS.iter().zip(targets).for_each(|(part, target)| read(part.name, target));
    effects
}

/// Reads handovers, which replace `base`'s.
pub(super) fn handover(table: &Table, base: &Handover, place: &str, faults: &mut Faults) -> Handover {
    let mut handover = base.clone();
    if table.get(HANDOVER.name).is_some() {
        let shape = Shape { place, ..Shape::default() };
        fill(&section(table, HANDOVER.name, faults), shape, &mut [&mut handover], faults);
    }
    handover
}

/// Lets a link have handovers, or adds the fault that it has something else.
pub(super) fn hand_over(
    link: &mut LinkSpec,
    (handover, rates): (&Handover, &Or<List<Rate>, Auto>),
    table: &Table,
    faults: &mut Faults,
) {
    if let Err(message) = handover.apply(link, rates) {
        faults.add_with_help(
            table.place(HANDOVER.name),
            format!("handover: {message}"),
            "leave one of them out",
        );
    }
}

/// The bottlenecks against the direction of most data, where they differ.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Reverse {
    pub loss: loss::Config,
    pub capacity: capacity::Config,
    pub effects: Effects,
}

/// The name of its section, and its fields other than effects.
pub(super) const REVERSE: &str = "reverse";

impl Reverse {
    /// Reads the section.
    pub(super) fn read(root: &Table, extensions: &Extensions, faults: &mut Faults) -> Reverse {
        let table = section(root, REVERSE, faults);
        let besides: Vec<&str> =
            ["loss", "capacity"].into_iter().chain(EFFECTS.map(|part| part.name)).collect();
        fill(&table, Shape { place: "[reverse]", besides: &besides, required: &[] }, &mut [], faults);
        let place = |name: &str| format!("`{name}` of [reverse]");
        Reverse {
            loss: chosen(table.get("loss"), &place("loss"), extensions, faults),
            capacity: chosen(table.get("capacity"), &place("capacity"), extensions, faults),
            effects: effects(&table, &Effects::default(), place, faults),
        }
    }

    /// Whether it differs.
    pub(super) fn differs(&self) -> bool {
        *self != Reverse::default()
    }
}

/// A choice from a family, or its default.
fn chosen<F: Family + Default>(
    node: Option<&Node>,
    place: &str,
    extensions: &Extensions,
    faults: &mut Faults,
) -> F {
    let chosen = node.and_then(|node| choose(node, place, Precedence::Members, extensions, faults));
    chosen.map_or_else(F::default, |chosen| chosen.config)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn every_effect_is_a_part_and_every_part_an_effect() {
        let text = EFFECTS.map(|part| format!("{} = {{}}\n", part.name)).concat();
        let (mut faults, seen) = (Faults::default(), RefCell::new(Vec::new()));
        let table = super::super::text::read(&text, &mut faults);
        let place = |name: &str| {
            seen.borrow_mut().push(name.to_string());
            name.to_string()
        };
        assert_eq!(effects(&table, &Effects::default(), place, &mut faults), Effects::default());
        assert_eq!(seen.into_inner(), EFFECTS.map(|part| part.name));
        assert!(faults.is_empty());
    }
}

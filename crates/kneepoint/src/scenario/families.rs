// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The families whose members a scenario chooses by name, in one list.
//!
//! The reader, the outline, the schema and the example go through it: a registry that is in the list is read, documented and checked.

use super::extensions::Extensions;
use super::family::{Family, Members};
use super::presets::Of;
use super::topology;
use crate::link::{capacity, loss};
use crate::{cc, feedback, fluid, queue};

macro_rules! families {
    ($($family:ident $(with $added:ident)? { $($field:ident: $value:expr,)* })*) => { $(
        impl Family for $family::Config {
            const MEMBERS: Members =
                Members { registry: $family::REGISTRY, $($field: $value,)* ..Members::PLAIN };
            fn member(name: &str) -> Option<Self> {
                Self::named(name)
            }
            fn called(&self) -> &'static str {
                self.name()
            }
            $( fn added(extensions: &Extensions) -> &[Self] {
                extensions.$added()
            } )?
        }
    )* };
}
families! {
    cc with controllers { what: "congestion control", definition: "cc", section: "flows", presets: Some(Of::Control), }
    queue with queues { what: "queue discipline", definition: "discipline", section: "queue", presets: Some(Of::Queue), }
    feedback { what: "feedback", definition: "feedback", section: "feedback", }
    loss { what: "channel", definition: "channel", section: "loss", }
    capacity { what: "capacity", definition: "capacity", section: "capacity", }
    topology {
        what: "topology",
        definition: "topology",
        section: "topology",
        required: topology::required,
        implied: true,
    }
    fluid { what: "fluid model", definition: "model", }
}

/// Every family of algorithms that a scenario can choose.
pub(super) const FAMILIES: &[Members] = &[
    <cc::Config as Family>::MEMBERS,
    <queue::Config as Family>::MEMBERS,
    <feedback::Config as Family>::MEMBERS,
    <loss::Config as Family>::MEMBERS,
    <capacity::Config as Family>::MEMBERS,
    <topology::Config as Family>::MEMBERS,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::names;

    #[test]
    fn no_two_names_of_a_family_are_ways_to_write_one() {
        for family in FAMILIES {
            for name in family.names() {
                let same = family.names().into_iter().filter(|other| names::same_name(other, name));
                assert_eq!(same.collect::<Vec<_>>(), [name], "{}", family.what);
            }
        }
    }
}

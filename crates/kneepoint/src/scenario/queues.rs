// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Whose queue disciplines a scenario has: the defaults of their settings.

use super::choose::{Chosen, Precedence, choose_from, unfold};
use super::extensions::Extensions;
use super::family::Family;
use super::scheme::{Of, PRESETS};
use super::tree::{Node, Table};
use crate::fault::Faults;
use crate::queue;
use crate::settings::Raw;
use crate::settings::names::same_name;

crate::choice! {
    /// The router whose settings are the defaults of all queue disciplines.
    pub enum Queues {
        /// That of the papers and RFCs.
        Paper = "paper",
        /// Linux 6: what `tc` makes of a discipline's name.
        Linux = "linux",
    }
}

/// Settings with their values.
type Set = &'static [(&'static str, &'static str)];

/// Where the disciplines of Linux 6.12 have other settings than those that are the defaults here.
const LINUX: &[(&str, Set)] = &[
    ("red", &[("gentle", "false"), ("wait", "false"), ("mark_limit", "1")]),
    ("pie", &[("derandomize", "true"), ("spares", "below-two")]),
    ("fq-pie", &[("derandomize", "true"), ("spares", "below-two")]),
    ("fq-codel", &[("spares", "all")]),
    ("sfq", &[("drops", "last")]),
];

impl Queues {
    /// The router of this name.
    pub fn named(name: &str) -> Option<Queues> {
        Queues::ALL.iter().copied().find(|queues| same_name(queues.name(), name))
    }

    /// Defaults of disciplines, a table for each, and for the names that stand for it.
    pub(super) fn defaults(self) -> Table {
        let known = match self {
            Queues::Paper => &[],
            Queues::Linux => LINUX,
        };
        let names = |member: &'static str| {
            let presets =
                PRESETS.iter().filter(move |preset| preset.family == Of::Queue && preset.of == member);
            std::iter::once(member).chain(presets.map(|preset| preset.name))
        };
        let each = known.iter().flat_map(|(member, set)| names(member).map(move |name| (name, *set)));
        each.fold(Table::default(), |all, (name, set)| all.with(name, table(set)))
    }
}

fn table(set: Set) -> Table {
    set.iter().fold(Table::default(), |table, (field, value)| table.with(field, Raw::guess(value)))
}

/// Reads the choice of a discipline with these defaults; `None` after a fault.
pub(super) fn discipline(
    node: &Node,
    defaults: &Table,
    place: &str,
    extensions: &Extensions,
    faults: &mut Faults,
) -> Option<queue::Config> {
    let table = unfold(node, queue::Config::MEMBERS, place, faults)?;
    let chosen: Chosen<queue::Config> =
        choose_from(&table, defaults, place, Precedence::Members, extensions, faults)?;
    Some(chosen.config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario;
    use crate::settings::Assign;

    /// The queue of a bottleneck of which a scenario says this.
    fn queue(text: &str) -> queue::Config {
        let rest = "[topology]\nkind = \"dumbbell\"\nrate = \"10mbit\"\nrtt = \"40ms\"\nbuffer = \"1bdp\"\n[[flows]]\ncc = \"reno\"\n";
        let plan = scenario::parse(&format!("{text}\n{rest}")).unwrap();
        plan.cases[0].valid.network().links[0].queue.clone()
    }

    #[test]
    fn a_preset_sets_what_linux_has_and_a_scenario_has_the_last_word() {
        for (name, set) in LINUX {
            let linux = queue(&format!("queues = \"linux\"\nqueue = \"{name}\""));
            let mut expected = queue::Config::named(name).unwrap();
            for (field, value) in *set {
                expected.assign(field, &Raw::guess(value)).unwrap();
            }
            assert_eq!(linux, expected);
            assert_ne!(linux, queue(&format!("queue = \"{name}\"")), "{name}: its defaults are Linux's");
        }
        let own = queue("queues = \"linux\"\nqueue = \"pie:derandomize=false\"");
        assert_eq!(own, queue("queue = \"pie:spares=below-two\""));
    }
}

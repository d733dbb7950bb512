// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The source of a scenario's queue disciplines: the defaults of their settings.

use super::choose::{Chosen, Precedence, choose_from, unfold};
use super::extensions::Extensions;
use super::family::Family;
use super::presets::{Of, PRESETS};
use super::sections::Queues;
use super::tree::{Node, Table};
use crate::fault::Faults;
use crate::queue;
use crate::settings::names::same_name;
use crate::settings::{Raw, Written};

impl Queues {
    /// The router of this name.
    pub fn named(name: &str) -> Option<Queues> {
        Queues::ALL.iter().copied().find(|queues| same_name(queues.name(), name))
    }

    /// Defaults of disciplines, a table for each, and for the names that stand for it.
    pub(super) fn defaults(self) -> Table {
        let each = queue::REGISTRY.iter().filter(|entry| self == Queues::Linux && !entry.linux.is_empty());
        let named = each.flat_map(|entry| names(entry.name).map(|name| (name, table(entry.linux))));
        named.fold(Table::default(), |all, (name, table)| all.with(name, table))
    }
}

/// The name of a discipline, and the names of its presets.
fn names(discipline: &'static str) -> impl Iterator<Item = &'static str> {
    let presets = PRESETS.iter().filter(move |preset| preset.family == Of::Queue && preset.of == discipline);
    std::iter::once(discipline).chain(presets.map(|preset| preset.name))
}

fn table(set: Written) -> Table {
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
    let table = unfold(node, <queue::Config as Family>::MEMBERS, place, faults)?;
    let chosen: Chosen<queue::Config> =
        choose_from(&table, defaults, place, Precedence::Members, extensions, faults)?;
    Some(chosen.config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario;
    use crate::settings::{Assign, Entry};

    /// The queue of a bottleneck with these fields in the scenario.
    fn queue(text: &str) -> queue::Config {
        let rest = "[topology]\nkind = \"dumbbell\"\nrate = \"10mbit\"\nrtt = \"40ms\"\nbuffer = \"1bdp\"\n[[flows]]\ncc = \"reno\"\n";
        let plan = scenario::parse(&format!("{text}\n{rest}")).unwrap();
        plan.cases[0].valid.network().links[0].queue.clone()
    }

    #[test]
    fn a_preset_sets_what_linux_has_and_a_scenario_has_the_last_word() {
        let differing: Vec<_> = queue::REGISTRY.iter().filter(|entry| !entry.linux.is_empty()).collect();
        assert!(!differing.is_empty());
        for Entry { name, linux: set, .. } in differing {
            let linux = queue(&format!("queues = \"linux\"\nqueue = \"{name}\""));
            let mut expected = queue::Config::named(name).unwrap();
            for (field, value) in *set {
                expected.assign(field, &Raw::guess(value)).unwrap();
            }
            assert_eq!(linux, expected);
            assert_ne!(linux, queue(&format!("queue = \"{name}\"")), "{name}: its defaults are Linux's");
        }
        let own = queue("queues = \"linux\"\nqueue = \"pie:derandomize=false\"");
        assert_eq!(own, queue("queue = \"pie:rules=linux\""));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The cost of a packet with one algorithm exchanged for another: each discipline, explicit feedback, capacity and loss
//! of the registries at the bottleneck, each recovery in the senders, and each source of traffic next to long flows.
//!
//! Whole runs are counted, not the discipline alone: packets that it drops or reorders are work for the senders, too.

use std::fmt::Write;

use kneepoint::link::{capacity, loss};
use kneepoint::scenario;
use kneepoint::spec::Valid;
use kneepoint::tcp::Recovery;
use kneepoint::traffic::{self, Kind};
use kneepoint::{feedback, queue};

use super::record::Per;
use super::{SECONDS, instructions, timing};

/// Seconds that the shorter and the longer run under valgrind simulate.
pub const COUNTED: (u32, u32) = (10, 20);

/// The number of timed runs of each.
const TIMED: usize = 5;

/// The legend of the tables.
pub const METHOD: &str = "\
20 long SACK flows and 50 web slots, which transfer one object after another, over 20 Mbit/s and 60 ms with the fewest
links, without a meter and without ECN; every parameter has its default. One algorithm is exchanged, and everything
else stays. *ns* and *instructions* are those of the whole run, divided by the packets that the bottleneck served: a
discipline that drops more gives the senders more work. With explicit feedback the senders are RATCP, which uses rates.
A source replaces the web slots, with ten members where it has members. The capacity that both directions share
needs every link, and so has twice the hops. `make ratchet` holds the instructions, and none may exceed four times those of
the first in its table.
";

/// Drop tail is compared as it runs.
pub const DROP_TAIL: &str = "
Drop tail at a constant rate stores no packets and needs no transmitter event; all others store each packet, ask for
the next, and take an event for each transmission. The ratio contains that difference.
";

/// The senders that receive the rates of explicit feedback.
const TOLD: &str = "ratcp";

/// Web slots, with which everything but sources is compared.
const SLOTS: &str = "model = \"slots\"\ngap = \"500ms\"";

/// Parameters without which a default would not fit the link: the rates of capacities are about 20 Mbit/s.
const FITTED: &[(Per, &str, &str)] = &[
    (Per::Capacity, "steps", "rates = [\"0s: 30mbit\", \"1s: 10mbit\"]\nperiod = \"2s\""),
    (Per::Capacity, "trace", "opportunities = [1, 1, 2, 2, 3]"),
    (Per::Source, "web", SLOTS),
];

/// The exchanged settings, in the order of tables.
pub const KINDS: [Per; 6] = [Per::Queue, Per::Feedback, Per::Recovery, Per::Source, Per::Capacity, Per::Loss];

/// One algorithm instead of the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The part that is exchanged.
    pub per: Per,
    /// The algorithm.
    pub name: &'static str,
}

/// The cost of a packet with a variant.
pub struct Cost {
    variant: Variant,
    ns: f64,
    instructions: Option<f64>,
}

/// Every variant, kind by kind; the others of a kind are compared with the first.
pub fn all() -> impl Iterator<Item = Variant> {
    let queues = queue::REGISTRY.iter().map(|entry| Variant { per: Per::Queue, name: entry.name });
    let recoveries = Recovery::ALL.iter().rev().map(|one| Variant { per: Per::Recovery, name: one.name() });
    let feedback = feedback::REGISTRY.iter().map(|entry| Variant { per: Per::Feedback, name: entry.name });
    let sources = traffic::REGISTRY.iter().map(|entry| Variant { per: Per::Source, name: entry.name });
    let capacities = capacity::REGISTRY.iter().map(|entry| Variant { per: Per::Capacity, name: entry.name });
    let losses = loss::REGISTRY.iter().map(|entry| Variant { per: Per::Loss, name: entry.name });
    queues.chain(feedback).chain(recoveries).chain(sources).chain(capacities).chain(losses)
}

impl Variant {
    /// The variant that is called so on the command line.
    pub fn at(path: &str) -> Option<Variant> {
        all().find(|variant| variant.path() == path)
    }

    /// Its name on the command line.
    pub fn path(&self) -> String {
        format!("{}/{}", self.per, self.name)
    }

    /// Its scenario.
    pub fn scenario(&self, seconds: u32) -> Result<Valid, String> {
        let of = |per, default| if self.per == per { self.name } else { default };
        let (queue, recovery) = (of(Per::Queue, "droptail"), of(Per::Recovery, "sack"));
        let (feedback, cc) =
            (of(Per::Feedback, "none"), if self.per == Per::Feedback { TOLD } else { "reno" });
        let (capacity, loss) = (of(Per::Capacity, "constant"), of(Per::Loss, "none"));
        // Where both directions share a capacity, there must be a link back.
        let access = if capacity == "shared" { "full" } else { "minimal" };
        let fitted = |per| {
            let own = FITTED.iter().find(|one| self.per == per && (one.0, one.1) == (per, self.name));
            own.map_or("", |(.., lines)| *lines)
        };
        let of_capacity = fitted(Per::Capacity);
        let others = match self.per {
            Per::Source => group(self.name, fitted(Per::Source), cc)?,
            _ => group("web", SLOTS, cc)?,
        };
        let text = format!(
            r#"
            queue = "{queue}"
            feedback = "{feedback}"
            [run]
            duration = "{seconds}s"
            measure = "5s..{seconds}s"
            [topology]
            kind = "dumbbell"
            access = "{access}"
            rate = "20mbit"
            rtt = "60ms"
            [capacity]
            kind = "{capacity}"
            {of_capacity}
            [loss]
            kind = "{loss}"
            [tcp]
            ecn = false
            recovery = "{recovery}"
            [[flows]]
            name = "long"
            count = 20
            cc = "{cc}"
            start = "0s..5s"
            {others}
            "#
        );
        let plan =
            scenario::parse(&text).map_err(|faults| format!("{}: {}", self.path(), faults[0].message))?;
        plan.cases.into_iter().next().map(|case| case.valid).ok_or_else(|| "a plan without a case".into())
    }

    /// Instructions per packet that the bottleneck served; the error says why they cannot be counted.
    pub fn instructions(&self) -> Result<f64, String> {
        instructions::per_packet(&super::this()?, &self.path(), COUNTED)
    }
}

/// A group of this source, with these additional lines.
fn group(source: &str, lines: &str, cc: &str) -> Result<String, String> {
    let config = traffic::Config::named(source).ok_or_else(|| format!("no source is called {source}"))?;
    let nature = config.nature();
    let members = match nature.kind {
        Kind::Sessions => "sessions = 50",
        Kind::Process => "",
        Kind::Transfers | Kind::Streams | Kind::Datagrams => "count = 10",
    };
    let controller = if nature.kind.connects() { format!("cc = {cc:?}") } else { String::new() };
    let section = nature.section;
    Ok(format!("[[{section}]]\nname = \"others\"\nstart = \"0s..5s\"\n{members}\n{controller}\n{lines}"))
}

/// Measures every variant, in rounds, so that all meet the same load on the machine.
pub fn measure() -> Result<Vec<Cost>, String> {
    let program = super::this()?;
    let mut costs: Vec<Cost> =
        all().map(|variant| Cost { variant, ns: f64::INFINITY, instructions: None }).collect();
    for round in 1..=TIMED {
        eprintln!("round {round} of {TIMED}: variants");
        for cost in &mut costs {
            cost.ns = cost.ns.min(timing(&program, &cost.variant.path(), SECONDS)?.ns_per_packet());
        }
    }
    for cost in &mut costs {
        cost.instructions = super::instructions(&program, &cost.variant.path(), COUNTED);
    }
    Ok(costs)
}

/// The costs of one kind as a Markdown table, also relative to the first.
pub fn table(costs: &[Cost], per: Per) -> String {
    let costs: Vec<&Cost> = costs.iter().filter(|cost| cost.variant.per == per).collect();
    let first = costs[0].variant.name;
    let mut text = format!(
        "| {per} | ns/packet | times `{first}` | instructions/packet | times `{first}` |\n|---|---|---|---|---|\n"
    );
    for one in &costs {
        let times = one.instructions.zip(costs[0].instructions).map(|(own, least)| own / least);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| `{}` | {:.0} | {:.2} | {} | {} |",
            one.variant.name,
            one.ns,
            one.ns / costs[0].ns,
            one.instructions.map_or("—".into(), |count| format!("{count:.0}")),
            times.map_or("—".into(), |times| format!("{times:.2}")),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::record::{Figure, Record};
    use super::*;

    #[test]
    fn every_variant_is_a_scenario_with_its_algorithm_at_work() {
        for variant in all() {
            let valid = variant.scenario(20).unwrap();
            assert_eq!(Variant::at(&variant.path()), Some(variant));
            let queues: Vec<_> = valid.network().links.iter().map(|link| link.queue.name()).collect();
            let told: Vec<_> = valid.network().links.iter().map(|link| link.feedback.name()).collect();
            assert!(variant.per != Per::Queue || queues.contains(&variant.name), "{variant:?} {queues:?}");
            assert!(variant.per != Per::Feedback || told.contains(&variant.name), "{variant:?} {told:?}");
            let links = valid.network().links.iter();
            let varying: Vec<_> = links.clone().map(|link| link.capacity.name()).collect();
            let losing: Vec<_> = links.map(|link| link.loss.name()).collect();
            let sources: Vec<_> = valid.groups().iter().map(|group| group.source.name()).collect();
            assert!(
                variant.per != Per::Capacity || varying.contains(&variant.name),
                "{variant:?} {varying:?}"
            );
            assert!(variant.per != Per::Loss || losing.contains(&variant.name), "{variant:?} {losing:?}");
            assert!(variant.per != Per::Source || sources.contains(&variant.name), "{variant:?} {sources:?}");
        }
    }

    #[test]
    fn none_is_recorded_above_four_times_the_first_of_its_kind() {
        let record = Record::read().unwrap();
        let count = |one: Variant| record.count(&Figure { per: one.per, name: one.name, count: 0.0 });
        for per in KINDS {
            let mut variants = all().filter(|one| one.per == per);
            // A kind that is new has no record yet.
            let Some(first) = variants.next().and_then(count) else { continue };
            for one in variants {
                assert!(count(one).is_none_or(|count| count <= 4.0 * first), "{one:?}");
            }
        }
    }

    #[test]
    fn nothing_to_choose_is_recorded_above_twice_a_packet_of_d100() {
        let record = Record::read().unwrap();
        let count = |per, name| record.count(&Figure { per, name, count: 0.0 });
        let most = 2.0 * count(Per::Packet, "d100").unwrap();
        for one in all() {
            assert!(count(one.per, one.name).is_none_or(|count| count <= most), "{one:?}");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The sections of a scenario, declared field by field.

use super::forms::{Name, Start};
use crate::settings::{Auto, FilePath, Inline, List, Never, Or, Raw, Refusal, Settings, Unlimited};
use crate::spec::{GREATEST_POPULATION, Member, kept};
use crate::traffic::{Roll, RollEntry};
use crate::units::{Bytes, Interval, Span, Time};

const SHORTEST: Span = Span::from_micros(1);
const LONGEST: Span = Span::from_secs(1_000_000);

/// The names of the sections that are not traffic.
pub(super) const FIXED: [&str; 20] = [
    "run",
    "topology",
    "node",
    "link",
    "queue",
    "reverse_queue",
    "feedback",
    "loss",
    "capacity",
    "policer",
    "reordering",
    "duplication",
    "corruption",
    "handover",
    "reverse",
    "proxy",
    "tcp",
    "controllers",
    "sweep",
    "figure",
];

crate::choice! {
    /// The direction of data.
    pub enum Direction {
        /// With the bottleneck.
        Forward = "forward",
        /// Against it, from `to` to `from`, where the acknowledgements of others travel.
        Reverse = "reverse",
    }
}

crate::choice! {
    /// The router whose settings are the defaults of all queue disciplines.
    pub enum Queues {
        /// That of the papers and RFCs.
        Paper = "paper",
        /// Linux 6: the defaults of `tc` for a discipline's name.
        Linux = "linux",
    }
}

crate::settings! {
    /// Fields before all sections.
    pub struct Head {
        /// The run's name.
        name: Name = Name("untitled".into());
        /// The router whose settings are the defaults of all queue disciplines.
        queues: Queues = Queues::Paper;
    }
}

crate::settings! {
    /// Times of the run, and its repetitions.
    pub struct Run {
        /// The end of the run.
        duration: Span = Span::from_secs(60), Span::from_millis(1)..=LONGEST;
        /// The measurement window; `auto` leaves out the first quarter, in which flows start.
        measure: Or<Interval, Auto> = Or::WORD;
        /// Number of runs, with consecutive seeds.
        seeds: u32 = 1, 1..=10_000;
        /// The first seed.
        seed: u64 = 1, 0..=(1 << 53);
        /// The interval between samples of the state for plots.
        sample: Or<Span, Never> = Or::WORD, Or::is(SHORTEST)..=Or::is(LONGEST);
        /// Whether `knee run` writes each completed transfer to a file, as with `--objects`: group, begin, size, completion time.
        objects: bool = false;
    } check |run| {
        let (measure, duration) = (run.measured(), run.duration);
        if measure.to > duration.after_start() {
            return Err(format!("measure, {measure}, reaches beyond duration, {duration}: end it there or earlier"));
        }
        if measure.span() == Span::ZERO {
            return Err(format!("measure, {measure}, is empty: let it end after it begins"));
        }
        run.sample.get().map_or(Ok(()), |sample| kept(*sample, duration)).map_err(|invalid| invalid.to_string())
    }
}

impl Run {
    /// The measurement window.
    pub fn measured(&self) -> Interval {
        let end = self.duration.after_start();
        self.measure.get().copied().unwrap_or(Interval { from: Time(end.0 / 4), to: end })
    }
}

crate::settings! {
    /// The place of a group of hosts in the network.
    pub struct Endpoints {
        /// The direction of data.
        direction: Direction = Direction::Forward;
        /// Base round-trip time in a dumbbell, or a list that the members take in turn; `auto` is the topology's.
        rtt: Or<List<Span>, Auto> = Or::WORD, Or::is(List::one(SHORTEST))..=Or::is(List::one(Span::from_secs(1000)));
        /// The router where data enters, outside a dumbbell; `auto` is the first.
        from: Or<Name, Auto> = Or::WORD;
        /// The router where data leaves, outside a dumbbell; `auto` is the last.
        to: Or<Name, Auto> = Or::WORD;
    }
}

crate::settings! {
    /// Transfers that share a description.
    pub struct Flows {
        /// The group's name in tables; `auto` is its congestion control.
        name: Or<Name, Auto> = Or::WORD;
        /// Number of transfers; a mix may have none of one group.
        count: u32 = 1, 0..=GREATEST_POPULATION;
        /// The start of each: an instant, or an interval in which each draws its own.
        start: Start = Start::default();
        /// The offset of each start from the previous one.
        start_every: Span = Span::ZERO, Span::ZERO..=LONGEST;
        /// The time at which they stop sending new data.
        stop: Or<Span, Never> = Or::WORD, Or::is(SHORTEST)..=Or::is(LONGEST);
        /// The offset of each stop from the previous one.
        stop_every: Span = Span::ZERO, Span::ZERO..=LONGEST;
        /// The amount that each must send.
        size: Or<Bytes, Unlimited> = Or::WORD, Or::is(Bytes(1))..=Or::is(Bytes(1_000_000_000_000_000));
        /// Transfers one by one, with their own starts, stops and sizes, as in `["2s", "2s..10s", "2s 100kb"]`, or as the text of a CSV
        /// file; `stop` and `size` apply to rows that leave them open.
        list: Roll = Roll::default();
        /// The CSV file to take them from: a column `start_s`, and perhaps `stop_s`, `size_bytes` and `group`, the name of the group
        /// that a row belongs to.
        file: Or<FilePath, Inline> = Or::WORD;
    }
}

impl Flows {
    /// The transfers that are listed for the group of this name.
    pub fn listed(&self, group: &str) -> Vec<Member> {
        let member = |entry: &RollEntry| {
            let start = entry.start.after_start();
            let stop = entry.stop.or(self.stop.get().copied()).map(Span::after_start);
            let size = entry.size.or(self.size.get().copied());
            Member { start: Interval { from: start, to: start }, stop, size }
        };
        self.list.of(group).map(member).collect()
    }

    /// The times at which the transfer at a place of the group starts and stops.
    pub fn times(&self, place: usize) -> (Interval, Option<Time>) {
        let (start, later) = (self.start.0, self.start_every * place as u64);
        let stop = self.stop.get().map(|stop| stop.after_start() + self.stop_every * place as u64);
        (Interval { from: start.from + later, to: start.to + later }, stop)
    }
}

crate::settings! {
    /// Sessions that open connections between many hosts.
    pub struct Sessions {
        /// The group's name in tables; `auto` is its section.
        name: Or<Name, Auto> = Or::WORD;
        /// The number of sessions.
        sessions: u32 = 10, 1..=GREATEST_POPULATION;
        /// The number of servers, and of clients; each transfer draws a pair.
        nodes: u32 = 10, 1..=10_000;
        /// Starts of the sessions: an instant, or an interval in which each draws its own.
        start: Start = Start::default();
    }
}

crate::settings! {
    /// Sources that each have hosts of their own.
    pub struct Members {
        /// The group's name in tables; `auto` is its section.
        name: Or<Name, Auto> = Or::WORD;
        /// The number of sources.
        count: u32 = 1, 1..=GREATEST_POPULATION;
        /// The start of each: an instant, or an interval in which each draws its own.
        start: Start = Start::default();
        /// The time at which they stop.
        stop: Or<Span, Never> = Or::WORD, Or::is(SHORTEST)..=Or::is(LONGEST);
    }
}

crate::settings! {
    /// One process that opens connections between many hosts.
    pub struct Process {
        /// The group's name in tables; `auto` is its section.
        name: Or<Name, Auto> = Or::WORD;
        /// The number of servers, and of clients; each connection draws a pair.
        nodes: u32 = 10, 1..=10_000;
        /// Its start: an instant, or an interval in which it draws one.
        start: Start = Start::default();
        /// The time at which it stops opening connections.
        stop: Or<Span, Never> = Or::WORD, Or::is(SHORTEST)..=Or::is(LONGEST);
    }
}

/// Reads the first seed of a study, within the range of `seed` in `[run]`.
pub fn seed(text: &str) -> Result<u64, String> {
    run_field("seed", text).map(|run| run.seed)
}

/// Reads a number of seeds, within the range of `seeds` in `[run]`.
pub fn seeds(text: &str) -> Result<u32, String> {
    run_field("seeds", text).map(|run| run.seeds)
}

fn run_field(name: &str, text: &str) -> Result<Run, String> {
    let mut run = Run::default();
    match run.set(name, &Raw::guess(text)) {
        Ok(()) => Ok(run),
        Err(Refusal::Value(message)) => Err(message),
        Err(Refusal::Unknown) => Err(format!("[run] has no `{name}`")),
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The memory of a run's observers, and of its results.

use super::registry::Subject;
use super::series::{Followed, Series};
use super::tally::Ahead;
use super::{flow, link, mixture, occupancy, position};
use crate::metric::Recorder;
use crate::run::cost::{Term, growing};
use crate::spec::Valid;
use crate::table::{Labels, Row};
use crate::trace::FlowId;
use crate::units::{Span, Time};

/// A short string on the heap, without its handle.
const STRING: usize = 32;
/// A number as text, in the file of a run.
const WRITTEN: usize = 20;
/// Rows of a group in addition to its own: positions in queues, classes of transfers, completion times, windows at drops.
const DETAILS: usize = 100;
/// Recorders of a group that are in use: round trips or delays, and a class of transfers for each power of ten, with two.
const RECORDERS: usize = 12;

/// Users of memory, and ways to reduce it.
const LINKS: (&str, &str) = ("measured links", "measure fewer links, or simulate fewer groups");
const GROUPS: (&str, &str) = ("measured groups", "simulate fewer groups");
const FLOWS: (&str, &str) = ("measured flows", "simulate fewer flows");
const SAMPLES: (&str, &str) = ("samples", "sample less often, or 0s for never, or shorten the run");

/// The observed parts of a run.
#[derive(Clone, Copy, Debug)]
pub struct Watching {
    /// Whether a report shows the run.
    pub shown: bool,
    /// The flows that are sampled one by one.
    pub followed: Followed,
    /// Intervals that are measured, each by its own meter.
    pub windows: usize,
    /// Flow slots.
    pub flows: u64,
}

/// The memory of counters and samples during the run.
pub fn watching(valid: &Valid, watching: Watching) -> Vec<Term> {
    let duration = valid.schedule().duration.since(Time::ZERO);
    let (links, groups) = (measured(valid), valid.groups().len());
    let recorder = Recorder::bytes(duration);
    let shares = groups * (mixture::GROUP + position::BYTES + 2 * recorder);
    let of_link = size_of::<link::Link>() + occupancy::MOST + 2 * recorder + shares;
    let counters = [
        Term::new(
            LINKS,
            (links * watching.windows) as f64,
            of_link,
            "counters of each link, for each group on it",
        ),
        Term::new(
            GROUPS,
            (groups * watching.windows) as f64,
            RECORDERS * recorder,
            "distributions of each group's times",
        ),
        Term::new(
            FLOWS,
            watching.flows as f64,
            watching.windows * growing(size_of::<flow::Flow>()) + SAMPLED + alone(watching.followed),
            "counters of each flow",
        ),
    ];
    counters.into_iter().chain(samples(valid, watching.followed)).collect()
}

/// The memory of a slot in the sampled series.
const SAMPLED: usize = growing(size_of::<Option<usize>>() + size_of::<Option<Span>>() + size_of::<FlowId>());

/// The memory of a slot in addition to the group's, where every flow is recorded.
fn alone(followed: Followed) -> usize {
    if followed.is_every() { growing(size_of::<Ahead>()) + 2 * STRING } else { 0 }
}

/// The sampled series, and its text when the run is kept.
fn samples(valid: &Valid, followed: Followed) -> Option<Term> {
    let (samples, columns) = sampled(valid, followed)?;
    let each = columns * (size_of::<f64>() + WRITTEN) + size_of::<Vec<f64>>() + STRING / 2;
    let why = format!("{samples} instants of {columns} columns, in memory and as the text that is kept");
    Some(Term::new(SAMPLES, samples as f64, each, why))
}

/// Instants and columns of the series.
fn sampled(valid: &Valid, followed: Followed) -> Option<(u64, usize)> {
    let sample = valid.schedule().sample?;
    let samples = valid.schedule().duration.0 / sample.0.max(1);
    Some((samples, Series::new(valid, 0, followed).table().columns.len()))
}

/// Bytes that are left of a run: its rows, and, if the study needs it, its series.
pub fn left(valid: &Valid, watching: Watching, series: bool) -> u64 {
    let of = |subject: Subject| subject.metrics().len();
    let longest = if watching.shown { occupancy::BINS } else { 1 };
    let of_links = measured(valid) * (row(of(Subject::Link)) + longest * row(1));
    let of_groups = valid.groups().len() * (row(of(Subject::Group)) + DETAILS * row(1));
    let listed = valid.groups().iter().filter(|group| group.kind().listed()).map(|group| group.members.len());
    let of_flows = if watching.shown { listed.sum::<usize>() * row(of(Subject::Flow)) } else { 0 };
    let numbers = sampled(valid, watching.followed).filter(|_| series).map_or(0, |(samples, columns)| {
        samples.saturating_mul((columns * size_of::<f64>() + size_of::<Vec<f64>>() + STRING / 2) as u64)
    });
    numbers.saturating_add((watching.windows * (of_links + of_groups) + of_flows) as u64)
}

/// Bytes of a row of this many numbers under two labels.
fn row(numbers: usize) -> usize {
    let label = size_of::<(String, String)>() + 2 * STRING;
    let number = size_of::<(String, Option<f64>)>() + STRING;
    size_of::<Row>() + size_of::<Labels>() + growing(2 * label + numbers * number)
}

fn measured(valid: &Valid) -> usize {
    valid.network().links.iter().filter(|link| link.measured).count()
}

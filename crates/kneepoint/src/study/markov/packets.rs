// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Packets to compare with the analysis: a scenario and its runs at each point.

use super::{Case, Place};
use crate::markov::{Params, Protocol, Rounding, Sampled};
use crate::scenario::tree::{Table, Value};
use crate::scenario::{Document, Extensions};
use crate::settings::Raw;
use crate::study::{Invalid, Packets, Records, Study, Wanted, Work, seed_by_seed};
use crate::table::{Estimate, Row, value};
use crate::units::{Interval, Span, Time};

/// How packets are simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// One run at each point for each.
    pub seeds: Vec<u64>,
    /// The simulated time of a run, of which the first twentieth is not measured.
    pub duration: Span,
}

/// Bytes of headers on the wire.
const HEADER: u64 = 40;
/// The name of the persistent session in scenarios.
const SESSION: &str = "session";

/// The runs of packets at some places.
#[derive(Clone, Debug)]
pub struct Trials {
    seeds: Vec<u64>,
    /// The work at each place, and the payload of a packet there in bits.
    runs: Vec<(Work, f64)>,
    /// Names and texts of the scenarios.
    pub scenarios: Vec<(String, String)>,
}

impl Trial {
    /// The runs at these places.
    pub fn plan(&self, cases: &[Case], places: &[Place]) -> Result<Trials, Box<Invalid>> {
        let (mut runs, mut scenarios) = (Vec::new(), Vec::new());
        for place in places {
            let name = match place.at {
                Some(at) => format!("{} at {at}", cases[place.case].name),
                None => cases[place.case].name.clone(),
            };
            let document = Document::write(self.tree(&name, &place.params));
            let valid = match Extensions::NONE.plan(&document) {
                Ok(mut plan) => plan.cases.remove(0).valid,
                Err(faults) => return Err(Invalid::of(name, document, faults)),
            };
            let payload = 8.0 * payload(&place.params) as f64;
            runs.push((Work::Packets(Box::new(Packets::from(valid))), payload));
            scenarios.push((name, document.into_text()));
        }
        Ok(Trials { seeds: self.seeds.clone(), runs, scenarios })
    }

    fn tree(&self, name: &str, params: &Params) -> Table {
        Table::default()
            .with("name", Value::text(name))
            .with("run", self.run())
            .with("topology", topology(params))
            .with("capacity", capacity(params))
            .with("feedback", Table::default().with("kind", Value::text("oracle")))
            .with("tcp", tcp(params))
            .with("flows", Value::list([session(params).into()]))
    }

    fn run(&self) -> Table {
        let Trial { seeds, duration } = self;
        let measure = Interval { from: Time(duration.0 / 20), to: Time(duration.0) };
        Table::default()
            .with("duration", Value::text(duration))
            .with("measure", Value::text(measure))
            .with("seed", Value::whole(seeds.first().copied().unwrap_or(1)))
            .with("seeds", Value::whole(seeds.len() as u64))
    }
}

fn topology(params: &Params) -> Table {
    Table::default()
        .with("kind", Value::text("dumbbell"))
        .with("rate", Value::text(params.rate))
        .with("rtt", Value::text(params.delay))
        .with("buffer", Value::text(format_args!("{}pkt", params.buffer)))
        .with("access", Value::text("minimal"))
}

/// The ephemeral sessions.
fn capacity(params: &Params) -> Table {
    Table::default()
        .with("kind", Value::text("ephemeral"))
        .with("arrivals", Raw::Float(params.arrivals))
        .with("session", Value::text(params.session))
        .with("max_sessions", Value::whole(params.max_sessions))
        .with("epoch", Value::text(params.delay))
}

fn tcp(params: &Params) -> Table {
    Table::default()
        .with("recovery", Value::text("old-tahoe"))
        .with("payload", Value::text(format_args!("{}b", payload(params))))
        .with("header", Value::text(format_args!("{HEADER}b")))
}

fn session(params: &Params) -> Table {
    let session = Table::default().with("name", Value::text(SESSION));
    match params.protocol {
        Protocol::Tcp => session.with("cc", Value::text("reno")),
        Protocol::Ratcp => session.with("cc", ratcp(params)),
    }
}

fn ratcp(params: &Params) -> Table {
    let rounding = if params.readings.rounding == Rounding::Ceiling { "up" } else { "down" };
    Table::default()
        .with("kind", Value::text("ratcp"))
        .with("base_rtt", Value::text(params.delay))
        .with("backlog", Raw::Float(params.backlog))
        .with("rounding", Value::text(rounding))
}

/// The payload of a packet in bytes.
fn payload(params: &Params) -> u64 {
    params.packet.0.saturating_sub(HEADER)
}

impl Study for Trials {
    type Outcome = Vec<Option<Sampled>>;

    fn wanted(&self) -> Vec<Wanted<'_>> {
        seed_by_seed(&self.seeds, self.runs.iter().map(|(work, _)| work))
    }

    /// The observations at each place; none before the first of its runs has finished.
    fn outcome(&self, records: &Records) -> Vec<Option<Sampled>> {
        let observed = |(work, payload): &(Work, f64)| {
            let all: Vec<[f64; 3]> =
                records.of(work, &self.seeds).map(|record| observed(&record.rows, *payload)).collect();
            let estimate = |place: usize| Estimate::of(&all.iter().map(|one| one[place]).collect::<Vec<_>>());
            (!all.is_empty()).then(|| Sampled {
                throughput: estimate(0),
                efficiency: estimate(1),
                losses: estimate(2),
            })
        };
        self.runs.iter().map(observed).collect()
    }
}

/// Throughput in packets per second, its part of the capacity that the ephemeral sessions left, and timeouts per second.
pub(super) fn observed(rows: &[Row], payload: f64) -> [f64; 3] {
    let group = [("group", SESSION)];
    let throughput = value(rows, "goodput_bps", &group) / payload;
    // The bottleneck is the only link whose capacity is measured, or the first.
    let capacity = rows.iter().map(|row| row.value("capacity_bps")).find(|capacity| capacity.is_finite());
    let fair = capacity.unwrap_or(f64::NAN) / (payload + 8.0 * HEADER as f64);
    [throughput, throughput / fair, value(rows, "timeouts", &group) / value(rows, "window_s", &[])]
}

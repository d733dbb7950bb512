// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The packets beside the analysis: a scenario and its runs at each point.

use super::{Case, Place};
use crate::experiment::{Packets, Work};
use crate::markov::{Params, Protocol, Rounding, Sampled};
use crate::scenario::{self, Fault};
use crate::study::{Records, Study, Wanted, seed_by_seed};
use crate::table::{Estimate, Row, value};
use crate::units::Span;

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
/// What the scenarios call the persistent session.
const SESSION: &str = "session";

/// A scenario that is not valid.
#[derive(Clone, Debug)]
pub struct Invalid {
    /// The point.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Its faults.
    pub faults: Vec<Fault>,
}

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
            let text = self.scenario(&name, &place.params);
            let valid = match scenario::parse(&text) {
                Ok(mut plan) => plan.cases.remove(0).valid,
                Err(faults) => return Err(Box::new(Invalid { name, text, faults })),
            };
            let payload = 8.0 * payload(&place.params) as f64;
            runs.push((Work::Packets(Box::new(Packets::from(valid))), payload));
            scenarios.push((name, text));
        }
        Ok(Trials { seeds: self.seeds.clone(), runs, scenarios })
    }

    fn scenario(&self, name: &str, params: &Params) -> String {
        let Params { rate, delay, buffer, arrivals, session, max_sessions, backlog, .. } = params;
        let Trial { seeds, duration } = self;
        let (seed, count, from) = (seeds.first().unwrap_or(&1), seeds.len(), Span(duration.0 / 20));
        let rounding = if params.readings.rounding == Rounding::Ceiling { "up" } else { "down" };
        let control = match params.protocol {
            Protocol::Tcp => "cc = \"reno\"".to_string(),
            Protocol::Ratcp => format!(
                "cc = {{ kind = \"ratcp\", base_rtt = \"{delay}\", backlog = {backlog:?}, rounding = \"{rounding}\" }}"
            ),
        };
        format!(
            "name = \"{name}\"\n\n\
             [run]\nduration = \"{duration}\"\nmeasure = \"{from}..{duration}\"\nseed = {seed}\nseeds = {count}\n\n\
             [topology]\nkind = \"dumbbell\"\nrate = \"{rate}\"\nrtt = \"{delay}\"\nbuffer = \"{buffer}pkt\"\n\
             access = \"minimal\"\n\n\
             [capacity]\nkind = \"ephemeral\"\narrivals = {arrivals:?}\nsession = \"{session}\"\n\
             max_sessions = {max_sessions}\nepoch = \"{delay}\"\n\n\
             [feedback]\nkind = \"oracle\"\n\n\
             [tcp]\nrecovery = \"old-tahoe\"\npayload = \"{}b\"\nheader = \"{HEADER}b\"\n\n\
             [[flows]]\nname = \"{SESSION}\"\n{control}\n",
            payload(params)
        )
    }
}

/// Bytes of a packet besides its headers.
fn payload(params: &Params) -> u64 {
    params.packet.0.saturating_sub(HEADER)
}

impl Study for Trials {
    type Outcome = Vec<Option<Sampled>>;

    fn wanted(&self) -> Vec<Wanted<'_>> {
        seed_by_seed(&self.seeds, self.runs.iter().map(|(work, _)| work))
    }

    /// What was observed at each place; none before the first of its runs has finished.
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

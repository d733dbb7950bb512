// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Coexist: pairs of controllers on one bottleneck, in many settings.
//!
//! Every pair shares every buffer with every number of flows, and each controller is paired with itself, which shows the
//! noise. Where both have the same number of flows one run serves both orders.

pub mod coexistence;
mod conduct;

pub use coexistence::{Coexistence, Encounter, Meeting, Square, places};
pub use conduct::{Conduct, Extreme, parts, shown};

use super::dumbbell::{Dumbbell, Party, Sessions, replaced};
use super::{Invalid, Packets, Records, Study, Wanted, Work, precision, seed_by_seed};
use crate::scenario::scheme::Scheme;
use crate::scenario::tree::{Table, Value};
use crate::scenario::{Document, Extensions, Files, Queues};
use crate::settings::Raw;
use crate::table::Row;
use crate::units::{Interval, Rate, Span, Time};

/// The names of the two groups in scenarios: a controller may meet itself.
const GROUPS: [&str; 2] = ["row", "column"];

/// The field that differs between the cases of a pair.
const BUFFER: &str = "topology.buffer";

/// The controllers and the settings.
#[derive(Clone, Debug)]
pub struct Question {
    /// Controllers, as named.
    pub controllers: Vec<String>,
    /// Short names for titles, all different.
    pub short: Vec<String>,
    /// The same with their common queue.
    pub schemes: Vec<Scheme>,
    /// The name of the queue.
    pub queue: String,
    /// External algorithms that the schemes may name.
    pub extensions: Extensions,
    /// Options of every TCP.
    pub tcp: Vec<(String, Raw)>,
    /// The source of the queue's default settings.
    pub queues: Queues,
    /// Rate of the bottleneck.
    pub rate: Rate,
    /// Base round-trip time.
    pub rtt: Span,
    /// Sizes of the buffer.
    pub buffers: Vec<String>,
    /// Total numbers of flows of both.
    pub flows: Vec<u32>,
    /// The fraction of the flows that is the row's.
    pub mix: f64,
    /// The fraction of a fair share that is enough.
    pub enough: f64,
    /// Fields of every scenario that are set from outside.
    pub path: Vec<String>,
    /// Their description in a title.
    pub also: Vec<String>,
    /// Whether the reverse path has its own bottleneck.
    pub full: bool,
    /// Length of a run.
    pub duration: Span,
    /// The measurement window; by default all but the first quarter.
    pub measure: Option<Interval>,
    /// The interval of start times; by default the first twentieth.
    pub start: Option<Interval>,
    /// One run of each pair in each setting for each.
    pub seeds: Vec<u64>,
}

/// A question that has no runs.
#[derive(Clone, Debug)]
pub enum Refused {
    /// The scenario of a pair is not valid; places of faults in fields set from outside are on lines of their own after the text.
    Invalid(Box<Invalid>),
    /// Fields set from outside replace an algorithm of a scheme.
    Replaced {
        /// The scheme.
        scheme: String,
        /// The other algorithm.
        by: &'static str,
    },
    /// They change which cases there are.
    Varied,
}

/// A question whose scenarios are valid.
#[derive(Clone, Debug)]
pub struct Coexist {
    question: Question,
    encounters: Vec<(Square, Work)>,
    /// The requested width of the intervals of shares, in parts of the fair share.
    precision: Option<f64>,
    /// Names and texts of the scenarios, each with its buffers as a sweep.
    pub scenarios: Vec<(String, String)>,
}

/// The row's number of `flows`, and its distance from `mix` in flows. Both sides have at least one.
pub fn row_flows(mix: f64, flows: u32) -> (u32, f64) {
    let wanted = mix * f64::from(flows);
    let row = (libm::round(wanted) as u32).clamp(1, flows - 1);
    (row, libm::fabs(wanted - f64::from(row)))
}

impl Question {
    /// The runs that answer it. `files` opens the files that fields set from outside name.
    pub fn plan(self, files: Files) -> Result<Coexist, Refused> {
        let (mut encounters, mut scenarios) = (Vec::new(), Vec::new());
        for square in places(self.schemes.len(), self.flows.len(), 1).filter(|one| !self.is_mirror(*one)) {
            let name = format!("{}, {} flows", self.pair(square), self.flows[square.flows]);
            let buffers = Value::list(self.buffers.iter().map(Value::text));
            let swept = Table::default().with(BUFFER, buffers);
            let document = Document::write(self.tree(square).with("sweep", swept));
            let (plan, text) = match self.extensions.plan_set(&document, &self.path, files, files) {
                Ok(planned) => planned,
                Err(faults) => return Err(Refused::Invalid(Invalid::of(name, document, faults))),
            };
            let mut each = plan.cases.iter().zip(&self.buffers);
            let own = each.all(|(case, buffer)| case.settings == [(BUFFER.into(), buffer.clone())]);
            if plan.cases.len() != self.buffers.len() || !own || plan.seeds != self.seeds {
                return Err(Refused::Varied);
            }
            for case in &plan.cases {
                for (group, place) in [square.row, square.column].into_iter().enumerate() {
                    let scheme = &self.schemes[place];
                    if let Some(by) = replaced(&case.valid, group, scheme) {
                        return Err(Refused::Replaced { scheme: scheme.name.clone(), by });
                    }
                }
            }
            for (buffer, case) in plan.cases.into_iter().enumerate() {
                let work = Work::Packets(Box::new(Packets::from(case.valid)));
                encounters.push((Square { buffer, ..square }, work));
            }
            scenarios.push((name, text));
        }
        Ok(Coexist { question: self, encounters, precision: None, scenarios })
    }

    /// `pert beside cubic`: short for any settings, because scenarios refuse long names.
    fn pair(&self, square: Square) -> String {
        format!("{} beside {}", self.short[square.row], self.short[square.column])
    }

    /// The row's and the column's number of `flows`.
    fn sides(&self, flows: u32) -> [u32; 2] {
        let (row, _) = row_flows(self.mix, flows);
        [row, flows - row]
    }

    /// Whether the run of the pair in the other order serves this one.
    fn is_mirror(&self, square: Square) -> bool {
        let [row, column] = self.sides(self.flows[square.flows]);
        row == column && square.row > square.column
    }

    fn tree(&self, square: Square) -> Table {
        let [row, column] = self.sides(self.flows[square.flows]);
        let part = |share: u64| Time(self.duration.0 / share);
        Dumbbell {
            title: &self.pair(square),
            parties: &[
                Party { name: GROUPS[0], scheme: &self.schemes[square.row], flows: row },
                Party { name: GROUPS[1], scheme: &self.schemes[square.column], flows: column },
            ],
            tcp: &self.tcp,
            queues: self.queues,
            rate: self.rate,
            rtt: self.rtt,
            buffer: &self.buffers[0],
            reverse: 0,
            full: self.full,
            web: Sessions::NONE,
            duration: self.duration,
            measure: self.measure.unwrap_or(Interval { from: part(4), to: part(1) }),
            start: self.start.unwrap_or(Interval { from: Time::ZERO, to: part(20) }),
            seeds: self.seeds.len() as u32,
            seed: self.seeds.first().copied().unwrap_or(1),
            sample: None,
        }
        .tree()
    }

    fn title(&self) -> String {
        match self.short.split_last() {
            Some((last, rest)) => format!("{} and {last} side by side", rest.join(", ")),
            None => String::new(),
        }
    }

    fn about(&self) -> String {
        let Question { rate, rtt, queue, mix, tcp, .. } = self;
        let exact = self.flows.iter().all(|flows| row_flows(*mix, *flows).1 < 1e-9 * f64::from(*flows));
        let divided = match *mix {
            _ if !exact => {
                let counts = self.flows.iter().map(|flows| format!("{} of {flows}", self.sides(*flows)[0]));
                format!("{} flows the row's", counts.collect::<Vec<_>>().join(" and "))
            }
            0.5 => "half of the flows each".to_string(),
            mix => format!("{} % of the flows the row's", 100.0 * mix),
        };
        let option = |(name, value): &(String, Raw)| match value {
            Raw::Text(text) => format!(", {name}={text}"),
            value => format!(", {name}={value}"),
        };
        let tcp: String = tcp.iter().map(option).collect();
        let queues = match self.queues {
            Queues::Paper => String::new(),
            queues => format!(", queues={queues}"),
        };
        let (rate, rtt, duration) = (rate.people(), rtt.people(), self.duration.people());
        let also: String = self.also.iter().map(|told| format!(", {told}")).collect();
        format!("{rate}, {rtt} RTT, {queue}, {divided}{tcp}{queues}{also}, runs of {duration}")
    }
}

impl Coexist {
    /// With further seeds until the intervals of all shares are this narrow, in parts of the fair share.
    #[must_use]
    pub fn precise(mut self, precision: Option<f64>) -> Coexist {
        self.precision = precision;
        precision::reach(&mut self.question.seeds, precision.map_or(0, |_| precision::LEAST));
        self
    }

    /// The seeds of this round.
    pub fn seeds(&self) -> &[u64] {
        &self.question.seeds
    }

    /// The seeds of each share, and its interval relative to the requested width, which is infinite without seeds; nothing where no
    /// precision is requested.
    fn judged(&self, outcome: &Coexistence) -> Option<Vec<(usize, f64)>> {
        let wanted = self.precision?;
        let of_share = |cell: &Encounter| {
            cell.taken()
                .half_width
                .map_or((0, f64::INFINITY), |half_width| (cell.meetings.len(), half_width / wanted))
        };
        Some(outcome.cells.iter().map(of_share).collect())
    }

    /// The number of shares that are as precise as requested, and the seeds that all of them need, for readers.
    pub fn told(&self, outcome: &Coexistence) -> Option<String> {
        let (wanted, judged) = (precision::percent(self.precision?), self.judged(outcome)?);
        let within = judged.iter().filter(|(_, ratio)| *ratio <= 1.0).count();
        let (all, seeds) = (judged.len(), outcome.seeds());
        let (had, widest) = judged.into_iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
        Some(match precision::required(had, widest) {
            None => {
                format!("Precision: all {all} shares are within {wanted} of the fair share, with {seeds}.")
            }
            Some(required) => format!(
                "Precision: {within} of {all} shares are within {wanted} of the fair share, with {seeds}. {required}"
            ),
        })
    }
}

impl Study for Coexist {
    type Outcome = Coexistence;

    fn wanted(&self) -> Vec<Wanted<'_>> {
        seed_by_seed(&self.question.seeds, self.encounters.iter().map(|(_, work)| work))
    }

    fn again(&mut self, outcome: &Coexistence) -> Option<String> {
        let known =
            self.judged(outcome)?.into_iter().map(|(_, ratio)| ratio).filter(|ratio| ratio.is_finite());
        let count = precision::next(self.question.seeds.len(), known.max_by(f64::total_cmp)?)?;
        precision::reach(&mut self.question.seeds, count);
        Some(precision::why(count))
    }

    fn every_round(&mut self) {
        precision::reach(&mut self.question.seeds, self.precision.map_or(0, |_| precision::MOST));
    }

    /// Every square; a pair that was run in the other order is mirrored.
    fn outcome(&self, records: &Records) -> Coexistence {
        let Question { controllers, buffers, flows, mix, enough, seeds, .. } = &self.question;
        let meetings = |square: Square| -> Vec<Meeting> {
            let Some((_, work)) = self.encounters.iter().find(|(at, _)| *at == square) else {
                return Vec::new();
            };
            records.of(work, seeds).filter_map(|record| meeting(&record.rows)).collect()
        };
        let encounter = |square: Square| Encounter {
            flows: self.question.sides(flows[square.flows]),
            meetings: if self.question.is_mirror(square) {
                let mirror = Square { row: square.column, column: square.row, ..square };
                meetings(mirror).into_iter().map(Meeting::mirrored).collect()
            } else {
                meetings(square)
            },
        };
        Coexistence {
            title: self.question.title(),
            about: self.question.about(),
            cells: places(controllers.len(), flows.len(), buffers.len()).map(encounter).collect(),
            controllers: controllers.clone(),
            buffers: buffers.clone(),
            flows: flows.clone(),
            mix: *mix,
            enough: *enough,
        }
    }
}

/// A run's results for its two groups.
fn meeting(rows: &[Row]) -> Option<Meeting> {
    let value = |group: Option<&str>, metric: &str| {
        let of_group = |row: &&Row| match group {
            Some(group) => row.labels.len() == 1 && row.labels.get("group").is_some_and(|name| name == group),
            None => row.labels.is_empty(),
        };
        rows.iter().filter(of_group).find_map(|row| row.values.get(metric).copied().flatten())
    };
    let [row, column] = GROUPS;
    Some(Meeting {
        share: value(Some(row), "share")?,
        drop_ratio: [row, column].map(|group| value(Some(group), "drop_ratio").unwrap_or(f64::NAN)),
        utilization: value(None, "utilization")?,
        queue: value(None, "queue_mean_normalized").unwrap_or(f64::NAN),
    })
}

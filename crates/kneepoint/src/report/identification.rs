// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Who sent a capture: the document, and records for machines.

use super::document::{Block, Column, Document, Figure, Layout, Section, Shown, Table, TableLine};
use super::names;
use crate::chart::{Axis, Line, Lines, lines, scheme_class};
use crate::study::identify::{CLOSE, Class, EXCLUDES, LEAD, Verdict};
use crate::table::number::counted;
use crate::table::{Cell, Records, number};
use crate::units::Span;

crate::keys! {
    /// Who sent the flows of a capture.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Identification {
        /// The captures.
        pub title: String,
        /// One for each flow.
        pub flows: Vec<IdentifiedFlow>,
        /// Remarks for readers.
        pub notes: Vec<String>,
    }

    /// Who sent a flow.
    #[derive(Clone, Debug, PartialEq)]
    pub struct IdentifiedFlow {
        /// Sender and receiver: `ADDRESS:PORT-ADDRESS:PORT`; of a qlog the name of its connection.
        pub flow: String,
        /// The qlog; null for captures, which are taken together.
        pub file: Option<String>,
        /// The controller that sent it; null if none of the candidates did, or if the flow leaves several possible.
        pub controller: Option<String>,
        /// Controllers that may have sent it, the least error first: windows of several never differ here, or say too little. Empty if none did.
        pub possible: Vec<String>,
        /// The greatest error with which a candidate is named wherever the others are.
        pub limit: f64,
        /// The least error of the controllers that the best candidate is not; null with fewer than four. The best one is named as well if its own is at
        /// most 0.015 and a quarter of this.
        pub other_error: Option<f64>,
        /// The greatest error of the best candidate against itself in simulations of the path, no more of them than decide whether it is named, if it draws
        /// random numbers; else zero.
        pub own_error: f64,
        /// The path.
        pub path: IdentifiedPath,
        /// The candidates, the least error first.
        pub candidates: Vec<Candidate>,
        /// The moments at which the best candidate and the best one of another controller differed most.
        pub moments: Vec<DecisiveMoment>,
        /// The course of the flow.
        #[serde(skip)]
        pub curves: Vec<Curve>,
        /// Whether the sender logged its window, and candidates are compared with that in place of packets in flight.
        pub logged: bool,
    }

    /// The path of a flow.
    #[derive(Clone, Debug, PartialEq)]
    pub struct IdentifiedPath {
        /// The rate of arrivals while a queue stands, in full segments; null where too little arrived.
        pub rate_bps: Option<f64>,
        /// The least round trip.
        pub base_rtt_ms: f64,
        /// Packets in the queue when one is lost; null where nothing was lost.
        pub buffer_packets: Option<f64>,
        /// Payload of a full segment.
        pub segment_bytes: u32,
        /// Segments before the first acknowledgement.
        pub initial_window_packets: u32,
        /// Packets that were retransmitted.
        pub retransmitted: u64,
        /// Episodes of loss.
        pub episodes: u32,
        /// From the first packet to the last.
        pub duration_s: f64,
        /// Parts of eight round trips in which candidates are judged; with fewer than two, none that is close enough to be named is excluded.
        pub judged_intervals: u64,
    }

    /// Controllers whose windows never differ in a flow.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Candidate {
        /// The first of them.
        pub controller: String,
        /// Whose version it is: `linux`, `linux before 5.6`, `published`.
        pub version: String,
        /// All of them, with their versions.
        pub same: Vec<String>,
        /// The mean relative difference, as a logarithm, between expected and observed packets in flight, or windows where they were logged.
        pub error: f64,
        /// The likelihood, as a part of that of all candidates.
        pub likelihood: f64,
        /// Whether it is in the answer.
        pub named: bool,
    }

    /// A moment at which the best candidate and the best one of another controller differed.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DecisiveMoment {
        /// The time from the first packet.
        pub at_s: f64,
        /// Packets in flight, or the window that the sender logged.
        pub observed: u32,
        /// Packets that the best candidate would have had.
        pub best: f64,
        /// Packets that the best one of another controller would have had.
        pub other: f64,
    }
}

/// A line of the picture: its name and points, seconds and packets.
type Curve = (String, Vec<(f64, f64)>);

/// Candidates in the picture, and in the table.
const DRAWN: usize = 3;
const LISTED: usize = 12;
/// A remark on a flow without losses.
const LOSSLESS: &str =
    "Nothing was retransmitted: controllers that slow down only after losses are hard to tell apart here.";
/// A remark on a flow in which candidates are judged for too short a time.
const BRIEF: &str = "Outside of repairs the flow lasts for eight round trips at most: too short to exclude a candidate that is close enough to be named.";
/// Points of a curve at most.
const POINTS: usize = 1500;

impl IdentifiedFlow {
    /// The verdict on a flow, in segments of `segment_bytes`.
    pub fn of(flow: String, segment_bytes: u32, verdict: &Verdict) -> IdentifiedFlow {
        let path = &verdict.path;
        let possible = verdict.possible();
        let possible: Vec<String> = possible.into_iter().map(String::from).collect();
        IdentifiedFlow {
            flow,
            file: None,
            controller: possible.first().filter(|_| possible.len() == 1).cloned(),
            possible,
            limit: verdict.limit(),
            other_error: verdict.other(),
            own_error: verdict.own_error,
            path: IdentifiedPath {
                rate_bps: Some(path.rate.0 * f64::from(segment_bytes) * 8.0).filter(|rate| *rate > 0.0),
                base_rtt_ms: path.base.as_millis_f64(),
                buffer_packets: path.buffer,
                segment_bytes,
                initial_window_packets: path.first_flight,
                retransmitted: path.resent,
                episodes: path.episodes,
                duration_s: Span::as_secs_f64(path.lasted),
                judged_intervals: verdict.intervals as u64,
            },
            candidates: verdict.classes.iter().filter_map(|class| candidate(verdict, class)).collect(),
            moments: verdict
                .decisive
                .iter()
                .map(|moment| DecisiveMoment {
                    at_s: moment.at.as_secs_f64(),
                    observed: moment.observed,
                    best: moment.expected.0,
                    other: moment.expected.1,
                })
                .collect(),
            curves: curves(verdict),
            logged: verdict.logged,
        }
    }

    /// The sentence about it.
    pub fn verdict(&self) -> String {
        let Some(best) = self.candidates.first() else { return "Nothing to judge by.".into() };
        let shown = |error: f64| number::significant(error, 2);
        let why = match self.other_error.filter(|_| !self.possible.is_empty() && best.error > self.limit) {
            Some(other) => format!("that of any other controller at least {}", shown(other)),
            None if self.possible.is_empty() && self.other_error.is_some() && self.limit < CLOSE => format!(
                "at most {} to be named, or at most {CLOSE} with that of any other controller at least {LEAD} times as great",
                shown(self.limit)
            ),
            None => format!("at most {} to be named", shown(self.limit)),
        };
        let errors = format!("error {}, {why}", shown(best.error));
        match &self.possible[..] {
            [] => format!(
                "None of the candidates is close enough to be named. The closest: {}; {errors}.",
                self.closest().join(", ")
            ),
            [name] => {
                let most = best.likelihood;
                let likely =
                    || self.candidates.iter().filter(|one| one.named && one.likelihood * EXCLUDES >= most);
                let versions = distinct(likely().map(|one| one.version.as_str()));
                let likelihood: f64 = likely().map(|one| one.likelihood).sum();
                format!(
                    "{name} ({}), with {:.0} % of the likelihood: {errors}.",
                    versions.join(" or "),
                    100.0 * likelihood
                )
            }
            several => {
                format!("One of {}; this flow does not tell which: {errors}.", several.join(", "))
            }
        }
    }

    /// The name of what was seen.
    fn seen(&self) -> &'static str {
        seen(self.logged)
    }

    /// Controllers of the least error, of those whose errors look the same.
    fn closest(&self) -> Vec<&str> {
        let shown = |one: &Candidate| number::significant(one.error, 2);
        let least = self.candidates.first().map(shown);
        let close = self.candidates.iter().take_while(|one| Some(shown(one)) == least);
        distinct(close.flat_map(names_of))
    }
}

/// The controllers of a candidate, without their versions.
fn names_of(candidate: &Candidate) -> impl Iterator<Item = &str> {
    candidate.same.iter().map(|name| name.split_once(" (").map_or(name.as_str(), |(name, _)| name))
}

/// The name of what candidates are compared with.
fn seen(logged: bool) -> &'static str {
    if logged { "logged" } else { "captured" }
}

/// Each once, in order.
fn distinct<'t>(all: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let mut once = Vec::new();
    all.for_each(|one| {
        if !once.contains(&one) {
            once.push(one)
        }
    });
    once
}

fn candidate(verdict: &Verdict, class: &Class) -> Option<Candidate> {
    let first = class.first()?;
    Some(Candidate {
        controller: first.name().into(),
        version: first.make.name().into(),
        same: class.suspects.iter().map(|suspect| suspect.full_name()).collect(),
        error: class.error,
        likelihood: class.likelihood,
        named: verdict.answers(class),
    })
}

/// What was in flight, and what the best classes of different controllers expected. Repairs of losses leave gaps: nobody is judged by them.
fn curves(verdict: &Verdict) -> Vec<Curve> {
    let Some(best) = verdict.classes.first() else { return Vec::new() };
    let step = best.moments.len().div_ceil(POINTS).max(1);
    let observed = best.moments.iter().map(|moment| (moment.at.as_secs_f64(), f64::from(moment.observed)));
    let mut curves = vec![(seen(verdict.logged).to_string(), observed.step_by(step).collect::<Vec<_>>())];
    for class in drawn(&verdict.classes) {
        let expected = class.moments.iter().map(|moment| {
            let packets = if moment.repairs { f64::NAN } else { moment.expected };
            (moment.at.as_secs_f64(), packets)
        });
        let name = class.first().map_or(String::new(), |suspect| suspect.full_name());
        curves.push((name, expected.step_by(step).collect()));
    }
    curves
}

/// The best classes without controllers of one before: three versions of one say little.
fn drawn(classes: &[Class]) -> Vec<&Class> {
    let mut drawn: Vec<&Class> = Vec::new();
    for class in classes {
        if drawn.len() < DRAWN && !drawn.iter().any(|one| one.overlaps(class)) {
            drawn.push(class);
        }
    }
    drawn
}

/// A section for each flow: the verdict, the candidates, the moments that decided, and the picture.
pub fn document(found: &Identification) -> Document {
    let about = "Which congestion control sent each flow. Each candidate is led through the flow: it receives the sender's acknowledgements and takes \
                 the segments that were sent for its own. Its error is the mean relative difference between what it would have had in flight and what was in flight, as a \
                 logarithm of at most 0.3. Where the sender logged its congestion window, that is compared. A difference of one packet and repairs of losses do not count.";
    let flows: Vec<&str> = found.flows.iter().map(|flow| flow.flow.as_str()).collect();
    let section = |(place, flow): (usize, &IdentifiedFlow)| {
        let path = &flow.path;
        let buffer = path.buffer_packets.map_or("no losses".into(), |packets| {
            format!("a queue of {} at losses", counted(packets.round(), "packet"))
        });
        let rate = path
            .rate_bps
            .map_or("too few arrivals for a rate,".into(), |rate| format!("{:.3} Mbit/s in", rate / 1e6));
        let seen = format!(
            "Path: {rate} segments of {} bytes, {:.1} ms, {buffer}; {} in {}.",
            path.segment_bytes,
            path.base_rtt_ms,
            counted(path.retransmitted, "retransmission"),
            counted(path.episodes, "episode")
        );
        let mut blocks = vec![Block::prose(flow.verdict()), Block::prose(seen)];
        if path.episodes == 0 {
            blocks.push(Block::prose(LOSSLESS));
        }
        if path.judged_intervals < 2 && !flow.possible.is_empty() {
            blocks.push(Block::prose(BRIEF));
        }
        blocks.push(Block::Table(candidates(flow)));
        if let Some(others @ 1..) = flow.candidates.len().checked_sub(LISTED) {
            let others = counted(others, "other candidate");
            blocks.push(Block::prose(format!("Not listed: {others} with greater errors; the JSON has all.")));
        }
        if !flow.moments.is_empty() {
            blocks.push(Block::Table(moments(flow)));
        }
        let picture = picture(flow, names::figure("in-flight", &flows, place));
        blocks.push(Block::Figures(Layout::Whole, vec![picture]));
        let heading = match &flow.file {
            Some(file) if found.flows.iter().any(|other| other.file != flow.file) => {
                format!("{}, {file}", flow.flow)
            }
            _ => flow.flow.clone(),
        };
        Section::new(heading, blocks)
    };
    let mut sections: Vec<Section> = found.flows.iter().enumerate().map(section).collect();
    if !found.notes.is_empty() {
        sections.push(Section::new("Notes", found.notes.iter().map(Block::prose).collect()));
    }
    Document { title: found.title.clone(), about: about.into(), sections }
}

fn candidates(flow: &IdentifiedFlow) -> Table {
    let line = |candidate: &Candidate| {
        let cells = vec![
            Shown::from(number::significant(candidate.error, 3)),
            Shown::from(format!("{:.3}", candidate.likelihood)),
            Shown::from(candidate.same.get(1..).unwrap_or_default().join(", ")),
        ];
        let name = candidate.same.first().cloned().unwrap_or_default();
        let class = flow.curves.iter().position(|(who, _)| *who == name).map(scheme_class);
        TableLine { class, ..TableLine::new(name, cells) }
    };
    Table {
        corner: "candidate".into(),
        columns: vec![
            Column::number("error", ""),
            Column::number("relative likelihood", ""),
            Column::text("the same here"),
        ],
        lines: flow.candidates.iter().take(LISTED).map(line).collect(),
        linked: false,
    }
}

fn moments(flow: &IdentifiedFlow) -> Table {
    let line = |moment: &DecisiveMoment| {
        let cells = [f64::from(moment.observed), moment.best, moment.other];
        TableLine::new(
            format!("{:.3} s", moment.at_s),
            cells.map(|packets| Shown::from(format!("{packets:.0}"))).to_vec(),
        )
    };
    Table {
        corner: "what tells it from the best other".into(),
        columns: vec![
            Column::number(flow.seen(), "packets"),
            Column::number("best", "packets"),
            Column::number("other", "packets"),
        ],
        lines: flow.moments.iter().map(line).collect(),
        linked: false,
    }
}

/// Packets in flight, or the window, over time.
fn picture(flow: &IdentifiedFlow, name: String) -> Figure {
    let (title, axis) = match flow.logged {
        true => ("Congestion window", "window, packets"),
        false => ("Packets in flight", "in flight, packets"),
    };
    let line = |(rank, (who, points)): (usize, &Curve)| {
        let exact = Line::exact(who.clone(), points.iter().copied());
        Line { rank: Some(rank), broad: rank == 0, ..exact }
    };
    let mut series: Vec<Line> = flow.curves.iter().enumerate().map(line).collect();
    // The best candidate on top of the others.
    series.get_mut(1..).map(<[Line]>::reverse);
    let chart = Lines {
        title: title.into(),
        x: Axis::linear("time, s"),
        y: Axis::linear(axis).holding(0.0, 1.0),
        series,
        marks: Vec::new(),
        published: Vec::new(),
        measured: None,
    };
    Figure {
        name,
        title: title.into(),
        note: "Broad and pale is what was seen. The other lines are what the best candidates of different controllers would have had, with gaps in repairs of losses, which count for nobody.",
        class: None,
        drawing: lines(&chart),
    }
}

/// A row for each flow and candidate.
pub fn records(found: &Identification) -> Records {
    let columns = ["flow", "file", "controller", "version", "same", "error", "likelihood", "named"];
    let rows = found.flows.iter().flat_map(|flow| {
        flow.candidates.iter().map(move |candidate| {
            let named = f64::from(u8::from(candidate.named));
            let same = candidate.same.join("; ");
            let file = flow.file.clone().unwrap_or_default();
            let texts = [&flow.flow, &file, &candidate.controller, &candidate.version, &same];
            let numbers = [candidate.error, candidate.likelihood, named];
            texts
                .into_iter()
                .map(|text| Cell::from(text.as_str()))
                .chain(numbers.into_iter().map(Cell::from))
                .collect()
        })
    });
    Records { columns: columns.map(String::from).to_vec(), rows: rows.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::identify::suspects;

    #[test]
    fn three_different_controllers_are_drawn() {
        let all = suspects(&["cubic", "reno", "vegas", "nv"].map(String::from)).unwrap();
        let class = |suspect: &crate::study::identify::Suspect| Class {
            suspects: vec![suspect.clone()],
            error: 0.0,
            likelihood: 0.0,
            moments: Vec::new(),
            draws: false,
        };
        let classes: Vec<Class> = all.iter().map(class).collect();
        let names: Vec<_> = drawn(&classes).iter().flat_map(|one| one.names()).collect();
        let mut once = names.clone();
        once.dedup();
        assert_eq!((names.len(), once.len()), (3, 3), "{names:?}");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The events of a timeline: a lane of signs above its plots, and their meaning below.

use super::super::data::Data;
use super::super::scale::Scale;
use super::super::value::tip_number;
use super::super::{Anchor, Drawing, space};
use super::{TICK, Timeline};

/// An event of a run.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super::super) struct Happening {
    /// When, in seconds.
    pub at: f64,
    /// The kind of event.
    pub kind: Kind,
    /// The colour class of its group; none for a link.
    pub class: String,
    /// The event, as in `delay 50 ms`.
    pub name: String,
}

/// A kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super::super) enum Kind {
    /// A flow starts.
    Start,
    /// A flow ends.
    End,
    /// A retransmission timer expires.
    Timeout,
    /// Packets are lost.
    Loss,
    /// The delay of the path changes, as at a handover.
    Delay,
    /// The capacity of the link changes.
    Capacity,
}

impl Kind {
    /// In the order of the legend.
    const ALL: [Kind; 6] = [Kind::Start, Kind::End, Kind::Timeout, Kind::Loss, Kind::Delay, Kind::Capacity];

    /// The text of the legend.
    fn meaning(self) -> &'static str {
        match self {
            Kind::Start => "a flow starts",
            Kind::End => "a flow ends",
            Kind::Timeout => "timeout",
            Kind::Loss => "lost packets",
            Kind::Delay => "the delay changes",
            Kind::Capacity => "the capacity changes",
        }
    }

    /// The corners of its sign around the origin.
    fn corners(self) -> &'static [(f64, f64)] {
        match self {
            Kind::Start => &[(-3.0, -4.0), (4.0, 0.0), (-3.0, 4.0)],
            Kind::End => &[(-3.0, -3.0), (3.0, -3.0), (3.0, 3.0), (-3.0, 3.0)],
            Kind::Timeout => &[(-4.0, -4.0), (4.0, 4.0), (0.0, 0.0), (4.0, -4.0), (-4.0, 4.0), (0.0, 0.0)],
            Kind::Loss => &[(0.0, -5.0), (0.0, 5.0)],
            Kind::Delay => &[(0.0, -4.5), (4.0, 0.0), (0.0, 4.5), (-4.0, 0.0)],
            Kind::Capacity => &[(-4.0, -4.0), (0.0, -4.0), (0.0, 4.0), (4.0, 4.0)],
        }
    }

    /// Whether it concerns the link, and so all curves.
    fn of_link(self) -> bool {
        matches!(self, Kind::Delay | Kind::Capacity)
    }

    fn sign(self, drawing: &mut Drawing, class: &str, (x, y): (f64, f64)) {
        let corners = self.corners().iter().map(|corner| (x + corner.0, y + corner.1));
        // Crosses, bars and steps are strokes, and the others are areas.
        match self {
            Kind::Timeout | Kind::Loss | Kind::Capacity => {
                drawing.path(&format!("line {class}"), corners, false)
            }
            _ => drawing.path(&format!("fill {class}"), corners, true),
        }
    }
}

/// More starts than this have no line of their own.
const MOST_LINES: usize = 8;
/// Height of a row of signs.
const LANE: f64 = 18.0;
const MEASURED: &str = "measured";
/// The class of elements without a colour.
const PLAIN: &str = "plain";

impl Happening {
    fn class(&self) -> &str {
        if self.class.is_empty() { PLAIN } else { &self.class }
    }
}

/// Draws the signs: events of the link above, with their names, and events of flows below, once where signs share a pixel. The result is
/// how high both are.
pub(super) fn lane(drawing: &mut Drawing, chart: &Timeline, x: &Scale) -> f64 {
    let measured = chart.measured.map(|(_, to)| x.at(to.min(chart.end)));
    if let Some(to) = measured {
        drawing.text("tick", Anchor::End, (to, 12.0), MEASURED);
    }
    let (of_link, of_flows): (Vec<&Happening>, Vec<&Happening>) =
        chart.happenings.iter().partition(|one| one.kind.of_link());
    let mut bottom = if measured.is_some() || !of_link.is_empty() { LANE } else { 2.0 };
    let taken = measured.map_or(drawing.width, |to| to - space::length(MEASURED, TICK));
    for (place, one) in of_link.iter().enumerate() {
        sign(drawing, one, (x.at(one.at), 8.0));
        let begin = x.at(one.at) + 8.0;
        let next = of_link.get(place + 1).map_or(drawing.width, |next| x.at(next.at));
        let end = if begin < taken { next.min(taken) } else { next };
        if begin + space::length(&one.name, TICK) + 4.0 < end {
            drawing.text("note", Anchor::Start, (begin, 12.0), &one.name);
        }
    }
    let mut drawn: Vec<(i64, Kind, &str)> = Vec::new();
    for one in &of_flows {
        let known = (x.at(one.at).round() as i64, one.kind, one.class());
        if !drawn.contains(&known) {
            drawn.push(known);
            sign(drawing, one, (x.at(one.at), bottom + 8.0));
        }
    }
    if !of_flows.is_empty() {
        bottom += LANE;
    }
    bottom
}

fn sign(drawing: &mut Drawing, one: &Happening, at: (f64, f64)) {
    let tip = format!("{} s: {}", tip_number(one.at), one.name);
    drawing.with_tip(&tip, |inner| one.kind.sign(inner, one.class(), at));
}

/// Draws a line through all plots at the events of the link and at the starts of a few flows.
pub(super) fn lines(drawing: &mut Drawing, chart: &Timeline, x: &Scale, (top, bottom): (f64, f64)) {
    let later = |one: &&Happening| one.at > 0.0;
    let starts = chart.happenings.iter().filter(later).filter(|one| one.kind == Kind::Start).count();
    let wanted = |kind: Kind| kind.of_link() || kind == Kind::Start && starts <= MOST_LINES;
    for one in chart.happenings.iter().filter(later).filter(|one| wanted(one.kind)) {
        drawing.line("mark", (x.at(one.at), top), (x.at(one.at), bottom));
    }
}

/// Draws the meaning of the signs below everything else.
pub(super) fn key(drawing: &mut Drawing, chart: &Timeline) {
    let (mut at, mut row) = (4.0, drawing.height + 8.0);
    for kind in Kind::ALL {
        let Some(first) = chart.happenings.iter().find(|one| one.kind == kind) else { continue };
        let long = 14.0 + space::length(kind.meaning(), TICK);
        if at > 4.0 && at + long > drawing.width {
            (at, row) = (4.0, row + 18.0);
        }
        kind.sign(drawing, first.class(), (at + 2.0, row - 4.0));
        drawing.text("note", Anchor::Start, (at + 12.0, row), kind.meaning());
        at += long + 18.0;
        drawing.height = drawing.height.max(row + 8.0);
    }
}

/// The events as a table; none without events.
pub(super) fn data(chart: &Timeline) -> Option<Data> {
    let row = |one: &Happening| vec![tip_number(one.at), one.name.clone()];
    let rows: Vec<Vec<String>> = chart.happenings.iter().map(row).collect();
    let about = "The events of the run, each exact to a sampling interval.";
    let table =
        || Data { title: "events".into(), ..Data::new(about.into(), &["time, s", "event"], rows.clone()) };
    (!rows.is_empty()).then(table)
}

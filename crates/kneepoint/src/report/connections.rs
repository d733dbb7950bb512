// SPDX-License-Identifier: Apache-2.0 OR MIT
//! QUIC connections over time, as their senders recorded them.

use super::document::{Block, Column, Document, Figure, Layout, Section, Shown, Table, TableLine};
use super::figures::{peak, summed_up};
use super::names;
use crate::capture::qlog::{Instant, Traced};
use crate::chart::{Axis, Curve, Happening, Kind, Strip, Timeline, Trace, scheme_class, timeline};
use crate::table::{Cell, Records, number};
use crate::units::{Span, Time};

/// Connections that are drawn; the rest is in the table and in files.
const MOST: usize = 8;
/// Intervals that a plot resolves, and of them the ones over which a rate is taken.
const INTERVALS: usize = 400;
const RATES: u32 = 120;

/// Points of a curve: time in seconds and a value.
type Points = Vec<(f64, f64)>;

crate::keys! {
    /// Connections that were recorded.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Connections {
        /// The files.
        pub title: String,
        /// One for each connection, the ones with the most data first.
        pub connections: Vec<Connection>,
        /// Remarks for readers.
        pub notes: Vec<String>,
    }

    /// A connection, seen from the side that recorded it.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Connection {
        /// Its title in the file, or another name.
        pub name: String,
        /// Packets with data or acknowledgements that were sent.
        pub packets: u64,
        /// Their bytes.
        pub bytes: u64,
        /// Packets that the sender took for lost.
        pub losses: u64,
        /// Samples of the round-trip time.
        pub round_trips: u64,
        /// From the first event to the last.
        pub duration_s: f64,
        /// Acknowledged packets, in bits per second of this time.
        pub delivered_bps: f64,
        /// The smallest sample of the round-trip time; null without one.
        pub rtt_least_ms: f64,
        /// The mean of the samples.
        pub rtt_mean_ms: f64,
        /// The greatest sample.
        pub rtt_greatest_ms: f64,
        /// The greatest congestion window; null where it was not recorded.
        pub window_greatest_bytes: Option<u64>,
        /// Its course.
        #[serde(skip)]
        pub course: Course,
    }
}

/// The course of a connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    instants: Vec<Instant>,
    losses: Vec<Time>,
}

impl Connection {
    /// A connection with the numbers of its record.
    pub fn of(traced: Traced) -> Connection {
        let Traced { name, transfer, instants, .. } = traced;
        let trips: Vec<f64> = transfer.samples.iter().map(|sample| sample.rtt.as_millis_f64()).collect();
        let seconds = transfer.lasted.as_secs_f64();
        let delivered = instants.last().map_or(0, |last| last.delivered);
        Connection {
            name,
            packets: transfer.packets,
            bytes: transfer.bytes,
            losses: transfer.losses.len() as u64,
            round_trips: trips.len() as u64,
            duration_s: seconds,
            delivered_bps: if seconds > 0.0 { delivered as f64 * 8.0 / seconds } else { f64::NAN },
            rtt_least_ms: trips.iter().copied().fold(f64::NAN, f64::min),
            rtt_mean_ms: trips.iter().sum::<f64>() / trips.len() as f64,
            rtt_greatest_ms: trips.iter().copied().fold(f64::NAN, f64::max),
            window_greatest_bytes: instants.iter().filter_map(|instant| instant.window).max(),
            course: Course { instants, losses: transfer.losses },
        }
    }

    /// Its course, a line for each time that its recovery was recorded.
    pub fn records(&self) -> Records {
        let bytes = |known: Option<u64>| known.map_or(f64::NAN, |bytes| bytes as f64);
        let row = |instant: &Instant| {
            let trips = [instant.least, instant.smoothed, instant.latest].map(millis);
            let known = [instant.at.as_secs_f64(), bytes(instant.window), bytes(instant.in_flight)];
            known.into_iter().chain(trips).chain([instant.delivered as f64]).map(Cell::from).collect()
        };
        let columns = ["time_s", "window_bytes", "in_flight_bytes", "rtt_least_ms", "rtt_smoothed_ms"];
        let columns = columns.into_iter().chain(["rtt_latest_ms", "delivered_bytes"]);
        Records {
            columns: columns.map(String::from).collect(),
            rows: self.course.instants.iter().map(row).collect(),
        }
    }

    /// A quantity where it is known, whenever it changes.
    fn points(&self, of: impl Fn(&Instant) -> Option<f64>) -> Points {
        let known = self.course.instants.iter().filter_map(|one| Some((one.at.as_secs_f64(), of(one)?)));
        known.collect()
    }

    /// The rate at which packets were acknowledged, in Mbit/s over equal intervals, none shorter than a round trip.
    fn rates(&self) -> Points {
        let Some(last) = self.course.instants.last() else { return Vec::new() };
        let end = last.at.as_secs_f64();
        let step = (end / f64::from(RATES)).max(last.least.map_or(0.0, Span::as_secs_f64));
        if step <= 0.0 {
            return Vec::new();
        }
        let mut instants = self.course.instants.iter().peekable();
        let (mut before, mut now) = (0, 0);
        let interval = |place: u32| {
            let until = step * f64::from(place + 1);
            while let Some(next) = instants.next_if(|next| next.at.as_secs_f64() <= until) {
                now = next.delivered;
            }
            let rate = (now - before) as f64 * 8e-6 / step;
            before = now;
            (until - step / 2.0, rate)
        };
        (0..(end / step) as u32).map(interval).collect()
    }

    /// Losses, counted where they share an interval of the plot.
    fn happenings(&self) -> Vec<Happening> {
        let step = (self.duration_s / INTERVALS as f64).max(f64::MIN_POSITIVE);
        let place = |at: &Time| (at.as_secs_f64() / step) as u64;
        let together = self.course.losses.chunk_by(|one, other| place(one) == place(other));
        let happening = |all: &[Time]| {
            let name =
                if let [_] = all { "a packet lost".into() } else { format!("{} packets lost", all.len()) };
            Happening { at: all[0].as_secs_f64(), kind: Kind::Loss, class: scheme_class(1), name }
        };
        together.map(happening).collect()
    }

    fn windows(&self) -> Option<Strip> {
        let kilobytes = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64 / 1e3);
        let window = self.points(|one| kilobytes(one.window));
        let flight = self.points(|one| kilobytes(one.in_flight));
        let most = peak(&window).1.max(peak(&flight).1);
        let flight = (!flight.is_empty()).then(|| summed_up("in flight".into(), scheme_class(2), &flight));
        let window = (!window.is_empty()).then(|| thinned("congestion window", scheme_class(0), &window));
        strip(Axis::linear("window, kB").holding(0.0, most), flight.into_iter().chain(window))
    }

    fn round_trips(&self) -> Option<Strip> {
        let millis = |of: fn(&Instant) -> Option<Span>| self.points(|one| of(one).map(Span::as_millis_f64));
        let [latest, smoothed, least] =
            [millis(|one| one.latest), millis(|one| one.smoothed), millis(|one| one.least)];
        let all = || latest.iter().chain(&smoothed).chain(&least).map(|point| point.1);
        let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
        let curves = [
            (!latest.is_empty()).then(|| summed_up("latest".into(), scheme_class(0), &latest)),
            (!smoothed.is_empty()).then(|| thinned("smoothed", scheme_class(1), &smoothed)),
            (!least.is_empty()).then(|| thinned("smallest", scheme_class(2), &least)),
        ];
        let axis = Axis::spread("round trip, ms", [low, high]).holding(low, high);
        strip(axis, curves.into_iter().flatten())
    }

    fn delivery(&self) -> Option<Strip> {
        let rates = self.rates();
        let axis = Axis::linear("acknowledged, Mbit/s").holding(0.0, peak(&rates).1);
        strip(axis, (!rates.is_empty()).then(|| thinned("", scheme_class(0), &rates)))
    }

    fn figure(&self, name: String) -> Option<Figure> {
        let strips: Vec<Strip> =
            [self.windows(), self.round_trips(), self.delivery()].into_iter().flatten().collect();
        let chart = Timeline {
            title: format!("{} over time", self.name),
            end: self.duration_s,
            measured: None,
            strips,
            happenings: self.happenings(),
        };
        if chart.strips.is_empty() {
            return None;
        }
        Some(Figure {
            name,
            title: self.name.clone(),
            note: "A band is the range of what a point sums up. Losses are dated by the sending of the packet.",
            class: None,
            drawing: timeline(&chart),
        })
    }

    fn line(&self) -> TableLine {
        let shown = |value: f64, digits: i32| {
            if value.is_finite() { number::significant(value, digits) } else { "–".into() }
        };
        let window = self.window_greatest_bytes.map_or(f64::NAN, |bytes| bytes as f64 / 1e3);
        let cells = [
            shown(self.duration_s, 4),
            self.packets.to_string(),
            self.losses.to_string(),
            shown(self.delivered_bps / 1e6, 3),
            shown(self.rtt_least_ms, 3),
            shown(self.rtt_mean_ms, 3),
            shown(self.rtt_greatest_ms, 3),
            shown(window, 3),
        ];
        TableLine::new(&self.name, cells.map(Shown::from).into())
    }
}

/// The report.
pub fn document(all: &Connections) -> Document {
    let table = Table {
        corner: "connection".into(),
        columns: vec![
            Column::number("time", "s"),
            Column::number("packets", ""),
            Column::number("lost", ""),
            Column::number("acknowledged", "Mbit/s"),
            Column::number("smallest round trip", "ms"),
            Column::number("mean", "ms"),
            Column::number("greatest", "ms"),
            Column::number("greatest window", "kB"),
        ],
        lines: all.connections.iter().map(Connection::line).collect(),
        linked: false,
    };
    let names: Vec<&str> = all.connections.iter().map(|one| one.name.as_str()).collect();
    let figure = |(place, one): (usize, &Connection)| one.figure(names::figure("over_time", &names, place));
    let figures: Vec<Figure> = all.connections.iter().enumerate().take(MOST).filter_map(figure).collect();
    let left = all.connections.len().saturating_sub(MOST);
    let mut blocks = vec![Block::Table(table)];
    blocks.extend((left > 0).then(|| {
        Block::prose(format!(
            "The {MOST} connections with the most data are drawn; {left} more are in `series/`."
        ))
    }));
    blocks.push(Block::Figures(Layout::Whole, figures));
    let mut sections = vec![Section::new("", blocks)];
    if !all.notes.is_empty() {
        sections.push(Section::new("Notes", all.notes.iter().map(Block::prose).collect()));
    }
    let about = "QUIC connections over time, as the side recorded them that wrote the qlog.";
    Document { title: all.title.clone(), about: about.into(), sections }
}

fn thinned(name: &str, class: String, points: &Points) -> Trace {
    Trace {
        name: name.into(),
        class,
        line: Curve::thinned(points, INTERVALS),
        band: None,
        peak: peak(points),
    }
}

fn strip(axis: Axis, curves: impl IntoIterator<Item = Trace>) -> Option<Strip> {
    let curves: Vec<Trace> = curves.into_iter().collect();
    (!curves.is_empty()).then_some(Strip { axis, curves, levels: Vec::new() })
}

fn millis(trip: Option<Span>) -> f64 {
    trip.map_or(f64::NAN, Span::as_millis_f64)
}

#[cfg(test)]
mod tests {
    use super::super::format::{html, text};
    use super::super::json;
    use super::*;
    use crate::capture::Transfer;
    use crate::capture::qlog::Exchange;
    use crate::predict::Sample;

    /// A second at 8 Mbit/s and 20 ms, with two losses near each other and one apart.
    fn connection(name: &str) -> Connection {
        let rtt = Span::from_millis(20);
        let at = |place: u64| Time(place * 1_000_000);
        let sample = |place| Sample { now: at(place), rtt, window: 1.0, one_way: None, acked: 1 };
        let instant = |place| Instant {
            at: at(place),
            window: Some(20_000 + place),
            in_flight: Some(20_000),
            least: Some(rtt),
            smoothed: Some(rtt),
            latest: Some(rtt),
            delivered: place * 1000,
        };
        let transfer = Transfer {
            samples: (0..=1000).map(sample).collect(),
            losses: vec![at(100), at(101), at(700)],
            packets: 1003,
            bytes: 1_003_000,
            lasted: Span::from_secs(1),
            ..Transfer::default()
        };
        let instants = (0..=1000).map(instant).collect();
        Connection::of(Traced { name: name.into(), transfer, instants, exchange: Exchange::default() })
    }

    #[test]
    fn a_connection_has_its_numbers_and_rates() {
        let one = connection("a");
        assert_eq!((one.delivered_bps, one.window_greatest_bytes, one.losses), (8e6, Some(21_000), 3));
        assert_eq!((one.rtt_least_ms, one.rtt_mean_ms, one.rtt_greatest_ms), (20.0, 20.0, 20.0));
        let rates = one.rates();
        assert_eq!(rates.len(), 50, "an interval is a round trip");
        assert!(rates.iter().all(|(_, rate)| (rate - 8.0).abs() < 0.5), "{rates:?}");
        let told: Vec<String> = one.happenings().into_iter().map(|one| one.name).collect();
        assert_eq!(told, ["2 packets lost", "a packet lost"]);
        assert_eq!(one.records().rows.len(), 1001);
    }

    #[test]
    fn the_page_has_a_figure_for_each_connection_and_keeps_names_text() {
        let all = Connections {
            title: "x.sqlog".into(),
            connections: vec![connection("<a>"), connection("b")],
            notes: Vec::new(),
        };
        let document = document(&all);
        let page = html::render(&document);
        html::tests::check(&page);
        assert!(page.contains("&lt;a&gt;") && !page.contains("<a> over time"));
        assert!(page.matches("congestion window</text>").count() >= 2, "{page}");
        assert!(page.contains(">lost packets</text>"), "the key of the events");
        assert!(text::render(&document).contains("8.00"));
        let json: serde_json::Value = serde_json::from_str(&json::render(&all)).expect("JSON");
        assert_eq!(json["connections"][1]["losses"], 3);
        assert!(json["connections"][0].get("course").is_none());
    }

    #[test]
    fn a_record_without_recovery_is_a_line_of_the_table_alone() {
        let bare = Connection::of(Traced {
            name: "bare".into(),
            transfer: Transfer::default(),
            instants: Vec::new(),
            exchange: Exchange::default(),
        });
        assert!(bare.figure("f".into()).is_none() && bare.rates().is_empty() && bare.happenings().is_empty());
        let all = Connections { title: "x".into(), connections: vec![bare], notes: Vec::new() };
        assert!(text::render(&document(&all)).contains("–"));
        assert!(json::render(&all).contains("\"rtt_mean_ms\": null"));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The registry of metrics: subjects of rows, and the tables of each.
//!
//! Each subject has a file with its counters, the events that change them, and the table of its metrics, so a new metric is one
//! counter and one line there. Sources declare the metrics of their reports themselves.

use std::sync::LazyLock;

use super::{class, crossing, flow, group, lateness, link, mixture, position, run};
use crate::metric::{Course, Metric, Reports, described};
use crate::settings;
use crate::table::Row;
use crate::traffic::{self, Kind};

crate::choice! {
    /// The subject of a row of results. Its axes are the labels of the row.
    pub enum Subject {
        /// The whole run: no label.
        Run = "run",
        /// A measured link.
        Link = "link",
        /// A length of the queue of a link.
        Length = "length",
        /// A group of traffic.
        Group = "group",
        /// A group at one of several measured links.
        Crossing = "crossing",
        /// A position in the queue of the bottleneck, for a group.
        Position = "position",
        /// A class of transfers of a group, by size.
        Class = "class",
        /// A time by which transfers of a group had completed.
        Completion = "completion",
        /// A start-up delay of the live streams of a group.
        Startup = "startup",
        /// A window that packets of a group did not exceed when they were dropped.
        DropWindow = "drop-window",
        /// One flow of a group.
        Flow = "flow",
    }
}

impl Subject {
    /// All subjects except the ones with a row for each flow or each queue length: few enough to keep for every run.
    pub const FEW: [Subject; 9] = [
        Subject::Run,
        Subject::Link,
        Subject::Group,
        Subject::Crossing,
        Subject::Position,
        Subject::Class,
        Subject::Completion,
        Subject::Startup,
        Subject::DropWindow,
    ];

    /// The labels of its rows.
    pub fn axes(self) -> &'static [&'static str] {
        match self {
            Subject::Run => &[],
            Subject::Link => &["link"],
            Subject::Length => &["link", "bin"],
            Subject::Group => &["group"],
            Subject::Crossing => &["group", "link"],
            Subject::Position => &["group", "bin"],
            Subject::Class => &["group", "class"],
            Subject::Completion => &["group", "within"],
            Subject::Startup => &["group", "startup"],
            Subject::DropWindow => &["group", "cwnd"],
            Subject::Flow => &["group", "flow"],
        }
    }

    /// Its description, in a phrase.
    pub fn about(self) -> &'static str {
        <Subject as settings::Setting>::CHOICES[self as usize].1
    }

    /// Its metrics in the order of reports.
    pub fn metrics(self) -> &'static [Metric] {
        static TABLES: LazyLock<Vec<Vec<Metric>>> =
            LazyLock::new(|| Subject::ALL.iter().map(|subject| subject.registered()).collect());
        &TABLES[self as usize]
    }

    /// The definitions of its metrics: the headers of the files of its counters.
    pub fn definitions(self) -> Vec<String> {
        let files = match self {
            Subject::Run => vec![include_str!("run.rs"), include_str!("link.rs")],
            Subject::Link | Subject::Length => vec![include_str!("link.rs")],
            Subject::Group => {
                let reported = REPORTED.iter().map(|(_, reports)| reports.source);
                [include_str!("group.rs")]
                    .into_iter()
                    .chain(reported)
                    .chain([include_str!("mixture.rs")])
                    .collect()
            }
            Subject::Crossing => vec![include_str!("crossing.rs")],
            Subject::Position => vec![include_str!("position.rs")],
            Subject::Class => vec![include_str!("class.rs"), include_str!("slowdown.rs")],
            Subject::Completion => vec![include_str!("group.rs")],
            Subject::Startup => vec![include_str!("lateness.rs")],
            Subject::DropWindow => vec![include_str!("mixture.rs")],
            Subject::Flow => vec![include_str!("flow.rs")],
        };
        let header = |source| settings::Entry { name: "", source, fields: &[], linux: &[] }.header();
        files.into_iter().map(header).collect()
    }

    fn registered(&self) -> Vec<Metric> {
        match self {
            Subject::Run => {
                let of_links = described(link::METRICS).filter(|metric| metric.headline);
                of_links.chain(described(run::METRICS)).collect()
            }
            Subject::Link => described(link::METRICS).collect(),
            Subject::Length => described(link::LENGTHS).collect(),
            Subject::Group => {
                let (transfers, others) = (reported(Kind::opens), reported(|kind| !kind.opens()));
                let own = described(group::METRICS).chain(transfers).chain(described(group::DATAGRAMS));
                let own = own.chain(described(group::ORDER));
                own.chain(others).chain(described(mixture::METRICS)).collect()
            }
            Subject::Crossing => described(crossing::METRICS).collect(),
            Subject::Position => described(position::POSITIONS).collect(),
            Subject::Class => described(class::METRICS).collect(),
            Subject::Completion => described(group::COMPLETIONS).collect(),
            Subject::Startup => described(lateness::METRICS).collect(),
            Subject::DropWindow => described(mixture::DROP_WINDOWS).collect(),
            Subject::Flow => described(flow::METRICS).collect(),
        }
    }

    /// Whether a row belongs to it.
    pub fn has(self, row: &Row) -> bool {
        row.labels.len() == self.axes().len() && self.axes().iter().all(|axis| row.labels.contains_key(*axis))
    }
}

/// Reports of registered sources about their applications.
pub(super) static REPORTED: LazyLock<Vec<(Kind, Reports)>> = LazyLock::new(|| {
    let declared = traffic::sources().map(|(_, _, source)| (source.nature().kind, source.reports()));
    declared.filter(|(_, reports)| !reports.metrics.is_empty()).collect()
});

/// The metrics of the reports of some kinds of sources.
fn reported(of: fn(Kind) -> bool) -> impl Iterator<Item = Metric> {
    let chosen = REPORTED.iter().filter(move |(kind, _)| of(*kind));
    chosen.flat_map(|(_, reports)| described(reports.metrics))
}

/// What series have over time of reports.
pub fn courses() -> impl Iterator<Item = &'static Course> {
    REPORTED.iter().flat_map(|(_, reports)| reports.courses)
}

/// The metrics that every report shows for a scheme, in order.
pub fn headlines() -> impl Iterator<Item = &'static Metric> + Clone {
    Subject::Run.metrics().iter().filter(|metric| metric.headline)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ending of a key for a unit that people read; plain numbers and fractions need none.
    fn ending(unit: &str) -> &str {
        match unit {
            "packets" => "_packets",
            "packets/s" => "_pps",
            "bytes" => "_bytes",
            "s" => "_s",
            "ms" => "_ms",
            "kbit/s" | "Mbit/s" => "_bps",
            "" | "%" => "",
            other => panic!("a metric in {other}: give that unit an ending of keys"),
        }
    }

    #[test]
    fn every_metric_has_a_key_of_its_own_with_its_unit_a_title_and_a_short_name() {
        for &subject in Subject::ALL {
            let mut keys: Vec<&str> = Vec::new();
            assert!(!subject.metrics().is_empty(), "{subject}");
            for Metric { key, title, short, unit, scale, .. } in subject.metrics() {
                assert!(!keys.contains(&key.as_str()), "{subject}: two metrics are called {key}");
                let safe = key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
                assert!(safe, "{subject}: {key} has characters that claims do not read");
                assert!(key.ends_with(ending(unit)), "{subject}: {key} is in {unit}");
                assert!(title.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit()), "{title}");
                assert!(!title.ends_with('.') && !short.is_empty() && *scale > 0.0, "{subject}: {key}");
                keys.push(key);
            }
        }
    }

    #[test]
    fn the_headlines_are_these() {
        let keys: Vec<&str> = headlines().map(|metric| metric.key.as_str()).collect();
        assert_eq!(
            keys.join(" "),
            "queue_mean_packets queue_mean_normalized queueing_delay_mean_ms queueing_delay_p99_ms drop_ratio channel_loss_ratio \
             mark_ratio utilization jain_index flow_goodput_bps"
        );
    }

    #[test]
    fn a_row_is_about_the_subject_of_its_labels() {
        let row = Row::new([("group", "a".into()), ("class", "1kB".into())]);
        let subjects: Vec<&Subject> = Subject::ALL.iter().filter(|subject| subject.has(&row)).collect();
        assert_eq!(subjects, [&Subject::Class]);
    }
}

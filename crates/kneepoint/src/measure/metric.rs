// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Metrics: a key with its unit, a title, and a function of the counters, registered by subject.
//!
//! Each subject has a file with its counters, the events that change them, and the table of its metrics. Rows, reports,
//! CSV, JSON and claims take metrics from these tables, so a new metric is one counter and one line.
//!
//! A distribution of times is declared once and yields a metric per statistic: `rtt` in milliseconds becomes
//! `rtt_mean_ms`, `rtt_p50_ms`, … `rtt_max_ms`.

use std::sync::LazyLock;

use super::distribution::{Recorder, Statistic};
use super::{class, crossing, flow, group, lateness, link, mixture, position, run, viewing};
use crate::settings;
use crate::table::Row;

/// A metric as files and people name it.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// The key in files, with its unit.
    pub key: String,
    /// The title of a figure, or a tooltip.
    pub title: String,
    /// The head of a narrow column.
    pub short: String,
    /// The unit for people; empty for a plain number.
    pub unit: &'static str,
    /// The factor from the unit in files to the unit for people.
    pub scale: f64,
    /// Whether every report shows it, per scheme. Of a link, that of the bottleneck is shown.
    pub headline: bool,
    /// Whether short tables, as in terminals, show it.
    pub brief: bool,
    /// Which of two numbers is better, if one is.
    pub better: Option<Better>,
}

/// Which of two numbers is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The lesser, as of delays.
    Less,
    /// The greater, as of goodput.
    More,
}

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
    /// All subjects but those with a row for each flow or each length of a queue: few enough to keep of every run.
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

    /// What it is, in a phrase.
    pub fn about(self) -> &'static str {
        <Subject as settings::Setting>::CHOICES[self as usize].1
    }

    /// Its metrics in the order of reports.
    pub fn metrics(self) -> &'static [Metric] {
        static TABLES: LazyLock<Vec<Vec<Metric>>> =
            LazyLock::new(|| Subject::ALL.iter().map(|subject| subject.registered()).collect());
        &TABLES[self as usize]
    }

    /// What its metrics count, and when: the headers of the files of its counters.
    pub fn definitions(self) -> Vec<String> {
        let files = match self {
            Subject::Run => vec![include_str!("run.rs"), include_str!("link.rs")],
            Subject::Link | Subject::Length => vec![include_str!("link.rs")],
            Subject::Group => {
                vec![include_str!("group.rs"), include_str!("viewing.rs"), include_str!("mixture.rs")]
            }
            Subject::Crossing => vec![include_str!("crossing.rs")],
            Subject::Position => vec![include_str!("position.rs")],
            Subject::Class => vec![include_str!("class.rs"), include_str!("slowdown.rs")],
            Subject::Completion => vec![include_str!("group.rs")],
            Subject::Startup => vec![include_str!("lateness.rs")],
            Subject::DropWindow => vec![include_str!("mixture.rs")],
            Subject::Flow => vec![include_str!("flow.rs")],
        };
        let header = |source| settings::Entry { name: "", source, fields: &[] }.header();
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
                let own = described(group::METRICS).chain(described(viewing::METRICS));
                own.chain(described(mixture::METRICS)).collect()
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

    /// Whether a row is about it.
    pub fn has(self, row: &Row) -> bool {
        row.labels.len() == self.axes().len() && self.axes().iter().all(|axis| row.labels.contains_key(*axis))
    }
}

/// The metrics that every report shows for a scheme, in order.
pub fn headlines() -> impl Iterator<Item = &'static Metric> + Clone {
    Subject::Run.metrics().iter().filter(|metric| metric.headline)
}

/// The unit for people and the factor to it.
#[derive(Clone, Copy)]
pub(super) struct Unit(&'static str, f64);

pub(super) const PLAIN: Unit = Unit("", 1.0);
pub(super) const PERCENT: Unit = Unit("%", 100.0);
pub(super) const PACKETS: Unit = Unit("packets", 1.0);
pub(super) const PACKET_RATE: Unit = Unit("packets/s", 1.0);
pub(super) const BYTES: Unit = Unit("bytes", 1.0);
pub(super) const SECONDS: Unit = Unit("s", 1.0);
pub(super) const KBIT: Unit = Unit("kbit/s", 1e-3);
pub(super) const MBIT: Unit = Unit("Mbit/s", 1e-6);

/// A line of a subject's table: one metric, or a family of them.
pub(super) struct Entry<T: 'static> {
    key: &'static str,
    title: &'static str,
    short: &'static str,
    unit: Unit,
    of: Of<T>,
    headline: &'static [Statistic],
    brief: &'static [Statistic],
    better: Option<Better>,
}

enum Of<T: 'static> {
    /// A number, NaN where it is undefined.
    Number(fn(&T) -> f64),
    /// The statistics of recorded times, in milliseconds.
    Times(fn(&T) -> &Recorder),
    /// The statistics of recorded thousandths of a packet, in packets.
    Packets(fn(&T) -> &Recorder),
    /// The statistics of recorded thousandths, as plain numbers.
    Ratios(fn(&T) -> &Recorder),
}

/// A metric that is one number.
pub(super) const fn number<T>(
    key: &'static str,
    title: &'static str,
    short: &'static str,
    unit: Unit,
    of: fn(&T) -> f64,
) -> Entry<T> {
    let brief = &[Statistic::Mean];
    Entry { key, title, short, unit, of: Of::Number(of), headline: &[], brief, better: None }
}

/// The metrics of a distribution of times: `key`, the statistic and `ms` make their keys.
pub(super) const fn times<T>(
    key: &'static str,
    title: &'static str,
    short: &'static str,
    of: fn(&T) -> &Recorder,
) -> Entry<T> {
    let brief = &[Statistic::Mean, Statistic::P99];
    Entry { key, title, short, unit: Unit("ms", 1.0), of: Of::Times(of), headline: &[], brief, better: None }
}

/// The metrics of a distribution of packets, recorded in thousandths: `key`, the statistic and `packets` make their keys.
pub(super) const fn packets<T>(
    key: &'static str,
    title: &'static str,
    short: &'static str,
    of: fn(&T) -> &Recorder,
) -> Entry<T> {
    Entry { unit: PACKETS, of: Of::Packets(of), ..times(key, title, short, of) }
}

/// The metrics of a distribution of plain numbers, recorded in thousandths: `key` and the statistic make their keys.
pub(super) const fn ratios<T>(
    key: &'static str,
    title: &'static str,
    short: &'static str,
    of: fn(&T) -> &Recorder,
) -> Entry<T> {
    Entry { unit: PLAIN, of: Of::Ratios(of), ..times(key, title, short, of) }
}

impl<T> Entry<T> {
    /// Shown by every report, per scheme.
    pub(super) const fn headline(self) -> Entry<T> {
        Entry { headline: self.brief, ..self }
    }

    /// The lesser of two numbers is the better one.
    pub(super) const fn less(self) -> Entry<T> {
        Entry { better: Some(Better::Less), ..self }
    }

    /// The greater of two numbers is the better one.
    pub(super) const fn more(self) -> Entry<T> {
        Entry { better: Some(Better::More), ..self }
    }

    /// Left out of short tables.
    pub(super) const fn detail(self) -> Entry<T> {
        Entry { brief: &[], ..self }
    }

    /// The statistics of which there is a metric each; for a single number, that number stands for the mean.
    fn statistics(&self) -> &'static [Statistic] {
        match self.of {
            Of::Number(_) => &[Statistic::Mean],
            Of::Times(_) | Of::Packets(_) | Of::Ratios(_) => Statistic::ALL,
        }
    }

    fn key(&self, statistic: Statistic) -> String {
        match self.of {
            Of::Number(_) => self.key.into(),
            Of::Times(_) => format!("{}_{statistic}_ms", self.key),
            Of::Packets(_) => format!("{}_{statistic}_packets", self.key),
            Of::Ratios(_) => format!("{}_{statistic}", self.key),
        }
    }

    fn describe(&self, statistic: Statistic) -> Metric {
        let (title, short) = match self.of {
            Of::Number(_) => (self.title.into(), self.short.into()),
            Of::Times(_) | Of::Packets(_) | Of::Ratios(_) => {
                (statistic.title(self.title), statistic.short(self.short))
            }
        };
        let Unit(unit, scale) = self.unit;
        let (headline, brief) = (self.headline.contains(&statistic), self.brief.contains(&statistic));
        Metric { key: self.key(statistic), title, short, unit, scale, headline, brief, better: self.better }
    }

    fn value(&self, of: &T, statistic: Statistic) -> f64 {
        match self.of {
            Of::Number(number) => number(of),
            Of::Times(times) => times(of).seconds(statistic) * 1e3,
            Of::Packets(thousandths) | Of::Ratios(thousandths) => thousandths(of).value(statistic) / 1e3,
        }
    }
}

pub(super) fn described<T>(entries: &'static [Entry<T>]) -> impl Iterator<Item = Metric> {
    entries.iter().flat_map(|entry| entry.statistics().iter().map(|statistic| entry.describe(*statistic)))
}

/// A row with the number of every metric of a table.
pub(super) fn fill<T>(row: Row, entries: &[Entry<T>], of: &T) -> Row {
    let each = entries.iter().flat_map(|entry| entry.statistics().iter().map(move |which| (entry, *which)));
    each.fold(row, |row, (entry, which)| row.with(entry.key(which), entry.value(of, which)))
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
             mark_ratio utilization jain_index goodput_bps"
        );
    }

    #[test]
    fn a_row_is_about_the_subject_of_its_labels() {
        let row = Row::new([("group", "a".into()), ("class", "1kB".into())]);
        let subjects: Vec<&Subject> = Subject::ALL.iter().filter(|subject| subject.has(&row)).collect();
        assert_eq!(subjects, [&Subject::Class]);
    }
}

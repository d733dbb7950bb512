// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Metrics: a key with its unit, a title, and a function of counters.
//!
//! A table of entries makes the metrics of its declarer: a file of counters in `measure/`, or a source of traffic for
//! its own reports. Rows, documents, CSV, JSON and claims take metrics from these tables.
//!
//! A distribution of times is declared once and yields a metric per statistic: `rtt` in milliseconds becomes
//! `rtt_mean_ms`, `rtt_p50_ms`, … `rtt_max_ms`.

mod distribution;
mod report;

pub use distribution::{Recorder, Statistic};
pub use report::{Course, Quantity, Report, Reports, Tallies};

use crate::table::{Bounds, Estimate, Row};
use crate::units::Span;

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
    /// Whether every report shows it, per scheme. Of links, the bottleneck's is shown.
    pub headline: bool,
    /// Whether short tables, as in terminals, show it.
    pub brief: bool,
    /// The better direction, if there is one.
    pub better: Option<Better>,
    /// The numbers that it may have, in the unit of files.
    pub bounds: Bounds,
    /// Whether it is zero in a run without its subject, as are the completed transfers of an empty class.
    pub tally: bool,
}

impl Metric {
    /// The confidence interval in the unit of files, within the bounds of the metric.
    pub fn interval(&self, estimate: &Estimate) -> (f64, f64) {
        estimate.within(self.bounds)
    }
}

/// The better direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The lesser, as of delays.
    Less,
    /// The greater, as of goodput.
    More,
}

/// The unit for people, the factor to it, and the numbers that a quantity may have before that factor.
#[derive(Clone, Copy, Debug)]
pub struct Unit(&'static str, f64, Bounds);

/// A plain number.
pub const PLAIN: Unit = Unit("", 1.0, Bounds::POSITIVE);
/// A plain number that is one at most.
pub const INDEX: Unit = Unit("", 1.0, Bounds::FRACTION);
/// A fraction, in percent for people.
pub const PERCENT: Unit = Unit("%", 100.0, Bounds::FRACTION);
/// A ratio that may exceed one, in percent for people.
pub const RATIO: Unit = Unit("%", 100.0, Bounds::POSITIVE);
/// Packets.
pub const PACKETS: Unit = Unit("packets", 1.0, Bounds::POSITIVE);
/// Packets per second.
pub const PACKET_RATE: Unit = Unit("packets/s", 1.0, Bounds::POSITIVE);
/// Bytes.
pub const BYTES: Unit = Unit("bytes", 1.0, Bounds::POSITIVE);
/// Seconds.
pub const SECONDS: Unit = Unit("s", 1.0, Bounds::POSITIVE);
/// Bits per second, in thousands for people.
pub const KBIT: Unit = Unit("kbit/s", 1e-3, Bounds::POSITIVE);
/// Bits per second, in millions for people.
pub const MBIT: Unit = Unit("Mbit/s", 1e-6, Bounds::POSITIVE);

/// A line of a table: one metric, or a family of them.
#[derive(Debug)]
pub struct Entry<T: 'static> {
    key: &'static str,
    title: &'static str,
    short: &'static str,
    unit: Unit,
    of: Of<T>,
    headline: &'static [Statistic],
    brief: &'static [Statistic],
    better: Option<Better>,
    tally: bool,
}

#[derive(Debug)]
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
pub const fn number<T>(
    key: &'static str,
    title: &'static str,
    short: &'static str,
    unit: Unit,
    of: fn(&T) -> f64,
) -> Entry<T> {
    let brief = &[Statistic::Mean];
    Entry { key, title, short, unit, of: Of::Number(of), headline: &[], brief, better: None, tally: false }
}

/// The metrics of a distribution of times: `key`, the statistic and `ms` make their keys.
pub const fn times<T>(
    key: &'static str,
    title: &'static str,
    short: &'static str,
    of: fn(&T) -> &Recorder,
) -> Entry<T> {
    let brief = &[Statistic::Mean, Statistic::P99];
    Entry {
        key,
        title,
        short,
        unit: Unit("ms", 1.0, Bounds::POSITIVE),
        of: Of::Times(of),
        headline: &[],
        brief,
        better: None,
        tally: false,
    }
}

/// The metrics of a distribution of packets, recorded in thousandths: `key`, the statistic and `packets` make their keys.
pub const fn packets<T>(
    key: &'static str,
    title: &'static str,
    short: &'static str,
    of: fn(&T) -> &Recorder,
) -> Entry<T> {
    Entry { unit: PACKETS, of: Of::Packets(of), ..times(key, title, short, of) }
}

/// The metrics of a distribution of plain numbers, recorded in thousandths: `key` and the statistic make their keys.
pub const fn ratios<T>(
    key: &'static str,
    title: &'static str,
    short: &'static str,
    of: fn(&T) -> &Recorder,
) -> Entry<T> {
    Entry { unit: PLAIN, of: Of::Ratios(of), ..times(key, title, short, of) }
}

impl<T> Entry<T> {
    /// Shown by every report, per scheme.
    pub const fn headline(self) -> Entry<T> {
        Entry { headline: self.brief, ..self }
    }

    /// The lesser of two numbers is the better one.
    pub const fn less(self) -> Entry<T> {
        Entry { better: Some(Better::Less), ..self }
    }

    /// The greater of two numbers is the better one.
    pub const fn more(self) -> Entry<T> {
        Entry { better: Some(Better::More), ..self }
    }

    /// Zero in a run without its subject.
    pub const fn tally(self) -> Entry<T> {
        Entry { tally: true, ..self }
    }

    /// Left out of short tables.
    pub const fn detail(self) -> Entry<T> {
        Entry { brief: &[], ..self }
    }

    /// The statistics with a metric each; a single number counts as the mean.
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
        let Unit(unit, scale, bounds) = self.unit;
        let (headline, brief) = (self.headline.contains(&statistic), self.brief.contains(&statistic));
        let (key, better, tally) = (self.key(statistic), self.better, self.tally);
        Metric { key, title, short, unit, scale, headline, brief, better, bounds, tally }
    }

    fn value(&self, of: &T, statistic: Statistic) -> f64 {
        match self.of {
            Of::Number(number) => number(of),
            Of::Times(times) => times(of).seconds(statistic) * 1e3,
            Of::Packets(thousandths) | Of::Ratios(thousandths) => thousandths(of).value(statistic) / 1e3,
        }
    }
}

/// The metrics of a table.
pub fn described<T>(entries: &'static [Entry<T>]) -> impl Iterator<Item = Metric> {
    entries.iter().flat_map(|entry| entry.statistics().iter().map(|statistic| entry.describe(*statistic)))
}

/// A row with the number of every metric of a table.
pub fn fill<T>(row: Row, entries: &[Entry<T>], of: &T) -> Row {
    let each = entries.iter().flat_map(|entry| entry.statistics().iter().map(move |which| (entry, *which)));
    each.fold(row, |row, (entry, which)| row.with(entry.key(which), entry.value(of, which)))
}

/// Bits per second.
pub fn rate_bps(bytes: u64, window: Span) -> f64 {
    8.0 * bytes as f64 / window.as_secs_f64()
}

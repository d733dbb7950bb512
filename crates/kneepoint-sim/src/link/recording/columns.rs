// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Names of columns: a quantity and its unit, as people write them.
//!
//! ```text
//! time_s  Timestamp  duration_ms  rate_kbps  bandwidth_kbps  Throughput (Mbit/s)  Mbps  MB/s  delay_ms  rtt_ms  loss  loss_%
//! ```

use std::ops::RangeInclusive;

/// The contents of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Quantity {
    Time,
    Duration,
    Rate,
    Delay,
    Latency,
    Loss,
}

/// A quantity and the number by which its values are multiplied: to nanoseconds, bit/s, milliseconds or a share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Meaning {
    pub quantity: Quantity,
    pub factor: f64,
}

/// Longest time from the first row, and longest duration, in nanoseconds.
pub(super) const LONGEST: f64 = 1e16;

/// Words for a quantity, and the factor of numbers without a unit, where that is certain.
const QUANTITIES: &[(&[&str], Quantity, Option<f64>)] = &[
    (&["time", "timestamp", "t"], Quantity::Time, Some(1e9)),
    (&["duration"], Quantity::Duration, None),
    (&["rate", "bandwidth", "throughput", "bitrate", "capacity", "bw"], Quantity::Rate, None),
    (&["delay"], Quantity::Delay, None),
    (&["latency", "rtt"], Quantity::Latency, None),
    (&["loss"], Quantity::Loss, Some(1.0)),
];

const TIMES: &[(&[&str], f64)] = &[
    (&["s", "sec", "second", "seconds"], 1e9),
    (&["ms", "msec", "millisecond", "milliseconds"], 1e6),
    (&["us"], 1e3),
    (&["ns"], 1.0),
];

/// `bit/s` and `B/s` have lost their strokes.
const RATES: &[(&[&str], f64)] = &[
    (&["bps", "bits", "bit"], 1.0),
    (&["kbps", "kbits", "kbit"], 1e3),
    (&["mbps", "mbits", "mbit"], 1e6),
    (&["gbps", "gbits", "gbit"], 1e9),
];

/// Only the case of their letter distinguishes bytes from bits.
const BYTES: &[(&[&str], f64)] = &[
    (&["Bps", "Bs", "bytes"], 8.0),
    (&["kBps", "KBps", "kBs", "KBs"], 8e3),
    (&["MBps", "MBs"], 8e6),
    (&["GBps", "GBs"], 8e9),
];

const SHARES: &[(&[&str], f64)] =
    &[(&["percent", "pct"], 0.01), (&["ratio", "fraction", "share", "rate", "probability"], 1.0)];

/// Names that are understood, for remedies.
pub(super) const KNOWN: &[&str] = &[
    "time_s",
    "time_ms",
    "duration_ms",
    "rate_bps",
    "rate_kbps",
    "rate_mbps",
    "bandwidth_kbps",
    "throughput_mbps",
    "delay_ms",
    "latency_ms",
    "rtt_ms",
    "loss",
    "loss_percent",
];

fn factor(units: &[(&[&str], f64)], unit: &str) -> Option<f64> {
    units.iter().find(|(names, _)| names.contains(&unit)).map(|(_, factor)| *factor)
}

fn rate(unit: &str) -> Option<f64> {
    factor(BYTES, unit).or_else(|| factor(RATES, &unit.to_ascii_lowercase()))
}

/// The meaning of a column's name: none if unknown; an error if it lacks a necessary unit.
pub(super) fn meaning(name: &str) -> Result<Option<Meaning>, String> {
    if name.len() > 64 {
        return Ok(None);
    }
    let spelled = name.replace('%', " percent ");
    let words = spelled.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.skip_while(|word| word.eq_ignore_ascii_case("packet")).collect();
    let Some((first, rest)) = words.split_first() else { return Ok(None) };
    let (word, unit) = (first.to_ascii_lowercase(), rest.concat());
    let Some((_, quantity, bare)) = QUANTITIES.iter().find(|(names, ..)| names.contains(&word.as_str()))
    else {
        let alone = rate(&words.concat());
        return Ok(alone.map(|factor| Meaning { quantity: Quantity::Rate, factor }));
    };
    let lower = unit.to_ascii_lowercase();
    let found = match quantity {
        _ if unit.is_empty() => match bare {
            Some(factor) => Some(*factor),
            None => return Err(format!("`{name}` has no unit: write it as in {}", examples(*quantity))),
        },
        Quantity::Time | Quantity::Duration => factor(TIMES, &lower),
        Quantity::Rate => rate(&unit),
        Quantity::Delay | Quantity::Latency => factor(TIMES, &lower).map(|factor| factor / 1e6),
        Quantity::Loss => factor(SHARES, &lower),
    };
    Ok(found.map(|factor| Meaning { quantity: *quantity, factor }))
}

/// Names of a quantity with its units.
pub(super) fn examples(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Time => "`time_s` or `time_ms`",
        Quantity::Duration => "`duration_s` or `duration_ms`",
        Quantity::Rate => "`rate_bps`, `rate_kbps` or `rate_mbps`",
        Quantity::Delay => "`delay_ms`",
        Quantity::Latency => "`latency_ms` or `rtt_ms`",
        Quantity::Loss => "`loss` or `loss_percent`",
    }
}

impl Quantity {
    /// The allowed values, after multiplication, and their description.
    pub fn range(self) -> (RangeInclusive<f64>, &'static str) {
        match self {
            // A time may be a calendar date.
            Quantity::Time => (-1e20..=1e20, "within 3000 years"),
            Quantity::Duration => (0.5..=LONGEST, "1 ns to 10000000 s"),
            Quantity::Rate => (0.0..=1e12, "0 to 1000 Gbit/s"),
            Quantity::Delay | Quantity::Latency => (0.0..=500_000.0, "0 to 500 s"),
            Quantity::Loss => (0.0..=1.0, "0 to 1, or 0 to 100 %"),
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Delivery opportunities at whole milliseconds, as Mahimahi writes them.

use std::fmt;

use super::{lines, shown};
use crate::settings::{List, Raw, Setting};
use crate::units::{Rate, Span, Time};

const NANOS: u64 = 1_000_000;
/// Opportunities of a trace: more than an hour at 13 Mbit/s.
const MOST: usize = 4_000_000;
/// Milliseconds: more than a month.
const LATEST: u64 = 1 << 32;

/// Times in milliseconds that never decrease.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct Times(List<u64>);

impl Times {
    /// The bytes of an opportunity.
    pub const BYTES: u32 = 1500;

    /// One opportunity, at a millisecond.
    pub fn one(milli: u64) -> Times {
        Times(List::one(milli))
    }

    /// Reads the text of a Mahimahi trace: a whole number of milliseconds in each line, in order. The error names the line.
    pub(super) fn parse(text: &str) -> Result<Times, String> {
        let mut times = Vec::new();
        for (number, line) in lines(text) {
            let time = line.trim().parse::<u64>().ok().filter(|time| *time <= LATEST).ok_or_else(|| {
                let shown = shown(line.trim());
                format!("line {number}: `{shown}` is not a whole number of milliseconds from 0 to {LATEST}")
            })?;
            if let Some(last) = times.last().filter(|last| **last > time) {
                return Err(format!("line {number}: {time} comes after {last}: let the times not decrease"));
            }
            times.push(time);
        }
        match times.last() {
            None => Err("the trace is empty: give at least one line with a number of milliseconds".into()),
            Some(0) => {
                Err("the trace ends at 0 ms: let the last time, after which it repeats, be at least 1".into())
            }
            Some(_) => Ok(Times(times.into())),
        }
    }

    /// The opportunities of a link that carries this many bits until an instant, up to `end`, in the first millisecond at which there
    /// are 1500 bytes more. The last is at `end`, where a trace begins again.
    pub fn of(carried: impl Fn(Time) -> f64, end: Span) -> Times {
        let mut times = Vec::new();
        let millis = (end.0 / NANOS).max(1);
        for milli in 1..=millis {
            let opportunities = (carried(Time(milli * NANOS)) / f64::from(8 * Times::BYTES) + 1e-6) as usize;
            times.extend(std::iter::repeat_n(milli, opportunities.saturating_sub(times.len())));
        }
        if times.last() != Some(&millis) {
            times.push(millis);
        }
        Times(times.into())
    }

    /// The milliseconds.
    pub fn values(&self) -> &[u64] {
        self.0.values()
    }

    /// Whether there are few enough, and the last is one after which they can repeat.
    pub fn check(&self) -> Result<(), String> {
        let times = self.values();
        if times.len() > MOST {
            return Err(format!("opportunities: {} are above the {MOST} that are allowed", times.len()));
        }
        match times.last() {
            Some(last) if *last == 0 || *last > LATEST => Err(format!(
                "opportunities end at {last} ms: let the last, after which they repeat, be from 1 ms to {LATEST} ms"
            )),
            _ => Ok(()),
        }
    }

    /// The mean rate of a trace with these opportunities, at least one bit per second.
    pub fn mean(&self) -> Rate {
        let bits = self.values().len() as u128 * u128::from(8 * Times::BYTES) * 1_000_000_000;
        Rate(((bits / u128::from(self.period().0)) as u64).max(1))
    }

    /// Their period.
    pub fn period(&self) -> Span {
        Span(self.values().last().map_or(1, |last| last * NANOS).max(1))
    }

    /// The number from the start of a period to an instant in it, inclusive.
    pub fn until(&self, at: Time) -> usize {
        self.values().partition_point(|time| time * NANOS <= at.0)
    }

    /// The intervals between successive opportunities, including the first of the next repetition.
    pub(super) fn gaps(&self) -> Vec<Span> {
        let times = self.values();
        let within = times.windows(2).map(|two| two[1] - two[0]);
        let across = times.first().copied();
        within.chain(across).filter(|gap| *gap > 0).map(|gap| Span(gap * NANOS)).collect()
    }

    /// In Mahimahi's form: a line for each.
    pub fn to_text(&self) -> String {
        self.values().iter().map(|time| format!("{time}\n")).collect()
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Times {
    /// Reads a list, or a single time.
    pub(super) fn read(raw: &Raw) -> Result<Times, String> {
        let times = List::<u64>::read(raw)?;
        match times.values().windows(2).find(|two| two[0] > two[1]) {
            Some(two) => Err(format!("{} comes after {}: let the times not decrease", two[1], two[0])),
            None => Ok(Times(times)),
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Trace: delivery opportunities of 1500 bytes at recorded times, as Mahimahi replays cellular links.
//!
//! Netravali et al., "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015; Winstein et al., "Stochastic Forecasts
//! Achieve High Throughput and Low Delay over Cellular Networks", NSDI 2013.
//!
//! At each opportunity the link delivers up to 1500 bytes of packets that were offered before it: the rest of a packet begun at
//! an earlier opportunity, then whole packets, then the beginning of one. An opportunity that finds no packet is lost, and so is the
//! rest of one when the queue runs empty. Several opportunities may have one time. After the last the trace begins again,
//! so the last time is the trace's period.

use super::{Capacity, Facts};
use crate::settings::{FilePath, Inline, List, Or, Raw, Setting};
use crate::units::{Interval, Rate, Span, Time};
use std::fmt;

/// The bytes of an opportunity.
const OPPORTUNITY: u32 = 1500;
const NANOS: u64 = 1_000_000;
/// Opportunities of a trace: more than an hour at 13 Mbit/s.
const MOST: usize = 4_000_000;
/// Milliseconds: more than a month.
const LATEST: u64 = 1 << 32;

crate::settings! {
    /// A capacity that follows a trace. The link's `rate` is the mean of the trace, within a tenth.
    pub struct Params {
        /// Times of delivery opportunities of 1500 bytes in milliseconds, as a list or as the text of a Mahimahi trace, one a line.
        opportunities: Times = Times(List::one(1));
        /// The file of a Mahimahi trace to take them from.
        file: Or<FilePath, Inline> = Or::WORD;
    } check |params| {
        let times = params.opportunities.0.values();
        if times.len() > MOST {
            return Err(format!("opportunities: {} are above the {MOST} that are allowed", times.len()));
        }
        match times.last() {
            Some(last) if *last == 0 || *last > LATEST => {
                Err(format!("opportunities end at {last} ms: let the last, after which they repeat, be from 1 ms to {LATEST} ms"))
            }
            _ => Ok(()),
        }
    }
}

/// Times in milliseconds that never decrease.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct Times(List<u64>);

impl Times {
    /// Reads the text of a Mahimahi trace: a whole number of milliseconds in each line, in order. The error names the line.
    pub fn parse(text: &str) -> Result<Times, String> {
        let mut times = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let number = number + 1;
            let time = line.trim().parse::<u64>().ok().filter(|time| *time <= LATEST).ok_or_else(|| {
                let shown: String = line.trim().chars().take(40).collect();
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
}

impl Times {
    /// The mean rate of a trace with these opportunities.
    pub fn mean(&self) -> Rate {
        let times = self.0.values();
        let bits = times.len() as u128 * u128::from(8 * OPPORTUNITY) * 1_000_000_000;
        Rate((bits / u128::from(period(times))) as u64)
    }

    /// The opportunities of a link that carries so many bits until an instant, up to `end`, in the first millisecond at which there
    /// are 1500 bytes more. The last is at `end`, where a trace begins again.
    pub fn of(carried: impl Fn(Time) -> f64, end: Span) -> Times {
        let mut times = Vec::new();
        let millis = (end.0 / NANOS).max(1);
        for milli in 1..=millis {
            let opportunities = (carried(Time(milli * NANOS)) / f64::from(8 * OPPORTUNITY) + 1e-6) as usize;
            times.extend(std::iter::repeat_n(milli, opportunities.saturating_sub(times.len())));
        }
        if times.last() != Some(&millis) {
            times.push(millis);
        }
        Times(times.into())
    }

    /// As Mahimahi writes it: a line for each.
    pub fn to_text(&self) -> String {
        self.0.values().iter().map(|time| format!("{time}\n")).collect()
    }
}

/// Nanoseconds after which a trace repeats.
fn period(times: &[u64]) -> u64 {
    times.last().map_or(1, |last| last * NANOS).max(1)
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}
impl Setting for Times {
    const KIND: &'static str = "list of milliseconds";
    const JSON: &'static [&'static str] = &["integer", "array", "string"];
    fn read(raw: &Raw) -> Result<Times, String> {
        if let Raw::Text(text) = raw {
            return Times::parse(text);
        }
        let times = List::<u64>::read(raw)?;
        match times.values().windows(2).find(|two| two[0] > two[1]) {
            Some(two) => Err(format!("{} comes after {}: let the times not decrease", two[1], two[0])),
            None => Ok(Times(times)),
        }
    }
}

/// A link that delivers at opportunities.
#[derive(Clone, Debug)]
pub struct Trace {
    times: List<u64>,
    /// The number of the next opportunity from the start of the run, counted through all repetitions.
    next: u64,
    /// The opportunity in use, and its bytes that are left.
    current: Time,
    left: u32,
    /// Whether packets have waited since the opportunity in use began.
    busy: bool,
}

impl Trace {
    fn count(&self) -> u64 {
        self.times.values().len() as u64
    }

    fn period(&self) -> u64 {
        period(self.times.values())
    }

    /// When an opportunity occurs.
    fn time(&self, number: u64) -> Time {
        let (cycle, place) = (number / self.count(), number % self.count());
        Time(cycle * self.period() + self.times.values()[place as usize] * NANOS)
    }

    /// The first opportunity after `at`: as many as there are until then, inclusive.
    fn after(&self, at: Time) -> u64 {
        let (cycle, within) = (at.0 / self.period(), at.0 % self.period());
        cycle * self.count() + self.times.values().partition_point(|time| time * NANOS <= within) as u64
    }

    fn take(&mut self) {
        (self.current, self.left) = (self.time(self.next), OPPORTUNITY);
        self.next += 1;
    }
}

impl Capacity for Trace {
    type Params = Params;

    fn new(params: Params, _: Facts) -> Trace {
        Trace { times: params.opportunities.0, next: 0, current: Time::ZERO, left: 0, busy: false }
    }

    fn suits(&self, rate: Rate) -> Result<(), String> {
        let mean = Times(self.times.clone()).mean();
        if rate.0.abs_diff(mean.0) <= mean.0 / 10 {
            return Ok(());
        }
        // In kbit/s, as somebody would write it.
        let shown = Rate(mean.0.next_multiple_of(1000));
        Err(format!("rate, {rate}, is not the mean of the trace within a tenth: let it be {shown}"))
    }

    fn ready(&mut self, now: Time) -> Time {
        if !self.busy {
            (self.busy, self.left) = (true, 0);
            self.next = self.after(now);
        }
        if self.left == 0 {
            self.take();
        }
        self.current
    }

    fn send(&mut self, at: Time, size: u16) -> (Time, Time) {
        let start = self.ready(at);
        let mut size = u32::from(size);
        while size > self.left {
            size -= self.left;
            self.take();
        }
        self.left -= size;
        (start, self.current)
    }

    fn idle(&mut self, _: Time) {
        self.busy = false;
    }

    fn bits(&self, window: Interval) -> f64 {
        // Opportunities before an instant are those until a nanosecond earlier.
        let before = |at: Time| if at.0 == 0 { 0 } else { self.after(Time(at.0 - 1)) };
        f64::from(8 * OPPORTUNITY) * (before(window.to) - before(window.from)) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(text: &str) -> Trace {
        let opportunities = Times::parse(text).unwrap();
        Trace::new(Params { opportunities, ..Params::default() }, Facts::new(None, 1, 0))
    }

    fn ms(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    #[test]
    fn opportunities_carry_the_rest_of_a_packet_then_whole_ones_then_a_beginning() {
        let mut link = trace("2\n5\n5\n9\n");
        // Waiting from the start: 1500 B at 2, and 700 + 700 + the first 100 of the next at 5, the rest at the second 5.
        assert_eq!(link.send(ms(0), 1500), (ms(2), ms(2)));
        assert_eq!(link.send(ms(2), 700), (ms(5), ms(5)));
        assert_eq!(link.send(ms(5), 700), (ms(5), ms(5)));
        assert_eq!(link.send(ms(5), 1600), (ms(5), ms(5)));
        // 2000 B at 9 and, in the next repetition, at 9 + 2.
        assert_eq!(link.send(ms(5), 2000), (ms(9), ms(11)));
        // 1000 bytes are left at 11: a packet of 1200 begins there and ends at 9 + 5.
        assert_eq!(link.send(ms(11), 1200), (ms(11), ms(14)));
    }

    #[test]
    fn an_opportunity_that_finds_no_packet_is_lost_and_so_is_the_rest_of_one() {
        let mut link = trace("2\n5\n9\n");
        link.idle(ms(0));
        assert_eq!(link.send(ms(3), 100), (ms(5), ms(5)));
        link.idle(ms(5));
        // It arrives at the very instant of an opportunity and misses it.
        assert_eq!(link.send(ms(5), 100), (ms(9), ms(9)));
        link.idle(ms(9));
        assert_eq!(link.send(ms(18), 100), (ms(20), ms(20)));
    }

    #[test]
    fn a_window_counts_its_opportunities_through_all_repetitions() {
        let link = trace("0\n2\n2\n4\n");
        let bits = |from, to| link.bits(Interval { from: ms(from), to: ms(to) }) / 12_000.0;
        assert_eq!(bits(0, 4), 3.0);
        assert_eq!(bits(0, 5), 5.0);
        assert_eq!(bits(4, 8), 4.0);
        assert_eq!(Times(link.times.clone()).mean(), Rate(12_000_000));
        assert!(link.suits(Rate::from_mbit(11)).is_ok());
        assert!(link.suits(Rate::from_mbit(10)).unwrap_err().contains("12mbit"));
    }

    #[test]
    fn a_capacity_written_as_a_trace_carries_the_same() {
        // 6 Mbit/s: 1500 bytes every 2 ms; nothing from 7 to 10 ms, and at the end the trace begins again.
        let carried = |at: Time| 6e6 * at.min(ms(7)).as_secs_f64();
        let times = Times::of(carried, Span::from_millis(10));
        assert_eq!(times.to_text(), "2\n4\n6\n10\n");
        assert_eq!(Times::parse(&times.to_text()), Ok(times));
    }

    #[test]
    fn a_wrong_trace_names_its_line() {
        for (text, wrong) in [
            ("1\n2\nx3\n", "line 3: `x3`"),
            ("5\n4\n", "line 2: 4"),
            ("", "empty"),
            ("0\n", "0 ms"),
            ("1\n\n2", "line 2: ``"),
            ("99999999999", "line 1"),
        ] {
            let error = Times::parse(text).unwrap_err();
            assert!(error.contains(wrong), "{error}");
        }
        assert!(Times::parse("1\r\n2\r\n").is_ok());
    }
}

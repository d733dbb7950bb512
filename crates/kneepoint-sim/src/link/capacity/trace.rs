// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Trace: a recorded capacity: delivery opportunities of 1500 bytes, as Mahimahi replays cellular links, or rates over time.
//!
//! Netravali et al., "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015; Winstein et al., "Stochastic Forecasts
//! Achieve High Throughput and Low Delay over Cellular Networks", NSDI 2013.
//!
//! At each opportunity the link delivers up to 1500 bytes of packets that were offered before it: the rest of a packet begun at
//! an earlier opportunity, then whole packets, then the beginning of one. An opportunity that finds no packet is lost, and so is the
//! rest of one when the queue runs empty. Several opportunities may have one time. The trace repeats after the last, so
//! the last time is the trace's period.
//!
//! Rates over time are played as steps that repeat. `knee trace FILE` says what a file is, and its help has all forms.

use super::{Capacity, Facts};
use crate::link::recording::{Course, Recording, Times};
use crate::settings::{FilePath, Inline, Or};
use crate::units::{Interval, Rate, Time};

const NANOS: u64 = 1_000_000;

crate::choice! {
    /// The use of columns that a capacity ignores.
    pub enum Besides {
        /// A trace with delay or loss is a fault.
        Refused = "refused",
        /// Its rate is played alone.
        Ignored = "ignored",
    }
}

crate::settings! {
    /// A capacity that follows a trace. The link's `rate` is the mean of the trace, within a tenth, or `auto`.
    pub struct Params {
        /// Times of delivery opportunities of 1500 bytes in milliseconds, as a list, or the text of a trace file.
        opportunities: Recording = Recording::Opportunities(Times::one(1));
        /// The trace file to take them from: of Mahimahi, or rates over time as text, CSV or JSON, which `knee trace FILE` describes.
        file: Or<FilePath, Inline> = Or::WORD;
        /// Whether delay and loss in the file are ignored: a capacity plays the rate alone.
        besides: Besides = Besides::Refused;
    } check |params| {
        match &params.opportunities {
            Recording::Opportunities(times) => times.check(),
            Recording::Course(course) => match course.besides() {
                [first, ..] if params.besides == Besides::Refused => Err(format!(
                    "the trace has `{}`, which a capacity does not play: write `besides = \"ignored\"` to play its rate alone, and \
                     `delay_steps` or `[loss]` for the rest",
                    first.name
                )),
                _ => Ok(()),
            },
        }
    }
}

/// A link that follows a recording.
#[derive(Clone, Debug)]
pub enum Trace {
    /// It delivers at opportunities.
    Opportunities(Deliveries),
    /// Its rate changes; a packet in transmission continues at the new rate.
    Course(Rates),
}

/// A link whose rate changes.
#[derive(Clone, Debug)]
pub struct Rates {
    course: Course,
    /// The end of the last packet's transmission, rounded down, and the remaining bit-nanoseconds.
    free: Time,
    left: u128,
}

/// A link that delivers at opportunities.
#[derive(Clone, Debug)]
pub struct Deliveries {
    times: Times,
    /// The number of the next opportunity from the start of the run, counted through all repetitions.
    next: u64,
    /// The opportunity in use, and its bytes that are left.
    current: Time,
    left: u32,
    /// Whether packets have waited since the opportunity in use began.
    busy: bool,
}

impl Capacity for Trace {
    type Params = Params;

    fn new(params: Params, _: Facts) -> Trace {
        match params.opportunities {
            Recording::Opportunities(times) => {
                Trace::Opportunities(Deliveries { times, next: 0, current: Time::ZERO, left: 0, busy: false })
            }
            Recording::Course(course) => Trace::Course(Rates { course, free: Time::ZERO, left: 0 }),
        }
    }

    fn mean(&self) -> Option<Rate> {
        Some(match self {
            Trace::Opportunities(deliveries) => deliveries.times.mean(),
            Trace::Course(rates) => rates.course.mean(),
        })
    }

    fn suits(&self, rate: Rate) -> Result<(), String> {
        let mean = self.mean().unwrap_or(rate);
        if rate.0.abs_diff(mean.0) <= mean.0 / 10 {
            return Ok(());
        }
        // In kbit/s, as written by hand.
        let shown = Rate(mean.0.next_multiple_of(1000));
        Err(format!("rate, {rate}, is not the mean of the trace within a tenth: let it be {shown}"))
    }

    fn ready(&mut self, now: Time) -> Time {
        match self {
            Trace::Opportunities(deliveries) => deliveries.ready(now),
            Trace::Course(..) => now,
        }
    }

    fn send(&mut self, at: Time, size: u16) -> (Time, Time) {
        match self {
            Trace::Opportunities(deliveries) => deliveries.send(at, size),
            Trace::Course(rates) => rates.send(at, size),
        }
    }

    fn idle(&mut self, _: Time) {
        if let Trace::Opportunities(deliveries) = self {
            deliveries.busy = false;
        }
    }

    fn bits(&self, window: Interval) -> f64 {
        match self {
            Trace::Opportunities(deliveries) => deliveries.bits(window),
            Trace::Course(Rates { course, .. }) => {
                (course.carried(window.to) - course.carried(window.from)) as f64 / 1e9
            }
        }
    }
}

impl Rates {
    /// Found at once, not step by step: a slow packet may last for many steps.
    fn send(&mut self, at: Time, size: u16) -> (Time, Time) {
        if at > self.free {
            (self.free, self.left) = (at, 0);
        }
        let start = self.free;
        let work = self.left + u128::from(size) * 8 * 1_000_000_000;
        (self.free, self.left) = self.course.reached(self.course.carried(start) + work);
        (start, self.free)
    }
}

impl Deliveries {
    fn count(&self) -> u64 {
        self.times.values().len() as u64
    }

    fn period(&self) -> u64 {
        self.times.period().0
    }

    /// The time of an opportunity.
    fn time(&self, number: u64) -> Time {
        let (cycle, place) = (number / self.count(), number % self.count());
        Time(cycle * self.period() + self.times.values()[place as usize] * NANOS)
    }

    /// The first opportunity after `at`: as many as there are until then, inclusive.
    fn after(&self, at: Time) -> u64 {
        let (cycle, within) = (at.0 / self.period(), at.0 % self.period());
        cycle * self.count() + self.times.until(Time(within)) as u64
    }

    fn take(&mut self) {
        (self.current, self.left) = (self.time(self.next), Times::BYTES);
        self.next += 1;
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

    fn bits(&self, window: Interval) -> f64 {
        // Opportunities before an instant are counted until a nanosecond earlier.
        let before = |at: Time| if at.0 == 0 { 0 } else { self.after(Time(at.0 - 1)) };
        f64::from(8 * Times::BYTES) * (before(window.to) - before(window.from)) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::recording;

    fn trace(text: &str) -> Trace {
        let opportunities = recording::read(text).unwrap().recording;
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
        assert_eq!(link.mean(), Some(Rate(12_000_000)));
        assert!(link.suits(Rate::from_mbit(11)).is_ok());
        assert!(link.suits(Rate::from_mbit(10)).unwrap_err().contains("12mbit"));
    }

    #[test]
    fn rates_over_time_are_played_as_steps_that_repeat() {
        use crate::link::capacity::steps;
        use crate::settings::Timed;
        use crate::units::Span;

        let mut link = trace("time_ms,rate_kbps\n100,1000\n104,0\n109,500\n114,2000\n");
        let step = |at, kbit: u64| Timed { at: Span::from_millis(at), value: Rate(kbit * 1000) };
        let rates = vec![step(0, 1000), step(4, 0), step(9, 500), step(14, 2000)].into();
        let params = steps::Params { rates, period: Or::is(Span::from_millis(19)) };
        let mut steps = steps::Steps::new(params, Facts::new(None, 1, 0));
        for at in [0, 3, 12, 40, 41, 55, 100, 300] {
            assert_eq!(link.send(ms(at), 700), steps.send(ms(at), 700), "at {at} ms");
            for to in [at, at + 7, 2 * at + 40] {
                let window = Interval { from: ms(at), to: ms(to) };
                assert_eq!(link.bits(window), steps.bits(window), "{window}");
            }
        }
        // 4 ms of 1 Mbit/s, 5 of 500 kbit/s and 5 of 2 Mbit/s in 19 ms.
        assert_eq!(link.mean(), Some(Rate(868_421)));
    }
}

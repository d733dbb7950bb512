// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Responses: the laws of routers, applied to the queueing delay that an end host estimates.
//!
//! An estimate of queueing delay goes in with each sample, the probability of an early response comes out. The
//! equations are those of a [`law`](crate::law); a response adds parameters in units of time and the clock of the host.
//! [`Pert`](super::pert::Pert) holds the rest: the signal, the window, once per round trip.
//!
//! To add one: write `response/NAME.rs` like `response/pi.rs`, its `pub mod` below, and its line in the registry of
//! [`cc`](super).

pub mod codel;
pub mod pi;
pub mod pie;
pub mod red;
pub mod rem;

use crate::law::Law;
use crate::settings::Settings;
use crate::units::{Span, Time};

/// From queueing delay to the probability of an early response.
pub trait Response: Clone + PartialEq + core::fmt::Debug {
    /// Its parameters; a scenario sets them along with PERT's.
    type Params: Settings + PartialEq;

    /// Whether PERT responds in slow start too, unless a scenario says otherwise. A router treats packets of
    /// slow start like any others, and an integrator without effect winds up.
    const IN_SLOW_START: bool = true;

    /// A response without delays so far.
    fn new(params: &Self::Params) -> Self;
    /// The probability where it changes now that the queueing delay is estimated again; zero before.
    fn probability(&mut self, queueing: Span, now: Time) -> Option<f64>;
}

/// A clock for responses that are computed at regular intervals, as by a router's timer.
///
/// It is read at acknowledgements and counts the ticks since. A tick sees the estimate before the acknowledgement,
/// the latest when it was due. After a second without acknowledgements the clock stops, since there is no
/// information.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    period: Span,
    next: Time,
}

impl Clock {
    const PATIENCE: Span = Span::from_secs(1);

    /// A clock that begins at the first reading.
    pub fn new(period: Span) -> Clock {
        Clock { period, next: Time::NEVER }
    }

    /// The ticks up to `now` since the last reading.
    #[inline]
    pub fn ticks(&mut self, now: Time) -> u64 {
        if self.next == Time::NEVER {
            self.next = now + self.period;
        }
        if now < self.next {
            return 0;
        }
        let missed = 1 + now.since(self.next).0 / self.period.0;
        self.next += Span(self.period.0 * missed);
        missed.min(Clock::PATIENCE.0.div_ceil(self.period.0))
    }
}

/// A law that samples the queueing delay at even intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct Clocked<L> {
    clock: Clock,
    law: L,
    /// The latest estimate, in seconds.
    delay: f64,
}

impl<L: Law> Clocked<L> {
    fn every(period: Span, law: L) -> Clocked<L> {
        Clocked { clock: Clock::new(period), law, delay: 0.0 }
    }

    #[inline]
    fn hear(&mut self, queueing: Span, now: Time) -> Option<f64> {
        let ticks = self.clock.ticks(now);
        for _ in 0..ticks {
            self.law.sample(self.delay, now);
        }
        self.delay = queueing.as_secs_f64();
        (ticks > 0).then(|| self.law.probability())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// The probability after each of `delays`, one every `gap` from the start.
    pub fn follow<R: Response>(
        response: &mut R,
        gap: Span,
        delays: impl IntoIterator<Item = Span>,
    ) -> Vec<f64> {
        let (mut now, mut probability) = (Time::ZERO, 0.0);
        let step = |delay| {
            probability = response.probability(delay, now).unwrap_or(probability);
            now += gap;
            probability
        };
        delays.into_iter().map(step).collect()
    }

    #[test]
    fn a_clock_ticks_as_often_as_its_period_passed_and_keeps_its_phase() {
        let mut clock = Clock::new(Span::from_millis(6));
        let at = |millis| Span::from_millis(millis).after_start();
        assert_eq!([clock.ticks(at(10)), clock.ticks(at(15)), clock.ticks(at(16))], [0, 0, 1]);
        assert_eq!([clock.ticks(at(29)), clock.ticks(at(33)), clock.ticks(at(34))], [2, 0, 1]);
    }

    #[test]
    fn a_clock_forgets_all_but_a_second_of_silence() {
        let mut clock = Clock::new(Span::from_millis(6));
        clock.ticks(Time::ZERO);
        // 600 ticks in an hour's last 3.6 seconds; a second holds 166 and two thirds.
        assert_eq!(clock.ticks(Span::from_secs(3600).after_start()), 167);
        assert_eq!(clock.ticks(Span::from_secs(3600).after_start()), 0);
        let mut slow = Clock::new(Span::from_secs(5));
        slow.ticks(Time::ZERO);
        assert_eq!(slow.ticks(Span::from_secs(5).after_start()), 1);
    }
}

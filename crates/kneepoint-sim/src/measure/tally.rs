// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tally: an amount between one sampling instant and the next.
//!
//! A run reports some events ahead of their time: a drop-tail link can compute a packet's transmission when it arrives.
//! Events beyond the next instant wait here until it has passed.

use std::collections::VecDeque;

use crate::units::{Interval, Span, Time};

/// An amount that restarts at each sampling instant. An event at an instant belongs to the interval that begins
/// there.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// The next sampling instant.
    ends: Time,
    now: u64,
    /// Events beyond that instant, in order of time.
    later: VecDeque<(Interval, u64)>,
}

impl Tally {
    /// A tally whose first interval ends then.
    pub(super) fn until(ends: Time) -> Tally {
        Tally { ends, ..Tally::default() }
    }

    /// This much at one instant. Calls come in the order of their times.
    #[inline]
    pub(super) fn count(&mut self, at: Time, amount: u64) {
        self.spread(Interval { from: at, to: at }, amount);
    }

    /// This amount, spread evenly over an interval that begins at the end of the last one, or later.
    #[inline]
    pub(super) fn spread(&mut self, over: Interval, amount: u64) {
        if over.from >= self.ends {
            self.later.push_back((over, amount));
        } else if over.to <= self.ends {
            self.now += amount;
        } else {
            let inside = u128::from(self.ends.since(over.from).0);
            let part = (u128::from(amount) * inside / u128::from(over.span().0)) as u64;
            self.now += part;
            self.later.push_front((Interval { from: self.ends, to: over.to }, amount - part));
        }
    }

    /// The amount until `now`, a sampling instant. The next one is `ends`.
    pub(super) fn turn(&mut self, now: Time, ends: Time) -> u64 {
        self.reach(now);
        let amount = std::mem::take(&mut self.now);
        self.reach(ends);
        amount
    }

    /// Extends the counted interval.
    fn reach(&mut self, ends: Time) {
        self.ends = ends;
        while let Some((over, amount)) = self.later.pop_front_if(|(over, _)| over.from < ends) {
            self.spread(over, amount);
        }
    }
}

/// An amount that restarts at each sampling instant, of events in any order: of several flows, each of which may be ahead of the
/// others.
#[derive(Clone, Debug)]
pub(super) struct Ahead {
    /// From one sampling instant to the next.
    step: Span,
    /// The next sampling instant.
    ends: Time,
    now: u64,
    /// The amounts of the intervals that begin at that instant and those after it.
    later: VecDeque<u64>,
}

impl Ahead {
    /// An amount requested every `step`.
    pub(super) fn new(step: Span) -> Ahead {
        Ahead { step, ends: step.after_start(), now: 0, later: VecDeque::new() }
    }

    /// This much at one instant of this interval or of a later one.
    #[inline]
    pub(super) fn count(&mut self, at: Time, amount: u64) {
        if at < self.ends {
            self.now += amount;
            return;
        }
        let place = (at.since(self.ends).0 / self.step.0.max(1)) as usize;
        if place >= self.later.len() {
            self.later.resize(place + 1, 0);
        }
        self.later[place] += amount;
    }

    /// Returns the amount up to the sampling instant `now`, which may be late, and opens the interval that ends at `ends`.
    pub(super) fn turn(&mut self, now: Time, ends: Time) -> u64 {
        while self.ends < now
            && let Some(amount) = self.later.pop_front()
        {
            self.now += amount;
            self.ends += self.step;
        }
        self.ends = ends;
        std::mem::replace(&mut self.now, self.later.pop_front().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(from: u64, to: u64) -> Interval {
        Interval { from: Time(from), to: Time(to) }
    }

    #[test]
    fn an_event_belongs_to_the_interval_that_it_begins_or_lies_in() {
        let mut tally = Tally::until(Time(10));
        [0, 9, 10, 19, 20, 45].into_iter().for_each(|at| tally.count(Time(at), 1));
        let turns = [10, 20, 30, 40, 50].map(|now| tally.turn(Time(now), Time(now + 10)));
        assert_eq!(turns, [2, 2, 1, 0, 1]);
    }

    #[test]
    fn an_amount_over_several_intervals_is_divided_among_them_and_none_of_it_is_lost() {
        let mut tally = Tally::until(Time(10));
        tally.spread(over(4, 37), 100);
        tally.spread(over(37, 41), 8);
        // 6, 10, 10 and 7 of 33 parts of the hundred, the last interval with 3 of 4 parts of eight.
        let turns = [10, 20, 30, 40, 50].map(|now| tally.turn(Time(now), Time(now + 10)));
        assert_eq!(turns, [18, 30, 30, 22 + 6, 2]);
        assert_eq!(turns.iter().sum::<u64>(), 108);
    }

    #[test]
    fn an_instant_that_comes_late_loses_nothing() {
        let mut tally = Tally::until(Time(10));
        [5, 15, 25, 35].into_iter().for_each(|at| tally.count(Time(at), 1));
        assert_eq!((tally.turn(Time(30), Time(40)), tally.turn(Time(40), Time(50))), (3, 1));
    }
    #[test]
    fn events_in_any_order_belong_to_their_intervals() {
        let mut ahead = Ahead::new(Span(10));
        [25, 3, 45, 10, 19, 9].into_iter().for_each(|at| ahead.count(Time(at), 1));
        let turns = [10, 20, 30].map(|now| ahead.turn(Time(now), Time(now + 10)));
        assert_eq!(turns, [2, 2, 1]);
        [31, 40].into_iter().for_each(|at| ahead.count(Time(at), 1));
        let rest = [40, 50, 60].map(|now| ahead.turn(Time(now), Time(now + 10)));
        assert_eq!(rest, [1, 2, 0]);
    }

    #[test]
    fn events_after_an_instant_that_comes_late_are_not_lost() {
        let mut ahead = Ahead::new(Span(10));
        [5, 12, 25, 35].into_iter().for_each(|at| ahead.count(Time(at), 1));
        assert_eq!((ahead.turn(Time(30), Time(40)), ahead.turn(Time(40), Time(50))), (3, 1));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The clock of a kernel, whose timers expire at its ticks only.
//!
//! ```text
//! A timer that is set for x at time t, n = ⌈x / tick⌉ ticks:
//! n < 63    expires at the end of tick ⌊t⌋ + n                      level 0
//! n < 504   at the next multiple of 8 ticks above ⌊t⌋ + n           level 1
//! and so on: each level is eight times as long and as coarse as the one before
//! ```
//!
//! This is the timer wheel of Linux 4.8 and later (`kernel/time/timer.c`, `calc_index`), which rounds up so that no timer is early.

use crate::units::{Span, Time};

/// The ticks of a kernel on which a script was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    /// The time between two.
    pub every: Span,
    /// The time of a tick.
    pub first: Time,
    /// Its number.
    pub number: u64,
}

/// Ticks that the first level can be ahead.
const AHEAD: u64 = 63;
/// The logarithm of the factor between levels.
const STEP: u32 = 3;
/// Levels beyond the first.
const LEVELS: u32 = 5;

/// The form in which a record gives its kernel's ticks, between the numbers.
const LINE: [&str; 4] =
    ["// The kernel's ticks: every ", " us, the first at ", " us with the number ", " modulo "];

impl Ticks {
    /// The line of a record that gives them.
    pub fn line(self) -> String {
        let [begin, at, with, modulo] = LINE;
        format!("{begin}{}{at}{}{with}{}{modulo}4096.", self.every.0 / 1000, self.first.0 / 1000, self.number)
    }

    /// The ticks of the kernel on which a text was recorded, if it has the line.
    pub fn of(text: &str) -> Option<Ticks> {
        let [begin, at, with, modulo] = LINE;
        let (every, rest) = text.lines().find_map(|line| line.strip_prefix(begin))?.split_once(at)?;
        let (first, rest) = rest.split_once(with)?;
        let (number, _) = rest.split_once(modulo)?;
        let micros = |digits: &str| digits.parse().ok().map(Span::from_micros);
        Some(Ticks { every: micros(every)?, first: Time(micros(first)?.0), number: number.parse().ok()? })
    }

    /// The shift of a clock that makes its ticks whole multiples of their length.
    pub fn until_whole(self) -> Span {
        let every = self.every.0.max(1);
        Span((every - self.first.0 % every) % every)
    }

    /// The tick at or before a time.
    pub fn before(self, at: Time) -> Time {
        let every = self.every.0.max(1);
        Time(at.0 - (at.0 + every - self.first.0 % every) % every)
    }

    /// The ticks of a level: powers of two by which they are longer.
    fn shift(self, ticks: u64) -> u32 {
        STEP * (0..LEVELS).find(|level| ticks < AHEAD << (STEP * level)).unwrap_or(LEVELS)
    }

    /// When a timer may expire that is set at `now` for `wanted`, if the kernel's numbers differ by a tick from the
    /// ones here: a wheel in motion is a tick ahead, and round trips are measured some microseconds apart.
    pub fn bounds(self, now: Time, wanted: Time) -> (Time, Time) {
        let every = self.every.0.max(1);
        let shift = self.shift(wanted.since(now).0.div_ceil(every) + 1);
        let latest = (2 + (2 << shift)) * every;
        (wanted, Time(wanted.0.saturating_add(latest)))
    }

    /// The time at which a timer expires that is set at `now` for `wanted`.
    pub fn expiry(self, now: Time, wanted: Time) -> Time {
        if wanted == Time::NEVER {
            return wanted;
        }
        let every = self.every.0.max(1);
        let ticks = wanted.since(now).0.div_ceil(every);
        let shift = self.shift(ticks);
        // Numbers of ticks count from far before the first, which must have one.
        let base = (self.number + (1 << 32)) as i128;
        let floor = base + (i128::from(now.0) - i128::from(self.first.0)).div_euclid(i128::from(every));
        let due = (((floor + i128::from(ticks)) >> shift) + 1) << shift;
        Time((i128::from(self.first.0) + (due - base) * i128::from(every)).max(0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expiry in milliseconds of a timer set at `now` for this long.
    fn expiry(now: u64, span: u64) -> u64 {
        let ticks = Ticks { every: Span::from_millis(4), first: Time(2_000_000), number: 5 };
        let at = |millis: u64| Time(millis * 1_000_000);
        ticks.expiry(at(now), at(now + span)).0 / 1_000_000
    }

    #[test]
    fn a_timer_is_late_by_one_tick_to_two() {
        // Set within the tick that began at 2 ms: 3 whole ticks later, and one for the tick that had begun.
        assert_eq!((expiry(2, 12), expiry(5, 12), expiry(6, 12)), (18, 18, 22));
        assert_eq!(expiry(2, 9), 18);
    }

    #[test]
    fn timers_that_are_far_away_expire_at_multiples_of_eight_and_of_sixty_four_ticks() {
        // Tick 5 begins at 2 ms. Tick 5 + 63 = 68 is followed by tick 72.
        assert_eq!((expiry(2, 62 * 4), expiry(2, 63 * 4)), (2 + 63 * 4, 2 + (72 - 5) * 4));
        // Tick 5 + 504 = 509 is followed by tick 512 = 8 · 64.
        assert_eq!(expiry(2, 504 * 4), 2 + (512 - 5) * 4);
        // Tick 72 itself: the one after it.
        assert_eq!(expiry(2, 67 * 4), 2 + (80 - 5) * 4);
    }

    #[test]
    fn a_record_says_which_its_ticks_are() {
        let ticks = Ticks { every: Span::from_millis(4), first: Time(2_743_000), number: 1954 };
        assert_eq!(Ticks::of(&format!("// A record.\n{}\n", ticks.line())), Some(ticks));
        assert_eq!(Ticks::of("// The kernel's ticks: every now and then"), None);
    }

    #[test]
    fn no_timer_stays_no_timer() {
        let ticks = Ticks { every: Span::from_millis(4), first: Time::ZERO, number: 0 };
        assert_eq!(ticks.expiry(Time(7), Time::NEVER), Time::NEVER);
    }
}

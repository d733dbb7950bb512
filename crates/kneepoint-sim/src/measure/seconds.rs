// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Counts per second: the mean and the variance of a count over the whole seconds of the window.
//!
//! ```text
//! x̄ = Σx / n     s² = (n·Σx² - (Σx)²) / (n·(n - 1))
//! ```
//!
//! `n` whole seconds, `x` the count of one. Sums of integers are exact, so nothing cancels before the last step.

use crate::units::{Interval, Span, Time};

const SECOND: Span = Span::from_secs(1);

/// A count in each second of a window. Calls come in the order of their times.
#[derive(Clone, Debug)]
pub(super) struct Seconds {
    window: Interval,
    /// The end of the second that is counted now.
    ends: Time,
    now: u64,
    /// Over all whole seconds: the sum, and the sum of squares.
    sum: u64,
    squares: u128,
}

impl Seconds {
    pub(super) fn new(window: Interval) -> Seconds {
        Seconds { window, ends: window.from + SECOND, now: 0, sum: 0, squares: 0 }
    }

    /// Adds to the count of the second around `at`, which is inside the window.
    #[inline]
    pub(super) fn count(&mut self, at: Time, more: u64) {
        if at >= self.ends {
            self.turn(at);
        }
        self.now += more;
    }

    /// Closes the second that was counted; `at` is in the one to be counted next. Those between were idle, and a
    /// zero adds nothing to a sum.
    #[cold]
    fn turn(&mut self, at: Time) {
        let count = std::mem::take(&mut self.now);
        if self.ends <= self.window.to {
            self.sum += count;
            self.squares += u128::from(count) * u128::from(count);
        }
        let begun = at.since(self.window.from).0 / SECOND.0;
        self.ends = self.window.from + Span((begun + 1).saturating_mul(SECOND.0));
    }

    /// The variance, and the variance over the mean, in a window that may have ended early; NaN of fewer than two seconds.
    pub(super) fn finish(mut self, window: Interval) -> (f64, f64) {
        self.window = window;
        self.turn(self.window.to);
        let seconds = self.window.span().0 / SECOND.0;
        if seconds < 2 {
            return (f64::NAN, f64::NAN);
        }
        let sum = u128::from(self.sum);
        let spread = u128::from(seconds).saturating_mul(self.squares).saturating_sub(sum.saturating_mul(sum));
        let (spread, others) = (spread as f64, (seconds - 1) as f64);
        (spread / (seconds as f64 * others), spread / (others * self.sum as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_seconds_count_and_the_part_of_a_second_at_the_end_does_not() {
        let at = |millis| Span::from_millis(millis).after_start();
        let window = Interval { from: at(1000), to: at(5500) };
        let mut seconds = Seconds::new(window);
        for (millis, count) in [(1100, 3), (1900, 1), (2500, 2), (4200, 6), (5100, 99)] {
            seconds.count(at(millis), count);
        }
        // 4, 2, 0 and 6: the mean is 3, the squares of the deviations sum to 20.
        let (variance, over_mean) = seconds.finish(window);
        assert!(
            (variance - 20.0 / 3.0).abs() < 1e-12 && (over_mean - 20.0 / 9.0).abs() < 1e-12,
            "{variance}"
        );
        let brief = Interval { from: at(0), to: at(1900) };
        assert!(Seconds::new(brief).finish(brief).0.is_nan());
    }
}

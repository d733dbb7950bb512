// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The greatest of the recent values, in constant memory.
//!
//! K. Nichols's windowed filter, as BBR's and Copa's hosts use it: the best value, the best since that one, and
//! the best since that. A new best replaces all; a value that has left the window is replaced by the next; and where no
//! better one came for a quarter, or half, of the window, the present value becomes a successor.

/// A value and when it came, in the caller's unit of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Seen {
    at: u64,
    value: f64,
}

/// The greatest value within a window; of negated values, the least.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Greatest {
    best: Option<[Seen; 3]>,
}

impl Greatest {
    /// The greatest value within the window, before the window moved.
    pub fn get(&self) -> Option<f64> {
        self.best.map(|best| best[0].value)
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.best = None;
    }

    /// Learns `value` at `now`; the greatest since `now - window`.
    pub fn update(&mut self, now: u64, window: u64, value: f64) -> f64 {
        let new = Seen { at: now, value };
        let best = match self.best {
            Some(best) if value < best[0].value && now.saturating_sub(best[2].at) <= window => {
                follow(best, new, window)
            }
            _ => [new; 3],
        };
        self.best = Some(best);
        best[0].value
    }
}

fn follow([mut first, mut second, mut third]: [Seen; 3], new: Seen, window: u64) -> [Seen; 3] {
    if new.value >= second.value {
        (second, third) = (new, new);
    } else if new.value >= third.value {
        third = new;
    }
    let age = new.at.saturating_sub(first.at);
    if age > window {
        (first, second, third) = (second, third, new);
        if new.at.saturating_sub(first.at) > window {
            (first, second) = (second, third);
        }
    } else if second.at == first.at && age > window / 4 {
        (second, third) = (new, new);
    } else if third.at == second.at && age > window / 2 {
        third = new;
    }
    [first, second, third]
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::rng::Rng;

    #[test]
    fn a_peak_is_remembered_as_long_as_the_window_and_then_the_next_one_is() {
        let mut filter = Greatest::default();
        for (at, value, greatest) in
            [(0, 9.0, 9.0), (4, 7.0, 9.0), (10, 5.0, 9.0), (11, 5.0, 7.0), (40, 1.0, 1.0)]
        {
            assert_eq!(filter.update(at, 10, value), greatest, "at {at}");
        }
        filter.clear();
        assert_eq!(filter.get(), None);
    }

    #[test]
    fn it_lies_between_the_value_of_now_and_the_greatest_of_the_window() {
        let mut draws = Rng::stream(1, "extreme", 0);
        let mut filter = Greatest::default();
        let mut seen = Vec::new();
        for now in 0..10_000_u64 {
            let value = draws.uniform();
            seen.push(value);
            let exact = seen[now.saturating_sub(20) as usize..].iter().fold(0.0_f64, |a, &b| a.max(b));
            let found = filter.update(now, 20, value);
            assert!(value <= found && found <= exact, "{value} {found} {exact}");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The queueing delay of LEDBAT and LEDBAT++: the least of the last samples less the least of the last minutes.
//!
//! S. Shalunov, G. Hazel, J. Iyengar, M. Kuehlewind, RFC 6817 (2012), §2.4.2, §3.4.
//!
//! ```text
//! current = least of the last `samples` delays
//! base    = least of the minima of the last `minutes` minutes
//! q       = current - base
//! ```

use alloc::vec::Vec;

use crate::units::{Span, Time};

/// The recent delays, and the smallest ones of the last minutes.
#[derive(Clone, Debug)]
pub struct BaseDelay {
    samples: u32,
    minutes: u32,
    /// The last samples, the newest last.
    current: Vec<Span>,
    /// The least sample of each of the last minutes, the newest last.
    base: Vec<Span>,
    /// The minute of the newest.
    minute: u64,
}

/// Appends `sample` and drops all but the last `length`.
fn remember(history: &mut Vec<Span>, sample: Span, length: u32) {
    if history.len() >= length as usize {
        history.remove(0);
    }
    history.push(sample);
}

fn least(history: &[Span]) -> Span {
    history.iter().copied().min().unwrap_or_default()
}

impl BaseDelay {
    /// Without samples.
    pub fn new(samples: u32, minutes: u32) -> BaseDelay {
        BaseDelay { samples, minutes, current: Vec::new(), base: Vec::new(), minute: 0 }
    }

    /// Takes in a delay measured at `now`.
    pub fn observe(&mut self, delay: Span, now: Time) {
        remember(&mut self.current, delay, self.samples);
        let minute = now.0 / Span::from_secs(60).0;
        match self.base.last_mut() {
            Some(newest) if minute == self.minute => *newest = delay.min(*newest),
            _ => remember(&mut self.base, delay, self.minutes),
        }
        self.minute = minute;
    }

    /// The base delay; zero before the first sample.
    pub fn base(&self) -> Span {
        least(&self.base)
    }

    /// q.
    pub fn queueing(&self) -> Span {
        least(&self.current).saturating_sub(self.base())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_delay_is_forgotten_after_its_minutes() {
        let mut delays = BaseDelay::new(2, 3);
        let at = |seconds: u64| Span::from_secs(seconds).after_start();
        delays.observe(Span::from_millis(30), at(0));
        for minute in 0..3 {
            delays.observe(Span::from_millis(50), at(60 * minute + 1));
            delays.observe(Span::from_millis(45), at(60 * minute + 2));
            assert_eq!((delays.base(), delays.queueing()), (Span::from_millis(30), Span::from_millis(15)));
        }
        delays.observe(Span::from_millis(50), at(180));
        assert_eq!((delays.base(), delays.queueing()), (Span::from_millis(45), Span::ZERO));
    }
}

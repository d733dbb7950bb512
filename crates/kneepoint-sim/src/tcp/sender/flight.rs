// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Packets in flight, and the limit on further sending.

use super::{Phase, Sender};
use crate::tcp::{Recovery, Reduced};

impl Sender {
    /// One above the last segment that exists and fits the receiver's window.
    pub(super) fn limit(&self) -> u32 {
        self.total.min(self.una.saturating_add(self.options.max_window))
    }

    /// Packets sent and not known to have left the network, as the window counts them.
    #[inline]
    pub(super) fn outstanding(&self) -> u32 {
        match self.phase {
            _ if self.rack.is_some() => self.rack.as_ref().map_or(0, |rack| rack.pipe()),
            Phase::Recovery if self.scoreboard_guides() => self.pipe,
            Phase::Restart if !self.board.is_empty() => {
                self.next - self.una - self.board.count(self.una..self.next)
            }
            _ => self.next - self.una,
        }
    }

    #[inline]
    pub(super) fn scoreboard_guides(&self) -> bool {
        self.phase == Phase::Recovery && self.options.recovery == Recovery::Sack
    }

    /// Whether the window limits the sender.
    #[inline]
    pub(super) fn window_is_full(&self) -> bool {
        f64::from(self.outstanding()) + 1.0 > self.control.window
    }

    /// Whether pacing holds data back: a window that is spread over the round trip limits the sender although it is
    /// seldom full.
    #[inline]
    pub(super) fn is_paced(&self) -> bool {
        self.control.pacing.is_some() && self.next < self.limit()
    }

    /// Packets by which `newly` acknowledged ones may grow the window, which is not full if `limited`.
    pub(super) fn credit(&mut self, newly: u32, limited: bool) -> f64 {
        let credit = f64::from(newly).min(self.options.growth_per_ack);
        if self.options.rate_limited_increase {
            let (window, threshold) = (self.control.window, self.controller.threshold());
            self.increase.follow(window);
            self.increase.fly(self.outstanding());
            return self.increase.permits(credit, window, threshold.unwrap_or(f64::INFINITY));
        }
        if limited && self.options.window_validation { 0.0 } else { credit }
    }

    /// The base of a reduction: the window as far as the receiver has room for it, or the outstanding packets where
    /// they are fewer.
    pub(super) fn flight(&self) -> f64 {
        let window = self.control.window.min(f64::from(self.options.max_window));
        let sent = f64::from(self.high - self.una);
        if self.options.reduced == Reduced::Window || sent + 1.0 > window { window } else { sent }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cc;
    use crate::tcp::Options;

    /// The base of a reduction at a window of 40 packets, of which this many are outstanding, with a receiver that has
    /// room for 20.
    fn flight(reduced: Reduced, outstanding: u32) -> f64 {
        let options = Options { reduced, max_window: 20, ..Options::default() };
        let mut sender = Sender::new(Arc::new(options), &cc::Config::default(), None);
        sender.control.window = 40.0;
        sender.high = outstanding;
        sender.flight()
    }

    #[test]
    fn a_reduction_starts_from_the_window_in_use_or_from_what_is_outstanding() {
        assert_eq!([5, 20].map(|outstanding| flight(Reduced::Window, outstanding)), [20.0, 20.0]);
        assert_eq!([5, 20].map(|outstanding| flight(Reduced::Outstanding, outstanding)), [5.0, 20.0]);
    }
}

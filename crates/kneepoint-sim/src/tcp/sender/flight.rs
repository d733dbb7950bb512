// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Packets in flight, and what keeps the sender from sending more.

use super::{Phase, Sender};
use crate::tcp::Recovery;

impl Sender {
    /// One above the last segment that there is and that the receiver has room for.
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

    /// Whether the window is what keeps the sender from sending more.
    #[inline]
    pub(super) fn window_is_full(&self) -> bool {
        f64::from(self.outstanding()) + 1.0 > self.control.window
    }

    /// Whether there is data to send and the pace is what holds it back: a window that is spread over the round trip
    /// limits the sender although it is seldom full.
    #[inline]
    pub(super) fn is_paced(&self) -> bool {
        self.control.pacing.is_some() && self.next < self.limit()
    }

    /// Packets that use the path: the window where it is full, else what is outstanding.
    pub(super) fn flight(&self) -> f64 {
        let sent = f64::from(self.high - self.una);
        if sent + 1.0 > self.control.window { self.control.window } else { sent }
    }
}

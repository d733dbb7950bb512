// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The window and threshold that most controllers share, with the growth and the reductions of RFC 5681.

use super::{Ack, Control, Start, Timeout};

/// The least window after a loss (RFC 5681 equation 4).
pub const FLOOR_AFTER_LOSS: f64 = 2.0;

/// A congestion window `W` and its slow-start threshold `S`, in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Packets that may be outstanding.
    pub packets: f64,
    /// Below it the window doubles every round trip.
    pub ssthresh: f64,
}

impl Window {
    /// The window of a fresh connection.
    pub fn new(start: Start) -> Window {
        Window { packets: start.initial_window, ssthresh: start.initial_ssthresh }
    }

    /// Whether the window still doubles every round trip: `W < S`.
    #[inline]
    pub fn slow_start(&self) -> bool {
        self.packets < self.ssthresh
    }

    /// Slow start, then `per_rtt` packets a round trip: `W += acked`, `W += per_rtt · acked / W`.
    #[inline]
    pub fn grow(&mut self, ack: &Ack, per_rtt: f64) {
        if self.slow_start() {
            // Packets beyond the threshold grow the window as congestion avoidance does.
            let doubling = ack.credit.min(self.ssthresh - self.packets);
            self.packets += doubling;
            if ack.credit > doubling {
                self.packets += per_rtt * (ack.credit - doubling) / self.packets;
            }
        } else {
            self.packets += per_rtt * ack.credit / self.packets;
        }
    }

    /// Continues from `packets`, in congestion avoidance; never from more than before, or two.
    #[inline]
    pub fn reduce_to(&mut self, packets: f64) {
        self.packets = packets.min(self.packets).max(FLOOR_AFTER_LOSS);
        self.ssthresh = self.packets;
    }

    /// Starts over from one packet, and doubles up to `ssthresh`; where the loss was reported before, up to what that left.
    #[inline]
    pub fn restart(&mut self, timeout: &Timeout, ssthresh: f64) {
        if !timeout.reported {
            self.ssthresh = ssthresh;
        }
        self.ssthresh = self.ssthresh.max(FLOOR_AFTER_LOSS);
        self.packets = 1.0;
    }

    /// This window, unpaced.
    #[inline]
    pub fn control(&self) -> Control {
        Control { window: self.packets.max(1.0), pacing: None }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The window and threshold that most controllers share, with the growth and the reductions of RFC 5681.

use alloc::boxed::Box;

use super::startup::Startup;
use super::{Ack, Control, Start, Timeout};

/// The least window after a loss (RFC 5681 equation 4).
pub const FLOOR_AFTER_LOSS: f64 = 2.0;

/// A congestion window `W` and its slow-start threshold `S`, in packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Packets that may be outstanding.
    pub packets: f64,
    /// Below it the window doubles every round trip.
    pub ssthresh: f64,
    /// What may end slow start before a loss; consulted below the threshold only.
    startup: Option<Box<Startup>>,
}

impl Window {
    /// The window of a fresh connection.
    pub fn new(start: Start) -> Window {
        Window {
            packets: start.initial_window,
            ssthresh: start.initial_ssthresh,
            startup: Startup::of(&start),
        }
    }

    /// Whether the window still doubles every round trip: `W < S`.
    #[inline]
    pub fn slow_start(&self) -> bool {
        self.packets < self.ssthresh
    }

    /// Slow start, then `per_rtt` packets a round trip: `W += acked`, `W += per_rtt · acked / W`.
    #[inline]
    pub fn grow(&mut self, ack: &Ack, per_rtt: f64) {
        let mut beyond = ack.credit;
        if self.slow_start() {
            let haste = self.haste(ack);
            let growth = (haste * ack.credit).min(self.ssthresh - self.packets);
            self.packets += growth;
            // Packets beyond the threshold grow the window as congestion avoidance does.
            beyond -= growth / haste;
        }
        self.packets += per_rtt * beyond / self.packets;
    }

    /// The fraction of doubling by which slow start grows the window now; where it is over, the threshold falls.
    #[inline]
    fn haste(&mut self, ack: &Ack) -> f64 {
        let Some(startup) = &mut self.startup else { return 1.0 };
        startup.haste(ack, self.packets).unwrap_or_else(|| {
            self.ssthresh = self.packets;
            1.0
        })
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
        if let Some(startup) = &mut self.startup {
            startup.restart();
        }
    }

    /// This window, unpaced.
    #[inline]
    pub fn control(&self) -> Control {
        Control { window: self.packets.max(1.0), pacing: None }
    }
}

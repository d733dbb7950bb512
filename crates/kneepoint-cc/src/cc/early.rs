// SPDX-License-Identifier: Apache-2.0 OR MIT
//! When a sender may respond early: once per round trip, and not while it responds to losses.
//!
//! S. Bhandarkar, A. L. N. Reddy, Y. Zhang, D. Loguinov, "Emulating AQM from End Hosts", SIGCOMM 2007, §3.
//!
//! "Since the impact of response may not be seen until after an RTT, we limit the early response to once per RTT": the first
//! packet that shows the impact is the first one sent after the response. It is a marker, and the next response waits
//! until it is acknowledged, as ns-2 waits after a mark of ECN.

use super::Ack;

crate::settings! {
    /// The conditions of an early response.
    pub struct Params {
        /// Wait between early responses until a packet that was sent after the last is acknowledged.
        once_per_round_trip: bool = true;
        /// Count a loss, and the end of its repair, as a response that the next must wait for.
        loss_counts: bool = true;
    }
}

/// The state between early responses.
#[derive(Clone, Copy, Debug)]
pub struct Early {
    /// The next response waits until this packet is acknowledged.
    marker: u64,
    responses: u32,
    recovering: bool,
    in_slow_start: bool,
    once_per_round_trip: bool,
    loss_counts: bool,
}

impl Early {
    /// Free to respond, in slow start too if `in_slow_start`.
    pub fn new(params: &Params, in_slow_start: bool) -> Early {
        let Params { once_per_round_trip, loss_counts } = *params;
        Early { marker: 0, responses: 0, recovering: false, in_slow_start, once_per_round_trip, loss_counts }
    }

    /// An acknowledgement arrived; it may be the end of a repair.
    #[inline]
    pub fn hear(&mut self, ack: &Ack) {
        if self.recovering && !ack.recovering {
            self.lost(ack.next);
        }
        self.recovering = ack.recovering;
    }

    /// Whether nothing forbids a response to the acknowledgement just heard.
    #[inline]
    pub fn allowed(&self, ack: &Ack, slow_start: bool) -> bool {
        !ack.recovering
            && (ack.una > self.marker || !self.once_per_round_trip)
            && (self.in_slow_start || !slow_start)
    }

    /// A response was made; `next` is the next packet never sent so far.
    pub fn responded(&mut self, next: u64) {
        self.marker = next;
        self.responses += 1;
    }

    /// Packets were lost; `next` is the next packet never sent so far.
    pub fn lost(&mut self, next: u64) {
        if self.loss_counts {
            self.marker = next;
        }
    }

    /// Responses so far.
    pub fn responses(&self) -> u64 {
        u64::from(self.responses)
    }
}

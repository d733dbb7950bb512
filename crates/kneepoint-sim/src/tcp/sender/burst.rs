// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Packets that a paced sender sends together.
//!
//! ```text
//! burst = max(2, floor(rate · time)) packets, then a pause for all of them
//! ```
//!
//! Linux hands its device segments of a millisecond of the pacing rate, two packets at least (tcp_tso_autosize,
//! `sk_pacing_shift`), and paces segments, not packets. A burst that the window cuts short is over.

use super::Sender;
use crate::units::{PacketRate, Time};

impl Sender {
    /// A packet leaves: it is one of the burst, or the first of the next.
    #[inline]
    pub(super) fn take_from_burst(&mut self, now: Time, rate: PacketRate) {
        if self.burst > 0 {
            self.burst -= 1;
        } else if self.options.burst.0 > 0 && self.pace <= now {
            let packets = rate.0 * self.options.burst.as_secs_f64();
            self.burst = (packets as u32).max(2) - 1;
        }
    }
}

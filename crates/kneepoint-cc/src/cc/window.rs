// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The window and threshold that most controllers share, with the growth and the reductions of RFC 5681.
//!
//! Linux has whole packets: in avoidance the window gains one when it has counted as many acknowledged as the window has
//! (tcp_cong_avoid_ai), and reductions are rounded down. The difference is a packet, but a packet more at a full queue is a
//! packet lost: alone on a drop-tail link, the window so counted gains its next packet just before it hears of the loss
//! that the one before had caused, and loses two where the fractional window loses one or two.

use alloc::boxed::Box;

use super::startup::Startup;
use super::{Ack, Control, Sizes, Start, Timeout, Version};

/// The least window after a loss (RFC 5681 equation 4).
pub const FLOOR_AFTER_LOSS: f64 = 2.0;

/// Packets acknowledged towards the next one that a window gains (Linux's `snd_cwnd_cnt`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally(f64);

impl Tally {
    /// The whole packets that a window gains with `acked` more acknowledged, one for each `each`.
    #[inline]
    pub fn gained(&mut self, acked: f64, each: f64) -> f64 {
        // What had gathered while more were needed is worth one packet.
        let gathered = if self.0 >= each { 1.0 } else { 0.0 };
        let acked = acked + self.0 * (1.0 - gathered);
        let gained = libm::floor(acked / each);
        self.0 = acked - gained * each;
        gathered + gained
    }
}

/// A congestion window `W` and its slow-start threshold `S`, in packets.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Packets that may be outstanding.
    pub packets: f64,
    /// Below it the window doubles every round trip.
    pub ssthresh: f64,
    extra: Option<Box<Extra>>,
}

/// What a window that doubles and then avoids does not have.
#[derive(Clone, Debug, PartialEq)]
struct Extra {
    /// The count of a window of whole packets.
    tally: Option<Tally>,
    /// What may end slow start before a loss.
    startup: Option<Startup>,
}

impl Window {
    /// The window of a fresh connection.
    pub fn new(start: Start) -> Window {
        let tally = (start.version == Version::Linux).then(Tally::default);
        let startup = Startup::of(&start);
        let extra = tally.is_some() || startup.is_some();
        Window {
            packets: start.initial_window,
            ssthresh: start.initial_ssthresh,
            extra: extra.then(|| Box::new(Extra { tally, startup })),
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
        if self.slow_start() || self.extra.is_some() {
            self.grow_otherwise(ack, per_rtt);
        } else {
            self.packets += per_rtt * ack.credit / self.packets;
        }
    }

    /// As [`grow`](Window::grow), with `credit` packets in place of the acknowledgement's.
    #[inline]
    pub fn grow_by(&mut self, credit: f64, ack: &Ack, per_rtt: f64) {
        if self.slow_start() || self.extra.is_some() {
            self.grow_otherwise(&Ack { credit, ..*ack }, per_rtt);
        } else {
            self.packets += per_rtt * credit / self.packets;
        }
    }

    /// Slow start and whole packets, apart from plain avoidance, whose registers they would take.
    #[inline(never)]
    fn grow_otherwise(&mut self, ack: &Ack, per_rtt: f64) {
        let mut beyond = ack.credit;
        if self.slow_start() {
            let haste = self.haste(ack);
            let growth = (haste * ack.credit).min(self.ssthresh - self.packets);
            self.packets += growth;
            // Packets beyond the threshold grow the window as congestion avoidance does.
            beyond -= growth / haste;
        }
        let each = self.packets / per_rtt;
        self.packets += match self.tally() {
            None => per_rtt * beyond / self.packets,
            Some(_) if per_rtt == 0.0 => 0.0,
            Some(tally) => tally.gained(beyond, each),
        };
    }

    fn tally(&mut self) -> Option<&mut Tally> {
        self.extra.as_mut()?.tally.as_mut()
    }

    /// Whole packets, where the window has them.
    fn whole(&mut self, packets: f64) -> f64 {
        let Some(tally) = self.tally() else { return packets };
        *tally = Tally::default();
        libm::floor(packets)
    }

    fn startup(&mut self) -> Option<&mut Startup> {
        self.extra.as_mut()?.startup.as_mut()
    }

    /// The fraction of doubling by which slow start grows the window now; where it is over, the threshold falls.
    fn haste(&mut self, ack: &Ack) -> f64 {
        let packets = self.packets;
        let Some(startup) = self.startup() else { return 1.0 };
        startup.haste(ack, packets).unwrap_or_else(|| {
            self.ssthresh = packets;
            1.0
        })
    }

    /// Continues from `packets`, in congestion avoidance; never from more than before, or two.
    #[inline]
    pub fn reduce_to(&mut self, packets: f64) {
        self.packets = self.whole(packets.min(self.packets)).max(FLOOR_AFTER_LOSS);
        self.ssthresh = self.packets;
    }

    /// Starts over from one packet, and doubles up to `ssthresh`; where the loss was reported before, up to what that left.
    #[inline]
    pub fn restart(&mut self, timeout: &Timeout, ssthresh: f64) {
        if !timeout.reported {
            self.ssthresh = self.whole(ssthresh);
        }
        self.ssthresh = self.ssthresh.max(FLOOR_AFTER_LOSS);
        self.packets = 1.0;
        if let Some(startup) = self.startup() {
            startup.restart();
        }
    }

    /// Window and threshold, for the host to set.
    pub fn sizes(&mut self) -> Sizes<'_> {
        Sizes { window: &mut self.packets, threshold: &mut self.ssthresh }
    }

    /// This window, unpaced.
    #[inline]
    pub fn control(&self) -> Control {
        Control { window: self.packets.max(1.0), pacing: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_gains_a_packet_for_each_window_acknowledged() {
        let mut tally = Tally::default();
        let gains: [f64; 5] = core::array::from_fn(|_| tally.gained(2.0, 3.0));
        assert_eq!(gains, [0.0, 1.0, 1.0, 0.0, 1.0]);
        // Five of six had gathered; where three are enough they are worth one packet, and the count begins anew.
        let mut full = Tally(5.0);
        assert_eq!((full.gained(1.0, 3.0), full), (1.0, Tally(1.0)));
    }
}

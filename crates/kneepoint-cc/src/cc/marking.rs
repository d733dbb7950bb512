// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The fraction of packets that arrive marked, averaged over windows of data.
//!
//! RFC 8257 §3.3.
//!
//! ```text
//! M = marked / arrived in a window;  alpha <- (1 - g) alpha + g M
//! a window is over when a packet is acknowledged that was not yet sent when it began
//! ```
//!
//! Reading: packets that arrived count, in order or not (the RFC counts bytes acknowledged in order).

use alloc::vec::Vec;

use super::Ack;

/// The average, and the window that is being counted.
#[derive(Clone, Copy, Debug)]
pub struct Marking {
    alpha: f64,
    gain: f64,
    /// Marked packets so far.
    marked: u64,
    /// Packets that had arrived, and marked ones, when the window began.
    began: (u64, u64),
    /// The window is over when this packet is acknowledged.
    last: u64,
}

impl Marking {
    /// An average that begins at `alpha` and gives a new window the weight `gain`.
    pub fn new(alpha: f64, gain: f64) -> Marking {
        Marking { alpha, gain, marked: 0, began: (0, 0), last: 0 }
    }

    /// The averaged fraction of packets that arrive marked.
    #[inline]
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Packets that arrived marked so far.
    pub fn marked(&self) -> u64 {
        self.marked
    }

    /// Counts the marks that an acknowledgement reports.
    #[inline]
    pub fn observe(&mut self, ack: &Ack) {
        self.marked += u64::from(ack.marked);
    }

    /// Whether the window is over with this acknowledgement.
    #[inline]
    pub fn over(&self, ack: &Ack) -> bool {
        ack.una > self.last
    }

    /// A window begins; packets counted before are no part of the average.
    pub fn begin(&mut self, ack: &Ack) {
        self.began = (ack.delivered, self.marked);
        self.last = ack.next;
    }

    /// Takes the window into the average; the next begins.
    pub fn close(&mut self, ack: &Ack) {
        let (arrived, marked) = self.began;
        let arrived = ack.delivered.saturating_sub(arrived);
        if arrived > 0 {
            let fraction = ((self.marked - marked) as f64 / arrived as f64).min(1.0);
            self.alpha += self.gain * (fraction - self.alpha);
        }
        self.begin(ack);
    }

    /// For observers.
    pub fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("alpha", self.alpha), ("marked_packets", self.marked as f64)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    fn ack(una: u64, next: u64, marked: u32) -> Ack {
        Ack {
            now: Time::ZERO,
            rtt: None,
            one_way: None,
            acked: 1,
            delivered: una,
            resent: 0,
            marked,
            credit: 1.0,
            limited: false,
            una,
            next,
            in_flight: (next - una) as u32,
            recovering: false,
        }
    }

    #[test]
    fn two_marks_in_nine_packets_move_the_average_a_sixteenth_of_the_way() {
        let mut marking = Marking::new(0.5, 1.0 / 16.0);
        marking.begin(&ack(0, 8, 0));
        for (una, marked) in [(1, 0), (2, 1), (4, 0), (5, 0), (6, 1), (8, 0)] {
            let ack = ack(una, 16, marked);
            marking.observe(&ack);
            // The eighth packet was sent before the window began: only the ninth ends it.
            assert!(!marking.over(&ack));
        }
        let end = ack(9, 16, 0);
        assert!(marking.over(&end));
        marking.close(&end);
        assert_eq!(marking.alpha(), 0.5 + (2.0 / 9.0 - 0.5) / 16.0);
        assert_eq!(marking.marked(), 2);
        // The next window ends with the first packet sent after the ninth was acknowledged.
        assert!(!marking.over(&ack(16, 24, 0)) && marking.over(&ack(17, 24, 0)));
    }

    #[test]
    fn a_window_in_which_nothing_arrived_says_nothing() {
        let mut marking = Marking::new(0.5, 1.0);
        marking.close(&ack(0, 8, 0));
        assert_eq!(marking.alpha(), 0.5);
    }
}

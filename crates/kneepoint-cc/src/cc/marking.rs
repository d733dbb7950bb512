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
//! In Linux (`tcp_dctcp`), alpha is a whole number A of 1024ths, and each change of it is rounded down:
//!
//! ```text
//! A <- min(A - max(A g, 1) + 1024 g M, 1024);  A below 1 / g fades to 0 at once
//! a window is over when all packets are acknowledged that were sent when it began
//! ```
//!
//! Reading: packets that arrived count, in order or not (the RFC counts bytes acknowledged in order).

use alloc::vec::Vec;

use super::Ack;

/// A whole alpha counts this many to one in Linux (`DCTCP_MAX_ALPHA`).
const PARTS: f64 = 1024.0;

/// The average, and the window that is being counted.
#[derive(Clone, Copy, Debug)]
pub struct Marking {
    alpha: f64,
    gain: f64,
    /// Whether the arithmetic is Linux's.
    linux: bool,
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
        Marking { alpha, gain, linux: false, marked: 0, began: (0, 0), last: 0 }
    }

    /// As [`new`](Marking::new), in the whole numbers of Linux.
    pub fn in_linux(alpha: f64, gain: f64) -> Marking {
        Marking { linux: true, ..Marking::new(libm::floor(alpha * PARTS) / PARTS, gain) }
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

    /// Whether this acknowledgement ends the window.
    #[inline]
    pub fn over(&self, ack: &Ack) -> bool {
        ack.una > self.last || self.linux && ack.una == self.last
    }

    /// A window begins; packets counted before are not part of the average.
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
            self.alpha = if self.linux { self.whole(fraction) } else { self.averaged(fraction) };
        }
        self.begin(ack);
    }

    fn averaged(&self, fraction: f64) -> f64 {
        self.alpha + self.gain * (fraction - self.alpha)
    }

    fn whole(&self, fraction: f64) -> f64 {
        let parts = self.alpha * PARTS;
        let faded = libm::floor(parts * self.gain);
        let kept = if faded > 0.0 { parts - faded } else { 0.0 };
        (kept + libm::floor(PARTS * self.gain * fraction)).min(PARTS) / PARTS
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

    /// A of Linux, at g = 1/16, after a window of this many packets, this many of them marked.
    fn in_linux(parts: f64, arrived: u64, marked: u32) -> f64 {
        let mut marking = Marking::in_linux(parts / PARTS, 1.0 / 16.0);
        marking.begin(&ack(0, arrived, 0));
        let end = ack(arrived, 2 * arrived, marked);
        marking.observe(&end);
        assert!(marking.over(&end), "all that were sent when it began are acknowledged");
        marking.close(&end);
        marking.alpha() * PARTS
    }

    #[test]
    fn in_linux_alpha_is_a_whole_number_of_1024ths() {
        // 500 - 31 + floor(64 · 2 / 9) = 483, where the RFC has 483.0 by chance: 500 · 15 / 16 + 14.2 = 482.97.
        assert_eq!(in_linux(500.0, 9, 2), 483.0);
        // A mark in 65 packets has no effect, one in 64 does.
        assert_eq!([in_linux(160.0, 65, 1), in_linux(160.0, 64, 1)], [150.0, 151.0]);
        // A sixteenth of 15 is not a whole part: all of it fades.
        assert_eq!([in_linux(16.0, 10, 0), in_linux(15.0, 10, 0)], [15.0, 0.0]);
        // 1024 - 64 + 64, and no more.
        assert_eq!(in_linux(1024.0, 10, 10), 1024.0);
    }

    #[test]
    fn a_window_in_which_nothing_arrived_says_nothing() {
        let mut marking = Marking::new(0.5, 1.0);
        marking.close(&ack(0, 8, 0));
        assert_eq!(marking.alpha(), 0.5);
    }
}

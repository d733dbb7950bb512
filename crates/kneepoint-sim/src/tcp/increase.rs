// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The growth of a window that its sender does not fill.
//!
//! M. Welzl, T. Henderson, G. Fairhurst, M. P. Tahiliani, "Increase of the Congestion Window when the Sender Is Rate-Limited",
//! draft-ietf-ccwg-ratelimited-increase, §3.
//!
//! ```text
//! F = most outstanding since the window fell last; at first the initial window
//! W grows to no more than 2 F in slow start, and F + 1 after it
//! ```
//!
//! Readings: a window above the limit grows no further, and is not reduced to it. The host can tell only slow start from all other growth.

/// F, and the window by which a reduction is noticed; packets.
#[derive(Clone, Copy, Debug)]
pub struct Increase {
    most: f64,
    window: f64,
}

impl Increase {
    /// A fresh connection.
    pub fn new(initial_window: f64) -> Increase {
        Increase { most: initial_window, window: initial_window }
    }

    /// So many packets are outstanding.
    pub fn fly(&mut self, packets: u32) {
        self.most = self.most.max(f64::from(packets));
    }

    /// The part of `credit` by which a window of `window` packets with this slow-start threshold may grow.
    pub fn permits(&mut self, credit: f64, window: f64, threshold: f64) -> f64 {
        let slow_start = window < threshold;
        let room = if slow_start { 2.0 * self.most } else { self.most + 1.0 } - window;
        if slow_start {
            credit.min(room.max(0.0))
        } else if room > 0.0 {
            credit
        } else {
            0.0
        }
    }

    /// The window is now `window`: if it fell, what was outstanding before says nothing.
    pub fn follow(&mut self, window: f64) {
        if window < self.window {
            self.most = 0.0;
        }
        self.window = window;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The window after so many acknowledgements in slow start, with no more than `flight` outstanding.
    fn acknowledged(increase: &mut Increase, mut window: f64, flight: u32, acknowledgements: u32) -> f64 {
        for _ in 0..acknowledgements {
            increase.fly(flight);
            window += increase.permits(1.0, window, f64::INFINITY);
            increase.follow(window);
        }
        window
    }

    #[test]
    fn ten_packets_and_later_four_leave_a_window_of_twenty() {
        // The example of §3.1: without the rule it would be 24.
        let mut increase = Increase::new(10.0);
        let window = acknowledged(&mut increase, 10.0, 10, 10);
        assert_eq!(window, 20.0);
        assert_eq!(acknowledged(&mut increase, window, 4, 4), 20.0);
    }

    #[test]
    fn in_avoidance_the_window_stops_a_packet_above_what_was_outstanding() {
        let mut increase = Increase::new(10.0);
        increase.fly(30);
        assert_eq!(increase.permits(1.0, 30.9, 20.0), 1.0);
        assert_eq!(increase.permits(1.0, 31.0, 20.0), 0.0);
    }

    #[test]
    fn a_reduction_forgets_what_was_outstanding() {
        let mut increase = Increase::new(10.0);
        increase.fly(40);
        increase.follow(40.0);
        increase.follow(20.0);
        increase.fly(5);
        assert_eq!(increase.permits(1.0, 20.0, 20.0), 0.0);
        increase.fly(20);
        assert_eq!(increase.permits(1.0, 20.0, 20.0), 1.0);
    }
}

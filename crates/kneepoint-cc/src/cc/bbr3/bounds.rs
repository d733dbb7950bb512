// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds on the flight and the rate, learned from losses.
//!
//! draft-ietf-ccwg-bbr-06 §5.3.3.6, §5.5.10: B_lo and I_lo last until the next probe, I_hi until a probe moves it.

/// Upper bounds; infinite without losses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// B_lo, packets per second.
    pub rate_lo: f64,
    /// I_lo and I_hi, packets.
    pub inflight_lo: f64,
    pub inflight_hi: f64,
    /// The growth of I_hi: rounds so far, packets arrived, and packets for which it grows by one.
    rounds: u32,
    arrived: f64,
    step: f64,
}

impl Bounds {
    pub fn new() -> Bounds {
        let none = f64::INFINITY;
        Bounds { rate_lo: none, inflight_lo: none, inflight_hi: none, rounds: 0, arrived: 0.0, step: none }
    }

    /// The short-term bounds are removed.
    pub fn forget(&mut self) {
        (self.rate_lo, self.inflight_lo) = (f64::INFINITY, f64::INFINITY);
    }

    /// No bound decreases.
    pub fn raise(&mut self, was: &Bounds) {
        self.rate_lo = self.rate_lo.max(was.rate_lo);
        self.inflight_lo = self.inflight_lo.max(was.inflight_lo);
        self.inflight_hi = self.inflight_hi.max(was.inflight_hi);
    }

    /// A round with losses yielded `latest`, a rate and a flight; `from` is the bound without losses.
    pub fn lower(&mut self, from: (f64, f64), latest: (f64, f64), beta: f64) {
        let or = |bound: f64, else_from: f64| if bound.is_finite() { bound } else { else_from };
        self.rate_lo = latest.0.max(beta * or(self.rate_lo, from.0));
        self.inflight_lo = latest.1.max(beta * or(self.inflight_lo, from.1));
    }

    /// I_hi less the headroom for other flows.
    pub fn with_headroom(&self, part: f64) -> f64 {
        if self.inflight_hi.is_finite() {
            self.inflight_hi - (part * self.inflight_hi).max(1.0)
        } else {
            f64::INFINITY
        }
    }

    /// I_hi grows slowly at first the next time.
    pub fn calm(&mut self) {
        (self.rounds, self.arrived, self.step) = (0, 0.0, f64::INFINITY);
    }

    /// From this round on I_hi grows twice as fast as in the round before: by 1, 2, 4, … packets.
    pub fn steepen(&mut self, window: f64) {
        self.step = (window / f64::from(1_u32 << self.rounds)).max(1.0);
        self.rounds = (self.rounds + 1).min(30);
    }

    /// This many packets arrived while I_hi was the limit.
    pub fn grow(&mut self, packets: f64) {
        self.arrived += packets;
        let steps = self.arrived / self.step;
        if steps >= 1.0 {
            let steps = libm::floor(steps);
            self.arrived -= steps * self.step;
            self.inflight_hi += steps;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_flight_grows_by_one_two_four_packets_a_round() {
        let mut bounds = Bounds { inflight_hi: 64.0, ..Bounds::new() };
        let gains = [1.0, 2.0, 4.0, 8.0].map(|_| {
            let before = bounds.inflight_hi;
            bounds.steepen(64.0);
            (0..64).for_each(|_| bounds.grow(1.0));
            bounds.inflight_hi - before
        });
        assert_eq!(gains, [1.0, 2.0, 4.0, 8.0]);
    }

    #[test]
    fn losses_leave_what_arrived_or_seven_tenths() {
        let mut bounds = Bounds::new();
        bounds.lower((1000.0, 100.0), (900.0, 50.0), 0.7);
        assert_eq!((bounds.rate_lo, bounds.inflight_lo), (900.0, 70.0));
        bounds.lower((1000.0, 100.0), (100.0, 60.0), 0.7);
        assert_eq!((bounds.rate_lo, bounds.inflight_lo), (630.0, 60.0));
        bounds.forget();
        assert_eq!(bounds.inflight_lo, f64::INFINITY);
    }

    #[test]
    fn headroom_is_fifteen_hundredths_and_a_packet_at_least() {
        let left = |inflight_hi| Bounds { inflight_hi, ..Bounds::new() }.with_headroom(0.15);
        assert_eq!((left(100.0), left(5.0), left(f64::INFINITY)), (85.0, 4.0, f64::INFINITY));
    }
}

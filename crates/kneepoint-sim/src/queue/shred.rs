// SPDX-License-Identifier: Apache-2.0 OR MIT
//! SHRED: RED whose thresholds and probability depend on the sender's window, so that short flows lose less.
//!
//! M. Hartling, M. Claypool, R. Kinicki, "Active Queue Management for Web Traffic", 2002; IPCCC 2004.
//!
//! ```text
//! cavg <- (1 - w) cavg + w cwnd                every arrival with a hint; the first one sets cavg
//! r = cwnd / cavg                              1 without a hint
//! min'   = max - (max - min) r,  within [0, max]
//! max_p' = min(1, max_p r)
//! RED with min', max and max_p' for this packet
//! ```
//!
//! `cwnd cavg` windows in packets; `avg min max max_p` as in RED.
//!
//! Readings: the paper was not at hand. The thesis that introduced PISA gives the directions: a window above the average
//! lowers the minimum threshold and raises the maximum probability, one below the reverse. The equations are the linear ones
//! that are RED's at the average window and never drop early at a window of 0. Each packet has its own minimum, so the
//! count of arrivals since the last drop starts over where an arrival finds no more than one packet waiting, not where the
//! average is below the minimum.

use super::red::{self, Red};
use super::{Arrival, Decision, Discipline, Facts};
use crate::law::sparing::AverageWindow;
use crate::rng::Rng;
use crate::units::Time;

crate::settings! {
    /// SHRED's parameters; zero is automatic where the sentence says so.
    pub struct Params {
        ..red: red::Params;
        /// The weight of an arrival in the average window.
        window_weight: f64 = 0.002, 0.000001..=1.0;
    }
}

/// A SHRED queue's judgement.
#[derive(Clone, Debug)]
pub struct Shred {
    red: Red,
    /// min and max, in the queue's unit.
    thresholds: (f64, f64),
    max_p: f64,
    window: AverageWindow,
}

impl Shred {
    /// r, with the arrival in the average.
    fn ratio(&mut self, window: Option<f64>) -> f64 {
        window.map_or(1.0, |window| {
            self.window.observe(window);
            window / self.window.packets()
        })
    }

    /// min' and max_p' for a packet of this ratio.
    fn curve(&self, ratio: f64) -> (f64, f64) {
        let (min, max) = self.thresholds;
        ((max - (max - min) * ratio).clamp(0.0, max), (self.max_p * ratio).min(1.0))
    }
}

impl Discipline for Shred {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> Shred {
        let red = Red::new(params.red, facts);
        Shred {
            thresholds: red.thresholds(),
            max_p: red.max_p(),
            red,
            window: AverageWindow::new(params.window_weight),
        }
    }

    fn on_arrival(&mut self, arrival: &Arrival, rng: &mut Rng) -> Decision {
        self.red.observe(arrival);
        let ratio = self.ratio(arrival.window());
        let (min, max_p) = self.curve(ratio);
        self.red.set_curve(min, max_p);
        self.red.judge_from(0.0, arrival, rng)
    }

    fn on_idle(&mut self, now: Time) {
        self.red.on_idle(now);
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let mut state = self.red.state();
        state.push(("sender_window_packets", self.window.packets()));
        state
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{arrival, link, packet, packet_of};
    use super::*;

    fn shred() -> Shred {
        let red = red::Params {
            weight: 1.0,
            min_threshold: 5.0,
            max_threshold: 15.0,
            wait: false,
            ..red::Params::default()
        };
        Shred::new(Params { red, ..Params::default() }, link(10, 0.06))
    }

    #[test]
    fn the_ratio_of_the_window_moves_the_minimum_and_the_maximum_probability() {
        let shred = shred();
        for (ratio, min, max_p) in [
            (1.0, 5.0, 0.1),
            (0.5, 10.0, 0.05),
            (0.1, 14.0, 0.01),
            (1.2, 3.0, 0.12),
            (2.0, 0.0, 0.2),
            (20.0, 0.0, 1.0),
        ] {
            let (got_min, got_max_p) = shred.curve(ratio);
            assert!(
                (got_min - min).abs() < 1e-12 && (got_max_p - max_p).abs() < 1e-12,
                "{ratio}: {got_min} {got_max_p}"
            );
        }
    }

    #[test]
    fn the_average_window_has_a_long_memory() {
        let mut shred = shred();
        assert_eq!(shred.ratio(Some(10.0)), 1.0);
        // 0.998 · 10 + 0.002 · 60 = 10.1.
        assert!((shred.ratio(Some(60.0)) - 60.0 / 10.1).abs() < 1e-12);
        assert_eq!(shred.ratio(None), 1.0);
    }

    /// The drops among packets of windows 5 and 15, in turn, at a standing queue, and among packets without a hint.
    fn drops(packets: u32) -> [usize; 3] {
        let (mut shred, mut rng) = (shred(), Rng::stream(1, "shred", 0));
        shred.ratio(Some(10.0));
        let mut drops = |kinds: [crate::packet::Packet; 2]| {
            let mut counts = [0; 2];
            for turn in 0..20_000 {
                let packet = &kinds[turn % 2];
                let decision = shred.on_arrival(&arrival(packet, packets, Time::ZERO), &mut rng);
                counts[turn % 2] += usize::from(decision == Decision::Drop);
            }
            counts
        };
        let [small, large] = drops([packet_of(5.0), packet_of(15.0)]);
        [small, large, drops([packet(), packet()]).iter().sum()]
    }

    #[test]
    fn small_windows_lose_less_than_large_ones() {
        // At 9 packets 5 is below its minimum of 10, 15 has 0.15 · 9 / 15 = 0.09, and no hint 0.1 · 4 / 10 = 0.04.
        let short = drops(9);
        assert!(short[0] == 0 && short[1] > 1500 && (1400..1700).contains(&short[2]), "{short:?}");
        let long = drops(14);
        assert!(long[0] > 300 && long[1] > 2 * long[0], "{long:?}");
        assert_eq!(drops(1), [0; 3]);
    }

    #[test]
    fn the_smallest_window_leaves_a_curve_that_is_a_probability() {
        let (mut shred, mut rng) = (shred(), Rng::stream(1, "shred", 0));
        for window in [1e9, 1e-9, 1e9, f64::MIN_POSITIVE, 1.0] {
            for packets in [0, 5, 15, 29, 1000] {
                shred.on_arrival(&arrival(&packet_of(window), packets, Time::ZERO), &mut rng);
                assert!(
                    shred.state().iter().all(|(_, value)| value.is_finite()),
                    "{window} {:?}",
                    shred.state()
                );
            }
        }
    }
}

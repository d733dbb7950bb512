// SPDX-License-Identifier: Apache-2.0 OR MIT
//! RATCP/REM: RATCP that estimates the price of its path from the fraction of marked packets, and takes the
//! corresponding rate.
//!
//! A. Karnik, A. Kumar, "Performance of TCP Congestion Control With Explicit Rate Feedback", IEEE/ACM ToN 13(1) 2005,
//! §VI, proposes it in words, without an evaluation. S. Athuraliya, V. H. Li, S. H. Low, Q. Yin, "REM: Active Queue
//! Management", IEEE Network 15(3) 2001 (marking); S. H. Low, D. E. Lapsley, "Optimization Flow Control, I", IEEE/ACM
//! ToN 7(6) 1999 (rates and prices).
//!
//! ```text
//! m <- m + (marked / arrived - m) arrived / min(packets so far, N)
//! p  = -log_phi(1 - m)                    price of the path, the sum of its links'
//! r  = argmax w log x - p x = w / p       packets/s; unknown while m < 1/N
//! Wr = D r + delta                        and the window rules of `ratcp`
//! ```
//!
//! `m` fraction of packets that arrive marked; `N` packets; `w` weight, price times packets/s; `phi` must be the routers'.
//! The links run REM with marks and with gains for this loop: `queue = "rem:ecn=true,gamma=1,alpha=0.003"`.
//!
//! Readings: the proposal has no equation but REM's. The utility is the logarithm, which gives proportional fairness.
//! Where too few of N packets are marked to estimate the price, the rate is unbounded and RATCP grows as it does
//! without
//! advice. A mark is a price, so it neither reduces the window nor holds up its growth. After a loss or a timeout the rate in force
//! counts, as in `ratcp`; without one the window is halved.
//!
//! The range of rates: m is usable from 5 % to 95 %, and -ln(1 - m) = w ln phi / r, so a flow's rate lies between
//! w ln phi / 3 and w ln phi / 0.051, a range of 58 to 1 that one constant, w ln phi, moves. The default w with phi = 1.001
//! gives 20 to 1170 packets/s. A flow with a rate above it sees too few marks to be bounded; a flow below it sees
//! nearly all packets marked, where one packet among N is a large part of the rate.
//!
//! The loop: at n flows and capacity C the price is n w / C, and one unit more of it takes k = C² / (n w) packets/s off the
//! arrivals. With REM's gamma, alpha, and interval T that makes s² + gamma k s + gamma k alpha / T: damped only if
//! alpha / T < gamma k / 4, and gamma k must be small against 1 / (RTT + N / r). REM's usual gains, 0.001 and 0.1, are made for
//! windows that are halved at a mark: with them the price oscillates, and at 10 Mbit/s up to a third of the packets is dropped.

use alloc::vec::Vec;

use super::rate_window::{self, RateWindow};
use super::{Ack, Control, Controller, Ecn, Loss, Marks, Start, Timeout};
use crate::rng::Rng;

crate::settings! {
    /// The parameters of RATCP/REM.
    pub struct Params {
        ..rate: rate_window::Params;
        /// The weight w of the utility w log x: packets/s at a price of 1.
        weight: f64 = 60_000.0, 0.001..=1e9;
        /// The base of the routers' marking probability as a function of the price.
        phi: f64 = 1.001, 1.000001..=10.0;
        /// The packets N over which marks are averaged.
        memory: f64 = 100.0, 1.0..=1e6;
    }
}

/// A RATCP controller that estimates its rate.
#[derive(Clone, Debug)]
pub struct RatcpRem {
    window: RateWindow,
    weight: f64,
    /// ln phi.
    exponent: f64,
    memory: f64,
    /// m, and the packets it is of, up to N.
    marked: f64,
    packets: f64,
    /// Packets that had arrived at the acknowledgement before.
    delivered: u64,
}

impl RatcpRem {
    fn observe(&mut self, ack: &Ack) {
        let arrived = ack.delivered.saturating_sub(self.delivered) as f64;
        self.delivered = self.delivered.max(ack.delivered);
        if arrived > 0.0 {
            self.packets = (self.packets + arrived).min(self.memory).max(arrived);
            let fraction = (f64::from(ack.marked) / arrived).min(1.0);
            self.marked += (fraction - self.marked) * arrived / self.packets;
        }
    }

    /// p.
    fn price(&self) -> f64 {
        -libm::log1p(-self.marked.min(1.0)) / self.exponent
    }

    /// r, where enough packets are marked.
    fn rate(&self) -> Option<f64> {
        (self.marked * self.memory >= 1.0).then(|| self.weight / self.price())
    }
}

impl Controller for RatcpRem {
    type Params = Params;

    const MARKS: Marks = Marks::Each;

    fn new(params: Params, start: Start) -> RatcpRem {
        RatcpRem {
            window: RateWindow::new(params.rate, start),
            weight: params.weight,
            exponent: libm::log(params.phi),
            memory: params.memory,
            marked: 0.0,
            packets: 0.0,
            delivered: 0,
        }
    }

    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        self.observe(ack);
        self.window.rate = self.rate();
        // The host grants no growth to an acknowledgement that echoes a mark.
        let held_up = ack.marked > 0 && !ack.recovering && !ack.limited;
        let credit = if held_up { f64::from(ack.acked) } else { ack.credit };
        self.window.on_ack(&Ack { credit, ..*ack });
    }

    fn on_ecn(&mut self, _: &Ecn) {}

    fn on_loss(&mut self, loss: &Loss) {
        self.window.on_loss(loss);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.window.on_timeout(timeout);
    }

    fn control(&self) -> Control {
        self.window.control()
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let known = self.window.bound().map(|packets| ("rate_window_packets", packets));
        known.into_iter().chain([("marked", self.marked)]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;
    use crate::settings::Or;
    use crate::units::Span;

    fn sender(memory: f64) -> Trace<RatcpRem> {
        let base_rtt = Or::is(Span::from_millis(200));
        let rate = rate_window::Params { base_rtt, ..Default::default() };
        let params = Params { rate, memory, weight: 120_000.0, ..Default::default() };
        let start = Start { initial_ssthresh: 50.0, ..Start::new(50.0) };
        Trace::new(RatcpRem::new(params, start))
    }

    /// One of `every` packets is marked.
    fn acknowledge(trace: &mut Trace<RatcpRem>, packets: u32, every: u32) {
        for packet in 1..=packets {
            trace.marked = packet % every == 0;
            trace.ack(Span::from_millis(4));
        }
    }

    #[test]
    fn the_price_is_what_a_router_made_the_fraction_of_and_its_rate_bounds_the_window() {
        let mut trace = sender(1e6);
        acknowledge(&mut trace, 1_000, 4);
        let controller = &trace.controller;
        // 1 - 1.001^-p = 1/4 at p = 287.8, which is worth 120000 / 287.8 = 416.9 packets/s, 83.4 in 200 ms.
        assert!((controller.marked - 0.25).abs() < 1e-12);
        assert!((1.0 - libm::pow(1.001, -controller.price()) - 0.25).abs() < 1e-12);
        assert!((controller.rate().unwrap() - 416.9).abs() < 0.05, "{:?}", controller.rate());
        assert_eq!(controller.window.bound(), Some(84.0));
        // Twice the price, over two such links, is worth half the rate.
        let marked = 1.0 - 0.75 * 0.75;
        let twice = RatcpRem { marked, ..controller.clone() };
        assert!((2.0 * twice.rate().unwrap() / controller.rate().unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_average_forgets_as_fast_as_its_memory_is_short() {
        let mut trace = sender(100.0);
        acknowledge(&mut trace, 100, 2);
        assert!((trace.controller.marked - 0.5).abs() < 1e-12);
        acknowledge(&mut trace, 100, 101);
        // (1 - 1/100)^100 = 0.366 of it is left.
        assert!((trace.controller.marked - 0.183).abs() < 0.001, "{}", trace.controller.marked);
    }

    #[test]
    fn marks_do_not_hold_up_growth_and_without_enough_of_them_there_is_no_bound() {
        let mut trace = sender(100.0);
        trace.controller.window.rate = None;
        let before = trace.window();
        acknowledge(&mut trace, 50, 51);
        assert_eq!(trace.controller.window.bound(), None);
        assert!((0.9..1.0).contains(&(trace.window() - before)), "{}", trace.window());
        trace.ecn();
        trace.loss();
        assert!((25.0..26.0).contains(&trace.window()), "{}", trace.window());
        // Five in a hundred are worth 2338 packets/s: no bound yet at 25 packets, but a loss answers with it.
        acknowledge(&mut trace, 100, 20);
        let bound = trace.controller.window.bound();
        trace.loss();
        assert!(bound.is_some_and(|bound| bound > 100.0 && trace.window() == bound), "{bound:?}");
    }

    #[test]
    fn where_all_packets_are_marked_one_is_left_and_its_growth() {
        let mut trace = sender(100.0);
        acknowledge(&mut trace, 100, 1);
        assert_eq!((trace.controller.rate(), trace.window()), (Some(0.0), 2.0));
    }
}

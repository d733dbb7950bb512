// SPDX-License-Identifier: Apache-2.0 OR MIT
//! DCTCP: gives way in proportion to the fraction of its packets that arrive marked.
//!
//! M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, §3; as specified by RFC 8257.
//!
//! ```text
//! alpha <- (1 - g) alpha + g M     once per window of data; M marked / arrived in it    RFC 8257 §3.3
//! mark:     W <- W (1 - alpha/2)   once per window of data                              §3.3
//! loss:     as Reno                                                                     §3.5
//! growth:   as Reno, but not by acknowledgements that echo a mark
//! ```
//!
//! `W` window in packets; `g` = 1/16. N flows at a queue that marks beyond K packets, as the paper has them (§3.3):
//!
//! ```text
//! W* = (C·RTT + K) / N                                        the window at which marks begin
//! alpha² (1 - alpha/4) = (2 W* + 1) / (W* + 1)²               equation (6);  alpha ≈ sqrt(2 / W*)
//! A = N (W* + 1) alpha / 2 ≈ sqrt(2 N (C·RTT + K)) / 2        equation (8): swing of the queue, packets
//! Qmax = K + N,  Qmin = Qmax - A                              equations (10), (11)
//! K > C·RTT / 7                                               equation (13): then no N empties the queue
//! g < 1.386 / sqrt(2 (C·RTT + K))                             equation (15)
//! ```
//!
//! In Linux (`tcp_dctcp`) windows are whole packets and alpha is whole 1024ths, with the arithmetic of
//! `marking`: the decrease of a mark is rounded down, so a window below 2 / alpha stays the same; after a loss the
//! remaining window is rounded down.
//!
//! Readings: alpha begins at 1, so the first mark halves the window as a loss would (the RFC leaves it open; 0 keeps
//! slow start's overshoot); a mark takes its part of W, whether or not W was full; no acknowledgement that echoes
//! a mark grows the window, although the paper's flow grows by one packet in that round trip too (RFC 3168 §6.1.2); the
//! window never falls below two packets.
//! Departures: a sender whose packets are not acknowledged for long keeps its alpha; retransmissions cannot carry
//! marks (RFC 3168 §6.1.5), where RFC 8257 §3.1 lets all packets carry them.

use alloc::vec::Vec;

use super::marking::Marking;
use super::window::{InLinux, Window};
use super::{Ack, Control, Controller, Ecn, Loss, Marks, Sizes, Start, Timeout, Version};
use crate::rng::Rng;

crate::settings! {
    /// DCTCP's parameters.
    pub struct Params {
        /// g: the weight of a new window of data in alpha.
        gain: f64 = 0.0625, 0.0001..=1.0;
        /// alpha before the first window of data.
        initial_alpha: f64 = 1.0, 0.0..=1.0;
    }
}

/// A DCTCP controller.
#[derive(Clone, Debug)]
pub struct Dctcp {
    window: Window,
    marking: Marking,
}

impl Dctcp {
    /// The window after a loss: rounded down in Linux, unlike after a mark.
    fn half(&self, flight: f64) -> f64 {
        let half = flight / 2.0;
        if self.window.is_whole() { libm::floor(half) } else { half }
    }
}

impl Controller for Dctcp {
    type Params = Params;

    const MARKS: Marks = Marks::Each;

    fn new(params: Params, start: Start) -> Dctcp {
        let marking = if start.version == Version::Linux { Marking::in_linux } else { Marking::new };
        Dctcp {
            window: Window::new(start, InLinux::WholeTaken),
            marking: marking(params.initial_alpha, params.gain),
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        self.marking.observe(ack);
        if self.marking.over(ack) {
            self.marking.close(ack);
        }
        self.window.grow(ack, 1.0);
    }

    fn on_ecn(&mut self, _: &Ecn) {
        self.window.reduce_to(self.window.packets * (1.0 - self.marking.alpha() / 2.0));
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.window.reduce_to(self.half(loss.flight));
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.window.restart(timeout, self.half(timeout.flight));
    }

    fn sizes(&mut self) -> Option<Sizes<'_>> {
        Some(self.window.sizes())
    }

    #[inline]
    fn control(&self) -> Control {
        self.window.control()
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        self.marking.state()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;

    fn avoiding(window: f64, params: Params) -> Trace<Dctcp> {
        Trace::new(Dctcp::new(params, Start::avoiding(window)))
    }

    /// alpha² (1 - alpha/4) = (2 W* + 1) / (W* + 1)², by bisection.
    fn steady_alpha(w_star: f64) -> f64 {
        let target = (2.0 * w_star + 1.0) / ((w_star + 1.0) * (w_star + 1.0));
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let alpha: f64 = (low + high) / 2.0;
            let below = alpha * alpha * (1.0 - alpha / 4.0) < target;
            (low, high) = if below { (alpha, high) } else { (low, alpha) };
        }
        low
    }

    #[test]
    fn the_fraction_fades_by_a_sixteenth_a_window_and_a_mark_takes_half_of_it() {
        let mut trace = avoiding(100.0, Params::default());
        // The first acknowledgement ends its own window.
        trace.ack(trace.rtt);
        assert_eq!(trace.controller.marking.alpha(), 15.0 / 16.0);
        let before = trace.window();
        trace.ecn();
        assert_eq!(trace.window(), before * (1.0 - 15.0 / 32.0));
        for _ in 0..50 {
            trace.round_trip();
        }
        let faded = trace.controller.marking.alpha();
        assert!(faded < libm::pow(15.0 / 16.0, 48.0) && faded > libm::pow(15.0 / 16.0, 52.0), "{faded}");
    }

    #[test]
    fn where_every_packet_is_marked_it_halves_as_a_loss_does() {
        let mut trace = avoiding(64.0, Params::default());
        trace.marked = true;
        trace.round_trip();
        assert_eq!(trace.controller.marking.alpha(), 1.0);
        let before = trace.window();
        trace.ecn();
        assert_eq!(trace.window(), before / 2.0);
        trace.loss();
        assert_eq!(trace.window(), before / 4.0);
        trace.timeout();
        assert_eq!((trace.window(), trace.controller.window.ssthresh), (1.0, before / 8.0));
    }

    #[test]
    fn in_linux_a_mark_takes_off_whole_packets_and_none_of_a_window_below_two_over_alpha() {
        // W - floor(W A / 2048): alpha is 96 / 1024, and the first acknowledgement ends its own window: 90 / 1024.
        let left = |window| {
            let start = Start { version: Version::Linux, ..Start::avoiding(window) };
            let params = Params { initial_alpha: 96.0 / 1024.0, ..Params::default() };
            let mut trace = Trace::new(Dctcp::new(params, start));
            trace.ack(trace.rtt);
            assert_eq!(trace.controller.marking.alpha(), 90.0 / 1024.0);
            trace.ecn();
            trace.window()
        };
        assert_eq!([22.0, 23.0, 45.0, 46.0, 100.0].map(left), [22.0, 22.0, 44.0, 44.0, 96.0]);
    }

    #[test]
    fn in_linux_a_loss_and_a_timeout_leave_half_rounded_down() {
        let start = Start { version: Version::Linux, ..Start::avoiding(15.0) };
        let mut trace = Trace::new(Dctcp::new(Params::default(), start));
        trace.loss();
        assert_eq!(trace.window(), 7.0);
        trace.timeout();
        assert_eq!((trace.window(), trace.controller.window.ssthresh), (1.0, 3.0));
    }

    #[test]
    fn the_papers_approximation_is_close_to_its_equation() {
        for w_star in [50.0, 165.0, 1000.0] {
            let (exact, approximate) = (steady_alpha(w_star), libm::sqrt(2.0 / w_star));
            assert!((approximate / exact - 1.0).abs() < 0.03, "{w_star}: {exact} {approximate}");
        }
    }

    #[test]
    fn the_fraction_settles_where_the_paper_says() {
        // A window that is marked while it exceeds W* = 165: the paper's sawtooth, in whole round trips. A small gain,
        // because the paper's alpha is the mean without the sawtooth.
        let w_star = 165.0;
        let mut trace = avoiding(100.0, Params { gain: 1.0 / 512.0, initial_alpha: 0.2 });
        for _ in 0..20_000 {
            trace.marked = trace.window() > w_star;
            trace.round_trip();
            if trace.marked {
                trace.ecn();
            }
        }
        let (alpha, expected) = (trace.controller.marking.alpha(), steady_alpha(w_star));
        assert!((alpha / expected - 1.0).abs() < 0.05, "{alpha}, the paper {expected}");
    }

    #[test]
    fn a_threshold_of_a_seventh_of_the_pipe_keeps_any_number_of_flows_from_emptying_the_queue() {
        let least = |pipe: f64, k: f64| {
            let bottom = |n: f64| k + n - libm::sqrt(2.0 * n * (pipe + k)) / 2.0;
            (1..=1000).map(|n| bottom(f64::from(n))).fold(f64::INFINITY, f64::min)
        };
        for pipe in [125.0, 1000.0] {
            assert!(least(pipe, 1.02 * pipe / 7.0) > 0.0);
            assert!(least(pipe, 0.95 * pipe / 7.0) < 0.0);
        }
    }

    #[test]
    fn the_usual_gain_is_within_the_bound_at_ten_gigabits() {
        // §3.4: (1 - g)^Tc > 1/2 while Tc = sqrt(2 (C·RTT + K)) / 2 round trips; 10 Gbit/s, 100 µs, 1500 bytes, K = 65.
        let pipe = 1e10 * 100e-6 / 12_000.0;
        let bound = 1.386 / libm::sqrt(2.0 * (pipe + 65.0));
        assert!(Params::default().gain < bound, "{bound}");
        let period = libm::sqrt(2.0 * (pipe + 65.0)) / 2.0;
        assert!((libm::pow(1.0 - bound, period) - 0.5).abs() < 0.03);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! RATCP: TCP that is told its fair rate, and never has more outstanding than that rate needs.
//!
//! A. Karnik, A. Kumar, "Performance of TCP Congestion Control With Explicit Rate Feedback", IEEE/ACM ToN 13(1) 2005, §II.
//!
//! ```text
//! Wr = D r + delta                    at every acknowledgement; infinite before the first advice
//! slow start   W += acked,            ends at W >= S, or with W = Wr where Wr < W
//! avoidance    W  = min(W, Wr), then W += acked / W
//! inactive     W does not grow after a reduction until outstanding <= W
//! duplicates   S = W = Wr             TCP: half of what is outstanding
//! timeout      S = Wr, W = 1          TCP: half of what is outstanding
//! ```
//!
//! `D` least round-trip time, s; `r` advised rate, packets/s; `delta` target backlog, packets; `W` window, `S` slow-start
//! threshold, `Wr` rate window: packets. A window below `S` after advice does not start slow start again: the phase is a
//! variable of its own.
//!
//! The paper's versions differ in their hosts alone: RATCP-OldTahoe is this controller under `recovery = "old-tahoe"`,
//! RATCP-Reno under `recovery = "reno"`. The host inflates the window during fast recovery. The rate comes from any
//! feedback that gives one: see `knee list feedback`.
//!
//! Readings: until the first advice, a loss is answered as Reno answers it. Advice is heeded during fast recovery, too. A
//! congestion mark is answered as a loss that duplicates report. The paper's tagged session knows D in §V.A and measures it
//! elsewhere: `base_rtt` is either. A measured D includes the packet's own transmission, and so one packet more.
//! A window counts whole packets, so `Wr` is rounded, down unless `rounding` says otherwise; the paper is silent.

use super::window::Window;
use super::{Ack, Advice, Advised, Control, Controller, Loss, Start, Timeout, Wanted};
use crate::rng::Rng;
use crate::settings::{Auto, Or};
use crate::units::Span;
use alloc::vec::Vec;

crate::choice! {
    /// How a rate window becomes whole packets.
    pub enum Rounding {
        /// The greatest whole number that is not above it.
        Down = "down",
        /// The least whole number that is not below it.
        Up = "up",
    }
}

crate::settings! {
    /// RATCP's parameters.
    pub struct Params {
        /// Packets that a sender aims to keep in the bottleneck's queue, δ.
        backlog: f64 = 1.0, 0.0..=1e6;
        /// The round-trip propagation delay; `auto` for the least round-trip time measured.
        base_rtt: Or<Span, Auto> = Or::WORD, Or::is(Span::from_micros(1))..=Or::is(Span::from_secs(100));
        /// How the rate window is rounded to whole packets.
        rounding: Rounding = Rounding::Down;
    }
}

/// A RATCP controller.
#[derive(Clone, Debug)]
pub struct Ratcp {
    params: Params,
    window: Window,
    slow_start: bool,
    /// The window was reduced, and more than it is outstanding.
    inactive: bool,
    /// D, once known.
    base_rtt: Option<Span>,
    /// r, once advised.
    rate: Option<f64>,
}

impl Ratcp {
    /// Wr, in whole packets.
    fn rate_window(&self) -> Option<f64> {
        let exact = self.base_rtt?.as_secs_f64() * self.rate? + self.params.backlog;
        let whole = match self.params.rounding {
            Rounding::Down => libm::floor(exact),
            Rounding::Up => libm::ceil(exact),
        };
        Some(whole.max(1.0))
    }

    fn follow(&mut self, rate_window: f64, in_flight: u32) {
        if rate_window < self.window.packets {
            self.window.packets = rate_window;
            self.slow_start = false;
            self.inactive = f64::from(in_flight) > rate_window;
        }
    }
}

impl Controller for Ratcp {
    type Params = Params;

    const WANTED: Wanted = Wanted::Rate;

    fn new(params: Params, start: Start) -> Ratcp {
        let base_rtt = params.base_rtt.get().copied();
        Ratcp { params, window: Window::new(start), slow_start: true, inactive: false, base_rtt, rate: None }
    }

    fn on_advice(&mut self, advised: &Advised) {
        if let Advice::Rate(rate) = advised.advice {
            self.rate = Some(rate.0);
        }
    }

    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        if self.params.base_rtt.get().is_none() {
            self.base_rtt = self.base_rtt.into_iter().chain(ack.rtt).min();
        }
        if let Some(rate_window) = self.rate_window() {
            self.follow(rate_window, ack.in_flight);
        }
        self.inactive &= f64::from(ack.in_flight) > self.window.packets;
        if self.inactive {
            return;
        }
        if self.slow_start {
            self.window.grow(ack, 1.0);
            self.slow_start = self.window.slow_start();
        } else {
            self.window.packets += ack.credit / self.window.packets;
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.slow_start = false;
        self.inactive = false;
        match self.rate_window() {
            Some(rate_window) => self.window = Window { packets: rate_window, ssthresh: rate_window },
            None => self.window.reduce_to(loss.flight / 2.0),
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.slow_start = true;
        self.inactive = false;
        match self.rate_window() {
            Some(rate_window) => self.window = Window { packets: 1.0, ssthresh: rate_window },
            None => self.window.restart(timeout, timeout.flight / 2.0),
        }
    }

    fn control(&self) -> Control {
        self.window.control()
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let known = self.rate_window().map(|packets| ("rate_window_packets", packets));
        known.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;
    use crate::units::{PacketRate, Time};

    /// A session with a base round trip of 200 ms in congestion avoidance.
    fn session(window: f64, backlog: f64) -> Trace<Ratcp> {
        let params = Params { backlog, base_rtt: Or::is(Span::from_millis(200)), rounding: Rounding::Down };
        let start = Start { initial_window: window, initial_ssthresh: window };
        let mut trace = Trace::new(Ratcp::new(params, start));
        trace.rtt = Span::from_millis(200);
        trace
    }

    fn advise(trace: &mut Trace<Ratcp>, rate: f64) {
        let advice = Advice::Rate(PacketRate(rate));
        trace.controller.on_advice(&Advised { now: Time::ZERO, advice });
    }

    #[test]
    fn the_rate_window_is_the_pipe_and_the_backlog_in_whole_packets() {
        // 100 packets/s over 200 ms: 20 packets, and one. With two sessions more: 100/3 · 0.2 + 1 = 7.67.
        for (rate, backlog, down, up) in
            [(100.0, 1.0, 21.0, 21.0), (100.0, 4.0, 24.0, 24.0), (100.0 / 3.0, 1.0, 7.0, 8.0)]
        {
            let mut trace = session(2.0, backlog);
            assert_eq!(trace.controller.rate_window(), None);
            advise(&mut trace, rate);
            assert_eq!(trace.controller.rate_window(), Some(down));
            trace.controller.params.rounding = Rounding::Up;
            assert_eq!(trace.controller.rate_window(), Some(up));
        }
    }

    #[test]
    fn advice_reduces_the_window_and_growth_waits_until_the_excess_is_drained() {
        let mut trace = session(20.0, 1.0);
        advise(&mut trace, 50.0);
        // Twenty outstanding and a window of eleven: nine acknowledgements bring them there.
        for acknowledgement in 1..=8 {
            trace.ack(Span::from_millis(10));
            assert_eq!(trace.window(), 11.0, "{acknowledgement}");
        }
        trace.ack(Span::from_millis(10));
        assert!((trace.window() - (11.0 + 1.0 / 11.0)).abs() < 1e-9, "{}", trace.window());
        // The excess is a fraction of a packet, which the next acknowledgement takes off again.
        trace.ack(Span::from_millis(10));
        assert!((trace.window() - (11.0 + 1.0 / 11.0)).abs() < 1e-9, "{}", trace.window());
    }

    #[test]
    fn slow_start_ends_where_the_rate_window_is_below_and_is_not_entered_again() {
        let mut trace = session(2.0, 1.0);
        trace.controller.window.ssthresh = f64::INFINITY;
        advise(&mut trace, 40.0);
        for _ in 0..4 {
            trace.round_trip();
        }
        assert!(!trace.controller.slow_start && trace.window() < 9.5, "{}", trace.window());
        // More is allowed now, and still less than the infinite threshold: one packet a round trip.
        advise(&mut trace, 100.0);
        let before = trace.window();
        let after = trace.round_trip();
        assert!((0.8..1.1).contains(&(after - before)), "{before} {after}");
    }

    #[test]
    fn duplicates_and_timeouts_resume_from_the_rate_window_and_from_half_without_one() {
        let mut trace = session(20.0, 1.0);
        let mut unadvised = trace.clone();
        unadvised.loss();
        assert_eq!(unadvised.window(), 10.0);
        advise(&mut trace, 100.0);
        trace.loss();
        assert_eq!(trace.window(), 21.0);
        trace.timeout();
        assert_eq!((trace.window(), trace.controller.window.ssthresh), (1.0, 21.0));
        assert_eq!(trace.round_trip(), 2.0);
    }

    #[test]
    fn a_measured_base_is_the_least_round_trip() {
        let mut trace = Trace::new(Ratcp::new(
            Params::default(),
            Start { initial_window: 2.0, initial_ssthresh: f64::INFINITY },
        ));
        advise(&mut trace, 100.0);
        for millis in [300, 200, 250] {
            trace.rtt = Span::from_millis(millis);
            trace.ack(Span::from_millis(10));
        }
        assert_eq!(trace.controller.state(), [("rate_window_packets", 21.0)]);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The window rules of a sender that knows its rate, from any source.
//!
//! A. Karnik, A. Kumar, "Performance of TCP Congestion Control With Explicit Rate Feedback", IEEE/ACM ToN 13(1) 2005, §II.
//! Equations and readings are in `ratcp`.

use super::window::{InLinux, Window};
use super::{Ack, Control, Loss, Start, Timeout};
use crate::settings::{Auto, Or};
use crate::units::Span;

crate::choice! {
    /// The conversion of a rate window to whole packets.
    pub enum Rounding {
        /// The greatest whole number that is not above it.
        Down = "down",
        /// The least whole number that is not below it.
        Up = "up",
    }
}

crate::settings! {
    /// The conversion of a rate to a window.
    pub struct Params {
        /// Packets that a sender aims to keep in the bottleneck's queue, δ.
        backlog: f64 = 1.0, 0.0..=1e6;
        /// The round-trip propagation delay; `auto` for the least round-trip time measured.
        base_rtt: Or<Span, Auto> = Or::WORD, Or::is(Span::from_micros(1))..=Or::is(Span::from_secs(100));
        /// The rounding of the rate window to whole packets.
        rounding: Rounding = Rounding::Down;
    }
}

/// A window that follows a rate.
#[derive(Clone, Debug)]
pub struct RateWindow {
    params: Params,
    window: Window,
    slow_start: bool,
    /// The window was reduced, and more than it is outstanding.
    inactive: bool,
    /// D, once known.
    base_rtt: Option<Span>,
    /// r, in packets/s, if it is known.
    pub rate: Option<f64>,
}

impl RateWindow {
    /// The window of a fresh connection, whose rate is unknown.
    pub fn new(params: Params, start: Start) -> RateWindow {
        let base_rtt = params.base_rtt.get().copied();
        RateWindow {
            params,
            window: Window::new(start, InLinux::Fractions),
            slow_start: true,
            inactive: false,
            base_rtt,
            rate: None,
        }
    }

    /// Wr, in whole packets.
    pub fn bound(&self) -> Option<f64> {
        let exact = self.base_rtt?.as_secs_f64() * self.rate? + self.params.backlog;
        let whole = match self.params.rounding {
            Rounding::Down => libm::floor(exact),
            Rounding::Up => libm::ceil(exact),
        };
        Some(whole.max(1.0))
    }

    fn follow(&mut self, bound: f64, in_flight: u32) {
        if bound < self.window.packets {
            self.window.packets = bound;
            self.slow_start = false;
            self.inactive = f64::from(in_flight) > bound;
        }
    }

    /// An acknowledgement arrived.
    pub fn on_ack(&mut self, ack: &Ack) {
        if self.params.base_rtt.get().is_none() {
            self.base_rtt = self.base_rtt.into_iter().chain(ack.rtt).min();
        }
        if let Some(bound) = self.bound() {
            self.follow(bound, ack.in_flight);
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

    /// A loss episode begins.
    pub fn on_loss(&mut self, loss: &Loss) {
        self.slow_start = false;
        self.inactive = false;
        match self.bound() {
            Some(bound) => (self.window.packets, self.window.ssthresh) = (bound, bound),
            None => self.window.reduce_to(loss.flight / 2.0),
        }
    }

    /// It starts over from one packet.
    pub fn on_timeout(&mut self, timeout: &Timeout) {
        self.slow_start = true;
        self.inactive = false;
        match self.bound() {
            Some(bound) => (self.window.packets, self.window.ssthresh) = (1.0, bound),
            None => self.window.restart(timeout, timeout.flight / 2.0),
        }
    }

    /// The window, unpaced.
    pub fn control(&self) -> Control {
        self.window.control()
    }
}

#[cfg(test)]
mod tests {
    use super::super::ratcp::Ratcp;
    use super::super::tests::Trace;
    use super::super::{Advice, Advised, Controller};
    use super::*;
    use crate::units::{PacketRate, Time};

    /// A session with a base round trip of 200 ms in congestion avoidance.
    fn session(window: f64, backlog: f64) -> Trace<Ratcp> {
        let params = Params { backlog, base_rtt: Or::is(Span::from_millis(200)), rounding: Rounding::Down };
        let start = Start { initial_ssthresh: window, ..Start::new(window) };
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
            assert_eq!(trace.controller.0.bound(), None);
            advise(&mut trace, rate);
            assert_eq!(trace.controller.0.bound(), Some(down));
            trace.controller.0.params.rounding = Rounding::Up;
            assert_eq!(trace.controller.0.bound(), Some(up));
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
        // The excess is a fraction of a packet, which the next acknowledgement removes.
        trace.ack(Span::from_millis(10));
        assert!((trace.window() - (11.0 + 1.0 / 11.0)).abs() < 1e-9, "{}", trace.window());
    }

    #[test]
    fn slow_start_ends_where_the_rate_window_is_below_and_is_not_entered_again() {
        let mut trace = session(2.0, 1.0);
        trace.controller.0.window.ssthresh = f64::INFINITY;
        advise(&mut trace, 40.0);
        for _ in 0..4 {
            trace.round_trip();
        }
        assert!(!trace.controller.0.slow_start && trace.window() < 9.5, "{}", trace.window());
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
        assert_eq!((trace.window(), trace.controller.0.window.ssthresh), (1.0, 21.0));
        assert_eq!(trace.round_trip(), 2.0);
    }
}

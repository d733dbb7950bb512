// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Prague: DCTCP for the Internet, which paces and grows as if its round trip were at least 25 ms.
//!
//! K. De Schepper, O. Tilmans, B. Briscoe, V. Goel, "Prague Congestion Control", draft-briscoe-iccrg-prague-congestion-control-04, 2024; requirements: RFC 9331 §4.
//!
//! ```text
//! Rv = max(R, 25 ms)               virtual round trip, once 500 round trips have passed; R before
//! alpha <- (1 - g) alpha + g M     every Rv and window of data, since the first mark; M marked / arrived   §2.4.1
//! mark:   W <- W (1 - alpha/2)     once per Rv; alpha is 1 at the first mark                               §2.4.2
//! unmarked packet: W += 1                  slow start, until the first mark or loss
//!                  W += (R / Rv)² / W      after it, also in round trips with marks                        §2.4.3, §2.4.4
//! loss, timeout:   as Reno
//! rate = W / R,  2 W / R while W < S / 2   pacing
//! ```
//!
//! `W` window, `S` slow-start threshold: packets; `R` smoothed round-trip time (RFC 6298); `g` = 1/16. Per virtual
//! round trip the window W Rv / R of a flow at that distance grows by one packet, so flows below 25 ms share as if they
//! were all 25 ms away.
//!
//! Readings: where the draft describes and does not specify, its reference implementation for Linux is followed: a window
//! of data and Rv must both have passed before alpha moves, and Rv between two reductions; 500 round trips, not counted in
//! slow start; pacing; no window below two packets. M counts packets, not bytes. That implementation has fractions of a
//! packet too (`frac_cwnd`, in 2^-20), so Linux hosts have the same Prague: a window of whole packets would lose the
//! 0.04 that a round trip of 5 ms adds to every mark.
//! The draft's own text was not at hand: the rules here come from that implementation and from others that cite the
//! draft's sections, with their section numbers.
//! Departures: where the host does not count marks (AccECN, `ecn_feedback`), they are echoed one by one (RFC 8257 §3.2), and a retransmission
//! cannot carry one. With `fallback`, off as in that implementation, a queue that looks classic is answered as one
//! (`prague/fallback.rs`). Left out: windows below two packets, bursts of up to 250 µs for segmentation offload,
//! the loss's credit for a mark of the same round trip, undoing a reduction when a loss proves to be reordering,
//! and CUBIC's growth after a loss.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::delay::Delay;
use super::marking::Marking;
use super::window::{InLinux, Window};
use super::{Ack, Control, Controller, Ecn, Loss, Marks, Sizes, Start, Timeout};
use crate::rng::Rng;
use crate::units::{PacketRate, Span, Time};

use fallback::Fallback;

mod fallback;

crate::settings! {
    /// Prague's parameters.
    pub struct Params {
        /// g: the weight of a new window of data in alpha.
        gain: f64 = 0.0625, 0.0001..=1.0;
        /// The least virtual round-trip time; with 0s each flow grows by its own.
        virtual_rtt: Span = Span::from_millis(25), Span::ZERO..=Span::from_secs(1);
        /// Round trips after slow start before the virtual round trip counts, so that short transfers are as fast as possible.
        transition: u32 = 500, 0..=1000000;
        /// Whether a queue whose delay is long and varies is answered as a classic one, which marks ECT(1) as ECT(0).
        fallback: bool = false;
    }
}

/// A Prague controller.
#[derive(Clone, Debug)]
pub struct Prague {
    window: Window,
    marking: Marking,
    rtt: Delay,
    /// Whether there was a mark, without which alpha is meaningless.
    seen: bool,
    /// The time of the last change of alpha.
    averaged: Time,
    /// The time of the last reduction by a mark.
    reduced: Option<Time>,
    /// Round trips yet to pass before the virtual one counts.
    transition: u32,
    least_virtual: Span,
    fallback: Option<Box<Fallback>>,
}

impl Prague {
    /// Rv.
    #[inline]
    fn virtual_rtt(&self) -> Span {
        let rtt = self.rtt.smoothed();
        if self.transition > 0 { rtt } else { rtt.max(self.least_virtual) }
    }

    /// Packets that a round trip adds: (R / Rv)².
    #[inline]
    fn per_rtt(&self) -> f64 {
        let (real, apparent) = (self.rtt.smoothed(), self.virtual_rtt());
        if real == apparent {
            return 1.0;
        }
        let ratio = real.0 as f64 / apparent.0 as f64;
        ratio * ratio
    }

    /// The window is about to be reduced.
    fn reducing(&mut self) {
        if let Some(fallback) = &mut self.fallback {
            fallback.reduced(self.window.ssthresh);
        }
    }

    /// A window of data is over: takes its marks into alpha, once Rv has passed too.
    fn end_window(&mut self, ack: &Ack) {
        if !self.seen {
            self.marking.begin(ack);
        } else if ack.now.since(self.averaged) >= self.virtual_rtt() {
            self.marking.close(ack);
            self.averaged = ack.now;
            if let Some(fallback) = &mut self.fallback {
                fallback.judge();
            }
        } else {
            return;
        }
        if !self.window.slow_start() {
            self.transition = self.transition.saturating_sub(1);
        }
    }
}

impl Controller for Prague {
    type Params = Params;

    const MARKS: Marks = Marks::Scalable;

    fn new(params: Params, start: Start) -> Prague {
        Prague {
            window: Window::new(start, InLinux::Fractions),
            marking: Marking::new(1.0, params.gain),
            rtt: Delay::new(0.875),
            seen: false,
            averaged: Time::ZERO,
            reduced: None,
            transition: params.transition,
            least_virtual: params.virtual_rtt,
            fallback: params.fallback.then(|| Box::new(Fallback::new())),
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        if let Some(rtt) = ack.rtt {
            self.rtt.observe(rtt);
            if let Some(fallback) = &mut self.fallback {
                fallback.observe(rtt);
            }
        }
        if ack.marked > 0 && !self.seen {
            self.seen = true;
            self.averaged = ack.now;
            self.marking.begin(ack);
        }
        self.marking.observe(ack);
        if self.marking.over(ack) {
            self.end_window(ack);
        }
        self.window.grow(ack, self.per_rtt());
    }

    fn on_ecn(&mut self, ecn: &Ecn) {
        if self.reduced.is_none_or(|at| ecn.now.since(at) >= self.virtual_rtt()) {
            self.reduced = Some(ecn.now);
            let marked = self.marking.alpha();
            let answered = self.fallback.as_ref().map_or(marked, |fallback| fallback.answered(marked));
            self.reducing();
            self.window.reduce_to(self.window.packets * (1.0 - answered / 2.0));
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.reducing();
        self.window.reduce_to(loss.flight / 2.0);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.window.restart(timeout, timeout.flight / 2.0);
    }

    fn sizes(&mut self) -> Option<Sizes<'_>> {
        Some(self.window.sizes())
    }

    #[inline]
    fn control(&self) -> Control {
        let rtt = self.rtt.smoothed().as_secs_f64();
        let haste = if self.window.packets < self.window.ssthresh / 2.0 { 2.0 } else { 1.0 };
        let pacing = (rtt > 0.0).then(|| PacketRate(haste * self.window.packets / rtt));
        Control { pacing, ..self.window.control() }
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let mut state = self.marking.state();
        state.push(("virtual_rtt_ms", self.virtual_rtt().as_millis_f64()));
        state.extend(self.fallback.as_ref().map(|fallback| ("classic_ecn_score", fallback.score())));
        state
    }
}

#[cfg(test)]
mod tests {
    use super::super::Version;
    use super::super::tests::Trace;
    use super::*;

    /// In avoidance at `window` packets over `rtt`, with the virtual round trip in force from the start.
    fn avoiding(window: f64, rtt: Span) -> Trace<Prague> {
        let params = Params { transition: 0, ..Params::default() };
        let mut trace = Trace::new(Prague::new(params, Start::avoiding(window)));
        trace.rtt = rtt;
        trace
    }

    /// The packets that a round trip adds to a large window.
    fn growth(rtt: Span) -> f64 {
        let mut trace = avoiding(10_000.0, rtt);
        trace.round_trip() - 10_000.0
    }

    #[test]
    fn below_the_virtual_round_trip_growth_falls_with_the_square_of_the_distance() {
        // (5 / 25)², (10 / 25)², and a packet per round trip from 25 ms on.
        for (millis, packets) in [(5, 0.04), (10, 0.16), (25, 1.0), (100, 1.0)] {
            let grown = growth(Span::from_millis(millis));
            assert!((grown / packets - 1.0).abs() < 1e-3, "{millis} ms: {grown}");
        }
    }

    #[test]
    fn hosts_of_linux_have_the_same_fractions() {
        // 12 packets and 0.04 a round trip of 5 ms; the first mark halves them, 15/32 the next.
        let windows = [Version::Published, Version::Linux].map(|version| {
            let params = Params { transition: 0, ..Params::default() };
            let start = Start { version, ..Start::avoiding(12.0) };
            let mut trace = Trace::new(Prague::new(params, start));
            trace.rtt = Span::from_millis(5);
            (0..5).for_each(|_| _ = trace.round_trip());
            let grown = trace.window();
            trace.ecn();
            (grown, trace.window())
        });
        let (grown, left) = windows[1];
        assert!((grown - 12.2).abs() < 0.002, "{grown}");
        assert_eq!(left, grown / 2.0);
        assert_eq!(windows[0], windows[1]);
    }

    #[test]
    fn five_hundred_round_trips_pass_before_the_virtual_one_counts() {
        let start = Start::avoiding(20.0);
        let mut trace = Trace::new(Prague::new(Params::default(), start));
        trace.rtt = Span::from_millis(5);
        for _ in 0..490 {
            trace.round_trip();
        }
        let before = trace.window();
        assert!((trace.round_trip() - before - 1.0).abs() < 0.01);
        for _ in 0..20 {
            trace.round_trip();
        }
        let after = trace.window();
        assert!((trace.round_trip() - after - 0.04).abs() < 0.001);
        assert_eq!(trace.controller.virtual_rtt(), Span::from_millis(25));
    }

    #[test]
    fn the_first_mark_halves_and_the_next_waits_for_a_virtual_round_trip() {
        let mut trace = avoiding(400.0, Span::from_millis(5));
        trace.round_trip();
        trace.marked = true;
        trace.ack(Span::ZERO);
        let before = trace.window();
        assert_eq!(trace.controller.marking.alpha(), 1.0);
        trace.ecn();
        assert_eq!(trace.window(), before / 2.0);
        trace.now += Span::from_micros(24_999);
        trace.ecn();
        assert_eq!(trace.window(), before / 2.0);
        trace.now += Span::from_micros(1);
        trace.ecn();
        assert_eq!(trace.window(), before / 4.0);
    }

    #[test]
    fn the_fraction_moves_once_per_virtual_round_trip_and_not_before_the_first_mark() {
        let mut trace = avoiding(100.0, Span::from_millis(5));
        for _ in 0..20 {
            trace.round_trip();
        }
        assert_eq!(trace.controller.marking.alpha(), 1.0);
        trace.marked = true;
        trace.ack(Span::ZERO);
        trace.marked = false;
        // 61 round trips of 5 ms are twelve of 25 ms and a little.
        for _ in 0..61 {
            trace.round_trip();
        }
        let alpha = trace.controller.marking.alpha();
        // The first window had one mark among some 500 packets.
        assert!((alpha / libm::pow(15.0 / 16.0, 12.0) - 1.0).abs() < 0.001, "{alpha}");
    }

    #[test]
    fn it_paces_at_a_window_per_round_trip_and_at_twice_that_in_slow_start() {
        let rate = |trace: &Trace<Prague>| trace.controller.control().pacing.map(|rate| rate.0);
        let mut trace = avoiding(400.0, Span::from_millis(20));
        assert_eq!(rate(&trace), None);
        trace.ack(Span::ZERO);
        assert_eq!(rate(&trace), Some(trace.window() / 0.02));
        let start = Start::new(10.0);
        let mut opening = Trace::new(Prague::new(Params::default(), start));
        opening.ack(Span::ZERO);
        assert_eq!(rate(&opening), Some(2.0 * 11.0 / 0.06));
    }

    #[test]
    fn behind_a_classic_queue_a_mark_takes_five_sixteenths_and_without_the_fallback_what_alpha_says() {
        // Few marks, and round trips between 20 and 44 ms: v and d are far above 750 µs and 2 ms.
        let left = [true, false].map(|fallback| {
            let params = Params { fallback, transition: 0, ..Params::default() };
            let mut trace = Trace::new(Prague::new(params, Start::avoiding(20.0)));
            trace.rtt = Span::from_millis(20);
            trace.marked = true;
            trace.ack(Span::ZERO);
            trace.marked = false;
            for round in 0..400 {
                trace.rtt = Span::from_millis(if round % 20 < 10 { 20 } else { 44 });
                if round % 50 == 0 {
                    trace.ecn();
                }
                trace.round_trip();
            }
            let before = trace.window();
            trace.ecn();
            trace.window() / before
        });
        assert!((left[0] - 0.6875).abs() < 1e-9 && left[1] > 0.99, "{left:?}");
    }
}

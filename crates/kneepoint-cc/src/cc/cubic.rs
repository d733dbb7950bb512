// SPDX-License-Identifier: Apache-2.0 OR MIT
//! CUBIC: the window is a cubic function of the time since the last loss, flat where that loss was.
//!
//! RFC 9438; as era rfc8312, RFC 8312; as era linux, `tcp_cubic` of Linux 6.18; and, as era 2006, Linux 2.6.22 after S. Ha, I. Rhee, L. Xu, "CUBIC: A New TCP-Friendly High-Speed TCP Variant", PFLDnet 2005.
//!
//! ```text
//! Wcubic(t) = C (t - K)³ + Wmax             §4.2, Figure 1
//! K = cbrt((Wmax - Wepoch) / C)             §4.2, Figure 2
//! target = Wcubic(t + RTT), within [W, 1.5 W]
//! each packet acknowledged:                 §4.3 to §4.5
//!   West += a / W,  a = 3 (1 - b) / (1 + b), or 1 once West >= Wprior
//!   W = West                                where Wcubic(t) < West
//!   W += (target - W) / W                   elsewhere
//! loss: Wprior = W;                         §4.6, §4.7
//!       Wmax = W, or W (1 + b) / 2 where W < Wmax;  S = W = max(b · flight, 2)
//! timeout: S likewise; then K = 0 and Wmax = Wepoch, §4.8
//! ```
//!
//! `W` window, `S` slow-start threshold, `Wepoch` window as avoidance begins: packets; `t` time since then: s;
//! `C` = 0.4 packets/s³; `b` = 0.7 is the fraction that a loss leaves.
//!
//! Readings: `t` does not advance while something other than the window limits the sender (§4.2, §5.8); RTT is
//! smoothed as in RFC 6298; no acknowledgement shrinks the window.
//!
//! Era rfc8312 differs: K = cbrt(Wmax (1 - b) / C), so that after fast convergence the curve begins below the window, which waits for it;
//! West = b Wmax + a t / RTT; a loss leaves b of the window, not of the flight, and `t` begins with it instead of after its repair; before the first loss
//! and after a timeout Wmax is the window as avoidance begins. QUIC stacks have this one (noq 1.4, quinn 0.11).
//!
//! Era linux differs: windows, losses and curve are whole packets, and time is ticks; C = 410/1024, b = 717/1024 of the window, not of the
//! flight; slow start ends by HyStart; RTT is the smallest one. Per packet gained, 20 are acknowledged at most before the first loss and
//! after a timeout, 100 W where the curve is not above the window, never less than 2; West gains a packet for 15/8 W, and the window
//! follows it by one for W / (West - W); only while nothing is in flight does `t` not advance.
//!
//! Era 2006 differs: b = 819/1024; RTT is the smallest one; past K the window gains at most 16 packets per
//! 100 ms of RTT; before the first loss, and after a timeout, a packet per 50 acknowledged; `a` never changes;
//! no [W, 1.5 W], but at most one packet per packet acknowledged. Its rule for delayed acknowledgements is
//! left out: here packets are counted, not acknowledgements.

use alloc::vec::Vec;

use super::delay::Delay;
use super::steady::{Losses, ResponseFunction, aimd};
use super::window::{InLinux, Window};
use super::{Ack, Control, Controller, Loss, Sizes, SlowStart, Start, Timeout, Version};
use crate::rng::Rng;
use crate::units::{Span, Time};

pub use era::Era;
use linux::Steps;

mod era;
mod era_2006;
mod linux;
mod rfc8312;

crate::settings! {
    /// CUBIC's parameters.
    pub struct Params {
        /// The rules, and the value of `beta`.
        era: Era = Era::Auto;
        /// C: how steep the cubic function is, in packets per second cubed; 0 takes the era's, 0.4 or Linux's 410/1024.
        scale: f64 = 0.0, 0.0..=100.0;
        /// The fraction of the window that a loss leaves; 0 takes the era's, 0.7, Linux's 717/1024, or 819/1024.
        beta: f64 = 0.0, 0.0..=0.99;
        /// Packets gained at most per 100 ms of round-trip time past K, in era 2006.
        max_increment: f64 = 16.0, 0.1..=1000000.0;
        /// Give way after a loss below the window of the loss before.
        fast_convergence: bool = true;
        /// Never be slower than Reno would be.
        reno_friendly: bool = true;
        /// The tick of the kernel's clock, in era linux (CONFIG_HZ: 1, 4 or 10 ms).
        tick: Span = Span::from_millis(4), Span(1000)..=Span::from_millis(100);
    }
}

/// The weight of the past in the smoothed RTT (RFC 6298).
const SMOOTHING: f64 = 0.875;

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// Its start, shifted by the time for which its clock stood still.
    began: Time,
    /// K in seconds.
    k: f64,
    /// The window at K.
    origin: f64,
    /// West: the window that Reno would have.
    reno: f64,
}

/// A CUBIC controller.
#[derive(Clone, Debug)]
pub struct Cubic {
    window: Window,
    rtt: Delay,
    epoch: Option<Epoch>,
    heard: Time,
    /// Wmax; zero before the first loss and after a timeout.
    w_max: f64,
    w_prior: f64,
    scale: f64,
    beta: f64,
    /// `a` until West reaches Wprior.
    reno_gain: f64,
    /// Packets per second of round-trip time.
    max_increment: f64,
    /// Not `auto`.
    era: Era,
    tick: Span,
    /// Era linux: packets acknowledged towards the next packet of the window, and of West.
    steps: Steps,
    fast_convergence: bool,
    reno_friendly: bool,
}

/// A product costs an acknowledgement less than a quotient.
#[inline]
fn seconds(span: Span) -> f64 {
    span.0 as f64 * 1e-9
}

/// C (t - K)³ + Wmax.
#[inline]
fn cubic_window(scale: f64, t: f64, k: f64, w_max: f64) -> f64 {
    let from_k = t - k;
    scale * from_k * from_k * from_k + w_max
}

impl Cubic {
    fn begin_epoch(&self, now: Time) -> Epoch {
        let window = self.window.packets;
        let (k, origin) = if self.w_max > window {
            (libm::cbrt((self.w_max - window) / self.scale), self.w_max)
        } else {
            (0.0, window)
        };
        Epoch { began: now, k, origin, reno: window }
    }

    /// Congestion avoidance under RFC 9438.
    #[inline]
    fn avoid(&mut self, ack: &Ack) {
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(ack.now));
        let t = seconds(ack.now.since(epoch.began));
        let window = self.window.packets;
        let share = ack.credit / window;
        let gain = if epoch.reno >= self.w_prior { 1.0 } else { self.reno_gain };
        epoch.reno += gain * share;
        self.window.packets =
            if self.reno_friendly && cubic_window(self.scale, t, epoch.k, epoch.origin) < epoch.reno {
                window.max(epoch.reno)
            } else {
                let rtt = seconds(self.rtt.smoothed());
                let reach = cubic_window(self.scale, t + rtt, epoch.k, epoch.origin);
                window + (reach - window).clamp(0.0, 0.5 * window) * share.min(1.0)
            };
        self.epoch = Some(epoch);
    }

    /// Congestion avoidance in other eras, in a separate function to save registers in the first.
    #[inline(never)]
    fn avoid_otherwise(&mut self, ack: &Ack) {
        match self.era {
            Era::Linux => self.avoid_linux(ack.now, ack.credit),
            Era::Rfc8312 => self.avoid_8312(ack.now, ack.credit),
            Era::Auto | Era::Rfc9438 | Era::Linux2006 => self.avoid_2006(ack.now, ack.credit),
        }
    }

    /// Slow start; in era linux the rest of an acknowledgement at its end counts in avoidance.
    fn start(&mut self, ack: &Ack) {
        if self.era != Era::Linux {
            return self.window.grow(ack, 1.0);
        }
        let before = self.window.packets;
        self.window.grow(ack, 0.0);
        let left = ack.credit - (self.window.packets - before);
        if !self.window.slow_start() && left > 0.0 {
            self.avoid_linux(ack.now, left);
        }
    }

    /// Whole packets, in era linux.
    fn counted(&self, packets: f64) -> f64 {
        if self.era == Era::Linux { libm::floor(packets) } else { packets }
    }

    /// The window that a loss leaves.
    fn left(&self, flight: f64) -> f64 {
        let of_window = matches!(self.era, Era::Linux | Era::Rfc8312);
        let before = if of_window { self.window.packets } else { flight };
        self.counted(before * self.beta)
    }
}

impl Controller for Cubic {
    type Params = Params;

    const STEADY_STATE: &'static [ResponseFunction] = &[
        ResponseFunction {
            source: "RFC 9438 §5.1",
            formula: "1.054 (RTT/p)^(3/4)",
            settings: &[("fast_convergence", "false")],
            losses: Losses::Periodic,
            window: |p, rtt| 1.054 * libm::pow(rtt / p, 0.75),
            rates: &[1e-4, 1e-5],
            within: 0.01,
            because: "the window chases a target a round trip ahead, and stays a little behind the curve",
        },
        ResponseFunction {
            source: "RFC 9438 §5.1, Table 1",
            formula: "as Reno where that is more",
            settings: &[("fast_convergence", "false")],
            losses: Losses::Periodic,
            window: |p, _| aimd(1.0, 0.5, p),
            rates: &[1e-2, 1e-3],
            within: 0.035,
            because: "just after a loss the cubic curve is steeper than Reno's line, and a cycle begins with it",
        },
        ResponseFunction {
            source: "S. Ha et al., OSR 42(5) 2008",
            formula: "1.17 (RTT/p)^(3/4)",
            settings: &[("era", "2006"), ("fast_convergence", "false")],
            losses: Losses::Periodic,
            window: |p, rtt| 1.17 * libm::pow(rtt / p, 0.75),
            rates: &[1e-4, 1e-5],
            within: 0.01,
            because: "1.17 and β = 0.8 are rounded; the window stays a little behind the curve",
        },
    ];

    fn new(params: Params, start: Start) -> Cubic {
        let era = params.era.of(start.version);
        let (scale, beta, own) = era.rules();
        let or = |given: f64, rule: f64| if given > 0.0 { given } else { rule };
        let beta = or(params.beta, beta);
        let in_linux = if era == Era::Linux { InLinux::WholeLeft } else { InLinux::Fractions };
        let slow_start = if start.slow_start == SlowStart::Own { own } else { start.slow_start };
        Cubic {
            window: Window::new(Start { slow_start, ..start }, in_linux),
            rtt: Delay::new(SMOOTHING),
            epoch: None,
            heard: Time::ZERO,
            w_max: 0.0,
            w_prior: 0.0,
            scale: or(params.scale, scale),
            beta,
            reno_gain: 3.0 * (1.0 - beta) / (1.0 + beta),
            max_increment: params.max_increment * 10.0,
            era,
            tick: params.tick,
            steps: Steps::default(),
            fast_convergence: params.fast_convergence,
            reno_friendly: params.reno_friendly,
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        if let Some(rtt) = ack.rtt.filter(|_| self.era != Era::Linux || self.believes(ack.now)) {
            self.rtt.observe(rtt);
        }
        let silence = ack.now.since(self.heard);
        self.heard = ack.now;
        if self.window.slow_start() {
            self.start(ack);
        } else if ack.credit <= 0.0 {
            // Linux's curve stops only while nothing is in flight, and RFC 8312's goes on during repairs.
            let goes_on = self.era == Era::Linux || self.era == Era::Rfc8312 && ack.recovering;
            if let Some(epoch) = self.epoch.as_mut().filter(|_| !goes_on) {
                epoch.began += silence;
            }
        } else if self.era == Era::Rfc9438 {
            self.avoid(ack);
        } else {
            self.avoid_otherwise(ack);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        let window = self.window.packets;
        let gives_way = self.fast_convergence && window < self.w_max;
        self.w_prior = window;
        self.w_max = self.counted(if gives_way { window * (1.0 + self.beta) / 2.0 } else { window });
        self.epoch = (self.era == Era::Rfc8312).then(|| self.begin_epoch_8312(loss.now));
        self.steps = Steps::default();
        self.window.reduce_to(self.left(loss.flight));
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if !timeout.reported {
            self.w_prior = self.window.packets;
        }
        self.w_max = 0.0;
        self.epoch = None;
        self.steps = Steps::default();
        if self.era == Era::Linux {
            self.rtt = Delay::new(SMOOTHING);
        }
        self.window.restart(timeout, self.left(timeout.flight));
    }

    fn on_resume(&mut self, now: Time, idle: Span) {
        if let Some(epoch) = self.epoch.as_mut().filter(|_| self.era == Era::Linux) {
            epoch.began = (epoch.began + idle).min(now);
        }
    }

    fn sizes(&mut self) -> Option<Sizes<'_>> {
        Some(self.window.sizes())
    }

    #[inline]
    fn control(&self) -> Control {
        self.window.control()
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let (k, reno) = self.epoch.map_or((0.0, 0.0), |epoch| (epoch.k, epoch.reno));
        vec![("w_max_packets", self.w_max), ("w_est_packets", reno), ("k_s", k)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;

    pub(super) fn avoiding(window: f64, params: Params) -> Trace<Cubic> {
        Trace::new(Cubic::new(params, Start::avoiding(window)))
    }

    /// Acknowledges evenly, a window per round trip, until `span` has passed; the window then.
    pub(super) fn run(trace: &mut Trace<Cubic>, span: Span) -> f64 {
        let end = trace.now + span;
        while trace.now < end {
            trace.ack(Span((trace.rtt.0 as f64 / trace.window()) as u64));
        }
        trace.window()
    }

    #[test]
    fn the_window_function_has_the_numbers_of_the_equations() {
        // A loss at 1000 packets leaves 700: K = cbrt(300 / 0.4) = 9.0856 s.
        let k = libm::cbrt(300.0 / 0.4);
        assert!((k - 9.0856).abs() < 1e-4);
        let at = |t| cubic_window(0.4, t, k, 1000.0);
        assert!((at(0.0) - 700.0).abs() < 1e-9);
        assert_eq!(at(k), 1000.0);
        assert!((at(k + 5.0) - 1050.0).abs() < 1e-9);
        assert!((at(k - 5.0) - 950.0).abs() < 1e-9);
    }

    #[test]
    fn a_loss_leaves_70_percent_and_the_window_returns_after_k() {
        let mut trace = avoiding(1000.0, Params::default());
        trace.loss();
        assert!((trace.window() - 700.0).abs() < 1e-9);
        let returned = run(&mut trace, Span::from_secs_f64(9.0856));
        assert!((trace.controller.epoch.unwrap().k - 9.0856).abs() < 1e-4);
        assert!((returned - 1000.0).abs() < 1.0, "{returned}");
        // Five seconds beyond K: 1000 + 0.4 · 5³ = 1050; the window chases a target one round trip ahead.
        let beyond = run(&mut trace, Span::from_secs(5));
        assert!((beyond - 1050.0).abs() < 2.0, "{beyond}");
    }

    #[test]
    fn time_stands_still_while_the_window_does_not_limit() {
        let mut trace = avoiding(1000.0, Params::default());
        trace.loss();
        run(&mut trace, Span::from_secs(1));
        let began = trace.controller.epoch.unwrap().began;
        trace.now += Span::from_secs(30);
        let idle = Ack {
            now: trace.now,
            rtt: Some(trace.rtt),
            one_way: None,
            acked: 1,
            delivered: trace.una,
            resent: 0,
            marked: 0,
            credit: 0.0,
            limited: true,
            una: trace.una,
            next: trace.una,
            in_flight: 1,
            recovering: false,
        };
        trace.controller.on_ack(&idle, &mut Rng::stream(1, "unused", 0));
        assert_eq!(trace.controller.epoch.unwrap().began, began + Span::from_secs(30));
    }

    #[test]
    fn a_short_path_is_renos() {
        // 20 packets over 10 ms: a = 3 · 0.3 / 1.7 = 0.5294 packets a round trip from 14; the cubic adds less.
        let mut trace = avoiding(20.0, Params::default());
        trace.rtt = Span::from_millis(10);
        trace.loss();
        assert!((trace.controller.reno_gain - 0.5294).abs() < 1e-4);
        for _ in 0..10 {
            trace.round_trip();
        }
        assert!((trace.window() - (14.0 + 10.0 * 0.5294)).abs() < 0.4, "{}", trace.window());
        assert_eq!(trace.window(), trace.controller.epoch.unwrap().reno);
        let alone = Params { reno_friendly: false, ..Params::default() };
        let mut slower = avoiding(20.0, alone);
        slower.rtt = Span::from_millis(10);
        slower.loss();
        for _ in 0..10 {
            slower.round_trip();
        }
        assert!(slower.window() < 16.0, "{}", slower.window());
    }

    #[test]
    fn a_second_loss_at_a_smaller_window_gives_way() {
        let mut trace = avoiding(1000.0, Params::default());
        trace.loss();
        trace.loss();
        // 700 (1 + 0.7) / 2.
        assert!((trace.controller.w_max - 595.0).abs() < 1e-9);
        assert!((trace.window() - 490.0).abs() < 1e-9);
    }

    #[test]
    fn after_a_timeout_avoidance_starts_at_its_origin() {
        let mut trace = avoiding(100.0, Params::default());
        trace.timeout();
        assert_eq!((trace.window(), trace.controller.window.ssthresh), (1.0, 70.0));
        while trace.controller.epoch.is_none() {
            trace.ack(Span::from_millis(1));
        }
        let epoch = trace.controller.epoch.unwrap();
        assert_eq!((epoch.k, epoch.origin), (0.0, 70.0));
    }

    #[test]
    fn the_host_chooses_the_era_unless_it_is_named() {
        let linux = Start { version: Version::Linux, ..Start::avoiding(10.0) };
        let era = |era, start| Cubic::new(Params { era, ..Params::default() }, start).era;
        assert_eq!(era(Era::Auto, Start::avoiding(10.0)), Era::Rfc9438);
        assert_eq!(era(Era::Auto, linux), Era::Linux);
        assert_eq!(era(Era::Rfc9438, linux), Era::Rfc9438);
        assert_eq!(era(Era::Linux, Start::avoiding(10.0)), Era::Linux);
    }
}

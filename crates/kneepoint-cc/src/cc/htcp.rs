// SPDX-License-Identifier: Apache-2.0 OR MIT
//! H-TCP: the longer since the last loss the faster it grows, and it falls no further than the queue was long.
//!
//! D. Leith, "H-TCP: TCP Congestion Control for High Bandwidth-Delay Product Paths", draft-leith-tcp-htcp-06, 2008, after D. Leith, R. Shorten, PFLDnet 2004.
//!
//! ```text
//! f(Δ) = 1                                   Δ <= ΔL
//!        1 + 10 (Δ - ΔL) + (Δ - ΔL)² / 4     Δ > ΔL
//! f <- max(f / clamp(0.1 s / RTTmin, 1/2, 10), 1)               with RTT scaling
//! W < S:   W += acked        W >= S:   W += 2 (1 - β) f(Δ) · acked / W
//! loss:    β = 1/2                           |B - Bprevious| > ΔB Bprevious, or without adaptive backoff
//!          β = RTTmin / RTTmax, in [1/2, βmax]                                                elsewhere
//!          S = W = β W
//! ```
//!
//! `W` window, `S` slow-start threshold: packets; `Δ` time since the last loss, `ΔL` = 1 s, `Δ` terms: s; `f` packets
//! per round trip; `B` throughput before the loss, `Bprevious` before the loss before: packets/s; `ΔB` = 0.2,
//! `βmax` = 0.8. The factor 2 (1 - β) keeps the mean window of β = 1/2.
//!
//! Readings, as in Linux where the draft leaves room: `B` is the greatest rate of a round trip since the loss before,
//! smoothed by 3:1; before the first loss Δ counts from the first acknowledgement; RTTmin is that of the connection;
//! RTTmax is the greatest since the previous loss, or RTTmin + 0.95 (RTTmax - RTTmin) from the interval before that;
//! samples during recovery do not count. An acknowledged
//! packet adds no more than one packet.
//!
//! On Linux hosts as `tcp_htcp` of Linux 6.12 (`htcp/linux.rs`), in whole numbers: growth is at most half as fast on short paths, since
//! `f` is rounded down after scaling; RTTmin / RTTmax counts only after two losses without a change of throughput.

use alloc::{boxed::Box, vec::Vec};

use super::steady::{Losses, ResponseFunction, solve};
use super::window::{InLinux, Window};
use super::{Ack, Control, Controller, Loss, Sizes, Start, Timeout, Version};
use crate::rng::Rng;
use crate::units::{Span, Time};

use linux::Kernel;

mod linux;

crate::settings! {
    /// H-TCP's parameters.
    pub struct Params {
        /// ΔL: the time after a loss during which H-TCP grows as Reno.
        low_speed: Span = Span::from_secs(1), Span::ZERO..=Span::from_secs(1000);
        /// ΔB: the change of throughput from loss to loss above which a loss halves.
        throughput_change: f64 = 0.2, 0.0..=1.0;
        /// The largest fraction of the window that a loss leaves.
        beta_max: f64 = 0.8, 0.5..=0.99;
        /// Leave RTTmin / RTTmax of the window at a loss, instead of a half.
        adaptive_backoff: bool = true;
        /// Grow as much per second as with a round trip of 100 ms, within 1/2 and 10 times as much per round trip.
        rtt_scaling: bool = true;
    }
}

/// The smallest fraction of the window that a loss leaves.
const BETA_MIN: f64 = 0.5;

/// The fraction of the longest round trip that is kept after a loss.
const FADING: f64 = 0.95;

/// An H-TCP controller.
#[derive(Clone, Debug)]
pub struct Htcp {
    window: Window,
    beta: f64,
    /// 1 / clamp(0.1 s / RTTmin, 1/2, 10), or one.
    per_scale: f64,
    /// The time of the last loss; before the first, of the first acknowledgement.
    lost: Option<Time>,
    least: Span,
    greatest: Span,
    /// The round ends when this packet is acknowledged.
    marker: u64,
    round_began: Time,
    round_packets: u64,
    /// Whether the loss is being repaired: packets that arrived meanwhile are acknowledged at once, and do not
    /// count as throughput.
    repairing: bool,
    /// Packets per second; zero before the first round.
    rate: f64,
    greatest_rate: f64,
    /// Bprevious; zero before the first loss.
    previous_rate: f64,
    low_speed: f64,
    throughput_change: f64,
    beta_max: f64,
    adaptive_backoff: bool,
    rtt_scaling: bool,
    /// On Linux hosts.
    linux: Option<Box<Kernel>>,
}

/// 1 / clamp(0.1 s / RTTmin, 1/2, 10).
fn per_scale(rtt: f64) -> f64 {
    (rtt / 0.1).clamp(0.1, 2.0)
}

/// f, `seconds` after ΔL.
#[inline]
fn growth(seconds: f64) -> f64 {
    let beyond = seconds.max(0.0);
    1.0 + beyond * (10.0 + 0.25 * beyond)
}

impl Htcp {
    fn observe(&mut self, rtt: Span, recovering: bool) {
        if rtt < self.least {
            self.least = rtt;
            if self.rtt_scaling {
                self.per_scale = per_scale(rtt.as_secs_f64());
            }
        }
        if !recovering {
            self.greatest = self.greatest.max(rtt);
        }
    }

    /// Measures the throughput of the round that `ack` ends.
    fn end_round(&mut self, ack: &Ack) {
        let seconds = ack.now.since(self.round_began).as_secs_f64();
        if seconds > 0.0 {
            let rate = self.round_packets as f64 / seconds;
            self.rate = if self.greatest_rate == 0.0 { rate } else { 0.75 * self.rate + 0.25 * rate };
            self.greatest_rate = self.greatest_rate.max(self.rate);
        }
        self.begin_round(ack.now, ack.next);
    }

    fn begin_round(&mut self, now: Time, marker: u64) {
        self.round_began = now;
        self.round_packets = 0;
        self.marker = marker;
    }

    /// Sets β for the loss at `now`, and starts over measuring.
    fn back_off(&mut self, now: Time) {
        if let Some(kernel) = &mut self.linux {
            kernel.back_off(now, self.rtt_scaling);
            self.beta = kernel.beta();
            return;
        }
        let changed =
            (self.greatest_rate - self.previous_rate).abs() > self.throughput_change * self.previous_rate;
        self.beta = if changed || !self.adaptive_backoff || self.greatest == Span::ZERO {
            BETA_MIN
        } else {
            (self.least.0 as f64 / self.greatest.0 as f64).clamp(BETA_MIN, self.beta_max)
        };
        self.previous_rate = self.greatest_rate;
        self.greatest_rate = 0.0;
        let queueing = self.greatest.saturating_sub(self.least);
        self.greatest = self.greatest.min(self.least) + Span((queueing.0 as f64 * FADING) as u64);
        self.lost = Some(now);
        self.repairing = true;
    }

    /// Packets per round trip.
    #[inline]
    fn increase(&self, now: Time) -> f64 {
        let since = now.since(self.lost.unwrap_or(now));
        // A product costs an acknowledgement less than a quotient.
        let growth = growth(since.0 as f64 * 1e-9 - self.low_speed) * self.per_scale;
        2.0 * (1.0 - self.beta) * growth.max(1.0)
    }
}

/// Packets from loss to loss, `t` seconds, at a constant round-trip time of `rtt` seconds: β is then βmax.
fn cycle(params: &Params, t: f64, rtt: f64) -> f64 {
    let beta = params.beta_max;
    let beyond = (t - params.low_speed.as_secs_f64()).max(0.0);
    let per_second = 2.0 * (1.0 - beta) * per_scale(rtt) / rtt;
    // The integral of f, and the integral of that.
    let gained = per_second * (t + beyond * beyond * (5.0 + beyond / 12.0));
    let area = per_second * (t * t / 2.0 + beyond * beyond * beyond * (5.0 / 3.0 + beyond / 48.0));
    let after_loss = gained * beta / (1.0 - beta);
    (after_loss * t + area) / rtt
}

impl Controller for Htcp {
    type Params = Params;

    const STEADY_STATE: &'static [ResponseFunction] = &[ResponseFunction {
        source: "derived: the draft's equations, integrated",
        formula: "the cycle that gains (1 - βmax) W in 1 / p packets",
        settings: &[],
        losses: Losses::Periodic,
        window: |p, rtt| {
            let seconds = solve(1.0 / p, |seconds| cycle(&Params::default(), seconds, rtt));
            rtt / (p * seconds)
        },
        rates: &[1e-3, 1e-4, 1e-5],
        within: 0.005,
        because: "packets are counted one by one",
    }];

    fn new(params: Params, start: Start) -> Htcp {
        Htcp {
            window: Window::new(start, InLinux::WholeLeft),
            beta: BETA_MIN,
            per_scale: 1.0,
            lost: None,
            least: Span::MAX,
            greatest: Span::ZERO,
            marker: 0,
            round_began: Time::ZERO,
            round_packets: 0,
            repairing: false,
            rate: 0.0,
            greatest_rate: 0.0,
            previous_rate: 0.0,
            low_speed: params.low_speed.as_secs_f64(),
            throughput_change: params.throughput_change,
            beta_max: params.beta_max,
            adaptive_backoff: params.adaptive_backoff,
            rtt_scaling: params.rtt_scaling,
            linux: (start.version == Version::Linux).then(|| Box::new(Kernel::new())),
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        if self.linux.is_some() {
            return self.avoid_as_linux(ack);
        }
        if let Some(rtt) = ack.rtt {
            self.observe(rtt, ack.recovering);
        }
        if self.lost.is_none() || self.repairing {
            self.lost.get_or_insert(ack.now);
            self.repairing = ack.recovering;
            self.begin_round(ack.now, ack.next);
        } else {
            self.round_packets += u64::from(ack.acked);
            if ack.una > self.marker {
                self.end_round(ack);
            }
        }
        let increase = self.increase(ack.now).min(self.window.packets);
        self.window.grow(ack, increase);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.back_off(loss.now);
        self.window.reduce_to(loss.flight * self.beta);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if !timeout.reported {
            self.back_off(timeout.now);
        }
        self.window.restart(timeout, timeout.flight * self.beta);
    }

    fn sizes(&mut self) -> Option<Sizes<'_>> {
        Some(self.window.sizes())
    }

    #[inline]
    fn control(&self) -> Control {
        self.window.control()
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("beta", self.beta), ("throughput_packets_per_s", self.rate)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;

    fn avoiding(window: f64, params: Params) -> Trace<Htcp> {
        let start = Start::avoiding(window);
        let mut trace = Trace::new(Htcp::new(params, start));
        trace.rtt = Span::from_millis(100);
        trace
    }

    /// Acknowledges evenly, a window per round trip, until `span` has passed; the window then.
    fn run(trace: &mut Trace<Htcp>, span: Span) -> f64 {
        let end = trace.now + span;
        while trace.now < end {
            trace.ack(Span((trace.rtt.0 as f64 / trace.window()) as u64));
        }
        trace.window()
    }

    #[test]
    fn growth_is_renos_for_a_second_then_a_quadratic_function() {
        // 1 + 10 · 2 + 2² / 4, two seconds after ΔL.
        for (seconds, packets) in [(-1.0, 1.0), (0.0, 1.0), (1.0, 11.25), (2.0, 22.0), (10.0, 126.0)] {
            assert_eq!(growth(seconds), packets);
        }
    }

    #[test]
    fn the_window_gains_its_integral() {
        // β = 1/2, 100 ms: f packets a round trip, so ten round trips at 1, then
        // 10 (t + 5 t² + t³ / 12) in t more seconds: 10 (2 + 20 + 2/3) in two.
        let mut trace = avoiding(1000.0, Params { adaptive_backoff: false, ..Params::default() });
        trace.ack(Span::from_millis(1));
        let gained = run(&mut trace, Span::from_secs(3)) - 1000.0;
        assert!((gained - 236.67).abs() < 2.5, "{gained}");
    }

    #[test]
    fn a_loss_leaves_the_share_of_the_path_without_its_queue() {
        let mut trace = avoiding(100.0, Params::default());
        for (rtt, beta) in [(100, 0.5), (150, 100.0 / 150.0), (110, 100.0 / 147.5)] {
            trace.rtt = Span::from_millis(rtt);
            // Evenly, so that the throughput is the same before every loss.
            trace.controller.greatest_rate = 1000.0;
            trace.ack(Span::from_millis(1));
            trace.loss();
            assert!((trace.controller.beta - beta).abs() < 1e-9, "{rtt}: {}", trace.controller.beta);
        }
    }

    #[test]
    fn the_backoff_stays_between_a_half_and_four_fifths() {
        for (longest, beta) in [(100, 0.8), (500, 0.5)] {
            let mut trace = avoiding(100.0, Params::default());
            trace.ack(Span::from_millis(1));
            trace.rtt = Span::from_millis(longest);
            trace.ack(Span::from_millis(1));
            (trace.controller.greatest_rate, trace.controller.previous_rate) = (1000.0, 1000.0);
            let before = trace.window();
            trace.loss();
            assert!((trace.window() / before - beta).abs() < 1e-9, "{longest}");
        }
    }

    #[test]
    fn a_change_of_throughput_by_more_than_a_fifth_halves() {
        for (rate, beta) in [(1190.0, 0.8), (1210.0, 0.5), (810.0, 0.8), (790.0, 0.5)] {
            let mut trace = avoiding(100.0, Params::default());
            trace.ack(Span::from_millis(1));
            (trace.controller.greatest_rate, trace.controller.previous_rate) = (rate, 1000.0);
            trace.loss();
            assert_eq!(trace.controller.beta, beta, "{rate}");
        }
    }

    #[test]
    fn throughput_is_a_window_per_round_trip() {
        let mut trace = avoiding(200.0, Params::default());
        run(&mut trace, Span::from_millis(450));
        // Four round trips of 100 ms at 200 to 204 packets.
        let rate = trace.controller.greatest_rate;
        assert!((2000.0..2040.0).contains(&rate), "{rate}");
    }

    #[test]
    fn what_a_repair_acknowledges_at_one_stroke_is_no_throughput() {
        let mut trace = avoiding(1000.0, Params::default());
        run(&mut trace, Span::from_millis(450));
        trace.loss();
        // Everything sent before the loss arrived during the recovery, and is acknowledged 100 ms later.
        trace.una += 1000;
        let ack = Ack {
            now: trace.now + Span::from_millis(100),
            rtt: None,
            one_way: None,
            acked: 1000,
            delivered: trace.una,
            resent: 1,
            marked: 0,
            credit: 1.0,
            una: trace.una,
            next: trace.una + 500,
            in_flight: 500,
            recovering: false,
            limited: false,
        };
        trace.controller.on_ack(&ack, &mut Rng::stream(1, "repair", 0));
        trace.now = ack.now;
        assert_eq!(trace.controller.greatest_rate, 0.0);
        run(&mut trace, Span::from_millis(450));
        let rate = trace.controller.greatest_rate;
        assert!((4500.0..5500.0).contains(&rate), "{rate}");
    }

    #[test]
    fn a_short_round_trip_gains_as_much_per_second_as_one_of_100_ms() {
        let after = |rtt: u64| {
            let mut trace = avoiding(100.0, Params { adaptive_backoff: false, ..Params::default() });
            trace.rtt = Span::from_millis(rtt);
            trace.ack(Span::from_millis(1));
            trace.controller.increase(trace.now + Span::from_secs(3)) * 1000.0 / rtt as f64
        };
        // f = 22: per second 220, also at 20 ms; at 5 ms the factor 10 is reached, and 22 / 10 a round trip are 440.
        for (rtt, per_second) in [(100, 220.0), (20, 220.0), (5, 440.0)] {
            assert!((after(rtt) - per_second).abs() < 1e-9, "{rtt}: {}", after(rtt));
        }
    }
}

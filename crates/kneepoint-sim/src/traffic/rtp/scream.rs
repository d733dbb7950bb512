// SPDX-License-Identifier: Apache-2.0 OR MIT
//! SCReAMv2: a reference window of bytes in flight, by queueing delay, loss and marks, from which the media rate follows.
//!
//! Johansson, Westerlund and Kühlewind, "Self-clocked rate adaptation for multimedia", draft-ietf-ccwg-rfc8298bis-screamv2 (the authors'
//! working copy of August 2026, after -00), which obsoletes RFC 8298.
//!
//! ```text
//! T          min(VIRTUAL_RTT, s_rtt), VIRTUAL_RTT = 25 ms: the least time between two reactions
//! qdelay_avg qdelay if that is less, else ¼ qdelay + ¾ qdelay_avg, each T
//! l4s_alpha  F/8 + 7/8 α if F ≥ α, else 127/128 α, each min(10 ms, s_rtt); F marked / delivered packets
//! scl        (8 (w − w_i) / w_i)², within 0.1 and 1; w_i the window at the first reaction after an increase
//! loss       w ← 0.7 w
//! CE, L4S    w ← (1 − b) w, b = α/2 / max(1, s_rtt / 25 ms), times max(¼, scl) for qdelay < target / 4;
//!            first w ← min(w, most in flight in the last round trip) if the last reaction is 100 max(25 ms, s_rtt) ago
//! CE         w ← 0.8 w without L4S
//! delay      w ← (1 − α_v/2 / max(1, s_rtt / 25 ms)) w, α_v = (qdelay_avg − target/2) / (target/2), at most 1; target 60 ms
//! increase   Δ = acked, not CE · MSS/w (at most 1) · min(1, s_rtt / 25 ms) · max(¼, scl) · (1 + 0.02 w / MSS · p · scl);
//!            p = time since congestion / (100 max(25 ms, s_rtt)), at most 1
//!            if w + Δ ≤ MSS + 1.5 · most in flight in the present or last round trip, and target rate < highest
//! w          at least 3000 bytes;   send window 3 w, the overhead without jitter
//! rate       8 w / s_rtt · (1 − min(0.2, max(0, MSS/w − 0.1))) · MSS / (MSS + 20) / (1.2 + adjust + deviation)
//! adjust     ← adjust + (wait of the media queue / frame period − ¼) / 16, within 0 and ½, each frame
//! deviation  ← 63/64 deviation + max(0, size / nominal − 1) / 64, at most 0.2, each frame
//! pace       1.5 · rate, of 50 kbit/s at least, up to 4 times as much as the rate approaches the highest from 80 % of it
//! ```
//!
//! Readings: MSS is the full packet; VIRTUAL_RTT bounds the reaction to losses and marks, too; most in flight starts afresh each s_rtt; the
//! base delay is the least seen. Departures: the options of the draft are left out, with their variables at the values that switch them off:
//! REDUCE_JITTER (the scale of delay stays 1), competing flows (the target of delay stays 60 ms), conditional loss, policers, undershoot;
//! and the limit by past bytes in flight at the highest rate, for which the draft refers to code.

use super::{Control, Limits, Seen};
use crate::units::{Span, Time};

crate::settings! {
    /// The signals and gains.
    pub struct Params {
        /// Whether packets are ECT(1) and marks lower the window in proportion.
        l4s: bool = false;
        /// Target of the queueing delay.
        target: Span = Span::from_millis(60), Span::from_millis(1)..=Span::from_secs(1);
        /// Part of the window that remains after a loss.
        beta: f64 = 0.7, 0.1..=1.0;
        /// Part of the window by which it may grow in a round trip.
        growth: f64 = 0.02, 0.0..=1.0;
    }
}

/// In seconds.
const VIRTUAL_RTT: f64 = 0.025;
/// In bytes.
const LEAST_WINDOW: f64 = 3000.0;
/// In round-trip times.
const POST_CONGESTION: f64 = 100.0;

/// The control. Times are in seconds, sizes in bytes, rates in bit/s.
#[derive(Clone, Debug)]
pub struct Scream {
    params: Params,
    limits: Limits,
    mss: f64,
    window: f64,
    inflection: f64,
    may_inflect: bool,
    rtt: Option<f64>,
    base: f64,
    delay: f64,
    delay_mean: f64,
    delay_at: f64,
    alpha: f64,
    alpha_at: f64,
    delivered: f64,
    marked: f64,
    /// Losses and marks since the last reaction.
    lost: bool,
    hit: bool,
    reacted: f64,
    congested: f64,
    flying: f64,
    flying_before: f64,
    round: f64,
    adjust: f64,
    deviation: f64,
    rate: f64,
}

/// A reaction to congestion.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Signal {
    Loss,
    Mark,
    /// A queue, with α_v.
    Delay(f64),
}

impl Control for Scream {
    type Params = Params;

    fn new(params: Params, limits: Limits) -> Scream {
        Scream {
            params,
            limits,
            mss: limits.packet.0 as f64,
            window: LEAST_WINDOW,
            inflection: 1.0,
            may_inflect: true,
            rtt: None,
            base: f64::INFINITY,
            delay: 0.0,
            delay_mean: 0.0,
            delay_at: 0.0,
            alpha: 0.0,
            alpha_at: 0.0,
            delivered: 0.0,
            marked: 0.0,
            lost: false,
            hit: false,
            reacted: 0.0,
            congested: 0.0,
            flying: 0.0,
            flying_before: 0.0,
            round: 0.0,
            adjust: 0.0,
            deviation: 0.0,
            rate: limits.start.as_f64(),
        }
    }

    fn scalable(&self) -> bool {
        self.params.l4s
    }

    fn on_feedback(&mut self, seen: &Seen, now: Time) {
        let now = now.0 as f64 / 1e9;
        if let Some(sample) = seen.rtt.map(Span::as_secs_f64) {
            self.rtt = Some(self.rtt.map_or(sample, |rtt| 0.875 * rtt + 0.125 * sample).max(1e-4));
        }
        let Some(rtt) = self.rtt else { return };
        self.measure(seen, now, rtt);
        let scale = self.scale();
        self.reduce(now, rtt, scale);
        let newly: f64 = seen
            .packets
            .iter()
            .filter(|packet| packet.arrived.is_some() && !packet.marked)
            .map(|packet| packet.size)
            .sum();
        self.increase(newly, now, rtt, scale);
        self.rate_media(rtt);
    }

    fn on_frame(&mut self, size: f64, waits: Span) {
        let period = self.limits.frame.as_secs_f64();
        let error = (waits.as_secs_f64() - period / 4.0) / period;
        self.adjust = (self.adjust + error / 16.0).clamp(0.0, 0.5);
        let nominal = self.rate * period / 8.0;
        let apart = (size / nominal - 1.0).max(0.0);
        self.deviation = (63.0 / 64.0 * self.deviation + apart / 64.0).min(0.2);
    }

    fn target(&self) -> f64 {
        self.rate
    }

    fn pace(&self) -> f64 {
        let near = (self.rate / self.limits.max.as_f64() - 0.8) / 0.2;
        let scale = (1.0 - near.min(1.0)).clamp(0.25, 1.0);
        1.5 * self.rate.max(50e3) / scale
    }

    fn window(&self) -> f64 {
        3.0 * self.window
    }
}

impl Scream {
    /// Delays, marks, losses and bytes in flight.
    fn measure(&mut self, seen: &Seen, now: f64, rtt: f64) {
        for packet in seen.packets {
            self.delivered += f64::from(u8::from(packet.arrived.is_some()));
            self.marked += f64::from(u8::from(packet.marked));
            self.hit |= packet.marked;
            match packet.arrived {
                None => self.lost = true,
                Some(at) => {
                    let way = at.since(packet.sent).as_secs_f64();
                    self.base = self.base.min(way);
                    self.delay = way - self.base;
                }
            }
        }
        if now - self.delay_at >= rtt.min(VIRTUAL_RTT) {
            let rises = self.delay >= self.delay_mean;
            let gain = if rises { 0.25 } else { 1.0 };
            self.delay_mean += gain * (self.delay - self.delay_mean);
            self.delay_at = now;
        }
        if now - self.alpha_at >= rtt.min(0.01) && self.delivered > 0.0 {
            self.alpha = alpha(self.alpha, self.marked / self.delivered);
            (self.alpha_at, self.delivered, self.marked) = (now, 0.0, 0.0);
        }
        if now - self.round >= rtt {
            (self.flying_before, self.flying, self.round) = (self.flying, 0.0, now);
        }
        self.flying = self.flying.max(seen.flying);
    }

    /// The caution near the inflection point.
    fn scale(&self) -> f64 {
        let apart = 8.0 * (self.window - self.inflection) / self.inflection;
        (apart * apart).clamp(0.1, 1.0)
    }

    fn signal(&self) -> Option<Signal> {
        let half = self.params.target.as_secs_f64() / 2.0;
        match (self.lost, self.hit) {
            (true, _) => Some(Signal::Loss),
            (false, true) => Some(Signal::Mark),
            _ if self.delay_mean > half => Some(Signal::Delay(((self.delay_mean - half) / half).min(1.0))),
            _ => None,
        }
    }

    fn reduce(&mut self, now: f64, rtt: f64, scale: f64) {
        if self.lost || self.hit {
            self.congested = now;
        }
        if now - self.reacted < rtt.min(VIRTUAL_RTT) {
            return;
        }
        let Some(signal) = self.signal() else { return };
        if self.may_inflect {
            (self.inflection, self.may_inflect) = (self.window, false);
        }
        let long = (rtt / VIRTUAL_RTT).max(1.0);
        let remains = match signal {
            Signal::Loss => self.params.beta,
            Signal::Mark if self.params.l4s => {
                let calm = self.delay < self.params.target.as_secs_f64() / 4.0;
                if now - self.reacted > POST_CONGESTION * rtt.max(VIRTUAL_RTT) {
                    self.window = self.window.min(self.flying_before);
                }
                1.0 - self.alpha / 2.0 / long * if calm { scale.max(0.25) } else { 1.0 }
            }
            Signal::Mark => 0.8,
            Signal::Delay(virtually) => 1.0 - virtually / 2.0 / long,
        };
        self.window = (self.window * remains).max(LEAST_WINDOW);
        (self.reacted, self.lost, self.hit) = (now, false, false);
    }

    fn increase(&mut self, newly: f64, now: f64, rtt: f64, scale: f64) {
        let since = (now - self.congested) / (POST_CONGESTION * rtt.max(VIRTUAL_RTT));
        let multiple = 1.0 + self.params.growth * self.window / self.mss * since.clamp(0.0, 1.0) * scale;
        let ratio = (self.mss / self.window).min(1.0);
        let step = newly * ratio * (rtt / VIRTUAL_RTT).min(1.0) * scale.max(0.25) * multiple;
        let most = self.mss + 1.5 * self.flying.max(self.flying_before);
        if step > 0.0 && self.window + step <= most && self.rate < self.limits.max.as_f64() {
            self.window += step;
            self.may_inflect = true;
        }
    }

    fn rate_media(&mut self, rtt: f64) {
        let ratio = (self.mss / self.window).min(1.0);
        let small = 1.0 - (ratio - 0.1).clamp(0.0, 0.2);
        let headers = self.mss / (self.mss + 20.0);
        let factor = small * headers / (1.2 + self.adjust + self.deviation);
        self.rate = self.limits.hold(factor * 8.0 * self.window / rtt);
    }
}

/// The average share of marks: a fast attack and a slow decay.
fn alpha(alpha: f64, share: f64) -> f64 {
    if share >= alpha { share / 8.0 + 7.0 / 8.0 * alpha } else { 127.0 / 128.0 * alpha }
}

#[cfg(test)]
mod tests {
    use super::super::Outcome;
    use super::*;
    use crate::units::{Bytes, Rate};

    fn control(params: Params) -> Scream {
        let limits = Limits {
            min: Rate(10_000),
            max: Rate(50_000_000),
            start: Rate(300_000),
            packet: Bytes(1000),
            frame: Span::from_millis(20),
        };
        Scream::new(params, limits)
    }

    /// A packet of 1000 bytes that took this long; feedback on it a round trip of 100 ms after it was sent.
    fn feed(control: &mut Scream, millis: u64, way: Option<u64>, marked: bool) {
        let sent = Time::ZERO + Span::from_millis(millis);
        let arrived = way.map(|way| sent + Span::from_millis(way));
        let packet = Outcome { size: 1000.0, sent, arrived, marked };
        let rtt = Some(Span::from_millis(100));
        control.on_feedback(&Seen { packets: &[packet], rtt, flying: 1e6 }, sent + Span::from_millis(100));
    }

    #[test]
    fn the_window_grows_by_the_draft_s_increment() {
        let mut control = control(Params::default());
        feed(&mut control, 0, Some(50), false);
        // 1000 · ⅓ · (1 + 0.02 · 3 · p), p = 0.1 s / 10 s: 333.33 · 1.0006 = 333.533.
        assert!((control.window - 3333.533).abs() < 1e-3, "{}", control.window);
        // 8 · 3333.533 / 0.1 · (1 − 0.2) · 1000/1020 / 1.2 = 174 303 bit/s: MSS/w − 0.1 is 0.19998.
        let small = 1.0 - (1000.0 / 3333.533 - 0.1);
        let expected = 266_682.64 * small / 1.02 / 1.2;
        assert!((control.target() - expected).abs() < 1.0, "{}", control.target());
    }

    #[test]
    fn a_loss_leaves_seven_tenths_and_growth_near_the_inflection_point_is_a_quarter() {
        let mut control = control(Params::default());
        control.window = 20_000.0;
        feed(&mut control, 0, None, false);
        // 0.7 · 20 000; a lost packet is neither acknowledged nor delivered.
        assert!((control.window - 14_000.0).abs() < 1e-9, "{}", control.window);
        assert_eq!(control.delivered, 0.0);
        assert!((control.inflection - 20_000.0).abs() < 1e-9);
        control.window = 20_000.0;
        feed(&mut control, 1000, Some(50), false);
        // (8 · 0)² is bounded by 0.1, in the increase by ¼: 1000/20 · ¼ · (1 + 0.02 · 20 · 0.1 · 0.1).
        assert!((control.window - (20_000.0 + 12.5 * 1.004)).abs() < 1e-6, "{}", control.window);
    }

    #[test]
    fn a_queue_of_the_target_halves_the_window_over_a_short_path() {
        let mut control = control(Params::default());
        (control.window, control.delay_mean) = (40_000.0, 0.045);
        // α_v = (45 − 30) / 30 = ½: a quarter off, and 4 times less with 100 ms; a long path counts as 25 ms.
        control.reduce(1.0, 0.1, 1.0);
        assert!((control.window - 37_500.0).abs() < 1e-9, "{}", control.window);
        control.reduce(2.0, 0.02, 1.0);
        assert!((control.window - 28_125.0).abs() < 1e-9, "{}", control.window);
    }

    #[test]
    fn marks_are_averaged_with_a_fast_attack_and_a_slow_decay() {
        assert!((alpha(0.0, 1.0) - 0.125).abs() < 1e-12);
        assert!((alpha(0.125, 0.5) - (0.0625 + 0.109_375)).abs() < 1e-12);
        assert!((alpha(0.128, 0.0) - 0.127).abs() < 1e-12);
    }

    #[test]
    fn marks_of_an_l4s_queue_take_half_of_alpha() {
        let mut control = control(Params { l4s: true, ..Params::default() });
        (control.window, control.alpha, control.hit, control.delay) = (40_000.0, 0.5, true, 0.02);
        // Not calm: 20 ms are above a quarter of 60 ms. 1 − ¼ on a path of 25 ms.
        control.reduce(1.0, 0.025, 1.0);
        assert!((control.window - 30_000.0).abs() < 1e-9, "{}", control.window);
    }

    #[test]
    fn pacing_relaxes_towards_the_highest_rate() {
        let mut control = control(Params::default());
        for (rate, pace) in [(10e6, 15e6), (40e6, 60e6), (45e6, 135e6), (50e6, 300e6), (10e3, 75e3)] {
            control.rate = rate;
            assert!((control.pace() - pace).abs() < 1.0, "{rate}: {}", control.pace());
        }
    }
}

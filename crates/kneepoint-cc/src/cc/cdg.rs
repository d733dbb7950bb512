// SPDX-License-Identifier: Apache-2.0 OR MIT
//! CDG: backs off at random as round-trip times rise, at any level.
//!
//! D. A. Hayes, G. Armitage, "Revisiting TCP Congestion Control Using Delay Gradients", IFIP Networking 2011, §3; details as in the authors' FreeBSD module.
//!
//! ```text
//! once per round trip:  gmin, gmax = the round's least and greatest RTT, less the last round's
//!                       means of the last a of each; in slow start, g is of this round alone
//!                       g = gmin where that is above zero, else gmax
//!   with probability 1 - exp(-g / G):  s <- max(s, W);  W <- β W,  S = W;     G = 3 ms, a = 8, β = 0.7
//!   unless five such backoffs in a row were followed by no fall of a mean: the next five are left out
//! else, as Reno:        W += 1, s += 1
//! loss:                 queue not full: W stays;  full: s <- min(s / 2, W),  W <- max(W / 2, s),  S = W
//! queue:                full where mean gmin > 0 >= mean gmax, until both rise, both fall, or gmax alone falls
//! ```
//!
//! `W` window, `S` slow-start threshold, `s` the shadow window that a flow without backoffs would have: packets.
//! Where only losses bring a full queue down, backoffs are left out and the shadow window gives their reductions back.
//! The shadow is forgotten where the queue empties (mean gmin >= 0 > mean gmax).
//!
//! Readings:
//! * The round in which a backoff is answered has no gradient. A round with a loss has none either (Linux).
//! * Sums of gradients within 32 µs are neither a rise nor a fall (Linux; the authors' clock ticks once a millisecond).
//! * A loss never widens the window: the shadow is at most the window (Linux; the authors restore all of it).
//! * On Linux hosts as `tcp_cdg` of Linux 6.12 (`cdg/linux.rs`): β = 0.7071, every loss halves or leaves the shadow
//!   (`loss_tolerance`), and slow start ends by HyStart, which is not part of CDG.
//!
//! Departure: delayed acknowledgements are not filtered out of the greatest round-trip time, except on Linux hosts.

use alloc::{boxed::Box, vec::Vec};

use super::rounds::Rounds;
use super::window::{InLinux, Window};
use super::{Ack, Control, Controller, Ecn, Loss, Sizes, SlowStart, Start, Timeout, Version};
use crate::rng::Rng;
use crate::settings::{Auto, Or};
use crate::units::Span;

use linux::Kernel;

mod linux;

crate::settings! {
    /// CDG's parameters.
    pub struct Params {
        /// G: the mean gradient at which a backoff has probability 1 - 1/e.
        scale: Span = Span::from_millis(3), Span::from_micros(1)..=Span::from_secs(10);
        /// a: the number of gradients in the mean.
        memory: u32 = 8, 1..=256;
        /// The fraction by which a backoff reduces the window; `auto` is 0.3, or 0.2929 on Linux hosts.
        decrease: Or<f64, Auto> = Or::WORD, Or::is(0.01)..=Or::is(0.99);
        /// The fraction by which a loss reduces the window.
        loss_decrease: f64 = 0.5, 0.01..=0.99;
        /// Backoffs in a row without effect before backoffs are left out; 0 never leaves one out.
        ineffectual: u32 = 5, 0..=1000;
        /// The number of backoffs that are left out then.
        hold: u32 = 5, 1..=1000;
        /// Give back at a loss the reductions of backoffs.
        shadow: bool = true;
        /// Leave the window alone at a loss while the queue is not full; `auto` is true, or false on Linux hosts.
        loss_tolerance: Or<bool, Auto> = Or::WORD;
    }
}

/// The reduction of a backoff in Linux: 1 less 724 / 1024.
const BACKOFF_IN_LINUX: f64 = 300.0 / 1024.0;

/// Milliseconds within which a sum of gradients is insignificant.
const NOISE: f64 = 0.032;

/// The least and the greatest round-trip time of a round, or their gradients: milliseconds.
type Extremes = [f64; 2];

/// A CDG controller.
#[derive(Clone, Debug)]
pub struct Cdg {
    params: Params,
    /// On Linux hosts.
    linux: Option<Box<Kernel>>,
    window: Window,
    /// s; zero where it is forgotten.
    shadow: f64,
    rounds: Rounds,
    /// The round before, unless a backoff or a loss was answered in it.
    previous: Option<Extremes>,
    gradients: Vec<Extremes>,
    /// Backoffs since a mean fell, including the ones left out.
    in_a_row: u32,
    backoffs: u64,
    /// The estimated state of the queue.
    full: bool,
}

/// The sum of `gradients`, or zero where it is noise.
fn sum(gradients: &[Extremes]) -> Extremes {
    [0, 1].map(|which| {
        let sum: f64 = gradients.iter().map(|gradient| gradient[which]).sum();
        if sum.abs() < NOISE { 0.0 } else { sum }
    })
}

/// The gradient that backoffs follow: of the least round-trip times if it rises, else of the greatest.
fn leading([least, greatest]: Extremes) -> f64 {
    if least > 0.0 { least } else { greatest }
}

impl Cdg {
    /// Takes in the round that is over; g, zero without one.
    fn gradient(&mut self) -> f64 {
        let (Some(least), Some(greatest)) = (self.rounds.least(), self.rounds.greatest()) else { return 0.0 };
        let extremes = [least.as_millis_f64(), greatest.as_millis_f64()];
        let Some(before) = self.previous.replace(extremes) else { return 0.0 };
        let gradient = [extremes[0] - before[0], extremes[1] - before[1]];
        if self.gradients.len() == self.params.memory as usize {
            self.gradients.remove(0);
        }
        self.gradients.push(gradient);
        let mean = self.mean();
        self.judge_queue(mean);
        let alone = if self.window.slow_start() { leading(sum(&[gradient])) } else { 0.0 };
        if alone > 0.0 { alone } else { leading(mean) }
    }

    /// The mean gradients; missing ones are zero.
    fn mean(&self) -> Extremes {
        sum(&self.gradients).map(|sum| sum / f64::from(self.params.memory))
    }

    fn judge_queue(&mut self, [least, greatest]: Extremes) {
        if least < 0.0 || greatest < 0.0 {
            self.in_a_row = 0;
        }
        if least >= 0.0 && greatest < 0.0 {
            self.shadow = 0.0;
        }
        if least > 0.0 && greatest <= 0.0 {
            self.full = true;
        } else if greatest < 0.0 || least > 0.0 {
            self.full = false;
        }
    }

    /// Whether this backoff is made, and not left out because the previous ones had no effect.
    fn has_effect(&mut self) -> bool {
        if self.params.ineffectual == 0 {
            return true;
        }
        self.in_a_row += 1;
        let left_out = self.in_a_row > self.params.ineffectual;
        if self.in_a_row >= self.params.ineffectual + self.params.hold {
            self.in_a_row = 0;
        }
        !left_out
    }

    /// The fraction by which a backoff reduces the window.
    fn decrease(&self) -> f64 {
        let own = if self.linux.is_some() { BACKOFF_IN_LINUX } else { 0.3 };
        self.params.decrease.get().copied().unwrap_or(own)
    }

    fn tolerates(&self) -> bool {
        self.params.loss_tolerance.get().copied().unwrap_or(self.linux.is_none())
    }

    fn back_off(&mut self) {
        self.window.reduce_to(self.window.packets * (1.0 - self.decrease()));
        self.backoffs += 1;
    }

    /// The part of `flight` that a loss leaves.
    fn left(&mut self, flight: f64) -> f64 {
        if self.tolerates() && !self.full {
            return flight;
        }
        self.shadow = (self.shadow * (1.0 - self.params.loss_decrease)).min(self.window.packets);
        let half = flight * (1.0 - self.params.loss_decrease);
        if self.params.shadow { half.max(self.shadow) } else { half }
    }
}

impl Controller for Cdg {
    type Params = Params;

    fn new(params: Params, start: Start) -> Cdg {
        let linux = start.version == Version::Linux;
        let own = if linux { SlowStart::HyStart } else { SlowStart::Own };
        let slow_start = if start.slow_start == SlowStart::Own { own } else { start.slow_start };
        Cdg {
            linux: linux.then(|| Box::new(Kernel::new(params.memory))),
            params,
            window: Window::new(Start { slow_start, ..start }, InLinux::WholeLeft),
            shadow: start.initial_window,
            rounds: Rounds::new(),
            previous: None,
            gradients: Vec::new(),
            in_a_row: 0,
            backoffs: 0,
            full: false,
        }
    }

    fn on_ack(&mut self, ack: &Ack, rng: &mut Rng) {
        if self.linux.is_some() {
            return self.avoid_as_linux(ack, rng);
        }
        if let Some(rtt) = ack.rtt {
            self.rounds.observe(rtt);
        }
        if self.rounds.over(ack) && !ack.recovering {
            let gradient = self.gradient();
            self.rounds.begin(ack.next);
            let probability = 1.0 - libm::exp(-gradient.max(0.0) / self.params.scale.as_millis_f64());
            // Without a probability nothing is drawn, so that an idle path costs no random numbers.
            if probability > 0.0 && rng.chance(probability) {
                self.previous = None;
                self.shadow = self.shadow.max(self.window.packets);
                if self.has_effect() {
                    self.back_off();
                    return;
                }
            }
        }
        let before = self.window.packets;
        self.window.grow(ack, 1.0);
        if self.shadow > 0.0 {
            self.shadow += self.window.packets - before;
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        let left = self.left(loss.flight);
        self.window.reduce_to(left);
        self.previous = None;
        self.rounds.begin(loss.next);
        self.suspend(loss.next);
    }

    fn yields(&mut self) -> bool {
        self.linux.as_mut().is_some_and(|kernel| kernel.yields())
    }

    /// A backoff, if it requested the reduction itself.
    fn on_ecn(&mut self, ecn: &Ecn) {
        if self.linux.as_mut().is_some_and(|kernel| kernel.is_answered()) {
            self.back_off_until(ecn.next);
        } else {
            self.on_loss(&Loss { now: ecn.now, flight: ecn.flight, una: ecn.next, next: ecn.next });
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        let flight = timeout.flight.min(self.window.packets);
        let ssthresh = if timeout.reported { flight } else { self.left(flight) };
        self.window.restart(timeout, ssthresh);
        self.suspend(timeout.next);
        self.previous = None;
        self.rounds.begin(timeout.next);
    }

    fn sizes(&mut self) -> Option<Sizes<'_>> {
        Some(self.window.sizes())
    }

    #[inline]
    fn control(&self) -> Control {
        self.window.control()
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let [least, greatest] = self.mean();
        vec![
            ("mean_gradient_of_least_ms", least),
            ("mean_gradient_of_greatest_ms", greatest),
            ("shadow_window_packets", self.shadow),
            ("backoffs", self.backoffs as f64),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;

    /// A round of 20 packets whose round-trip times lie between the two; the window after.
    fn round(trace: &mut Trace<Cdg>, least: u64, greatest: u64) -> f64 {
        let last = trace.controller.rounds.last;
        while trace.una <= last {
            let early = trace.una.is_multiple_of(2);
            trace.rtt = Span::from_micros(if early { least } else { greatest });
            trace.ack(Span::from_micros(100));
        }
        trace.window()
    }

    fn avoiding(params: Params) -> Trace<Cdg> {
        let start = Start::avoiding(20.0);
        let mut trace = Trace::new(Cdg::new(params, start));
        trace.controller.rounds.begin(20);
        trace
    }

    #[test]
    fn level_delay_is_no_reason_to_back_off_however_high() {
        let mut trace = avoiding(Params::default());
        for count in 0..50 {
            round(&mut trace, 500_000, 510_000);
            assert_eq!(trace.controller.backoffs, 0, "round {count}");
        }
    }

    #[test]
    fn the_gradient_is_the_mean_of_the_last_eight_of_the_least() {
        let mut trace = avoiding(Params { scale: Span::from_secs(10), ..Params::default() });
        for step in 0..20 {
            round(&mut trace, 60_000 + 4_000 * step.min(10), 120_000);
        }
        assert_eq!(trace.controller.mean(), [0.0, 0.0]);
        for step in 1..=4 {
            round(&mut trace, 100_000 + 2_000 * step, 170_000);
        }
        // (2 + 2 + 2 + 2) / 8, and 50 / 8.
        let [least, greatest] = trace.controller.mean();
        assert!((least - 1.0).abs() < 1e-9 && (greatest - 6.25).abs() < 1e-9, "{least} {greatest}");
    }

    #[test]
    fn a_rise_of_three_milliseconds_backs_off_in_63_of_100_rounds() {
        let mut trace = avoiding(Params { memory: 1, ineffectual: 0, ..Params::default() });
        round(&mut trace, 60_000, 60_000);
        for _ in 0..20_000 {
            trace.controller.previous = Some([57.0, 57.0]);
            trace.controller.window.packets = 20.0;
            round(&mut trace, 60_000, 60_000);
        }
        // 1 - 1/e = 0.632; three standard deviations are 0.0102.
        let share = trace.controller.backoffs as f64 / 20_000.0;
        assert!((share - 0.632).abs() < 0.0102, "{share}");
    }

    #[test]
    fn after_five_backoffs_without_effect_five_are_left_out() {
        let mut trace = avoiding(Params::default());
        let answers: Vec<bool> = (0..12).map(|_| trace.controller.has_effect()).collect();
        let expected = [true, true, true, true, true, false, false, false, false, false, true, true];
        assert_eq!(answers, expected);
    }

    #[test]
    fn a_loss_gives_back_what_backoffs_took_but_never_widens_the_window() {
        let mut trace = avoiding(Params::default());
        trace.controller.full = true;
        trace.controller.back_off();
        assert_eq!((trace.window(), trace.controller.shadow), (14.0, 20.0));
        // Half the shadow is 10, half the window 7.
        trace.loss();
        assert_eq!((trace.window(), trace.controller.shadow), (10.0, 10.0));
        let mut deep = avoiding(Params::default());
        deep.controller.full = true;
        for _ in 0..4 {
            deep.controller.back_off();
        }
        let before = deep.window();
        deep.loss();
        assert_eq!(deep.window(), before);
    }

    #[test]
    fn a_loss_while_the_queue_is_not_full_takes_nothing_off() {
        let mut trace = avoiding(Params::default());
        assert!(!trace.controller.full);
        trace.loss();
        assert_eq!(trace.window(), 20.0);
        let mut linux =
            avoiding(Params { loss_tolerance: Or::is(false), shadow: false, ..Params::default() });
        linux.loss();
        assert_eq!(linux.window(), 10.0);
    }
}

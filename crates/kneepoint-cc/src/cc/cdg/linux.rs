// SPDX-License-Identifier: Apache-2.0 OR MIT
//! CDG's rounds as `tcp_cdg` of Linux 6.12 has them.
//!
//! ```text
//! g = sum of the last a gradients, of the least RTTs where that is above zero, else of the greatest;
//!     a / k times as much while only k of them are there
//! g > 0:  back off with probability 1 - exp(-42 g / s),  but no more than five times before a sum falls by 32 µs
//! a backoff or a loss: no growth and no gradient until what was sent before is acknowledged; the next gradient is to the round then over
//! an acknowledgement of one packet, of a receiver that answers several: its RTT counts only if it is the least of the round
//! ```
//!
//! Where HyStart is meant to differ from CUBIC's (any window, trains of up to 3 ms, an eighth of any delay) it is CUBIC's here.

use alloc::vec;
use alloc::vec::Vec;

use super::Cdg;
use crate::cc::Ack;
use crate::rng::Rng;
use crate::units::Span;

/// Backoffs per second of gradient.
const FACTOR: f64 = 42.0;
/// The least decrease of a sum, in seconds, after a backoff that had effect.
const EFFECT: f64 = 32e-6;
/// Delayed acknowledgements that are remembered at most.
const DELAYED: u32 = 5;

/// The least and the greatest round-trip time of a round, or their gradients: seconds.
type Extremes = [f64; 2];

/// The state that the kernel keeps.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    round: Option<Extremes>,
    before: Option<Extremes>,
    gradients: Vec<Extremes>,
    tail: usize,
    filled: bool,
    /// Acknowledgements of several packets, minus later ones of one packet.
    delayed: u32,
    /// Nothing is judged until this packet is acknowledged.
    suspended: Option<u64>,
    request: Request,
}

/// The fate of a backoff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Request {
    #[default]
    None,
    /// A request to the host is pending.
    Made,
    /// The host has noticed it, and reduces.
    Heard,
}

impl Kernel {
    pub(super) fn new(memory: u32) -> Kernel {
        Kernel {
            round: None,
            before: None,
            gradients: vec![[0.0; 2]; memory as usize],
            tail: 0,
            filled: false,
            delayed: 0,
            suspended: None,
            request: Request::None,
        }
    }

    /// Whether the host must reduce.
    pub(super) fn yields(&mut self) -> bool {
        let made = self.request == Request::Made;
        if made {
            self.request = Request::Heard;
        }
        made
    }

    /// Whether this is the requested reduction.
    pub(super) fn is_answered(&mut self) -> bool {
        core::mem::take(&mut self.request) == Request::Heard
    }

    fn observe(&mut self, rtt: Span, acked: u32, plain: bool) {
        let sample = rtt.as_secs_f64();
        if plain && acked == 1 && self.delayed > 0 {
            self.delayed -= 1;
            if let Some([least, _]) = &mut self.round {
                *least = least.min(sample);
            }
            return;
        }
        if plain && acked > 1 {
            self.delayed = (self.delayed + 1).min(DELAYED);
        }
        let [least, greatest] = self.round.unwrap_or([sample; 2]);
        self.round = Some([least.min(sample), greatest.max(sample)]);
    }

    /// g of the round that is over, and both sums; none before there are two rounds.
    fn gradient(&mut self) -> Option<(f64, Extremes)> {
        let round = self.round.take()?;
        let before = self.before.replace(round)?;
        self.gradients[self.tail] = [round[0] - before[0], round[1] - before[1]];
        self.tail = (self.tail + 1) % self.gradients.len();
        let sum = |which: usize| self.gradients.iter().map(|gradient| gradient[which]).sum::<f64>();
        let sums = [sum(0), sum(1)];
        let leading = if sums[0] > 0.0 { sums[0] } else { sums[1] };
        self.filled |= self.tail == 0;
        let missing = if self.filled { 1.0 } else { self.gradients.len() as f64 / self.tail as f64 };
        Some((leading * missing, sums))
    }
}

impl Cdg {
    /// Nothing is judged until `point` is acknowledged.
    pub(super) fn suspend(&mut self, point: u64) {
        if let Some(kernel) = &mut self.linux {
            kernel.suspended = Some(point);
        }
    }

    pub(super) fn avoid_as_linux(&mut self, ack: &Ack, rng: &mut Rng) {
        let Some(kernel) = &mut self.linux else { return };
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt > Span::ZERO) {
            kernel.observe(rtt, ack.acked, u64::from(ack.in_flight) == ack.next - ack.una);
        }
        if core::mem::take(&mut kernel.request) == Request::Made {
            // The host spreads no reductions.
            self.back_off_until(ack.next);
            return;
        }
        if let Some(point) = kernel.suspended {
            if ack.una < point {
                return self.grow_with_shadow(ack);
            }
            (kernel.suspended, kernel.before) = (None, kernel.round.take());
            self.rounds.begin(ack.next);
            return;
        }
        if self.rounds.over(ack) && kernel.round.is_some() {
            let gradient = kernel.gradient();
            self.rounds.begin(ack.next);
            if gradient.is_some_and(|(leading, sums)| self.backs_off(leading, sums, rng)) {
                self.linux.iter_mut().for_each(|own| own.request = Request::Made);
                return;
            }
        }
        self.grow_with_shadow(ack);
    }

    /// Whether this gradient causes a backoff.
    fn backs_off(&mut self, leading: f64, sums: Extremes, rng: &mut Rng) -> bool {
        if sums.iter().any(|sum| *sum <= -EFFECT) {
            self.in_a_row = 0;
        }
        if leading <= 0.0 || !rng.chance(1.0 - libm::exp(-FACTOR * leading)) {
            return false;
        }
        self.in_a_row += 1;
        self.params.ineffectual == 0 || self.in_a_row <= self.params.ineffectual
    }

    pub(super) fn back_off_until(&mut self, next: u64) {
        self.shadow = self.shadow.max(self.window.packets);
        self.back_off();
        // A window's reduction ends with something sent after it began.
        self.suspend(next + 1);
    }

    /// Growth as Reno, of the shadow, too; a window that is not used bounds it.
    fn grow_with_shadow(&mut self, ack: &Ack) {
        if ack.credit > 0.0 {
            let before = self.window.packets;
            self.window.grow(ack, 1.0);
            self.shadow += self.window.packets - before;
        } else if ack.limited {
            self.shadow = self.shadow.min(self.window.packets);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::tests::Trace;
    use crate::cc::{Controller, Start, Version};

    const MILLI: f64 = 1e-3;

    fn near(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-12
    }

    #[test]
    fn a_gradient_stands_for_those_that_are_missing() {
        let mut kernel = Kernel::new(8);
        let mut round = |millis: f64| {
            kernel.round = Some([millis * MILLI, 2.0 * millis * MILLI]);
            kernel.gradient().map(|(leading, _)| leading)
        };
        assert_eq!(round(60.0), None);
        // 1 ms is one of eight, then 1 + 2 ms are two.
        assert!(round(61.0).is_some_and(|leading| near(leading, 8.0 * MILLI)));
        assert!(round(63.0).is_some_and(|leading| near(leading, 12.0 * MILLI)));
        let last = (0..20).map(|step| round(64.0 + f64::from(step))).last().flatten();
        assert!(last.is_some_and(|leading| near(leading, 8.0 * MILLI)), "{last:?}");
    }

    #[test]
    fn a_lone_packets_acknowledgement_counts_only_if_it_is_early() {
        let mut kernel = Kernel::new(8);
        let millis = Span::from_millis;
        kernel.observe(millis(60), 2, true);
        // Delayed by 40 ms; then one that is earlier than all.
        kernel.observe(millis(100), 1, true);
        assert_eq!((kernel.round, kernel.delayed), (Some([60.0 * MILLI; 2]), 0));
        kernel.observe(millis(100), 1, true);
        assert_eq!(kernel.round, Some([60.0 * MILLI, 100.0 * MILLI]));
    }

    #[test]
    fn backoffs_without_effect_end_with_the_fifth_and_leave_724_of_1024() {
        let start = Start { version: Version::Linux, ..Start::avoiding(100.0) };
        let mut trace = Trace::new(Cdg::new(super::super::Params::default(), start));
        let mut rng = Rng::stream(1, "cdg", 0);
        // Certain, as e^-42 is negligible.
        let answers: Vec<bool> =
            (0..7).map(|_| trace.controller.backs_off(1.0, [1.0; 2], &mut rng)).collect();
        assert_eq!(answers, [true, true, true, true, true, false, false]);
        assert!(trace.controller.backs_off(1.0, [1.0, -EFFECT], &mut rng));
        trace.controller.back_off_until(200);
        assert_eq!((trace.window(), trace.controller.shadow), (70.0, 100.0));
        // A host that spreads reductions receives one request.
        let mut kernel = Kernel { request: Request::Made, ..Kernel::new(8) };
        assert_eq!(
            [kernel.yields(), kernel.yields(), kernel.is_answered(), kernel.is_answered()],
            [true, false, true, false]
        );
        // Half the shadow is 50, and more than half the window.
        trace.loss();
        assert_eq!(trace.window(), 50.0);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! HyStart++: slow start gives way to a slower one when delays rise, and comes back when they fall again.
//!
//! P. Balasubramanian, Y. Huang, M. Olson, "HyStart++: Modified Slow Start for TCP", RFC 9406, 2023; §4.2 and §4.3.
//!
//! ```text
//! a round ends when the packet that was sent first after it began is acknowledged
//! now, last = smallest RTT of this round and of the one before
//! slow start:    W += acked;      now >= last + clamp(last / 8, 4 ms, 16 ms)  ->  conservative, B = now
//! conservative:  W += acked / 4;  now < B  ->  slow start;   5 rounds are over, the first counted in part  ->  S = W
//! ```
//!
//! `now` is judged from the eighth sample of a round on, in both. Growth per acknowledgement, L = 8 packets where
//! nothing paces (§4.3), is the host's limit (`growth_per_ack`).
//!
//! Readings: the acknowledgement that ends a round is the first of the next, and one that changes the phase grows the
//! window as the phase before; rounds are counted from zero after a return to slow start. This applies only to the
//! first slow start: after a timeout the threshold is known (§4.3).

use super::super::Ack;
use super::super::rounds::Rounds;
use crate::units::Span;

/// MIN_RTT_THRESH, §4.3.
const LEAST_RISE: Span = Span::from_millis(4);
/// MAX_RTT_THRESH, §4.3.
const GREATEST_RISE: Span = Span::from_millis(16);
/// MIN_RTT_DIVISOR, §4.3.
const RISE_DIVISOR: u64 = 8;
/// N_RTT_SAMPLE, §4.3.
const SAMPLES: u32 = 8;
/// 1 / CSS_GROWTH_DIVISOR, §4.3.
const CONSERVATIVE: f64 = 1.0 / 4.0;
/// CSS_ROUNDS, §4.3.
const ROUNDS: u32 = 5;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Phase {
    #[default]
    SlowStart,
    /// Conservative slow start, with the delay at which it began and the rounds that have ended since.
    Conservative { baseline: Span, rounds: u32 },
    /// The first slow start is over.
    Retired,
}

/// The state of HyStart++.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HyStartPp {
    phase: Phase,
    rounds: Rounds,
    /// The smallest RTT of the round before.
    last: Option<Span>,
}

impl HyStartPp {
    /// The fraction of doubling by which the window may grow, or none where slow start is over.
    pub fn haste(&mut self, ack: &Ack) -> Option<f64> {
        if self.rounds.over(ack) {
            self.last = self.rounds.least();
            self.rounds.begin(ack.next);
            if let Phase::Conservative { rounds, .. } = &mut self.phase {
                *rounds += 1;
                if *rounds == ROUNDS {
                    self.phase = Phase::Retired;
                    return None;
                }
            }
        }
        if let Some(rtt) = ack.rtt {
            self.rounds.observe(rtt);
        }
        let haste = if matches!(self.phase, Phase::Conservative { .. }) { CONSERVATIVE } else { 1.0 };
        if self.rounds.samples >= SAMPLES
            && let Some(now) = self.rounds.least()
        {
            self.judge(now);
        }
        Some(haste)
    }

    fn judge(&mut self, now: Span) {
        match (self.phase, self.last) {
            (Phase::SlowStart, Some(last)) => {
                let rise = Span(last.0 / RISE_DIVISOR).clamp(LEAST_RISE, GREATEST_RISE);
                if now >= last + rise {
                    self.phase = Phase::Conservative { baseline: now, rounds: 0 };
                }
            }
            (Phase::Conservative { baseline, .. }, _) if now < baseline => self.phase = Phase::SlowStart,
            _ => {}
        }
    }

    /// Later slow starts only double.
    pub fn retire(&mut self) {
        self.phase = Phase::Retired;
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::Trace;
    use super::super::SlowStart;
    use super::super::tests::Bare;
    use super::*;

    fn fresh() -> Trace<Bare> {
        Bare::trace(SlowStart::HyStartPp, 10.0)
    }

    /// Rounds in which every RTT is this many milliseconds, and the window after each.
    fn rounds(trace: &mut Trace<Bare>, table: &[(u64, f64)]) {
        for &(millis, window) in table {
            trace.rtt = Span::from_millis(millis);
            assert_eq!(trace.round_trip(), window, "{millis} ms");
            assert!(trace.controller.0.slow_start());
        }
    }

    #[test]
    fn delays_that_rose_and_fell_again_interrupt_slow_start() {
        let mut trace = fresh();
        rounds(
            &mut trace,
            &[
                (100, 20.0),
                (100, 40.0),
                // An eighth of 100 ms is 12.5 ms.
                (112, 80.0),
                // 112 ms and 14: eight acknowledgements add a packet each, 72 a quarter.
                (126, 80.0 + 8.0 + 18.0),
                // The baseline is 126 ms; slow start does not resume at it,
                (126, 106.0 + 26.5),
                // but below: after eight of 132.
                (125, 132.5 + 2.0 + 124.0),
                (125, 258.5 + 258.0),
            ],
        );
    }

    #[test]
    fn after_five_rounds_the_threshold_is_the_window() {
        let mut trace = fresh();
        rounds(
            &mut trace,
            &[
                (100, 20.0),
                // The first of the five, in part: eight add a packet each, twelve a quarter.
                (113, 31.0),
                (113, 31.0 + 31.0 / 4.0),
                (120, 38.75 + 38.0 / 4.0),
                (130, 48.25 + 48.0 / 4.0),
                (113, 60.25 + 60.0 / 4.0),
            ],
        );
        trace.ack(Span::from_millis(1));
        assert_eq!((trace.controller.0.slow_start(), trace.controller.0.ssthresh), (false, 75.25));
        assert_eq!(trace.window(), 75.25 + 1.0 / 75.25);
    }

    #[test]
    fn a_round_of_seven_samples_says_nothing() {
        let mut trace = Bare::trace(SlowStart::HyStartPp, 7.0);
        rounds(&mut trace, &[(100, 14.0)]);
        trace.rtt = Span::from_millis(200);
        (0..7).for_each(|_| trace.ack(Span::from_millis(1)));
        assert_eq!(trace.window(), 21.0);
        // The eighth is judged, and the ninth adds a quarter.
        trace.ack(Span::from_millis(1));
        trace.ack(Span::from_millis(1));
        assert_eq!(trace.window(), 22.25);
    }

    #[test]
    fn the_rise_is_4_ms_at_least_and_16_ms_at_most() {
        for (last, rise) in [(8, 4), (32, 4), (64, 8), (128, 16), (500, 16)] {
            let late = |below: u64| {
                let last = Span::from_millis(last);
                let mut hystart = HyStartPp { last: Some(last), ..HyStartPp::default() };
                hystart.judge(Span((last + Span::from_millis(rise)).0 - below));
                hystart.phase != Phase::SlowStart
            };
            assert!(late(0) && !late(1), "{last}");
        }
    }

    #[test]
    fn a_slow_start_after_a_timeout_doubles() {
        let mut trace = fresh();
        rounds(&mut trace, &[(100, 20.0), (100, 40.0), (100, 80.0)]);
        trace.timeout();
        rounds(&mut trace, &[(100, 2.0), (120, 4.0), (140, 8.0), (160, 16.0), (300, 32.0)]);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! HyStart: slow start ends when a train of acknowledgements lasts half the path's round-trip time, or when their delay
//! grows.
//!
//! S. Ha, I. Rhee, "Taming the elephants: New TCP slow start", Computer Networks 55(9) 2011; as `tcp_cubic` of Linux 6.18 has it.
//!
//! ```text
//! a round ends when the packet that was sent first after it began is acknowledged
//! with W >= 16, at every RTT r:
//!   train:  lasts while acknowledgements are at most 2 ms apart, from the first of the round;
//!           over once it is longer than (T + 1 ms) / 2
//!   delay:  over where min(r of the round) > T + clamp(T / 8, 4 ms, 16 ms), from the ninth r on
//! ```
//!
//! `T` smallest RTT since the connection, or the last timeout, began. Both parts are on, as is the default.
//!
//! Readings: the millisecond represents the time that offloading of segments may add, which is less than that only
//! above 2 Gbit/s (four times 64 KB at twice `W` a round trip). A paced sender, whose train may be twice as long
//! there, gets no more time here: of the controllers that slow-start so only Prague paces.

use super::super::Ack;
use super::super::rounds::Rounds;
use crate::units::{Span, Time};

/// Below it the window only doubles, in packets.
const LOW_WINDOW: f64 = 16.0;
/// The greatest distance of acknowledgements of a train.
const TRAIN_GAP: Span = Span::from_millis(2);
/// The time that offloading may add to the smallest RTT.
const OFFLOAD: Span = Span::from_millis(1);
/// Samples of a round that count before its smallest is judged.
const SAMPLES: u32 = 8;
const LEAST_RISE: Span = Span::from_millis(4);
const GREATEST_RISE: Span = Span::from_millis(16);
/// The rise that ends slow start, as a part of the smallest RTT.
const RISE_DIVISOR: u64 = 8;

/// The state of HyStart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HyStart {
    rounds: Rounds,
    /// The beginning of the round.
    began: Time,
    /// The last acknowledgement of the train.
    train: Time,
}

impl HyStart {
    /// Whether the path counts as full.
    pub fn full(&mut self, ack: &Ack, window: f64) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        if self.rounds.over(ack) {
            self.rounds.begin(ack.next);
            (self.began, self.train) = (ack.now, ack.now);
        }
        if window < LOW_WINDOW {
            self.rounds.base = self.rounds.base.min(rtt);
            return false;
        }
        self.rounds.observe(rtt);
        self.train_is_long(ack.now) || self.delay_rose()
    }

    fn train_is_long(&mut self, now: Time) -> bool {
        if now.since(self.train) > TRAIN_GAP {
            return false;
        }
        self.train = now;
        now.since(self.began).0 > (self.rounds.base.0.saturating_add(OFFLOAD.0)) / 2
    }

    fn delay_rose(&self) -> bool {
        let base = self.rounds.base;
        let rise = Span(base.0 / RISE_DIVISOR).clamp(LEAST_RISE, GREATEST_RISE);
        self.rounds.samples > SAMPLES && self.rounds.least().is_some_and(|least| least > base + rise)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::Trace;
    use super::super::SlowStart;
    use super::super::tests::Bare;
    use super::*;

    /// A window of 64 packets on a path of 40 ms.
    fn doubling() -> Trace<Bare> {
        let mut trace = Bare::trace(SlowStart::HyStart, 64.0);
        trace.rtt = Span::from_millis(40);
        trace
    }

    fn over(trace: &Trace<Bare>) -> bool {
        !trace.controller.0.slow_start()
    }

    /// `count` acknowledgements, `gap` apart.
    fn acks(trace: &mut Trace<Bare>, count: u32, gap: Span) {
        (0..count).for_each(|_| trace.ack(gap));
    }

    #[test]
    fn a_train_of_half_the_path_ends_it() {
        // (40 ms + 1 ms) / 2 = 20.5 ms: the twenty-first acknowledgement after the first of the round.
        let mut trace = doubling();
        acks(&mut trace, 1 + 20, Span::from_millis(1));
        assert!(!over(&trace));
        trace.ack(Span::from_millis(1));
        assert_eq!(trace.controller.0.ssthresh, 85.0);
        // Its acknowledged packets count as in avoidance.
        assert_eq!(trace.window(), 85.0 + 1.0 / 85.0);
    }

    #[test]
    fn a_gap_of_more_than_2_ms_ends_the_train_for_the_round() {
        for (gap, ends) in [(2_000, true), (2_001, false)] {
            let mut trace = doubling();
            acks(&mut trace, 10, Span::from_millis(1));
            trace.ack(Span::from_micros(gap));
            acks(&mut trace, 40, Span::from_millis(1));
            assert_eq!(over(&trace), ends, "{gap}");
        }
    }

    #[test]
    fn the_ninth_sample_of_a_round_ends_it_where_the_smallest_is_an_eighth_above_the_path() {
        // An eighth of 40 ms is 5 ms; acknowledgements 3 ms apart are not a train.
        for (rise, ends) in [(5_000, false), (5_001, true)] {
            let mut trace = doubling();
            let gap = Span::from_millis(3);
            acks(&mut trace, 64, gap);
            // The next round.
            trace.rtt = Span::from_millis(40) + Span::from_micros(rise);
            acks(&mut trace, 8, gap);
            assert!(!over(&trace));
            trace.ack(gap);
            assert_eq!(over(&trace), ends, "{rise}");
        }
    }

    #[test]
    fn the_rise_is_4_ms_at_least_and_16_ms_at_most() {
        for (base, rise) in [(8, 4), (32, 4), (64, 8), (128, 16), (500, 16)] {
            let late = |above: u64| {
                let mut hystart = HyStart::default();
                hystart.rounds.observe(Span::from_millis(base));
                hystart.rounds.begin(0);
                (0..9).for_each(|_| hystart.rounds.observe(Span(Span::from_millis(base + rise).0 + above)));
                hystart.delay_rose()
            };
            assert!(!late(0) && late(1), "{base}");
        }
    }

    #[test]
    fn below_16_packets_the_window_only_doubles() {
        let mut trace = Bare::trace(SlowStart::HyStart, 4.0);
        trace.ack(Span::from_millis(1));
        // All further samples are three times the first, in endless trains.
        trace.rtt = Span::from_millis(180);
        while trace.window() < 16.0 {
            trace.ack(Span::from_millis(2));
            assert!(!over(&trace));
        }
        // From then on nine samples of a round suffice.
        acks(&mut trace, 8, Span::from_millis(2));
        assert!(!over(&trace));
        trace.ack(Span::from_millis(2));
        assert!(over(&trace));
    }

    #[test]
    fn a_timeout_forgets_the_path() {
        let mut trace = doubling();
        trace.ack(Span::from_millis(1));
        trace.timeout();
        // On the path of 40 ms nine samples of 90 ms would end it.
        trace.rtt = Span::from_millis(90);
        while !over(&trace) {
            trace.ack(Span::from_millis(3));
        }
        assert_eq!(trace.controller.0.ssthresh, 32.5);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What C4 takes for congestion: delays, losses and marks beyond thresholds that fall as the flow gets faster.
//!
//! draft-huitema-ccwg-c4-spec §5; equations in [`super`].

use super::super::Ack;
use super::super::delivery::Sample;

/// Rates in bytes per second, and the sensitivity at each.
const SENSITIVITY: [(f64, f64); 3] = [(50_000.0, 0.0), (1_000_000.0, 0.92), (10_000_000.0, 1.0)];
/// The weight of a packet in the share of losses, and of an acknowledgement in that of marks.
const WEIGHT: f64 = 1.0 / 16.0;
/// The greatest delay beyond the nominal round trip that is no congestion, in seconds.
const MARGIN: f64 = 0.025;

/// A congestion signal, and its excess over the threshold in units of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Signal {
    Delay(f64),
    Loss,
    Marks(f64),
}

/// Shares of packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shares {
    /// L.
    pub lost: f64,
    /// E.
    pub marked: f64,
}

/// 1 - s, for a rate in bytes per second.
pub fn tolerance(rate: f64) -> f64 {
    let [first, .., last] = SENSITIVITY;
    if rate <= first.0 {
        return 1.0 - first.1;
    }
    let between = SENSITIVITY.windows(2).find(|pair| rate <= pair[1].0);
    1.0 - between.map_or(last.1, |pair| {
        let [(from, low), (to, high)] = [pair[0], pair[1]];
        low + (high - low) * (rate - from) / (to - from)
    })
}

/// e.
pub fn mark_threshold(tolerance: f64) -> f64 {
    (1.0 + tolerance) * 3.0 / 32.0
}

impl Shares {
    /// Takes in an acknowledgement of a flow with this tolerance, whose nominal round trip lasts `nominal` seconds: the signal in it.
    pub fn observe(&mut self, ack: &Ack, sample: &Sample, tolerance: f64, nominal: f64) -> Option<Signal> {
        self.lost *= libm::pow(1.0 - WEIGHT, sample.newly);
        self.lost = 1.0 - (1.0 - self.lost) * libm::pow(1.0 - WEIGHT, sample.lost);
        if sample.newly > 0.0 {
            let share = (f64::from(ack.marked) / sample.newly).min(1.0);
            self.marked = if share >= 0.5 { share } else { self.marked + WEIGHT * (share - self.marked) };
        }
        if sample.lost > 0.0 && self.lost > 0.02 + 0.5 * tolerance {
            return Some(Signal::Loss);
        }
        let most = mark_threshold(tolerance);
        if ack.marked > 0 && self.marked > most {
            return Some(Signal::Marks((self.marked - most) / most));
        }
        let margin = (nominal * (1.0 + 3.0 * tolerance) / 16.0).min(MARGIN);
        let excess = ack.rtt?.as_secs_f64() - nominal - margin;
        (excess > 0.0 && margin > 0.0).then(|| Signal::Delay(excess / margin))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::delivery::tests::plain;
    use super::*;
    use crate::units::Span;

    /// 1 - s at 1 MB/s.
    const CALM: f64 = 0.08;
    const ONE: Sample = Sample {
        rate: None,
        limited: false,
        round: false,
        newly: 1.0,
        lost: 0.0,
        prior: None,
        sent_among: 0.0,
        delivered: 0.0,
        lost_since: 0.0,
    };

    fn ack(micros: u64, marked: u32) -> Ack {
        Ack { rtt: Some(Span::from_micros(micros)), marked, ..plain() }
    }

    #[test]
    fn sensitivity_is_linear_between_the_rates_of_the_draft() {
        for (rate, wanted) in
            [(0.0, 0.0), (50e3, 0.0), (525e3, 0.46), (1e6, 0.92), (5.5e6, 0.96), (10e6, 1.0), (1e9, 1.0)]
        {
            assert!((1.0 - tolerance(rate) - wanted).abs() < 1e-12, "{rate}: {}", tolerance(rate));
        }
    }

    #[test]
    fn a_round_trip_beyond_the_margin_is_a_signal_in_units_of_the_margin() {
        // d = (1/16 + 0.08 · 3/16) 100 ms = 7.75 ms; and 25 ms where that would be more.
        for (micros, nominal, excess) in
            [(107_700, 0.1, None), (108_525, 0.1, Some(0.1)), (1_037_500, 1.0, Some(0.5))]
        {
            let signal = Shares::default().observe(&ack(micros, 0), &ONE, CALM, nominal);
            match (signal, excess) {
                (None, None) => {}
                (Some(Signal::Delay(found)), Some(wanted)) => {
                    assert!((found - wanted).abs() < 1e-6, "{found}")
                }
                other => panic!("{micros}: {other:?}"),
            }
        }
    }

    #[test]
    fn losses_count_beyond_six_percent_of_a_fast_flow_and_half_of_a_slow_one() {
        // l = 0.02 + 0.08 / 2 = 0.06: the first loss makes 1/16.
        let lost = Sample { newly: 0.0, lost: 1.0, ..ONE };
        let mut fast = Shares::default();
        assert_eq!(fast.observe(&ack(100_000, 0), &lost, CALM, 0.1), Some(Signal::Loss));
        // l = 0.52: 1 - (15/16)^12 = 0.539 is the first share beyond it.
        let mut slow = Shares::default();
        let losses =
            (0..20).take_while(|_| slow.observe(&ack(100_000, 0), &lost, 1.0, 0.1).is_none()).count();
        assert_eq!(losses, 11);
    }

    #[test]
    fn marks_count_beyond_a_tenth() {
        // e = (2 - 0.92) 3/32 = 0.10125.
        assert!((mark_threshold(CALM) - 0.10125).abs() < 1e-12);
        // A marked packet alone in its acknowledgement is a share of one, at once.
        let signal = Shares::default().observe(&ack(100_000, 1), &ONE, CALM, 0.1);
        let Some(Signal::Marks(excess)) = signal else { panic!("{signal:?}") };
        assert!((excess - (1.0 - 0.10125) / 0.10125).abs() < 1e-9);
        // One of four packets, every time: 1/64, 1/64 + 15/16 · 1/64, … 0.107 after nine.
        let mut shares = Shares::default();
        let four = Sample { newly: 4.0, ..ONE };
        let quiet = (0..20).take_while(|_| shares.observe(&ack(100_000, 1), &four, CALM, 0.1).is_none());
        assert_eq!(quiet.count(), 8);
    }
}

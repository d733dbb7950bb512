// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The curve of a gentle RED router over queueing delay: PERT's published response.
//!
//! S. Bhandarkar, A. L. N. Reddy, Y. Zhang, D. Loguinov, "Emulating AQM from End Hosts", SIGCOMM 2007, §3, Figure 5.
//!
//! ```text
//! p = 0                                      q <= t1
//!     pmax (q - t1) / (t2 - t1)              t1 <= q <= t2
//!     pmax + (1 - pmax) (q - t2) / (t3 - t2) t2 <= q <= t3
//!     1                                      q >= t3
//! ```
//!
//! `q` queueing delay, `t1 t2 t3` thresholds: time. `pert` has the readings of the paper.

use super::Response;
use crate::law::red::{self as law, Curve};
use crate::units::{Span, Time};

crate::settings! {
    /// The curve's parameters.
    pub struct Params {
        /// The queueing delay below which there is no early response.
        t1: Span = Span::from_millis(5), Span::ZERO..=Span::from_secs(10);
        /// The queueing delay at which the probability of an early response reaches `pmax`.
        t2: Span = Span::from_millis(10), Span::ZERO..=Span::from_secs(20);
        /// The queueing delay from which an early response is certain; the paper's is twice `t2`.
        t3: Span = Span::from_millis(20), Span::ZERO..=Span::from_secs(40);
        /// The probability of an early response at `t2`.
        pmax: f64 = 0.05, 0.0..=1.0;
        /// The interval between computations of the probability; `0s` computes it at every acknowledgement.
        every: Span = Span::ZERO, Span::ZERO..=Span::from_secs(10);
    }
    check |params| {
        if params.t1 < params.t2 && params.t2 < params.t3 {
            Ok(())
        } else {
            let Params { t1, t2, t3, .. } = params;
            Err(format!("t1 = {t1}, t2 = {t2}, t3 = {t3}: each must be less than the next, as in 5ms, 10ms, 20ms"))
        }
    }
}

/// The curve through (t1, 0), (t2, pmax) and (t3, 1) over nanoseconds, where t1 < t2 < t3.
pub fn curve(t1: Span, t2: Span, t3: Span, pmax: f64) -> Curve {
    let [min, max, end] = [t1, t2, t3].map(nanos);
    Curve::sloped(law::Params { min, max, end, max_p: pmax })
}

/// The signal of the curve: nanoseconds of queueing delay.
#[inline]
pub fn nanos(queueing: Span) -> f64 {
    // A signed number converts in one instruction, and no span is as long as 292 years.
    queueing.0 as i64 as f64
}

/// The curve, read at every sample or now and then.
#[derive(Clone, Debug, PartialEq)]
pub struct Red {
    curve: Curve,
    every: Span,
    computed: Time,
}

impl Response for Red {
    type Params = Params;
    const IN_SLOW_START: bool = false;

    fn new(params: &Params) -> Red {
        let curve = curve(params.t1, params.t2, params.t3, params.pmax);
        Red { curve, every: params.every, computed: Time::ZERO }
    }

    #[inline]
    fn probability(&mut self, queueing: Span, now: Time) -> Option<f64> {
        if now.since(self.computed) < self.every {
            return None;
        }
        self.computed = now;
        Some(self.curve.at(nanos(queueing)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::follow;
    use super::*;
    use crate::settings::Settings;

    #[test]
    fn the_curve_goes_through_the_points_of_figure_5() {
        let Params { t1, t2, t3, pmax, .. } = Params::default();
        let curve = curve(t1, t2, t3, pmax);
        for (micros, probability) in [
            (0, 0.0),
            (5_000, 0.0),
            (7_500, 0.025),
            (10_000, 0.05),
            (15_000, 0.525),
            (20_000, 1.0),
            (90_000, 1.0),
        ] {
            let got = curve.at(nanos(Span::from_micros(micros)));
            assert!((got - probability).abs() < 1e-12, "{micros} us: {got}");
        }
    }

    #[test]
    fn thresholds_out_of_order_are_refused() {
        let message = Params { t2: Span::from_millis(30), ..Params::default() }.check().unwrap_err();
        assert!(message.contains("t2 = 30ms, t3 = 20ms"), "{message}");
        assert_eq!(Params::default().check(), Ok(()));
    }

    #[test]
    fn a_clocked_probability_waits_for_its_clock() {
        let params = Params { every: Span::from_millis(10), ..Params::default() };
        let delays = [0, 25, 25, 25, 25, 0].map(Span::from_millis);
        let got = follow(&mut Red::new(&params), Span::from_millis(4), delays);
        assert_eq!(got, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    }
}

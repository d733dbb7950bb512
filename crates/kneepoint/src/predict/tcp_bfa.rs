// SPDX-License-Identifier: Apache-2.0 OR MIT
//! TCP-BFA: predicts congestion when round-trip times persistently exceed their smoothed value.
//!
//! A. Awadallah, C. Rai, "TCP-BFA: Buffer Fill Avoidance", IFIP High Performance Networking 1998.
//!
//! ```text
//! every acknowledgement:
//!   e = RTT - srtt      srv <- srv + g (e - srv)      srtt <- srtt + e / 8
//! high from  srv > enable  until  srv < disable
//! ```
//!
//! `srv` signed variance of the round-trip time; times.
//!
//! From the authors' slides: the signed variance of RTT - srtt with a gain, and a flag with two thresholds that freezes
//! the window. Ours, as the slides do not state them: g = 1/4, the gain of TCP's own variance; enable = 1 ms,
//! disable = 0. Departure: the original also clears the flag when a loss reduces the window; here the draining queue
//! clears it, as srv turns negative.

use super::{Congestion, Predictor, Sample};
use crate::units::Span;

crate::settings! {
    /// TCP-BFA's parameters.
    pub struct Params {
        /// Weight of a sample in the signed variance.
        gain: f64 = 0.25, 0.0001..=1.0;
        /// Signed variance above which congestion begins.
        enable: Span = Span::from_millis(1), Span::ZERO..=Span::from_secs(10);
        /// Signed variance below which congestion ends.
        disable: Span = Span::ZERO, Span::ZERO..=Span::from_secs(10);
    }
    check |params: &Params| {
        if params.disable <= params.enable {
            Ok(())
        } else {
            let Params { enable, disable, .. } = params;
            Err(format!("disable = {disable} must not exceed enable = {enable}, as in 0s and 1ms"))
        }
    }
}

/// Weight of a sample in the smoothed round-trip time (RFC 6298).
const SMOOTHING: f64 = 0.125;

/// State of TCP-BFA.
#[derive(Clone, Debug)]
pub struct TcpBfa {
    params: Params,
    /// In nanoseconds; none before the first sample.
    smoothed: Option<f64>,
    variance: f64,
    state: Congestion,
}

impl Predictor for TcpBfa {
    type Params = Params;

    fn new(params: Params) -> TcpBfa {
        TcpBfa { params, smoothed: None, variance: 0.0, state: Congestion::Low }
    }

    #[inline]
    fn observe(&mut self, sample: &Sample) -> Congestion {
        let rtt = sample.rtt.0 as f64;
        let smoothed = self.smoothed.get_or_insert(rtt);
        let error = rtt - *smoothed;
        *smoothed += SMOOTHING * error;
        self.variance += self.params.gain * (error - self.variance);
        if self.variance > self.params.enable.0 as f64 {
            self.state = Congestion::High;
        } else if self.variance < self.params.disable.0 as f64 {
            self.state = Congestion::Low;
        }
        self.state
    }
}

#[cfg(test)]
mod tests {
    use super::super::Congestion::{High, Low};
    use super::super::tests::trips;
    use super::*;

    #[test]
    fn a_step_enables_at_once_and_habit_disables() {
        // e, srv in ms: 0, 0; 8, 2; 7, 3.25; -7.875, 0.46875; -6.890625, -1.37
        let said = trips::<TcpBfa>(Params::default(), &[60.0, 68.0, 68.0, 54.0, 54.0]);
        assert_eq!(said, [Low, High, High, High, Low]);
    }

    #[test]
    fn a_small_step_goes_unseen() {
        // 0.25 · 4 ms = 1 ms, which is not above the threshold.
        assert_eq!(trips::<TcpBfa>(Params::default(), &[60.0, 64.0]), [Low, Low]);
        assert_eq!(trips::<TcpBfa>(Params::default(), &[60.0, 64.1]), [Low, High]);
    }
}

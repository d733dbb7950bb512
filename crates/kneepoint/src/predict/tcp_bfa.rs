// SPDX-License-Identifier: Apache-2.0 OR MIT
//! TCP-BFA: congestion is when round trips keep exceeding their own smoothed value.
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
//! Read in the authors' slides: the signed variance of RTT - srtt with a gain, and a flag with two thresholds that holds
//! the window. Ours, for the slides do not give them: g = 1/4, the gain of TCP's own variance; enable = 1 ms,
//! disable = 0. Departure: the original also clears the flag when a loss reduces the window; here the queue that drains
//! after a loss does it, as srv turns negative.

use super::{Predictor, Sample, State};
use crate::units::Span;

crate::settings! {
    /// TCP-BFA's parameters.
    pub struct Params {
        /// The weight of a sample in the signed variance.
        gain: f64 = 0.25, 0.0001..=1.0;
        /// The signed variance above which there is congestion.
        enable: Span = Span::from_millis(1), Span::ZERO..=Span::from_secs(10);
        /// The signed variance below which congestion is over.
        disable: Span = Span::ZERO, Span::ZERO..=Span::from_secs(10);
    }
    check |params: &Params| {
        if params.disable <= params.enable {
            Ok(())
        } else {
            let Params { enable, disable, .. } = params;
            Err(format!("disable = {disable} is above enable = {enable}: it must not be, as in 0s and 1ms"))
        }
    }
}

/// What a sample weighs in the smoothed round-trip time (RFC 6298).
const SMOOTHING: f64 = 0.125;

/// TCP-BFA.
#[derive(Clone, Debug)]
pub struct TcpBfa {
    params: Params,
    /// Nanoseconds; none before the first sample.
    smoothed: Option<f64>,
    variance: f64,
    state: State,
}

impl Predictor for TcpBfa {
    type Params = Params;

    fn new(params: Params) -> TcpBfa {
        TcpBfa { params, smoothed: None, variance: 0.0, state: State::Low }
    }

    #[inline]
    fn observe(&mut self, sample: &Sample) -> State {
        let rtt = sample.rtt.0 as f64;
        let smoothed = self.smoothed.get_or_insert(rtt);
        let error = rtt - *smoothed;
        *smoothed += SMOOTHING * error;
        self.variance += self.params.gain * (error - self.variance);
        if self.variance > self.params.enable.0 as f64 {
            self.state = State::High;
        } else if self.variance < self.params.disable.0 as f64 {
            self.state = State::Low;
        }
        self.state
    }
}

#[cfg(test)]
mod tests {
    use super::super::State::{High, Low};
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
        // 0.25 · 4 ms = 1 ms, not above it.
        assert_eq!(trips::<TcpBfa>(Params::default(), &[60.0, 64.0]), [Low, Low]);
        assert_eq!(trips::<TcpBfa>(Params::default(), &[60.0, 64.1]), [Low, High]);
    }
}

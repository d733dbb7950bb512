// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The retransmission timeout.
//!
//! RFC 6298 §2, with a configurable floor and clock tick `G`.
//!
//! ```text
//! first sample R:  SRTT = R,  RTTVAR = R/2
//! then:            RTTVAR = 3/4 RTTVAR + 1/4 |SRTT − R|,  SRTT = 7/8 SRTT + 1/8 R
//! RTO = SRTT + max(G, 4 RTTVAR), within [floor, ceiling], doubled at each expiry until the next sample
//! ```

use super::Options;
use crate::units::Span;

/// Smoothed round-trip time and timeout.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    srtt: u64,
    rttvar: u64,
    rto: Span,
    backoff: u32,
    floor: Span,
    ceiling: Span,
    granularity: Span,
}

impl RttEstimator {
    /// An estimator without a sample.
    pub fn new(options: &Options) -> RttEstimator {
        RttEstimator {
            srtt: 0,
            rttvar: 0,
            rto: options.rto_initial,
            backoff: 0,
            floor: options.rto_min,
            ceiling: options.rto_max,
            granularity: options.rto_granularity,
        }
    }

    /// Learns a sample.
    #[inline]
    pub fn sample(&mut self, rtt: Span) {
        if self.srtt == 0 {
            self.srtt = rtt.0.max(1);
            self.rttvar = rtt.0 / 2;
        } else {
            self.rttvar = (3 * self.rttvar + self.srtt.abs_diff(rtt.0)) / 4;
            self.srtt = ((7 * self.srtt + rtt.0) / 8).max(1);
        }
        let rto = self.srtt + self.granularity.0.max(4 * self.rttvar);
        self.rto = Span(rto.clamp(self.floor.0, self.ceiling.0));
        self.backoff = 0;
    }

    /// The timer expired.
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(32);
    }

    /// How often the timer expired since the last sample.
    pub fn backoffs(&self) -> u32 {
        self.backoff
    }

    /// The timeout now.
    #[inline]
    pub fn timeout(&self) -> Span {
        Span(self.rto.0.saturating_mul(1 << self.backoff).min(self.ceiling.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeout_follows_the_rfc() {
        let mut rtt = RttEstimator::new(&Options::default());
        assert_eq!(rtt.timeout(), Span::from_secs(1));
        rtt.sample(Span::from_millis(100));
        // 100 + 4·50
        assert_eq!(rtt.timeout(), Span::from_millis(300));
        rtt.sample(Span::from_millis(180));
        // RTTVAR = (150 + 80)/4 = 57.5, SRTT = 110
        assert_eq!(rtt.timeout(), Span::from_millis(340));
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.timeout(), Span::from_millis(1360));
        for _ in 0..40 {
            rtt.back_off();
        }
        assert_eq!(rtt.timeout(), Span::from_secs(60));
    }

    #[test]
    fn a_steady_path_rests_on_the_floor() {
        let mut rtt = RttEstimator::new(&Options::default());
        for _ in 0..100 {
            rtt.sample(Span::from_millis(60));
        }
        assert_eq!(rtt.timeout(), Span::from_millis(200));
    }
}

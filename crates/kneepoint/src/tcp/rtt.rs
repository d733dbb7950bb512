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
//!
//! A host whose clock is noisy measures R + U[0, 2m], and knows nothing else: `m` is `rtt_noise`.

use super::Options;
use crate::rng::Rng;
use crate::units::Span;

/// Smoothed round-trip time and timeout.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    srtt: u64,
    rttvar: u64,
    /// The timeout now.
    rto: Span,
    floor: Span,
    ceiling: Span,
    granularity: Span,
    /// The mean error of a noisy clock, and its random stream.
    noise: Option<Box<(Span, Rng)>>,
}

impl RttEstimator {
    /// An estimator without a sample.
    pub fn new(options: &Options) -> RttEstimator {
        RttEstimator {
            srtt: 0,
            rttvar: 0,
            rto: options.rto_initial.min(options.rto_max),
            floor: options.rto_min,
            ceiling: options.rto_max,
            granularity: options.rto_granularity,
            noise: None,
        }
    }

    /// The same with a noisy clock, if `options` have one; the stream is its own, so that it changes no other draw.
    pub fn noisy(self, options: &Options, stream: impl FnOnce() -> Rng) -> RttEstimator {
        let most = options.rtt_noise * 2;
        RttEstimator { noise: (most > Span::ZERO).then(|| Box::new((most, stream()))), ..self }
    }

    /// Processes a sample and returns it with the clock's error.
    #[inline]
    pub fn sample(&mut self, exact: Span) -> Span {
        let rtt = match &mut self.noise {
            Some(noise) => exact + Span(noise.1.below(noise.0.0)),
            None => exact,
        };
        if self.srtt == 0 {
            self.srtt = rtt.0.max(1);
            self.rttvar = rtt.0 / 2;
        } else {
            self.rttvar = (3 * self.rttvar + self.srtt.abs_diff(rtt.0)) / 4;
            self.srtt = ((7 * self.srtt + rtt.0) / 8).max(1);
        }
        let rto = self.srtt + self.granularity.0.max(4 * self.rttvar);
        self.rto = Span(rto.clamp(self.floor.0, self.ceiling.0));
        rtt
    }

    /// The smoothed round-trip time; zero before the first sample.
    #[inline]
    pub fn smoothed(&self) -> Span {
        Span(self.srtt)
    }

    /// The mean deviation of samples.
    pub fn deviation(&self) -> Span {
        Span(self.rttvar)
    }

    /// The timer expired.
    #[cold]
    pub fn back_off(&mut self) {
        self.rto = Span(2 * self.rto.0).min(self.ceiling);
    }

    /// The timeout now.
    #[inline]
    pub fn timeout(&self) -> Span {
        self.rto
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
    fn a_noisy_clock_adds_up_to_twice_its_mean() {
        let options = Options { rtt_noise: Span::from_millis(50), ..Options::default() };
        let mut rtt = RttEstimator::new(&options).noisy(&options, || Rng::stream(1, "noise", 0));
        let added: Vec<f64> =
            (0..10_000).map(|_| rtt.sample(Span::from_millis(60)).as_millis_f64() - 60.0).collect();
        assert!(added.iter().all(|one| (0.0..100.0).contains(one)));
        let mean = added.iter().sum::<f64>() / added.len() as f64;
        assert!((mean - 50.0).abs() < 1.0, "{mean}");
        // SRTT 110 ms, and a mean deviation of 25 ms that RTTVAR is about.
        assert!(
            (Span::from_millis(150)..Span::from_millis(400)).contains(&rtt.timeout()),
            "{}",
            rtt.timeout()
        );
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

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
//! Linux's estimator (`tcp_rtt_estimator`) has its own deviation:
//!
//! ```text
//! first sample R:  SRTT = R,  D = R/2,  V = max(4 D, G)
//! then:            D = 3/4 D + 1/4 |SRTT − R|, or D + (|SRTT − R| − D) / 32 where R is below SRTT and the error above D
//!                  V = max(V, 4 D);  once a round trip V = 3/4 V + 1/4 max(4 D of that round trip, G), if that is less
//! RTO = SRTT + V
//! ```
//!
//! A host with a noisy clock only measures R + U[0, 2m]: `m` is `rtt_noise`.

use super::Options;
use crate::rng::Rng;
use crate::units::Span;

crate::choice! {
    /// The computation of the retransmission timeout from round-trip times.
    pub enum Estimator {
        /// SRTT and RTTVAR of RFC 6298.
        Rfc6298 = "rfc6298",
        /// Linux's, whose variation falls slowly and hardly grows when round trips become shorter.
        Linux = "linux",
    }
}

/// Linux's deviation, in its fixed point: eighths of a microsecond of SRTT, quarters of one of all others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deviation {
    srtt: i64,
    mean: i64,
    greatest: i64,
    variation: i64,
    /// The variation may fall when something above this segment is acknowledged.
    round: u32,
}

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

    /// The same with a noisy clock, if `options` have one; the stream is separate, so that it changes no other draw.
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

    /// As [`sample`](RttEstimator::sample), by Linux's rule: everything below `una` is acknowledged, and everything below `high` is
    /// sent.
    pub fn sample_as_linux(&mut self, exact: Span, deviation: &mut Deviation, una: u32, high: u32) -> Span {
        let rtt = match &mut self.noise {
            Some(noise) => exact + Span(noise.1.below(noise.0.0)),
            None => exact,
        };
        deviation.sample((rtt.0 / 1000) as i64, (self.granularity.0 / 1000) as i64, una, high);
        self.srtt = (deviation.srtt as u64 * 125).max(1);
        self.rttvar = deviation.variation as u64 * 250;
        let rto = Span((deviation.srtt as u64 / 8 + deviation.variation as u64) * 1000);
        self.rto = rto.min(self.ceiling);
        rtt
    }

    /// The variation: a quarter of the difference between the timeout and the smoothed round-trip time.
    pub fn variation(&self) -> Span {
        Span(self.rttvar)
    }

    /// The smoothed round-trip time; zero before the first sample.
    #[inline]
    pub fn smoothed(&self) -> Span {
        Span(self.srtt)
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

impl Deviation {
    /// The mean deviation, without the floor and the memory of peaks that the timeout has.
    pub fn mean(&self) -> Span {
        Span(self.mean as u64 * 250)
    }

    /// A round trip of `rtt` microseconds.
    fn sample(&mut self, rtt: i64, floor: i64, una: u32, high: u32) {
        if self.srtt == 0 {
            self.srtt = (8 * rtt).max(1);
            self.mean = 2 * rtt;
            self.variation = self.mean.max(floor);
            self.greatest = self.variation;
            self.round = high;
            return;
        }
        let error = rtt - (self.srtt >> 3);
        self.srtt = (self.srtt + error).max(1);
        let change = error.abs() - (self.mean >> 2);
        self.mean += if error < 0 && change > 0 { change >> 3 } else { change };
        self.greatest = self.greatest.max(self.mean);
        self.variation = self.variation.max(self.greatest);
        if una > self.round {
            self.variation -= (self.variation - self.greatest).max(0) >> 2;
            self.round = high;
            self.greatest = floor;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_adds_at_least_its_granularity_and_forgets_a_peak_by_a_quarter_a_round_trip() {
        let millis = Span::from_millis;
        let options = Options { rto_granularity: millis(200), ..Options::default() };
        let (mut rtt, mut deviation) = (RttEstimator::new(&options), Deviation::default());
        let mut sample = |to: &mut RttEstimator, ms: u64, una: u32| {
            to.sample_as_linux(millis(ms), &mut deviation, una, una + 10)
        };
        sample(&mut rtt, 100, 0);
        // 4 · 50 ms are the floor.
        assert_eq!(rtt.timeout(), millis(300));
        // A late one: SRTT = 100 + 300/8, D = 3/4 · 50 + 1/4 · 300 = 112.5 ms.
        sample(&mut rtt, 400, 1);
        assert_eq!(rtt.timeout(), Span::from_micros(137_500 + 450_000));
        // An early one hardly counts: 4 D grows by (|100 - 137.5| - 112.5) < 0, as usual.
        sample(&mut rtt, 100, 2);
        assert_eq!(rtt.smoothed(), Span::from_micros(132_812) + Span(500));
        assert_eq!(rtt.timeout(), Span::from_micros(132_812 + 450_000));
    }

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
        // SRTT 110 ms, and a mean deviation of about 25 ms, which RTTVAR estimates.
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

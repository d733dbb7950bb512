// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Throughput rule: the highest bit rate below the throughput of the last segments, with a margin.
//!
//! Jiang, Sekar and Zhang, "Improving fairness, efficiency, and stability in HTTP-based adaptive video streaming with
//! FESTIVE", CoNEXT 2012, §4.3 and §6: the harmonic mean of the last 20 segments, of which 0.85 is used.
//!
//! ```text
//! T = n / Σ 1/T_i,  n ≤ 20      next = max{R ≤ 0.85 T}
//! ```
//!
//! Departures: FESTIVE's gradual switching and randomized scheduling are left out. The first segment is of the lowest rate.

use super::{Rule, Seen};

crate::settings! {
    /// The estimate and its margin.
    pub struct Params {
        /// The number of segments whose throughput counts.
        last: u32 = 20, 1..=1000;
        /// The part of the estimate that is used.
        safe: f64 = 0.85, 0.01..=2.0;
    }
}

/// The rule.
#[derive(Clone, Debug)]
pub struct Throughput {
    params: Params,
}

impl Rule for Throughput {
    type Params = Params;

    fn new(params: Params) -> Throughput {
        Throughput { params }
    }

    fn rung(&self, seen: &Seen) -> usize {
        let before = seen.throughputs.len().saturating_sub(self.params.last as usize);
        let latest = &seen.throughputs[before..];
        let estimate = latest.len() as f64 / latest.iter().map(|throughput| 1.0 / throughput).sum::<f64>();
        // Without an estimate this is NaN, below which there is no rate.
        seen.ladder.iter().rposition(|rate| rate.as_f64() <= self.params.safe * estimate).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Rate, Span};

    #[test]
    fn it_takes_the_rate_below_the_harmonic_mean_of_the_last_segments() {
        let ladder = [1, 2, 3, 4].map(Rate::from_mbit);
        let rung = |throughputs: &[f64]| {
            let (segment, room) = (Span::from_secs(4), Span::from_secs(30));
            Throughput::new(Params::default()).rung(&Seen {
                ladder: &ladder,
                segment,
                buffer: Span::ZERO,
                room,
                last: 0,
                throughputs,
            })
        };
        assert_eq!(rung(&[]), 0);
        // 0.85 · 2 / (1/2 + 1/6) = 2.55 Mbit/s, where the mean is 4.
        assert_eq!(rung(&[2e6, 6e6]), 1);
        // Only the last twenty count.
        assert_eq!(rung(&[[1e5].as_slice(), &[5e6; 20]].concat()), 3);
    }
}

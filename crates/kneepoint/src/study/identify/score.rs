// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How far a suspect is from a capture.
//!
//! ```text
//! error of a moment   |ln (E + 1) / (O + 1)|, at most 0.3;    E expected, O observed packets in flight
//! error of a suspect  the mean over time, each moment for as long as it lasted, at most a round trip; without repairs
//! ```

use super::follow::Moment;
use crate::units::{Span, Time};

/// The greatest error of a moment: what is further off is as wrong as can be.
const WRONG: f64 = 0.3;

impl Moment {
    /// The error: the logarithm of the ratio of expected and observed packets, either with one more.
    pub fn error(&self) -> f64 {
        let ratio = (self.expected + 1.0) / (f64::from(self.observed) + 1.0);
        libm::log(ratio).clamp(-WRONG, WRONG)
    }
}

/// The weight of each moment, in seconds: none during repairs.
pub fn weights(moments: &[Moment], base: Span) -> Vec<f64> {
    let mut before = Time::ZERO;
    let weight = |moment: &Moment| {
        let lasted = moment.at.since(std::mem::replace(&mut before, moment.at)).min(base);
        if moment.repairs { 0.0 } else { lasted.as_secs_f64() }
    };
    moments.iter().map(weight).collect()
}

/// The error of a suspect; the greatest one where there is no moment to judge by.
pub fn error(moments: &[Moment], base: Span) -> f64 {
    let weights = weights(moments, base);
    let all: f64 = weights.iter().sum();
    let off: f64 = moments.iter().zip(&weights).map(|(moment, weight)| weight * moment.error().abs()).sum();
    if all > 0.0 { off / all } else { WRONG }
}

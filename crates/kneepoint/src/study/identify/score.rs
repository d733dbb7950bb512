// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How far a suspect is from a capture.
//!
//! ```text
//! error of a moment   ln (O + 1 + x) / (O + 1), at most 0.3
//!                     x = O - E - max(1, ahead), or E - O - max(1, saved), not below zero
//! error of a suspect  the mean over time, each moment for as long as it lasted, at most a round trip; without repairs
//! ```
//!
//! `E` expected, `O` observed packets in flight, whole. One packet of difference says nothing: an acknowledgement at the edge of a repair
//! or of a round trip makes it. Nor do packets that the sender may send and saves up (Linux, where several segments leave at once), or
//! that leave together ahead of a pace.

use super::follow::Moment;
use crate::units::{Span, Time};

/// The greatest error of a moment: what is further off is as wrong as can be.
pub(super) const WRONG: f64 = 0.3;
/// Packets that say nothing.
const RESOLUTION: f64 = 1.0;
/// What a sum of fractions lacks of a whole packet.
const ROUNDED: f64 = 1e-6;

impl Moment {
    /// The error, which grows with the packets that are too many or too few.
    pub fn error(&self) -> f64 {
        let observed = f64::from(self.observed);
        let expected = libm::floor(self.expected + ROUNDED);
        let [saved, ahead] = [self.saved, self.ahead].map(|packets| f64::from(packets).max(RESOLUTION));
        let off = (observed - expected - ahead).max(expected - observed - saved).max(0.0);
        libm::log((observed + 1.0 + off) / (observed + 1.0)).min(WRONG)
    }
}

/// The weight of each moment, in seconds: none during repairs.
pub fn weights(moments: &[Moment], base: Span) -> Vec<f64> {
    weights_since(Time::ZERO, moments, base)
}

/// The weights of moments of which the one before was at this time.
pub(super) fn weights_since(mut before: Time, moments: &[Moment], base: Span) -> Vec<f64> {
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
    let off: f64 = moments.iter().zip(&weights).map(|(moment, weight)| weight * moment.error()).sum();
    if all > 0.0 { off / all } else { WRONG }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_up_or_leaves_ahead_of_a_pace_is_no_error() {
        let error = |observed, expected, saved, ahead| {
            Moment { at: Time::ZERO, observed, expected, saved, ahead, repairs: false }.error()
        };
        assert_eq!(error(12, 10.0, 2, 2), 0.0);
        assert_eq!(error(8, 10.0, 2, 0), 0.0);
        assert!(error(12, 10.0, 2, 0) > 0.0 && error(13, 10.0, 2, 2) > 0.0 && error(7, 10.0, 2, 2) > 0.0);
    }
}

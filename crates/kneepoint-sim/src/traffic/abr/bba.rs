// SPDX-License-Identifier: Apache-2.0 OR MIT
//! BBA-0: the bit rate is a function of the buffer, with a hysteresis of a rung.
//!
//! Huang, Johari, McKeown, Trunnell and Watson, "A buffer-based approach to rate adaptation: evidence from a large video
//! streaming service", SIGCOMM 2014, Algorithm 1.
//!
//! ```text
//! f(B)   R_min for B ≤ r, R_max for B ≥ r + c, linear in between
//! next   R_min for B ≤ r; R_max for B ≥ r + c;
//!        max{R < f(B)} if f(B) ≥ the rung above the last; min{R > f(B)} if f(B) ≤ the one below; else the last
//! ```
//!
//! r = 3/8 of the buffer and r + c = 9/10 of it, as 90 s and 216 s are of the paper's 240 s. Departure: where less than a segment
//! is left above r + c, the cushion ends at the fullest that a buffer is when a segment is requested, `room` less a segment; a buffer of 30 s
//! with segments of 4 s would else never have R_max.

use super::{Rule, Seen};

crate::settings! {
    /// The map from the buffer to the bit rate.
    pub struct Params {
        /// The reservoir r, as a fraction of the buffer.
        reservoir: f64 = 0.375, 0.0..=1.0;
        /// The end of the cushion, r + c, as a fraction of the buffer.
        upper: f64 = 0.9, 0.0..=1.0;
    } check |params| {
        if params.reservoir >= params.upper {
            return Err(format!(
                "reservoir, {}, is not below upper, {}: lower the one or raise the other",
                params.reservoir, params.upper
            ));
        }
        Ok(())
    }
}

/// The rule.
#[derive(Clone, Debug)]
pub struct Bba {
    params: Params,
}

impl Rule for Bba {
    type Params = Params;

    fn new(params: Params) -> Bba {
        Bba { params }
    }

    fn rung(&self, seen: &Seen) -> usize {
        let top = seen.ladder.len() - 1;
        let (buffer, room) = (seen.buffer.as_secs_f64(), seen.room.as_secs_f64());
        let reservoir = self.params.reservoir * room;
        let upper = (self.params.upper * room).min(seen.room.saturating_sub(seen.segment).as_secs_f64());
        if buffer <= reservoir {
            return 0;
        }
        if buffer >= upper {
            return top;
        }
        let rate = |rung: usize| seen.ladder[rung].as_f64();
        let wanted = rate(0) + (buffer - reservoir) / (upper - reservoir) * (rate(top) - rate(0));
        let (above, below) = ((seen.last + 1).min(top), seen.last.saturating_sub(1));
        if wanted >= rate(above) {
            (0..=top).rev().find(|rung| rate(*rung) < wanted).unwrap_or(0)
        } else if wanted <= rate(below) {
            (0..=top).find(|rung| rate(*rung) > wanted).unwrap_or(top)
        } else {
            seen.last
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Rate, Span};

    #[test]
    fn the_rate_follows_the_buffer_by_whole_rungs() {
        let ladder = [1, 2, 3, 4, 5].map(Rate::from_mbit);
        let rung = |seconds, last| {
            let (segment, room) = (Span::from_secs(4), Span::from_secs(240));
            let buffer = Span::from_secs(seconds);
            Bba::new(Params::default()).rung(&Seen {
                ladder: &ladder,
                segment,
                buffer,
                room,
                last,
                throughputs: &[],
            })
        };
        // f(B) = 1 + 4 (B − 90) / 126 Mbit/s.
        assert_eq!([rung(90, 4), rung(216, 0)], [0, 4]);
        // f(130) = 2.27: two rungs below the fourth, but less than a rung away from the second and the third.
        assert_eq!([rung(130, 1), rung(130, 2), rung(130, 3), rung(130, 4)], [1, 2, 2, 2]);
        // f(160) = 3.22 is beyond the rung above the second, and the highest rung below it is the third.
        assert_eq!([rung(160, 0), rung(160, 1), rung(160, 2)], [2, 2, 2]);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! BOLA-BASIC: the greatest utility for its bits, weighed against the buffer.
//!
//! Spiteri, Urgaonkar and Sitaraman, "BOLA: near-optimal bitrate adaptation for online videos", INFOCOM 2016, §III and §V.A.
//!
//! ```text
//! v_m = ln(S_m / S_1)                            utility of the encoding m, whose segments have S_m bits
//! m   = argmax (V (v_m + γp) − Q) / S_m          Q segments of length p in the buffer, of Q_max at most
//! V   = (Q_max − 1) / (v_M + γp),  γp = 5
//! ```
//!
//! With that V the objective is positive until Q_max − 1 segments are there; then the full buffer makes the player wait.

use super::{Rule, Seen};

crate::settings! {
    /// The objective.
    pub struct Params {
        /// γp: how much smooth playback counts against utility.
        gamma: f64 = 5.0, 0.01..=1000.0;
    }
}

/// The rule.
#[derive(Clone, Debug)]
pub struct Bola {
    params: Params,
}

impl Rule for Bola {
    type Params = Params;

    fn new(params: Params) -> Bola {
        Bola { params }
    }

    fn rung(&self, seen: &Seen) -> usize {
        let segments = |of: f64| of / seen.segment.as_secs_f64();
        let (fill, most) = (segments(seen.buffer.as_secs_f64()), segments(seen.room.as_secs_f64()));
        let rate = |rung: usize| seen.ladder[rung].as_f64();
        let utility = |rung: usize| libm::log(rate(rung) / rate(0)) + self.params.gamma;
        let top = seen.ladder.len() - 1;
        let weight = (most - 1.0).max(0.0) / utility(top);
        let gain = |rung: usize| (weight * utility(rung) - fill) / rate(rung);
        // The lowest of equals: a buffer of one segment makes all of them equal.
        (0..=top).rev().max_by(|a, b| gain(*a).total_cmp(&gain(*b))).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Rate, Span};

    #[test]
    fn between_two_encodings_it_changes_where_the_objectives_meet() {
        let ladder = [Rate::from_mbit(1), Rate::from_mbit(4)];
        let rung = |millis| {
            let (segment, room) = (Span::from_secs(3), Span::from_secs(33));
            let buffer = Span::from_millis(millis);
            Bola::new(Params::default()).rung(&Seen {
                ladder: &ladder,
                segment,
                buffer,
                room,
                last: 0,
                throughputs: &[],
            })
        };
        // V = 10 / (ln 4 + 5) = 1.5658; 4 (5 V − Q) = V (ln 4 + 5) − Q at Q = (20 V − 10) / 3 = 7.1057 segments, 21.317 s.
        assert_eq!([rung(0), rung(21_316), rung(21_318), rung(33_000)], [0, 0, 1, 1]);
    }
}

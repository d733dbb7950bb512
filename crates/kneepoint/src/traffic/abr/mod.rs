// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Rules of adaptive bit rate: which encoding of the next segment a player asks for.
//!
//! A rule sees the buffer and the throughput of past segments, and answers with a rung of the ladder. To add one: write
//! `traffic/abr/NAME.rs` with a function `rung` like `traffic/abr/bba.rs`, and add its line to the table below.

mod bba;
mod bola;
mod throughput;

use std::fmt;

use crate::settings::{List, Raw, Setting};
use crate::units::{Rate, Span};

crate::choice! {
    /// How a player chooses the bit rate of the next segment.
    pub enum Rule {
        /// Always the highest of the ladder: stored video in one encoding.
        Highest = "highest",
        /// By the buffer alone, from a reservoir up over a cushion (BBA-0, SIGCOMM 2014).
        Bba = "bba",
        /// By the buffer alone, the greatest utility for its bits (BOLA-BASIC, INFOCOM 2016).
        Bola = "bola",
        /// By the throughput of the last segments, with a margin (FESTIVE's estimate, CoNEXT 2012).
        Throughput = "throughput",
    }
}

/// What a rule sees when a segment is to be asked for.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Bit rates of the encodings, increasing.
    pub ladder: &'a [Rate],
    /// The length of a segment.
    pub segment: Span,
    /// Video in the buffer.
    pub buffer: Span,
    /// The most that it holds.
    pub room: Span,
    /// The rung of the segment before; the lowest before the first.
    pub last: usize,
    /// Throughputs of the segments so far in bit/s, the latest last.
    pub throughputs: &'a [f64],
}

impl Rule {
    /// The rung of the next segment.
    pub fn rung(self, seen: &Seen) -> usize {
        match self {
            Rule::Highest => seen.ladder.len() - 1,
            Rule::Bba => bba::rung(seen),
            Rule::Bola => bola::rung(seen),
            Rule::Throughput => throughput::rung(seen),
        }
    }
}

/// The bit rates in which a video is encoded, increasing.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct Ladder(List<Rate>);

impl Ladder {
    /// The rates, at least one.
    pub fn rates(&self) -> &[Rate] {
        self.0.values()
    }
}

/// The ladder that Netflix gave every title until 2015 ("Per-title encode optimization", Netflix Technology Blog, 2015).
impl Default for Ladder {
    fn default() -> Ladder {
        let rates = [235, 375, 560, 750, 1050, 1750, 2350, 3000, 4300, 5800].map(|kbit| Rate(kbit * 1000));
        Ladder(rates.to_vec().into())
    }
}

impl fmt::Display for Ladder {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Setting for Ladder {
    const KIND: &'static str = "list of increasing rates";
    const JSON: &'static [&'static str] = &["string", "array"];

    fn read(raw: &Raw) -> Result<Ladder, String> {
        // As it is written by `Display`, too.
        let inside = |text: &str| Some(text.trim().strip_prefix('[')?.strip_suffix(']')?.to_string());
        let list = match raw {
            Raw::Text(text) => match inside(text) {
                Some(inside) => {
                    let each = inside.split(',').map(|rate| Raw::Text(rate.trim().into()));
                    List::<Rate>::read(&Raw::List(each.collect()))?
                }
                None => List::<Rate>::read(raw)?,
            },
            _ => List::<Rate>::read(raw)?,
        };
        let rates = list.values();
        if rates.is_empty() || rates.len() > 100 || rates[0] < Rate(8) || !rates.is_sorted_by(|a, b| a < b) {
            return Err(format!("{raw} has to be 1 to 100 increasing rates: [\"1mbit\", \"3mbit\"]"));
        }
        Ok(Ladder(list))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_stays_on_the_ladder_and_never_asks_for_less_with_more_in_the_buffer() {
        let ladder = Ladder::default();
        let room = Span::from_secs(60);
        for rule in Rule::ALL {
            for last in 0..ladder.rates().len() {
                let mut before = 0;
                for tenths in 0..=600 {
                    let buffer = Span::from_millis(100 * tenths);
                    let throughputs = [2e6, 3e6];
                    let seen = Seen {
                        ladder: ladder.rates(),
                        segment: Span::from_secs(4),
                        buffer,
                        room,
                        last,
                        throughputs: &throughputs,
                    };
                    let rung = rule.rung(&seen);
                    assert!(before <= rung && rung < ladder.rates().len(), "{rule} {buffer} {before} {rung}");
                    before = rung;
                }
            }
        }
    }
}

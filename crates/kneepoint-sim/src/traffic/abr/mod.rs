// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Rules of adaptive bit rate: which encoding of the next segment a player asks for, and their registry.
//!
//! A rule sees the buffer and the throughput of past segments, and answers with a rung of the ladder. To add one: write
//! `traffic/abr/NAME.rs` like `traffic/abr/throughput.rs` and add its line to the registry below.

mod ladder;

pub use ladder::Ladder;

use std::fmt;

use crate::settings::Settings;
use crate::units::{Rate, Span};

/// Inputs of a rule that chooses the next segment.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Bit rates of the encodings, increasing.
    pub ladder: &'a [Rate],
    /// The length of a segment.
    pub segment: Span,
    /// Video in the buffer: at most `room` less a segment; otherwise the next one would not fit.
    pub buffer: Span,
    /// The most that it holds.
    pub room: Span,
    /// The rung of the segment before; the lowest before the first.
    pub last: usize,
    /// Throughputs of the segments so far in bit/s, the latest last.
    pub throughputs: &'a [f64],
}

/// A rule of adaptive bit rate.
pub trait Rule: Clone + fmt::Debug {
    /// Its parameters.
    type Params: Settings;

    /// A rule before its first segment.
    fn new(params: Self::Params) -> Self;
    /// The rung of the next segment, a place in the ladder.
    fn rung(&self, seen: &Seen) -> usize;
}

crate::registry! {
    trait Rule;
    each each;
    algorithms {
        bola::Bola,
        bba::Bba,
        throughput::Throughput,
        highest::Highest,
    }
}

impl Any {
    /// [`Rule::rung`], forwarded to the rule.
    pub fn rung(&self, seen: &Seen) -> usize {
        each!(self, one => one.rung(seen))
    }
}

super::written::written!("a rule of adaptive bit rate", "bba:reservoir=0.4");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Raw, Setting};

    fn read(text: &str) -> Result<Config, String> {
        Config::read(&Raw::Text(text.into()))
    }

    #[test]
    fn a_rule_reads_what_it_prints_and_an_error_names_the_remedy() {
        for written in ["bola", "bba:reservoir=0.25", "bba:reservoir=0.25,upper=0.5", "throughput:last=5"] {
            assert_eq!(read(written).map(|config| config.to_string()), Ok(written.to_string()));
        }
        assert_eq!(read("bba: reservoir = 0.375").map(|config| config.to_string()), Ok("bba".to_string()));
        for (written, remedy) in [
            ("bbr", "\"bbr\" is not a rule of adaptive bit rate: did you mean `bba`?"),
            ("bba:resevoir=0.4", "bba has no parameter `resevoir`: did you mean `reservoir`?"),
            ("bba:upper=2", "upper: 2 is outside the allowed range, 0 to 1"),
            ("bba:upper", "`upper` sets nothing: write settings as in `bba:reservoir=0.4`"),
            ("bba:reservoir=0.9", "reservoir, 0.9, is not below upper, 0.9"),
        ] {
            let error = read(written).expect_err(written);
            assert!(error.starts_with(remedy), "{error}");
        }
    }

    #[test]
    fn a_rule_stays_on_the_ladder_and_never_asks_for_less_with_more_in_the_buffer() {
        let ladder = Ladder::default();
        let (segment, room) = (Span::from_secs(4), Span::from_secs(60));
        for rule in REGISTRY.iter().filter_map(|entry| Config::named(entry.name)) {
            for last in 0..ladder.rates().len() {
                let mut before = 0;
                for tenths in 0..=600 {
                    let buffer = Span::from_millis(100 * tenths);
                    let seen = Seen {
                        ladder: ladder.rates(),
                        segment,
                        buffer,
                        room,
                        last,
                        throughputs: &[2e6, 3e6],
                    };
                    let rung = rule.build().rung(&seen);
                    assert!(before <= rung && rung < ladder.rates().len(), "{rule} {buffer} {before} {rung}");
                    before = rung;
                }
            }
        }
    }

    #[test]
    fn a_rule_takes_the_highest_rung_with_a_full_buffer_behind_a_fast_link() {
        let ladder = Ladder::default();
        let top = ladder.rates().len() - 1;
        // The largest buffer level at which a segment is requested.
        for (segment, room) in [(4, 12), (4, 30), (4, 240), (2, 6), (10, 30)] {
            let (segment, room) = (Span::from_secs(segment), Span::from_secs(room));
            for rule in REGISTRY.iter().filter_map(|entry| Config::named(entry.name)) {
                let mut last = 0;
                for _ in 0..2 {
                    let buffer = room.saturating_sub(segment);
                    last = rule.build().rung(&Seen {
                        ladder: ladder.rates(),
                        segment,
                        buffer,
                        room,
                        last,
                        throughputs: &[1e9],
                    });
                }
                assert_eq!(last, top, "{rule}, segments of {segment}, a buffer of {room}");
            }
        }
    }
}

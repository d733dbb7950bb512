// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Highest: always the highest bit rate of the ladder.
//!
//! Stored video in one encoding, which players fetched before bit rates adapted.

use super::{Rule, Seen};

crate::settings! {
    /// It has no parameters.
    pub struct Params {}
}

/// The rule.
#[derive(Clone, Debug)]
pub struct Highest;

impl Rule for Highest {
    type Params = Params;

    fn new(_: Params) -> Highest {
        Highest
    }
    fn rung(&self, seen: &Seen) -> usize {
        seen.ladder.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Rate, Span};

    #[test]
    fn nothing_changes_it() {
        let ladder = [1, 2].map(Rate::from_mbit);
        let (segment, room) = (Span::from_secs(4), Span::from_secs(30));
        let seen = Seen { ladder: &ladder, segment, buffer: Span::ZERO, room, last: 0, throughputs: &[1.0] };
        assert_eq!(Highest.rung(&seen), 1);
    }
}

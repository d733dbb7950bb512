// SPDX-License-Identifier: Apache-2.0 OR MIT
//! At: one packet is lost at each of the given `times`, and no other.

use super::Loss;
use crate::rng::Rng;
use crate::settings::List;
use crate::units::{Bytes, Span, Time};

crate::settings! {
    /// A channel that loses packets at given times, to observe a controller's response.
    pub struct Params {
        /// The first packet sent at each of these times or after it is lost; a time given twice loses two.
        times: List<Span> = List::one(Span::from_secs(10)), List::one(Span::ZERO)..=List::one(Span::from_secs(1_000_000));
    }
}

/// A channel and the losses that are still to come.
#[derive(Clone, Debug)]
pub struct At {
    /// The latest first.
    due: Vec<Time>,
}

impl Loss for At {
    type Params = Params;

    fn new(params: Params) -> At {
        let mut due: Vec<Time> = params.times.values().iter().map(|time| time.after_start()).collect();
        due.sort_unstable_by(|a, b| b.cmp(a));
        At { due }
    }
    fn loses(&mut self, now: Time, _: Bytes, _: &mut Rng) -> bool {
        self.due.pop_if(|due| *due <= now).is_some()
    }
}

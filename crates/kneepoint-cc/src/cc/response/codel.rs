// SPDX-License-Identifier: Apache-2.0 OR MIT
//! PERT/CoDel: PERT that responds at the instants at which a CoDel router would have dropped.
//!
//! Ours; S. Bhandarkar, A. L. N. Reddy, Y. Zhang, D. Loguinov, "Emulating AQM from End Hosts", SIGCOMM 2007, §7 proposes such emulations. The router's is K. Nichols, V. Jacobson, A. McGregor, J. Iyengar, "Controlled Delay Active Queue Management", RFC 8289, §5.
//!
//! ```text
//! q >= target for a whole interval:  respond,  n = 1,  next = now + interval
//! while q >= target, at `next`:      respond,  n <- n + 1,  next <- next + interval / sqrt(n)
//! q < target:                        stop
//! again within 16 intervals of `next`:  n = the instants of the last time less one, at least 1
//! ```
//!
//! `q` queueing delay as PERT estimates it, `target interval`: time. The probability is 1 at an instant, else 0.
//! PERT's response to it, and every parameter without an equation here, are as in `pert`.
//!
//! Nobody published this. CoDel's law is one of delay already, so it is taken as the RFC has it, with its constants.
//! Readings:
//! * An instant at which PERT does not respond (within a round trip of a response, in slow start, while losses are
//!   repaired) lapses, as a mark does in a window that has been reduced already (RFC 3168 §6.1.2).
//! * Instants that pass between two acknowledgements are one.
//! * It responds in slow start too, as in `pert-pi`.
//!
//! Expected behaviour: a router drops one packet of one flow at an instant. Here every host whose delay is above the
//! target has the instant, and all flows reduce together: 65 % of the link is used at 150 Mbit/s, 60 ms, 50 flows. A
//! probability per packet means the same at a router and at hosts; an instant does not. A host that never saw the queue
//! empty may stay below the target for good: of two groups of 25 flows that start 50 s apart, at 10 ms, the later gets
//! 131 of 144 Mbit/s.

use super::super::pert::Pert;
use super::Response;
use crate::law::Law;
use crate::law::codel::{self as law, CoDel};
use crate::units::{Span, Time};

/// PERT with this response.
pub type PertCoDel = Pert<CoDel>;

impl Response for CoDel {
    type Params = law::Params;

    fn new(params: &law::Params) -> CoDel {
        Law::new(params.clone())
    }

    #[inline]
    fn probability(&mut self, queueing: Span, now: Time) -> Option<f64> {
        Some(if self.due(queueing, now) { 1.0 } else { 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::super::tests::follow;
    use super::*;

    const GAP: Span = Span::from_millis(1);

    fn instants(codel: &mut CoDel, delays: impl IntoIterator<Item = Span>) -> Vec<usize> {
        let got = follow(codel, GAP, delays);
        got.iter().enumerate().filter(|(_, p)| **p == 1.0).map(|(at, _)| at).collect()
    }

    #[test]
    fn responses_come_closer_with_the_root_of_their_number() {
        let mut codel: CoDel = Response::new(&law::Params::default());
        // 100, and 100 more, then 70.7, 57.7, 50 and 44.7 ms, seen at the next millisecond.
        let got = instants(&mut codel, [Span::from_millis(8); 450]);
        assert_eq!(got, [100, 200, 271, 329, 379, 424]);
    }
}

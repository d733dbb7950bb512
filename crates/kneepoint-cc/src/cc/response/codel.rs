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
//! What PERT does with it, and every parameter that has no equation here, is as in `pert`.
//!
//! Nobody published this. CoDel's law is one of delay already, so it is taken as the RFC has it, with its constants.
//! Readings:
//! * An instant at which PERT does not respond (within a round trip of a response, in slow start, while losses are
//!   repaired) lapses, as a mark does in a window that has been reduced already (RFC 3168 §6.1.2).
//! * Instants that pass between two acknowledgements are one.
//! * It responds in slow start too, as in `pert-pi`.
//!
//! What to expect: a router drops one packet of one flow at an instant. Here every host whose delay stands has the
//! instant, and all flows give way at once: 65 % of the link are used at 150 Mbit/s, 60 ms, 50 flows. A probability per
//! packet means the same at a router and at hosts, an instant does not. And a host that never saw the queue empty may
//! stay below the target for good: of two groups of 25 flows that start 50 s apart, at 10 ms, the later gets 131 of
//! 144 Mbit/s.

use super::super::pert::Pert;
use super::Response;
use crate::units::{Span, Time};

crate::settings! {
    /// The law's parameters.
    pub struct Params {
        /// The queueing delay that may stand.
        target: Span = Span::from_millis(5), Span::ZERO..=Span::from_secs(10);
        /// How long a delay must stand, and the time between the first two responses.
        interval: Span = Span::from_millis(100), Span::from_millis(1)..=Span::from_secs(100);
    }
}

/// PERT with this response.
pub type PertCoDel = Pert<CoDel>;

/// How many intervals the rate of responses is remembered.
const MEMORY: u64 = 16;

/// CoDel's law.
#[derive(Clone, Debug, PartialEq)]
pub struct CoDel {
    target: Span,
    interval: Span,
    /// When the delay will have stood for an interval, while it stands.
    patience: Option<Time>,
    responding: bool,
    /// Instants since responses began, with what was remembered.
    count: u32,
    /// What it was when they began.
    remembered: u32,
    next: Time,
}

impl CoDel {
    /// interval / sqrt(n).
    fn spacing(&self) -> Span {
        Span((self.interval.0 as f64 / libm::sqrt(f64::from(self.count))) as u64)
    }

    fn begin(&mut self, now: Time) {
        let before = self.count - self.remembered;
        let recent = now.since(self.next) < Span(self.interval.0 * MEMORY);
        self.count = if recent && before > 1 { before } else { 1 };
        self.remembered = self.count;
        self.responding = true;
        self.next = now + self.spacing();
    }
}

impl Response for CoDel {
    type Params = Params;

    fn new(params: &Params) -> CoDel {
        CoDel {
            target: params.target,
            interval: params.interval,
            patience: None,
            responding: false,
            count: 0,
            remembered: 0,
            next: Time::ZERO,
        }
    }

    #[inline]
    fn probability(&mut self, queueing: Span, now: Time) -> f64 {
        if queueing < self.target {
            self.patience = None;
            self.responding = false;
            return 0.0;
        }
        let patience = *self.patience.get_or_insert(now + self.interval);
        if !self.responding && now >= patience {
            self.begin(now);
            1.0
        } else if self.responding && now >= self.next {
            self.count = self.count.saturating_add(1);
            self.next = (self.next + self.spacing()).max(now);
            1.0
        } else {
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::follow;
    use super::*;

    const GAP: Span = Span::from_millis(1);

    fn instants(codel: &mut CoDel, delays: impl IntoIterator<Item = Span>) -> Vec<usize> {
        let got = follow(codel, GAP, delays);
        got.iter().enumerate().filter(|(_, p)| **p == 1.0).map(|(at, _)| at).collect()
    }

    #[test]
    fn responses_come_closer_with_the_root_of_their_number() {
        let mut codel = CoDel::new(&Params::default());
        // 100, and 100 more, then 70.7, 57.7, 50 and 44.7 ms, seen at the next millisecond.
        let got = instants(&mut codel, [Span::from_millis(8); 450]);
        assert_eq!(got, [100, 200, 271, 329, 379, 424]);
    }

    #[test]
    fn a_dip_below_the_target_ends_it_and_a_short_rise_begins_nothing() {
        let high = Span::from_millis(8);
        let dip = (0..400).map(|at| if at == 150 { Span::from_millis(4) } else { high });
        assert_eq!(instants(&mut CoDel::new(&Params::default()), dip), [100, 251, 351]);
        let short = (0..400).map(|at| if at % 90 == 0 { Span::ZERO } else { high });
        assert_eq!(instants(&mut CoDel::new(&Params::default()), short), [0; 0]);
    }

    #[test]
    fn a_second_time_soon_after_begins_at_the_rate_of_the_first() {
        let high = Span::from_millis(8);
        let twice = (0..1000).map(|at| if at == 425 { Span::ZERO } else { high });
        let got = instants(&mut CoDel::new(&Params::default()), twice);
        // Six instants, of which five came after the first: n = 5, and the next comes 44.7 ms later.
        assert_eq!(got[..8], [100, 200, 271, 329, 379, 424, 526, 571]);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! CoDel: drops or marks departing packets, ever sooner, while packets wait longer than a target for a whole interval.
//!
//! K. Nichols, V. Jacobson, A. McGregor, J. Iyengar, "Controlled Delay Active Queue Management", RFC 8289, §4 and §5.
//!
//! ```text
//! w < target  or  b <= mtu:              rest; w counts as below the target
//! w >= target for a whole interval:      drop,  n = 1,  next = now + interval
//! while w >= target, from `next` on:     drop,  n <- n + 1,  next <- next + interval / sqrt(n)
//! again within 16 intervals of `next`:   n = the drops of the last time less one, at least 1
//! ```
//!
//! `w` sojourn time of the packet that leaves; `b` backlog behind it in bytes; `target interval`: time; `mtu` bytes.
//!
//! Readings: several drops may be due at one departure; each drops the packet then at the head, and a mark takes the
//! place of one drop. An empty queue is below the target. `mtu` is a full packet of the network, where the RFC keeps the
//! largest packet seen. With ECN a packet that understands marks is marked at the instant of a drop.
//! Departure: the next instant is set with every drop, also with the last of a phase, after which the RFC's pseudo-code
//! leaves it; only the memory of 16 intervals sees the difference.

use super::{Decision, Departure, Discipline, Facts};
use crate::law::{Law, codel as law};
use crate::rng::Rng;
use crate::units::{Bytes, Time};

crate::settings! {
    /// CoDel's parameters.
    pub struct Params {
        ..law: law::Params;
        /// Mark packets of senders that understand marks, instead of dropping them.
        ecn: bool = false;
    }
}

/// CoDel's judgement on one queue.
#[derive(Clone, Debug)]
pub struct CoDel {
    law: law::CoDel,
    /// The backlog that is never too much.
    mtu: Bytes,
    ecn: bool,
}

impl CoDel {
    /// Decides on a packet that leaves `backlog` bytes of its queue behind.
    #[inline]
    pub fn judge(&mut self, departure: &Departure, backlog: Bytes) -> Decision {
        if backlog <= self.mtu {
            self.law.rest();
        } else if self.law.each_due(departure.waited, departure.now) {
            return Decision::signal(departure.packet, self.ecn);
        }
        Decision::Pass
    }

    /// Nothing waits.
    #[inline]
    pub fn rest(&mut self) {
        self.law.rest();
    }
}

impl Discipline for CoDel {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> CoDel {
        CoDel { law: law::CoDel::new(params.law), mtu: facts.packet, ecn: params.ecn }
    }

    #[inline]
    fn on_departure(&mut self, departure: &Departure, _: &mut Rng) -> Decision {
        self.judge(departure, departure.backlog.bytes)
    }

    fn on_idle(&mut self, _: Time) {
        self.rest();
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let dropping = if self.law.responding() { 1.0 } else { 0.0 };
        vec![("dropping", dropping), ("count", f64::from(self.law.count()))]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, link, packet};
    use super::super::{Any, Backlog, Limit};
    use super::*;
    use crate::packet::{Flags, Packet};
    use crate::units::Span;

    fn codel(params: Params) -> CoDel {
        CoDel::new(params, link(10, 0.06))
    }

    /// The fate of a packet that waited this many milliseconds and leaves at `milli`, with this many packets behind it.
    fn depart(codel: &mut CoDel, milli: u64, waited: u64, behind: u32, packet: &Packet) -> Decision {
        let backlog = Backlog { packets: behind, bytes: Bytes(u64::from(behind) * 1040) };
        let (now, waited) = (Span::from_millis(milli).after_start(), Span::from_millis(waited));
        let departure = Departure { now, packet, backlog, waited };
        codel.on_departure(&departure, &mut Rng::stream(1, "codel", 0))
    }

    /// The milliseconds at which a packet is dropped or marked, with a departure every millisecond.
    fn instants(codel: &mut CoDel, packet: &Packet, waited: impl Fn(u64) -> (u64, u32)) -> Vec<u64> {
        let taken = |milli: &u64| {
            let (waited, behind) = waited(*milli);
            depart(codel, *milli, waited, behind, packet) != Decision::Pass
        };
        (0..450).filter(taken).collect()
    }

    #[test]
    fn drops_are_interval_over_root_n_apart() {
        // 100 ms until the first; then 100, 70.7, 57.7, 50 and 44.7 ms.
        let got = instants(&mut codel(Params::default()), &packet(), |_| (8, 10));
        assert_eq!(got, [100, 200, 271, 329, 379, 424]);
    }

    #[test]
    fn one_packet_behind_or_a_short_wait_ends_the_drops() {
        let with = |usual, at_250| {
            let state = |milli| if milli == 250 { at_250 } else { usual };
            instants(&mut codel(Params::default()), &packet(), state)
        };
        assert_eq!(with((8, 10), (8, 1)), [100, 200, 351]);
        assert_eq!(with((8, 10), (4, 10)), [100, 200, 351]);
        assert_eq!(with((500, 1), (500, 1)), [0; 0]);
        assert_eq!(with((4, 100), (4, 100)), [0; 0]);
    }

    #[test]
    fn an_empty_queue_ends_the_drops_whatever_the_target() {
        let mut params = Params::default();
        params.law.target = Span::ZERO;
        let mut codel = codel(params);
        assert_eq!(depart(&mut codel, 0, 8, 10, &packet()), Decision::Pass);
        codel.on_idle(Time::ZERO);
        assert_eq!(depart(&mut codel, 100, 8, 10, &packet()), Decision::Pass);
        assert_eq!(depart(&mut codel, 200, 8, 10, &packet()), Decision::Drop);
    }

    #[test]
    fn drops_that_are_overdue_take_one_packet_after_the_other() {
        let mut codel = codel(Params::default());
        for (milli, expected) in [(0, Decision::Pass), (100, Decision::Drop), (100, Decision::Pass)] {
            assert_eq!(depart(&mut codel, milli, 50, 10, &packet()), expected);
        }
        // Until 400 ms: 200, 270.7, 328.4 and 378.4 ms.
        let dropped = (0..9).filter(|_| depart(&mut codel, 400, 50, 10, &packet()) == Decision::Drop);
        assert_eq!(dropped.count(), 4);
    }

    #[test]
    fn with_ecn_packets_that_understand_marks_are_marked() {
        let (marking, ect) = (Params { ecn: true, ..Params::default() }, Flags::ECT);
        let capable = Packet::data(0, 0, 1040, ect, Time::ZERO);
        let fate = |params: &Params, packet: &Packet| {
            let mut codel = codel(params.clone());
            depart(&mut codel, 0, 8, 10, packet);
            depart(&mut codel, 100, 8, 10, packet)
        };
        assert_eq!(fate(&marking, &capable), Decision::Mark);
        assert_eq!(fate(&marking, &packet()), Decision::Drop);
        assert_eq!(fate(&Params::default(), &capable), Decision::Drop);
    }

    #[test]
    fn an_overload_is_held_by_drops_at_the_head() {
        let mut bench = Bench::new(Any::CoDel(codel(Params::default())), Limit::Unlimited);
        // Two packets arrive for each one served. From 105 ms on, 1 + n drops, 100 (1 + ... + 1/sqrt(n)) <= 895.
        let served = bench.run(1000, &[(0, 1040, Flags::default()); 2]);
        assert_eq!(served.len(), 1000);
        assert_eq!(bench.dropped_late.len(), 27);
        assert!(bench.dropped_late[0] >= 100 && bench.dropped_late[0] < 120, "{}", bench.dropped_late[0]);
        assert!(bench.refused.is_empty());
    }
}

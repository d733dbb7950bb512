// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Step: marks every arriving packet while the queue is longer than a threshold.
//!
//! M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, §3.1; for L4S: RFC 9331 §5, RFC 9332 §2.4 and Appendix A (a step at 1 ms).
//!
//! ```text
//! mark   where q > K                             threshold K, packets
//!        where b > max(d · C, one full packet)   delay d, if there is one
//! ```
//!
//! `q`, `b` backlog in packets and bytes, without the arriving packet and the one in transmission; `C` link rate.
//!
//! Readings: nothing is averaged and nothing is random. A delay is held against the time that the backlog will take,
//! so the packets marked on arrival are those that an observer at the head of the queue would see wait longer than d.
//! A link so slow that one packet takes longer than d marks from the second packet on (RFC 9332 Appendix A.1).
//! Packets that the step does not concern pass until the buffer is full: packets of senders that do not understand
//! marks and, with `scalable_only`, packets of senders that answer marks as losses, ECT(0), for whom a step so shallow
//! is not meant (RFC 9331 §5.1).
//! Departure: RFC 9332 gives such packets their own queue, whose marks are coupled to the step's (DualPI2).
//! A link has one queue here: a flow that fills it delays every other. This is the step alone, not DualPI2.

use super::{Arrival, Backlog, Decision, Discipline, Facts};
use crate::packet::Flags;
use crate::rng::Rng;
use crate::units::{Bytes, Span};

crate::settings! {
    /// The step's parameters.
    pub struct Params {
        /// K: the longest queue, in packets, that is not marked, unless `delay` says; the paper's for 1 Gbit/s.
        threshold: u32 = 20, 0..=10000000;
        /// The longest queueing delay that is not marked; 0s leaves it to `threshold`.
        delay: Span = Span::ZERO, Span::ZERO..=Span::from_secs(10);
        /// Mark only packets of senders that respond to marks in proportion, ECT(1); all others pass while there is room.
        scalable_only: bool = false;
    }
}

/// The longest queue that is not marked.
#[derive(Clone, Copy, Debug)]
enum Longest {
    Packets(u32),
    Bytes(Bytes),
}

impl Longest {
    #[inline]
    fn exceeded_by(self, backlog: Backlog) -> bool {
        match self {
            Longest::Packets(packets) => backlog.packets > packets,
            Longest::Bytes(bytes) => backlog.bytes > bytes,
        }
    }
}

/// A queue that marks beyond a step.
#[derive(Clone, Debug)]
pub struct Step {
    longest: Longest,
    /// The ECN codepoints to which the step applies.
    concerns: Flags,
}

impl Discipline for Step {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> Step {
        let longest = match params.delay {
            Span::ZERO => Longest::Packets(params.threshold),
            delay => Longest::Bytes(facts.rate.carries(delay).max(facts.packet)),
        };
        Step { longest, concerns: Flags::ECT.with_if(params.scalable_only, Flags::SCALABLE) }
    }

    #[inline]
    fn on_arrival(&mut self, arrival: &Arrival, _: &mut Rng) -> Decision {
        if self.longest.exceeded_by(arrival.backlog) && arrival.packet.flags.has(self.concerns) {
            Decision::Mark
        } else {
            Decision::Pass
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{arrival, link};
    use super::*;
    use crate::packet::Packet;
    use crate::units::Time;

    const CLASSIC: Flags = Flags::ECT;
    const SCALABLE: Flags = Flags(Flags::ECT.0 | Flags::SCALABLE.0);

    /// The least backlog of full packets that gets a packet with these flags marked, at 10 Mbit/s.
    fn step(params: Params, flags: Flags) -> Option<u32> {
        let mut queue = Step::new(params, link(10, 0.06));
        let packet = Packet::data(0, 0, 1040, flags, Time::ZERO);
        let mut rng = Rng::stream(1, "step", 0);
        let mut decide = |backlog| queue.on_arrival(&arrival(&packet, backlog, Time::ZERO), &mut rng);
        (0..1000).find(|backlog| decide(*backlog) == Decision::Mark)
    }

    #[test]
    fn the_queue_may_be_as_long_as_the_threshold() {
        assert_eq!(step(Params::default(), CLASSIC), Some(21));
        assert_eq!(step(Params { threshold: 65, ..Params::default() }, SCALABLE), Some(66));
    }

    #[test]
    fn a_delay_is_as_many_bytes_as_the_link_sends_in_it() {
        // 10 Mbit/s send 6250 bytes in 5 ms: six packets of 1040 bytes take less, seven more.
        let step_after = |delay| step(Params { delay, ..Params::default() }, CLASSIC);
        assert_eq!(step_after(Span::from_millis(5)), Some(7));
        // 100 µs are 125 bytes: the packet at the head is never too much.
        assert_eq!(step_after(Span::from_micros(100)), Some(2));
    }

    #[test]
    fn only_packets_that_understand_marks_are_marked_and_if_wanted_only_scalable_ones() {
        let (all, scalable) = (Params::default(), Params { scalable_only: true, ..Params::default() });
        let marked = |params: &Params| {
            [Flags::default(), CLASSIC, SCALABLE].map(|flags| step(params.clone(), flags).is_some())
        };
        assert_eq!(marked(&all), [false, true, true]);
        assert_eq!(marked(&scalable), [false, false, true]);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The opening of a connection: a SYN, and as many round trips of small packets as the handshake takes.
//!
//! A SYN carries no ECN codepoint (RFC 3168 §6.1.1), so that a queue drops it where it would mark data. Linux sends it again without
//! asking for ECN (§6.1.1.1), and the connection has none. SYNs of controllers that need ECN carry the codepoint there (`INET_ECN_xmit`).

use super::{Heard, Phase, Segment, Sender};
use crate::cc::Marks;
use crate::packet::{Flags, Packet};
use crate::units::Time;

impl Sender {
    pub(super) fn poll_syn(&mut self, now: Time, rounds: u32) -> Option<Segment> {
        self.phase = Phase::Opening { sent: true, rounds };
        self.timer = now + self.rtt.timeout();
        let needed = self.rack.is_some() && self.controller.marks() != Marks::Classic;
        let flags = Flags::SYN.with_if(needed, self.fresh);
        Some(Segment { seq: 0, size: self.options.header.0 as u16, flags })
    }

    /// The SYN was lost.
    #[cold]
    pub(super) fn open_again(&mut self, rounds: u32) {
        self.rtt.back_off();
        self.timer = Time::NEVER;
        self.phase = Phase::Opening { sent: false, rounds };
        if self.options.ecn_fallback {
            self.fresh = Flags::default();
        }
    }

    pub(super) fn on_opened(&mut self, packet: &Packet, now: Time) -> Heard {
        let Phase::Opening { rounds, .. } = self.phase else { return Heard::default() };
        let rtt = match self.lend(now) {
            Some((rack, mut host)) => rack.on_opened(now - packet.sent, packet.receive_window(), &mut host),
            None => self.rtt.sample(now - packet.sent),
        };
        self.phase = match rounds {
            0 | 1 => Phase::Open,
            rounds => Phase::Opening { sent: false, rounds: rounds - 1 },
        };
        self.timer = Time::NEVER;
        Heard { rtt: Some(rtt), ..Heard::default() }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::cc::Config;
    use crate::packet::{Flags, Packet};
    use crate::rng::Rng;
    use crate::tcp::{Host, Options, Receiver, Sender};
    use crate::units::Time;

    /// The flags of the first data of a connection whose SYN is lost this many times, and of its last SYN.
    fn first_data(ecn_fallback: bool, lost: u32, controller: &str) -> (Flags, Flags) {
        let options = Arc::new(Options { ecn: true, ecn_fallback, ..Options::of(Host::Linux) });
        let controller = Config::named(controller).unwrap();
        let marks = controller.build(options.start()).marks();
        let mut sender = Sender::new(options.clone(), &controller, None);
        let mut receiver = Receiver::new(&options, marks);
        let (mut now, mut rng) = (Time::ZERO, Rng::stream(1, "opening", 0));
        let mut syn = sender.poll(now).unwrap();
        for _ in 0..lost {
            now = sender.next_wakeup(now);
            sender.on_wakeup(now);
            syn = sender.poll(now).unwrap();
        }
        let packet = Packet::data(0, syn.seq, syn.size, syn.flags, now);
        let reply = receiver.on_data(&packet, now).unwrap();
        let answer = Packet::ack(0, reply.seq, 52, reply.flags, reply.sent, [(0, 0); 3]);
        sender.on_ack(&answer, now, &mut rng);
        (sender.poll(now).unwrap().flags, syn.flags)
    }

    #[test]
    fn a_connection_whose_syn_was_sent_again_has_no_ecn_in_linux() {
        let capable = |fallback, lost| first_data(fallback, lost, "cubic").0.has(Flags::ECT);
        assert!(capable(true, 0) && capable(false, 2));
        assert!(!capable(true, 1) && !capable(true, 2));
    }

    #[test]
    fn only_the_syn_of_a_controller_that_needs_ecn_carries_the_codepoint() {
        assert!(!first_data(true, 0, "cubic").1.has(Flags::ECT));
        assert!(first_data(true, 0, "dctcp").1.has(Flags::ECT));
    }
}

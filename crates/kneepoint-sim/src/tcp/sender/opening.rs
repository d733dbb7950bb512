// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The opening of a connection: a SYN, and as many round trips of small packets as the handshake takes.
//!
//! A SYN carries no ECN codepoint (RFC 3168 §6.1.1), so that a queue drops it where it would mark data. Linux sends it again without
//! asking for ECN (§6.1.1.1), and the connection has none; with AccECN the first retransmission still asks (RFC 9768 §3.1.4.1), and a late
//! answer to it counts. SYNs of controllers that need ECN carry the codepoint there (`INET_ECN_xmit`).

use super::repair::capability;
use super::{Heard, Phase, Segment, Sender};
use crate::cc::{self, Marks};
use crate::packet::{Codepoint, Flags, Packet};
use crate::tcp::accecn::{self, ACE, Ecn};
use crate::units::Time;

impl Sender {
    pub(super) fn poll_syn(&mut self, now: Time, rounds: u16, lost: u16) -> Option<Segment> {
        self.phase = Phase::Opening { sent: true, rounds, lost };
        self.timer = now + self.rtt.timeout();
        let request = match self.negotiates(rounds) && !self.falls_back(lost) {
            true => accecn::request(self.options.ecn_of_sender()),
            false => Flags::default(),
        };
        let flags = Flags::SYN.with(self.codepoint_of_syn()).with(request);
        Some(Segment { seq: 0, size: self.options.header.0 as u16, flags })
    }

    /// Whether this round trip negotiates ECN: the first one, which opens the connection.
    fn negotiates(&self, rounds: u16) -> bool {
        u32::from(rounds) == self.options.handshake_rounds && self.options.negotiates()
    }

    /// Whether a SYN asks for no ECN because so many were lost before it.
    fn falls_back(&self, lost: u16) -> bool {
        let most = if self.options.ecn_of_sender() == Ecn::Accurate { 1 } else { 0 };
        self.options.ecn_fallback && lost > most
    }

    fn codepoint_of_syn(&self) -> Flags {
        let needed = self.rack.is_some() && self.controller.marks() != Marks::Classic;
        if needed { self.fresh.without(ACE) } else { Flags::default() }
    }

    /// The SYN was lost.
    #[cold]
    pub(super) fn open_again(&mut self, rounds: u16, lost: u16) {
        self.rtt.back_off();
        self.timer = Time::NEVER;
        let lost = lost.saturating_add(1);
        self.phase = Phase::Opening { sent: false, rounds, lost };
        if self.falls_back(lost) {
            self.fresh = Flags::default();
        }
    }

    /// The first answer says what the connection uses of ECN.
    #[cold]
    fn negotiate(&mut self, answer: Flags, lost: u16, now: Time) {
        let (mode, seen) = accecn::mode_of_client(self.options.ecn_of_sender(), answer);
        // Of several SYNs it is not known which one is answered.
        let sent = (!self.falls_back(lost)).then(|| self.codepoint_of_syn().codepoint());
        match mode {
            Ecn::None => (self.fresh, self.count) = (Flags::default(), None),
            // After a SYN that did not ask there is none.
            Ecn::Classic => (self.fresh, self.count) = (self.fresh.without(ACE), None),
            Ecn::Accurate => self.fresh = capability(&self.options, self.controller.marks()),
        }
        let changed = sent.zip(seen).is_some_and(|(sent, seen)| accecn::is_mangled(sent, seen));
        if changed && self.options.ecn_fallback {
            self.fresh = self.fresh.and(ACE);
        } else if seen == Some(Codepoint::Marked) {
            self.controller.on_ecn(&cc::Ecn { now, flight: self.control.window, next: 0 });
            self.control = self.controller.control();
        }
    }

    pub(super) fn on_opened(&mut self, packet: &Packet, now: Time) -> Heard {
        let Phase::Opening { rounds, lost, .. } = self.phase else { return Heard::default() };
        if self.negotiates(rounds) {
            self.negotiate(packet.flags, lost, now);
        }
        let took = now - packet.sent;
        let rtt = match self.lend(now) {
            Some((rack, mut host)) => rack.on_opened(took, packet.receive_window(), &mut host),
            None => self.rtt.sample(took),
        };
        self.controller.on_opened(now, took);
        self.control = self.controller.control();
        self.phase = match rounds {
            0 | 1 => Phase::Open,
            rounds => Phase::Opening { sent: false, rounds: rounds - 1, lost: 0 },
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How a sender opens a connection: a SYN, and as many round trips of small packets as the handshake takes.

use super::{Heard, Phase, Segment, Sender};
use crate::packet::{Flags, Packet};
use crate::units::Time;

impl Sender {
    pub(super) fn poll_syn(&mut self, now: Time, rounds: u32) -> Option<Segment> {
        self.phase = Phase::Opening { sent: true, rounds };
        self.timer = now + self.rtt.timeout();
        Some(Segment { seq: 0, size: self.options.header.0 as u16, flags: Flags::SYN })
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

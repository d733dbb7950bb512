// SPDX-License-Identifier: Apache-2.0 OR MIT
//! ECN in a script: what the handshake agrees on, and the flags of the host's packets.
//!
//! Where `tcp_ecn` is 3 or more, the host negotiates as RFC 9768 has it, and all three flags of its packets are compared. Other scripts
//! say by their handshake whether the connection has ECN.

use super::wire::Wire;
use crate::packet::{Codepoint, Flags};
use crate::tcp::accecn::{self, Ecn};

/// Kernels' settings of `tcp_ecn`: what the host requests, and what it accepts.
const SETTINGS: [(Ecn, Ecn); 6] = [
    (Ecn::None, Ecn::None),
    (Ecn::Classic, Ecn::Classic),
    (Ecn::None, Ecn::Classic),
    (Ecn::Accurate, Ecn::Accurate),
    (Ecn::Classic, Ecn::Accurate),
    (Ecn::None, Ecn::Accurate),
];

/// The greatest value of `tcp_ecn`.
pub(super) const MOST: u64 = SETTINGS.len() as u64 - 1;

/// Whether a host with this value of `tcp_ecn` negotiates by itself.
pub(super) fn is_strict(setting: usize) -> bool {
    setting >= 3
}

/// The SYN/ACKs of a server that ask for AccECN (§3.2.3.2.2).
const ACCURATE_ANSWERS: u32 = 2;

/// ECN of a script's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Agreement {
    /// What the host knows, in its role.
    pub host: Ecn,
    /// What the connection uses.
    pub mode: Ecn,
    /// The codepoint of the SYN that the host answers, if it does.
    seen: Option<Codepoint>,
    /// The host negotiates by itself, and its flags are compared.
    pub strict: bool,
}

impl Agreement {
    /// Of the two packets of a handshake, with the value of `tcp_ecn`.
    pub fn of(setting: usize, asks: &Wire, answers: &Wire) -> Agreement {
        let serves = asks.inbound;
        let seen = serves.then(|| asks.codepoint.unwrap_or(Codepoint::NotCapable));
        if !is_strict(setting) {
            let agreed = asks.bits.echo && asks.bits.reduced && answers.bits.echo;
            let mode = if agreed { Ecn::Classic } else { Ecn::None };
            return Agreement { host: mode, mode, seen, strict: false };
        }
        let (requests, accepts) = SETTINGS[setting.min(SETTINGS.len() - 1)];
        let host = if serves { accepts } else { requests };
        let mode = match serves {
            true => accecn::mode_of_server(host, asks.bits.flags()),
            false => accecn::mode_of_client(host, answers.bits.flags()).0,
        };
        Agreement { host, mode, seen, strict: true }
    }
}

/// The flags of the host's packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flagging {
    agreement: Agreement,
    /// r.cep.
    marks: u8,
    answers: u32,
    /// A SYN or SYN/ACK without ECN was part of the handshake: a server then sends no ECN-capable packet (§3.1.5).
    denied: bool,
}

impl Flagging {
    pub fn new(agreement: Agreement) -> Flagging {
        Flagging { agreement, marks: accecn::INITIAL, answers: 0, denied: false }
    }

    /// The flags of the handshake for the host's sender, which opens the connection in either role. A server has them from the last
    /// acknowledgement, if that is a pure one: zero of it means that the client has no ECN (Table 4).
    pub fn opening(&self, packet: Flags, pure: bool) -> Flags {
        let Agreement { strict, seen, mode, .. } = self.agreement;
        match (strict, seen, mode) {
            (true, None, _) => packet.and(accecn::ACE),
            (true, Some(_), Ecn::Accurate) if self.denied => Flags::default(),
            (true, Some(_), Ecn::Accurate) if pure => match accecn::reported(packet) {
                Some(_) => packet.and(accecn::ACE),
                None if packet.has_any(accecn::ACE) => accecn::report(Codepoint::NotCapable),
                None => Flags::default(),
            },
            _ => accecn::answer(mode, Codepoint::NotCapable),
        }
    }

    /// The SYN arrived once more, with these flags and this codepoint.
    pub fn receive_syn(&mut self, flags: Flags, seen: Codepoint) {
        self.agreement.seen = Some(seen);
        self.denied |= !flags.has_any(accecn::ACE);
    }

    fn counts(&self) -> bool {
        self.agreement.strict && self.agreement.mode == Ecn::Accurate
    }

    /// A packet arrived.
    pub fn receive(&mut self, codepoint: Codepoint) {
        if self.counts() && codepoint == Codepoint::Marked {
            self.marks = self.marks.wrapping_add(1);
        }
    }

    /// The flags of a SYN or SYN/ACK that the sender gave these.
    pub fn of_syn(&mut self, flags: Flags) -> Flags {
        let Some(seen) = self.agreement.seen.filter(|_| self.agreement.strict) else { return flags };
        self.answers += 1;
        let gives_up = self.agreement.mode == Ecn::Accurate && self.answers > ACCURATE_ANSWERS;
        self.denied |= gives_up;
        let answer = accecn::answer(if gives_up { Ecn::None } else { self.agreement.mode }, seen);
        flags.without(accecn::ACE).with(answer)
    }

    /// The flags of any other packet that the sender gave these.
    pub fn of_other(&self, flags: Flags) -> Flags {
        if self.counts() { flags.without(accecn::ACE).with(accecn::encode(self.marks)) } else { flags }
    }

    /// The flags of the last acknowledgement of a handshake, whose SYN/ACK had this codepoint.
    pub fn of_last(&self, seen: Codepoint) -> Flags {
        if self.counts() { Flags::ACK.with(accecn::report(seen)) } else { Flags::ACK }
    }
}

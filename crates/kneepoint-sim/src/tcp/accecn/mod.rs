// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Accurate ECN feedback: the receiver counts marked packets and bytes, and every acknowledgement carries the counts.
//!
//! M. Kühlewind, B. Briscoe, R. Scheffenegger, RFC 9768 (read in its last draft, draft-ietf-tcpm-accurate-ecn-34).
//!
//! ```text
//! r.cep = 5, then + 1 for each packet that arrives marked;  ACE = r.cep mod 8            §3.2.1, §3.2.2
//! r.ceb = 0, then + its payload in bytes;                   ECEB = r.ceb mod 2^24        §3.2.1, §3.2.3
//! d     = (ACE − s.cep) mod 8                           the fewest new marks             Appendix A.2
//! safe  = n − (n − d) mod 8                             the most, of n packets           Appendix A.2.1
//! new   = the least of d, d + 8, d + 16 … packets that hold ECEB − s.ceb bytes           with the option
//! ```
//!
//! `s.cep`, `s.ceb` the sender's copies; `n` packets that an acknowledgement says have arrived. Up to 7 packets, `safe` is `d`.
//! A receiver acknowledges at once when a marked packet follows one that was not, and when two have arrived marked since its last
//! acknowledgement (§3.2.2.5.1), so that one acknowledgement never brings more than two marks, and ACE cycles only if acknowledgements are lost.
//! The option then says how often: marks of full segments are counted exactly. Without it the sender takes `safe` where acknowledgements are rarely for many packets, since then one for 8 or more follows lost ones,
//! and `d` where most are for many, by the rule of Linux for "prevailing conditions" (§3.2.2.5.2): a mean of `n` with the weight 1/64 above 4.
//!
//! The option is in each acknowledgement once a byte of an ECN-capable packet has arrived. It has the field of that codepoint, and
//! ECEB after the first mark: 8 bytes in either case, with padding. It replaces the third block of SACK, for which timestamps leave no room (§3.2.3.3).
//!
//! Tests of the path (§3.2.2.3, §3.2.2.4, §3.2.3.2.5): ACE of zero in the first feedback ends ECN-capable packets and the response to counts; a
//! codepoint of the SYN that no queue makes, and bytes without packets, end ECN-capable packets alone.
//!
//! Readings: an acknowledgement that reports no arrival may be an old one and is not read (Appendix A.1), nor is one whose bytes are fewer than before; the next one brings its marks.
//! Segments of a written message may be short: of their marks `new` is the least number.
//! Left out: the option in a SYN/ACK, which tests the path, and the last acknowledgement of the handshake, after which data follows at once; EE0B and EE1B as numbers,
//! which no controller reads, and with them the test for their zeroing; acknowledgements that only have a newer timestamp (Appendix A.2.1);
//! the advice about continuous marks. Emulated networks and their packets carry none of it, and files of captured packets the flags alone.

mod handshake;

#[cfg(test)]
mod tests;

pub use handshake::{
    Ecn, agree, answer, is_mangled, mode_of_client, mode_of_server, report, reported, request,
};

use super::{EcnFeedback, Options};
use crate::packet::{Flags, Packet};
use crate::units::Bytes;

/// The values of ACE.
const CYCLE: u32 = 8;
/// Both counters of packets begin here.
pub const INITIAL: u8 = 5;
/// The values of ECEB.
const CYCLE_OF_BYTES: u32 = 1 << 24;
/// One packet in the mean of acknowledged packets, and the inverse weight of a new one (Linux `PKTS_ACKED_PREC`, `PKTS_ACKED_WEIGHT`).
const ONE: u32 = 64;
/// A mean of more packets than this comes from thinned acknowledgements (Linux `ACK_COMP_THRESH`).
const THIN: u32 = 4;

/// The three flags of a count.
pub const ACE: Flags = Flags::AE.with(Flags::CWR).with(Flags::ECE);

/// A count in the flags AE, CWR and ECE of a packet.
pub fn encode(count: u8) -> Flags {
    Flags::default()
        .with_if(count & 4 != 0, Flags::AE)
        .with_if(count & 2 != 0, Flags::CWR)
        .with_if(count & 1 != 0, Flags::ECE)
}

/// ACE.
fn decode(flags: Flags) -> u32 {
    u32::from(flags.has(Flags::AE)) << 2
        | u32::from(flags.has(Flags::CWR)) << 1
        | u32::from(flags.has(Flags::ECE))
}

/// ACE of a host that receives no data, and therefore no marks.
pub fn unmarked() -> Flags {
    encode(INITIAL)
}

/// The option of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    /// It sends none.
    Never,
    /// It sends one once a byte of an ECN-capable packet has arrived.
    Once,
    /// It sends one with each acknowledgement.
    Always,
}

/// The receiver's counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    /// r.cep, modulo a multiple of 8.
    packets: u8,
    /// The packet before was marked.
    marked: bool,
    /// A mark was counted since the last acknowledgement.
    unsaid: bool,
    option: Sent,
    /// Bytes of headers, which are not counted.
    header: u16,
    /// r.ceb, modulo a multiple of 2^24.
    bytes: u32,
}

impl Counter {
    /// Of a new connection.
    pub(super) fn new(options: &Options) -> Counter {
        let strips = options.ecn_feedback == EcnFeedback::Ace;
        Counter {
            packets: INITIAL,
            marked: false,
            unsaid: false,
            option: if strips { Sent::Never } else { Sent::Once },
            header: options.header.0 as u16,
            bytes: 0,
        }
    }

    /// A packet arrived; returns whether its acknowledgement is urgent.
    pub(super) fn count(&mut self, packet: &Packet) -> bool {
        let payload = packet.size.saturating_sub(self.header);
        if self.option == Sent::Once && payload > 0 && packet.flags.has_any(Flags::ECT.with(Flags::CE)) {
            self.option = Sent::Always;
        }
        let marked = packet.flags.has(Flags::CE);
        let urgent = marked && (self.unsaid || !self.marked);
        self.marked = marked;
        if marked {
            self.packets = self.packets.wrapping_add(1);
            self.bytes = self.bytes.wrapping_add(payload.into());
            self.unsaid = true;
        }
        urgent
    }

    /// The flags of an acknowledgement, and its number of bytes.
    pub(super) fn report(&mut self) -> (Flags, Option<u32>) {
        self.unsaid = false;
        (encode(self.packets), (self.option == Sent::Always).then_some(self.bytes % CYCLE_OF_BYTES))
    }
}

/// What a sender thinks of its receiver's counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    /// None has arrived.
    Untested,
    /// s.ceb follows from the packets.
    Estimated,
    /// s.ceb is the receiver's.
    Exact,
    /// Bytes arrived marked, and no packets: something mangles the counts.
    Inconsistent,
    /// The first ACE was zero, which is no count.
    Zeroed,
}

/// The sender's copy of the counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copied {
    /// s.cep.
    packets: u32,
    trust: Trust,
    /// The mean number of packets that an acknowledgement is for, in parts of [`ONE`], at most a thousand; 0 before the first.
    mean: u16,
    /// s.ceb, modulo 2^24.
    bytes: u32,
}

impl Copied {
    /// Of a new connection.
    pub(super) fn new() -> Copied {
        Copied { packets: INITIAL.into(), trust: Trust::Untested, mean: 0, bytes: 0 }
    }

    /// The fewest marks that ACE may report.
    fn fewest(&self, flags: Flags) -> u32 {
        decode(flags).wrapping_sub(self.packets) % CYCLE
    }

    /// How many more bytes than before; negative in an old acknowledgement, or where too many were estimated.
    fn more_bytes(&self, bytes: u32) -> i32 {
        // The sign of a number of 24 bits.
        (bytes.wrapping_sub(self.bytes) << 8).cast_signed() >> 8
    }

    /// Whether ACE is ignored, or would be.
    fn is_zeroed(&self, flags: Flags) -> bool {
        self.trust == Trust::Zeroed || self.trust == Trust::Untested && decode(flags) == 0
    }

    /// Whether an acknowledgement reports marks, as far as its header shows.
    pub(super) fn shows_marks(&self, packet: &Packet) -> bool {
        let more = || packet.marked_bytes().is_some_and(|bytes| self.more_bytes(bytes) > 0);
        (self.fewest(packet.flags) > 0 || more()) && !self.is_zeroed(packet.flags)
    }

    /// Marked packets so far, and their bytes modulo 2^24.
    pub(super) fn marked(&self) -> (u32, u32) {
        (self.packets.wrapping_sub(INITIAL.into()), self.bytes)
    }

    /// Whether ECN is not to be used any more.
    pub(super) fn ends_ecn(&self) -> bool {
        matches!(self.trust, Trust::Zeroed | Trust::Inconsistent)
    }

    /// The marks that an acknowledgement of `arrived` packets, full ones of `payload`, reports.
    pub(super) fn read(&mut self, packet: &Packet, arrived: u32, payload: Bytes) -> u32 {
        if arrived == 0 {
            return 0;
        }
        if self.is_zeroed(packet.flags) {
            self.trust = Trust::Zeroed;
            return 0;
        }
        self.average(arrived);
        let fewest = self.fewest(packet.flags);
        let payload = (payload.0 as u32).max(1);
        let marks = match packet.marked_bytes() {
            Some(bytes) => match self.more_bytes(bytes) {
                more if more < 0 && self.trust == Trust::Exact => return 0,
                more => self.take_bytes(bytes, (fewest, (more.max(0) as u32).div_ceil(payload)), arrived),
            },
            None => self.take_packets(fewest, arrived, payload),
        };
        self.packets = self.packets.wrapping_add(marks);
        marks
    }

    /// With the option: the packets that `full` packets' bytes and the `fewest` marks agree with.
    fn take_bytes(&mut self, bytes: u32, (fewest, full): (u32, u32), arrived: u32) -> u32 {
        self.bytes = bytes;
        let was_exact = matches!(self.trust, Trust::Exact | Trust::Untested);
        // ACE cannot have cycled within fewer than 8 packets.
        if was_exact && fewest == 0 && full > 0 && arrived < CYCLE {
            self.trust = Trust::Inconsistent;
        }
        if self.trust == Trust::Inconsistent {
            return fewest.max(full);
        }
        self.trust = Trust::Exact;
        fewest + full.saturating_sub(fewest).next_multiple_of(CYCLE)
    }

    /// Without the option: the safest count, unless acknowledgements are thinned.
    fn take_packets(&mut self, fewest: u32, arrived: u32, payload: u32) -> u32 {
        let thin = u32::from(self.mean) > THIN * ONE;
        let marks = if arrived < CYCLE || thin { fewest } else { safest(fewest, arrived) };
        self.bytes = self.bytes.wrapping_add(marks.wrapping_mul(payload)) % CYCLE_OF_BYTES;
        if self.trust != Trust::Inconsistent {
            self.trust = Trust::Estimated;
        }
        marks
    }

    fn average(&mut self, arrived: u32) {
        let sample = u64::from(arrived) * u64::from(ONE);
        let mean = match u64::from(self.mean) {
            0 => sample,
            mean => (mean * u64::from(ONE - 1) + sample) / u64::from(ONE),
        };
        self.mean = u16::try_from(mean).unwrap_or(u16::MAX);
    }
}

/// The most marks of `arrived` packets, at least 8, that agree with `fewest` (Appendix A.2.1).
fn safest(fewest: u32, arrived: u32) -> u32 {
    arrived - (arrived - fewest) % CYCLE
}

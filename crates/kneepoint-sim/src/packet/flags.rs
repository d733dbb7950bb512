// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Header bits of packets, of TCP and of IP.

/// Header bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// An acknowledgement; without this bit the packet carries data.
    pub const ACK: Flags = Flags(1);
    /// Opens a connection.
    pub const SYN: Flags = Flags(1 << 1);
    /// The sender understands congestion marks (RFC 3168 ECT).
    pub const ECT: Flags = Flags(1 << 2);
    /// A queue marked it (RFC 3168 CE).
    pub const CE: Flags = Flags(1 << 3);
    /// The receiver echoes a mark (RFC 3168 ECE).
    pub const ECE: Flags = Flags(1 << 4);
    /// The sender answered the echo (RFC 3168 CWR).
    pub const CWR: Flags = Flags(1 << 5);
    /// Not a first transmission.
    pub const RETRANSMITTED: Flags = Flags(1 << 6);
    /// A datagram of a source that expects no acknowledgement.
    pub const DATAGRAM: Flags = Flags(1 << 7);
    /// In addition to ECT: the sender responds to marks in proportion (RFC 9331 ECT(1)).
    pub const SCALABLE: Flags = Flags(1 << 8);
    /// Data carries an explicit rate; an acknowledgement echoes one instead of its third block.
    pub const RATE: Flags = Flags(1 << 9);
    /// As [`RATE`](Flags::RATE), with an explicit change of the window.
    pub const CHANGE: Flags = Flags(1 << 10);

    /// The acknowledgement contains its receiver's window instead of its third block, which is shorter then.
    pub const WINDOW: Flags = Flags(1 << 11);
    /// A probe of a closed window: it has no data.
    pub const PROBE: Flags = Flags(1 << 12);
    /// A bit of it is wrong.
    pub const CORRUPT: Flags = Flags(1 << 13);
    /// The highest bit of an acknowledgement's count of marks, with CWR and ECE (RFC 9768 AE).
    pub const AE: Flags = Flags(1 << 14);
    /// The acknowledgement contains the number of bytes that arrived marked instead of its third block (RFC 9768 §3.2.3).
    pub const BYTES: Flags = Flags(1 << 15);

    /// Whether it carries explicit feedback.
    #[inline]
    pub fn explicit(self) -> bool {
        self.has_any(Flags::RATE.with(Flags::CHANGE))
    }
    /// Whether any bit of `other` is set.
    #[inline]
    pub fn has_any(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }
    /// Whether all bits of `other` are set.
    #[inline]
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
    /// With the bits of `other` set.
    #[inline]
    #[must_use]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
    /// With the bits of `other` set, if `wanted`.
    #[inline]
    #[must_use]
    pub fn with_if(self, wanted: bool, other: Flags) -> Flags {
        if wanted { self.with(other) } else { self }
    }
    /// Those that `other` has, too.
    #[inline]
    #[must_use]
    pub const fn and(self, other: Flags) -> Flags {
        Flags(self.0 & other.0)
    }
    /// With the bits of `other` cleared.
    #[inline]
    #[must_use]
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }
    /// The ECN field of the IP header.
    pub fn codepoint(self) -> Codepoint {
        match self {
            flags if flags.has(Flags::CE) => Codepoint::Marked,
            flags if flags.has(Flags::SCALABLE) => Codepoint::Capable1,
            flags if flags.has(Flags::ECT) => Codepoint::Capable0,
            _ => Codepoint::NotCapable,
        }
    }
}

/// The ECN field of the IP header (RFC 3168 §5, RFC 9331).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codepoint {
    /// Not-ECT.
    NotCapable,
    /// ECT(0).
    Capable0,
    /// ECT(1).
    Capable1,
    /// CE.
    Marked,
}

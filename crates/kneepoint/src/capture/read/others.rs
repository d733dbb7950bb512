// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Packets without a readable TCP segment: their kinds, for messages.

use std::fmt;

/// A packet without a TCP segment that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Other {
    /// Counted by the name of its protocol, or of its fault.
    Named(&'static str),
    /// By its Ethernet type.
    Type(u16),
    /// By its number above IP.
    Protocol(u8),
}

/// A packet that ends before its TCP header.
pub(super) const CUT: Other =
    Other::Named("packets that end before a TCP header, cut by the snapshot length");

/// Ethernet types and their names (IANA).
const TYPES: [(u16, &str); 8] = [
    (0x0806, "ARP"),
    (0x8863, "PPPoE discovery"),
    (0x888e, "EAPOL"),
    (0x88cc, "LLDP"),
    (0x88e5, "MACsec, which encrypts"),
    (0x88f7, "PTP"),
    (0x8906, "FCoE"),
    (0x9000, "Ethernet loopback"),
];

/// Protocols above IP and their names (IANA).
const PROTOCOLS: [(u8, &str); 15] = [
    (1, "ICMP"),
    (2, "IGMP"),
    (17, "UDP"),
    (33, "DCCP"),
    (46, "RSVP"),
    (47, "GRE without a protocol that is read"),
    (50, "ESP, which encrypts"),
    (58, "ICMPv6"),
    (88, "EIGRP"),
    (89, "OSPF"),
    (103, "PIM"),
    (112, "VRRP"),
    (115, "L2TP, a tunnel that is not read"),
    (132, "SCTP"),
    (136, "UDP-Lite"),
];

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Other::Named(name) => f.write_str(name),
            Other::Type(kind) => match TYPES.iter().find(|(number, _)| number == kind) {
                Some((_, name)) => f.write_str(name),
                None => write!(f, "Ethernet type 0x{kind:04x}"),
            },
            Other::Protocol(kind) => match PROTOCOLS.iter().find(|(number, _)| number == kind) {
                Some((_, name)) => f.write_str(name),
                None => write!(f, "IP protocol {kind}"),
            },
        }
    }
}

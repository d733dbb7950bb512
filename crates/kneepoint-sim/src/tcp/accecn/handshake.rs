// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Negotiation of ECN by the flags (AE, CWR, ECE) of a SYN and of its answer.
//!
//! RFC 9768 §3.1 (Table 2), §3.2.2.1 (Tables 3 and 4), §3.2.2.3; RFC 3168 §6.1.1.
//!
//! ```text
//! SYN      000 no ECN   011 classic   111 AccECN
//! SYN/ACK  000 no ECN   001 classic   010, 011, 100, 110 AccECN, and the codepoint of the SYN
//!          101 AccECN, reserved       111 the SYN reflected: no ECN
//! ACK      010, 011, 100, 110 the codepoint of the SYN/ACK
//! ```

use super::{decode, encode};
use crate::packet::{Codepoint, Flags};

/// What a host knows of ECN, or what a connection uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Nothing.
    None,
    /// Echoes (RFC 3168).
    Classic,
    /// Counts (RFC 9768).
    Accurate,
}

/// Codepoints, and how a SYN/ACK and its acknowledgement report them.
const REPORTS: [(Codepoint, u8); 4] = [
    (Codepoint::NotCapable, 0b010),
    (Codepoint::Capable1, 0b011),
    (Codepoint::Capable0, 0b100),
    (Codepoint::Marked, 0b110),
];

/// The flags of a SYN.
pub fn request(client: Ecn) -> Flags {
    encode(match client {
        Ecn::None => 0b000,
        Ecn::Classic => 0b011,
        Ecn::Accurate => 0b111,
    })
}

/// The mode that a server enters by the first SYN.
pub fn mode_of_server(server: Ecn, syn: Flags) -> Ecn {
    match (server, decode(syn)) {
        (Ecn::None, _) | (_, 0b000) => Ecn::None,
        // A classic server does not know AE.
        (Ecn::Classic, 0b011 | 0b111) | (Ecn::Accurate, 0b011) => Ecn::Classic,
        (Ecn::Classic, _) => Ecn::None,
        // Reserved combinations request what all flags request (§3.1.3).
        (Ecn::Accurate, _) => Ecn::Accurate,
    }
}

/// The flags of the SYN/ACK of a server in this mode, which received a SYN with this codepoint.
pub fn answer(mode: Ecn, seen: Codepoint) -> Flags {
    match mode {
        Ecn::None => Flags::default(),
        Ecn::Classic => encode(0b001),
        Ecn::Accurate => report(seen),
    }
}

/// The mode that a client enters by the first SYN/ACK, and the codepoint that its SYN arrived with, where that is reported.
pub fn mode_of_client(client: Ecn, answer: Flags) -> (Ecn, Option<Codepoint>) {
    let bits = decode(answer);
    match (client, bits) {
        (Ecn::None, _) | (Ecn::Accurate, 0b000 | 0b111) => (Ecn::None, None),
        (Ecn::Accurate, 0b001) => (Ecn::Classic, None),
        // Reserved: as if the codepoint had not changed (§3.1.3).
        (Ecn::Accurate, _) => (Ecn::Accurate, reported(answer)),
        (Ecn::Classic, 0b001 | 0b101) => (Ecn::Classic, None),
        (Ecn::Classic, _) => (Ecn::None, None),
    }
}

/// The mode of a connection between hosts of these capabilities, whose handshake meets no interference.
pub fn agree(client: Ecn, server: Ecn) -> Ecn {
    let mode = mode_of_server(server, request(client));
    mode_of_client(client, answer(mode, Codepoint::NotCapable)).0
}

/// The three flags for a codepoint, in a SYN/ACK and in the acknowledgement of one (Tables 2 and 3).
pub fn report(seen: Codepoint) -> Flags {
    let bits = REPORTS.iter().find(|(one, _)| *one == seen).map_or(0, |(_, bits)| *bits);
    encode(bits)
}

/// The reported codepoint, if these flags report one (Table 4).
pub fn reported(flags: Flags) -> Option<Codepoint> {
    REPORTS.iter().find(|(_, bits)| u32::from(*bits) == decode(flags)).map(|(one, _)| *one)
}

/// Whether a packet sent with one codepoint cannot arrive with the other, unless something on the path mangles the field (§3.2.2.3).
pub fn is_mangled(sent: Codepoint, seen: Codepoint) -> bool {
    use Codepoint::{Marked, NotCapable};
    sent != seen && (sent == NotCapable || sent == Marked || seen == NotCapable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Codepoint::{Capable0, Capable1, Marked, NotCapable};
    use Ecn::{Accurate, Classic, None as Not};

    const EACH: [Ecn; 3] = [Not, Classic, Accurate];

    #[test]
    fn each_row_of_table_2_gives_its_flags_and_its_mode() {
        // Client, server, codepoint of the SYN on arrival; SYN, SYN/ACK, mode.
        let rows = [
            (Accurate, Accurate, NotCapable, 0b111, 0b010, Accurate),
            (Accurate, Accurate, Capable1, 0b111, 0b011, Accurate),
            (Accurate, Accurate, Capable0, 0b111, 0b100, Accurate),
            (Accurate, Accurate, Marked, 0b111, 0b110, Accurate),
            (Accurate, Classic, NotCapable, 0b111, 0b001, Classic),
            (Accurate, Not, NotCapable, 0b111, 0b000, Not),
            (Classic, Accurate, NotCapable, 0b011, 0b001, Classic),
            (Not, Accurate, NotCapable, 0b000, 0b000, Not),
            // Those without AccECN, of RFC 3168.
            (Classic, Classic, NotCapable, 0b011, 0b001, Classic),
            (Classic, Not, NotCapable, 0b011, 0b000, Not),
            (Not, Classic, NotCapable, 0b000, 0b000, Not),
            (Not, Not, NotCapable, 0b000, 0b000, Not),
        ];
        for (client, server, seen, syn, syn_ack, mode) in rows {
            let case = format!("{client:?}, {server:?}, {seen:?}");
            assert_eq!(decode(request(client)), syn, "{case}");
            let servers = mode_of_server(server, request(client));
            let reply = answer(servers, seen);
            assert_eq!((servers, decode(reply)), (mode, syn_ack), "{case}");
            let arrived = (mode == Accurate).then_some(seen);
            assert_eq!(mode_of_client(client, reply), (mode, arrived), "{case}");
            assert_eq!(agree(client, server), mode, "{case}");
        }
    }

    #[test]
    fn a_server_of_the_nonce_gives_accecn_and_a_reflected_syn_gives_no_ecn() {
        assert_eq!(mode_of_client(Accurate, encode(0b101)), (Accurate, None));
        assert_eq!(mode_of_client(Accurate, encode(0b111)), (Not, None));
        assert_eq!(mode_of_client(Classic, encode(0b011)), (Not, None));
    }

    #[test]
    fn reserved_requests_are_taken_for_accecn_and_a_server_confirms_only_what_was_requested() {
        for syn in [0b001, 0b010, 0b100, 0b101, 0b110] {
            assert_eq!(mode_of_server(Accurate, encode(syn)), Accurate, "{syn:b}");
        }
        for client in EACH {
            for server in EACH {
                let mode = agree(client, server);
                assert_eq!(mode == Accurate, (client, server) == (Accurate, Accurate));
                assert_eq!(mode == Not, client == Not || server == Not);
            }
        }
    }

    #[test]
    fn the_last_acknowledgement_reports_each_codepoint() {
        for (seen, bits) in [(NotCapable, 0b010), (Capable1, 0b011), (Capable0, 0b100), (Marked, 0b110)] {
            assert_eq!((decode(report(seen)), reported(encode(bits))), (bits.into(), Some(seen)));
        }
        assert_eq!([0b000, 0b001, 0b101, 0b111].map(|bits| reported(encode(bits))), [None; 4]);
    }

    #[test]
    fn only_changes_that_no_queue_makes_are_mangling() {
        for (sent, possible) in [
            (NotCapable, vec![NotCapable]),
            (Capable0, vec![Capable0, Capable1, Marked]),
            (Capable1, vec![Capable0, Capable1, Marked]),
            (Marked, vec![Marked]),
        ] {
            for seen in [NotCapable, Capable0, Capable1, Marked] {
                assert_eq!(is_mangled(sent, seen), !possible.contains(&seen), "{sent:?} as {seen:?}");
            }
        }
    }
}

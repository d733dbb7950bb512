// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parses frames into TCP segments.
//!
//! Link layers: Ethernet and 802.11 (with radiotap or without), below them any VLAN tags, MPLS labels and PPPoE; PPP; raw IP; BSD
//! loopback; Linux cooked, which also tells the interface and whether the host sent the packet.

use core::net::{IpAddr, SocketAddr};

use etherparse::{
    IpNumber, Ipv4HeaderSlice, Ipv6ExtensionsSlice, Ipv6HeaderSlice, TcpHeaderSlice, TcpOptionElement,
};

use super::file::CapturedFrame;
use super::{Direction, Segment};

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];
const MPLS: [u16; 2] = [0x8847, 0x8848];
const PPPOE: u16 = 0x8864;

/// Numbers and names of the link layers that are read (tcpdump.org).
const LINKS: [(i32, &str); 14] = [
    (0, "BSD loopback"),
    (1, "Ethernet"),
    (9, "PPP"),
    (12, "raw IP"),
    (14, "raw IP"),
    (50, "PPP over serial lines"),
    (101, "raw IP"),
    (105, "802.11"),
    (108, "BSD loopback"),
    (113, "Linux cooked"),
    (127, "802.11 with radiotap"),
    (228, "IPv4"),
    (229, "IPv6"),
    (276, "Linux cooked 2"),
];

/// Whether frames of a link layer are read.
pub(super) fn supports(link: i32) -> bool {
    LINKS.iter().any(|(number, _)| *number == link)
}

/// The link layers that are read, for a message.
pub fn supported() -> String {
    let mut names: Vec<&str> = LINKS.iter().map(|(_, name)| *name).collect();
    names.dedup();
    names.join(", ")
}

/// Where on a host that captures all of its interfaces a frame was seen: the interface, and the direction that Linux notes.
pub(super) fn place(link: i32, bytes: &[u8]) -> u32 {
    let half = |at: usize| bytes.get(at..at + 2).map_or(0, |two| u32::from(two[0]) << 8 | u32::from(two[1]));
    let outgoing = |kind: u32| u32::from(kind == 4);
    match link {
        113 => outgoing(half(0)),
        276 => (half(4) << 16 | half(6)) << 1 | outgoing(u32::from(bytes.get(10).copied().unwrap_or(0))),
        _ => 0,
    }
}

/// The TCP segment in a frame, if its header was captured.
pub(super) fn segment(frame: &CapturedFrame) -> Option<(Direction, Segment)> {
    let network = network(frame.link, frame.bytes)?;
    let before = frame.bytes.len() - network.len();
    let on_wire = (frame.length as usize).saturating_sub(before);
    let packet = match network.first()? >> 4 {
        4 => ipv4(network, on_wire)?,
        6 => ipv6(network, on_wire)?,
        _ => return None,
    };
    let tcp = TcpHeaderSlice::from_slice(packet.bytes).ok()?;
    let mut segment = Segment {
        at: frame.at,
        id: packet.id,
        seq: tcp.sequence_number(),
        ack: tcp.ack().then(|| tcp.acknowledgment_number()),
        syn: tcp.syn(),
        payload: packet.length.saturating_sub(tcp.slice().len()) as u32,
        sack: [(0, 0); 4],
        timestamps: None,
        mss: None,
    };
    // Options after a malformed one cannot be parsed.
    for option in tcp.options_iterator().map_while(Result::ok) {
        match option {
            TcpOptionElement::MaximumSegmentSize(mss) => segment.mss = Some(mss),
            TcpOptionElement::Timestamp(value, echo) => segment.timestamps = Some((value, echo)),
            TcpOptionElement::SelectiveAcknowledgement(first, more) => {
                let blocks = std::iter::once(first).chain(more.into_iter().flatten());
                segment.sack.iter_mut().zip(blocks).for_each(|(place, block)| *place = block);
            }
            _ => {}
        }
    }
    let from = SocketAddr::new(packet.from, tcp.source_port());
    let to = SocketAddr::new(packet.to, tcp.destination_port());
    Some(((from, to), segment))
}

/// The bytes after the link-layer header.
fn network(link: i32, bytes: &[u8]) -> Option<&[u8]> {
    match link {
        // Two addresses, then the type.
        1 => typed(bytes, 12),
        9 | 50 => ppp(bytes),
        105 => wireless(bytes),
        // A header of its own, whose length is little-endian.
        127 => wireless(bytes.get(usize::from(u16::from_le_bytes(bytes.get(2..4)?.try_into().ok()?))..)?),
        // Raw IP: its number in files, those of two operating systems, and those of IPv4 and IPv6.
        101 | 12 | 14 | 228 | 229 => Some(bytes),
        // BSD loopback: an address family, numbered differently by each system.
        0 | 108 => bytes.get(4..),
        // Linux cooked, version 1 and 2.
        113 => typed(bytes, 14),
        276 => after(half(bytes, 0)?, bytes.get(20..)?),
        _ => None,
    }
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// The bytes after an Ethernet type at `at`.
fn typed(bytes: &[u8], at: usize) -> Option<&[u8]> {
    after(half(bytes, at)?, bytes.get(at + 2..)?)
}

/// IP below an Ethernet type.
fn after(kind: u16, bytes: &[u8]) -> Option<&[u8]> {
    match kind {
        IPV4 | IPV6 => Some(bytes),
        // The tag, and the type below it.
        _ if VLAN.contains(&kind) => typed(bytes, 2),
        // Labels of four bytes up to the one whose lowest bit of the third byte is set.
        _ if MPLS.contains(&kind) => {
            let last = bytes.chunks_exact(4).position(|label| label[2] & 1 == 1)?;
            bytes.get(4 * (last + 1)..)
        }
        // Version, code, session and length, then PPP.
        PPPOE => ppp(bytes.get(6..)?),
        _ => None,
    }
}

/// IP below PPP, whose address and control bytes may be left out.
fn ppp(bytes: &[u8]) -> Option<&[u8]> {
    let bytes = bytes.strip_prefix(&[0xff, 0x03]).unwrap_or(bytes);
    matches!(half(bytes, 0)?, 0x0021 | 0x0057).then(|| &bytes[2..])
}

/// IP below an unencrypted data frame of 802.11 (IEEE 802.11-2020, 9.2.4).
fn wireless(bytes: &[u8]) -> Option<&[u8]> {
    let (kind, flags) = (*bytes.first()?, *bytes.get(1)?);
    let (data, quality, protected) = (kind & 0x0c == 0x08, kind & 0x80 != 0, flags & 0x40 != 0);
    if !data || protected {
        return None;
    }
    let four_addresses = if flags & 0x03 == 0x03 { 6 } else { 0 };
    let control = if quality { 2 + if flags & 0x80 != 0 { 4 } else { 0 } } else { 0 };
    let logical = bytes.get(24 + four_addresses + control..)?;
    // LLC with SNAP, then an Ethernet type.
    typed(logical.strip_prefix(&[0xaa, 0xaa, 0x03, 0, 0, 0])?, 0)
}

/// An IP payload: `length` on the wire, of which `bytes` may be a prefix.
struct Packet<'a> {
    from: IpAddr,
    to: IpAddr,
    bytes: &'a [u8],
    length: usize,
    /// The identification of IPv4.
    id: Option<u16>,
}

fn ipv4(network: &[u8], on_wire: usize) -> Option<Packet<'_>> {
    let header = Ipv4HeaderSlice::from_slice(network).ok()?;
    if header.protocol() != IpNumber::TCP || header.fragments_offset().value() > 0 {
        return None;
    }
    // Zero: segmentation offload leaves the length to the network card.
    let total = if header.total_len() == 0 { on_wire } else { usize::from(header.total_len()) };
    let own = header.slice().len();
    let (from, to) = (header.source_addr().into(), header.destination_addr().into());
    let id = Some(header.identification());
    Some(Packet { from, to, bytes: network.get(own..)?, length: total.saturating_sub(own), id })
}

fn ipv6(network: &[u8], on_wire: usize) -> Option<Packet<'_>> {
    let header = Ipv6HeaderSlice::from_slice(network).ok()?;
    let after = network.get(header.slice().len()..)?;
    let length = match usize::from(header.payload_length()) {
        0 => on_wire.saturating_sub(header.slice().len()),
        length => length,
    };
    let (extensions, next, bytes) = Ipv6ExtensionsSlice::from_slice(header.next_header(), after).ok()?;
    if next != IpNumber::TCP || extensions.is_fragmenting_payload() {
        return None;
    }
    let (from, to) = (header.source_addr().into(), header.destination_addr().into());
    Some(Packet { from, to, bytes, length: length.saturating_sub(after.len() - bytes.len()), id: None })
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parses frames into TCP segments.

use core::net::{IpAddr, SocketAddr};

use etherparse::{
    IpNumber, Ipv4HeaderSlice, Ipv6ExtensionsSlice, Ipv6HeaderSlice, TcpHeaderSlice, TcpOptionElement,
};

use super::file::CapturedFrame;
use super::{Direction, Segment};

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];

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
    let half = |at: usize| Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let ip = |kind: u16, after: usize| [IPV4, IPV6].contains(&kind).then(|| bytes.get(after..)).flatten();
    match link {
        // Ethernet: two addresses, any VLAN tags, the type.
        1 => {
            let mut at = 12;
            while VLAN.contains(&half(at)?) {
                at += 4;
            }
            ip(half(at)?, at + 2)
        }
        // Raw IP: its number in files, those of two operating systems, and those of IPv4 and IPv6.
        101 | 12 | 14 | 228 | 229 => Some(bytes),
        // BSD loopback: an address family, numbered differently by each system.
        0 | 108 => bytes.get(4..),
        // Linux cooked, version 1 and 2.
        113 => ip(half(14)?, 16),
        276 => ip(half(0)?, 20),
        _ => None,
    }
}

/// An IP payload: `length` on the wire, of which `bytes` may be a prefix.
struct Packet<'a> {
    from: IpAddr,
    to: IpAddr,
    bytes: &'a [u8],
    length: usize,
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
    Some(Packet { from, to, bytes: network.get(own..)?, length: total.saturating_sub(own) })
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
    Some(Packet { from, to, bytes, length: length.saturating_sub(after.len() - bytes.len()) })
}

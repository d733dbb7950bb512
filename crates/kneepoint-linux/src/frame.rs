// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Frames: the headers of an IP packet, read, and changed in place as a link changes its packet.
//!
//! ```text
//! IPv4 (with options) or IPv6 (with extension headers) · TCP with its options, UDP, or anything else
//! ```
//!
//! A frame starts with its IP header, which [`ethernet`] finds in a frame of Ethernet: a TUN device opened with `IFF_NO_PI` has none of the link layer. Such a device
//! without `IFF_VNET_HDR` has no offloads unless a program asks for them, so the kernel finishes every checksum before the
//! program reads the frame: checksums are complete, and are mended here by the difference (RFC 1624), never computed again.
//!
//! Readings: a fragment has no ports, not even the first, because the others have none and all belong to one flow.
//! Where the length in the header exceeds the frame, the frame counts.

mod options;
#[cfg(test)]
mod tests;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use kneepoint::units::Rate;
use options::{KIND_RATE, Options};

const TCP: u8 = 6;
const UDP: u8 = 17;
const IGMP: u8 = 2;
const ICMP_V6: u8 = 58;
/// The place of a TCP header's checksum.
const TCP_CHECKSUM: usize = 16;
/// The place of a UDP header's checksum.
const UDP_CHECKSUM: usize = 6;
/// The unit of rates in the option.
const RATE_UNIT: u64 = 1000;
/// Extension headers of IPv6 that say where the next begins, in units of eight bytes (RFC 8200, RFC 6275, RFC 7401, RFC 5533).
const EXTENSIONS: [u8; 6] = [0, 43, 60, 135, 139, 140];
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
/// More extension headers than this are not followed.
const DEEPEST: usize = 8;

/// The beginning of the IP header in an Ethernet frame, behind two addresses, tags (IEEE 802.1Q, 802.1ad) and the type.
pub fn ethernet(frame: &[u8]) -> usize {
    let mut at = 12;
    while matches!(word(frame, at), Some(0x8100 | 0x88a8)) {
        at += 4;
    }
    (at + 2).min(frame.len())
}

/// Completes the checksum of a TCP segment or datagram whose sender left it to its device: the field has the sum of the pseudo-header.
pub fn finish_checksum(frame: &mut [u8]) {
    let Some(parts) = parts(frame).filter(|parts| !parts.fragment) else { return };
    let place = match parts.protocol {
        TCP => TCP_CHECKSUM,
        UDP => UDP_CHECKSUM,
        _ => return,
    };
    let bytes = &mut frame[parts.transport..parts.end];
    let mut sum: u32 =
        bytes.chunks(2).map(|two| u32::from(two[0]) << 8 | two.get(1).map_or(0, |low| u32::from(*low))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    // For a datagram, zero means none.
    let checksum = match !(sum as u16) {
        0 if parts.protocol == UDP => 0xffff,
        checksum => checksum,
    };
    if let Some(field) = bytes.get_mut(place..place + 2) {
        field.copy_from_slice(&checksum.to_be_bytes());
    }
}

/// One direction of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tuple {
    /// The origin of the frame.
    pub from: IpAddr,
    /// Its destination.
    pub to: IpAddr,
    /// The ports of the two; zero without ports.
    pub ports: (u16, u16),
    /// The protocol over IP.
    pub protocol: u8,
}

impl Tuple {
    /// The other direction.
    #[must_use]
    pub fn reversed(self) -> Tuple {
        Tuple { from: self.to, to: self.from, ports: (self.ports.1, self.ports.0), ..self }
    }
}

/// The two bits of congestion notification (RFC 3168, RFC 9331).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The sender does not understand marks.
    #[default]
    Not,
    /// It does, with a response in proportion: ECT(1).
    Scalable,
    /// It does: ECT(0).
    Capable,
    /// A queue marked the frame.
    Marked,
}

/// A TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tcp {
    /// The sequence number.
    pub seq: u32,
    /// The acknowledgement, where the flag says that there is one.
    pub ack: Option<u32>,
    /// Opens the connection.
    pub syn: bool,
    /// Nothing follows.
    pub fin: bool,
    /// Aborts the connection.
    pub rst: bool,
    /// Echoes a mark.
    pub ece: bool,
    /// Answers the echo.
    pub cwr: bool,
    /// The receive window, unscaled.
    pub window: u16,
    /// Its options.
    pub options: Options,
}

/// The headers of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// The direction of the conversation that it belongs to.
    pub flow: Tuple,
    /// Its congestion notification.
    pub ecn: Ecn,
    /// The six bits of differentiated services.
    pub dscp: u8,
    /// The TCP header; none for a fragment or another protocol.
    pub tcp: Option<Tcp>,
    /// Bytes after the last header that was read.
    pub payload: u32,
}

impl Headers {
    /// Headers of a packet that is not IP, of this many bytes: all of them are one flow.
    pub fn foreign(bytes: usize) -> Headers {
        let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        let flow = Tuple { from: nowhere, to: nowhere, ports: (0, 0), protocol: u8::MAX };
        Headers { flow, ecn: Ecn::Not, dscp: 0, tcp: None, payload: bytes as u32 }
    }
}

/// The positions of the parts of a frame.
struct Parts {
    protocol: u8,
    /// The beginning of the transport header, and the end of the frame.
    transport: usize,
    end: usize,
    fragment: bool,
}

/// The headers of a frame; none where its IP header is not whole.
pub fn read(frame: &[u8]) -> Option<Headers> {
    let parts = parts(frame)?;
    let (from, to) = addresses(frame)?;
    let class = class(frame)?;
    let ecn = match class & 3 {
        0 => Ecn::Not,
        1 => Ecn::Scalable,
        2 => Ecn::Capable,
        _ => Ecn::Marked,
    };
    let transport = frame.get(parts.transport..parts.end).filter(|_| !parts.fragment).unwrap_or(&[]);
    let has_ports = matches!(parts.protocol, TCP | UDP);
    let ports = if has_ports { word(transport, 0).zip(word(transport, 2)) } else { None };
    let tcp = if parts.protocol == TCP { tcp(transport) } else { None };
    let header = match (&tcp, parts.protocol) {
        (Some((_, length)), _) => *length,
        (None, UDP) if !parts.fragment => 8,
        _ => 0,
    };
    let flow = Tuple { from, to, ports: ports.unwrap_or((0, 0)), protocol: parts.protocol };
    let payload = (parts.end - parts.transport).saturating_sub(header) as u32;
    Some(Headers { flow, ecn, dscp: class >> 2, tcp: tcp.map(|(tcp, _)| tcp), payload })
}

/// Whether a host announces itself to its neighbours, as kernels do by default: no program of the other host receives
/// it.
pub fn announces(headers: &Headers) -> bool {
    headers.flow.to.is_multicast() && matches!(headers.flow.protocol, IGMP | ICMP_V6)
}

/// Puts a congestion mark into a frame whose sender understands it; returns whether the frame has one now.
pub fn mark(frame: &mut [u8]) -> bool {
    let Some(class) = class(frame) else { return false };
    if class & 3 == 0 {
        return false;
    }
    match frame[0] >> 4 {
        4 if frame.len() >= 20 => change(frame, 10, 1, &[class | 3]),
        6 => frame[1] |= 3 << 4,
        _ => return false,
    }
    true
}

/// Turns the last bit of a frame, which its checksums cover; a second time turns it back.
pub fn corrupt(frame: &mut [u8]) {
    if let Some(last) = frame.last_mut() {
        *last ^= 1;
    }
}

/// The window that the code in a DSCP represents: 2^((c - 1) / 4) packets; none for the code 0.
pub fn window_hint(dscp: u8) -> Option<f64> {
    (dscp > 0).then(|| libm::exp2((f64::from(dscp) - 1.0) / 4.0))
}

/// The rate in a frame's option; infinite where nothing has limited it yet.
pub fn rate(frame: &[u8]) -> Option<Rate> {
    let (at, _) = rate_field(frame)?;
    Some(as_rate(u32::from_be_bytes(frame.get(at..at + 4)?.try_into().ok()?)))
}

/// Lowers the rate in a frame's option to `rate`; returns whether it was greater.
pub fn stamp_rate(frame: &mut [u8], rate: Rate) -> bool {
    let Some((at, transport)) = rate_field(frame) else { return false };
    let Some(Ok(bytes)) = frame.get(at..at + 4).map(<[u8; 4]>::try_from) else { return false };
    // All ones mean unlimited, so no limit may have this value.
    let bound = (rate.0 / RATE_UNIT).min(u64::from(u32::MAX) - 1) as u32;
    let lowers = bound < u32::from_be_bytes(bytes);
    if lowers {
        change(&mut frame[transport..], TCP_CHECKSUM, at - transport, &bound.to_be_bytes());
    }
    lowers
}

/// The rate that the option's field represents.
pub(crate) fn as_rate(field: u32) -> Rate {
    if field == u32::MAX { Rate(u64::MAX) } else { Rate(u64::from(field) * RATE_UNIT) }
}

/// The position of the rate in the option, and of the TCP header.
fn rate_field(frame: &[u8]) -> Option<(usize, usize)> {
    let parts = parts(frame).filter(|parts| parts.protocol == TCP && !parts.fragment)?;
    let transport = frame.get(parts.transport..parts.end)?;
    let (_, length) = tcp(transport)?;
    let found = options::each(&transport[20..length]).find(|(_, body)| options::is_rate(body))?;
    let (offset, _) = found;
    debug_assert_eq!(transport[20 + offset], KIND_RATE);
    Some((parts.transport + 20 + offset + options::RATE_OFFSET, parts.transport))
}

/// Traffic class and flow label's neighbour: the byte of DSCP and ECN.
fn class(frame: &[u8]) -> Option<u8> {
    let (&first, &second) = (frame.first()?, frame.get(1)?);
    match first >> 4 {
        4 => Some(second),
        6 => Some(first << 4 | second >> 4),
        _ => None,
    }
}

fn addresses(frame: &[u8]) -> Option<(IpAddr, IpAddr)> {
    let v4 = |at: usize| Some(Ipv4Addr::from(<[u8; 4]>::try_from(frame.get(at..at + 4)?).ok()?).into());
    let v6 = |at: usize| Some(Ipv6Addr::from(<[u8; 16]>::try_from(frame.get(at..at + 16)?).ok()?).into());
    match frame.first()? >> 4 {
        4 => Some((v4(12)?, v4(16)?)),
        6 => Some((v6(8)?, v6(24)?)),
        _ => None,
    }
}

fn parts(frame: &[u8]) -> Option<Parts> {
    match frame.first()? >> 4 {
        4 => {
            let header = 4 * usize::from(frame[0] & 15);
            if header < 20 || frame.len() < header {
                return None;
            }
            let end = usize::from(word(frame, 2)?).clamp(header, frame.len());
            // The flag that more follow, or an offset.
            let fragment = word(frame, 6)? & 0x3fff != 0;
            Some(Parts { protocol: frame[9], transport: header, end, fragment })
        }
        6 => parts_of_v6(frame),
        _ => None,
    }
}

fn parts_of_v6(frame: &[u8]) -> Option<Parts> {
    if frame.len() < 40 {
        return None;
    }
    let end = (40 + usize::from(word(frame, 4)?)).min(frame.len());
    let mut parts = Parts { protocol: frame[6], transport: 40, end, fragment: false };
    for _ in 0..DEEPEST {
        let (next, length) = match frame.get(parts.transport..end) {
            Some(&[next, length, ..]) => (next, usize::from(length)),
            _ => break,
        };
        let skip = match parts.protocol {
            FRAGMENT => {
                let offset = word(&frame[..end], parts.transport + 2).unwrap_or(1);
                parts.fragment |= offset & 0xfff9 != 0;
                8
            }
            AUTHENTICATION => 4 * (length + 2),
            extension if EXTENSIONS.contains(&extension) => 8 * (length + 1),
            _ => break,
        };
        if parts.transport + skip > end {
            break;
        }
        (parts.protocol, parts.transport) = (next, parts.transport + skip);
        if parts.fragment {
            break;
        }
    }
    Some(parts)
}

/// A TCP header and its length.
fn tcp(bytes: &[u8]) -> Option<(Tcp, usize)> {
    let fixed: &[u8; 20] = bytes.first_chunk()?;
    let length = 4 * usize::from(fixed[12] >> 4);
    let options = bytes.get(20..length)?;
    let number = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let says = |bit: u8| fixed[13] & bit != 0;
    let tcp = Tcp {
        seq: number(4),
        ack: says(0x10).then(|| number(8)),
        syn: says(0x02),
        fin: says(0x01),
        rst: says(0x04),
        ece: says(0x40),
        cwr: says(0x80),
        window: u16::from_be_bytes([fixed[14], fixed[15]]),
        options: Options::read(options),
    };
    Some((tcp, length))
}

/// Replaces the bytes at `at`, and mends the checksum at `checksum`: HC' = ~(~HC + ~m + m') (RFC 1624, eqn. 3).
fn change(header: &mut [u8], checksum: usize, at: usize, bytes: &[u8]) {
    let (first, end) = (at & !1, (at + bytes.len()).next_multiple_of(2).min(header.len()));
    let sum = |words: &[u8]| {
        let pairs = words[first..end].chunks(2);
        pairs.map(|pair| u32::from(u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)]))).sum::<u32>()
    };
    let words = (end - first).div_ceil(2) as u32;
    let before = sum(header);
    header[at..at + bytes.len()].copy_from_slice(bytes);
    let after = sum(header);
    let was = u32::from(!u16::from_be_bytes([header[checksum], header[checksum + 1]]));
    let mut total = was + (words * 0xffff - before) + after;
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    header[checksum..checksum + 2].copy_from_slice(&(!(total as u16)).to_be_bytes());
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

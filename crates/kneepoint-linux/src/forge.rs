// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Frames, written byte by byte, with checksums computed from scratch.

use std::net::IpAddr;

use crate::frame::Tuple;

pub const SYN: u8 = 2;
#[cfg(test)]
pub const FIN: u8 = 1;
#[cfg(test)]
pub const RST: u8 = 4;
pub const ACK: u8 = 16;

/// A TCP segment to be written.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    pub options: Vec<u8>,
    pub payload: usize,
    /// The receive window, unscaled.
    pub window: u16,
    /// Traffic class: DSCP and ECN.
    pub class: u8,
}

#[cfg(test)]
pub fn tuple(from: &str, to: &str, ports: (u16, u16), protocol: u8) -> Tuple {
    Tuple { from: from.parse().unwrap(), to: to.parse().unwrap(), ports, protocol }
}

pub fn mss(bytes: u16) -> Vec<u8> {
    [&[2, 4][..], &bytes.to_be_bytes()].concat()
}

pub fn timestamps(value: u32, echo: u32) -> Vec<u8> {
    [&[1, 1, 8, 10][..], &value.to_be_bytes(), &echo.to_be_bytes()].concat()
}

pub fn sack(blocks: &[(u32, u32)]) -> Vec<u8> {
    let words = blocks.iter().flat_map(|(first, end)| [first.to_be_bytes(), end.to_be_bytes()]);
    [&[1, 1, 5, 2 + 8 * blocks.len() as u8][..], &words.collect::<Vec<_>>().concat()].concat()
}

#[cfg(test)]
pub fn rate(rate: u32, echo: u32) -> Vec<u8> {
    [&[253, 12, 0x4b, 0x50][..], &rate.to_be_bytes(), &echo.to_be_bytes()].concat()
}

/// The ones' complement sum of 16-bit words, folded (RFC 1071).
fn sum(bytes: &[u8]) -> u32 {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    words.fold(0, |sum, word| (sum + word) % 0xffff)
}

fn pseudo_header(flow: Tuple, length: usize) -> u32 {
    let addresses = match (flow.from, flow.to) {
        (IpAddr::V4(from), IpAddr::V4(to)) => [from.octets(), to.octets()].concat(),
        (IpAddr::V6(from), IpAddr::V6(to)) => [from.octets(), to.octets()].concat(),
        _ => panic!("addresses of one family"),
    };
    sum(&addresses) + length as u32 + u32::from(flow.protocol)
}

#[cfg(test)]
/// Whether the checksums of a frame without extension headers and IP options are right.
pub fn is_sound(flow: Tuple, frame: &[u8]) -> bool {
    let header = if flow.from.is_ipv4() { 20 } else { 40 };
    let ip = !flow.from.is_ipv4() || sum(&frame[..20]).is_multiple_of(0xffff);
    ip && (sum(&frame[header..]) + pseudo_header(flow, frame.len() - header)).is_multiple_of(0xffff)
}

/// A frame of TCP.
pub fn tcp(flow: Tuple, segment: &Segment) -> Vec<u8> {
    let mut options = segment.options.clone();
    options.resize(options.len().next_multiple_of(4), 0);
    let mut bytes = Vec::new();
    bytes.extend(flow.ports.0.to_be_bytes());
    bytes.extend(flow.ports.1.to_be_bytes());
    bytes.extend(segment.seq.to_be_bytes());
    bytes.extend(segment.ack.to_be_bytes());
    bytes.extend([(20 + options.len() as u8) << 2, segment.flags]);
    bytes.extend(segment.window.to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend(&options);
    bytes.extend((0..segment.payload).map(|at| (at * 7) as u8));
    let check = !((sum(&bytes) + pseudo_header(flow, bytes.len())) % 0xffff) as u16;
    bytes[16..18].copy_from_slice(&check.to_be_bytes());
    ip(flow, segment.class, &bytes)
}

#[cfg(test)]
/// A frame of UDP without a checksum.
pub fn udp(flow: Tuple, payload: usize) -> Vec<u8> {
    let mut bytes = [flow.ports.0.to_be_bytes(), flow.ports.1.to_be_bytes()].concat();
    bytes.extend((8 + payload as u16).to_be_bytes());
    bytes.resize(8 + payload, 0);
    ip(flow, 0, &bytes)
}

/// An IP packet around `bytes`.
pub fn ip(flow: Tuple, class: u8, bytes: &[u8]) -> Vec<u8> {
    let mut frame = match (flow.from, flow.to) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            let mut header = vec![0x45, class];
            header.extend((20 + bytes.len() as u16).to_be_bytes());
            header.extend([0, 1, 0x40, 0, 64, flow.protocol, 0, 0]);
            header.extend(from.octets());
            header.extend(to.octets());
            let check = !(sum(&header) as u16);
            header[10..12].copy_from_slice(&check.to_be_bytes());
            header
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            let mut header = vec![0x60 | class >> 4, class << 4, 0, 0];
            header.extend((bytes.len() as u16).to_be_bytes());
            header.extend([flow.protocol, 64]);
            header.extend(from.octets());
            header.extend(to.octets());
            header
        }
        _ => panic!("addresses of one family"),
    };
    frame.extend(bytes);
    frame
}

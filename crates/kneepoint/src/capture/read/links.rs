// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Link layers: from a frame down to the IP packet in it.
//!
//! Ethernet (with Ethernet types, or IEEE 802.3 with LLC and SNAP) and 802.11 (with radiotap or without), below them any VLAN and
//! provider tags, MPLS labels and PPPoE; PPP; Cisco HDLC; raw IP; BSD loopback; Linux cooked, which also names the interface and
//! whether the host sent the packet.

use super::others::{CUT, Other};

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const VLAN: [u16; 3] = [0x8100, 0x88a8, 0x9100];
const MPLS: [u16; 2] = [0x8847, 0x8848];
const PPPOE: u16 = 0x8864;
/// A provider backbone's tag, behind which a whole frame follows (IEEE 802.1ah).
const BACKBONE: u16 = 0x88e7;
/// Ethernet within another protocol.
pub(super) const BRIDGED: u16 = 0x6558;
/// Larger values are Ethernet types, others the length of an IEEE 802.3 frame, which may exceed 1500 where devices allow it.
const LONGEST: u16 = 0x05ff;
/// The protocol by which Linux cooked headers announce LLC.
const LINUX_LLC: u16 = 0x0004;

/// Numbers and names of the link layers that are read (tcpdump.org).
const LINKS: [(i32, &str); 15] = [
    (0, "BSD loopback"),
    (1, "Ethernet"),
    (9, "PPP"),
    (12, "raw IP"),
    (14, "raw IP"),
    (50, "PPP over serial lines"),
    (101, "raw IP"),
    (104, "Cisco HDLC"),
    (105, "802.11"),
    (108, "BSD loopback"),
    (113, "Linux cooked"),
    (127, "802.11 with radiotap"),
    (228, "IPv4"),
    (229, "IPv6"),
    (276, "Linux cooked 2"),
];

/// Whether frames of a link layer can be read.
pub(super) fn supports(link: i32) -> bool {
    LINKS.iter().any(|(number, _)| *number == link)
}

/// The link layers that are read, for a message.
pub fn supported() -> String {
    let mut names: Vec<&str> = Vec::new();
    for (_, name) in LINKS {
        if !names.contains(&name) {
            names.push(name);
        }
    }
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

/// The rest of a packet: the bytes that were captured, and how many there were on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) wire: usize,
}

impl<'a> Part<'a> {
    /// The bytes after the first `length`.
    pub(super) fn after(self, length: usize) -> Result<Part<'a>, Other> {
        let bytes = self.bytes.get(length..).ok_or(CUT)?;
        Ok(Part { bytes, wire: self.wire.saturating_sub(length) })
    }

    pub(super) fn byte(self, at: usize) -> Result<u8, Other> {
        self.bytes.get(at).copied().ok_or(CUT)
    }

    /// Two bytes as a number, the higher one first.
    pub(super) fn half(self, at: usize) -> Result<u16, Other> {
        Ok(u16::from(self.byte(at)?) << 8 | u16::from(self.byte(at + 1)?))
    }

    /// Four bytes as a number, the highest one first.
    pub(super) fn word(self, at: usize) -> Result<u32, Other> {
        Ok(u32::from(self.half(at)?) << 16 | u32::from(self.half(at + 2)?))
    }
}

/// The protocol at the beginning of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layer {
    /// IPv4 or IPv6, by its version.
    Ip,
    Ethernet,
    /// The protocol of an Ethernet type.
    Typed(u16),
    /// LLC (IEEE 802.2).
    Logical,
    /// Labels of MPLS.
    Labels,
    Ppp,
    /// 802.11.
    Wireless,
}

/// The header of a link layer's frame.
pub(super) fn begin(link: i32, part: Part) -> Result<(Layer, Part), Other> {
    Ok(match link {
        1 => (Layer::Ethernet, part),
        9 | 50 => (Layer::Ppp, part),
        // An address and a control byte, then an Ethernet type.
        104 => (Layer::Typed(part.half(2)?), part.after(4)?),
        105 => (Layer::Wireless, part),
        // A separate header, whose length is little-endian.
        127 => (Layer::Wireless, part.after(usize::from(part.half(2)?.swap_bytes()))?),
        // BSD loopback: an address family, numbered differently by each system.
        0 | 108 => (Layer::Ip, part.after(4)?),
        // Linux cooked, version 1 and 2.
        113 => (Layer::Typed(part.half(14)?), part.after(16)?),
        276 => (Layer::Typed(part.half(0)?), part.after(20)?),
        // Raw IP: its number in files, two numbers of operating systems, and the numbers of IPv4 and IPv6.
        _ => (Layer::Ip, part),
    })
}

/// The IP packet below a layer.
pub(super) fn network(mut layer: Layer, mut part: Part) -> Result<Part, Other> {
    // Every header has a length above zero, so this ends.
    while layer != Layer::Ip {
        (layer, part) = below(layer, part)?;
    }
    Ok(part)
}

fn below(layer: Layer, part: Part) -> Result<(Layer, Part), Other> {
    Ok(match layer {
        Layer::Ip => (Layer::Ip, part),
        // Two addresses, then the type.
        Layer::Ethernet => (Layer::Typed(part.half(12)?), part.after(14)?),
        Layer::Typed(kind) => return typed(kind, part),
        Layer::Logical => return logical(part),
        Layer::Labels => return labelled(part),
        Layer::Ppp => return ppp(part),
        Layer::Wireless => (Layer::Logical, wireless(part)?),
    })
}

fn typed(kind: u16, part: Part) -> Result<(Layer, Part), Other> {
    Ok(match kind {
        IPV4 | IPV6 => (Layer::Ip, part),
        LINUX_LLC => (Layer::Logical, part),
        0..=LONGEST => (Layer::Logical, part),
        // The tag, and the type below it.
        _ if VLAN.contains(&kind) => (Layer::Typed(part.half(2)?), part.after(4)?),
        _ if MPLS.contains(&kind) => (Layer::Labels, part),
        // Version, code, session and length.
        PPPOE => (Layer::Ppp, part.after(6)?),
        BACKBONE => (Layer::Ethernet, part.after(4)?),
        BRIDGED => (Layer::Ethernet, part),
        _ => return Err(Other::Type(kind)),
    })
}

/// SNAP with the Ethernet types of RFC 1042 or IEEE 802.1H, or IP by its own number (RFC 948).
fn logical(part: Part) -> Result<(Layer, Part), Other> {
    let snap = [&[0xaa, 0xaa, 3, 0, 0, 0], &[0xaa, 0xaa, 3, 0, 0, 0xf8]];
    match part.bytes {
        bytes if snap.iter().any(|head| bytes.starts_with(*head)) => {
            Ok((Layer::Typed(part.half(6)?), part.after(8)?))
        }
        [6, 6, 3, ..] => Ok((Layer::Ip, part.after(3)?)),
        _ => Err(Other::Named("802.3 frames without IP")),
    }
}

/// Labels of four bytes up to the one whose lowest bit of the third byte is set; then IP, or a frame (RFC 4448).
fn labelled(part: Part) -> Result<(Layer, Part), Other> {
    let last = part.bytes.chunks_exact(4).position(|label| label[2] & 1 == 1).ok_or(CUT)?;
    let part = part.after(4 * (last + 1))?;
    match part.byte(0)? >> 4 {
        4 | 6 => Ok((Layer::Ip, part)),
        // A control word.
        0 => Ok((Layer::Ethernet, part.after(4)?)),
        _ => Ok((Layer::Ethernet, part)),
    }
}

/// IP below PPP, whose address and control bytes may be left out, and the first byte of the protocol, too (RFC 1661).
fn ppp(part: Part) -> Result<(Layer, Part), Other> {
    let part = if part.bytes.starts_with(&[0xff, 0x03]) { part.after(2)? } else { part };
    let short = part.byte(0)? & 1 == 1;
    let protocol = if short { u16::from(part.byte(0)?) } else { part.half(0)? };
    let rest = part.after(if short { 1 } else { 2 })?;
    match protocol {
        0x0021 | 0x0057 => Ok((Layer::Ip, rest)),
        0x0281 => Ok((Layer::Labels, rest)),
        _ => Err(Other::Named("PPP without IP")),
    }
}

/// LLC in an unencrypted data frame of 802.11 (IEEE 802.11-2020, 9.2.4).
fn wireless(part: Part) -> Result<Part, Other> {
    let (kind, flags) = (part.byte(0)?, part.byte(1)?);
    let (data, quality, protected) = (kind & 0x0c == 0x08, kind & 0x80 != 0, flags & 0x40 != 0);
    if !data {
        return Err(Other::Named("802.11 frames without data"));
    }
    if protected {
        return Err(Other::Named("encrypted 802.11 frames"));
    }
    let four_addresses = if flags & 0x03 == 0x03 { 6 } else { 0 };
    let control = if quality { 2 + if flags & 0x80 != 0 { 4 } else { 0 } } else { 0 };
    part.after(24 + four_addresses + control)
}

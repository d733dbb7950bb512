// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tunnels: the packet that a packet carries.
//!
//! IP in IP (RFC 2003, RFC 4213), GRE (RFC 2784, RFC 2890, RFC 2637) with ERSPAN of types I, II and III, VXLAN (RFC 7348) and its
//! extension, Geneve (RFC 8926), GTP-U (3GPP TS 29.281), GRE and MPLS in UDP (RFC 8086, RFC 7510).

use super::links::{BRIDGED, Layer, Part};
use super::others::Other;

type Inner<'a> = Result<(Layer, Part<'a>), Other>;

/// ERSPAN of types I and II, and of type III, as protocols of GRE.
const ERSPAN: u16 = 0x88be;
const ERSPAN_3: u16 = 0x22eb;
/// PPP as a protocol of GRE (RFC 2637).
const GRE_PPP: u16 = 0x880b;

/// Header of UDP, in bytes.
const UDP: usize = 8;

/// A tunnel over UDP: the port that names it, and how to open it.
type Tunnel = (u16, for<'a> fn(Part<'a>) -> Inner<'a>);

/// Tunnels over UDP by the destination port.
const OVER_UDP: [Tunnel; 7] = [
    (2152, gtp),
    (4754, gre),
    (4789, vxlan),
    (4790, vxlan_extended),
    (6081, geneve),
    (6635, labels),
    // The port of Linux before RFC 7348's was assigned.
    (8472, vxlan),
];

/// Ports of UDP whose packets hide what they carry, and their names.
const HIDDEN: [(u16, &str); 4] = [
    (443, "QUIC or others on UDP port 443"),
    (1701, "L2TP, a tunnel that is not read"),
    (4500, "ESP in UDP, which encrypts"),
    (51820, "WireGuard, which encrypts"),
];

/// The packet inside an IP packet of this protocol, if any.
pub(super) fn inner(protocol: u8, part: Part) -> Inner {
    match protocol {
        // IPv4 or IPv6 in IP.
        4 | 41 => Ok((Layer::Ip, part)),
        17 => over_udp(part),
        47 => gre(part),
        // MPLS in IP (RFC 4023), Ethernet in IP (RFC 3378) and behind segment routing (RFC 8986).
        137 => labels(part),
        97 => Ok((Layer::Ethernet, part.after(2)?)),
        143 => Ok((Layer::Ethernet, part)),
        _ => Err(Other::Protocol(protocol)),
    }
}

fn over_udp(part: Part) -> Inner {
    let ports = [part.half(2)?, part.half(0)?];
    let tunnel = OVER_UDP.iter().find(|(port, _)| *port == ports[0]);
    if let Some((_, open)) = tunnel {
        return open(part.after(UDP)?);
    }
    let hidden = HIDDEN.iter().find(|(port, _)| ports.contains(port));
    Err(hidden.map_or(Other::Protocol(17), |(_, name)| Other::Named(name)))
}

fn labels(part: Part) -> Inner {
    Ok((Layer::Labels, part))
}

fn vxlan(part: Part) -> Inner {
    // The flag of a valid identifier.
    match part.byte(0)? & 0x08 {
        0 => Err(Other::Named("VXLAN without an identifier")),
        _ => Ok((Layer::Ethernet, part.after(8)?)),
    }
}

fn vxlan_extended(part: Part) -> Inner {
    let rest = part.after(8)?;
    match part.byte(3)? {
        1 | 2 => Ok((Layer::Ip, rest)),
        3 => Ok((Layer::Ethernet, rest)),
        _ => Err(Other::Named("VXLAN-GPE without a protocol that is read")),
    }
}

fn geneve(part: Part) -> Inner {
    let options = 4 * usize::from(part.byte(0)? & 0x3f);
    Ok((Layer::Typed(part.half(2)?), part.after(8 + options)?))
}

/// GTP-U messages that carry a packet; options follow where one of three flags is set.
fn gtp(part: Part) -> Inner {
    let flags = part.byte(0)?;
    if flags & 0xf0 != 0x30 || part.byte(1)? != 255 {
        return Err(Other::Named("GTP without a packet of a user"));
    }
    if flags & 7 == 0 {
        return Ok((Layer::Ip, part.after(8)?));
    }
    let mut extension = if flags & 4 == 0 { 0 } else { part.byte(11)? };
    let mut rest = part.after(12)?;
    while extension != 0 {
        let length = 4 * usize::from(rest.byte(0)?.max(1));
        extension = rest.byte(length - 1)?;
        rest = rest.after(length)?;
    }
    Ok((Layer::Ip, rest))
}

/// Checksum, key, sequence number and acknowledgement follow the header of GRE, each where its flag is set.
fn gre(part: Part) -> Inner {
    let (flags, protocol) = (part.half(0)?, part.half(2)?);
    let set = |flag: u16| usize::from(flags & flag != 0);
    let sequenced = set(0x1000);
    if set(0x4000) == 1 {
        return Err(Other::Named("GRE with source routes"));
    }
    let acknowledged = if flags & 7 == 1 { set(0x0080) } else { 0 };
    let rest = part.after(4 + 4 * (set(0x8000) + set(0x2000) + sequenced + acknowledged))?;
    match protocol {
        BRIDGED => Ok((Layer::Ethernet, rest)),
        GRE_PPP => Ok((Layer::Ppp, rest)),
        // Only type II, which has its own header, has sequence numbers.
        ERSPAN => Ok((Layer::Ethernet, rest.after(8 * sequenced)?)),
        ERSPAN_3 => erspan_3(rest),
        // No Ethernet type.
        0..=0x05ff => Err(Other::Protocol(47)),
        _ => Ok((Layer::Typed(protocol), rest)),
    }
}

/// The last bit of the header announces another of eight bytes; five bits of it name the protocol of the mirrored
/// packet.
fn erspan_3(part: Part) -> Inner {
    let last = part.half(10)?;
    let rest = part.after(if last & 1 == 0 { 12 } else { 20 })?;
    match last >> 10 & 0x1f {
        2 => Ok((Layer::Ip, rest)),
        _ => Ok((Layer::Ethernet, rest)),
    }
}

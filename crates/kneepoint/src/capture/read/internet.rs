// SPDX-License-Identifier: Apache-2.0 OR MIT
//! IP packets, whole or in fragments, through any tunnels down to TCP.

use core::net::{IpAddr, SocketAddr};

use super::copies::Point;
use super::file::CapturedFrame;
use super::fragments::{Fragment, Fragments, Key};
use super::links::{self, Layer, Part};
use super::others::Other;
use super::{Direction, Segment, tcp, tunnels};
use crate::units::Time;

/// Tunnels within tunnels.
const DEEPEST: u32 = 8;
const TCP: u8 = 6;
/// Headers of IPv6 before the payload: hop-by-hop options, routing, destination options, mobility, HIP, Shim6.
const EXTENSIONS: [u8; 6] = [0, 43, 60, 135, 139, 140];
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;

/// The segment of a packet; `None` for a fragment that others must complete.
pub(super) type Found = Result<Option<(Direction, Segment)>, Other>;

/// Pending data when a file ends.
#[derive(Debug, Default)]
pub(super) struct Leftovers {
    /// Packets of which fragments are missing.
    pub(super) incomplete: Vec<(Point, Found)>,
    /// Fragments without the first of their packet.
    pub(super) lone: u64,
}

/// Parses the frames of one file.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    fragments: Fragments,
}

/// An IP payload.
struct Packet<'a> {
    from: IpAddr,
    to: IpAddr,
    protocol: u8,
    part: Part<'a>,
    /// The identification of IPv4.
    id: Option<u16>,
    fragment: Option<Fragment>,
}

/// The place and time of a packet's capture, and the number of tunnels that it may still be in.
#[derive(Clone, Copy)]
struct Place {
    at: Time,
    point: Point,
    deeper: u32,
}

impl Decoder {
    /// The segment in a frame.
    pub(super) fn segment(&mut self, frame: &CapturedFrame, point: Point) -> Found {
        let part = Part { bytes: frame.bytes, wire: frame.length as usize };
        let (layer, part) = links::begin(frame.link, part)?;
        self.layer(layer, part, Place { at: frame.at, point, deeper: DEEPEST })
    }

    /// Packets that came in fragments and were put together.
    pub(super) fn put_together(&self) -> u64 {
        self.fragments.whole
    }

    /// Ends a file.
    pub(super) fn finish(&mut self) -> Leftovers {
        let (begun, lone) = self.fragments.finish();
        let mut read = |whole: super::fragments::Whole| {
            let Key { point, from, to, protocol, id } = whole.key;
            let part = Part { bytes: &whole.bytes, wire: whole.length };
            let id = u16::try_from(id).ok().filter(|_| from.is_ipv4());
            let packet = Packet { from, to, protocol, part, id, fragment: None };
            (point, self.payload(packet, Place { at: whole.at, point, deeper: DEEPEST }))
        };
        let incomplete = begun.into_iter().map(&mut read).collect();
        Leftovers { incomplete, lone }
    }

    fn layer(&mut self, layer: Layer, part: Part, place: Place) -> Found {
        let deeper = place.deeper.checked_sub(1).ok_or(Other::Named("tunnels in more than eight others"))?;
        let network = links::network(layer, part)?;
        let packet = match network.byte(0)? >> 4 {
            4 => ipv4(network)?,
            6 => ipv6(network)?,
            _ => return Err(Other::Named("packets of neither IPv4 nor IPv6")),
        };
        self.payload(packet, Place { deeper, ..place })
    }

    fn payload(&mut self, packet: Packet, place: Place) -> Found {
        let Packet { from, to, protocol, part, id, fragment } = packet.past_extensions()?;
        if let Some(fragment) = fragment {
            let key = Key { point: place.point, from, to, protocol, id: fragment.id };
            let Some(whole) = self.fragments.add(key, fragment, part, place.at) else { return Ok(None) };
            let deeper =
                place.deeper.checked_sub(1).ok_or(Other::Named("fragments in more than eight others"))?;
            let joined = Part { bytes: &whole.bytes, wire: whole.length };
            let datagram = Packet { from, to, protocol, part: joined, id, fragment: None };
            return self.payload(datagram, Place { at: whole.at, deeper, ..place });
        }
        if protocol != TCP {
            let (layer, part) = tunnels::inner(protocol, part)?;
            return self.layer(layer, part, place);
        }
        let ([source, destination], segment) = tcp::segment(part, place.at)?;
        let direction = (SocketAddr::new(from, source), SocketAddr::new(to, destination));
        Ok(Some((direction, Segment { id, ..segment })))
    }
}

impl<'a> Packet<'a> {
    /// The packet without extension headers, up to the payload or a fragment of it.
    fn past_extensions(self) -> Result<Packet<'a>, Other> {
        let Packet { mut protocol, mut part, mut fragment, .. } = self;
        while fragment.is_none() {
            let length = match protocol {
                FRAGMENT => {
                    let (place, id) = (part.half(2)?, part.word(4)?);
                    let (offset, more) = (usize::from(place & 0xfff8), place & 1 == 1);
                    // A fragment that is the whole packet is none (RFC 6946).
                    fragment = (offset > 0 || more).then_some(Fragment { offset, more, id });
                    8
                }
                AUTHENTICATION => 4 * (usize::from(part.byte(1)?) + 2),
                _ if EXTENSIONS.contains(&protocol) => 8 * (usize::from(part.byte(1)?) + 1),
                _ => break,
            };
            (protocol, part) = (part.byte(0)?, part.after(length)?);
        }
        Ok(Packet { protocol, part, fragment, ..self })
    }
}

fn ipv4(network: Part) -> Result<Packet, Other> {
    let own = usize::from(network.byte(0)? & 15) * 4;
    if own < 20 {
        return Err(Other::Named("malformed IPv4 headers"));
    }
    let (total, id, place) = (network.half(2)?, network.half(4)?, network.half(6)?);
    let after = network.after(own)?;
    // Zero: segmentation offload leaves the length to the network card.
    let length = if total == 0 { after.wire } else { usize::from(total).saturating_sub(own) };
    let (offset, more) = (usize::from(place & 0x1fff) * 8, place & 0x2000 != 0);
    let fragment = Fragment { offset, more, id: u32::from(id) };
    Ok(Packet {
        from: network.word(12)?.to_be_bytes().into(),
        to: network.word(16)?.to_be_bytes().into(),
        protocol: network.byte(9)?,
        part: Part { bytes: &after.bytes[..length.min(after.bytes.len())], wire: length },
        id: Some(id),
        fragment: (offset > 0 || more).then_some(fragment),
    })
}

fn ipv6(network: Part) -> Result<Packet, Other> {
    let after = network.after(40)?;
    // Zero: a jumbogram, or segmentation offload.
    let length = match usize::from(network.half(4)?) {
        0 => after.wire,
        length => length,
    };
    let address = |at: usize| -> Result<IpAddr, Other> {
        let four = [0, 4, 8, 12].map(|place| network.word(at + place));
        let [a, b, c, d] = four;
        let bits = u128::from(a?) << 96 | u128::from(b?) << 64 | u128::from(c?) << 32 | u128::from(d?);
        Ok(IpAddr::from(bits.to_be_bytes()))
    };
    Ok(Packet {
        from: address(8)?,
        to: address(24)?,
        protocol: network.byte(6)?,
        part: Part { bytes: &after.bytes[..length.min(after.bytes.len())], wire: length },
        id: None,
        fragment: None,
    })
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parses pcap in its variants (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng) into frames.

use pcap_parser::nom;
use pcap_parser::pcapng::{Block, InterfaceDescriptionBlock, SHB_MAGIC, parse_block_be, parse_block_le};
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{
    PcapError, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header,
};

use super::Malformed;
use crate::units::Time;

/// The block of a packet before enhanced packet blocks.
const OBSOLETE_PACKET: u32 = 2;

/// File format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Pcap,
    Pcapng,
}

impl Kind {
    /// The format by the magic number.
    pub(super) fn of(bytes: &[u8]) -> Option<Kind> {
        match u32::from_le_bytes(bytes.first_chunk().copied()?) {
            0xa1b2_c3d4 | 0xa1b2_3c4d | 0xa1b2_cd34 | 0xd4c3_b2a1 | 0x4d3c_b2a1 => Some(Kind::Pcap),
            SHB_MAGIC => Some(Kind::Pcapng),
            _ => None,
        }
    }
}

/// A captured frame.
pub(super) struct CapturedFrame<'a> {
    pub(super) at: Time,
    /// Link-layer type, a number of the tcpdump.org registry.
    pub(super) link: i32,
    /// The interface, by its number in its file.
    pub(super) interface: u32,
    pub(super) bytes: &'a [u8],
    /// Length on the wire, in bytes.
    pub(super) length: u32,
}

/// A packet in a file.
pub(super) enum Record<'a> {
    Frame(CapturedFrame<'a>),
    /// A simple packet block of pcapng, which has no time.
    Timeless,
}

/// Reasons for a truncated file.
pub(super) enum End {
    /// It was cut off inside a record, as by a full disk; the part before is whole.
    Cut(Malformed),
    /// The next record is invalid.
    Fault(Malformed),
}

/// Calls `take` for every packet of a file.
pub(super) fn records(bytes: &[u8], take: impl FnMut(Record)) -> Result<(), End> {
    match Kind::of(bytes) {
        Some(Kind::Pcap) => pcap(bytes, take),
        Some(Kind::Pcapng) => pcapng(bytes, take),
        None => Err(End::Fault(fault(0, "neither pcap nor pcapng: unknown magic number"))),
    }
}

fn fault(offset: usize, message: &str) -> Malformed {
    Malformed { offset, message: message.to_string() }
}

/// How the file ends at `offset`, where the part `what` could not be parsed.
fn unreadable(offset: usize, what: &str, error: &nom::Err<PcapError<&[u8]>>) -> End {
    match error {
        nom::Err::Incomplete(_) => {
            End::Cut(fault(offset, &format!("the file ends inside {what} that starts here")))
        }
        _ => End::Fault(fault(offset, &format!("not {what}: its lengths or fields are inconsistent"))),
    }
}

fn pcap(bytes: &[u8], mut take: impl FnMut(Record)) -> Result<(), End> {
    let (mut rest, header) = parse_pcap_header(bytes).map_err(|error| {
        let (End::Cut(malformed) | End::Fault(malformed)) =
            unreadable(0, "a file header of 24 bytes", &error);
        End::Fault(malformed)
    })?;
    let parse = match (header.is_bigendian(), header.is_modified_format()) {
        (true, _) => parse_pcap_frame_be,
        (false, true) => parse_pcap_frame_modified,
        (false, false) => parse_pcap_frame,
    };
    let tick = if header.is_nanosecond_precision() { 1 } else { 1000 };
    while !rest.is_empty() {
        let offset = bytes.len() - rest.len();
        let (after, packet) = parse(rest).map_err(|error| unreadable(offset, "a packet record", &error))?;
        rest = after;
        let at = Time(u64::from(packet.ts_sec) * 1_000_000_000 + u64::from(packet.ts_usec) * tick);
        // The upper half describes the frame check sequence.
        let link = header.network.0 & 0xffff;
        let frame = CapturedFrame { at, link, interface: 0, bytes: packet.data, length: packet.origlen };
        take(Record::Frame(frame));
    }
    Ok(())
}

/// Clock and link-layer type of an interface.
struct Interface {
    link: i32,
    /// Ticks per second.
    resolution: u128,
    /// Seconds to add.
    offset: i64,
}

impl Interface {
    fn new(block: &InterfaceDescriptionBlock) -> Option<Interface> {
        // A power of two if the highest bit is set, otherwise of ten.
        let exponent = u32::from(block.if_tsresol & 0x7f);
        let base: u128 = if block.if_tsresol & 0x80 == 0 { 10 } else { 2 };
        let resolution = base.checked_pow(exponent).filter(|ticks| *ticks < 1 << 64)?;
        Some(Interface { link: block.linktype.0, resolution, offset: block.if_tsoffset })
    }

    fn time(&self, high: u32, low: u32) -> Time {
        let ticks = u128::from(high) << 32 | u128::from(low);
        let nanos =
            (ticks * 1_000_000_000 / self.resolution) as i128 + i128::from(self.offset) * 1_000_000_000;
        Time(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX))
    }
}

/// Whether the byte-order magic of a section is big-endian.
fn is_big_endian(section: &[u8]) -> bool {
    section.get(8..12) == Some(&[0x1a, 0x2b, 0x3c, 0x4d])
}

fn pcapng(bytes: &[u8], mut take: impl FnMut(Record)) -> Result<(), End> {
    let (mut rest, mut big_endian, mut interfaces) = (bytes, false, Vec::new());
    while !rest.is_empty() {
        let offset = bytes.len() - rest.len();
        if rest.starts_with(&SHB_MAGIC.to_le_bytes()) {
            big_endian = is_big_endian(rest);
        }
        let parse = if big_endian { parse_block_be } else { parse_block_le };
        let (after, block) = parse(rest).map_err(|error| unreadable(offset, "a block", &error))?;
        if after.len() >= rest.len() {
            return Err(End::Fault(fault(offset, "the length of a block is at least 12 bytes")));
        }
        rest = after;
        match &block {
            Block::SectionHeader(_) => interfaces.clear(),
            Block::InterfaceDescription(description) => {
                let message = "the timestamp resolution of this interface exceeds 64 bits";
                interfaces
                    .push(Interface::new(description).ok_or_else(|| End::Fault(fault(offset, message)))?);
            }
            Block::EnhancedPacket(packet) => take(Record::Frame(
                Frame {
                    interface: packet.if_id,
                    time: (packet.ts_high, packet.ts_low),
                    bytes: packet.packet_data(),
                    length: packet.origlen,
                }
                .seen(&interfaces, offset)?,
            )),
            Block::Unknown(block)
                if [block.block_type, block.block_type.swap_bytes()].contains(&OBSOLETE_PACKET) =>
            {
                let frame = Frame::obsolete(block.data, big_endian).ok_or_else(|| {
                    End::Fault(fault(offset, "not a packet block: its lengths are inconsistent"))
                })?;
                take(Record::Frame(frame.seen(&interfaces, offset)?));
            }
            Block::SimplePacket(_) => take(Record::Timeless),
            _ => {}
        }
    }
    Ok(())
}

/// A packet in a block of pcapng.
struct Frame<'a> {
    interface: u32,
    /// The higher and the lower half of its time, in ticks of the interface.
    time: (u32, u32),
    bytes: &'a [u8],
    length: u32,
}

impl<'a> Frame<'a> {
    /// From the body of a packet block, which enhanced packet blocks replaced (draft-ietf-opsawg-pcapng, appendix A).
    fn obsolete(body: &'a [u8], big_endian: bool) -> Option<Frame<'a>> {
        let word = |at: usize| {
            let four = body.get(at..at + 4)?.try_into().ok()?;
            Some(if big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) })
        };
        // The interface, in two bytes, and the number of dropped packets, in two more.
        let interface = if big_endian { word(0)? >> 16 } else { word(0)? & 0xffff };
        let captured = usize::try_from(word(12)?).ok()?;
        let bytes = body.get(20..)?.get(..captured)?;
        Some(Frame { interface, time: (word(4)?, word(8)?), bytes, length: word(16)? })
    }

    /// With the clock and the link layer of its interface.
    fn seen(self, interfaces: &[Interface], offset: usize) -> Result<CapturedFrame<'a>, End> {
        let Frame { interface, time: (high, low), bytes, length } = self;
        let Some(known) = interfaces.get(interface as usize) else {
            let message =
                format!("a packet refers to interface {interface} of {} described", interfaces.len());
            return Err(End::Fault(fault(offset, &message)));
        };
        Ok(CapturedFrame { at: known.time(high, low), link: known.link, interface, bytes, length })
    }
}

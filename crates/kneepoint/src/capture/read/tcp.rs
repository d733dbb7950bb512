// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The header of TCP (RFC 9293 §3.1) and those of its options from which signals are derived.
//!
//! A header that a short snapshot length cut off is read up to the cut, and must contain the flags.

use super::Segment;
use super::links::Part;
use super::others::Other;
use crate::units::Time;

/// Up to the flags.
const LEAST: usize = 14;
/// Header without options.
const BASE: usize = 20;
/// No host makes larger packets, not even for a network card that takes them apart.
const LARGEST: usize = 1 << 20;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const ACK: u8 = 0x10;

/// The segment in an IP payload, with its source and destination port.
pub(super) fn segment(part: Part, at: Time) -> Result<([u16; 2], Segment), Other> {
    if part.bytes.len() < LEAST {
        return Err(Other::Named("TCP headers that are cut before their flags"));
    }
    let (own, flags) = (usize::from(part.byte(12)? >> 4) * 4, part.byte(13)?);
    if own < BASE {
        return Err(Other::Named("malformed TCP headers"));
    }
    if part.wire > LARGEST {
        return Err(Other::Named("TCP segments above 1 MiB, which no host sends"));
    }
    let mut segment = Segment {
        at,
        seq: part.word(4)?,
        ack: if flags & ACK == 0 { None } else { Some(part.word(8)?) },
        syn: flags & SYN != 0,
        window: if flags & RST == 0 { part.half(14).ok() } else { None },
        payload: part.wire.saturating_sub(own) as u32,
        cut: part.bytes.len() < own,
        ..Segment::default()
    };
    options(part.bytes.get(BASE..own.min(part.bytes.len())).unwrap_or_default(), &mut segment);
    Ok(([part.half(0)?, part.half(2)?], segment))
}

/// Reads options up to one that is malformed or cut off.
fn options(mut bytes: &[u8], segment: &mut Segment) {
    while let [kind, rest @ ..] = bytes {
        if *kind < 2 {
            if *kind == 0 {
                return;
            }
            bytes = rest;
            continue;
        }
        let Some((length, value)) = rest.split_first().filter(|(length, _)| **length >= 2) else { return };
        let length = usize::from(*length) - 2;
        option(*kind, length, &value[..length.min(value.len())], segment);
        bytes = value.get(length..).unwrap_or_default();
    }
}

fn option(kind: u8, length: usize, value: &[u8], segment: &mut Segment) {
    let word = |four: &[u8]| four.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
    match (kind, value) {
        (2, [high, low]) => segment.mss = Some(u16::from_be_bytes([*high, *low])),
        // The whole ones of truncated blocks.
        (5, blocks) if length.is_multiple_of(8) => {
            let blocks = blocks.chunks_exact(8).map(|block| (word(&block[..4]), word(&block[4..])));
            segment.sack.iter_mut().zip(blocks).for_each(|(place, block)| *place = block);
        }
        (8, value) if value.len() == 8 => {
            segment.timestamps = Some((word(&value[..4]), word(&value[4..])));
        }
        _ => {}
    }
}

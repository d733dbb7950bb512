// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Packets as a script writes them: `< [ect0] S. 0:0(0) ack 1 win 65535 <mss 1000,nop,nop,sackOK,nop,wscale 8>`.
//!
//! Numbers are bytes, relative to the initial sequence number of their side.

use std::ops::Range;

use super::cursor::Cursor;
use crate::fault::Fault;
use crate::packet::{Codepoint, Flags};
use crate::suggest::did_you_mean;

/// The flags of a TCP header in this notation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits {
    pub syn: bool,
    pub fin: bool,
    pub ack: bool,
    /// ECE.
    pub echo: bool,
    /// CWR.
    pub reduced: bool,
    /// AE.
    pub accurate: bool,
    pub reset: bool,
}

impl Bits {
    /// AE, CWR and ECE.
    pub fn flags(&self) -> Flags {
        Flags::default()
            .with_if(self.accurate, Flags::AE)
            .with_if(self.reduced, Flags::CWR)
            .with_if(self.echo, Flags::ECE)
    }
}

const CODEPOINTS: [(&str, Codepoint); 4] = [
    ("noecn", Codepoint::NotCapable),
    ("ect0", Codepoint::Capable0),
    ("ect1", Codepoint::Capable1),
    ("ce", Codepoint::Marked),
];

/// The options of a TCP header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TcpOptions {
    pub mss: Option<u32>,
    pub sack_ok: bool,
    pub scale: Option<u32>,
    /// TSval and TSecr.
    pub stamp: Option<(u32, u32)>,
    /// Any others may follow: `<...>`.
    pub any: bool,
    /// Blocks, in bytes, with their places.
    pub sack: Vec<(u32, u32, Range<usize>)>,
    /// ECEB of AccECN: bytes that arrived marked.
    pub marked: Option<u32>,
}

/// A packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wire {
    /// It goes to the host under test.
    pub inbound: bool,
    pub codepoint: Option<Codepoint>,
    pub bits: Bits,
    pub seq: u32,
    pub length: u32,
    /// The place of sequence numbers and length.
    pub extent: Range<usize>,
    pub ack: Option<(u32, Range<usize>)>,
    pub window: Option<u32>,
    pub options: TcpOptions,
}

impl Wire {
    /// One above its last byte.
    pub fn end(&self) -> u32 {
        self.seq.saturating_add(self.length)
    }
}

/// Protocols whose packets have no place in a subset about TCP.
const PROTOCOLS: [&str; 7] = ["icmp", "udp", "mpls", "gre", "ipv4", "ipv6", "psp"];

/// A packet, behind its time.
pub(super) fn read(cursor: &mut Cursor) -> Result<Wire, Fault> {
    let inbound = cursor.take("<");
    if !inbound {
        cursor.expect(">")?;
    }
    cursor.blank();
    let codepoint = codepoint(cursor)?;
    let bits = bits(cursor)?;
    cursor.blank();
    let began = cursor.at;
    let (seq, length) = extent(cursor)?;
    let mut wire = Wire {
        inbound,
        codepoint,
        bits,
        seq,
        length,
        extent: began..cursor.at,
        ack: None,
        window: None,
        options: TcpOptions::default(),
    };
    rest(cursor, &mut wire)?;
    Ok(wire)
}

fn codepoint(cursor: &mut Cursor) -> Result<Option<Codepoint>, Fault> {
    let began = cursor.at;
    if !cursor.take("[") {
        return Ok(None);
    }
    let name = cursor.run(|c| c != ']' && c != '\n').trim();
    cursor.expect("]")?;
    let found = CODEPOINTS.iter().find(|(known, _)| *known == name);
    let Some((_, codepoint)) = found else {
        let known = CODEPOINTS.map(|(known, _)| known);
        let message = format!("the annotation `{name}` of an IP header is outside the subset");
        return Err(Fault::at(began..cursor.at, message, did_you_mean(name, &known)));
    };
    cursor.blank();
    Ok(Some(*codepoint))
}

fn bits(cursor: &mut Cursor) -> Result<Bits, Fault> {
    let began = cursor.at;
    let word = cursor.run(|c| !c.is_whitespace());
    let place = began..cursor.at;
    if let Some(protocol) = PROTOCOLS.iter().find(|one| word.starts_with(**one)) {
        let message = format!("packets of `{protocol}` are outside the subset");
        return Err(Fault::at(place, message, "leave the packet out: the simulated host speaks TCP alone"));
    }
    if word.is_empty() {
        return Err(cursor.expected("the flags of a packet, as in `.`, `P.`, `S` or `F.`"));
    }
    let mut bits = Bits::default();
    for flag in word.chars() {
        match flag {
            'S' => bits.syn = true,
            'F' => bits.fin = true,
            '.' => bits.ack = true,
            'E' => bits.echo = true,
            'W' => bits.reduced = true,
            'A' => bits.accurate = true,
            // AE, CWR and ECE as a number.
            '0'..='7' => {
                let value = flag as u8 - b'0';
                (bits.accurate, bits.reduced, bits.echo) = (value & 4 != 0, value & 2 != 0, value & 1 != 0);
            }
            // The application decides when to push, not congestion control.
            'P' => {}
            'R' => bits.reset = true,
            other => {
                let message = format!("`{}` is no flag of the subset", other.escape_default());
                return Err(Fault::at(
                    place,
                    message,
                    "write flags of `S`, `F`, `P`, `R`, `E`, `W`, `A`, `.` and a digit for ACE",
                ));
            }
        }
    }
    Ok(bits)
}

/// `seq:end(length)`.
fn extent(cursor: &mut Cursor) -> Result<(u32, u32), Fault> {
    let began = cursor.at;
    let seq = cursor.number("a sequence number, as in `1:1001(1000)`")?;
    cursor.expect(":")?;
    let end = cursor.number("the end of the data, as in `1:1001(1000)`")?;
    cursor.blank();
    cursor.expect("(")?;
    let length = cursor.number("the length of the data, as in `1:1001(1000)`")?;
    cursor.expect(")")?;
    if end.checked_sub(seq) != Some(length) {
        let message = format!("from {seq} to {end} there are not {length} bytes");
        let help = match end.checked_sub(seq) {
            Some(right) => {
                format!("write {seq}:{end}({right}); the subset has no sequence numbers that wrap")
            }
            None => {
                "write the smaller number first; the subset has no sequence numbers that wrap".to_string()
            }
        };
        return Err(Fault::at(began..cursor.at, message, help));
    }
    Ok((seq, length))
}

/// `ack`, `win` and the options, up to the end of the line.
fn rest(cursor: &mut Cursor, wire: &mut Wire) -> Result<(), Fault> {
    loop {
        cursor.blank();
        let began = cursor.at;
        if cursor.is_at_end() || cursor.next_is("\n") {
            return Ok(());
        } else if cursor.take("<") {
            options(cursor, &mut wire.options)?;
            continue;
        }
        match cursor.name() {
            "ack" => {
                cursor.blank();
                let at = cursor.at;
                wire.ack = Some((cursor.number("an acknowledgement number")?, at..cursor.at));
            }
            "win" => {
                cursor.blank();
                wire.window = Some(cursor.number("a receive window")?);
            }
            _ => {
                cursor.at = began;
                return Err(
                    cursor.expected("`ack`, `win`, options between `<` and `>`, or the end of the line")
                );
            }
        }
    }
}

/// The options of a header, behind their `<`. As in packetdrill they fill words of 32 bits.
fn options(cursor: &mut Cursor, options: &mut TcpOptions) -> Result<(), Fault> {
    let (began, mut bytes) = (cursor.at, 0);
    loop {
        cursor.blank();
        if cursor.take(">") {
            let place = began..cursor.at - 1;
            return match (bytes % 4, options.any) {
                (0, _) | (_, true) => Ok(()),
                (over, false) => {
                    let message = format!("the options have {bytes} bytes, which is not a multiple of 4");
                    Err(Fault::at(place, message, format!("add `nop` {} times", 4 - over)))
                }
            };
        }
        bytes += option(cursor, options)?;
        cursor.blank();
        if !cursor.take(",") && !cursor.next_is(">") {
            return Err(cursor.expected("`,` or `>`"));
        }
    }
}

const OPTIONS: [&str; 8] = ["mss", "sackOK", "sack", "TS", "wscale", "ECN", "nop", "eol"];

/// An option, and its length in bytes.
fn option(cursor: &mut Cursor, options: &mut TcpOptions) -> Result<usize, Fault> {
    if cursor.take("...") {
        options.any = true;
        return Ok(0);
    }
    let began = cursor.at;
    let name = cursor.name();
    let place = began..cursor.at;
    cursor.blank();
    Ok(match name {
        "nop" | "eol" => 1,
        "sackOK" => {
            options.sack_ok = true;
            2
        }
        "mss" => {
            options.mss = Some(cursor.number("a segment size")?);
            4
        }
        "wscale" => {
            options.scale = Some(scale(cursor)?);
            3
        }
        "TS" => {
            options.stamp = Some(stamp(cursor)?);
            10
        }
        "sack" => {
            blocks(cursor, &mut options.sack)?;
            2 + 8 * options.sack.len()
        }
        "ECN" => 2 + 3 * counts(cursor, options)?,
        "" => return Err(cursor.expected("a TCP option")),
        other => {
            let message = format!("the TCP option `{other}` is outside the subset");
            return Err(Fault::at(place, message, did_you_mean(other, &OPTIONS)));
        }
    })
}

fn scale(cursor: &mut Cursor) -> Result<u32, Fault> {
    let began = cursor.at;
    let scale = cursor.number("a window scale")?;
    if scale > 14 {
        let message = format!("a window scale of {scale} is above 14, the greatest (RFC 7323)");
        return Err(Fault::at(began..cursor.at, message, "write a number from 0 to 14"));
    }
    Ok(scale)
}

fn stamp(cursor: &mut Cursor) -> Result<(u32, u32), Fault> {
    cursor.expect("val")?;
    cursor.blank();
    let value = cursor.number("a timestamp")?;
    cursor.blank();
    cursor.expect("ecr")?;
    cursor.blank();
    Ok((value, cursor.number("an echoed timestamp")?))
}

/// `e0b 1 ceb 0 e1b 1`, or fewer: how many fields there are.
fn counts(cursor: &mut Cursor, options: &mut TcpOptions) -> Result<usize, Fault> {
    let mut fields = 0;
    loop {
        cursor.blank();
        if cursor.next_is(",") || cursor.next_is(">") {
            return Ok(fields);
        }
        let began = cursor.at;
        let field = cursor.name();
        if !["e0b", "ceb", "e1b"].contains(&field) || fields == 3 {
            cursor.at = began;
            return Err(cursor.expected("`e0b`, `ceb` and `e1b` with their numbers, `,` or `>`"));
        }
        let marked = field == "ceb";
        cursor.blank();
        let value = cursor.number("a number of bytes")?;
        options.marked = if marked { Some(value) } else { options.marked };
        fields += 1;
    }
}

fn blocks(cursor: &mut Cursor, blocks: &mut Vec<(u32, u32, Range<usize>)>) -> Result<(), Fault> {
    loop {
        cursor.blank();
        let began = cursor.at;
        let first = cursor.number("the begin of a block, as in `1001:2001`")?;
        cursor.expect(":")?;
        let end = cursor.number("the end of a block, as in `1001:2001`")?;
        let place = began..cursor.at;
        if end <= first {
            let message = format!("the block {first}:{end} is empty");
            return Err(Fault::at(
                place,
                message,
                "write the byte behind the block second, as in `1001:2001`",
            ));
        }
        blocks.push((first, end, place));
        cursor.blank();
        if cursor.next_is(",") || cursor.next_is(">") {
            return Ok(());
        }
    }
}

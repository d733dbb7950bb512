// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Captures that were exported as CSV, as `tshark -T fields -E header=y -E separator=,` writes them: a line a packet, columns by name.
//!
//! ```text
//! needed      frame.time_relative or frame.time_epoch, tcp.srcport, tcp.dstport, tcp.seq, tcp.len, tcp.ack
//! used        ip.src, ip.dst, ipv6.src, ipv6.dst, ip.id, tcp.flags.syn, tcp.window_size_value, tcp.options.mss_val,
//!             tcp.options.timestamp.tsval, tcp.options.timestamp.tsecr, tcp.options.sack_le, tcp.options.sack_re
//! ```
//!
//! An address that no column gives is that of the same port in packets of the other direction, else 0.0.0.0. Without flags, a packet
//! without data at the relative sequence number zero opens its direction. Lines without ports are packets other than TCP.

use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::collections::BTreeMap;

use super::copies::Point;
use super::{Capture, Malformed, Other, Segment};
use crate::units::Time;

/// A packet without the ports of TCP.
const OTHER: Other = Other::Named("lines without TCP ports");

/// The most data that Linux has in a packet which its network card cuts or joins (BIG TCP).
const LONGEST: u32 = 1 << 19;

/// The columns that an export must have, each by one of its names.
const NEEDED: [&[&str]; 6] = [
    &["frame.time_relative", "frame.time_epoch"],
    &["tcp.srcport"],
    &["tcp.dstport"],
    &["tcp.seq"],
    &["tcp.len"],
    &["tcp.ack"],
];

/// Whether a file is such an export, maybe without columns that it must have: its first line names ports or sequence numbers.
pub fn is_export(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let Ok(line) = std::str::from_utf8(line) else { return false };
    let names: Vec<&str> = fields(line).collect();
    ["tcp.srcport", "tcp.seq"].iter().any(|name| names.contains(name))
}

/// The fields of a line, without quotes. A quoted field may have commas in it.
fn fields(line: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let cut = move |letter: char| {
        quoted ^= letter == '"';
        letter == ',' && !quoted
    };
    line.trim_end_matches('\r').split(cut).map(|field| field.trim().trim_matches('"'))
}

/// Where the columns are.
struct Columns<'t> {
    names: Vec<&'t str>,
}

impl<'t> Columns<'t> {
    fn of(line: &'t str) -> Result<Columns<'t>, String> {
        let columns = Columns { names: fields(line).collect() };
        match NEEDED.iter().find(|names| names.iter().all(|name| !columns.names.contains(name))) {
            Some(missing) => Err(format!("the column {} is missing", missing.join(" or "))),
            None => Ok(columns),
        }
    }

    /// An error if a line has fewer columns than the first one, as the last line of a file that was cut off.
    fn whole(&self, line: &[&str]) -> Result<(), String> {
        match line.len() < self.names.len() {
            true => Err(format!("{} of {} columns", line.len(), self.names.len())),
            false => Ok(()),
        }
    }

    /// Where a column is, if it is there.
    fn get_place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|one| *one == name)
    }

    /// The first field with something in it of the columns of these names.
    fn get<'l>(&self, line: &[&'l str], names: &[&str]) -> Option<&'l str> {
        let places = names.iter().filter_map(|name| self.get_place(name));
        let mut found = places.filter_map(|place| line.get(place).copied());
        found.find(|field| !field.is_empty())
    }

    /// A number up to `most`; an error if what is there is none.
    fn number<T: TryFrom<u32>>(&self, line: &[&str], name: &str, most: u32) -> Result<Option<T>, String> {
        let Some(field) = self.get(line, &[name]) else { return Ok(None) };
        let number = field.parse().ok().filter(|number| *number <= most);
        let number = number.and_then(|number| T::try_from(number).ok());
        number.map(Some).ok_or_else(|| format!("{name}: `{field}` is not a whole number from 0 to {most}"))
    }
}

/// Seconds with up to nine decimals, exactly.
fn seconds(text: &str) -> Option<Time> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let nanos = format!("{part:0<9}").get(..9)?.parse::<u64>().ok()?;
    Some(Time(whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(nanos)?))
}

/// A number in hexadecimal after 0x, else in decimal.
fn identification(text: &str) -> Option<u16> {
    text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |digits| u16::from_str_radix(digits, 16).ok())
}

/// A line of a packet over TCP: addresses as far as they are known, ports, and the rest.
struct Line {
    from: (Option<IpAddr>, u16),
    to: (Option<IpAddr>, u16),
    segment: Segment,
}

fn line(columns: &Columns, fields: &[&str], number: u64) -> Result<Option<Line>, String> {
    let ports = (
        columns.number(fields, "tcp.srcport", u16::MAX.into())?,
        columns.number(fields, "tcp.dstport", u16::MAX.into())?,
    );
    let (Some(from), Some(to)) = ports else { return Ok(None) };
    let time = columns.get(fields, NEEDED[0]).ok_or("a packet without a time")?;
    let at = seconds(time).ok_or_else(|| format!("`{time}` is no time in seconds"))?;
    let seq: u32 = columns.number(fields, "tcp.seq", u32::MAX)?.ok_or("a packet without tcp.seq")?;
    let payload = columns.number(fields, "tcp.len", LONGEST)?.unwrap_or(0);
    let flag = columns.get(fields, &["tcp.flags.syn"]);
    let syn = flag.map_or(seq == 0 && payload == 0, |flag| ["1", "True", "true"].contains(&flag));
    let value = columns.number(fields, "tcp.options.timestamp.tsval", u32::MAX)?;
    let echo = columns.number(fields, "tcp.options.timestamp.tsecr", u32::MAX)?;
    let address = |names: [&str; 2]| columns.get(fields, &names).and_then(|text| text.parse().ok());
    let edges = |name| {
        let text = columns.get(fields, &[name]).unwrap_or_default();
        text.split(',').map(|edge| edge.trim().parse().unwrap_or(0)).chain(std::iter::repeat(0u32))
    };
    let mut sack = [(0, 0); 4];
    let blocks = edges("tcp.options.sack_le").zip(edges("tcp.options.sack_re"));
    sack.iter_mut().zip(blocks).for_each(|(block, told)| *block = told);
    let id = columns.get(fields, &["ip.id"]).and_then(identification).filter(|id| *id > 0);
    // The answer to a SYN acknowledges; the SYN itself has zero there, and so has a capture that does not know.
    let ack = columns.number(fields, "tcp.ack", u32::MAX)?.filter(|ack: &u32| !syn || *ack > 0);
    let segment = Segment {
        number,
        at,
        // Lines are packets of one point of capture: none is a copy of another.
        id: Some(id.unwrap_or(number as u16 | 1)),
        seq,
        ack,
        syn,
        payload,
        sack,
        timestamps: value.zip(echo),
        mss: columns.number(fields, "tcp.options.mss_val", u16::MAX.into())?,
        window: columns.number(fields, "tcp.window_size_value", u16::MAX.into())?,
        cut: columns.get_place("tcp.options.sack_le").is_none(),
    };
    Ok(Some(Line {
        from: (address(["ip.src", "ipv6.src"]), from),
        to: (address(["ip.dst", "ipv6.dst"]), to),
        segment,
    }))
}

impl Capture {
    /// Adds the segments of an export. A line that cannot be read is an error with its place.
    pub fn read_export(&mut self, text: &str) -> Result<(), Malformed> {
        self.files += 1;
        let mut offset = 0;
        let mut lines = text.split_inclusive('\n').enumerate().map(|(number, line)| {
            let place = offset;
            offset += line.len();
            (number, place, line.trim_end())
        });
        let fault = |number: usize, place, message: String| Malformed {
            offset: place,
            message: format!("line {}: {message}", number + 1),
        };
        let Some((_, _, head)) = lines.next() else { return Ok(()) };
        let columns = Columns::of(head).map_err(|message| fault(0, 0, message))?;
        let (mut all, mut known) = (Vec::new(), BTreeMap::new());
        for (number, place, packet) in lines.filter(|(_, _, packet)| !packet.is_empty()) {
            let fields: Vec<&str> = fields(packet).collect();
            let read = columns.whole(&fields).and_then(|()| line(&columns, &fields, number as u64));
            match read.map_err(|message| fault(number, place, message))? {
                Some(line) => all.push(line),
                None => self.skip(OTHER, 1),
            }
        }
        for line in &all {
            for ((address, port), (_, other)) in [(line.from, line.to), (line.to, line.from)] {
                if let Some(address) = address {
                    known.insert((port, other), address);
                }
            }
        }
        let point = Point { file: self.files, interface: 0, place: 0 };
        for Line { from, to, segment } in all {
            let socket = |(address, port): (Option<IpAddr>, u16), other: u16| {
                let found = address.or_else(|| known.get(&(port, other)).copied());
                SocketAddr::new(found.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)), port)
            };
            let direction = (socket(from, to.1), socket(to, from.1));
            self.segments.entry(direction).or_default().entry(point).or_default().push(segment);
        }
        Ok(())
    }
}

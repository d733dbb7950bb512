// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The pictures and the sound in an MPEG transport stream, by their timestamps, while its bytes arrive (ISO/IEC 13818-1).
//!
//! ```text
//! packet        188 bytes from 0x47: a 13-bit identifier (PID), a flag that a unit begins, adaptation field, payload
//! PID 0         table of programs → PID of the first program's table of streams → PIDs of the first video and audio stream
//! unit          a packetized elementary stream (PES) packet: of video a picture, of audio one frame or several
//! PTS, DTS      when it is presented and decoded: 33 bits at 90 kHz, continued across their wrap
//! complete      at the last byte of its declared length; where none is declared, as of video, when the next unit of its stream begins
//! arrival       of its last byte
//! ```
//!
//! Readings: tables fit one packet, as in all common multiplexers. Units without a timestamp are ignored. Bytes that
//! belong to no packet are skipped until the next 0x47.

use kneepoint::units::{Span, Time};

const PACKET: usize = 188;
const SYNC: u8 = 0x47;
/// Stream types of video and of audio in the table of streams.
const VIDEO: [u8; 5] = [0x01, 0x02, 0x10, 0x1b, 0x24];
const AUDIO: [u8; 6] = [0x03, 0x04, 0x0f, 0x11, 0x81, 0x87];
/// Timestamps repeat after this many ticks of 90 kHz.
const WRAP: i64 = 1 << 33;

/// The kind of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A picture.
    Video,
    /// Frames of sound.
    Audio,
}

/// A complete unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its kind.
    pub kind: Kind,
    /// Its presentation time, from the first timestamp of the stream.
    pub presented: Span,
    /// Its decoding time, on the same scale.
    pub decoded: Span,
    /// The arrival of its last byte.
    pub arrived: Time,
}

/// A stream that arrives.
#[derive(Debug)]
pub struct Stream {
    packet: [u8; PACKET],
    filled: usize,
    /// The identifier of the table of streams.
    table: Option<u16>,
    tracks: [Option<Track>; 2],
    /// The first timestamp, and the latest one, of any stream.
    first: Option<i64>,
    latest: i64,
}

/// One of its elementary streams.
#[derive(Clone, Copy, Debug)]
struct Track {
    pid: u16,
    kind: Kind,
    /// The unit that is not complete, and the bytes that it lacks where its length is declared.
    pending: Option<(Unit, Option<usize>)>,
}

impl Default for Stream {
    fn default() -> Stream {
        Stream { packet: [0; PACKET], filled: 0, table: None, tracks: [None; 2], first: None, latest: 0 }
    }
}

impl Stream {
    /// Takes in bytes that arrived at `now`; `complete` is called with every unit that they complete.
    pub fn take(&mut self, mut bytes: &[u8], now: Time, mut complete: impl FnMut(Unit)) {
        while !bytes.is_empty() {
            if self.filled == 0 && bytes[0] != SYNC {
                bytes = &bytes[1..];
                continue;
            }
            let part = bytes.len().min(PACKET - self.filled);
            self.packet[self.filled..self.filled + part].copy_from_slice(&bytes[..part]);
            self.filled += part;
            bytes = &bytes[part..];
            if self.filled == PACKET {
                self.filled = 0;
                let packet = self.packet;
                self.packet(&packet, now, &mut complete);
            }
        }
    }

    /// The units that are complete because no byte follows.
    pub fn end(&mut self, mut complete: impl FnMut(Unit)) {
        for track in self.tracks.iter_mut().flatten() {
            track.pending.take().into_iter().for_each(|(unit, _)| complete(unit));
        }
    }

    /// Whether it has a stream of this kind; none before its tables arrived.
    pub fn has(&self, kind: Kind) -> Option<bool> {
        let known = self.tracks.iter().any(Option::is_some);
        known.then(|| self.tracks.iter().flatten().any(|track| track.kind == kind))
    }

    fn packet(&mut self, packet: &[u8; PACKET], now: Time, complete: &mut impl FnMut(Unit)) {
        let begins = packet[1] & 0x40 != 0;
        let pid = u16::from_be_bytes([packet[1] & 0x1f, packet[2]]);
        let adaptation = if packet[3] & 0x20 != 0 { 1 + usize::from(packet[4]) } else { 0 };
        let damaged = packet[1] & 0x80 != 0;
        let without_payload = packet[3] & 0x10 == 0;
        let Some(payload) = packet.get(4 + adaptation..).filter(|_| !damaged && !without_payload) else {
            return;
        };
        if begins && pid == 0 {
            self.table = section(payload, 0).and_then(first_program).or(self.table);
        } else if begins && Some(pid) == self.table {
            section(payload, 2).into_iter().for_each(|section| self.streams(section));
        } else if let Some(place) =
            self.tracks.iter().position(|track| track.is_some_and(|one| one.pid == pid))
        {
            self.unit(place, begins, payload, now, complete);
        }
    }

    /// The table of streams: the first video stream and the first audio stream.
    fn streams(&mut self, section: &[u8]) {
        let described = |bytes: &[u8]| usize::from(u16::from_be_bytes([bytes[0] & 0x0f, bytes[1]]));
        let Some(skipped) = section.get(7..9).map(described) else { return };
        let mut rest = section.get(9 + skipped..).unwrap_or_default();
        while rest.len() >= 5 {
            let pid = u16::from_be_bytes([rest[1] & 0x1f, rest[2]]);
            for (place, kind, types) in [(0, Kind::Video, &VIDEO[..]), (1, Kind::Audio, &AUDIO[..])] {
                if types.contains(&rest[0]) && self.tracks[place].is_none() {
                    self.tracks[place] = Some(Track { pid, kind, pending: None });
                }
            }
            rest = rest.get(5 + described(&rest[3..5])..).unwrap_or_default();
        }
    }

    /// A packet of an elementary stream.
    fn unit(
        &mut self,
        place: usize,
        begins: bool,
        payload: &[u8],
        now: Time,
        complete: &mut impl FnMut(Unit),
    ) {
        let header = begins.then(|| timestamps(payload));
        let times = header
            .flatten()
            .map(|(presented, decoded)| [decoded, presented].map(|time| self.continued(time)));
        let Some(track) = &mut self.tracks[place] else { return };
        if begins {
            track.pending.take().into_iter().for_each(|(unit, _)| complete(unit));
            let length = payload.get(4..6).map_or(0, |two| usize::from(u16::from_be_bytes([two[0], two[1]])));
            track.pending = times.map(|[decoded, presented]| {
                let lacking = (length > 0).then_some(6 + length);
                (Unit { kind: track.kind, presented, decoded, arrived: now }, lacking)
            });
        }
        if let Some((unit, lacking)) = &mut track.pending {
            unit.arrived = now;
            if let Some(lacking) = lacking {
                *lacking = lacking.saturating_sub(payload.len());
            }
            if *lacking == Some(0) {
                complete(*unit);
                track.pending = None;
            }
        }
    }

    /// A timestamp as time since the first one. Earlier units are presented with it.
    fn continued(&mut self, ticks: i64) -> Span {
        let first = *self.first.get_or_insert_with(|| {
            self.latest = ticks;
            ticks
        });
        let forward = (ticks - self.latest).rem_euclid(WRAP);
        let step = if forward < WRAP / 2 { forward } else { forward - WRAP };
        self.latest += step;
        let since = u64::try_from(self.latest - first).unwrap_or(0);
        Span(since * 100_000 / 9)
    }
}

/// The contents of a table with this identifier, between its length and its checksum.
fn section(payload: &[u8], table: u8) -> Option<&[u8]> {
    let section = payload.get(1 + usize::from(*payload.first()?)..)?;
    let length = usize::from(u16::from_be_bytes([section.get(1)? & 0x0f, *section.get(2)?]));
    section.get(3..3 + length.checked_sub(4)?).filter(|_| section[0] == table)
}

/// The identifier of the first program's table.
fn first_program(section: &[u8]) -> Option<u16> {
    let mut programs = section.get(5..)?.chunks_exact(4);
    programs.find(|one| one[..2] != [0, 0]).map(|one| u16::from_be_bytes([one[2] & 0x1f, one[3]]))
}

/// The presentation and the decoding time at the beginning of a unit.
fn timestamps(payload: &[u8]) -> Option<(i64, i64)> {
    if payload.get(..3)? != [0, 0, 1] {
        return None;
    }
    let flags = payload.get(7)? >> 6;
    let read = |at: usize| {
        let bytes = payload.get(at..at + 5)?;
        let part = |byte: u8, mask: u8| i64::from(byte & mask);
        Some(
            part(bytes[0] >> 1, 0x07) << 30
                | part(bytes[1], 0xff) << 22
                | part(bytes[2] >> 1, 0x7f) << 15
                | part(bytes[3], 0xff) << 7
                | part(bytes[4] >> 1, 0x7f),
        )
    };
    match flags {
        2 => read(9).map(|presented| (presented, presented)),
        3 => read(9).zip(read(14)),
        _ => None,
    }
}

#[cfg(test)]
pub mod tests;

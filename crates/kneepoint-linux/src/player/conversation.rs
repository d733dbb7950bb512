// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One connection: the peer's part of it, and the record of both.

use std::io;

use kneepoint::units::{Span, Time};

use super::path::Path;
use super::plan::{Impairment, MSS, Plan};
use super::receiver::{Ack, Piece, Receiver, Reply};
use super::record::{Played, Record, STAMP_ORIGIN, Segment, Ticks, What};
use super::socket::Application;
use super::stage::{Cue, Stage};
use crate::forge::{self, ACK, SYN};
use crate::frame::{Ecn, Headers, Tuple};

const ECE: u8 = 64;
const CWR: u8 = 128;
/// Option bytes of timestamps, which the announced size of segments includes.
const STAMPS: u32 = 12;
/// The peer's clock at the beginning, in milliseconds.
const PEER_ORIGIN: u32 = 1000;
/// A connection with nothing left to do is observed for this long, plus a round trip, before it ends.
const QUIET: Span = Span::from_millis(60);

pub(super) struct Conversation {
    plan: Plan,
    /// From the peer to the kernel.
    flow: Tuple,
    application: Option<Application>,
    start: Time,
    records: Vec<Record>,
    late: Span,
    failure: Option<String>,
    /// The kernel's first sequence number and timestamp.
    origin: Option<(u32, u32)>,
    receiver: Receiver,
    path: Path,
    /// Bytes written so far, and calls that are still to come.
    written: u32,
    calls: usize,
    /// The number of acknowledgements sent or held back.
    held: u32,
    over: bool,
}

impl Conversation {
    /// A connection that begins now.
    pub fn new(plan: Plan, flow: Tuple, application: Application, now: Time) -> Conversation {
        Conversation {
            receiver: Receiver::new(plan.every, plan.window, plan.sack),
            path: Path::new(&plan),
            calls: plan.writes.len(),
            plan,
            flow,
            application: Some(application),
            start: now,
            records: Vec::new(),
            late: Span::ZERO,
            failure: None,
            origin: None,
            written: 0,
            held: 0,
            over: false,
        }
    }

    pub fn over(&self) -> bool {
        self.over
    }

    /// The player was so late with something of this connection.
    pub fn was_late(&mut self, late: Span) {
        self.late = self.late.max(late);
    }

    /// Ends the connection; `tick` is a tick of the kernel's clock, with its number.
    pub fn finish(mut self, (tick, number): (Time, u64), every: Span) -> Played {
        if let Some(application) = self.application.take()
            && let Err(error) = application.abort()
        {
            self.failure.get_or_insert(format!("the socket could not be reset: {error}"));
        }
        // That tick was before the beginning or after it.
        let back = (tick.0 as i64 - self.start.0 as i64).div_euclid(every.0 as i64);
        let first = Span((tick.0 as i64 - back * every.0 as i64 - self.start.0 as i64) as u64);
        let ticks = Ticks { every, first, number: (number as i64 - back).rem_euclid(4096) as u32 };
        let Conversation { plan, records, late, failure, .. } = self;
        Played { plan, records, late, ticks, failure }
    }

    pub fn on_cue(&mut self, stage: &mut Stage, cue: Cue) {
        if let Err(error) = self.act(stage, cue) {
            self.failure = Some(error.to_string());
            self.over = true;
        }
    }

    fn act(&mut self, stage: &mut Stage, cue: Cue) -> io::Result<()> {
        match cue {
            Cue::Open => self.open(stage)?,
            Cue::Confirm => self.confirm(stage)?,
            Cue::Write(bytes) => self.write(stage, bytes)?,
            Cue::Arrive(piece) => match self.receiver.on_segment(piece) {
                Reply::Now => self.acknowledge(stage)?,
                Reply::Later => {
                    self.held += 1;
                    stage.at(stage.now + self.plan.patience, Cue::Patience(self.held));
                }
            },
            Cue::Patience(held) if held == self.held && self.receiver.pending() => self.acknowledge(stage)?,
            Cue::Patience(_) => {}
            Cue::Answer(ack, stamp) => self.answer(stage, &ack, stamp)?,
            Cue::Resize(room) => {
                self.receiver.resize(room);
                self.acknowledge(stage)?;
            }
            Cue::Rest(records) => self.over |= records == self.records.len(),
            Cue::End => self.over = true,
        }
        Ok(())
    }

    fn open(&mut self, stage: &mut Stage) -> io::Result<()> {
        self.start = stage.now;
        let plan = &self.plan;
        let mss = MSS + if plan.timestamps { STAMPS } else { 0 };
        let mut options = forge::mss(mss as u16);
        if plan.sack {
            options.extend([1, 1, 4, 2]);
        }
        if plan.timestamps {
            options.extend(forge::timestamps(PEER_ORIGIN, 0));
        }
        options.extend([1, 3, 3, plan.scale]);
        let flags = SYN | if plan.ecn { ECE | CWR } else { 0 };
        let window = plan.window.min(u32::from(u16::MAX)) as u16;
        let stamps = plan.timestamps.then_some((PEER_ORIGIN, 0));
        for impairment in &plan.impairments {
            if let Impairment::Window(at, room) = impairment {
                stage.at(stage.now + *at, Cue::Resize(*room));
            }
        }
        stage.at(stage.now + plan.until, Cue::End);
        self.send(stage, Segment { flags, window, stamps, ..Segment::default() }, &options)
    }

    /// The last step of the handshake; the connection is there when the kernel has it.
    fn confirm(&mut self, stage: &mut Stage) -> io::Result<()> {
        let ack = self.receiver.acknowledge();
        let stamp = self.stamp(stage.now);
        self.answer(stage, &ack, stamp)?;
        self.application.as_mut().expect("a socket until the end").accept()?;
        for write in &self.plan.writes {
            stage.at((self.start + write.at).max(stage.now), Cue::Write(write.bytes));
        }
        Ok(())
    }

    fn write(&mut self, stage: &mut Stage, bytes: u32) -> io::Result<()> {
        let at = stage.clock().since(self.start);
        let taken = self.application.as_mut().expect("a socket until the end").write(bytes)?;
        self.was_late(stage.clock().since(self.start + at));
        self.records.push(Record { at, what: What::Wrote(taken) });
        self.written += taken;
        self.calls -= 1;
        if taken < bytes {
            return Err(io::Error::other(format!("the kernel took {taken} of {bytes} bytes")));
        }
        Ok(())
    }

    fn stamp(&self, now: Time) -> u32 {
        PEER_ORIGIN + (now.since(self.start).0 / 1_000_000) as u32
    }

    fn acknowledge(&mut self, stage: &mut Stage) -> io::Result<()> {
        self.held += 1;
        let ack = self.receiver.acknowledge();
        let stamp = self.stamp(stage.now);
        match self.path.answer() {
            Some(Span::ZERO) => self.answer(stage, &ack, stamp)?,
            Some(late) => stage.at(stage.now + late, Cue::Answer(ack, stamp)),
            None => {}
        }
        Ok(())
    }

    /// Hands an acknowledgement to the kernel.
    fn answer(&mut self, stage: &mut Stage, ack: &Ack, stamp: u32) -> io::Result<()> {
        let stamps = self.plan.timestamps.then_some((stamp, ack.echo));
        let mut options = Vec::new();
        if let Some((value, echo)) = stamps {
            let origin = self.origin.map_or(0, |(_, origin)| origin);
            options.extend(forge::timestamps(value, echo.wrapping_add(origin)));
        }
        let (isn, _) = self.origin.unwrap_or_default();
        if !ack.blocks.is_empty() {
            let absolute = |(first, end): &(u32, u32)| (first.wrapping_add(isn), end.wrapping_add(isn));
            options.extend(forge::sack(&ack.blocks.iter().map(absolute).collect::<Vec<_>>()));
        }
        let segment = Segment {
            flags: ACK | if ack.ece { ECE } else { 0 },
            seq: 1,
            length: 0,
            ack: ack.ack,
            window: (ack.window >> self.plan.scale).min(u32::from(u16::MAX)) as u16,
            blocks: ack.blocks.clone(),
            stamps: stamps.map(|(value, echo)| (value, echo.wrapping_add(STAMP_ORIGIN))),
        };
        self.send(stage, segment, &options)?;
        if ack.ack == self.written + 1 && self.calls == 0 {
            stage.at(stage.now + self.plan.rtt + QUIET, Cue::Rest(self.records.len()));
        }
        Ok(())
    }

    fn send(&mut self, stage: &mut Stage, segment: Segment, options: &[u8]) -> io::Result<()> {
        let (isn, _) = self.origin.unwrap_or_default();
        let ack = if segment.flags & ACK == 0 { 0 } else { segment.ack.wrapping_add(isn) };
        let (flags, seq, window) = (segment.flags, segment.seq, segment.window);
        let options = options.to_vec();
        let frame = forge::Segment { seq, ack, flags, options, window, payload: 0, class: 0 };
        let frame = forge::tcp(self.flow, &frame);
        let before = stage.clock();
        self.records.push(Record { at: before.since(self.start), what: What::Inbound(segment) });
        stage.send(&frame)?;
        self.was_late(stage.clock().since(before));
        Ok(())
    }

    /// The kernel sent this; `flags` is the byte of its header.
    pub fn on_frame(&mut self, stage: &mut Stage, headers: &Headers, flags: u8) {
        let Some(tcp) = headers.tcp.filter(|tcp| !tcp.rst) else {
            self.failure = Some("the kernel reset the connection".into());
            self.over = true;
            return;
        };
        let stamp = tcp.options.timestamps.map_or(0, |(value, _)| value);
        let fresh = self.origin.is_none();
        let (isn, origin) = *self.origin.get_or_insert((tcp.seq, stamp));
        let first = tcp.seq.wrapping_sub(isn);
        let stamp = stamp.wrapping_sub(origin);
        let segment = Segment {
            flags,
            seq: first,
            length: headers.payload,
            ack: tcp.ack.unwrap_or(0),
            window: tcp.window,
            blocks: Vec::new(),
            stamps: tcp.options.timestamps.map(|(_, echo)| (stamp.wrapping_add(STAMP_ORIGIN), echo)),
        };
        self.records.push(Record { at: stage.now.since(self.start), what: What::Outbound(segment) });
        if tcp.syn {
            if fresh {
                self.receiver.opened(stamp);
                stage.at(stage.now + self.plan.rtt, Cue::Confirm);
            }
            return;
        }
        let capable = headers.ecn != Ecn::Not;
        let whole = Piece { first, length: headers.payload, stamp, marked: false, cwr: tcp.cwr };
        for piece in pieces(whole) {
            for (at, arrived) in self.path.carry(stage.now, piece) {
                let marked = arrived.marked && capable;
                stage.at(at, Cue::Arrive(Piece { marked, ..arrived }));
            }
        }
    }
}

/// A long segment cut as a device cuts it: the first says that the window was reduced.
fn pieces(whole: Piece) -> impl Iterator<Item = Piece> {
    let count = whole.length.div_ceil(MSS).max(1);
    (0..count).map(move |at| Piece {
        first: whole.first + at * MSS,
        length: (whole.length - at * MSS).min(MSS),
        cwr: whole.cwr && at == 0,
        ..whole
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_segment_is_cut_and_an_empty_one_stays() {
        let cut = |length| {
            let whole = Piece { first: 5, length, cwr: true, ..Piece::default() };
            pieces(whole).map(|one| (one.first, one.length, one.cwr)).collect::<Vec<_>>()
        };
        assert_eq!(cut(2500), [(5, 1000, true), (1005, 1000, false), (2005, 500, false)]);
        assert_eq!(cut(0), [(5, 0, true)]);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One direction of a connection's payload: sent, received and acknowledged data.

use std::collections::VecDeque;

use kneepoint::packet::Block;
use kneepoint::units::{Bytes, Span, Time};

use super::ranges::Ranges;
use crate::frame::Tcp;

/// The shortest silence before a retransmission that is a timeout's: Linux's `TCP_RTO_MIN`.
const SILENCE: Span = Span::from_millis(200);
/// The payload of a full packet over Ethernet with timestamps, until the connection shows another.
const USUAL_MSS: u32 = 1448;
/// The bytes that timestamps take from every segment.
const TIMESTAMPS: u32 = 12;
/// The number of kept timestamps: four seconds of a millisecond clock.
const STAMPS: usize = 4096;

/// A range of bytes sent at once.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: u64,
    to: u64,
    /// Its last transmission.
    sent: Time,
    /// The timestamp of that.
    stamp: Option<u32>,
    again: bool,
    /// A block covered it.
    sacked: bool,
}

/// The reason why bytes are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// At least one is new.
    New,
    /// A recovery episode begins.
    Repair,
    /// A timer expired.
    Timeout,
    /// A recovery episode is in progress, or a probe.
    Other,
}

/// A segment that was sent.
pub(super) struct Sent {
    pub(super) seq: u32,
    pub(super) again: Again,
}

/// The news in a packet of the peer.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) acked: Bytes,
    pub(super) rtt: Option<Span>,
    /// Beginning, delivery and size of a transfer whose end was acknowledged.
    pub(super) completed: Option<(Time, Time, Bytes)>,
}

/// Offsets count bytes from the first after the SYN, in 64 bits.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// The sequence number of offset zero, once one was seen.
    base: Option<u32>,
    /// The time of its SYN, unless it was sent twice or has been answered.
    syn: Option<Time>,
    /// The greatest payload that its own end announced that it receives.
    announced: Option<u16>,
    mss: Option<u32>,
    una: u64,
    high: u64,
    pieces: VecDeque<Piece>,
    /// The first use of its latest timestamps.
    stamps: VecDeque<(u32, Time)>,
    sacked: Ranges,
    received: Ranges,
    /// The receiver's data in order, and the time of its arrival.
    next: u64,
    delivered: Time,
    began: Option<Time>,
    fin: Option<u64>,
    finished: bool,
    closed: bool,
    duplicates: u32,
    /// A recovery episode lasts until everything below it is acknowledged.
    point: u64,
    /// The time of the last packet in either direction.
    active: Time,
}

impl Stream {
    /// Whether this SYN opened it.
    pub(super) fn opened_by(&self, isn: u32) -> bool {
        !self.closed && self.base == Some(isn.wrapping_add(1))
    }

    /// Its end sends a SYN, or a SYN with an acknowledgement.
    pub(super) fn open(&mut self, tcp: &Tcp, now: Time) {
        self.syn = if self.base.is_none() { Some(now) } else { None };
        self.base.get_or_insert(tcp.seq.wrapping_add(1));
        self.announced = tcp.options.mss;
        self.active = now;
    }

    /// The transfer begins; returns whether this was its first start.
    pub(super) fn begin(&mut self, now: Time) -> bool {
        let begins = self.began.is_none();
        self.began.get_or_insert(now);
        begins
    }

    pub(super) fn has_begun(&self) -> bool {
        self.began.is_some()
    }

    pub(super) fn is_open(&self) -> bool {
        self.began.is_some() && !self.closed
    }

    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }

    /// Closes it; returns whether it was open.
    pub(super) fn close(&mut self) -> bool {
        let closes = self.is_open();
        self.closed = true;
        self.pieces.clear();
        closes
    }

    /// Its end sends a FIN with this sequence number.
    pub(super) fn finish(&mut self, seq: u32) {
        if let Some(offset) = self.offset(seq) {
            self.fin = Some(offset);
        }
    }

    /// Its end sends payload.
    pub(super) fn send(&mut self, tcp: &Tcp, payload: u32, now: Time) -> Sent {
        self.base.get_or_insert(tcp.seq);
        let mss = *self.mss.get_or_insert(payload.max(1));
        let from = self.offset(tcp.seq).unwrap_or(self.high);
        let to = from + u64::from(payload);
        if tcp.fin {
            self.fin = Some(to);
        }
        let stamp = tcp.options.timestamps.map(|(value, _)| value);
        let again = if to > self.high {
            let piece =
                Piece { from: from.max(self.high), to, sent: now, stamp, again: false, sacked: false };
            self.pieces.push_back(piece);
            self.high = to;
            Again::New
        } else {
            self.resend(from, to, stamp, now)
        };
        if let Some(stamp) = stamp
            && self.stamps.back().is_none_or(|last| last.0 != stamp)
        {
            if self.stamps.len() == STAMPS {
                self.stamps.pop_front();
            }
            self.stamps.push_back((stamp, now));
        }
        self.active = now;
        Sent { seq: (from / u64::from(mss)) as u32, again }
    }

    fn resend(&mut self, from: u64, to: u64, stamp: Option<u32>, now: Time) -> Again {
        let silent = now.since(self.active) >= SILENCE;
        let first = self.pieces.partition_point(|piece| piece.to <= from);
        for piece in self.pieces.range_mut(first..).take_while(|piece| piece.from < to) {
            (piece.sent, piece.stamp, piece.again) = (now, stamp, true);
        }
        let lost = self.duplicates > 0 || !self.sacked.is_empty();
        let why = if silent && from <= self.una {
            Again::Timeout
        } else if lost && from >= self.point {
            Again::Repair
        } else {
            return Again::Other;
        };
        self.point = self.high;
        why
    }

    /// Its receiver gets payload, this much of which is new.
    pub(super) fn arrived(&mut self, seq: u32, payload: u32, now: Time) -> Bytes {
        let Some(from) = self.offset(seq) else { return Bytes(0) };
        // Segments below `known` were forgotten, and are reported again.
        let (known, mut fresh) = (self.next, 0);
        self.received.add(from, from + u64::from(payload), |new, end| {
            fresh += end.saturating_sub(new.max(known));
        });
        let next = self.received.reach(self.next);
        if next > self.next {
            (self.next, self.delivered) = (next, now);
            self.received.forget_below(next);
        }
        Bytes(fresh)
    }

    /// Its sender is handed a packet of the peer.
    pub(super) fn hear(&mut self, tcp: &Tcp, now: Time) -> Option<Heard> {
        let ack = self.offset(tcp.ack?)?;
        self.active = now;
        if tcp.syn {
            self.negotiate(tcp);
            let rtt = self.syn.take().map(|sent| now.since(sent));
            return Some(Heard { rtt, ..Heard::default() });
        }
        let echo = tcp.options.timestamps.map(|(_, echo)| echo);
        let known = ack.min(self.high);
        let acked = known.saturating_sub(self.una);
        let mut newest = None;
        if acked > 0 {
            self.una = known;
            self.duplicates = 0;
            while let Some(piece) = self.pieces.pop_front_if(|piece| piece.to <= known) {
                newest = if piece.sacked { newest } else { Some(piece) };
            }
            self.sacked.forget_below(known);
        }
        let marked = self.mark(tcp);
        // An acknowledgement that covers both was caused by the part that it covers in order (RFC 7323 §4.3).
        newest = newest.or(marked);
        if acked == 0 && ack == self.una && self.high > self.una && marked.is_none() {
            self.duplicates += u32::from(tcp.options.blocks().next().is_none());
        }
        let rtt = newest.filter(|piece| piece.told_by(echo)).map(|piece| now.since(piece.sent));
        let ended = self.fin.is_some_and(|fin| fin <= self.high && ack > fin) && !self.finished;
        self.finished |= ended;
        // Data on another path is known only by its acknowledgement.
        let delivered = if self.next >= self.high { self.delivered } else { now };
        let completed =
            (ended && self.high > 0).then(|| (self.began.unwrap_or(now), delivered, Bytes(self.high)));
        Some(Heard { acked: Bytes(acked), rtt, completed })
    }

    /// The payload of its segments, once it is known.
    pub(super) fn mss(&self) -> Option<u32> {
        self.mss
    }

    /// Its segments have the same payload as in the other direction.
    pub(super) fn adopt(&mut self, mss: Option<u32>) {
        self.mss = self.mss.or(mss);
    }

    /// The answer to its SYN: segments have the payload that both ends accept.
    fn negotiate(&mut self, tcp: &Tcp) {
        let least = self.announced.into_iter().chain(tcp.options.mss).min();
        if let (Some(mss), None) = (least.map(u32::from), self.mss) {
            let options = if tcp.options.timestamps.is_some() { TIMESTAMPS } else { 0 };
            self.mss = Some(mss.saturating_sub(options).max(1));
        }
    }

    /// Takes in the blocks of a packet: the newest piece that they newly cover.
    fn mark(&mut self, tcp: &Tcp) -> Option<Piece> {
        let mut newest: Option<Piece> = None;
        for (first, end) in tcp.options.blocks() {
            let (Some(first), Some(end)) = (self.offset(first), self.offset(end)) else { continue };
            let (first, end) = (first.max(self.una), end.min(self.high));
            let pieces = &mut self.pieces;
            self.sacked.add(first, end, |from, to| {
                let place = pieces.partition_point(|piece| piece.to <= from);
                for piece in pieces.range_mut(place..).take_while(|piece| piece.from < to) {
                    piece.sacked = true;
                    newest = newest.filter(|newest| newest.from > piece.from).or(Some(*piece));
                }
            });
        }
        newest
    }

    /// Segments outstanding.
    pub(super) fn in_flight(&self) -> f64 {
        (self.high - self.una).saturating_sub(self.sacked.bytes()) as f64 / f64::from(self.segment())
    }

    /// The segment and the blocks that a packet of the peer acknowledges.
    pub(super) fn answered(&self, tcp: &Tcp) -> (u32, [Block; 3]) {
        let whole = |offset: u64| match offset {
            all if all >= self.high => self.high.div_ceil(u64::from(self.segment())) as u32,
            part => (part / u64::from(self.segment())) as u32,
        };
        let next = tcp.ack.and_then(|ack| self.offset(ack)).map_or(0, whole);
        let mut blocks = [(0, 0); 3];
        for (place, (first, end)) in blocks.iter_mut().zip(tcp.options.blocks()) {
            if let (Some(first), Some(end)) = (self.offset(first), self.offset(end)) {
                *place = (whole(first), whole(end));
            }
        }
        (next, blocks)
    }

    /// The sending time of the first packet whose timestamp this echoes.
    pub(super) fn echoed(&self, tcp: &Tcp) -> Option<Time> {
        let (_, echo) = tcp.options.timestamps?;
        let place = self.stamps.partition_point(|(stamp, _)| !reached(*stamp, echo));
        self.stamps.get(place).filter(|(stamp, _)| *stamp == echo).map(|(_, sent)| *sent)
    }

    fn segment(&self) -> u32 {
        self.mss.unwrap_or(USUAL_MSS)
    }

    /// The offset of a sequence number: of the possible ones, the nearest to the last sent.
    fn offset(&self, seq: u32) -> Option<u64> {
        let near = seq.wrapping_sub(self.base?).wrapping_sub(self.high as u32).cast_signed();
        Some(self.high.saturating_add_signed(i64::from(near)))
    }
}

impl Piece {
    /// Whether an acknowledgement with this echo distinguishes its last transmission from earlier ones.
    fn told_by(&self, echo: Option<u32>) -> bool {
        !self.again || echo.zip(self.stamp).is_some_and(|(echo, stamp)| reached(echo, stamp))
    }
}

/// Whether a clock that wraps shows `stamp` or later.
fn reached(clock: u32, stamp: u32) -> bool {
    clock.wrapping_sub(stamp).cast_signed() >= 0
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The host under test: a sender in simulated time, its packets, and the surrounding packets that no sender makes.

use std::collections::VecDeque;
use std::sync::Arc;

use super::ecn::Flagging;
use super::inbound::{self, Clocks};
use super::plan::{Agreed, Arrival, Expected};
use super::ticks::Ticks;
use crate::cc;
use crate::packet::{Codepoint, Flags, Packet};
use crate::rng::Rng;
use crate::tcp::{Info, Options, Segment, Sender};
use crate::units::{Bytes, Span, Time};

/// The kind of a packet of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SegmentKind {
    /// It opens the connection.
    Syn,
    /// Data.
    Data,
    /// The end of the data.
    Fin,
    /// It acknowledges.
    Ack,
    /// It asks whether a closed window has opened.
    Probe,
}

/// A packet that the host sent, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub at: Time,
    pub kind: SegmentKind,
    pub seq: u32,
    pub length: u32,
    pub flags: Flags,
}

/// More packets or wake-ups between two events mean an endless loop of the host.
const RESTLESS: u32 = 1_000_000;

/// The host.
pub(super) struct Subject {
    sender: Sender,
    rng: Rng,
    agreed: Agreed,
    pub now: Time,
    /// Everything sent.
    pub sent: Vec<Sent>,
    /// One above the greatest segment sent.
    high: u32,
    /// Bytes written.
    written: u32,
    closed: bool,
    ended: bool,
    finished: bool,
    opening: bool,
    opened_at: Time,
    flagging: Flagging,
    clocks: Clocks,
    /// The lead of the sender's clock, so that ticks and milliseconds begin together, as in a kernel.
    ahead: Span,
    steps: u32,
    ticks: Option<Ticks>,
    /// The expiry of the recorded host's timers, in order; past ones are removed.
    expiries: VecDeque<Time>,
    replays: bool,
    /// The sender's next timer, and the time at which the machine fires it.
    alarm: (Time, Time),
}

impl Subject {
    pub fn new(options: Options, agreed: Agreed, controller: &cc::Config, ticks: Option<Ticks>) -> Subject {
        Subject {
            sender: Sender::writable(Arc::new(options), controller),
            rng: Rng::stream(1, "drill", 0),
            agreed,
            now: Time::ZERO,
            sent: Vec::new(),
            high: 0,
            written: 0,
            closed: false,
            ended: false,
            finished: false,
            opening: false,
            opened_at: Time::ZERO,
            flagging: Flagging::new(agreed.ecn),
            clocks: Clocks::default(),
            ahead: ticks.map_or(Span::ZERO, Ticks::until_whole),
            steps: 0,
            ticks,
            expiries: VecDeque::new(),
            replays: false,
            alarm: (Time::NEVER, Time::NEVER),
        }
    }

    /// As above, with timers that expire when the recorded host's did, if both are set for that time to within a tick:
    /// the comparison then covers the consequences of an expiry, not the phase of a clock.
    pub fn following(self, expiries: VecDeque<Time>) -> Subject {
        Subject { expiries, replays: true, ..self }
    }

    pub fn info(&mut self) -> Info {
        self.sender.info()
    }

    /// The time of the sender.
    fn clock(&self) -> Time {
        self.now + self.ahead
    }

    /// Whether it sent or woke up so often that it would never end.
    pub fn is_restless(&self) -> bool {
        self.steps > RESTLESS
    }

    /// Opens the connection, or answers the packet that does.
    pub fn open(&mut self) {
        self.opening = true;
        self.opened_at = self.clock();
        self.pump();
    }

    /// A lost answer is retransmitted.
    pub fn open_again(&mut self, flags: Flags, seen: Codepoint) {
        self.flagging.receive_syn(flags, seen);
        self.push(SegmentKind::Syn, 0, 0, Flags::SYN.with(Flags::ACK));
    }

    /// The handshake is over by a packet with these flags, and the peer has room for `window` bytes.
    pub fn opened(&mut self, window: Option<u64>, flags: Flags, pure: bool) {
        self.opening = false;
        let flags = Flags::SYN.with(self.flagging.opening(flags, pure));
        let packet = Packet::ack(0, 0, 40, flags, self.opened_at, [(0, 0); 3]);
        let packet = inbound::with_window(packet, window, self.agreed);
        self.sender.on_ack(&packet, self.now + self.ahead, &mut self.rng);
    }

    /// The side that opened the connection acknowledges the answer, which had this codepoint.
    pub fn answer(&mut self, seen: Codepoint) {
        self.flagging.receive(seen);
        self.confirm(seen);
        self.pump();
    }

    /// It acknowledges the answer once more; no mark is counted twice (§3.2.2.2).
    pub fn confirm(&mut self, seen: Codepoint) {
        let flags = self.flagging.of_last(seen);
        self.sent.push(Sent { at: self.now, kind: SegmentKind::Ack, seq: 1, length: 0, flags });
    }

    pub fn arrive(&mut self, arrival: &Arrival) {
        if std::mem::take(&mut self.opening) {
            self.opened(arrival.window, arrival.flags, arrival.blocks[0].1 == 0);
            self.pump();
        }
        self.flagging.receive(arrival.codepoint);
        if let Some((value, _)) = arrival.stamp {
            self.clocks.peer.get_or_insert((value, self.clock()));
        }
        let packet = inbound::packet(arrival, self.clocks, self.clock());
        let packet = inbound::with_window(packet, arrival.window, self.agreed);
        self.sender.on_ack(&packet, self.now + self.ahead, &mut self.rng);
        self.pump();
        if arrival.fin && !std::mem::replace(&mut self.finished, true) {
            let end = self.end() + u32::from(self.ended);
            self.push(SegmentKind::Ack, end, 0, Flags::ACK);
        }
    }

    pub fn write(&mut self, bytes: u32) {
        self.written += bytes;
        self.sender.write(Bytes(bytes.into()), self.now + self.ahead);
        self.pump();
    }

    pub fn close(&mut self) {
        self.closed = true;
        self.sender.close();
        self.pump();
        self.end_if_all_is_sent();
    }

    /// The first timestamp of the host has this value.
    pub fn set_clock(&mut self, expected: &Expected, at: Time) {
        if let (None, Some(value)) = (self.clocks.host, expected.stamp) {
            self.clocks.host = Some((value, at + self.ahead));
        }
    }

    /// Lets time pass until `until`.
    pub fn advance(&mut self, until: Time) {
        while self.wake(until) {}
        self.now = self.now.max(until);
    }

    /// Advances time until something is sent in addition to `seen`, or until `until`.
    pub fn advance_to_packet(&mut self, seen: usize, until: Time) {
        while self.sent.len() <= seen && self.wake(until) {}
    }

    /// Wakes the sender once, if it has a timer by `until`.
    fn wake(&mut self, until: Time) -> bool {
        let wakeup = self.alarm();
        if wakeup > until || wakeup == Time::NEVER || self.is_restless() {
            return false;
        }
        self.steps += 1;
        self.now = self.now.max(wakeup);
        self.sender.on_wakeup(self.now + self.ahead);
        self.pump();
        true
    }

    /// The time at which the machine wakes the sender. It is queried whenever the sender may have changed its timer.
    fn alarm(&mut self) -> Time {
        let wanted = match self.sender.next_wakeup(self.clock()) {
            Time::NEVER => Time::NEVER,
            wakeup => Time(wakeup.0.saturating_sub(self.ahead.0)),
        };
        if self.alarm.0 != wanted {
            let expiry = self.ticks.map_or(wanted, |ticks| self.expiry(ticks, wanted));
            self.alarm = (wanted, expiry);
        }
        self.alarm.1
    }

    fn expiry(&mut self, ticks: Ticks, wanted: Time) -> Time {
        while self.expiries.pop_front_if(|expiry| ticks.before(*expiry) <= self.now).is_some() {}
        let (first, last) = ticks.bounds(self.now, wanted);
        let (due, tick) = (ticks.expiry(self.now, wanted), ticks.every);
        if self.replays {
            // Packets sent by a timer are seen some microseconds after the tick. A timer without a visible effect had
            // one more tick: an acknowledgement may have come just before it.
            let recorded = self.expiries.front().map(|expiry| ticks.before(*expiry));
            return recorded.filter(|expiry| (first..=last).contains(expiry)).unwrap_or(due + tick);
        }
        due
    }

    fn pump(&mut self) {
        while !self.is_restless()
            && let Some(segment) = self.sender.poll(self.now + self.ahead)
        {
            self.steps += 1;
            self.send(segment);
        }
        self.end_if_all_is_sent();
    }

    fn send(&mut self, segment: Segment) {
        let una = self.sender.una();
        let below = |seq| (self.sender.acked() + self.sender.payload_between(una, seq)).0 as u32;
        let (kind, seq, length) = match () {
            () if segment.flags.has(Flags::SYN) => (SegmentKind::Syn, 0, 0),
            // A probe of a closed window carries the byte before the first that is missing, and no data.
            () if segment.flags.has(Flags::PROBE) => (SegmentKind::Probe, below(una), 0),
            () => {
                let first = below(segment.seq);
                (SegmentKind::Data, first.saturating_add(1), below(segment.seq + 1) - first)
            }
        };
        if kind == SegmentKind::Data {
            self.high = self.high.max(segment.seq + 1);
        }
        let answers = kind == SegmentKind::Syn && self.agreed.answers;
        self.push(kind, seq, length, segment.flags.with_if(answers, Flags::ACK));
    }

    fn push(&mut self, kind: SegmentKind, seq: u32, length: u32, flags: Flags) {
        let flags = match kind {
            SegmentKind::Syn => self.flagging.of_syn(flags),
            _ => self.flagging.of_other(flags),
        };
        self.sent.push(Sent { at: self.now, kind, seq, length, flags });
    }

    /// One above the last byte written.
    fn end(&self) -> u32 {
        self.written + 1
    }

    fn end_if_all_is_sent(&mut self) {
        if self.closed && !self.ended && self.sender.total().is_some_and(|total| self.high >= total) {
            self.ended = true;
            self.push(SegmentKind::Fin, self.end(), 0, Flags::ACK);
        }
    }
}

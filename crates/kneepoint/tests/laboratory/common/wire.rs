// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One transfer between a sender and a receiver over a test network in virtual time, checked at every step.
//!
//! A law decides the fate of each packet. For any decision, the network checks the promises of a transfer at both ends:
//! the receiver's edge is the first segment that did not arrive, its blocks name only what
//! arrived, the sender believes nothing else, its window is finite and at least one packet, and no more than the
//! receiver's window is outstanding.

use std::collections::BTreeMap;
use std::sync::Arc;

use kneepoint::cc;
use kneepoint::packet::{Flags, Packet};
use kneepoint::rng::Rng;
use kneepoint::tcp::{Heard, Options, Receiver, Recovery, Reply, Segment, Sender, Woken};
use kneepoint::units::{Bytes, Span, Time};

/// The direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the sender.
    Data,
    /// From the receiver.
    Ack,
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives after the delay.
    Pass,
    /// It is lost.
    Lose,
    /// It arrives later by this much; others may overtake it.
    Late(Span),
    /// It arrives, and once more that much later.
    Twice(Span),
    /// It arrives with a congestion mark.
    Mark,
}

/// Both ends and the network between them.
pub struct Transfer<F> {
    pub sender: Sender,
    pub receiver: Receiver,
    pub now: Time,
    /// One way.
    pub delay: Span,
    /// The transmission time of a data packet.
    pub gap: Span,
    /// Every packet sent, in order, with its time.
    pub sent: Vec<(Time, Segment)>,
    /// Every acknowledgement that reached the sender, in order.
    pub heard: Vec<(Time, Reply)>,
    /// The times at which the timer expired.
    pub timeouts: Vec<Time>,
    /// The time at which duplicates or blocks began a recovery episode.
    pub repairs: Vec<Time>,
    law: F,
    options: Arc<Options>,
    size: Bytes,
    /// The payload of each segment that there is so far.
    lengths: Vec<u64>,
    /// Whether more may be written.
    open: bool,
    /// The times at which the sender reported that everything written so far is acknowledged.
    pub drained: Vec<Time>,
    free: Time,
    travelling: BTreeMap<(Time, u64), (Way, Packet)>,
    number: u64,
    acks: u32,
    arrived: Vec<bool>,
    edge: u32,
    una: u32,
    acked: Bytes,
    rng: Rng,
}

impl<F: FnMut(Way, u32, &Packet) -> Fate> Transfer<F> {
    /// A transfer of `packets` full packets over 50 ms each way; `law` receives the number of each packet.
    pub fn new(options: &Options, controller: &cc::Config, packets: u32, law: F) -> Transfer<F> {
        Transfer::of(options, controller, Bytes(u64::from(packets) * options.payload.0), law)
    }

    /// A transfer of `size` bytes.
    pub fn of(options: &Options, controller: &cc::Config, size: Bytes, law: F) -> Transfer<F> {
        let options = Arc::new(options.clone());
        let sender = Sender::new(Arc::clone(&options), controller, Some(size));
        let mut transfer = Transfer::between(sender, options, law);
        transfer.lay(size);
        transfer.open = false;
        transfer
    }

    /// A connection into which a test writes.
    pub fn writable(options: &Options, controller: &cc::Config, law: F) -> Transfer<F> {
        let options = Arc::new(options.clone());
        Transfer::between(Sender::writable(Arc::clone(&options), controller), options, law)
    }

    fn between(sender: Sender, options: Arc<Options>, law: F) -> Transfer<F> {
        Transfer {
            receiver: Receiver::new(&options, sender.controller().marks()),
            sender,
            now: Time::ZERO,
            delay: Span::from_millis(50),
            gap: Span::from_micros(100),
            sent: Vec::new(),
            heard: Vec::new(),
            timeouts: Vec::new(),
            repairs: Vec::new(),
            law,
            options,
            size: Bytes(0),
            lengths: Vec::new(),
            open: true,
            drained: Vec::new(),
            free: Time::ZERO,
            travelling: BTreeMap::new(),
            number: 0,
            acks: 0,
            arrived: Vec::new(),
            edge: 0,
            una: 0,
            acked: Bytes(0),
            rng: Rng::stream(1, "transfer", 0),
        }
    }

    /// Writes more data.
    pub fn write(&mut self, size: Bytes) {
        self.lay(size);
        self.sender.write(size, self.now);
    }

    /// Writes nothing more.
    pub fn close(&mut self) {
        self.open = false;
        self.sender.close();
    }

    /// Lays more data out in segments: the last is filled up if it was not sent.
    fn lay(&mut self, size: Bytes) {
        let full = self.options.payload.0;
        let last = self.lengths.len() as u32;
        let sent = |(_, one): &(Time, Segment)| one.seq + 1 == last && !one.flags.has(Flags::SYN);
        let mut left = size.0;
        if !self.sent.iter().any(sent)
            && let Some(length) = self.lengths.last_mut()
        {
            let more = left.min(full - *length);
            *length += more;
            left -= more;
        }
        while left > 0 {
            self.lengths.push(left.min(full));
            left -= left.min(full);
        }
        self.arrived.resize(self.lengths.len(), false);
        self.size += size;
    }

    /// Runs to the end, which must come before `deadline`, and checks that everything arrived.
    pub fn complete(&mut self, deadline: Span) {
        self.advance(Time::ZERO + deadline);
        assert!(self.sender.done(), "not done by {deadline}: {:#?}", self.sender);
        assert_eq!(self.edge as usize, self.arrived.len(), "done before everything arrived");
        assert_eq!(self.acked, self.size, "acknowledged bytes");
        assert_eq!(self.sender.next_wakeup(self.now), Time::NEVER, "a timer outlives the transfer");
        assert_eq!(self.sender.poll(self.now), None, "a packet after the end");
    }

    /// Runs until the transfer is done or nothing happens by `until`.
    pub fn advance(&mut self, until: Time) {
        self.send();
        while !self.sender.done() {
            let travelling = self.travelling.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at);
            let timers = self.sender.next_wakeup(self.now).min(self.receiver.next_wakeup());
            if travelling.min(timers) == Time::NEVER && self.open && self.acked == self.size {
                self.now = until;
                return;
            }
            assert!(travelling.min(timers) < Time::NEVER, "wedged: {:#?}", self.sender);
            if travelling.min(timers) > until {
                self.now = self.now.max(until);
                return;
            }
            assert!(self.sent.len() < 100_000, "it sends without end");
            self.now = self.now.max(travelling.min(timers));
            if travelling <= timers {
                let (_, (way, packet)) = self.travelling.pop_first().expect("it was there");
                match way {
                    Way::Data => self.receive(&packet),
                    Way::Ack => self.hear(&packet),
                }
            } else {
                self.wake();
            }
            self.send();
        }
    }

    /// The numbers of the segments sent from `from` on, before `to`.
    pub fn sent_between(&self, from: Span, to: Span) -> Vec<u32> {
        let within = Time::ZERO + from..Time::ZERO + to;
        self.sent.iter().filter(|(at, _)| within.contains(at)).map(|(_, segment)| segment.seq).collect()
    }

    fn wake(&mut self) {
        if self.sender.next_wakeup(self.now) <= self.now {
            match self.sender.on_wakeup(self.now) {
                Woken::Idle => {}
                Woken::Repair => self.repairs.push(self.now),
                Woken::Timeout => self.timeouts.push(self.now),
            }
        }
        if self.receiver.next_wakeup() <= self.now
            && let Some(reply) = self.receiver.on_wakeup(self.now)
        {
            self.answer(reply);
        }
    }

    fn send(&mut self) {
        while let Some(segment) = self.sender.poll(self.now) {
            self.check_segment(segment);
            self.sent.push((self.now, segment));
            self.free = self.free.max(self.now) + self.gap;
            let packet = Packet::data(0, segment.seq, segment.size, segment.flags, self.now);
            self.launch(Way::Data, packet, self.sent.len() as u32 - 1, self.free);
        }
        let window = self.sender.window();
        assert!(window.is_finite() && window >= 1.0, "a window of {window}");
    }

    fn check_segment(&self, segment: Segment) {
        let options = &self.options;
        if segment.flags.has(Flags::SYN) {
            return assert_eq!(u64::from(segment.size), options.header.0);
        }
        let seq = u64::from(segment.seq);
        assert!(seq < self.lengths.len() as u64, "segment {seq} lies beyond the end");
        assert!(seq >= u64::from(self.una), "segment {seq} is acknowledged already");
        assert!(
            seq - u64::from(self.una) < u64::from(options.max_window),
            "segment {seq} exceeds the window"
        );
        let payload = self.lengths[segment.seq as usize];
        assert_eq!(u64::from(segment.size), options.header.0 + payload, "wire size of segment {seq}");
        let before = |(_, one): &(Time, Segment)| one.seq == segment.seq && !one.flags.has(Flags::SYN);
        let again = self.sent.iter().any(before);
        assert_eq!(segment.flags.has(Flags::RETRANSMITTED), again);
        assert_eq!(segment.flags.has(Flags::ECT), options.ecn && !again);
    }

    fn launch(&mut self, way: Way, mut packet: Packet, nth: u32, left: Time) {
        let due = left + self.delay;
        let mut arrivals = [Some(due), None];
        match (self.law)(way, nth, &packet) {
            Fate::Pass => {}
            Fate::Lose => arrivals = [None, None],
            Fate::Late(late) => arrivals = [Some(due + late), None],
            Fate::Twice(late) => arrivals[1] = Some(due + late),
            Fate::Mark => packet.flags = packet.flags.with_if(packet.flags.has(Flags::ECT), Flags::CE),
        }
        for at in arrivals.into_iter().flatten() {
            self.number += 1;
            self.travelling.insert((at, self.number), (way, packet));
        }
    }

    fn receive(&mut self, packet: &Packet) {
        if !packet.flags.has(Flags::SYN) {
            self.arrived[packet.seq as usize] = true;
            while self.arrived.get(self.edge as usize) == Some(&true) {
                self.edge += 1;
            }
        }
        let reply = self.receiver.on_data(packet, self.now);
        assert_eq!(self.receiver.next(), self.edge, "the receiver's edge");
        if let Some(reply) = reply {
            self.answer(reply);
        }
    }

    fn answer(&mut self, reply: Reply) {
        // Unless it goes out ahead of a packet that is held back, because they differ in their marks.
        let ahead = reply.seq + 1 == self.edge && self.receiver.next_wakeup() < Time::NEVER;
        assert!(reply.seq == self.edge || ahead, "{} for {}", reply.seq, self.edge);
        let [one, around, _] = reply.sack;
        let inside = around.1 != 0 && around.0 <= one.0 && one.1 <= around.1;
        let twice = one.1 != 0 && (one.1 <= self.edge || inside);
        if twice {
            assert!(self.options.recovery == Recovery::Rack && one.0 + 1 == one.1, "{one:?} came twice");
            assert!(self.arrived[one.0 as usize], "{one:?} came twice");
        }
        let blocks = reply.sack.iter().enumerate().skip(usize::from(twice));
        for (place, &(first, end)) in blocks.filter(|(_, block)| block.1 != 0) {
            assert!(first > self.edge && first < end, "block {first}..{end} above {}", self.edge);
            assert!(self.arrived[first as usize..end as usize].iter().all(|&held| held), "{first}..{end}");
            assert!(
                reply.sack[usize::from(twice)..place].iter().all(|other| other.1 != 0 && other.0 != first),
                "{:?}",
                reply.sack
            );
        }
        let Reply { seq, sent, sack, explicit, flags, lag, window, marked } = reply;
        let mut packet = Packet::ack(0, seq, self.options.header.0 as u16, flags, sent, sack);
        packet.lag = lag;
        packet = explicit.map_or(packet, |explicit| packet.with_explicit(explicit));
        packet = marked.map_or(packet, |bytes| packet.with_marked_bytes(bytes));
        packet = window.map_or(packet, |window| packet.with_receive_window(window));
        self.acks += 1;
        self.launch(Way::Ack, packet, self.acks - 1, self.now);
    }

    fn hear(&mut self, packet: &Packet) {
        let Heard { acked, rtt, repair, drained, .. } = self.sender.on_ack(packet, self.now, &mut self.rng);
        self.acked += acked;
        if drained {
            assert!(self.open && self.acked == self.size, "drained at {} of {}", self.acked, self.size);
            self.drained.push(self.now);
        }
        let reply = Reply {
            seq: packet.seq,
            sent: packet.sent,
            sack: packet.sack(),
            explicit: packet.explicit(),
            flags: packet.flags,
            lag: packet.lag,
            window: packet.receive_window(),
            marked: packet.marked_bytes(),
        };
        self.heard.push((self.now, reply));
        if !packet.flags.has(Flags::SYN) {
            self.una = self.una.max(packet.seq);
        }
        assert!(rtt.is_none_or(|rtt| rtt >= self.delay * 2), "a round trip of {rtt:?}");
        if repair {
            self.repairs.push(self.now);
        }
    }
}

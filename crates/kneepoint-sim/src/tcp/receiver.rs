// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A TCP receiver: reassembly, selective and delayed acknowledgements, echo of marks.
//!
//! RFC 5681 §4.2 (when to acknowledge), RFC 2018 §4 (which blocks: the one just touched, then the most recently
//! reported others), RFC 2883 (segments that arrive twice, where the sender uses RACK), RFC 3168 §6.1.3 (echo until CWR), RFC 8257 §3.2 (echo each mark), RFC 9768 (count marks: `accecn`), RFC 7323 §4.3 (a delayed acknowledgement echoes the
//! earliest timestamp it covers).
//! As Linux 6.12 has it, where the options say so: how long an acknowledgement waits (`patience`), and that
//! acknowledgements of segments out of order are collected (`sack_delay`; `tcp_comp_sack_delay_ns`, without its bound
//! of a twentieth of the round trip).
//! Departure: an acknowledgement of a packet that fills no gap echoes that packet's own timestamp, so that every
//! acknowledgement measures a round-trip time. By RFC 7323 §4.3 duplicates echo the last segment in order, as ns-2's do by
//! default (`ts_echo_bugfix_`); by §4.1 senders take no sample from them. Both are options (`echo`).

mod hold;

use super::accecn::{self, Counter, Ecn};
use super::patience::Patience;
use super::room::Offer;
use super::segments::SegmentSet;
use super::{Echo, Options, Recovery};
use crate::cc::Marks;
use crate::packet::{Block, Body, Explicit, Flags, Lag, Packet};
use crate::units::{Bytes, Span, Time};

/// Conditions that exclude a packet from the fast path for packets in order.
const NEWS: Flags =
    Flags::SYN.with(Flags::CE).with(Flags::RATE).with(Flags::CHANGE).with(Flags::DATAGRAM).with(Flags::PROBE);

/// Acknowledgements of segments out of order that are sent at once, before others are collected
/// (`TCP_FASTRETRANS_THRESH`).
const AT_ONCE: u32 = 3;

/// An acknowledgement to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reply {
    /// The first segment not yet received in order.
    pub seq: u32,
    /// The timestamp it echoes.
    pub sent: Time,
    /// Blocks received out of order.
    pub sack: [Block; 3],
    /// The explicit feedback of the packets that it answers, if they carried any.
    pub explicit: Option<Explicit>,
    /// Its header bits.
    pub flags: Flags,
    /// The receiver's clock relative to that timestamp.
    pub lag: Lag,
    /// The room of the receiver in segments, if it announces it.
    pub window: Option<u32>,
    /// The number of bytes that arrived marked, modulo 2^24, if it reports one.
    pub marked: Option<u32>,
}

/// An acknowledgement that waits.
#[derive(Clone, Copy, Debug)]
struct HeldBack {
    /// The timestamp of the first packet that it answers.
    sent: Time,
    /// For how long.
    until: Time,
    /// The number of packets that it acknowledges so far.
    packets: u32,
}

/// The receiving half of a TCP host.
#[derive(Clone, Debug)]
pub struct Receiver {
    next: u32,
    held: SegmentSet,
    /// The blocks reported last, the most recent first: those that begin above `next` are there still.
    recent: [Block; 3],
    /// A mark was seen that the sender has not answered; where each mark is echoed, the last packet was marked.
    echo: bool,
    marks: Marks,
    /// The count of marks, where it is reported instead of echoes.
    counter: Option<Counter>,
    /// What it knows of ECN, where a SYN negotiates, and what the first one brought about.
    ecn: Option<Ecn>,
    mode: Option<Ecn>,
    sack: bool,
    /// Packets are acknowledged one by one, and each echoes its own time: there is a short path.
    short: bool,
    /// The time of sending of the last packet in order, where duplicates echo it.
    in_order: Option<Time>,
    /// Report segments that arrive twice (RFC 2883).
    duplicates: bool,
    /// Packets in order that are still to be answered at once.
    quick: u32,
    delay: Option<Span>,
    /// This many packets in order are acknowledged together, where acknowledgements are delayed.
    every: u32,
    /// The current delay of an acknowledgement, where it adapts.
    patience: Option<Box<Patience>>,
    /// Where acknowledgements of segments out of order are collected: for how long, and how many at this `next` were
    /// sent at once.
    collects: Option<(Span, u32)>,
    /// The room that it offers, where that is limited.
    room: Option<Box<Offer>>,
    /// The explicit feedback to echo: the rate of the packet that arrived last, the sum of changes not yet echoed.
    explicit: Option<Explicit>,
    /// The acknowledgement that is held back.
    held_back: Option<HeldBack>,
}

impl Receiver {
    /// A receiver without data, for a sender that requires this echo of marks.
    pub fn new(options: &Options, marks: Marks) -> Receiver {
        Receiver {
            next: 0,
            held: SegmentSet::default(),
            recent: [(0, 0); 3],
            echo: false,
            marks: if options.echoes_once() { Marks::Classic } else { marks },
            counter: options.counts_marks().then(|| Counter::new(options)),
            ecn: options.negotiates().then(|| options.ecn_of_receiver()),
            mode: None,
            sack: options.recovery.selective(),
            short: !options.delayed_ack
                && options.receive_buffer == Bytes(0)
                && !echoes_in_order(options)
                && !options.counts_marks(),
            in_order: echoes_in_order(options).then_some(Time::ZERO),
            duplicates: options.recovery == Recovery::Rack,
            quick: options.quick_acks,
            delay: options.delayed_ack.then_some(options.delayed_ack_timeout),
            every: options.ack_every,
            patience: (options.delayed_ack && options.adaptive_ack)
                .then(|| Box::new(Patience::new(options.delayed_ack_timeout))),
            collects: Some((options.sack_delay, 0))
                .filter(|(delay, _)| *delay > Span::ZERO && options.recovery == Recovery::Rack),
            room: Offer::new(options),
            explicit: None,
            held_back: None,
        }
    }

    /// The first segment not yet received in order.
    #[inline]
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Whether a segment has not arrived.
    #[inline]
    pub fn lacks(&self, seq: u32) -> bool {
        seq >= self.next && !self.held.contains(seq)
    }

    /// The time at which [`on_wakeup`](Receiver::on_wakeup) must be called.
    #[inline]
    pub fn next_wakeup(&self) -> Time {
        self.held_back.map_or(Time::NEVER, |waiting| waiting.until)
    }

    /// Processes a packet that is simply the next one, the usual case; returns its acknowledgement, or nothing if
    /// the packet needs more. All others go to [`on_data`](Receiver::on_data), which would give the same answer.
    #[inline(always)]
    pub fn on_next(&mut self, packet: &Packet, now: Time) -> Option<Reply> {
        let simple = packet.seq == self.next
            && self.held.is_empty()
            && self.short
            && !self.echo
            && !packet.flags.has_any(NEWS);
        simple.then(|| {
            self.next += 1;
            let (sack, lag) = ([(0, 0); 3], Lag::of(now.since(packet.sent)));
            Reply {
                seq: self.next,
                sent: packet.sent,
                sack,
                explicit: None,
                flags: Flags::ACK,
                lag,
                window: None,
                marked: None,
            }
        })
    }

    /// A packet arrived: the acknowledgement it causes, unless that is held back.
    #[inline]
    pub fn on_data(&mut self, packet: &Packet, now: Time) -> Option<Reply> {
        if packet.flags.explicit() {
            self.collect(packet.explicit());
        }
        if packet.flags.has_any(Flags::SYN.with(Flags::PROBE)) {
            let opens = packet.flags.has(Flags::SYN);
            if let Some(patience) = self.patience.as_mut().filter(|_| opens) {
                patience.open(now);
            }
            let flags = if opens { self.negotiate(packet.flags) } else { Flags::default() };
            return Some(self.reply(packet.sent, now, flags));
        }
        let plain = packet.seq == self.next && self.held.is_empty();
        // Of most packets nothing is echoed or counted.
        let minds = packet.flags.has(Flags::CE) | self.echo | self.counter.is_some();
        let (turns, urgent, turned) =
            if minds { self.mind(packet, plain, now) } else { (false, false, None) };
        if let Some(in_order) = &mut self.in_order
            && packet.seq == self.next
        {
            *in_order = packet.sent;
        }
        let delay =
            if packet.seq == self.next { self.delay_now(packet.flags, turns, now) } else { self.delay };
        if plain {
            self.next += 1;
            if let Some((_, counted)) = &mut self.collects {
                *counted = 0;
            }
            self.make_room(packet, now);
            match (&mut self.held_back, delay.filter(|_| !urgent)) {
                (Some(waiting), Some(_)) if waiting.packets + 1 < self.every => {
                    waiting.packets += 1;
                    return turned;
                }
                (None, Some(_)) if self.quick > 0 && turned.is_some() => {
                    // Two acknowledgements of one instant: the other follows.
                    self.quick -= 1;
                    self.held_back = Some(HeldBack { sent: packet.sent, until: now, packets: self.every });
                    return turned;
                }
                (None, Some(timeout)) if self.quick == 0 => {
                    self.held_back = Some(HeldBack { sent: packet.sent, until: now + timeout, packets: 1 });
                    return turned;
                }
                (None, Some(_)) => self.quick -= 1,
                _ => {}
            }
        } else if self.duplicates && (packet.seq < self.next || self.held.contains(packet.seq)) {
            return Some(self.reply_to_duplicate(packet, now));
        } else {
            let gap = packet.seq > self.next;
            self.take_in(packet.seq);
            self.make_room(packet, now);
            if gap && !urgent && self.collects(packet.sent, now) {
                return None;
            }
        }
        let first = self.held_back.take().map_or(packet.sent, |waiting| waiting.sent);
        let echoed = if plain { first } else { self.in_order.unwrap_or(packet.sent) };
        Some(self.reply(echoed, now, Flags::default()))
    }

    /// The room after a segment.
    #[inline]
    fn make_room(&mut self, packet: &Packet, now: Time) {
        if let Some(Offer::Grows(room)) = self.room.as_deref_mut()
            && let Body::Data { hint, .. } = packet.body()
        {
            let top = if self.held.is_empty() { None } else { self.held.nth_greatest(1) };
            let span = top.map_or(0, |top| top + 1 - self.next);
            room.on_data(self.next, (self.held.len(), span), hint.rtt, now);
        }
    }

    /// How long the acknowledgement of a packet in order may wait, of which marks begin or end where each is echoed.
    #[inline]
    fn delay_now(&mut self, flags: Flags, turns: bool, now: Time) -> Option<Span> {
        let Some(patience) = &mut self.patience else { return self.delay };
        let hurry = patience
            .hear(flags, self.marks == Marks::Classic && self.counter.is_none(), now)
            .max(u32::from(turns));
        self.quick = self.quick.max(hurry);
        Some(patience.delay())
    }

    /// Whether the acknowledgement of a packet out of order waits for others: where three at this `next` were sent at once.
    fn collects(&mut self, sent: Time, now: Time) -> bool {
        let Some((delay, counted)) = &mut self.collects else { return false };
        if *counted < AT_ONCE {
            *counted += 1;
            return false;
        }
        let until = self.held_back.map_or(now + *delay, |waiting| waiting.until);
        let packets = self.held_back.map_or(0, |waiting| waiting.packets) + 1;
        self.held_back = Some(HeldBack { sent, until, packets });
        true
    }

    /// Takes in explicit feedback: a rate replaces the one before, changes add up until they are echoed.
    fn collect(&mut self, explicit: Option<Explicit>) {
        self.explicit = match (self.explicit, explicit) {
            (Some(Explicit::Change(before)), Some(Explicit::Change(more))) => {
                Some(Explicit::Change(before + more))
            }
            _ => explicit,
        };
    }

    /// Takes in a packet's mark, or that it has none; returns whether marks begin or end where each is echoed, whether the packet is to be
    /// acknowledged at once, and the acknowledgement of packets before it.
    #[inline(never)]
    fn mind(&mut self, packet: &Packet, plain: bool, now: Time) -> (bool, bool, Option<Reply>) {
        if let Some(counter) = &mut self.counter {
            return (false, counter.count(packet), None);
        }
        let turns = self.marks != Marks::Classic && packet.flags.has(Flags::CE) != self.echo;
        (turns, false, self.heed(packet.flags, plain, now))
    }

    /// Takes in a packet's mark. Where each mark is echoed, one acknowledgement must not cover both marked and
    /// unmarked packets: the delayed acknowledgement of the others is sent first (RFC 8257 §3.2, Figure 1). A packet
    /// out of order is answered at once, and its answer speaks for them.
    #[inline]
    fn heed(&mut self, flags: Flags, plain: bool, now: Time) -> Option<Reply> {
        let marked = flags.has(Flags::CE);
        if self.marks == Marks::Classic {
            self.echo = marked || self.echo && !flags.has(Flags::CWR);
            return None;
        }
        let held_back = self.held_back.take_if(|_| plain && marked != self.echo);
        let reply = held_back.map(|waiting| self.reply(waiting.sent, now, Flags::default()));
        self.echo = marked;
        reply
    }

    /// The wake-up came: the acknowledgement held back, if it is due.
    pub fn on_wakeup(&mut self, now: Time) -> Option<Reply> {
        let HeldBack { sent, packets, .. } = self.held_back.take_if(|waiting| waiting.until <= now)?;
        let waited = self.held.is_empty() && packets < self.every;
        if let Some(patience) = self.patience.as_mut().filter(|_| waited) {
            patience.missed();
        }
        Some(self.reply(sent, now, Flags::default()))
    }

    /// Files a segment that is not simply the next one.
    fn take_in(&mut self, seq: u32) {
        if seq == self.next {
            self.collects = self.collects.map(|(delay, _)| (delay, 0));
            self.next = self.held.first_absent(seq + 1);
            self.held.remove_below(self.next);
        } else if seq > self.next {
            self.held.insert(seq);
            let block = self.block(seq);
            // Only the block that a segment joins changes; those that it took in are reported with it.
            let others = self.recent.into_iter().filter(|other| !(block.0..block.1).contains(&other.0));
            let mut recent = [(0, 0); 3];
            for (place, one) in recent.iter_mut().zip(std::iter::once(block).chain(others)) {
                *place = one;
            }
            self.recent = recent;
        }
    }

    #[inline]
    fn reply(&mut self, sent: Time, now: Time, flags: Flags) -> Reply {
        let sack = if !self.held.is_empty() && self.sack { self.blocks() } else { [(0, 0); 3] };
        let (feedback, marked) = match &mut self.counter {
            // A SYN's flags negotiate.
            Some(counter) if !flags.has(Flags::SYN) => counter.report(),
            _ => (Flags::default().with_if(self.echo, Flags::ECE), None),
        };
        let flags = flags.with(Flags::ACK).with(feedback);
        let explicit = self.explicit.take();
        let next = self.next;
        let window = self.room.as_mut().map(|room| room.offered(next));
        Reply { seq: self.next, sent, sack, explicit, flags, lag: Lag::of(now.since(sent)), window, marked }
    }

    /// A SYN arrived: the flags of its answer. The first one decides (RFC 9768 §3.1.5).
    #[cold]
    fn negotiate(&mut self, syn: Flags) -> Flags {
        let Some(ecn) = self.ecn else { return Flags::SYN };
        let mode = *self.mode.get_or_insert_with(|| accecn::mode_of_server(ecn, syn));
        if mode != Ecn::Accurate {
            self.counter = None;
        }
        Flags::SYN.with(accecn::answer(mode, syn.codepoint()))
    }

    /// A segment arrived twice: the first block names it, and the second the block that holds it, if one does
    /// (RFC 2883 §4).
    #[cold]
    fn reply_to_duplicate(&mut self, packet: &Packet, now: Time) -> Reply {
        self.held_back = None;
        let reply = self.reply(packet.sent, now, Flags::default());
        let twice = (packet.seq, packet.seq + 1);
        let around = (packet.seq > self.next).then(|| self.block(packet.seq));
        let others = reply.sack.into_iter().filter(|block| Some(*block) != around);
        let mut blocks = std::iter::once(twice).chain(around).chain(others);
        Reply { sack: std::array::from_fn(|_| blocks.next().unwrap_or_default()), ..reply }
    }

    /// The block that holds `seq`: [first, end).
    fn block(&self, seq: u32) -> Block {
        (self.held.run_start(seq), self.held.first_absent(seq))
    }

    fn blocks(&self) -> [Block; 3] {
        let mut blocks = self.recent.into_iter().filter(|(first, _)| *first > self.next);
        std::array::from_fn(|_| blocks.next().unwrap_or_default())
    }
}

/// Whether duplicates echo the time of the last packet in order.
fn echoes_in_order(options: &Options) -> bool {
    options.echo != Echo::Own && options.recovery != Recovery::Rack
}

#[cfg(test)]
mod tests;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A TCP receiver: reassembly, selective and delayed acknowledgements, echo of marks.
//!
//! RFC 5681 §4.2 (when to acknowledge), RFC 2018 §4 (which blocks: the one just touched, then the most recently
//! reported others), RFC 2883 (segments that arrive twice, where the sender uses RACK), RFC 3168 §6.1.3 (echo until CWR), RFC 8257 §3.2 (echo each mark), RFC 7323 §4.3 (a delayed acknowledgement echoes the
//! earliest timestamp it covers).
//! As Linux 6.12 has it, where the options say so: how long an acknowledgement waits (`patience`), and that
//! acknowledgements of segments out of order are collected (`sack_delay`; `tcp_comp_sack_delay_ns`, without its bound
//! of a twentieth of the round trip).
//! Departure: an acknowledgement of a packet that fills no gap echoes that packet's own timestamp, so that every
//! acknowledgement measures a round-trip time. By RFC 7323 §4.3 duplicates echo the last segment in order, as ns-2's do by
//! default (`ts_echo_bugfix_`); by §4.1 senders take no sample from them. Both are options (`echo`).

mod hold;

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
            marks,
            sack: options.recovery.selective(),
            short: !options.delayed_ack && options.receive_buffer == Bytes(0) && !echoes_in_order(options),
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
            return Some(self.reply(packet.sent, now, Flags::default().with_if(opens, Flags::SYN)));
        }
        let plain = packet.seq == self.next && self.held.is_empty();
        let turned = self.heed(packet.flags, plain, now);
        if let Some(in_order) = &mut self.in_order
            && packet.seq == self.next
        {
            *in_order = packet.sent;
        }
        let delay = if packet.seq == self.next { self.delay_now(packet.flags, now) } else { self.delay };
        if plain {
            self.next += 1;
            if let Some((_, counted)) = &mut self.collects {
                *counted = 0;
            }
            self.make_room(packet, now);
            match (&mut self.held_back, delay) {
                (Some(waiting), Some(_)) if waiting.packets + 1 < self.every => {
                    waiting.packets += 1;
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
            if gap && self.collects(packet.sent, now) {
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

    /// The longest wait of an acknowledgement of a packet in order.
    #[inline]
    fn delay_now(&mut self, flags: Flags, now: Time) -> Option<Span> {
        let Some(patience) = &mut self.patience else { return self.delay };
        let hurry = patience.hear(flags, self.marks == Marks::Classic, now);
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
        let HeldBack { sent, .. } = self.held_back.take_if(|waiting| waiting.until <= now)?;
        if let Some(patience) = self.patience.as_mut().filter(|_| self.held.is_empty()) {
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
        let flags = flags.with(Flags::ACK).with_if(self.echo, Flags::ECE);
        let explicit = self.explicit.take();
        let next = self.next;
        let window = self.room.as_mut().map(|room| room.offered(next));
        Reply { seq: self.next, sent, sack, explicit, flags, lag: Lag::of(now.since(sent)), window }
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
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Packets at these milliseconds; the times and numbers of their acknowledgements.
    fn answers(options: &Options, packets: &[(u64, u32)]) -> Vec<(u64, u32)> {
        let mut receiver = Receiver::new(options, Marks::Classic);
        let mut answers = Vec::new();
        let end = [(10_000, u32::MAX)];
        for &(milli, seq) in packets.iter().chain(&end) {
            let now = Span::from_millis(milli).after_start();
            while receiver.next_wakeup() <= now {
                let at = receiver.next_wakeup();
                answers.extend(receiver.on_wakeup(at).map(|reply| (at.0 / 1_000_000, reply.seq)));
            }
            if seq < u32::MAX {
                let packet = Packet::data(0, seq, 1500, Flags::default(), now);
                answers.extend(receiver.on_data(&packet, now).map(|reply| (milli, reply.seq)));
            }
        }
        answers
    }

    #[test]
    fn acknowledgements_are_as_thin_as_the_options_say() {
        let thin = |ack_every| Options { delayed_ack: true, ack_every, ..Options::default() };
        let packets = [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (200, 5), (201, 7)];
        assert_eq!(answers(&thin(2), &packets), [(1, 2), (3, 4), (104, 5), (201, 6)]);
        assert_eq!(answers(&thin(4), &packets), [(3, 4), (104, 5), (201, 6)]);
        assert_eq!(answers(&thin(9), &packets), [(100, 5), (201, 6)]);
    }

    #[test]
    fn after_three_at_once_acknowledgements_of_what_is_out_of_order_are_collected() {
        let options =
            Options { recovery: Recovery::Rack, sack_delay: Span::from_millis(5), ..Options::default() };
        let packets =
            [(0, 0), (10, 2), (11, 3), (12, 4), (13, 5), (15, 6), (17, 7), (20, 8), (21, 1), (30, 10)];
        // 13 to 17 ms share one; the one of 20 ms is sent with the packet that fills the gap.
        let expected = [(0, 1), (10, 1), (11, 1), (12, 1), (18, 1), (21, 9), (30, 9)];
        assert_eq!(answers(&options, &packets), expected);
    }

    #[test]
    fn a_delay_that_ran_out_doubles_up_to_the_round_trip_and_comes_back_with_segments() {
        let options = Options { quick_acks: 0, ..Options::of(crate::tcp::Host::Linux) };
        let mut receiver = Receiver::new(&options, Marks::Classic);
        let at = |milli: u64| Span::from_millis(milli).after_start();
        let syn = Packet::data(0, 0, 52, Flags::SYN, at(0));
        receiver.on_data(&syn, at(0));
        let mut wait = |seq: u32, milli: u64| {
            receiver.on_data(&Packet::data(0, seq, 1500, Flags::default(), at(milli)), at(milli));
            let until = receiver.next_wakeup();
            receiver.on_wakeup(until);
            until.since(at(milli)).0 / 1_000_000
        };
        // A round trip of 60 ms: 40 ms, then 80 of which 60 are left.
        assert_eq!([wait(0, 60), wait(1, 200), wait(2, 400)], [40, 60, 60]);
    }

    #[test]
    fn a_duplicate_echoes_its_own_packet_or_the_last_one_in_order() {
        // Packet 1 is late: 0, 2, 3, 1 leave a second apart.
        let echoed = |echo| {
            let mut receiver = Receiver::new(&Options { echo, ..Options::default() }, Marks::Classic);
            [(0, 1), (2, 3), (3, 4), (1, 5)].map(|(seq, second)| {
                let sent = Time(second * 1_000_000_000);
                let packet = Packet::data(0, seq, 1040, Flags::default(), sent);
                let now = sent + Span::from_millis(30);
                let reply = receiver.on_next(&packet, now).or_else(|| receiver.on_data(&packet, now));
                reply.expect("one acknowledgement a packet").sent.0 / 1_000_000_000
            })
        };
        assert_eq!(echoed(Echo::Own), [1, 3, 4, 5]);
        assert_eq!((echoed(Echo::InOrder), echoed(Echo::Rfc7323)), ([1, 1, 1, 5], [1, 1, 1, 5]));
    }

    #[test]
    fn a_packet_that_is_simply_the_next_is_answered_alike_on_both_paths() {
        let mut rng = Rng::stream(1, "receiver", 0);
        let mut simple = 0;
        for delayed_ack in [false, true] {
            for marks in [Marks::Classic, Marks::Each] {
                let options = Options { delayed_ack, ..Options::default() };
                let mut receiver = Receiver::new(&options, marks);
                for step in 0..2000 {
                    let seq = receiver.next() + if rng.chance(0.1) { rng.below(4) as u32 } else { 0 };
                    let flags = Flags::default().with_if(rng.chance(0.05), Flags::CE);
                    let flags = flags.with_if(rng.chance(0.2), Flags::CWR);
                    let packet = Packet::data(0, seq, 1040, flags, Time(1_000_000 * step));
                    let (mut short, now) = (receiver.clone(), packet.sent + Span(rng.below(1 << 30)));
                    let answer = short.on_next(&packet, now);
                    let whole = receiver.on_data(&packet, now);
                    if answer.is_some() {
                        simple += 1;
                        assert_eq!((answer, format!("{short:?}")), (whole, format!("{receiver:?}")));
                    }
                }
            }
        }
        assert!(simple > 500, "{simple}");
    }
}

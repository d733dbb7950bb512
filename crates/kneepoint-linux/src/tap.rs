// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Real packets as the laboratory's: the flow of a frame, the state of its sender and receiver after it, and the events
//! that a simulated host would have reported.
//!
//! ```text
//! flow             one direction of a connection's payload, so that a connection has two if both ends send
//! its number       listed: the number that it is given; other flows: in the order of their first packet of data or SYN
//! data             a packet with payload; its seq is the offset of its first byte / MSS
//! acknowledgement  a packet without payload: flow and seq of the data that it answers, the first segment not received whole
//! retransmitted    no byte of it is new
//! RTT              from the last transmission of the newest segment that an acknowledgement, or a block of it, newly covers
//!                  to the acknowledgement's delivery; of a segment sent twice only where the echoed timestamp identifies it
//! window           bytes sent and neither acknowledged nor in a block, in segments
//! repair           a retransmission after duplicates or blocks, above what the repair before it had outstanding
//! timeout          a retransmission of the first byte outstanding after 200 ms in which nothing was sent or heard
//! hint             the window that the packet's DSCP bits carry; without them, the outstanding packets with it
//! completed        the acknowledgement of a FIN was delivered; the receiver had everything when it had the last byte in order
//! ```
//!
//! Readings: the window of the sender is not in its packets, so what is outstanding represents it; losses not yet known to
//! the sender count as outstanding. Timeouts are inferred from silence (Linux: `TCP_RTO_MIN`), and a tail loss probe is neither a repair
//! nor a timeout. Requests of a client are their own flow; a classifier says which flows are watched. The acknowledgement on a
//! packet with data counts where it covers something new. Datagrams, fragments and other protocols are flows of datagrams.

mod ranges;
mod stream;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;

use kneepoint::metric::Report;
use kneepoint::packet::{Explicit, Flags, Hint, Packet};
use kneepoint::trace::{Event, FlowId, Observer};
use kneepoint::units::{Bytes, Span, Time};

use crate::frame::{self, Ecn, Headers, Tcp, Tuple};
use stream::{Again, Stream};

/// The flow of the scenario to which a direction of a connection belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Role {
    /// Its group, by its place among the groups of traffic.
    pub group: u32,
    /// Its number, if it was known before the run.
    pub listed: Option<u32>,
    /// The number of the path that its packets take.
    pub path: u32,
    /// Whether its hosts report its transfers, so that the end of the connection does not end them.
    pub told: bool,
}

/// Facts from hosts that their packets do not show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum News {
    /// A transfer ended.
    Completed {
        /// The path of its data.
        tuple: Tuple,
        /// The time at which it began.
        began: Time,
        /// The time at which the receiver had everything.
        delivered: Time,
        /// The data carried.
        size: Bytes,
    },
    /// A source reported a number of its application.
    Reported {
        /// The group of its member.
        group: u32,
        /// The number.
        report: Report,
    },
}

/// The role of a direction of a connection; without one it has a number, but no events of its own.
pub type Classifier = Box<dyn Fn(&Tuple) -> Option<Role> + Send>;

/// Packets of the hosts' kernels as packets of the laboratory.
pub struct Tap {
    classify: Classifier,
    /// Greatest packet that a device carries.
    mtu: u16,
    known: BTreeMap<Tuple, usize>,
    ways: Vec<Way>,
    /// The direction of each flow's data.
    flows: BTreeMap<u32, usize>,
    /// The next number of a flow that is not listed.
    next: u32,
    superpackets: u64,
    news: Option<Receiver<News>>,
}

/// One direction of a conversation.
#[derive(Debug, Default)]
struct Way {
    tuple: Option<Tuple>,
    role: Option<Role>,
    /// The number of its flow, once it has one.
    number: Option<u32>,
    /// The number of transfers that it carried before.
    epoch: u16,
    /// The other direction.
    opposite: usize,
    stream: Stream,
}

impl std::fmt::Debug for Tap {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Tap")
            .field("ways", &self.ways)
            .field("superpackets", &self.superpackets)
            .finish_non_exhaustive()
    }
}

impl Tap {
    /// Packets between devices of this MTU. Flows below `listed` are known before the run.
    pub fn new(mtu: u16, listed: u32, classify: Classifier) -> Tap {
        Tap {
            classify,
            mtu,
            known: BTreeMap::new(),
            ways: Vec::new(),
            flows: BTreeMap::new(),
            next: listed,
            superpackets: 0,
            news: None,
        }
    }

    /// With hosts that report their transfers.
    pub fn hearing(self, news: Receiver<News>) -> Tap {
        Tap { news: Some(news), ..self }
    }

    /// All flows are in group 0, and none is known before.
    pub fn one_group(mtu: u16) -> Tap {
        Tap::new(mtu, 0, Box::new(|_| Some(Role::default())))
    }

    /// Frames that exceed the MTU: several segments that an offload passed on as one, which a queue takes for one packet.
    pub fn superpackets(&self) -> u64 {
        self.superpackets
    }

    /// A flow's outstanding segments; NaN for an unknown flow.
    pub fn window(&self, flow: FlowId) -> f64 {
        self.flows.get(&flow.0).map_or(f64::NAN, |way| self.ways[*way].stream.in_flight())
    }

    /// The addresses and ports of a flow's data, if it is known.
    pub fn tuple(&self, flow: FlowId) -> Option<Tuple> {
        self.flows.get(&flow.0).and_then(|way| self.ways[*way].tuple)
    }

    /// The addresses and ports of each flow's data, by the flow's number.
    pub fn tuples(&self) -> impl Iterator<Item = (FlowId, Tuple)> {
        self.flows.iter().filter_map(|(flow, way)| Some((FlowId(*flow), self.ways[*way].tuple?)))
    }

    /// A frame enters the network. The packet's hop is the number of its path, and it has no id.
    pub fn enter<O: Observer>(&mut self, headers: &Headers, size: u16, now: Time, watch: &mut O) -> Packet {
        self.superpackets += u64::from(size > self.mtu);
        self.tell(now, watch);
        let way = self.way(headers.flow);
        let mut packet = match &headers.tcp {
            None => self.datagram(way, headers, size, now, watch),
            Some(tcp) if tcp.syn && tcp.ack.is_none() => self.open(way, tcp, size, now, watch),
            Some(tcp) if headers.payload > 0 => self.data(way, tcp, headers, size, now, watch),
            Some(tcp) => self.answer(way, tcp, headers, size, now, watch),
        };
        let role = self.ways[way].role.or(self.ways[self.ways[way].opposite].role);
        packet.hop = role.unwrap_or_default().path;
        packet
    }

    /// Passes on the hosts' reports.
    pub fn tell<O: Observer>(&self, now: Time, watch: &mut O) {
        for news in self.news.iter().flat_map(Receiver::try_iter) {
            match news {
                News::Completed { tuple, began, delivered, size } => {
                    let way = self.known.get(&tuple).map(|way| &self.ways[*way]);
                    if let Some(Way { number: Some(flow), role: Some(role), .. }) = way {
                        let (flow, group) = (FlowId(*flow), role.group);
                        watch.on(now, &Event::Completed { flow, group, began, delivered, size });
                    }
                }
                News::Reported { group, report } => watch.on(now, &Event::Reported { group, report }),
            }
        }
    }

    /// A frame left the network and is handed to its host. `packet` is the result of [`enter`](Tap::enter).
    pub fn leave<O: Observer>(&mut self, headers: &Headers, packet: &Packet, now: Time, watch: &mut O) {
        let Some(tcp) = &headers.tcp else {
            return watch.on(now, &Event::Delivered { packet, payload: Bytes(0) });
        };
        let way = self.way(headers.flow);
        let payload = match headers.payload {
            0 => Bytes(0),
            bytes => self.ways[way].stream.arrived(tcp.seq, bytes, now),
        };
        watch.on(now, &Event::Delivered { packet, payload });
        self.hear(self.ways[way].opposite, tcp, headers.payload, now, watch);
    }

    /// The place of a direction, which is new with its first frame.
    fn way(&mut self, first: Tuple) -> usize {
        if let Some(way) = self.known.get(&first) {
            return *way;
        }
        let place = self.ways.len();
        for (own, tuple) in [first, first.reversed()].into_iter().enumerate() {
            let role = (self.classify)(&tuple);
            let opposite = place + 1 - own;
            self.ways.push(Way { tuple: Some(tuple), role, opposite, ..Way::default() });
            // Only ICMP between the same addresses is its own reverse, and it has no stream.
            self.known.entry(tuple).or_insert(place + own);
        }
        place
    }

    /// The number of a direction's flow.
    fn number(&mut self, way: usize) -> u32 {
        if let Some(number) = self.ways[way].number {
            return number;
        }
        let listed = self.ways[way].role.and_then(|role| role.listed);
        let number = listed.unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        self.ways[way].number = Some(number);
        self.flows.insert(number, way);
        number
    }

    /// The direction's transfer begins, unless it has begun.
    fn start<O: Observer>(&mut self, way: usize, now: Time, watch: &mut O) -> u32 {
        let number = self.number(way);
        let Way { stream, role, .. } = &mut self.ways[way];
        if stream.begin(now)
            && let Some(role) = role
        {
            watch.on(now, &Event::Started { flow: FlowId(number), group: role.group });
        }
        number
    }

    /// A SYN.
    fn open<O: Observer>(&mut self, way: usize, tcp: &Tcp, size: u16, now: Time, watch: &mut O) -> Packet {
        let again = self.ways[way].stream.opened_by(tcp.seq);
        if !again {
            let opposite = self.ways[way].opposite;
            for place in [way, opposite] {
                self.close(place, now, watch);
                let old = &mut self.ways[place];
                if old.stream.has_begun() {
                    old.epoch = old.epoch.wrapping_add(1);
                    old.number = old.number.filter(|_| old.role.is_some_and(|role| role.listed.is_some()));
                }
                old.stream = Stream::default();
            }
        }
        let number = self.start(way, now, watch);
        self.ways[way].stream.open(tcp, now);
        let flags = Flags::SYN.with_if(again, Flags::RETRANSMITTED);
        let mut packet = Packet::data(number, 0, size, flags, now);
        packet.epoch = self.ways[way].epoch;
        self.tell_sent(way, &packet, now, watch);
        if again {
            self.tell_repair(way, true, now, watch);
        }
        packet
    }

    /// A packet with payload.
    fn data<O: Observer>(
        &mut self,
        way: usize,
        tcp: &Tcp,
        headers: &Headers,
        size: u16,
        now: Time,
        watch: &mut O,
    ) -> Packet {
        let number = self.start(way, now, watch);
        let Way { stream, epoch, .. } = &mut self.ways[way];
        let sent = stream.send(tcp, headers.payload, now);
        let outstanding = stream.in_flight();
        let flags = capable(headers.ecn)
            .with_if(tcp.cwr, Flags::CWR)
            .with_if(sent.again != Again::New, Flags::RETRANSMITTED);
        let mut packet = Packet::data(number, sent.seq, size, flags, now);
        packet.epoch = *epoch;
        let window = frame::window_hint(headers.dscp).unwrap_or(outstanding);
        packet = packet.with_hint(Hint { window, rtt: Span::ZERO });
        if let Some(option) = tcp.options.rate {
            packet = packet.with_explicit(Explicit::Rate(frame::as_rate(option.rate)));
        }
        self.tell_sent(way, &packet, now, watch);
        match sent.again {
            Again::Repair => self.tell_repair(way, false, now, watch),
            Again::Timeout => self.tell_repair(way, true, now, watch),
            Again::New | Again::Other => {}
        }
        if tcp.rst {
            self.close(way, now, watch);
        }
        packet
    }

    /// A packet without payload.
    fn answer<O: Observer>(
        &mut self,
        way: usize,
        tcp: &Tcp,
        headers: &Headers,
        size: u16,
        now: Time,
        watch: &mut O,
    ) -> Packet {
        let own = &mut self.ways[way].stream;
        if tcp.syn {
            own.open(tcp, now);
        }
        if tcp.fin {
            own.finish(tcp.seq);
        }
        if tcp.rst {
            self.close(way, now, watch);
        }
        let opposite = self.ways[way].opposite;
        // For a connection without data in the other direction, it belongs to its own direction.
        let flow = if self.ways[opposite].number.is_some() { opposite } else { way };
        let number = self.number(flow);
        let answered = &self.ways[opposite].stream;
        let flags = capable(headers.ecn).with_if(tcp.syn, Flags::SYN).with_if(tcp.ece, Flags::ECE);
        let (seq, blocks) = answered.answered(tcp);
        let sent = answered.echoed(tcp).unwrap_or(now);
        let mut packet = Packet::ack(number, seq, size, flags, sent, blocks);
        packet.epoch = self.ways[flow].epoch;
        packet
    }

    fn datagram<O: Observer>(
        &mut self,
        way: usize,
        headers: &Headers,
        size: u16,
        now: Time,
        watch: &mut O,
    ) -> Packet {
        let opens = self.ways[way].number.is_none();
        let number = self.number(way);
        if opens && let Some(Role { group, listed: None, .. }) = self.ways[way].role {
            watch.on(now, &Event::Started { flow: FlowId(number), group });
        }
        let packet = Packet::data(number, 0, size, Flags::DATAGRAM.with(capable(headers.ecn)), now);
        match frame::window_hint(headers.dscp) {
            Some(window) => packet.with_hint(Hint { window, rtt: Span::ZERO }),
            None => packet,
        }
    }

    /// The sender of a direction's data is handed a packet of its peer.
    fn hear<O: Observer>(&mut self, way: usize, tcp: &Tcp, payload: u32, now: Time, watch: &mut O) {
        let Way { stream, role, number, opposite, .. } = &mut self.ways[way];
        let opposite = *opposite;
        if !stream.is_open() {
            return;
        }
        let heard = stream.hear(tcp, now);
        if let (Some(heard), Some(role), Some(flow)) = (heard, role, number.map(FlowId))
            && (payload == 0 || heard.acked.0 > 0)
        {
            let (acked, rtt, window) = (heard.acked, heard.rtt, stream.in_flight());
            watch.on(now, &Event::Acked { flow, acked, rtt, window, one_way: None });
            if let Some((began, delivered, size)) = heard.completed.filter(|_| !role.told) {
                let group = role.group;
                watch.on(now, &Event::Completed { flow, group, began, delivered, size });
            }
        }
        let (finished, mss) = (stream.is_finished(), stream.mss());
        if tcp.syn {
            self.ways[opposite].stream.adopt(mss);
        }
        if finished || tcp.rst {
            self.close(way, now, watch);
        }
    }

    /// No data of this transfer follows.
    fn close<O: Observer>(&mut self, way: usize, now: Time, watch: &mut O) {
        let Way { stream, role, number, .. } = &mut self.ways[way];
        if stream.close()
            && let (Some(_), Some(number)) = (role, number)
        {
            watch.on(now, &Event::Closed { flow: FlowId(*number) });
        }
    }

    fn tell_sent<O: Observer>(&self, way: usize, packet: &Packet, now: Time, watch: &mut O) {
        if let Some(role) = self.ways[way].role {
            watch.on(now, &Event::Sent { packet, group: role.group });
        }
    }

    fn tell_repair<O: Observer>(&self, way: usize, timeout: bool, now: Time, watch: &mut O) {
        if let Way { role: Some(_), number: Some(flow), .. } = self.ways[way] {
            watch.on(now, &Event::Repair { flow: FlowId(flow), timeout });
        }
    }
}

/// The meaning of the ECN bits.
fn capable(ecn: Ecn) -> Flags {
    match ecn {
        Ecn::Not => Flags::default(),
        Ecn::Capable => Flags::ECT,
        Ecn::Scalable => Flags::ECT.with(Flags::SCALABLE),
        Ecn::Marked => Flags::ECT.with(Flags::CE),
    }
}

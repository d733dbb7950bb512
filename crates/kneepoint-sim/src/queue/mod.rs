// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Queue disciplines: which packets wait, leave next, or are dropped, marked or stamped; and their registry.
//!
//! A discipline orders tickets, never packets. The [`Buffer`] owns the packets, queries the discipline, and carries out
//! its decisions. So no discipline can lose a packet, deliver one it dropped, exceed the limit, or forget to report a
//! fate: received = delivered + dropped + queued holds by construction, by identity.
//!
//! To add one with a single first-in-first-out queue, write `queue/NAME.rs` like `queue/droptail.rs`: it decides on
//! arrivals and departures. One with queues of its own (`queue/drr.rs`) also answers [`join`](Discipline::join) and
//! [`next`](Discipline::next); one that makes room for arrivals (`queue/lqd.rs`) answers
//! [`push_out`](Discipline::push_out). Add its line to the registry below. A discipline of another crate needs no line: see
//! [`external`].

pub mod ack_filter;
pub mod external;
mod flows;
mod sparing;
mod waiting;

pub use buffer::{Buffer, Departed};
pub use external::External;
pub use waiting::{Line, Ticket, Waiting};

use crate::packet::{Body, Flags, Packet};
use crate::rng::Rng;
use crate::settings::Settings;
pub use crate::trace::{Backlog, Fate, Reason};
use crate::units::{Bytes, Rate, Span, Time};

/// The limit of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// This many packets.
    Packets(u32),
    /// This many bytes.
    Bytes(Bytes),
    /// No limit.
    Unlimited,
}

impl Limit {
    /// Whether `size` more fit behind `backlog`.
    #[inline]
    pub fn admits(self, backlog: Backlog, size: Bytes) -> bool {
        match self {
            Limit::Packets(limit) => backlog.packets < limit,
            Limit::Bytes(limit) => backlog.bytes + size <= limit,
            Limit::Unlimited => true,
        }
    }
}

/// The link of a discipline, known when it is built.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The link's rate.
    pub rate: Rate,
    /// The link's propagation delay.
    pub delay: Span,
    /// The limit of the queue.
    pub limit: Limit,
    /// The size of a full packet on the wire.
    pub packet: Bytes,
}

/// A packet arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// When.
    pub now: Time,
    /// The packet.
    pub packet: &'a Packet,
    /// The backlog without it.
    pub backlog: Backlog,
    /// Whether the limit leaves no room: unless another packet is pushed out, it is dropped regardless of the decision.
    pub full: bool,
}

impl Arrival<'_> {
    /// The congestion window, in packets, that the sender of a data packet announces to queues; a datagram announces
    /// none.
    #[inline]
    pub fn window(&self) -> Option<f64> {
        match self.packet.body() {
            Body::Data { hint, .. } if hint.window > 0.0 => Some(hint.window),
            _ => None,
        }
    }
}

/// The next packet leaves.
#[derive(Clone, Copy, Debug)]
pub struct Departure<'a> {
    /// When.
    pub now: Time,
    /// The packet.
    pub packet: &'a Packet,
    /// The backlog without it.
    pub backlog: Backlog,
    /// The time that it waited.
    pub waited: Span,
}

/// A discipline's decision on a packet, for the buffer to carry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Let it pass.
    Pass,
    /// Set its congestion mark and pass it; the buffer drops it instead if its sender does not understand marks.
    Mark,
    /// Drop it.
    Drop,
}

impl Decision {
    /// The signal of congestion by `packet`: a mark if the discipline `marks` and its sender understands, or else a drop.
    #[inline]
    pub fn signal(packet: &Packet, marks: bool) -> Decision {
        if marks && packet.flags.has(Flags::ECT) { Decision::Mark } else { Decision::Drop }
    }
}

/// The order in which packets leave a discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The order of their arrivals.
    Arrival,
    /// The order of their arrivals within each flow.
    Flow,
    /// The order of their arrivals within each flow among packets that are scalable, ECT(1), and among all others.
    Class,
}

impl Order {
    /// Packets with equal values leave in the order of their arrivals.
    pub fn line(self, packet: &Packet) -> (u32, bool) {
        match self {
            Order::Arrival => (0, false),
            Order::Flow => (packet.flow, false),
            Order::Class => (packet.flow, packet.flags.has(Flags::SCALABLE)),
        }
    }
}

/// A queue discipline.
///
/// When a packet arrives, the buffer asks [`push_out`](Discipline::push_out) until it answers nothing, then
/// [`on_arrival`](Discipline::on_arrival), and hands the ticket of a packet that stays to
/// [`join`](Discipline::join). When the link is free, it asks [`next`](Discipline::next), then
/// [`on_departure`](Discipline::on_departure), and again while that drops.
pub trait Discipline: Clone + std::fmt::Debug {
    /// Its parameters.
    type Params: Settings;
    /// The order in which packets leave.
    const ORDER: Order = Order::Arrival;

    /// [`ORDER`](Discipline::ORDER).
    fn order(&self) -> Order {
        Self::ORDER
    }
    /// A discipline for an empty queue.
    fn new(params: Self::Params, facts: Facts) -> Self;
    /// Whether it never drops, ticks or keeps state, so that a link may compute departures as packets arrive.
    fn passive(&self) -> bool {
        false
    }
    /// A waiting packet to drop in favour of an arrival, taken out of its line.
    #[inline]
    fn push_out(&mut self, _: &Arrival, _: &mut Waiting, _: &mut Rng) -> Option<Ticket> {
        None
    }
    /// Decides on an arriving packet.
    #[inline]
    fn on_arrival(&mut self, _: &Arrival, _: &mut Rng) -> Decision {
        Decision::Pass
    }
    /// Puts a packet in line.
    #[inline]
    fn join(&mut self, ticket: Ticket, waiting: &mut Waiting) {
        waiting.push(ticket);
    }
    /// The next packet, taken out of its line; there is one while anything waits.
    #[inline]
    fn next(&mut self, waiting: &mut Waiting, _now: Time) -> Option<Ticket> {
        waiting.pop()
    }
    /// Decides on the packet that is next.
    #[inline]
    fn on_departure(&mut self, _: &Departure, _: &mut Rng) -> Decision {
        Decision::Pass
    }
    /// The link requested a packet and the queue was empty.
    #[inline]
    fn on_idle(&mut self, _now: Time) {}
    /// The interval at which [`on_tick`](Discipline::on_tick) is called.
    fn interval(&self) -> Option<Span> {
        None
    }
    /// An interval has passed.
    fn on_tick(&mut self, _backlog: Backlog, _now: Time) {}
    /// Its state for observers to plot: names with units, and values.
    fn state(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

crate::registry! {
    trait Discipline(Facts);
    each each;
    external External;
    algorithms {
        droptail::DropTail,
        red::Red,
        adaptive_red::AdaptiveRed as "adaptive-red",
        self_configuring_red::SelfConfiguringRed as "self-configuring-red",
        shred::Shred,
        rio::Rio,
        rio_ps::RioPs as "rio-ps",
        pi::Pi,
        rem::Rem,
        avq::Avq,
        step::Step,
        drr::Drr,
        lqd::Lqd,
        codel::CoDel,
        cobalt::Cobalt,
        fq_codel::FqCoDel as "fq-codel",
        pie::Pie,
        fq_pie::FqPie as "fq-pie",
        cake::Cake,
        dualpi2::DualPi2,
        sfq::Sfq,
    }
}

// After the registry, whose macro it uses.
mod buffer;

/// Questions to any discipline; the [`Buffer`] asks the rest.
#[allow(missing_docs)]
impl Any {
    pub fn order(&self) -> Order {
        each!(self, one => one.order())
    }
    pub fn passive(&self) -> bool {
        each!(self, one => one.passive())
    }
    pub fn interval(&self) -> Option<Span> {
        each!(self, one => one.interval())
    }
    pub fn on_tick(&mut self, backlog: Backlog, now: Time) {
        each!(self, one => one.on_tick(backlog, now))
    }
    pub fn state(&self) -> Vec<(&'static str, f64)> {
        each!(self, one => one.state())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::packet::Hint;

    /// The bottleneck of the reference runs: 1040 bytes a packet, a third of the round trip as its delay.
    pub fn link(mbit: u64, rtt: f64) -> Facts {
        let delay = Span::from_secs_f64(rtt / 3.0);
        Facts { rate: Rate::from_mbit(mbit), delay, limit: Limit::Unlimited, packet: Bytes(1040) }
    }

    pub fn packet() -> Packet {
        Packet::data(0, 0, 1040, Flags::default(), Time::ZERO)
    }

    /// A packet of a sender with this window.
    pub fn packet_of(window: f64) -> Packet {
        packet().with_hint(Hint { window, rtt: Span::ZERO })
    }

    /// A buffer for trying a discipline: packets are numbered as they arrive.
    pub struct Bench {
        buffer: Buffer,
        rng: Rng,
        arrivals: u32,
        pub now: Time,
        pub pushed_out: Vec<u32>,
        pub refused: Vec<u32>,
        pub dropped_late: Vec<u32>,
    }

    impl Bench {
        pub fn new(discipline: Any, limit: Limit) -> Bench {
            let (buffer, rng) = (Buffer::new(discipline, limit), Rng::stream(1, "bench", 0));
            let (pushed_out, refused, dropped_late) = (Vec::new(), Vec::new(), Vec::new());
            Bench { buffer, rng, arrivals: 0, now: Time::ZERO, pushed_out, refused, dropped_late }
        }

        pub fn arrive(&mut self, flow: u32, size: u16) {
            self.arrive_with(flow, size, Flags::default());
        }

        pub fn arrive_with(&mut self, flow: u32, size: u16, flags: Flags) {
            let mut packet = Packet::data(flow, 0, size, flags, Time::ZERO);
            packet.id = self.arrivals;
            self.enqueue(packet);
        }

        pub fn enqueue(&mut self, packet: Packet) {
            self.arrivals += 1;
            let pushed_out = |victim: &Packet| self.pushed_out.push(victim.id);
            match self.buffer.enqueue(packet, self.now, &mut self.rng, pushed_out) {
                Fate::Dropped(_) => self.refused.push(packet.id),
                Fate::Passed | Fate::Marked => {}
            }
        }

        /// The next packet that is not dropped at the head.
        pub fn serve(&mut self) -> Option<Packet> {
            loop {
                let departed = self.buffer.dequeue(self.now, &mut self.rng)?;
                match departed.fate {
                    Fate::Dropped(_) => self.dropped_late.push(departed.packet.id),
                    Fate::Passed | Fate::Marked => return Some(departed.packet),
                }
            }
        }

        pub fn tick(&mut self) {
            self.buffer.tick(self.now);
        }

        /// Lets these packets (flow, size and flags) arrive and serves one, every millisecond; returns the packets served.
        pub fn run(&mut self, millis: u64, flows: &[(u32, u16, Flags)]) -> Vec<Packet> {
            let mut served = Vec::new();
            for _ in 0..millis {
                flows.iter().for_each(|(flow, size, flags)| self.arrive_with(*flow, *size, *flags));
                self.now += Span::from_millis(1);
                served.extend(self.serve());
            }
            served
        }

        pub fn state(&self) -> Vec<(&'static str, f64)> {
            self.buffer.discipline().state()
        }
    }

    /// Jain's index of the bytes served to flows 0 to `flows` - 1.
    pub fn jain(served: &[Packet], flows: u32) -> f64 {
        let bytes = |flow| served.iter().filter(|one| one.flow == flow).map(|one| f64::from(one.size)).sum();
        let shares: Vec<f64> = (0..flows).map(bytes).collect();
        let (sum, squares) =
            (shares.iter().sum::<f64>(), shares.iter().map(|share| share * share).sum::<f64>());
        sum * sum / (f64::from(flows) * squares)
    }

    pub fn arrival(packet: &Packet, packets: u32, now: Time) -> Arrival<'_> {
        let bytes = Bytes(u64::from(packets) * u64::from(packet.size));
        Arrival { now, packet, backlog: Backlog { packets, bytes }, full: false }
    }

    /// Whether `got` equals `printed`, which has six digits.
    pub fn agrees(got: f64, printed: f64) -> bool {
        (got / printed - 1.0).abs() < 5e-6
    }
}

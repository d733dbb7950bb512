// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Queue disciplines: policies on one first-in-first-out queue, and their registry.
//!
//! A discipline never holds a packet. It is told of each arrival and departure and decides; [`Fifo`] stores,
//! drops, marks and counts. So no discipline can lose a packet, deliver one it dropped, or forget to count one:
//! received = delivered + dropped + queued holds by construction, by identity.
//!
//! To add one: write `queue/NAME.rs` like `queue/droptail.rs` and add its line to the registry below.

mod fifo;

pub use fifo::{Departed, Fifo};

use crate::packet::Packet;
use crate::rng::Rng;
use crate::settings::Settings;
pub use crate::trace::{Backlog, Reason, Verdict};
use crate::units::{Bytes, Rate, Span, Time};

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// This many packets.
    Packets(u32),
    /// This many bytes.
    Bytes(Bytes),
    /// Whatever comes.
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

/// What a discipline may know of its link when it is built.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The link's rate.
    pub rate: Rate,
    /// The link's propagation delay.
    pub delay: Span,
    /// How much may wait.
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
    /// What waits, without it.
    pub backlog: Backlog,
    /// Whether the limit leaves no room: it will be dropped whatever the decision.
    pub full: bool,
}

/// A packet is next in turn.
#[derive(Clone, Copy, Debug)]
pub struct Departure<'a> {
    /// When.
    pub now: Time,
    /// The packet.
    pub packet: &'a Packet,
    /// What waits, without it.
    pub backlog: Backlog,
    /// How long it waited.
    pub waited: Span,
}

/// What a discipline wants done with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Let it pass.
    Pass,
    /// Set its congestion mark and let it pass; [`Fifo`] drops it instead if its sender would not understand.
    Mark,
    /// Drop it.
    Drop,
}

/// A queue discipline.
pub trait Discipline: Clone + std::fmt::Debug {
    /// Its parameters.
    type Params: Settings;

    /// A discipline for an empty queue.
    fn new(params: Self::Params, facts: Facts) -> Self;
    /// Whether it never objects, ticks or remembers, so that a link may compute departures as packets arrive.
    fn passive(&self) -> bool {
        false
    }
    /// Decides on an arriving packet.
    fn on_arrival(&mut self, arrival: &Arrival, rng: &mut Rng) -> Decision;
    /// Decides on the packet at the head.
    fn on_departure(&mut self, _: &Departure, _: &mut Rng) -> Decision {
        Decision::Pass
    }
    /// The link asked for a packet and none waited.
    fn on_idle(&mut self, _now: Time) {}
    /// How often [`on_tick`](Discipline::on_tick) is wanted.
    fn interval(&self) -> Option<Span> {
        None
    }
    /// An interval has passed.
    fn on_tick(&mut self, _backlog: Backlog, _now: Time) {}
    /// What it remembers that an observer may plot: names with units, and values.
    fn state(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

crate::registry! {
    trait Discipline(Facts);
    each each;
    algorithms {
        droptail::DropTail,
        red::Red,
        adaptive_red::AdaptiveRed as "adaptive-red",
        pi::Pi,
        step::Step,
    }
}

/// The methods of [`Discipline`], for whichever discipline this is.
#[allow(missing_docs)]
impl Any {
    pub fn passive(&self) -> bool {
        each!(self, one => one.passive())
    }
    #[inline]
    pub fn on_arrival(&mut self, arrival: &Arrival, rng: &mut Rng) -> Decision {
        each!(self, one => one.on_arrival(arrival, rng))
    }
    #[inline]
    pub fn on_departure(&mut self, departure: &Departure, rng: &mut Rng) -> Decision {
        each!(self, one => one.on_departure(departure, rng))
    }
    pub fn on_idle(&mut self, now: Time) {
        each!(self, one => one.on_idle(now))
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
    use crate::packet::{Flags, Lag};

    /// The bottleneck of the reference runs: 1040 bytes a packet, a third of the round trip as its delay.
    pub fn link(mbit: u64, rtt: f64) -> Facts {
        let delay = Span::from_secs_f64(rtt / 3.0);
        Facts { rate: Rate::from_mbit(mbit), delay, limit: Limit::Unlimited, packet: Bytes(1040) }
    }

    pub fn packet() -> Packet {
        let nothing = [(0, 0); 3];
        let flags = Flags::default();
        let sent = Time::ZERO;
        Packet {
            sent,
            sack: nothing,
            flow: 0,
            seq: 0,
            hop: 0,
            id: 0,
            size: 1040,
            epoch: 0,
            flags,
            lag: Lag::default(),
        }
    }

    pub fn arrival(packet: &Packet, packets: u32, now: Time) -> Arrival<'_> {
        let bytes = Bytes(u64::from(packets) * u64::from(packet.size));
        Arrival { now, packet, backlog: Backlog { packets, bytes }, full: false }
    }

    /// Whether `got` is `printed`, which has six digits.
    pub fn agrees(got: f64, printed: f64) -> bool {
        (got / printed - 1.0).abs() < 5e-6
    }
}

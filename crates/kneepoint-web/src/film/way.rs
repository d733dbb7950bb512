// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The way of packets through the bottleneck, the first measured link: when each arrived, when it left the queue, and its fate.

use std::collections::BTreeMap;

use kneepoint::packet::Packet;
use kneepoint::spec::Valid;
use kneepoint::trace::{Fate, LinkId, Reason};
use kneepoint::units::Time;

/// An instant and its interval.
type At = (Time, usize);

/// The fate of a packet as a code for a page: 0 it passed, 1 it was marked, and from 2 on a reason of a drop.
fn number(fate: Fate) -> f32 {
    match fate {
        Fate::Passed => 0.0,
        Fate::Marked => 1.0,
        Fate::Dropped(reason) => 2.0 + reason as u8 as f32,
    }
}

/// The bottleneck as a page draws it.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) name: String,
    pub(super) rate_bps: Option<f64>,
    pub(super) delay_s: f64,
}

/// A packet at the bottleneck.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    id: u32,
    pub(super) arrived_s: f32,
    pub(super) left_s: f32,
    pub(super) flow: f32,
    pub(super) group: f32,
    pub(super) fate: f32,
}

/// The queue, its drops and marks over time, and its packets one by one.
#[derive(Clone, Debug)]
pub(super) struct Way {
    link: LinkId,
    pub(super) facts: Facts,
    /// Packets that arrived in each interval less those that left.
    pub(super) grown: Vec<f32>,
    pub(super) drops: Vec<f32>,
    pub(super) marks: Vec<f32>,
    /// Packets in the order of arrival, up to a number of them.
    pub(super) packets: Vec<Passed>,
    most: usize,
    /// Places of the packets that wait, by the packets' numbers.
    waiting: BTreeMap<u32, usize>,
    /// The arrival of the last packet that is kept.
    pub(super) kept_until: Option<Time>,
}

impl Way {
    pub(super) fn new(valid: &Valid, intervals: usize, most: usize) -> Way {
        let links = &valid.network().links;
        let place = links.iter().position(|link| link.measured);
        let facts = place.map_or_else(Facts::default, |place| Facts {
            name: links[place].name.clone(),
            rate_bps: links[place].rate.map(|rate| rate.as_f64()),
            delay_s: links[place].delay.as_secs_f64(),
        });
        Way {
            link: LinkId(place.map_or(u32::MAX, |place| place as u32)),
            facts,
            grown: vec![0.0; intervals + 1],
            drops: vec![0.0; intervals + 1],
            marks: vec![0.0; intervals + 1],
            packets: Vec::new(),
            most,
            waiting: BTreeMap::new(),
            kept_until: None,
        }
    }

    #[inline]
    pub(super) fn link(&self) -> LinkId {
        self.link
    }

    /// A packet arrived and, unless it is dropped, waits until it [left](Way::left).
    pub(super) fn arrived(&mut self, at: At, packet: &Packet, group: u32, fate: Fate) {
        match fate {
            Fate::Dropped(_) => self.drops[at.1] += 1.0,
            Fate::Marked => self.marks[at.1] += 1.0,
            Fate::Passed => {}
        }
        let waits = !matches!(fate, Fate::Dropped(_));
        if waits {
            self.grown[at.1] += 1.0;
        }
        let kept = self.keep(at.0, at.0, packet, group, fate);
        if waits && kept {
            self.waiting.insert(packet.id, self.packets.len() - 1);
        }
    }

    /// A packet arrived whose departure is already known.
    #[inline]
    pub(super) fn passed(&mut self, from: At, to: At, packet: &Packet, group: u32) {
        self.grown[from.1] += 1.0;
        self.grown[to.1] -= 1.0;
        self.keep(from.0, to.0, packet, group, Fate::Passed);
    }

    /// A packet left the queue, and its transmission begins.
    pub(super) fn left(&mut self, at: At, packet: &Packet) {
        self.grown[at.1] -= 1.0;
        if let Some(place) = self.waiting.remove(&packet.id) {
            self.packets[place].left_s = at.0.as_secs_f64() as f32;
        }
    }

    /// A packet was marked or dropped after its arrival.
    pub(super) fn fell(&mut self, at: At, packet: &Packet, fate: Fate) {
        match fate {
            Fate::Passed => return,
            Fate::Marked => self.marks[at.1] += 1.0,
            Fate::Dropped(Reason::Channel) => {
                self.drops[at.1] += 1.0;
                // It has left the queue a short time ago.
                let gone = self.packets.iter_mut().rev().take(RECENT).find(|one| one.id == packet.id);
                gone.into_iter().for_each(|one| one.fate = number(fate));
                return;
            }
            Fate::Dropped(_) => self.drops[at.1] += 1.0,
        }
        let place = match fate {
            Fate::Marked => self.waiting.get(&packet.id).copied(),
            _ => {
                self.grown[at.1] -= 1.0;
                self.waiting.remove(&packet.id)
            }
        };
        if let Some(place) = place {
            self.packets[place].fate = number(fate);
            self.packets[place].left_s = at.0.as_secs_f64() as f32;
        }
    }

    /// Keeps a packet; returns whether there was room.
    #[inline]
    fn keep(&mut self, from: Time, to: Time, packet: &Packet, group: u32, fate: Fate) -> bool {
        let room = self.packets.len() < self.most;
        if room {
            let (arrived_s, left_s) = (from.as_secs_f64() as f32, to.as_secs_f64() as f32);
            let (flow, group, fate) = (packet.flow as f32, group as f32, number(fate));
            self.packets.push(Passed { id: packet.id, arrived_s, left_s, flow, group, fate });
            self.kept_until = Some(from);
        }
        room
    }
}

/// The number of previous packets among which a lost one is searched.
const RECENT: usize = 65_536;

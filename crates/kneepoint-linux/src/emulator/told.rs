// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Rates that a simulated run gives its senders without packets, written into packets here.
//!
//! The oracle tracks open flows. A packet that requests a rate has it lowered to the flow's rate of that instant when
//! it enters
//! the network, so the sender learns a rate that is one round trip old, as in the simulator, plus queueing delay.

use std::collections::BTreeMap;

use kneepoint::link::{LinkSpec, NodeId, Routes};
use kneepoint::packet::{Explicit, Flags, Packet};
use kneepoint::run::Oracle;
use kneepoint::units::{Bytes, Span, Time};

use super::Side;

/// The oracle with its flows.
#[derive(Debug)]
pub(super) struct Told {
    oracle: Box<Oracle>,
    /// The classes of data there and back, by way.
    classes: Vec<[Option<u32>; 2]>,
    /// The classes of open flows.
    open: BTreeMap<u32, u32>,
}

impl Told {
    /// The rates of a network's flows, if any of its links has an oracle.
    pub(super) fn new(
        links: &[LinkSpec],
        packet: Bytes,
        seed: u64,
        ways: &[(NodeId, NodeId)],
        routes: &mut Routes,
    ) -> Option<Told> {
        let mut oracle = Oracle::new(links, packet, seed)?;
        let mut class = |from, to| {
            let path = routes.path(from, to).expect("a valid network has a path both ways");
            // The round trip passes while the packet and its acknowledgement travel.
            oracle.class(&path, Span::ZERO)
        };
        let classes = ways.iter().map(|&(near, far)| [class(near, far), class(far, near)]).collect();
        Some(Told { oracle, classes, open: BTreeMap::new() })
    }

    /// A flow begins with this packet, whose hop is the number of its way, or ends.
    pub(super) fn change(&mut self, flow: u32, begins: bool, packet: &Packet, from: Side, now: Time) {
        if !begins {
            if let Some(class) = self.open.remove(&flow) {
                self.oracle.close(class, now);
            }
        } else if let Some(class) = self.classes[packet.hop as usize][from as usize]
            && !packet.flags.has(Flags::DATAGRAM)
        {
            self.open.insert(flow, class);
            self.oracle.open(class, now);
        }
    }

    /// A packet enters.
    pub(super) fn stamp(&mut self, packet: &mut Packet, now: Time) {
        if packet.flags.has(Flags::RATE)
            && let Some(class) = self.open.get(&packet.flow)
        {
            packet.lower(Explicit::Rate(self.oracle.rate(*class, now)));
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The transfers of a scenario, before its run.

use std::vec::Vec;

use kneepoint_cc::rng::Rng;
use kneepoint_cc::units::{Span, Time};
use kneepoint_sim::link::{Links, NodeId, Routes};
use kneepoint_sim::spec::Group;

use super::super::seen::Ear;
use super::super::{Factory, Settings};
use super::{Cue, Flow};

/// The preparation of a scenario's transfers before the run.
pub(super) struct Setup<'a> {
    pub(super) routes: Routes<'a>,
    pub(super) links: Links,
    pub(super) seed: u64,
    pub(super) flows: Vec<Flow>,
    pub(super) agenda: Vec<(Time, Cue)>,
}

impl Setup<'_> {
    pub(super) fn add(
        &mut self,
        place: usize,
        group: &Group,
        packet: u64,
        hosts: &dyn Fn(usize, usize) -> Option<Factory>,
    ) {
        let streams = group.source.nature().streams;
        let mut starts = Rng::stream(self.seed, streams.starts, place as u64);
        for (index, (member, &(sender, receiver))) in group.members.iter().zip(&group.pairs).enumerate() {
            let Some(made) = hosts(place, index) else { continue };
            let number = self.flows.len() as u32;
            let start = member.start.from + Span(starts.below(member.start.span().0.max(1)));
            self.agenda.push((start, Cue::Start(number)));
            self.agenda.extend(member.stop.map(|stop| (stop, Cue::Stop(number))));
            let hops = [self.path(sender, receiver), self.path(receiver, sender)];
            self.flows.push(Flow {
                group: place as u32,
                hosts: made,
                settings: Settings {
                    packet,
                    seed: self.seed,
                    number: number.into(),
                    ear: Ear::default(),
                    record: None,
                },
                size: member.size.map(|size| size.0),
                hops,
                start,
                ends: None,
                received: 0,
                delivered: Time::NEVER,
                told: 0,
                closed: false,
                sent: 0,
            });
        }
    }

    fn path(&mut self, from: NodeId, to: NodeId) -> u32 {
        let path = self.routes.path(from, to).expect("a valid network has a path both ways");
        self.links.add_path(&path)
    }
}

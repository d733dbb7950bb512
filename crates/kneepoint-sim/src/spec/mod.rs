// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Specs: a network with its traffic, described part by part and then sealed.
//!
//! A [`Builder`] has public fields and promises nothing. [`Builder::build`] checks it, and the result, [`Valid`], can be
//! read but not changed, so that it need not be checked again.

mod builder;
mod check;
mod roster;
#[cfg(test)]
mod tests;

pub use builder::Builder;
pub use check::Invalid;
pub use check::{GREATEST_POPULATION, GREATEST_SEQUENCE, capacity_suits, kept};
pub use roster::{Roster, Slot};

use std::iter::successors;

use crate::link::{LinkSpec, Network, NodeId};
use crate::rng::Rng;
use crate::traffic::{self, Kind};
use crate::units::{Bytes, Interval, Span, Time};
use crate::{cc, tcp};

/// One network with its traffic, checked and sealed, to be run once per seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Valid(Builder);

impl Valid {
    /// The run's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The times of a run's events.
    #[inline]
    pub fn schedule(&self) -> Schedule {
        self.0.schedule
    }

    /// Nodes and links.
    #[inline]
    pub fn network(&self) -> &Network {
        &self.0.network
    }

    /// Groups of traffic, in the order in which tables show them.
    #[inline]
    pub fn groups(&self) -> &[Group] {
        &self.0.groups
    }

    /// Groups whose data a proxy forwards as other groups'.
    #[inline]
    pub fn joints(&self) -> &[Joint] {
        &self.0.joints
    }

    /// The group whose data a proxy forwards as another group's.
    pub fn before(&self, group: usize) -> Option<usize> {
        self.joints().iter().find(|joint| joint.to == group).map(|joint| joint.from)
    }

    /// The group as which a proxy forwards the data of another.
    pub fn behind(&self, group: usize) -> Option<usize> {
        self.joints().iter().find(|joint| joint.from == group).map(|joint| joint.to)
    }

    /// Whether a proxy fills the connections of a group.
    pub fn is_carried(&self, group: usize) -> bool {
        self.before(group).is_some()
    }

    /// The group whose senders begin the connections of a group: another one where proxies forward its data.
    pub fn origin(&self, group: usize) -> usize {
        self.legs(group).last().unwrap_or(group)
    }

    /// A group, and the groups whose data proxies forward until it is this one's, the last leg first.
    pub fn legs(&self, group: usize) -> impl Iterator<Item = usize> + '_ {
        successors(Some(group), |leg| self.before(*leg))
    }

    /// All of its parts.
    pub fn parts(&self) -> &Builder {
        &self.0
    }

    /// Its parts, to be changed and checked again.
    pub fn into_builder(self) -> Builder {
        self.0
    }

    /// The same, sampled at this interval, or not at all; the limits are a scenario's.
    pub fn with_sample(mut self, sample: Option<Span>) -> Result<Valid, Invalid> {
        let duration = self.0.schedule.duration.since(Time::ZERO);
        sample.map_or(Ok(()), |sample| check::kept(sample, duration))?;
        self.0.schedule.sample = sample;
        Ok(self)
    }

    /// The same, where each member starts at an instant of its interval, drawn from the random stream of this name.
    pub fn with_starts(mut self, seed: u64, stream: &str) -> Valid {
        for (place, group) in self.0.groups.iter_mut().enumerate() {
            let mut rng = Rng::stream(seed, stream, place as u64);
            for Member { start, .. } in &mut group.members {
                let at = start.from + Span(rng.below(start.span().0.max(1)));
                *start = Interval { from: at, to: at };
            }
        }
        self
    }

    /// The same with a link, by its name, measured.
    pub fn with_measured(mut self, link: &str) -> Result<Valid, Invalid> {
        let place = check::link_named(&self.0.network, link)?;
        self.0.network.links[place].measured = true;
        Ok(self)
    }

    /// Its approximate size in memory, in bytes.
    pub fn footprint(&self) -> usize {
        let pairs: usize = self.groups().iter().map(|group| group.pairs.len()).sum();
        let members: usize = self.groups().iter().map(|group| group.members.len()).sum();
        // A short string on the heap takes some thirty bytes in addition to its handle.
        self.network().links.len() * (size_of::<LinkSpec>() + 32)
            + self.network().nodes.len() * (size_of::<String>() + 32)
            + pairs * size_of::<(NodeId, NodeId)>()
            + members * size_of::<Member>()
    }

    /// The greatest packet on the wire that any host sends.
    pub fn full_packet(&self) -> Bytes {
        self.groups().iter().filter_map(Group::full_packet).max().unwrap_or(Bytes(1500))
    }
}

/// The times of a run's events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// The end of the run.
    pub duration: Time,
    /// The measurement window, inside the run.
    pub measure: Interval,
    /// The sampling interval of the state, if it is sampled.
    pub sample: Option<Span>,
}

/// Traffic that shares a description.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its name in tables.
    pub name: String,
    /// The congestion control, where the source uses connections.
    pub cc: Option<cc::Config>,
    /// The options of sender and receiver, where the source uses connections.
    pub tcp: Option<tcp::Options>,
    /// The actions of its members.
    pub source: traffic::Config,
    /// Nodes from and to which data travels: of each member, or, where connections are opened in the run, those between
    /// which each connection is.
    pub pairs: Vec<(NodeId, NodeId)>,
    /// The members.
    pub members: Vec<Member>,
}

/// A member of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Member {
    /// It starts at a random instant of this interval; at its beginning if it is empty.
    pub start: Interval,
    /// The time at which it stops, if it does.
    pub stop: Option<Time>,
    /// The size of a transfer; unlimited if `None`.
    pub size: Option<Bytes>,
}

/// A proxy that splits connections: what the receivers of one group have in order is what the senders of another group write.
///
/// Each connection of `from` has one of `to` behind it, by the place of its member or of its pair of nodes; the second group acts by
/// nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joint {
    /// The group whose connections end at the proxy.
    pub from: usize,
    /// The group whose connections begin there.
    pub to: usize,
    /// The data of one connection that the proxy holds at most; the window that its receivers offer keeps it below.
    pub buffer: Bytes,
}

impl Group {
    /// A group without members. Where the source uses connections, they have the default congestion control and options.
    pub fn new(name: impl Into<String>, source: traffic::Config) -> Group {
        let connects = source.nature().kind.connects();
        Group {
            name: name.into(),
            cc: connects.then(cc::Config::default),
            tcp: connects.then(tcp::Options::default),
            source,
            pairs: Vec::new(),
            members: Vec::new(),
        }
    }

    /// Adds a member whose data travels from one node to another.
    #[must_use]
    pub fn member(mut self, from: NodeId, to: NodeId, member: Member) -> Group {
        self.pairs.push((from, to));
        self.members.push(member);
        self
    }

    /// The way in which its members use the network.
    pub fn kind(&self) -> Kind {
        self.source.nature().kind
    }

    /// Its greatest packet on the wire.
    pub fn full_packet(&self) -> Option<Bytes> {
        let segment = self.tcp.as_ref().map(|tcp| tcp.payload + tcp.header);
        segment.max(self.source.nature().packet)
    }
}

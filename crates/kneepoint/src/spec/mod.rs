// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A scenario that cannot hold nonsense: what the parser promises and the engine believes.

mod roster;

pub use roster::{Roster, Slot};

use crate::link::{LinkSpec, Network, NodeId};
use crate::traffic::{self, Kind};
use crate::units::{Bytes, Interval, Span, Time};
use crate::{cc, tcp};

/// One network with its traffic, to be run once per seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Valid {
    /// What the run is called.
    pub name: String,
    /// When things happen.
    pub schedule: Schedule,
    /// Nodes and links.
    pub network: Network,
    /// Groups of traffic, in the order in which tables show them.
    pub groups: Vec<Group>,
}

impl Valid {
    /// About how many bytes it takes in memory.
    pub(crate) fn footprint(&self) -> usize {
        let pairs: usize = self.groups.iter().map(|group| group.pairs.len()).sum();
        let members: usize = self.groups.iter().map(|group| group.members.len()).sum();
        // A short string on the heap takes some thirty bytes beside its handle.
        self.network.links.len() * (size_of::<LinkSpec>() + 32)
            + self.network.nodes.len() * (size_of::<String>() + 32)
            + pairs * size_of::<(NodeId, NodeId)>()
            + members * size_of::<Member>()
    }

    /// The greatest packet on the wire that any host sends.
    pub fn full_packet(&self) -> Bytes {
        self.groups.iter().filter_map(Group::full_packet).max().unwrap_or(Bytes(1500))
    }
}

/// When things happen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// The end of the run.
    pub duration: Time,
    /// What is measured: inside the run.
    pub measure: Interval,
    /// How often the state is sampled, if it is.
    pub sample: Option<Span>,
}

/// Traffic that shares a description.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What tables call it.
    pub name: String,
    /// The congestion control, where the source uses connections.
    pub cc: Option<cc::Config>,
    /// The options of sender and receiver, where the source uses connections.
    pub tcp: Option<tcp::Options>,
    /// What its members do.
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
    /// When it stops, if it does.
    pub stop: Option<Time>,
    /// How much a transfer has to send; without end if `None`.
    pub size: Option<Bytes>,
}

impl Group {
    /// How its members use the network.
    pub fn kind(&self) -> Kind {
        self.source.nature().kind
    }

    /// Its greatest packet on the wire.
    pub fn full_packet(&self) -> Option<Bytes> {
        let segment = self.tcp.as_ref().map(|tcp| tcp.payload + tcp.header);
        segment.max(self.source.nature().packet)
    }
}

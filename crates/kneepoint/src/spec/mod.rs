// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A scenario that cannot hold nonsense: what the parser promises and the engine believes.

use crate::cc;
mod roster;

pub use roster::{Roster, Slot};

use crate::link::{LinkSpec, Network, NodeId};
use crate::tcp;
use crate::traffic::{cbr, web};
use crate::units::{Bytes, Interval, Span, Time};

/// One network with its traffic, to be run once per seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Valid {
    /// What the run is called.
    pub name: String,
    /// When things happen.
    pub schedule: Schedule,
    /// Nodes and links.
    pub network: Network,
    /// Long transfers and others with given times.
    pub flows: Vec<FlowGroup>,
    /// Web sessions.
    pub web: Vec<WebGroup>,
    /// Sources at a constant rate.
    pub cbr: Vec<CbrGroup>,
}

impl Valid {
    /// About how many bytes it takes in memory.
    pub(crate) fn footprint(&self) -> usize {
        let pairs = self
            .web
            .iter()
            .map(|group| group.pairs.len())
            .chain(self.cbr.iter().map(|group| group.pairs.len()));
        let flows = self.flows.iter().map(|group| group.flows.len());
        // A short string on the heap takes some thirty bytes beside its handle.
        self.network.links.len() * (size_of::<LinkSpec>() + 32)
            + self.network.nodes.len() * (size_of::<String>() + 32)
            + pairs.sum::<usize>() * size_of::<(NodeId, NodeId)>()
            + flows.sum::<usize>() * size_of::<FlowSpec>()
    }
}

impl Valid {
    /// The greatest packet on the wire that any host sends.
    pub fn full_packet(&self) -> Bytes {
        let hosts = self.flows.iter().map(|group| &group.tcp).chain(self.web.iter().map(|group| &group.tcp));
        let packets = hosts.map(|tcp| tcp.payload + tcp.header);
        packets.chain(self.cbr.iter().map(|group| group.params.size)).max().unwrap_or(Bytes(1500))
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

/// Transfers that share a description.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowGroup {
    /// What tables call it.
    pub name: String,
    /// The congestion control.
    pub cc: cc::Config,
    /// The options of sender and receiver.
    pub tcp: tcp::Options,
    /// The transfers.
    pub flows: Vec<FlowSpec>,
}

/// One transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSpec {
    /// The sender's node.
    pub from: NodeId,
    /// The receiver's node.
    pub to: NodeId,
    /// It starts at a random instant of this interval; at its beginning if it is empty.
    pub start: Interval,
    /// When it stops sending new data, if it does.
    pub stop: Option<Time>,
    /// How much it has to send; without end if `None`.
    pub size: Option<Bytes>,
}

/// A population of web sessions.
#[derive(Clone, Debug, PartialEq)]
pub struct WebGroup {
    /// What tables call it.
    pub name: String,
    /// The congestion control of each transfer.
    pub cc: cc::Config,
    /// The options of sender and receiver.
    pub tcp: tcp::Options,
    /// What sessions ask for and when.
    pub params: web::Params,
    /// How many sessions.
    pub sessions: u32,
    /// Server and client nodes; each object uses a pair drawn at random.
    pub pairs: Vec<(NodeId, NodeId)>,
    /// Sessions start at random instants of this interval.
    pub start: Interval,
}

/// Sources at a constant rate.
#[derive(Clone, Debug, PartialEq)]
pub struct CbrGroup {
    /// What tables call it.
    pub name: String,
    /// Rate, size and schedule.
    pub params: cbr::Params,
    /// Where each source sends from and to.
    pub pairs: Vec<(NodeId, NodeId)>,
    /// They start at random instants of this interval.
    pub start: Interval,
    /// When they stop, if they do.
    pub stop: Option<Time>,
}

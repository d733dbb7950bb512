// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A scenario that cannot hold nonsense: what the parser promises and the engine believes.

use crate::aqm::{self, Limit};
use crate::cc;
use crate::link::Loss;
use crate::tcp;
use crate::traffic::{cbr, web};
use crate::units::{Bytes, Interval, Rate, Span, Time};

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
    pub(super) fn footprint(&self) -> usize {
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

/// A node, by its place in [`Network::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// A graph in which every flow has a path both ways.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// Links, each in one direction.
    pub links: Vec<LinkSpec>,
}

/// A link in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// What tables call it: `r1-r2`.
    pub name: String,
    /// Where it begins.
    pub from: NodeId,
    /// Where it ends.
    pub to: NodeId,
    /// How fast it transmits; `None` for at once.
    pub rate: Option<Rate>,
    /// How long a packet travels.
    pub delay: Span,
    /// By how much more it may delay a packet, at random and without reordering.
    pub jitter: Span,
    /// Which discipline rules its queue.
    pub queue: aqm::Config,
    /// How much may wait.
    pub limit: Limit,
    /// What the channel loses.
    pub loss: Loss,
    /// Whether its queue is measured (a bottleneck) or only carried (an access link).
    pub measured: bool,
}

impl LinkSpec {
    /// A link from a node to itself that does nothing but hold packets back: the noise of a host.
    pub fn noise(node: NodeId, jitter: Span) -> LinkSpec {
        LinkSpec {
            name: String::new(),
            from: node,
            to: node,
            rate: None,
            delay: Span::ZERO,
            jitter,
            queue: aqm::Config::default(),
            limit: Limit::Unlimited,
            loss: Loss::None,
            measured: false,
        }
    }
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

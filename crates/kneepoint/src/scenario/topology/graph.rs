// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Graph: any network; its links are written one by one under `[[link]]`.

use std::collections::BTreeSet;

use super::super::choose::{Precedence, choose};
use super::super::effects::{EFFECTS, HANDOVER, REVERSE, effects, hand_over, handover};
use super::super::forms::{Buffer, Name};
use super::super::queues;
use super::super::reader::{Shape, settings};
use super::super::sections::Direction;
use super::super::tree::Table;
use super::net::Net;
use super::{
    DelaySteps, Laid, Nominal, Period, Site, Topology, Wish, delay_range, delays_repeat, nominal,
    period_range, rate_range, steps,
};
use crate::fault::Faults;
use crate::link::{LinkSpec, NodeId, capacity, loss};
use crate::settings::{Auto, FilePath, Inline, Or};
use crate::suggest::did_you_mean;
use crate::units::{Rate, Span};

crate::settings! {
    /// A graph has no fields of its own.
    pub struct Params {}
}

crate::settings! {
    /// A node of a graph.
    pub struct NodeFields {
        /// The node's name.
        name: Name = Name("a".into());
    }
}

crate::settings! {
    /// A link of a graph.
    pub struct LinkFields {
        /// The node where it begins.
        from: Name = Name("a".into());
        /// The node where it ends.
        to: Name = Name("b".into());
        /// Its rate; `auto` is the mean of its trace.
        rate: Nominal = Or::is(Rate::from_mbit(10)), rate_range();
        /// Its one-way delay.
        delay: Span = Span::from_millis(10), Span::ZERO..=Span::from_secs(500);
        /// Times and the one-way delay from each of them on, as in `["10s: 50ms"]`; packets never overtake one another.
        delay_steps: DelaySteps = Or::WORD, delay_range();
        /// The file to take them from: a time and a delay in each line, or the columns of a trace.
        delay_file: Or<FilePath, Inline> = Or::WORD;
        /// After how long the delay steps begin again.
        delay_period: Period = Or::WORD, period_range();
        /// The greatest additional random delay of a packet, without reordering.
        jitter: Span = Span::ZERO, Span::ZERO..=Span::from_secs(100);
        /// Its buffer: bandwidth-delay products of there and back over this link, packets, data or time.
        buffer: Buffer = Buffer::Packets(100);
        /// Whether there is a link like it in the other direction.
        duplex: bool = true;
        /// Whether its queue is measured.
        measured: bool = true;
    } check |fields| delays_repeat(&fields.delay_steps, &fields.delay_period)
}

/// The members of families that a link has in addition.
const BESIDES: &[&str] = &[
    "queue",
    "feedback",
    "loss",
    "capacity",
    EFFECTS[0].name,
    EFFECTS[1].name,
    EFFECTS[2].name,
    EFFECTS[3].name,
    HANDOVER.name,
];
/// The keys that a link must have.
pub(in crate::scenario) const LINK_REQUIRED: &[&str] = &["from", "to", "rate", "delay"];

/// A graph.
#[derive(Clone, Debug)]
pub struct Graph;

impl Topology for Graph {
    type Params = Params;

    fn new(_: Params) -> Graph {
        Graph
    }
    fn lay(&self, site: &Site, table: &Table, faults: &mut Faults) -> Option<Laid> {
        lay(site, table, faults)
    }
}

fn lay(site: &Site, table: &Table, faults: &mut Faults) -> Option<Laid> {
    let mut graph = Plan { net: Net::default(), declared: site.root.get("node").is_some() };
    let nodes = site.root.tables("node", faults);
    if let Some(node) = nodes.get(GREATEST_GRAPH) {
        let message = format!("there are more than {GREATEST_GRAPH} nodes");
        faults.add_with_help(&node.span, message, "leave some out");
        return None;
    }
    for node in nodes {
        graph.node(node, faults);
    }
    if let Some(node) = site.root.get("reverse_queue") {
        let help = "write `queue` on the links that differ";
        faults.add_with_help(&node.span, "`[reverse_queue]` means nothing in a graph", help);
    }
    if let Some(node) = site.root.get(REVERSE) {
        let help = "write each direction as its own link, with `duplex = false`";
        faults.add_with_help(&node.span, "`[reverse]` means nothing in a graph", help);
    }
    let links = site.root.tables("link", faults);
    if links.is_empty() {
        let help = "write each link under a line `[[link]]` with `from`, `to`, `rate` and `delay`";
        faults.add_with_help(&table.span, "a graph needs links", help);
    }
    if let Some(link) = links.get(GREATEST_GRAPH) {
        faults.add_with_help(
            &link.span,
            format!("there are more than {GREATEST_GRAPH} links"),
            "leave some out",
        );
        return None;
    }
    for link in links {
        graph.link(site, link, faults);
    }
    let remedy = "the delays of the links give the round-trip time";
    for wish in &site.wishes {
        wish.refuse("rtt", "graph", remedy, faults);
    }
    let pairs: Vec<(NodeId, NodeId)> =
        site.wishes.iter().filter_map(|wish| graph.ends(wish, faults)).collect();
    if !faults.is_empty() {
        return None;
    }
    let repeat = |(wish, pair): (&Wish, _)| vec![pair; if wish.crossed { 1 } else { wish.count as usize }];
    Some(Laid { network: graph.net.0, pairs: site.wishes.iter().zip(pairs).map(repeat).collect() })
}

/// More links, or nodes, than a hand-written scenario has.
const GREATEST_GRAPH: usize = 2000;

/// Nodes and links so far.
struct Plan {
    net: Net,
    /// Whether nodes are listed; if not, links define them.
    declared: bool,
}

impl Plan {
    fn node(&mut self, table: &Table, faults: &mut Faults) {
        let shape = Shape { place: "[[node]]", required: &["name"], ..Shape::default() };
        let NodeFields { name: Name(name) } = settings(table, shape, faults);
        if self.find(&name).is_some() {
            let message = format!("there are two nodes called `{name}`");
            faults.add_with_help(table.place("name"), message, "give each its own name");
        } else {
            self.net.node(name);
        }
    }

    fn find(&self, name: &str) -> Option<NodeId> {
        self.net.0.nodes.iter().position(|node| node == name).map(|place| NodeId(place as u32))
    }

    /// The node that `field` names; links may bring new ones unless nodes are listed.
    fn end(&mut self, table: &Table, field: &str, name: &str, faults: &mut Faults) -> Option<NodeId> {
        if let Some(node) = self.find(name) {
            return Some(node);
        }
        if !self.declared {
            return Some(self.net.node(name));
        }
        let known: Vec<&str> = self.net.0.nodes.iter().map(String::as_str).collect();
        faults.add_with_help(
            table.place(field),
            format!("there is no node `{name}`"),
            did_you_mean(name, &known),
        );
        None
    }

    fn link(&mut self, site: &Site, table: &Table, faults: &mut Faults) -> Option<()> {
        let before = faults.len();
        let shape = Shape { place: "[[link]]", besides: BESIDES, required: LINK_REQUIRED };
        let fields: LinkFields = settings(table, shape, faults);
        let queue = match table.get("queue") {
            Some(node) => queues::discipline(node, &site.queue_defaults, "queue", site.extensions, faults)?,
            None => site.queue.clone(),
        };
        let feedback = match table.get("feedback") {
            Some(node) => choose(node, "feedback", Precedence::Members, site.extensions, faults)?.config,
            None => site.feedback.clone(),
        };
        let loss = match table.get("loss") {
            Some(node) => {
                choose::<loss::Config>(node, "loss", Precedence::Members, site.extensions, faults)?.config
            }
            None => site.loss.clone(),
        };
        let capacity = match table.get("capacity") {
            Some(node) => {
                choose::<capacity::Config>(node, "capacity", Precedence::Members, site.extensions, faults)?
                    .config
            }
            None => site.capacity.clone(),
        };
        let place = |name: &str| format!("`{name}` of a link");
        let effects = effects(table, &site.effects, place, faults);
        let handover = handover(table, &site.handover, "`handover` of a link", faults);
        if faults.len() > before {
            return None;
        }
        let from = self.end(table, "from", &fields.from.0, faults)?;
        let to = self.end(table, "to", &fields.to.0, faults)?;
        let rate = nominal(&fields.rate, &capacity, table, faults)?;
        let pipe = site.pipe(rate, fields.delay * 2, table.place("buffer"));
        let limit = pipe.limit(fields.buffer, 2, faults)?;
        let link = LinkSpec {
            rate: Some(rate),
            capacity,
            delay: fields.delay,
            delay_steps: steps(&fields.delay_steps),
            delay_period: fields.delay_period.get().copied(),
            jitter: fields.jitter,
            queue,
            feedback,
            limit,
            loss,
            effects: effects.boxed(),
            measured: fields.measured,
            ..LinkSpec::new(from, to)
        };
        if from == to {
            let message = format!("a link from `{}` to itself", fields.from);
            faults.add_with_help(table.place("to"), message, "let `from` and `to` differ");
            return None;
        }
        let mut there = link.clone();
        hand_over(&mut there, (&handover, &handover.rates), table, faults);
        self.add(there, table, faults);
        if fields.duplex {
            let mut back = LinkSpec { from: to, to: from, ..link };
            hand_over(&mut back, (&handover, &handover.reverse_rates), table, faults);
            self.add(back, table, faults);
        }
        Some(())
    }

    fn add(&mut self, link: LinkSpec, table: &Table, faults: &mut Faults) {
        if self.net.0.links.iter().any(|other| (other.from, other.to) == (link.from, link.to)) {
            let message = "there is a link between these nodes already, in this direction";
            let help = "a link goes both ways unless `duplex = false`; leave one of them out";
            faults.add_with_help(&table.span, message, help);
        } else {
            self.net.link(link);
        }
    }

    /// The nodes between which a group sends, if there is a path there and back.
    fn ends(&self, wish: &Wish, faults: &mut Faults) -> Option<(NodeId, NodeId)> {
        let from = self.named(wish, "from", &wish.place.from, faults);
        let to = self.named(wish, "to", &wish.place.to, faults);
        let (from, to) = match wish.place.direction {
            Direction::Forward => (from?, to?),
            Direction::Reverse => (to?, from?),
        };
        if from == to {
            let message = format!("{}: it enters and leaves at the same node", wish.label);
            faults.add_with_help(wish.table.place("to"), message, "let `from` and `to` differ");
            return None;
        }
        for (one, other) in [(from, to), (to, from)] {
            if !self.reaches(one, other) {
                let name = |node: NodeId| &self.net.0.nodes[node.0 as usize];
                let message =
                    format!("{}: no path leads from `{}` to `{}`", wish.label, name(one), name(other));
                let help = "data needs a path there, and acknowledgements one back";
                faults.add_with_help(wish.table.place("to"), message, help);
                return None;
            }
        }
        Some((from, to))
    }

    fn named(&self, wish: &Wish, field: &str, name: &Or<Name, Auto>, faults: &mut Faults) -> Option<NodeId> {
        let known: Vec<&str> = self.net.0.nodes.iter().map(String::as_str).collect();
        let Some(Name(name)) = name.get() else {
            let message = format!("{}: a graph needs `{field}`", wish.label);
            faults.add_with_help(&wish.table.span, message, did_you_mean("", &known));
            return None;
        };
        let node = self.find(name);
        // Unreadable links add no nodes; the fault is in the links.
        if node.is_none() && (faults.is_empty() || !known.is_empty()) {
            let message = format!("{}: there is no node `{name}`", wish.label);
            faults.add_with_help(wish.table.place(field), message, did_you_mean(name, &known));
        }
        node
    }

    fn reaches(&self, from: NodeId, to: NodeId) -> bool {
        let mut next = vec![Vec::new(); self.net.0.nodes.len()];
        for link in &self.net.0.links {
            next[link.from.0 as usize].push(link.to);
        }
        let mut open = vec![from];
        let mut seen = BTreeSet::from([from]);
        while let Some(node) = open.pop() {
            open.extend(next[node.0 as usize].iter().filter(|node| seen.insert(**node)));
        }
        seen.contains(&to)
    }
}

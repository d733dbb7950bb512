// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Groups of traffic: from `[[flows]]`, `[[web]]` and `[[cbr]]` to what the network has to place and the engine to run.

use super::choose::{Precedence, choose};
use super::fault::Faults;
use super::forms::{Name, Start};
use super::reader::{Shape, fill};
use super::sections::{Cbr, Flows, Place, Run, Web};
use super::topology::Wish;
use super::tree::{Node, Table, Value};
use crate::link::NodeId;
use crate::settings::Assign;
use crate::settings::{Auto, Never, Or};
use crate::spec::{CbrGroup, FlowGroup, FlowSpec, Schedule, Valid, WebGroup};
use crate::traffic::{cbr, web};
use crate::units::{Bytes, Interval, Span, Time};
use crate::{cc, tcp};

/// The sections of traffic, in the order in which tables show them.
pub(super) const SECTIONS: [&str; 3] = ["flows", "web", "cbr"];

/// What every group is held against.
pub(super) struct Frame<'f> {
    pub run: &'f Run,
    /// The options of `[tcp]`.
    pub tcp: &'f tcp::Options,
}

/// A group that waits for its nodes.
pub(super) enum Group {
    Flows(FlowGroup, Flows),
    Web(WebGroup),
    Cbr(CbrGroup),
}

/// The name by which a sweep or a message finds a group.
pub(super) fn label(table: &Table, section: &str) -> String {
    let given = table.get("name").and_then(Node::as_text).filter(|name| *name != "auto");
    let control = || match table.get("cc").map(|cc| &cc.value) {
        Some(Value::Table(cc)) if section == "flows" => cc.get("kind").and_then(Node::as_text),
        Some(_) if section == "flows" => table.get("cc").and_then(Node::as_text),
        _ => None,
    };
    given.or_else(control).unwrap_or(section).to_string()
}

/// Reads one group; `None` after a fault.
pub(super) fn group<'t>(
    section: &str,
    table: &'t Table,
    frame: &Frame,
    faults: &mut Faults,
) -> Option<(Group, Wish<'t>)> {
    let name = label(table, section);
    let place = format!("[[{section}]] `{name}`");
    let before = faults.len();
    let mut hosts = Place::default();
    let read = match section {
        "flows" => flows(table, &name, &place, frame, &mut hosts, faults),
        "web" => sessions(table, &name, &place, frame, &mut hosts, faults),
        _ => sources(table, &name, &place, frame, &mut hosts, faults),
    };
    let group = read.filter(|_| faults.len() == before)?;
    let full = |tcp: &tcp::Options| tcp.payload + tcp.header;
    let (count, packet) = match &group {
        Group::Flows(flows, fields) => (fields.count, full(&flows.tcp)),
        Group::Web(web) => (web.pairs.len() as u32, full(&web.tcp)),
        Group::Cbr(cbr) => (cbr.pairs.len() as u32, cbr.params.size),
    };
    let crossed = matches!(group, Group::Web(_));
    let pressing = match &group {
        Group::Cbr(cbr) => Some(cbr.params.rate),
        Group::Flows(..) | Group::Web(_) => None,
    };
    Some((group, Wish { label: place, table, count, packet, crossed, pressing, place: hosts }))
}

/// A pair of nodes that the topology has still to give.
const UNPLACED: (NodeId, NodeId) = (NodeId(0), NodeId(0));

fn flows(
    table: &Table,
    name: &str,
    place: &str,
    frame: &Frame,
    hosts: &mut Place,
    faults: &mut Faults,
) -> Option<Group> {
    let mut fields = Flows::default();
    let shape = Shape { place, besides: &["cc", "tcp"], required: &[] };
    fill(table, shape, &mut [&mut fields, hosts], faults);
    named(table, &fields.name, faults);
    times(table, place, frame, &fields.start, &fields.stop, faults);
    turns(table, place, frame, &fields, faults);
    let (cc, tcp) = sender(table, place, frame, faults)?;
    let segments = fields.size.get().map_or(0, |size| size.0 / tcp.payload.0);
    if segments >= GREATEST_SEQUENCE {
        let message = format!("{place}: a size of {segments} packets is above {GREATEST_SEQUENCE}");
        faults.add_with_help(table.place("size"), message, "send less, or larger packets");
    }
    Some(Group::Flows(FlowGroup { name: name.into(), cc, tcp, flows: Vec::new() }, fields))
}

fn sessions(
    table: &Table,
    name: &str,
    place: &str,
    frame: &Frame,
    hosts: &mut Place,
    faults: &mut Faults,
) -> Option<Group> {
    let (mut fields, mut params) = (Web::default(), web::Params::default());
    let shape = Shape { place, besides: &["cc", "tcp"], required: &[] };
    fill(table, shape, &mut [&mut fields, hosts, &mut params], faults);
    named(table, &fields.name, faults);
    times(table, place, frame, &fields.start, &Or::WORD, faults);
    let (cc, tcp) = sender(table, place, frame, faults)?;
    let pairs = vec![UNPLACED; fields.nodes as usize];
    let sessions = fields.sessions;
    Some(Group::Web(WebGroup { name: name.into(), cc, tcp, params, sessions, pairs, start: fields.start.0 }))
}

fn sources(
    table: &Table,
    name: &str,
    place: &str,
    frame: &Frame,
    hosts: &mut Place,
    faults: &mut Faults,
) -> Option<Group> {
    let (mut fields, mut params) = (Cbr::default(), cbr::Params::default());
    fill(table, Shape { place, ..Shape::default() }, &mut [&mut fields, hosts, &mut params], faults);
    named(table, &fields.name, faults);
    times(table, place, frame, &fields.start, &fields.stop, faults);
    // It sends at least one packet each time it is on: if on for less, more than its rate.
    let packet = params.rate.time_for(params.size);
    if params.on > Span::ZERO && params.on < packet {
        let message =
            format!("{place}: on for {} is less than the {packet} that one packet takes", params.on);
        faults.add_with_help(table.place("on"), message, "lengthen `on`, raise `rate` or lower `size`");
    }
    let pairs = vec![UNPLACED; fields.count as usize];
    let stop = fields.stop.get().map(|stop| stop.after_start());
    Some(Group::Cbr(CbrGroup { name: name.into(), params, pairs, start: fields.start.0, stop }))
}

/// A dot would make the paths of sweeps ambiguous.
fn named(table: &Table, name: &Or<Name, Auto>, faults: &mut Faults) {
    if let Some(Name(name)) = name.get().filter(|Name(name)| name.contains('.') || name == "*") {
        let message = format!("name: `{name}` cannot be told from a path");
        faults.add_with_help(table.place("name"), message, "leave dots and a lone asterisk out of it");
    }
}

fn times(
    table: &Table,
    place: &str,
    frame: &Frame,
    start: &Start,
    stop: &Or<Span, Never>,
    faults: &mut Faults,
) {
    let duration = frame.run.duration;
    let end: Time = duration.after_start();
    if start.0.to > end || start.0.from >= end {
        let message = format!("{place}: a start at {start} is not before the end of the run, {duration}");
        faults.add_with_help(table.place("start"), message, "start earlier, or raise `duration` in [run]");
    }
    if let Some(stop) = stop.get().filter(|stop| stop.after_start() <= start.0.to) {
        let message = format!("{place}: a stop at {stop} is not after the start, {start}");
        faults.add_with_help(table.place("stop"), message, "stop later, or `never`");
    }
}

/// Where members start or stop in turn, the last of them has to fit into the run, too.
fn turns(table: &Table, place: &str, frame: &Frame, fields: &Flows, faults: &mut Faults) {
    let (first, last) = (fields.times(0), fields.times(fields.count.saturating_sub(1) as usize));
    let end: Time = frame.run.duration.after_start();
    if last.0.to > end && first.0.to <= end {
        let message = format!("{place}: the last of {} starts after the end of the run", fields.count);
        faults.add_with_help(
            table.place("start_every"),
            message,
            "let them start closer, or raise `duration` in [run]",
        );
    }
    let backwards = |(start, stop): (Interval, Option<Time>)| stop.is_some_and(|stop| stop <= start.to);
    if backwards(last) && !backwards(first) {
        let message = format!("{place}: the last of {} stops before it starts", fields.count);
        faults.add_with_help(
            table.place("start_every"),
            message,
            "let `stop_every` be as long as `start_every`",
        );
    }
}

/// A group's congestion control and options: `[tcp]`, then what the control's name brings, then its own.
fn sender(
    table: &Table,
    place: &str,
    frame: &Frame,
    faults: &mut Faults,
) -> Option<(cc::Config, tcp::Options)> {
    let chosen = match table.get("cc") {
        Some(node) => choose::<cc::Config>(node, "cc", Precedence::Members, faults),
        None => {
            let help = super::fault::did_you_mean("", &<cc::Config as super::choose::Family>::names());
            faults.add_with_help(&table.span, format!("{place} needs `cc`, a congestion control"), help);
            None
        }
    };
    let mut tcp = frame.tcp.clone();
    if let Some(recovery) = chosen.as_ref().and_then(|chosen| chosen.recovery) {
        tcp.recovery = recovery;
    }
    match table.get("tcp").map(|node| (node, &node.value)) {
        None => {}
        Some((_, Value::Table(own))) => {
            let place = format!("tcp of {place}");
            let target: &mut dyn Assign = &mut tcp;
            fill(own, Shape { place: &place, ..Shape::default() }, &mut [target], faults);
        }
        Some((node, _)) => {
            let help = "write `tcp = { recovery = \"sack\" }`, or its fields under `[flows.tcp]`";
            faults.add_with_help(
                &node.span,
                format!("tcp: `{}` is not a table of options", node.show()),
                help,
            );
        }
    }
    chosen.map(|chosen| (chosen.config, tcp))
}

/// Sequence numbers of segments have 32 bits; this leaves a window's room.
pub(super) const GREATEST_SEQUENCE: u64 = 4_000_000_000;

impl Group {
    pub(super) fn name(&self) -> &str {
        match self {
            Group::Flows(group, _) => &group.name,
            Group::Web(group) => &group.name,
            Group::Cbr(group) => &group.name,
        }
    }

    /// How many senders it adds to the population.
    pub(super) fn population(&self) -> u64 {
        match self {
            Group::Flows(_, fields) => fields.count.into(),
            Group::Web(group) => u64::from(group.sessions).max(group.pairs.len() as u64),
            Group::Cbr(group) => group.pairs.len() as u64,
        }
    }

    /// The payload of its full packets, where it counts them.
    pub(super) fn payload(&self) -> Option<Bytes> {
        match self {
            Group::Flows(group, _) => Some(group.tcp.payload),
            Group::Web(_) | Group::Cbr(_) => None,
        }
    }

    /// Moves into its place in `valid`, with the nodes it was given.
    pub(super) fn settle(self, pairs: Vec<(NodeId, NodeId)>, valid: &mut Valid) {
        match self {
            Group::Flows(mut group, fields) => {
                let size = fields.size.get().copied();
                let transfer = |(place, (from, to))| {
                    let (start, stop) = fields.times(place);
                    FlowSpec { from, to, start, stop, size }
                };
                group.flows = pairs.into_iter().enumerate().map(transfer).collect();
                valid.flows.push(group);
            }
            Group::Web(group) => valid.web.push(WebGroup { pairs, ..group }),
            Group::Cbr(group) => valid.cbr.push(CbrGroup { pairs, ..group }),
        }
    }
}

impl Frame<'_> {
    /// When things happen.
    pub(super) fn schedule(&self) -> Schedule {
        Schedule {
            duration: self.run.duration.after_start(),
            measure: self.run.measured(),
            sample: self.run.sample.get().copied(),
        }
    }
}

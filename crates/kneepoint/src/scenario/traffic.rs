// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Groups of traffic: from the sections of sources to requirements for the topology and groups for the engine.

use super::choose::{Family, Precedence, choose_from, meant, unfold};
use super::extensions::Extensions;
use super::forms::{Name, Start};
use super::host;
use super::reader::{Shape, fill};
use super::sections::{Endpoints, Flows, Members, Process, Run, Sessions};
use super::topology::Wish;
use super::tree::{Node, Table, Value};
use crate::fault::Faults;
use crate::link::NodeId;
use crate::settings::{Assign, Auto, Never, Or, Settings};
use crate::spec::{self, GREATEST_POPULATION, GREATEST_SEQUENCE, Member, Schedule};
use crate::traffic::{self, Kind};
use crate::units::{Bytes, Interval, Span, Time};
use crate::{cc, tcp};

/// Sections against which every group is checked.
pub(super) struct Context<'f> {
    pub run: &'f Run,
    /// The options of `[tcp]`.
    pub tcp: &'f tcp::Options,
    /// Parameters of controllers under their names: `[controllers.pert]`.
    pub controllers: &'f Table,
    /// Algorithms that groups may name in addition to the registered ones.
    pub extensions: &'f Extensions,
}

/// The name by which a sweep or a message finds a group.
pub(super) fn label(table: &Table, section: &str, extensions: &Extensions) -> String {
    let given = table.get("name").and_then(Node::as_text).filter(|name| *name != "auto");
    // Transfers are named after their congestion control.
    let is_own =
        |(name, source): (&str, traffic::Config)| name == section && source.nature().kind == Kind::Transfers;
    let transfers = || extensions.sources().any(is_own);
    let control = || match table.get("cc").map(|cc| &cc.value) {
        Some(Value::Table(cc)) if transfers() => cc.get("kind").and_then(Node::as_text),
        Some(_) if transfers() => table.get("cc").and_then(Node::as_text),
        _ => None,
    };
    let declared = |written| <cc::Config as Family>::MEMBERS.declared(written).unwrap_or(written);
    given.or_else(|| control().map(declared)).unwrap_or(section).to_string()
}

/// A group that waits for its nodes.
pub(super) struct Group {
    group: spec::Group,
    /// The pairs of hosts it needs.
    hosts: u32,
}

/// The fields of a section, by kind.
enum Given {
    Flows(Flows),
    Sessions(Sessions),
    Process(Process),
    Members(Members),
}

impl Given {
    fn of(kind: Kind) -> Given {
        match kind {
            Kind::Transfers => Given::Flows(Flows::default()),
            Kind::Sessions => Given::Sessions(Sessions::default()),
            Kind::Process => Given::Process(Process::default()),
            Kind::Streams | Kind::Datagrams => Given::Members(Members::default()),
        }
    }

    fn target(&mut self) -> &mut dyn Assign {
        match self {
            Given::Flows(fields) => fields,
            Given::Sessions(fields) => fields,
            Given::Process(fields) => fields,
            Given::Members(fields) => fields,
        }
    }

    fn common(&self) -> (&Or<Name, Auto>, &Start, &Or<Span, Never>) {
        match self {
            Given::Flows(fields) => (&fields.name, &fields.start, &fields.stop),
            Given::Sessions(fields) => (&fields.name, &fields.start, &Or::WORD),
            Given::Process(fields) => (&fields.name, &fields.start, &fields.stop),
            Given::Members(fields) => (&fields.name, &fields.start, &fields.stop),
        }
    }

    /// The number of pairs of hosts that it needs, and of its members.
    fn counts(&self) -> (u32, u32) {
        match self {
            Given::Flows(fields) => (fields.count, fields.count),
            Given::Sessions(fields) => (fields.nodes, fields.sessions),
            Given::Process(fields) => (fields.nodes, 1),
            Given::Members(fields) => (fields.count, fields.count),
        }
    }

    fn member(&self, place: usize) -> Member {
        let (_, start, stop) = self.common();
        let ((start, stop), size) = match self {
            Given::Flows(fields) => (fields.times(place), fields.size.get().copied()),
            _ => ((start.0, stop.get().map(|stop| stop.after_start())), None),
        };
        Member { start, stop, size }
    }
}

/// The tables of a group in addition to its fields.
fn besides(kind: Kind) -> &'static [&'static str] {
    if kind.connects() { &["cc", "tcp"] } else { &[] }
}

/// Fields of every section of a kind, in addition to the parameters of its source.
pub(super) fn common(kind: Kind) -> Vec<&'static str> {
    let fields = Given::of(kind).target().declared().iter().chain(Endpoints::FIELDS).map(|field| field.name);
    fields.chain(besides(kind).iter().copied()).collect()
}

/// Reads one group; `None` after a fault.
pub(super) fn group<'t>(
    section: &str,
    mut source: traffic::Config,
    table: &'t Table,
    frame: &Context,
    faults: &mut Faults,
) -> Option<(Group, Wish<'t>)> {
    let name = label(table, section, frame.extensions);
    let label = format!("[[{section}]] `{name}`");
    let before = faults.len();
    let kind = source.nature().kind;
    let (mut given, mut place) = (Given::of(kind), Endpoints::default());
    let shape = Shape { place: &label, besides: besides(kind), required: &[] };
    fill(table, shape, &mut [given.target(), &mut place, &mut source], faults);
    let (called, start, stop) = given.common();
    named(table, called, faults);
    times(table, &label, frame, start, stop, faults);
    let mut listed = Vec::new();
    if let Given::Flows(fields) = &given {
        turns(table, &label, frame, fields, faults);
        listed = roll(table, (&label, &name), frame, fields, faults);
    }
    let (mut cc, mut tcp) = (None, None);
    if kind.connects() {
        let (control, options) = sender(table, &label, frame, faults)?;
        if let Given::Flows(fields) = &given {
            let sizes = listed.iter().map(|member: &Member| member.size).chain([fields.size.get().copied()]);
            size(table, &label, sizes.flatten().max(), &options, faults);
        }
        (cc, tcp) = (Some(control), Some(options));
    }
    if faults.len() > before {
        return None;
    }
    let (mut hosts, count) = given.counts();
    let mut members: Vec<Member> = (0..count as usize).map(|number| given.member(number)).collect();
    if !listed.is_empty() {
        (hosts, members) = (listed.len() as u32, listed);
    }
    let nature = source.nature();
    let group = spec::Group { name, cc, tcp, source, pairs: Vec::new(), members };
    let (crossed, pressing) = (kind.opens(), nature.pressing);
    let packet = group.full_packet().unwrap_or(frame.tcp.payload + frame.tcp.header);
    Some((Group { group, hosts }, Wish { label, table, count: hosts, packet, crossed, pressing, place }))
}

/// The greatest size must have a sequence number.
fn size(table: &Table, place: &str, greatest: Option<Bytes>, tcp: &tcp::Options, faults: &mut Faults) {
    let segments = greatest.map_or(0, |size| size.0 / tcp.payload.0);
    if segments >= GREATEST_SEQUENCE {
        let message = format!("{place}: a size of {segments} packets is above {GREATEST_SEQUENCE}");
        faults.add_with_help(table.place("size"), message, "send less, or larger packets");
    }
}

/// A dot would make the paths of sweeps ambiguous.
fn named(table: &Table, name: &Or<Name, Auto>, faults: &mut Faults) {
    if let Some(Name(name)) = name.get().filter(|Name(name)| name.contains('.') || name == "*") {
        let message = format!("name: `{name}` cannot be distinguished from a path");
        faults.add_with_help(table.place("name"), message, "leave dots and a lone asterisk out of it");
    }
}

fn times(
    table: &Table,
    place: &str,
    frame: &Context,
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

/// Where members start or stop in turn, the last one must also fit into the run.
fn turns(table: &Table, place: &str, frame: &Context, fields: &Flows, faults: &mut Faults) {
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

/// The transfers that a group lists, each within the run.
fn roll(
    table: &Table,
    (place, name): (&str, &str),
    frame: &Context,
    fields: &Flows,
    faults: &mut Faults,
) -> Vec<Member> {
    if fields.list.is_empty() {
        return Vec::new();
    }
    let at = if table.get("file").is_some() { table.place("file") } else { table.place("list") };
    for field in ["count", "start", "start_every", "stop_every"] {
        if let Some(node) = table.get(field) {
            let message = format!("{place}: `{field}` has no effect with a list of transfers");
            faults.add_with_help(&node.span, message, "leave it out, or the list");
        }
    }
    let listed = fields.listed(name);
    if listed.is_empty() {
        let message = format!("{place}: no row of the list belongs to the group `{name}`");
        faults.add_with_help(at, message, "write its name in the column `group`, or leave that column out");
    }
    if listed.len() > GREATEST_POPULATION as usize {
        let message = format!("{place}: the list has more than {GREATEST_POPULATION} transfers");
        faults.add_with_help(at, message, "leave some out");
    }
    let end: Time = frame.run.duration.after_start();
    if let Some(late) = listed.iter().find(|member| member.start.from >= end) {
        let start = late.start.from.since(Time::ZERO);
        let message =
            format!("{place}: a start at {start} is not before the end of the run, {}", frame.run.duration);
        faults.add_with_help(at, message, "leave it out, or raise `duration` in [run]");
    }
    listed
}

/// A group's congestion control and options: `[tcp]`, then the preset's, then its own.
fn sender(
    table: &Table,
    place: &str,
    frame: &Context,
    faults: &mut Faults,
) -> Option<(cc::Config, tcp::Options)> {
    let chosen = match table.get("cc") {
        Some(node) => unfold(node, <cc::Config as Family>::MEMBERS, "cc", faults).and_then(|own| {
            let (common, known) = (frame.controllers, frame.extensions);
            choose_from::<cc::Config>(&own, common, "cc", Precedence::Members, known, faults)
        }),
        None => {
            let help = meant::<cc::Config>("", frame.extensions);
            faults.add_with_help(&table.span, format!("{place} needs `cc`, a congestion control"), help);
            None
        }
    };
    let mut tcp = frame.tcp.clone();
    if let Some(chosen) = &chosen {
        tcp = host::negotiated(tcp, &chosen.config);
        tcp.recovery = chosen.recovery.unwrap_or(tcp.recovery);
    }
    match table.get("tcp").map(|node| (node, &node.value)) {
        None => {}
        Some((_, Value::Table(own))) => tcp = host::options(own, &format!("tcp of {place}"), tcp, faults),
        Some((node, _)) => {
            let help = "write `tcp = { recovery = \"sack\" }`";
            faults.add_with_help(
                &node.span,
                format!("tcp: `{}` is not a table of options", node.show()),
                help,
            );
        }
    }
    chosen.map(|chosen| (chosen.config, tcp))
}

impl Group {
    pub(super) fn name(&self) -> &str {
        &self.group.name
    }

    /// The number of senders that it adds to the population.
    pub(super) fn population(&self) -> u64 {
        u64::from(self.hosts).max(self.group.members.len() as u64)
    }

    /// The payload of its full packets, where a connection may last as long as the run.
    pub(super) fn payload(&self) -> Option<Bytes> {
        self.group.tcp.as_ref().filter(|_| self.group.kind().listed()).map(|tcp| tcp.payload)
    }

    /// The group with the nodes it was given.
    pub(super) fn settle(self, pairs: Vec<(NodeId, NodeId)>) -> spec::Group {
        spec::Group { pairs, ..self.group }
    }
}

impl Context<'_> {
    /// The times of a run's events.
    pub(super) fn schedule(&self) -> Schedule {
        Schedule {
            duration: self.run.duration.after_start(),
            measure: self.run.measured(),
            sample: self.run.sample.get().copied(),
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One point of a sweep: a tree in which every value is given, to a [`Valid`].

use super::choose::{Family, Precedence, choose, choose_from, choose_in};
use super::effects::{Reverse, effects, handover};
use super::extensions::Extensions;
use super::host;
use super::proxy;
use super::queues;
use super::reader::{Shape, section, settings};
use super::sections::{Head, Run};
use super::topology::{self, Laid, Site, Wish};
use super::traffic::{Context, Group, group};
use super::tree::{Key, Node, Table, Value};
use crate::fault::Faults;
use crate::link::effects::Effects;
use crate::link::handover::Handover;
use crate::settings::names::same_name;
use crate::spec::{Builder, GREATEST_POPULATION, GREATEST_SEQUENCE, Invalid, Valid, capacity_suits};
use crate::suggest::did_you_mean;
use crate::{cc, queue, tcp};

/// More groups than a readable table has.
const GREATEST_GROUPS: usize = 1000;

/// The result of a tree.
pub(super) struct Built {
    pub valid: Valid,
    pub seeds: Vec<u64>,
    pub objects: bool,
}

/// Reads, checks and lays out; `None` after a fault.
pub(super) fn build(root: &Table, extensions: &Extensions, faults: &mut Faults) -> Option<Built> {
    let shape = Shape { place: "the scenario", besides: &extensions.top(), required: &[] };
    let head: Head = settings(root, shape, faults);
    let run: Run =
        settings(&section(root, "run", faults), Shape { place: "[run]", ..Shape::default() }, faults);
    let tcp = host::options(&section(root, "tcp", faults), "[tcp]", tcp::Options::default(), faults);
    let queue_defaults = head.queues.defaults();
    let mut queue_of = |key: &str| -> queue::Config {
        let read = |node| queues::discipline(node, &queue_defaults, &format!("[{key}]"), extensions, faults);
        root.get(key).and_then(read).unwrap_or_default()
    };
    let (queue, reverse_queue) = (queue_of("queue"), queue_of("reverse_queue"));
    let feedback = discipline(root, "feedback", extensions, faults).unwrap_or_default();
    let loss = discipline(root, "loss", extensions, faults).unwrap_or_default();
    let capacity = discipline(root, "capacity", extensions, faults).unwrap_or_default();

    let effects = effects(root, &Effects::default(), |name| format!("[{name}]"), faults);
    let handover = handover(root, &Handover::default(), "[handover]", faults);
    let reverse = Reverse::read(root, extensions, faults);

    let controllers = controllers(root, extensions, faults);
    let frame = Context { run: &run, tcp: &tcp, controllers: &controllers, extensions };
    let (groups, wishes) = traffic(root, &frame, faults);
    let site = Site {
        root,
        extensions,
        queue,
        reverse_queue,
        queue_defaults,
        feedback,
        loss,
        capacity,
        effects,
        handover,
        reverse,
        payload: tcp.payload,
        packet: tcp.payload + tcp.header,
        wishes,
    };
    let laid = place(root, &site, faults)?;
    capacities(root, &laid, faults);
    sequence(root, &frame, &groups, &laid, faults);
    if !faults.is_empty() {
        return None;
    }
    let groups = groups.into_iter().zip(laid.pairs).map(|(group, pairs)| group.settle(pairs)).collect();
    let (groups, joints) = proxy::split(root, &frame, &laid.network, groups, faults);
    if !faults.is_empty() {
        return None;
    }
    let (name, schedule) = (head.name.0, frame.schedule());
    let parts = Builder { name, schedule, network: laid.network, groups, joints };
    let valid = match parts.build() {
        Ok(valid) => valid,
        Err(Invalid { message, help }) => {
            faults.add_with_help(&(0..0), message, help);
            return None;
        }
    };
    let seeds = (0..u64::from(run.seeds)).map(|replication| run.seed + replication).collect();
    Some(Built { valid, seeds, objects: run.objects })
}

/// Parameters of controllers, a table for each, wherever a group chooses one of them. All are read once, so that a
/// mistake is a fault even where no group uses them.
fn controllers(root: &Table, extensions: &Extensions, faults: &mut Faults) -> Table {
    let table = section(root, "controllers", faults);
    for (place, (key, node)) in table.entries.iter().enumerate() {
        if faults.enough() {
            break;
        }
        if let Some((first, _)) =
            table.entries[..place].iter().find(|(one, _)| same_name(&one.text, &key.text))
        {
            let message = format!("controllers: `{}` and `{}` are one controller", first.text, key.text);
            faults.add_with_help(&key.span, message, "write its parameters under one of them");
        }
        let kind = Node::text(&key.text, &key.span);
        let name = Table {
            span: node.span.clone(),
            entries: vec![(Key { text: "kind".into(), ..key.clone() }, kind)],
        };
        match node.value {
            Value::Table(_) => {
                choose_from::<cc::Config>(
                    &name,
                    &table,
                    &format!("[controllers.{}]", key.text),
                    Precedence::Members,
                    extensions,
                    faults,
                );
            }
            _ => {
                let help = "write its parameters as in `[controllers.pert]` and `t1 = \"5ms\"`; a group chooses its controller by its own `cc`";
                faults.add_with_help(
                    &node.span,
                    format!("controllers: `{}` is not a table of parameters", node.show()),
                    help,
                );
            }
        }
    }
    table
}

/// A section that chooses one of a family.
fn discipline<F: Family>(root: &Table, key: &str, extensions: &Extensions, faults: &mut Faults) -> Option<F> {
    let node = root.get(key)?;
    choose(node, &format!("[{key}]"), Precedence::Members, extensions, faults).map(|chosen| chosen.config)
}

fn traffic<'t>(root: &'t Table, frame: &Context, faults: &mut Faults) -> (Vec<Group>, Vec<Wish<'t>>) {
    let mut groups: Vec<Group> = Vec::new();
    let mut wishes = Vec::new();
    let mut population = 0;
    let before = faults.len();
    for (section, source) in frame.extensions.sources() {
        for table in root.tables(section, faults) {
            if groups.len() >= GREATEST_GROUPS {
                let message = format!("there are more than {GREATEST_GROUPS} groups of traffic");
                faults.add_with_help(&table.span, message, "give a group a `count` instead of repeating it");
                break;
            }
            let Some((group, wish)) = group(section, source.clone(), table, frame, faults) else { continue };
            if groups.iter().any(|other| other.name() == group.name()) {
                let message = format!("two groups of traffic are called `{}`", group.name());
                faults.add_with_help(table.place("name"), message, "give each a `name` of its own");
            }
            population += group.population();
            if population > GREATEST_POPULATION.into() {
                let message =
                    format!("{population} senders are above the {GREATEST_POPULATION} that are allowed");
                faults.add_with_help(table.place("count"), message, "ask for fewer, or split the scenario");
            }
            groups.push(group);
            wishes.push(wish);
        }
    }
    // An unreadable group has its own fault already.
    if population == 0 && faults.len() == before {
        let known = frame.extensions;
        let control =
            |section| if known.connecting().any(|one| one == section) { " with a `cc`" } else { "" };
        let kinds = known.sections().map(|section| format!("`[[{section}]]`{}", control(section)));
        let kinds = kinds.collect::<Vec<_>>().join(", ");
        let help = format!("add a group of traffic, with a `count` above 0: one of {kinds}");
        faults.add_with_help(&(0..0), "nobody sends anything", help);
    }
    (groups, wishes)
}

fn place(root: &Table, site: &Site, faults: &mut Faults) -> Option<Laid> {
    if root.get("topology").is_none() {
        let names = site.extensions.names::<topology::Config>();
        let help = format!("add a section `[topology]` with a `kind`: {}", did_you_mean("", &names));
        faults.add_with_help(&(0..0), "there is no network", help);
        return None;
    }
    let table = section(root, "topology", faults);
    let kind: topology::Config =
        choose_in(&table, "[topology]", Precedence::Members, site.extensions, faults)?.config;
    for key in ["node", "link"] {
        if let Some(node) = root.get(key).filter(|_| kind.name() != "graph") {
            let message = format!("`[[{key}]]` means nothing in a {}", kind.name());
            faults.add_with_help(&node.span, message, "write `kind = \"graph\"` in [topology]");
        }
    }
    kind.build().lay(site, &table, faults)
}

/// A capacity suits the rate of its link, and one that is shared has a link the other way to share it with.
fn capacities(root: &Table, laid: &Laid, faults: &mut Faults) {
    let place = if root.get("capacity").is_some() { root.place("capacity") } else { root.place("link") };
    for link in &laid.network.links {
        if let Err(Invalid { message, help }) = capacity_suits(link, &laid.network.links) {
            faults.add_with_help(place, message, help);
        }
        if !faults.is_empty() {
            return;
        }
    }
}

/// No flow may run out of sequence numbers, even if it has the fastest link for itself.
fn sequence(root: &Table, frame: &Context, groups: &[Group], laid: &Laid, faults: &mut Faults) {
    let Some(rate) =
        laid.network.links.iter().filter(|link| link.measured).filter_map(|link| link.rate).max()
    else {
        return;
    };
    let carried = rate.carries(frame.run.duration);
    let duration = match root.get("run") {
        Some(Node { value: Value::Table(run), .. }) => run.place("duration"),
        _ => &root.span,
    };
    for payload in groups.iter().filter_map(Group::payload) {
        if carried.0 / payload.0 > GREATEST_SEQUENCE {
            let message = format!(
                "one flow at {rate} could send {} packets of {payload} in {}, above the {GREATEST_SEQUENCE} allowed",
                carried.0 / payload.0,
                frame.run.duration
            );
            faults.add_with_help(duration, message, "shorten the run, or send larger packets");
            return;
        }
    }
}

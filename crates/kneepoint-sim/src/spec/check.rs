// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checks: every condition under which the parts of a spec can be run.

use std::collections::BTreeSet;
use std::fmt;

use super::{Builder, Group, Joint, Member, Schedule};
use crate::link::effects::Effects;
use crate::link::{LinkSpec, Network, NodeId, Routes};
use crate::queue::Limit;
use crate::settings::{Assign, Raw, Refusal, Settings, increasing};
use crate::suggest::did_you_mean;
use crate::tcp::Recovery;
use crate::traffic::Kind;
use crate::units::{Bytes, Rate, Span, Time};

/// The most senders of one network: a limit for memory, and for tables that can be read.
pub const GREATEST_POPULATION: u32 = 100_000;
/// Sequence numbers of segments have 32 bits; this leaves room for a window.
pub const GREATEST_SEQUENCE: u64 = 4_000_000_000;
/// The longest run.
const LONGEST: Span = Span::from_secs(1_000_000);
/// The longest delay of a link.
const GREATEST_DELAY: Span = Span::from_secs(1000);
/// The most samples of any run: an emulation may last a week.
const MOST_SAMPLES: u64 = 10_000_000;
/// The most samples of a kept run, as for scenarios: more make an unreadable file.
const KEPT_SAMPLES: u64 = 2_000_000;
/// The greatest packet on the wire.
const GREATEST_PACKET: Bytes = Bytes(65_535);

/// The reason why parts make no spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The problem: the place, the value and the allowed range.
    pub message: String,
    /// The remedy.
    pub help: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.message, self.help)
    }
}

impl std::error::Error for Invalid {}

type Checked = Result<(), Invalid>;

/// Refuses unless a condition holds.
fn ensure(holds: bool, message: impl FnOnce() -> String, help: impl Into<String>) -> Checked {
    if holds { Ok(()) } else { Err(Invalid { message: message(), help: help.into() }) }
}

/// Everything.
pub(super) fn all(parts: &Builder) -> Checked {
    let Builder { name: _, schedule: times, network, groups, joints } = parts;
    schedule(times)?;
    names("node", &network.nodes)?;
    names("link", network.links.iter().map(|link| &link.name))?;
    names("group", groups.iter().map(|group| &group.name))?;
    links(network)?;
    population(groups)?;
    for one in groups {
        group(one, network, times)?;
    }
    paths(groups, network)?;
    joints.iter().enumerate().try_for_each(|(place, one)| joint(one, &joints[..place], groups))?;
    sequence(groups, network, times)
}

/// The measurement window is inside the run and not empty, and there are not too many samples.
pub(super) fn schedule(schedule: &Schedule) -> Checked {
    let Schedule { duration, measure, sample } = *schedule;
    let duration = duration.since(Time::ZERO);
    ensure(
        (Span(1)..=LONGEST).contains(&duration),
        || format!("duration, {duration}, is not within 1ns to {LONGEST}"),
        "choose another duration",
    )?;
    ensure(
        measure.from < measure.to,
        || format!("measure, {measure}, is empty"),
        "let it end after it begins",
    )?;
    ensure(
        measure.to <= duration.after_start(),
        || format!("measure, {measure}, reaches beyond duration, {duration}"),
        "end it there or earlier",
    )?;
    sample.map_or(Ok(()), |sample| sampled(sample, duration, MOST_SAMPLES))
}

/// A kept run does not have too many samples.
pub fn kept(sample: Span, duration: Span) -> Checked {
    sampled(sample, duration, KEPT_SAMPLES)
}

fn sampled(sample: Span, duration: Span, most: u64) -> Checked {
    let least = Span(duration.0.div_ceil(most).max(1));
    ensure(
        sample >= least,
        || format!("sample, {sample}, asks for more than {most} samples in duration, {duration}"),
        format!("sample every {least} or less often"),
    )
}

/// The place of a link.
pub(super) fn link_named(network: &Network, name: &str) -> Result<usize, Invalid> {
    network.links.iter().position(|link| link.name == name).ok_or_else(|| {
        let known: Vec<&str> = network.links.iter().map(|link| link.name.as_str()).take(8).collect();
        Invalid { message: format!("no link is called `{name}`"), help: did_you_mean(name, &known) }
    })
}

fn names<'n>(kind: &str, all: impl IntoIterator<Item = &'n String>) -> Checked {
    let mut known = BTreeSet::new();
    for name in all {
        ensure(!name.is_empty(), || format!("a {kind} has no name"), "give it one")?;
        ensure(known.insert(name), || format!("two {kind}s are called `{name}`"), "give each its own name")?;
    }
    Ok(())
}

/// Parameters are within their declared ranges and agree with one another. Lists are left to `check`.
fn parameters<P: Assign + Clone>(place: &str, params: &P, get: impl Fn(&str) -> Option<String>) -> Checked {
    let refuse = |message| Err(Invalid { message, help: "change the parameter".into() });
    let mut copy = params.clone();
    for field in params.declared() {
        let Some(text) = get(field.name).filter(|text| !text.starts_with('[')) else { continue };
        if let Err(Refusal::Value(message)) = copy.assign(field.name, &Raw::guess(&text)) {
            return refuse(format!("{place}: {}: {message}", field.name));
        }
    }
    params.agree().or_else(|message| refuse(format!("{place}: {message}")))
}

fn links(network: &Network) -> Checked {
    // Most links have the same parameters, the defaults.
    let (mut queues, mut feedbacks) = (Vec::new(), Vec::new());
    let (mut losses, mut capacities) = (Vec::new(), Vec::new());
    for link in &network.links {
        one_link(link, network.nodes.len())?;
        if !queues.contains(&&link.queue) {
            parameters(&format!("queue of {}", link.name), &link.queue, |name| link.queue.get(name))?;
            queues.push(&link.queue);
        }
        if !feedbacks.contains(&&link.feedback) {
            parameters(&format!("feedback of {}", link.name), &link.feedback, |name| {
                link.feedback.get(name)
            })?;
            feedbacks.push(&link.feedback);
        }
        if !losses.contains(&&link.loss) {
            parameters(&format!("loss of {}", link.name), &link.loss, |name| link.loss.get(name))?;
            losses.push(&link.loss);
        }
        if !capacities.contains(&&link.capacity) {
            parameters(&format!("capacity of {}", link.name), &link.capacity, |name| {
                link.capacity.get(name)
            })?;
            capacities.push(&link.capacity);
        }
        capacity_suits(link, &network.links)?;
        link.effects.as_deref().map_or(Ok(()), |all| effects(&link.name, all))?;
    }
    Ok(())
}

/// Effects of a link are within their declared ranges.
fn effects(link: &str, effects: &Effects) -> Checked {
    fn each<S: Settings>(link: &str, what: &str, one: &S) -> Checked {
        parameters(&format!("{what} of {link}"), one, |name| one.get(name))
    }
    each(link, "policer", &effects.policer)?;
    each(link, "reordering", &effects.reordering)?;
    each(link, "duplication", &effects.duplication)?;
    each(link, "corruption", &effects.corruption)
}

fn one_link(link: &LinkSpec, nodes: usize) -> Checked {
    let name = &link.name;
    for end in [link.from, link.to] {
        known("link", name, end, nodes)?;
    }
    ensure(link.from != link.to, || format!("link `{name}` ends where it begins"), "connect two nodes")?;
    ensure(link.rate != Some(Rate(0)), || format!("rate of {name}, 0, is not above 0"), "choose a rate")?;
    ensure(
        !matches!(link.limit, Limit::Packets(0) | Limit::Bytes(Bytes(0))),
        || format!("limit of {name}, 0, is not above 0"),
        "let at least one packet wait",
    )?;
    let delays = link.delay_steps.iter().map(|step| step.value);
    for delay in [link.delay, link.jitter].into_iter().chain(delays) {
        ensure(
            delay <= GREATEST_DELAY,
            || format!("delay of {name}, {delay}, is above {GREATEST_DELAY}"),
            "choose a shorter delay",
        )?;
    }
    ensure(
        link.delay_period.is_none_or(|period| link.delay_steps.last().is_some_and(|last| last.at < period)),
        || format!("delay_period of {name} ends before its last delay step"),
        "let it be longer, or leave it out",
    )?;
    increasing("delay_steps", &link.delay_steps)
        .or_else(|message| ensure(false, || format!("link `{name}`: {message}"), "sort the steps by time"))
}

fn known(kind: &str, name: &str, node: NodeId, nodes: usize) -> Checked {
    ensure(
        (node.0 as usize) < nodes,
        || format!("{kind} `{name}` names node {}, and there are {nodes}, counted from 0", node.0),
        "add the node first",
    )
}

/// A capacity suits the rate of its link, and a shared one has a link in the other direction to share it with.
pub fn capacity_suits(link: &LinkSpec, links: &[LinkSpec]) -> Checked {
    if let Some(Err(message)) = link.rate.map(|rate| link.capacity.suits(rate)) {
        let help =
            "change the rate, which is `rate` in a scenario and `--rate` of a command, or the capacity";
        return ensure(false, || format!("{}: {message}", link.name), help);
    }
    ensure(
        !link.capacity.shared() || links.iter().any(|other| other.shares_with(link)),
        || format!("{}: no link of the same rate leads back to share its capacity", link.name),
        "let the link be duplex, or attach hosts with `access = \"full\"`",
    )
}

fn population(groups: &[Group]) -> Checked {
    let members: usize = groups.iter().map(|group| group.members.len()).sum();
    ensure(
        members <= GREATEST_POPULATION as usize,
        || format!("{members} senders are above the {GREATEST_POPULATION} that are allowed"),
        "ask for fewer, or split the scenario",
    )
}

fn group(group: &Group, network: &Network, schedule: &Schedule) -> Checked {
    let Group { name, cc, tcp, source, pairs, members } = group;
    let kind = group.kind();
    ensure(
        (cc.is_some(), tcp.is_some()) == (kind.connects(), kind.connects()),
        || match kind.connects() {
            true => format!("group `{name}` uses connections and lacks a congestion control or options"),
            false => {
                format!("group `{name}` sends datagrams, which have no congestion control and no options")
            }
        },
        "start from `Group::new`",
    )?;
    parameters(&format!("group `{name}`"), source, |field| source.get(field))?;
    if let Some(cc) = cc {
        parameters(&format!("cc of group `{name}`"), cc, |field| cc.get(field))?;
    }
    if let Some(tcp) = tcp {
        parameters(&format!("tcp of group `{name}`"), tcp, |field| Settings::get(tcp, field))?;
    }
    let packet = group.full_packet().unwrap_or(Bytes(1));
    ensure(
        (Bytes(1)..=GREATEST_PACKET).contains(&packet),
        || format!("group `{name}`: packets of {packet} are not within 1B to {GREATEST_PACKET}"),
        "choose another packet size",
    )?;
    for &(from, to) in pairs {
        known("group", name, from, network.nodes.len())?;
        known("group", name, to, network.nodes.len())?;
        ensure(
            from != to,
            || format!("group `{name}` sends from a node to itself"),
            "let another node receive",
        )?;
    }
    counts(group)?;
    members.iter().try_for_each(|one| member(group, one, schedule))
}

fn counts(group: &Group) -> Checked {
    let (name, pairs, members) = (&group.name, group.pairs.len(), group.members.len());
    if !group.kind().opens() {
        return ensure(
            pairs == members,
            || format!("group `{name}` has {members} members and {pairs} pairs of nodes"),
            "give each member a pair",
        );
    }
    ensure(
        members == 0 || pairs > 0,
        || format!("group `{name}` has no pair of nodes between which to open connections"),
        "add a pair",
    )?;
    ensure(
        group.kind() != Kind::Process || members == 1,
        || format!("group `{name}` is one process and has {members} members"),
        "give it one member",
    )
}

fn member(group: &Group, member: &Member, schedule: &Schedule) -> Checked {
    let (name, Member { start, stop: _, size }) = (&group.name, member);
    ensure(
        start.from <= start.to && start.from < schedule.duration && start.to <= schedule.duration,
        || {
            let end = schedule.duration.since(Time::ZERO);
            format!("group `{name}`: a start at {start} is not before the end of the run, {end}")
        },
        "start earlier, or raise the duration",
    )?;
    let Some(size) = size else { return Ok(()) };
    ensure(
        group.kind() == Kind::Transfers,
        || format!("group `{name}`: a size of {size} is given, and only transfers have one"),
        "leave the size out",
    )?;
    let segments = size.0 / group.tcp.as_ref().map_or(1, |tcp| tcp.payload.0.max(1));
    ensure(
        size.0 > 0 && segments < GREATEST_SEQUENCE,
        || format!("group `{name}`: a size of {size} is not within 1B to {GREATEST_SEQUENCE} packets"),
        "choose another size, or larger packets",
    )
}

/// Each pair of a group has a path in both directions, whose policers let its packets pass.
fn paths(groups: &[Group], network: &Network) -> Checked {
    let mut routes = Routes::new(network);
    let mut last = None;
    for (group, &(from, to)) in
        groups.iter().flat_map(|group| group.pairs.iter().map(move |pair| (group, pair)))
    {
        let (name, packet) = (&group.name, group.full_packet());
        if last.replace((packet, from, to)) == Some((packet, from, to)) {
            continue;
        }
        for (a, b) in [(from, to), (to, from)] {
            let node = |node: NodeId| &network.nodes[node.0 as usize];
            ensure(
                routes.path(a, b).is_some(),
                || format!("group `{name}`: there is no path from `{}` to `{}`", node(a), node(b)),
                "connect them with links in both directions",
            )?;
        }
        for place in routes.path(from, to).unwrap_or_default() {
            passes(&network.links[place as usize], packet.unwrap_or(Bytes(1)))?;
        }
    }
    Ok(())
}

/// The burst of a policer holds a packet: larger ones would never pass.
fn passes(link: &LinkSpec, packet: Bytes) -> Checked {
    let policer = link.effects.as_deref().map(|effects| &effects.policer);
    let Some(policer) = policer.filter(|policer| policer.rate.get().is_some()) else { return Ok(()) };
    ensure(
        policer.burst >= packet,
        || {
            let (name, burst) = (&link.name, policer.burst);
            format!("policer of {name}: burst {burst} is below one packet, {packet}: none would pass")
        },
        "allowed is a packet to 1GB, as in `burst = \"64kb\"` or `--policer 10mbit:burst=64kb`",
    )
}

/// A proxy joins two groups of the same shape at one node, whose receivers before it can close their windows.
fn joint(joint: &Joint, before: &[Joint], groups: &[Group]) -> Checked {
    let (Some(from), Some(to)) = (groups.get(joint.from), groups.get(joint.to)) else {
        return ensure(false, || "a proxy joins groups that are not there".into(), "add the groups first");
    };
    let (first, second) = (&from.name, &to.name);
    let meets = |(here, there): (&(NodeId, NodeId), &(NodeId, NodeId))| here.1 == there.0;
    ensure(
        from.kind().connects()
            && from.source == to.source
            && from.members == to.members
            && from.pairs.len() == to.pairs.len()
            && from.pairs.iter().zip(&to.pairs).all(meets),
        || format!("a proxy cannot join `{first}` and `{second}`, which differ or do not meet at a node"),
        "join groups of the same members, where the second begins at the nodes at which the first ends",
    )?;
    ensure(
        joint.from > joint.to && before.iter().all(|one| (one.from, one.to) != (joint.from, joint.to)),
        || format!("`{second}` comes behind `{first}`, which a proxy would carry on as the former"),
        "put a group that a proxy carries on behind the one that it becomes",
    )?;
    ensure(
        before.iter().all(|one| one.from != joint.from && one.to != joint.to),
        || format!("two proxies join `{first}` or `{second}`"),
        "let each group have one proxy at either end",
    )?;
    let tcp = from.tcp.as_ref();
    ensure(
        tcp.is_some_and(|tcp| tcp.recovery == Recovery::Rack),
        || format!("group `{first}`: its senders ignore the receiver's window, which a proxy needs"),
        "let hosts be Linux's, `preset = \"linux\"` in [tcp] or `--tcp linux`, with their own recovery: without `recovery`, and `cubic` or `reno` \
         instead of `sack` or `newreno`",
    )?;
    let least = tcp.map_or(Bytes(0), |tcp| Bytes(2 * tcp.payload.0));
    ensure(
        joint.buffer >= least,
        || format!("group `{first}`: a proxy's buffer of {} is below two packets, {least}", joint.buffer),
        "let it hold more",
    )
}

/// No flow may run out of sequence numbers, even if it has the fastest measured link for itself.
fn sequence(groups: &[Group], network: &Network, schedule: &Schedule) -> Checked {
    let rates = network.links.iter().filter(|link| link.measured).filter_map(|link| link.rate);
    let Some(rate) = rates.max() else { return Ok(()) };
    let duration = schedule.duration.since(Time::ZERO);
    for group in groups.iter().filter(|group| group.kind().listed()) {
        let Some(payload) = group.tcp.as_ref().map(|tcp| tcp.payload) else { continue };
        let packets = rate.carries(duration).0 / payload.0;
        ensure(
            packets <= GREATEST_SEQUENCE,
            || {
                format!(
                    "group `{}`: one flow at {rate} could send {packets} packets of {payload} in {duration}, \
                     above the {GREATEST_SEQUENCE} allowed",
                    group.name
                )
            },
            "shorten the run, or send larger packets",
        )?;
    }
    Ok(())
}

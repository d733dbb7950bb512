// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The plan of a scenario's hosts, for hosts of the kernel.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::time::Instant;

use kneepoint::link::{NodeId, Routes};
use kneepoint::rng::Rng;
use kneepoint::spec::{Group, Valid};
use kneepoint::study::live::starting;
use kneepoint::traffic::{Any, Config, Kind, Site};
use kneepoint::units::{Bytes, Span, Time};

use super::hosts::Order;
use super::video::Show;
use super::{PORT, duration};
use crate::emulator::Side;

/// The payload of a packet that fills the device's MTU.
const FULL: Bytes = Bytes(1448);

/// The work of hosts of the kernel.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Transfers that are known before the run, in the order of its listed flows.
    pub transfers: Vec<Transfer>,
    /// Groups whose sources open connections or send datagrams in the run.
    pub crews: Vec<Crew>,
    /// A film instead of a group's transfers.
    pub show: Option<Show>,
}

/// A transfer.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// Its congestion control, by the kernel's name.
    pub control: String,
    /// The time at which it starts.
    pub start: Span,
    /// The end of its data, unless it was complete before.
    pub stop: Option<Span>,
    /// The amount to send; unlimited if none.
    pub size: Option<Bytes>,
    /// The payload of its packets, if it differs from the device's default.
    pub payload: Option<Bytes>,
    /// Its group, by its place among the groups of traffic.
    pub group: u32,
    /// The host that sends.
    pub sender: Side,
    /// The nodes of the near and of the far host.
    pub way: (NodeId, NodeId),
}

impl Transfer {
    /// The order to its sender, to this address, in a run between these instants.
    pub(crate) fn order(&self, to: SocketAddrV4, began: Instant, end: Instant) -> Order {
        Order {
            to,
            control: self.control.clone(),
            payload: self.payload,
            size: self.size,
            start: began + duration(self.start),
            stop: self.stop.map_or(end, |stop| end.min(began + duration(stop))),
            end,
        }
    }
}

/// The members of a group at work.
#[derive(Clone, Debug)]
pub struct Crew {
    /// The group, by its place among the groups of traffic.
    pub group: u32,
    /// The congestion control of its connections, by the kernel's name; empty if it sends datagrams.
    pub control: String,
    /// The payload of its packets, if it differs from the device's default.
    pub payload: Option<Bytes>,
    /// The host that sends.
    pub sender: Side,
    /// The nodes of the near and of the far host, for each pair of hosts.
    pub ways: Vec<(NodeId, NodeId)>,
    /// The actions of its members.
    pub(crate) source: Config,
    /// The members.
    pub members: Vec<Member>,
}

/// A source with its random numbers.
#[derive(Clone, Debug)]
pub struct Member {
    pub(super) source: Any,
    pub(super) rng: Rng,
    /// The first of the pairs of hosts that it uses.
    pub(super) first: u32,
    /// Its initial conditions, and its number among all that draw from the same random stream.
    pub(crate) site: Site,
    pub(crate) number: u64,
}

impl Member {
    /// Member `number` of its random stream, in a run of this seed.
    pub(crate) fn new(source: &Config, site: Site, seed: u64, number: u64, first: u32) -> Member {
        let rng = Rng::stream(seed, source.nature().streams.draws, number);
        Member { source: source.build(site), rng, first, site, number }
    }

    /// The first of the pairs of hosts that it uses.
    pub(crate) fn first(&self) -> u32 {
        self.first
    }
}

impl Transfer {
    /// An endless one, from the near host.
    pub fn endless(control: &str, start: Span, group: u32, way: (NodeId, NodeId)) -> Transfer {
        let (control, sender) = (control.to_string(), Side::Near);
        Transfer { control, start, stop: None, size: None, payload: None, group, sender, way }
    }
}

impl Plan {
    /// The plan of a scenario; `control` is the kernel's name of a group's congestion control. The error names what the kernel's
    /// hosts cannot do.
    pub fn new(valid: &Valid, seed: u64, control: impl Fn(&Group) -> String) -> Result<Plan, String> {
        if !valid.joints().is_empty() {
            return Err("there are no proxies that split connections here: leave `[proxy]` out".into());
        }
        if let Some(group) = valid.groups().iter().find(|group| group.source.listens()) {
            let why = "needs feedback on its datagrams, which hosts of the kernel do not give";
            return Err(format!("group `{}` {why}: leave it out", group.name));
        }
        let valid = &starting(valid, seed);
        let mut setup = Setup { routes: Routes::new(valid.network()), valid, seed, drawn: BTreeMap::new() };
        let mut plan = Plan::default();
        for (place, group) in valid.groups().iter().enumerate() {
            let control = if group.kind().connects() { control(group) } else { String::new() };
            if group.kind() == Kind::Transfers {
                plan.transfers.extend(setup.transfers(place as u32, group, &control)?);
            } else {
                plan.crews.push(setup.crew(place as u32, group, control)?);
            }
        }
        let pairs: usize = plan.crews.iter().map(|crew| crew.ways.len()).sum();
        if plan.transfers.len() + pairs > usize::from(u16::MAX - PORT) {
            return Err(format!("{} transfers are more than there are ports", plan.transfers.len() + pairs));
        }
        Ok(plan)
    }

    /// The nodes of the near and of the far host of each path: transfers first, then crews.
    pub(crate) fn paths(&self) -> Vec<(NodeId, NodeId)> {
        let of_crews = self.crews.iter().flat_map(|crew| crew.ways.clone());
        self.transfers.iter().map(|one| one.way).chain(of_crews).collect()
    }

    /// The congestion controls that it uses.
    pub fn controls(&self) -> Vec<&str> {
        let of_transfers = self.transfers.iter().map(|one| one.control.as_str());
        let of_crews = self.crews.iter().map(|one| one.control.as_str());
        let mut all: Vec<&str> = of_transfers.chain(of_crews).filter(|name| !name.is_empty()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// The common part of plans of groups.
struct Setup<'v> {
    routes: Routes<'v>,
    valid: &'v Valid,
    seed: u64,
    /// Members so far that draw from a random stream of this name.
    drawn: BTreeMap<&'static str, u64>,
}

impl Setup<'_> {
    fn transfers(&mut self, place: u32, group: &Group, control: &str) -> Result<Vec<Transfer>, String> {
        let payload = payload(group)?;
        let transfer = |(member, pair): (&kneepoint::spec::Member, &(NodeId, NodeId))| {
            let (sender, way) = self.direct(*pair);
            Transfer {
                control: control.to_string(),
                start: member.start.from.since(Time::ZERO),
                stop: member.stop.map(|stop| stop.since(Time::ZERO)),
                size: member.size,
                payload,
                group: place,
                sender,
                way,
            }
        };
        Ok(group.members.iter().zip(&group.pairs).map(transfer).collect())
    }

    fn crew(&mut self, place: u32, group: &Group, control: String) -> Result<Crew, String> {
        let payload = payload(group)?;
        let directed: Vec<(Side, (NodeId, NodeId))> =
            group.pairs.iter().map(|pair| self.direct(*pair)).collect();
        let Some(&(sender, _)) = directed.first() else {
            return Err(format!("`{}` has no hosts", group.name));
        };
        if directed.iter().any(|(side, _)| *side != sender) {
            return Err(format!("`{}` sends both ways through the first measured link", group.name));
        }
        let shares = group.kind().opens();
        let streams = group.source.nature().streams;
        let member = |(index, member): (usize, &kneepoint::spec::Member)| {
            let site = Site {
                start: member.start.from,
                stop: member.stop.unwrap_or(Time::NEVER),
                pairs: if shares { directed.len() as u32 } else { 1 },
            };
            let number = self.drawn.entry(streams.draws).or_default();
            *number += 1;
            Member::new(&group.source, site, self.seed, *number - 1, if shares { 0 } else { index as u32 })
        };
        let members = group.members.iter().enumerate().map(member).collect();
        let ways = directed.iter().map(|(_, way)| *way).collect();
        Ok(Crew { group: place, control, payload, sender, ways, source: group.source.clone(), members })
    }

    /// The sender of data between two nodes, and the nodes of the near and of the far host: data through the first measured link
    /// is from the near host.
    fn direct(&mut self, pair: (NodeId, NodeId)) -> (Side, (NodeId, NodeId)) {
        let measured = self.valid.network().links.iter().position(|link| link.measured);
        let mut crosses = |(from, to): (NodeId, NodeId)| {
            let path = self.routes.path(from, to).unwrap_or_default();
            path.iter().any(|link| Some(*link as usize) == measured)
        };
        let back = (pair.1, pair.0);
        if !crosses(pair) && crosses(back) { (Side::Far, back) } else { (Side::Near, pair) }
    }
}

/// The payload of a group's packets, if it differs from the device's default.
fn payload(group: &Group) -> Result<Option<Bytes>, String> {
    let payload = group.tcp.as_ref().map(|tcp| tcp.payload).filter(|payload| *payload != FULL);
    match payload.filter(|payload| *payload > FULL) {
        Some(payload) => Err(format!("`{}` has {payload} of payload in a packet; {FULL} fit", group.name)),
        None => Ok(payload),
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Proxies that split connections (RFC 3135): every connection whose data passes their nodes becomes several, one behind the other.
//!
//! The group keeps its name for the connections that reach the receivers; those that end at a proxy are a group `NAME-to-NODE`.

use super::choose::{Family, Precedence, choose_from, unfold};
use super::forms::Name;
use super::host;
use super::reader::{Shape, fill, section};
use super::traffic::Context;
use super::tree::{Node, Table};

use crate::fault::Faults;
use crate::link::{Network, NodeId, Routes};
use crate::settings::{List, Never, Or};
use crate::spec::{Group, Joint};
use crate::suggest::did_you_mean;
use crate::units::{Bytes, Span};
use crate::{cc, tcp};

/// The name of the section.
pub(super) const PROXY: &str = "proxy";

crate::settings! {
    /// Proxies that split connections.
    pub struct Proxy {
        /// The node, or a list of nodes, where connections are split: `r1` and `r2` are the routers of a dumbbell.
        at: Or<List<Name>, Never> = Or::WORD;
        /// The data that a proxy holds of one connection; its window to the sender is the rest.
        buffer: Bytes = Bytes(4_000_000), Bytes(1)..=Bytes(1_000_000_000_000);
    }
}

/// Splits the connections of groups at the proxies of `[proxy]`, if there are any. Groups of connections that end at one follow all
/// others.
pub(super) fn split(
    root: &Table,
    frame: &Context,
    network: &Network,
    mut groups: Vec<Group>,
    faults: &mut Faults,
) -> (Vec<Group>, Vec<Joint>) {
    let Some(own) = root.get(PROXY) else { return (groups, Vec::new()) };
    let table = section(root, PROXY, faults);
    let mut proxy = Proxy::default();
    fill(&table, Shape { place: "[proxy]", besides: &["cc"], required: &["at"] }, &mut [&mut proxy], faults);
    let control = table.get("cc").and_then(|node| control(node, frame, faults));
    let nodes = nodes(&proxy, &table, network, faults);
    let mut joints = Vec::new();
    let mut routes = Routes::new(network);
    for place in 0..groups.len() {
        let stops = stops(&groups[place], &nodes, network, &mut routes, (&table, faults));
        let last = behind(&groups[place], &stops, control.as_ref());
        let before = std::mem::replace(&mut groups[place], last);
        let mut to = place;
        // The connections nearest to the receivers first.
        for (number, stop) in stops.iter().enumerate().rev() {
            let mut leg = behind(&before, &stops[..number], control.as_ref());
            leg.name = format!("{}-to-{}", before.name, network.nodes[stop.0 as usize]);
            leg.pairs.iter_mut().for_each(|pair| pair.1 = *stop);
            joints.push(Joint { from: groups.len(), to, buffer: proxy.buffer });
            to = groups.len();
            groups.push(leg);
        }
    }
    if joints.is_empty() && faults.is_empty() {
        let help = "name a node between senders and receivers; in a dumbbell with `access = \"minimal\"` senders are at r1, so write `access = \"full\"`";
        faults.add_with_help(&own.span, "[proxy]: no connection passes its nodes", help);
    }
    (groups, joints)
}

/// The connections of a group behind the last of some proxies.
fn behind(group: &Group, proxies: &[NodeId], control: Option<&cc::Config>) -> Group {
    let mut leg = group.clone();
    let Some(last) = proxies.last() else { return leg };
    leg.pairs.iter_mut().for_each(|pair| pair.0 = *last);
    let tcp = leg.tcp.map(|tcp| tcp::Options { jitter: Span::ZERO, ..tcp });
    leg.tcp = tcp.map(|tcp| control.map_or(tcp.clone(), |own| host::negotiated(tcp, own)));
    leg.cc = control.cloned().or(leg.cc);
    leg
}

/// The controller of proxies.
fn control(node: &Node, frame: &Context, faults: &mut Faults) -> Option<cc::Config> {
    let place = "cc of [proxy]";
    let own = unfold(node, <cc::Config as Family>::MEMBERS, place, faults)?;
    let chosen = choose_from(&own, frame.controllers, place, Precedence::Members, frame.extensions, faults)?;
    Some(chosen.config)
}

/// The nodes of proxies.
fn nodes(proxy: &Proxy, table: &Table, network: &Network, faults: &mut Faults) -> Vec<NodeId> {
    let names = proxy.at.get().map(List::values).unwrap_or_default();
    let find = |Name(name): &Name| {
        let place = network.nodes.iter().position(|node| node == name);
        if place.is_none() {
            let known: Vec<&str> = network.nodes.iter().map(String::as_str).take(8).collect();
            let message = format!("[proxy]: no node is called `{name}`");
            faults.add_with_help(table.place("at"), message, did_you_mean(name, &known));
        }
        place.map(|place| NodeId(place as u32))
    };
    names.iter().filter_map(find).collect()
}

/// The proxies that the connections of a group pass, in order, which must be the same for all.
fn stops(
    group: &Group,
    nodes: &[NodeId],
    network: &Network,
    routes: &mut Routes,
    (table, faults): (&Table, &mut Faults),
) -> Vec<NodeId> {
    if group.cc.is_none() {
        return Vec::new();
    }
    let mut passed = group.pairs.iter().map(|&(from, to)| {
        let path = routes.path(from, to).unwrap_or_default();
        let ends = path.iter().map(|link| network.links[*link as usize].to);
        ends.filter(|node| *node != to && nodes.contains(node)).collect::<Vec<_>>()
    });
    let first = passed.next().unwrap_or_default();
    if passed.any(|other| other != first) {
        let message = format!("[proxy]: connections of `{}` pass different proxies", group.name);
        faults.add_with_help(
            table.place("at"),
            message,
            "put the flows that pass another proxy into their own group",
        );
    }
    first
}

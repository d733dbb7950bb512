// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measurement: counters on events made by hand, sampled series, and the rows of whole runs.

mod counters;
mod parts;
mod reports;
mod runs;
mod series;

use kneepoint::cc;
use kneepoint::link::{LinkSpec, Network, NodeId};
use kneepoint::queue::Limit;
use kneepoint::spec::{Builder, Group, Member, Schedule, Valid};
use kneepoint::tcp::Options;
use kneepoint::trace::LinkId;
use kneepoint::traffic;
use kneepoint::units::{Interval, Rate, Span, Time};

const ACCESS: LinkId = LinkId(0);
const BOTTLENECK: LinkId = LinkId(1);
const OF_BOTTLENECK: &[(&str, &str)] = &[("link", "b-c")];

fn secs(secs: u64) -> Time {
    Span::from_secs(secs).after_start()
}

fn link(name: &str, from: u32, to: u32, measured: bool) -> LinkSpec {
    LinkSpec {
        name: name.into(),
        rate: Some(Rate::from_mbit(if measured { 1 } else { 100 })),
        delay: Span::from_millis(10),
        limit: if measured { Limit::Packets(10) } else { Limit::Unlimited },
        measured,
        ..LinkSpec::new(NodeId(from), NodeId(to))
    }
}

fn group(name: &str, (from, to): (u32, u32), source: &str, members: usize) -> Group {
    let source = traffic::Config::named(source).unwrap();
    let connects = source.nature().kind.connects();
    Group {
        name: name.into(),
        cc: connects.then(|| cc::Config::named("reno").unwrap()),
        tcp: connects.then(Options::default),
        source,
        pairs: vec![(NodeId(from), NodeId(to)); members],
        members: vec![Member::default(); members],
    }
}

/// Slots: 0 and 1 forward, 2 reverse, 3 a constant-rate source; web objects from 4 on. Measured from 10 s to 20 s.
fn valid(web: &[&str]) -> Valid {
    let flows = [group("forward", (0, 2), "bulk", 2), group("reverse", (2, 0), "bulk", 1)];
    let web = web.iter().map(|name| group(name, (0, 2), "web", 1));
    let parts = Builder {
        name: "line".into(),
        schedule: Schedule {
            duration: secs(30),
            measure: Interval { from: secs(10), to: secs(20) },
            sample: Some(Span::from_secs(1)),
        },
        network: Network {
            nodes: ["a", "b", "c"].map(String::from).to_vec(),
            links: vec![
                link("a-b", 0, 1, false),
                link("b-c", 1, 2, true),
                link("c-b", 2, 1, false),
                link("b-a", 1, 0, false),
            ],
        },
        joints: Vec::new(),
        groups: flows.into_iter().chain(web).chain([group("constant", (0, 2), "cbr", 1)]).collect(),
    };
    parts.build().expect("a valid spec")
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The processor time of hosts in virtual time for each packet of data: two flows over 100 Mbit/s and 40 ms, 100 s.
//! With an argument: of stacks and controllers with this in their names.

use std::time::Duration;

use kneepoint_cc::cc::Config;
use kneepoint_quic::virtual_time::{Factory, STACKS, run};
use kneepoint_sim::link::{LinkSpec, NodeId};
use kneepoint_sim::queue::Limit;
use kneepoint_sim::spec::{Builder, Group, Member, Valid};
use kneepoint_sim::trace::{Event, Observer};
use kneepoint_sim::traffic;
use kneepoint_sim::units::{Rate, Span, Time};

/// Counts packets of data.
#[derive(Default)]
struct Sent(u64);

impl Observer for Sent {
    fn on(&mut self, _: Time, event: &Event) {
        self.0 += u64::from(matches!(event, Event::Sent { .. }));
    }
}

fn network() -> Valid {
    let (a, b, delay) = (NodeId(0), NodeId(1), Span::from_millis(20));
    let rate = Some(Rate::from_mbit(100));
    let bottleneck = LinkSpec { rate, delay, limit: Limit::Packets(333), ..LinkSpec::new(a, b) };
    let group = Group::new("long", traffic::Config::default());
    Builder::new("hosts")
        .duration(Span::from_secs(100))
        .node("a")
        .node("b")
        .link(bottleneck)
        .link(LinkSpec { delay, ..LinkSpec::new(b, a) })
        .group(group.member(a, b, Member::default()).member(a, b, Member::default()))
        .build()
        .expect("a network")
}

/// The time that this thread has had a processor.
fn spent() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let spent = text.split(' ').next().and_then(|spent| spent.parse().ok());
    Duration::from_nanos(spent.expect("nanoseconds"))
}

/// Nanoseconds for each packet, the least of three runs.
fn cost(valid: &Valid, factory: &Factory) -> f64 {
    let once = |_| {
        let before = spent();
        let sent = run(valid, 1, std::slice::from_ref(factory), Sent::default()).expect("a run");
        (spent() - before).as_nanos() as f64 / sent.0 as f64
    };
    (0..3).map(once).fold(f64::INFINITY, f64::min)
}

fn main() {
    let (valid, wanted) = (network(), std::env::args().nth(1).unwrap_or_default());
    for stack in STACKS {
        let carried = |name| {
            let config = Config::named(name).expect("registered");
            (stack.carrying)(config, None).expect("carried")
        };
        let ours = ["reno", "cubic", "bbr"].map(|name| (name, carried(name)));
        let own = stack.own.iter().map(|own| (own.name, (own.make)()));
        for (name, factory) in ours.into_iter().chain(own) {
            let label = format!("{:<6} {name}", stack.name);
            if label.contains(&wanted) {
                println!("{label:<20} {:6.0} ns a packet", cost(&valid, &factory));
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Every controller at every queue discipline for a second of simulated time, without a scenario as text. Compiled for
//! wasm32, its size is the size of the whole engine in a page (`make wasm` prints it).

use kneepoint_sim::link::{LinkSpec, NodeId};
use kneepoint_sim::measure::Meter;
use kneepoint_sim::spec::{Builder, Group, Invalid, Member, Valid};
use kneepoint_sim::units::{Rate, Span};
use kneepoint_sim::{cc, queue, run, traffic};

/// Ten megabits a second and 50 packets of buffer.
fn pair(controller: &str, discipline: &str) -> Result<Valid, Invalid> {
    let (a, b, delay) = (NodeId(0), NodeId(1), Span::from_millis(20));
    let bottleneck = LinkSpec {
        rate: Some(Rate::from_mbit(10)),
        delay,
        limit: queue::Limit::Packets(50),
        queue: queue::Config::named(discipline).unwrap_or_default(),
        measured: true,
        ..LinkSpec::new(a, b)
    };
    let flows =
        Group { cc: cc::Config::named(controller), ..Group::new(controller, traffic::Config::default()) };
    Builder::new(discipline)
        .duration(Span::from_secs(1))
        .node("a")
        .node("b")
        .link(bottleneck)
        .link(LinkSpec { delay, ..LinkSpec::new(b, a) })
        .group(flows.member(a, b, Member::default()))
        .build()
}

fn main() {
    let mut packets = 0;
    for controller in cc::REGISTRY {
        for discipline in queue::REGISTRY {
            // A discipline that needs a rate that the link does not have, for one, is refused.
            let Ok(valid) = pair(controller.name, discipline.name) else { continue };
            let (meter, outcome) = run::run(&valid, 1, Meter::new(&valid, 1));
            packets += outcome.bottleneck_packets + meter.finish().len() as u64;
        }
    }
    assert!(packets > 0);
}

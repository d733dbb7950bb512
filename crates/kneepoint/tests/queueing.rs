// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Whether queues share a link as their papers say: max-min shares with a queue for each flow, room for the polite
//! where the greedy are pushed out. The numbers of seed 1 are in the comments.

use kneepoint::run;
use kneepoint::scenario;
use kneepoint::trace::{Event, LinkId, Observer};
use kneepoint::units::{Span, Time};

/// The bytes that a link carried from the tenth to the fortieth second, by flow.
struct Carried(LinkId, [u64; 2]);

impl Observer for Carried {
    fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Service { link, packet, .. }
                if *link == self.0
                    && (Time::ZERO + Span::from_secs(10)..Time::ZERO + Span::from_secs(40)).contains(&at) =>
            {
                self.1[packet.flow as usize] += u64::from(packet.size);
            }
            _ => {}
        }
    }
}

/// What a cubic flow and a constant-rate source get of 10 Mbit/s over 40 ms with 50 packets of buffer, in Mbit/s.
fn shares(queue: &str, source: &str) -> [f64; 2] {
    let text = format!(
        "queue = \"{queue}\"\n[run]\nduration = \"40s\"\nmeasure = \"10s..40s\"\n\
         [topology]\nkind = \"dumbbell\"\nrate = \"10mbit\"\nbuffer = \"50pkt\"\nrtt = \"40ms\"\n\
         [[flows]]\nname = \"cubic\"\ncc = \"cubic\"\n[[cbr]]\nname = \"source\"\n{source}\n"
    );
    let plan = scenario::parse(&text).unwrap_or_else(|faults| panic!("{faults:?}"));
    let valid = &plan.cases[0].valid;
    let link = valid.network().links.iter().position(|link| link.measured).expect("a bottleneck");
    let (carried, _) = run::run(valid, 1, Carried(LinkId(link as u32), [0; 2]));
    carried.1.map(|bytes| 8.0 * bytes as f64 / 30.0 / 1e6)
}

fn about(shares: [f64; 2], expected: [f64; 2], tolerance: f64) -> bool {
    shares.iter().zip(expected).all(|(share, expected)| (share - expected).abs() < tolerance)
}

#[test]
fn deficit_round_robin_gives_max_min_shares_to_flows_that_do_not_ask() {
    for (source, expected) in [
        // A source that wants more than half gets half, whatever the size of its packets.
        ("rate = \"8mbit\"\nsize = \"1000b\"", [5.0, 5.0]),
        ("rate = \"8mbit\"\nsize = \"200b\"", [5.0, 5.0]),
        ("rate = \"20mbit\"\nsize = \"1500b\"", [5.0, 5.0]),
        // One that wants less gets what it wants.
        ("rate = \"2mbit\"\nsize = \"1000b\"", [8.0, 2.0]),
    ] {
        let got = shares("drr", source);
        assert!(about(got, expected, 0.15), "{source}: {got:?}");
    }
    let tail = shares("droptail", "rate = \"8mbit\"\nsize = \"1000b\"");
    assert!(tail[0] < 3.0, "{tail:?}");
}

#[test]
fn longest_queue_drop_keeps_room_for_who_holds_less() {
    let greedy = "rate = \"20mbit\"\nsize = \"1000b\"";
    let (tail, pushed) = (shares("droptail", greedy), shares("lqd", greedy));
    assert!(tail[0] < 0.5 && pushed[0] > 3.0, "{tail:?} {pushed:?}");
}

#[test]
fn a_stamp_costs_those_nothing_who_carry_no_rate() {
    let source = "rate = \"8mbit\"\nsize = \"1000b\"";
    assert_eq!(shares("erica", source), shares("droptail", source));
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hosts of quinn and noq in the laboratory's network, with their own controllers and with the laboratory's.

#![cfg(feature = "virtual-time")]

use kneepoint_cc::cc::{Config, Signal, Start};
use kneepoint_quic::host::{Host, INITIAL_WINDOW};
use kneepoint_quic::tape::Tape;
use kneepoint_quic::virtual_time::{Factory, Hosts, STACKS, run, run_each};
use kneepoint_sim::link::effects::Effects;
use kneepoint_sim::link::effects::corruption::Corruption;
use kneepoint_sim::link::effects::duplication::Duplication;
use kneepoint_sim::link::{LinkSpec, NodeId};
use kneepoint_sim::queue::Limit;
use kneepoint_sim::spec::{Builder, Group, Member, Valid};
use kneepoint_sim::trace::{Event, Observer};
use kneepoint_sim::traffic;
use kneepoint_sim::units::{Bytes, Rate, Span, Time};

/// A hash of every event that the observers of a run receive, and the delivered bytes.
#[derive(Default)]
struct Heard {
    hash: u64,
    payload: u64,
    events: u64,
    completed: Vec<(Time, Bytes)>,
}

impl Observer for Heard {
    fn on(&mut self, at: Time, event: &Event) {
        let text = match event {
            Event::Sample { .. } => String::new(),
            other => format!("{at:?} {}", shape(other)),
        };
        self.events += 1;
        for byte in text.bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        match event {
            Event::Delivered { payload, .. } => self.payload += payload.0,
            Event::Completed { delivered, size, .. } => self.completed.push((*delivered, *size)),
            _ => {}
        }
    }
}

fn shape(event: &Event) -> String {
    match event {
        Event::Arrival { packet, fate, .. } => format!("arrival {packet:?} {fate:?}"),
        Event::Fate { packet, fate, .. } => format!("fate {packet:?} {fate:?}"),
        Event::Delivered { packet, payload } => format!("delivered {packet:?} {payload:?}"),
        Event::Acked { flow, acked, rtt, window, .. } => format!("acked {flow:?} {acked:?} {rtt:?} {window}"),
        _ => "other".into(),
    }
}

/// 20 Mbit/s, 40 ms, a buffer of one product of both, and transfers of this size.
fn network(flows: usize, size: Option<u64>, seconds: u64) -> Valid {
    let (a, b, delay) = (NodeId(0), NodeId(1), Span::from_millis(20));
    let bottleneck = LinkSpec {
        rate: Some(Rate::from_mbit(20)),
        delay,
        limit: Limit::Packets(67),
        measured: true,
        ..LinkSpec::new(a, b)
    };
    let mut group = Group::new("long", traffic::Config::default());
    for _ in 0..flows {
        group = group.member(a, b, Member { size: size.map(Bytes), ..Member::default() });
    }
    Builder::new("quic")
        .duration(Span::from_secs(seconds))
        .node("a")
        .node("b")
        .link(bottleneck)
        .link(LinkSpec { delay, ..LinkSpec::new(b, a) })
        .group(group)
        .build()
        .expect("a network")
}

fn ours(stack: &Hosts, name: &str) -> Factory {
    (stack.carrying)(Config::named(name).expect("registered"), None).expect("the stack carries it")
}

fn heard(valid: &Valid, factory: &Factory) -> Heard {
    run(valid, 1, std::slice::from_ref(factory), Heard::default()).expect("a run")
}

#[test]
fn the_link_is_full_with_controllers_of_a_stack_and_of_the_laboratory() {
    for stack in STACKS {
        let theirs = stack.own.iter().map(|own| (own.name, (own.make)()));
        let own = ["reno", "cubic", "pert", "bbr"].map(|name| (name, ours(stack, name)));
        for (name, factory) in theirs.chain(own) {
            let valid = network(2, None, 10);
            let share = heard(&valid, &factory).payload as f64 * 8.0 / (10.0 * 20e6);
            // Headers take 4 %.
            assert!((0.75..0.97).contains(&share), "{name} in {}: {share}", stack.name);
        }
    }
}

#[test]
fn a_seed_gives_the_same_packets_again() {
    let valid = network(3, None, 5);
    for stack in STACKS {
        // Those that draw from the machine's entropy are left out.
        let own =
            stack.own.iter().filter(|own| own.repeats).map(|own| (own.name, (own.make)(), (own.make)()));
        let ours = ["pert", "bbr"].map(|name| (name, ours(stack, name), ours(stack, name)));
        for (name, first, again) in own.chain(ours) {
            let [one, two] = [first, again].map(|factory| heard(&valid, &factory));
            assert_eq!((one.hash, one.events), (two.hash, two.events), "{name} in {}", stack.name);
        }
    }
}

#[test]
fn stacks_share_a_link() {
    let valid = network(2, None, 10);
    let made = STACKS.map(|stack| ours(stack, "cubic"));
    let of = |_, index: usize| made.get(index).cloned();
    let heard = run_each(&valid, 1, &of, Heard::default()).expect("a run");
    let share = heard.payload as f64 * 8.0 / (10.0 * 20e6);
    assert!((0.75..0.97).contains(&share), "{share}");
}

#[test]
fn a_transfer_arrives_whole_and_ends() {
    for stack in STACKS {
        let heard = heard(&network(2, Some(1_000_000), 10), &ours(stack, "cubic"));
        assert_eq!(heard.payload, 2_000_000);
        let sizes: Vec<u64> = heard.completed.iter().map(|(_, size)| size.0).collect();
        assert_eq!(sizes, [1_000_000; 2]);
        // 16 Mbit at 20 Mbit/s take 0.8 s.
        assert!(heard.completed.iter().all(|(at, _)| (0.8..3.0).contains(&at.as_secs_f64())));
    }
}

/// Payload delivered and acknowledged by ten seconds and by twenty, and whether each packet had its own number.
#[derive(Default)]
struct Halves {
    delivered: [u64; 2],
    acked: u64,
    last: Option<u32>,
    disorder: u64,
    completed: u64,
}

impl Observer for Halves {
    fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Delivered { payload, .. } => {
                self.delivered[usize::from(at > Span::from_secs(10).after_start())] += payload.0;
            }
            Event::Acked { acked, .. } => self.acked += acked.0,
            Event::Sent { packet, .. } => {
                self.disorder += u64::from(self.last.is_some_and(|last| last >= packet.id));
                self.last = Some(packet.id);
            }
            Event::Completed { .. } => self.completed += 1,
            _ => {}
        }
    }
}

/// One transfer without end between the hosts of each stack, on a link with these effects, which stops at some time.
fn alone(effects: Effects, stop: Option<Time>) -> Result<Vec<Halves>, String> {
    let (a, b, delay) = (NodeId(0), NodeId(1), Span::from_millis(20));
    let bottleneck = LinkSpec {
        rate: Some(Rate::from_mbit(10)),
        delay,
        limit: Limit::Packets(33),
        measured: true,
        effects: effects.boxed(),
        ..LinkSpec::new(a, b)
    };
    let group = Group::new("long", traffic::Config::default());
    let valid = Builder::new("alone")
        .duration(Span::from_secs(20))
        .node("a")
        .node("b")
        .link(bottleneck)
        .link(LinkSpec { delay, ..LinkSpec::new(b, a) })
        .group(group.member(a, b, Member { stop, ..Member::default() }))
        .build()
        .expect("a network");
    let ran = STACKS.iter().map(|stack| {
        let cubic = Config::named("cubic").expect("registered");
        run(&valid, 1, &[(stack.carrying)(cubic, None).expect("carried")], Halves::default())
    });
    ran.collect()
}

#[test]
fn a_transfer_that_stops_sends_nothing_more_and_ends() {
    for halves in alone(Effects::default(), Some(Span::from_secs(10).after_start())).expect("runs") {
        assert!(halves.delivered[0] > 10_000_000 && halves.delivered[1] < 200_000, "{:?}", halves.delivered);
        assert_eq!(halves.completed, 1);
    }
}

#[test]
fn payload_is_counted_without_headers_and_packets_are_numbered_in_their_order() {
    for halves in alone(Effects::default(), None).expect("runs") {
        let delivered = halves.delivered[0] + halves.delivered[1];
        // Acknowledgements come a round trip later.
        assert!(halves.acked <= delivered && delivered - halves.acked < 100_000, "{}", halves.acked);
        assert_eq!(halves.disorder, 0);
    }
}

#[test]
fn a_packet_with_a_wrong_bit_is_lost_and_links_that_duplicate_are_refused() {
    let corruption = Corruption { p: 0.02 };
    for halves in alone(Effects { corruption, ..Effects::default() }, None).expect("runs") {
        assert!(halves.delivered[0] < 8_000_000, "{:?}", halves.delivered);
    }
    let duplication = Duplication { p: 0.01 };
    let refused = alone(Effects { duplication, ..Effects::default() }, None).err().expect("a refusal");
    assert!(refused.contains("duplication"), "{refused}");
}

/// Steps of a replay that are compared.
fn steps() -> usize {
    std::env::var("KNEE_STEPS").ok().and_then(|steps| steps.parse().ok()).unwrap_or(20_000)
}

#[test]
fn what_a_controller_in_a_stack_was_told_has_the_same_effect_outside_of_it() {
    for stack in STACKS {
        let mut losses = 0;
        for name in ["reno", "cubic", "pert", "pert-pi", "pert-adaptive", "bbr", "bbr3", "cdg"] {
            losses += compared(stack, name);
        }
        assert!(losses > 0, "no controller in {} received a congestion signal", stack.name);
    }
}

/// Plays a stack's signals to a controller; returns the number of congestion signals.
fn compared(stack: &Hosts, name: &str) -> usize {
    let config = Config::named(name).expect("registered");
    let (tape, mut compared, mut losses, mut seed) = (Tape::default(), 0, 0, 0);
    while compared < steps() {
        seed += 1;
        let factory = (stack.carrying)(config.clone(), Some(tape.clone())).expect("carried");
        run(&network(2, None, 100), seed, &[factory], ()).expect("a run");
        for record in tape.take() {
            let mut controller = config.build(Start::new(Host::opening(INITIAL_WINDOW)));
            for (place, told) in record.iter().enumerate() {
                told.signal.tell(&mut controller);
                let window = controller.control().window;
                let (window, before) = (window.to_bits(), told.window.to_bits());
                assert_eq!(window, before, "{name} in {}, step {place}: {told:?}", stack.name);
                losses += usize::from(matches!(told.signal, Signal::Loss(_) | Signal::Ecn(_)));
            }
            compared += record.len();
        }
    }
    losses
}

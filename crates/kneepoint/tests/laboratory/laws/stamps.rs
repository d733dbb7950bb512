// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Laws of explicit feedback: stamps lower what packets request, and change nothing else.

use kneepoint::feedback::{self, Stamper};
use kneepoint::packet::{Explicit, Flags, Hint, Packet};
use kneepoint::queue::{Backlog, Facts, Limit};
use kneepoint::rng::Rng;
use kneepoint::units::{Bytes, Rate, Span, Time};

use super::Family;

/// Every kind that looks at packets, with its defaults and with each parameter at the ends of its range, and a script.
fn stampers() -> impl Iterator<Item = (feedback::Config, Box<Stamper>, Rng)> {
    let facts = Facts {
        rate: Rate::from_mbit(10),
        delay: Span::from_millis(20),
        limit: Limit::Packets(50),
        packet: Bytes(1040),
    };
    let variants = feedback::Config::variants().into_iter().zip(0..);
    variants.filter_map(move |(config, index)| {
        let stamper = Stamper::new(config.build(facts))?;
        Some((config, stamper, Rng::stream(index, "script", 5)))
    })
}

fn packet(script: &mut Rng, now: Time) -> Packet {
    let (size, flow) = (script.pick(&[1040, 1040, 40, 1500]), script.pick(&[0, 1, 2, 900]));
    let flags = Flags::default().with_if(script.chance(0.5), Flags::ECT);
    let packet = match script.chance(0.2) {
        true => Packet::ack(flow, 0, size, flags, now, [(4, 7), (0, 0), (0, 0)]),
        false => {
            let window = script.pick(&[0.0, 1.0, 7.5, 250.0, 1e9]);
            let rtt = script.pick(&[Span::ZERO, Span(1), Span::from_millis(60), Span::from_secs(100)]);
            Packet::data(flow, 0, size, flags, now).with_hint(Hint { window, rtt })
        }
    };
    match script.below(4) {
        0 => packet,
        1 => packet.with_explicit(Explicit::ANY_RATE),
        2 => packet.with_explicit(Explicit::ANY_CHANGE),
        _ => packet.with_explicit(Explicit::Rate(Rate(script.below(20_000_000)))),
    }
}

/// A busy link with jumps in time and backlog; returns the fate of each packet.
fn carried(stamper: &mut Stamper, script: &mut Rng) -> Vec<(Packet, Packet, bool)> {
    let mut now = Time::ZERO;
    let mut carried = Vec::new();
    for _ in 0..2_000 {
        now += Span(script.pick(&[0, 1, 800_000, 800_000, 20_000_000, 5_000_000_000]));
        let packets = script.pick(&[0, 1, 20, 50]);
        let backlog = Backlog { packets, bytes: Bytes(1040 * u64::from(packets)) };
        let bits = script.pick(&[0.0, 1e5, 4e5]);
        stamper.look(now, |window| bits * window.span().as_secs_f64() / 0.04);
        let before = packet(script, now);
        stamper.arrive(&before, backlog, now);
        let mut after = before;
        let marked = stamper.leave(&mut after, backlog, Span(u64::from(packets) * 832_000), now);
        carried.push((before, after, marked));
    }
    carried
}

#[test]
fn a_stamp_lowers_what_is_requested_and_changes_nothing_else() {
    for (config, mut stamper, mut script) in stampers() {
        for (before, after, marked) in carried(&mut stamper, &mut script) {
            let mut expected = before;
            match (before.explicit(), after.explicit()) {
                (Some(Explicit::Rate(asked)), Some(Explicit::Rate(left))) => {
                    assert!(left <= asked, "{config:?}")
                }
                (Some(Explicit::Change(asked)), Some(Explicit::Change(left))) => {
                    assert!(left <= asked && !left.is_nan(), "{config:?}: {left}");
                }
                (before, after) => assert_eq!(before, after, "{config:?}"),
            }
            if let Some(left) = after.explicit() {
                expected.lower(left);
            }
            let (ack, capable) = (before.flags.has(Flags::ACK), before.flags.has(Flags::ECT));
            assert!(!marked || capable && !ack, "{config:?} marks {before:?}");
            expected.flags = expected.flags.with_if(marked, Flags::CE);
            assert_eq!(after, expected, "{config:?}");
            assert!(!ack || before == after, "{config:?} writes into an acknowledgement");
        }
        assert!(
            stamper.state().iter().all(|(_, value)| value.is_finite()),
            "{config:?}: {:?}",
            stamper.state()
        );
    }
}

#[test]
fn a_copy_has_the_same_future() {
    for (config, mut stamper, mut script) in stampers() {
        carried(&mut stamper, &mut script);
        let (mut copy, mut again) = (stamper.clone(), script.clone());
        assert_eq!(carried(&mut stamper, &mut script), carried(&mut copy, &mut again), "{config:?}");
    }
}

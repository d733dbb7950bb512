// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::vec::Vec;

use kneepoint_cc::cc::REGISTRY;

use super::*;

const MTU: u64 = 1200;

fn host(name: &str) -> Host {
    Host::new(&Config::named(name).expect("registered"), INITIAL_WINDOW, MTU, 1)
}

fn at(millis: u64) -> Time {
    Span::from_millis(millis).after_start()
}

/// Sends this many full packets at once.
fn send(host: &mut Host, millis: u64, packets: u64) {
    (0..packets).for_each(|_| host.on_sent(at(millis), MTU));
}

/// Acknowledges this many full packets at once.
fn acknowledge(host: &mut Host, millis: u64, sent: u64, packets: u64) {
    (0..packets).for_each(|_| host.on_acked(at(sent), MTU));
    host.on_end_acks(at(millis), false);
}

#[test]
fn a_window_of_acknowledgements_doubles_it_in_slow_start() {
    let mut host = host("reno");
    assert_eq!(host.window(), 10 * MTU);
    send(&mut host, 0, 10);
    acknowledge(&mut host, 50, 0, 10);
    assert_eq!((host.window(), host.in_flight()), (20 * MTU, 0));
}

#[test]
fn small_packets_grow_the_window_by_their_bytes() {
    let mut host = host("reno");
    (0..40).for_each(|_| host.on_sent(at(0), MTU / 4));
    (0..40).for_each(|_| host.on_acked(at(0), MTU / 4));
    host.on_end_acks(at(50), false);
    assert_eq!(host.window(), 20 * MTU);
}

#[test]
fn a_sender_with_nothing_to_send_does_not_grow() {
    let mut host = host("reno");
    send(&mut host, 0, 2);
    (0..2).for_each(|_| host.on_acked(at(0), MTU));
    host.on_end_acks(at(50), true);
    assert_eq!(host.window(), 10 * MTU);
}

#[test]
fn losses_of_one_round_trip_are_one_loss() {
    let mut host = host("reno");
    send(&mut host, 0, 10);
    host.on_lost(at(60), at(0), MTU);
    let after = host.window();
    assert_eq!(after, 5 * MTU);
    // Sent before the episode began.
    host.on_lost(at(70), at(0), 2 * MTU);
    assert_eq!(host.window(), after);
    // Growth begins when what was sent after it is acknowledged.
    acknowledge(&mut host, 80, 0, 2);
    assert_eq!(host.window(), after);
    send(&mut host, 81, 5);
    acknowledge(&mut host, 140, 81, 5);
    assert_eq!(host.window(), after + MTU);
    // With a full window, it is halved.
    send(&mut host, 141, 1);
    host.on_lost(at(150), at(81), MTU);
    assert_eq!(host.window(), 3 * MTU);
}

#[test]
fn a_loss_that_was_none_is_undone() {
    let mut host = host("cubic");
    send(&mut host, 0, 10);
    host.on_lost(at(60), at(0), MTU);
    assert!(host.window() < 10 * MTU);
    host.on_spurious(at(61));
    assert_eq!(host.window(), 10 * MTU);
    host.on_spurious(at(62));
    assert_eq!(host.window(), 10 * MTU);
}

#[test]
fn persistent_congestion_leaves_two_packets() {
    let mut host = host("reno");
    send(&mut host, 0, 10);
    host.on_lost(at(900), at(0), 10 * MTU);
    host.on_persistent_congestion(at(900));
    assert_eq!(host.window(), 2 * MTU);
}

#[test]
fn a_mark_halves_the_window_once_a_round_trip() {
    let mut host = host("reno");
    send(&mut host, 0, 10);
    host.on_congestion(at(60), at(0));
    host.on_congestion(at(61), at(0));
    assert_eq!(host.window(), 5 * MTU);
}

#[test]
fn a_controller_that_paces_says_bytes_per_second() {
    let mut host = host("bbr");
    let mut now = 0;
    for _ in 0..20 {
        let packets = host.window() / MTU;
        send(&mut host, now, packets);
        acknowledge(&mut host, now + 50, now, packets);
        now += 50;
    }
    let (rate, window) = (host.pacing().expect("BBR paces"), host.window());
    assert!(rate > 0 && window >= 2 * MTU, "{rate} {window}");
    assert!(self::host("reno").pacing().is_none());
}

/// Signals of a stack that violates every rule.
fn hostile(host: &mut Host, rng: &mut Rng, steps: u32) {
    let mut now = 0u64;
    let mut sent = Vec::from([Time::ZERO]);
    for _ in 0..steps {
        now = match rng.below(20) {
            0 => now.saturating_sub(rng.below(1 << 40)),
            1 => now.saturating_add(rng.below(1 << 50)),
            _ => now.saturating_add(rng.below(5_000_000)),
        };
        let (time, bytes) = (Time(now), rng.below(3000));
        let old = sent[rng.below(sent.len() as u64) as usize];
        match rng.below(12) {
            0..=3 => {
                host.on_sent(time, bytes);
                sent.push(time);
            }
            4..=6 => host.on_acked(old, bytes),
            7 | 8 => host.on_end_acks(time, rng.chance(0.2)),
            9 => host.on_lost(time, old, bytes),
            10 => match rng.below(4) {
                0 => host.on_persistent_congestion(time),
                1 => host.on_spurious(time),
                2 => host.on_congestion(time, old),
                _ => host.on_marked(rng.below(1 << 33) as u32),
            },
            _ => host.on_mtu(rng.below(9000)),
        }
        let mtu = host.mtu;
        assert!(host.window() >= 2 * mtu && host.window() <= MOST as u64 * mtu, "{}", host.window());
        assert!(host.pacing() != Some(0));
        assert!(host.una <= host.next() && host.log.len() <= REMEMBERED);
    }
}

#[test]
fn no_order_of_events_makes_a_host_fail() {
    let mut rng = Rng::stream(7, "hostile", 0);
    let asked = std::env::var("KNEE_SEQUENCES").ok().and_then(|count| count.parse().ok());
    // Few are long, and if many are requested, most are short.
    let (sequences, steps) = asked.map_or((4, 500), |count: usize| (count.div_ceil(REGISTRY.len()), 50));
    for entry in REGISTRY {
        for _ in 0..sequences {
            hostile(&mut host(entry.name), &mut rng, steps);
        }
    }
    std::println!("{} sequences of {steps} signals", sequences * REGISTRY.len());
}

#[test]
fn bytes_in_flight_are_those_sent_less_those_acknowledged_and_lost() {
    let mut rng = Rng::stream(3, "flight", 0);
    let mut host = host("pert");
    let (mut flight, mut now) = (0u64, 0u64);
    for _ in 0..10_000 {
        now += 1 + rng.below(3);
        if flight < host.window() {
            host.on_sent(at(now), MTU);
            flight += MTU;
        } else if rng.chance(0.98) {
            host.on_acked(at(now - 1), MTU);
            host.on_end_acks(at(now), false);
            flight -= MTU;
        } else {
            host.on_lost(at(now), at(now - 1), MTU);
            flight -= MTU;
        }
        assert_eq!(host.in_flight(), flight);
    }
}

#[test]
fn what_it_remembers_has_a_limit() {
    let mut host = host("reno");
    for micros in 0..200_000 {
        host.on_sent(Span::from_micros(micros).after_start(), 1);
    }
    assert_eq!(host.log.len(), REMEMBERED);
    assert_eq!(host.next(), 200_000_u64.div_ceil(MTU));
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Laws of congestion control.

use super::variants;
use crate::cc::{self, Ack, Ecn, Loss, SlowStart, Start, Timeout, Version};
use crate::rng::Rng;
use crate::units::{Span, Time};

/// A host that gives a controller every possible signal, and impossible ones.
#[derive(Clone)]
struct Host {
    controller: cc::Any,
    draws: Rng,
    now: Time,
    una: u64,
    next: u64,
    delivered: u64,
    resent: u64,
}

impl Host {
    fn new(config: &cc::Config, start: Start, seed: u64) -> Host {
        let draws = Rng::stream(seed, "controller", 0);
        Host {
            controller: config.build(start),
            draws,
            now: Time::ZERO,
            una: 0,
            next: 0,
            delivered: 0,
            resent: 0,
        }
    }

    /// One signal, drawn from `script`.
    fn signal(&mut self, script: &mut Rng) {
        let window = self.controller.control().window;
        self.now += script.pick(&[Span(0), Span(40_000), Span::from_millis(3), Span::from_secs(3600)]);
        let now = self.now;
        let flight = script.pick(&[0.0, 1.0, window, window, window, 1e9]);
        self.next = self.next.max(self.una + script.pick(&[0, 1, window as u64, 1_000_000_000]));
        let next = self.next;
        match script.below(100) {
            0..80 => self.acknowledge(script),
            80..88 => self.controller.on_loss(&Loss { now, flight, una: self.una, next }),
            88..92 => self.controller.on_ecn(&Ecn { now, flight, next }),
            _ => {
                for _ in 0..=script.below(3) {
                    let reported = script.chance(0.3);
                    self.controller.on_timeout(&Timeout { now: self.now, flight, reported, next });
                    self.now += Span::from_secs(1);
                }
            }
        }
    }

    fn acknowledge(&mut self, script: &mut Rng) {
        let path = Span::from_micros(20_000 + script.below(100_000));
        let extreme = [Span(0), Span(1), Span::from_secs(86_400 * 365), Span(u64::MAX)];
        let rtt = match script.below(20) {
            0..4 => None,
            4 => Some(script.pick(&extreme)),
            _ => Some(path),
        };
        let outstanding = self.next - self.una;
        let acked = script.pick(&[0, 1, 1, 1, 1, 2, outstanding]).min(outstanding);
        self.una += acked;
        let recovering = script.chance(0.1);
        let credit = if recovering || script.chance(0.1) { 0.0 } else { acked as f64 };
        let in_flight = script.pick(&[0, 1, (self.next - self.una) as u32, 1_000_000_000]);
        let (now, acked) = (self.now, acked as u32);
        let one_way =
            script.chance(0.9).then(|| script.pick(&[Span(0), path, path, path, Span(16_777_215_000)]));
        self.delivered = self.delivered.max(self.una) + script.pick(&[0, 0, 0, 1]);
        self.resent += script.pick(&[0, 0, 0, 1, 100]);
        let marked = script.pick(&[0, 0, acked, acked, 1_000_000_000]);
        let ack = Ack {
            now,
            rtt,
            one_way,
            acked,
            delivered: self.delivered,
            resent: self.resent,
            marked,
            credit,
            limited: script.chance(0.1),
            una: self.una,
            next: self.next,
            in_flight,
            recovering,
        };
        self.controller.on_ack(&ack, &mut self.draws);
    }
}

const STARTS: usize = 6;

fn starts() -> [Start; STARTS] {
    [
        Start::new(2.0),
        Start::avoiding(10.0),
        Start { initial_ssthresh: 64.0, ..Start::new(1.0) },
        Start { slow_start: SlowStart::HyStart, version: Version::Linux, ..Start::new(10.0) },
        Start { slow_start: SlowStart::HyStartPp, ..Start::new(10.0) },
        Start { slow_start: SlowStart::Search, ..Start::new(10.0) },
    ]
}

/// Tries all laws on a controller, with its defaults and with each parameter at the ends of its range.
pub fn hold(config: &cc::Config) {
    give_way(config);
    for (variant, seed) in variants(config).iter().zip(0..) {
        stay_sane(variant, seed);
        have_one_future(variant, seed);
    }
}

/// A window is at least one packet and finite for all signals.
pub fn stay_sane(config: &cc::Config, seed: u64) {
    for start in starts() {
        let mut host = Host::new(config, start, seed);
        let mut script = Rng::stream(seed, "script", 0);
        for step in 0..4_000 {
            host.signal(&mut script);
            let control = host.controller.control();
            let sane = control.window >= 1.0 && control.window.is_finite();
            assert!(sane, "{config:?} step {step}: {control:?}");
            let moves = control.pacing.is_none_or(|rate| rate.0 > 0.0 && rate.0.is_finite());
            assert!(moves, "{config:?} step {step}: {control:?}");
        }
        for (name, value) in host.controller.state() {
            assert!(!value.is_nan(), "{config:?}: {name} is not a number");
        }
    }
}

/// A loss or a timeout never widens a window beyond two packets or what a known rate allows.
pub fn give_way(config: &cc::Config) {
    let mut host = Host::new(config, starts()[0], 7);
    let mut script = Rng::stream(7, "script", 0);
    for _ in 0..2_000 {
        host.signal(&mut script);
        let before = host.controller.control().window;
        let (now, una, next) = (host.now, host.una, host.next);
        for flight in [0.0, 1.0, before, 1e9] {
            let mut lost = host.clone();
            lost.controller.on_loss(&Loss { now, flight, una, next });
            let mut silent = host.clone();
            silent.controller.on_timeout(&Timeout { now, flight, reported: false, next });
            for after in [lost, silent] {
                let window = after.controller.control().window;
                let state = after.controller.state();
                let known = state.iter().find(|(name, _)| *name == "rate_window_packets");
                let most = before.max(2.0).max(known.map_or(0.0, |(_, packets)| *packets));
                assert!(window <= most, "{}: {before} to {window}", config.name());
            }
        }
    }
}

/// A cloned controller has the same future, and so has the same seed.
pub fn have_one_future(config: &cc::Config, seed: u64) {
    let mut script = Rng::stream(seed, "script", 1);
    let mut original = Host::new(config, starts()[seed as usize % STARTS], seed);
    let mut again = Host::new(config, starts()[seed as usize % STARTS], seed);
    let mut same_script = script.clone();
    for _ in 0..script.clone().below(500) {
        original.signal(&mut script);
        again.signal(&mut same_script);
    }
    let mut clone = original.clone();
    let mut cloned_script = script.clone();
    for _ in 0..500 {
        original.signal(&mut script);
        clone.signal(&mut cloned_script);
        again.signal(&mut same_script);
        let expected = format!("{:?}", original.controller);
        assert_eq!(format!("{:?}", clone.controller), expected, "a clone of {config:?}");
        assert_eq!(format!("{:?}", again.controller), expected, "the same seed of {config:?}");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The cost of the host between a QUIC stack and a controller for each acknowledgement: with the controller, and the controller alone.

use std::hint::black_box;
use std::time::{Duration, Instant};

use kneepoint_cc::cc::{Config, Start};
use kneepoint_cc::units::Span;
use kneepoint_quic::host::{Host, INITIAL_WINDOW, Told};

const MTU: u64 = 1200;
const ACKS: u64 = 1_000_000;
const ROUNDS: usize = 5;

#[expect(clippy::disallowed_methods, reason = "a measurement of time")]
fn timed(act: impl FnOnce()) -> Duration {
    let began = Instant::now();
    act();
    began.elapsed()
}

/// Two packets sent and two acknowledged by each of this many acknowledgements, 50 ms later; a loss in ten thousand.
fn drive(host: &mut Host, acks: u64, mut keep: impl FnMut(Vec<Told>)) {
    let at = |ack: u64| Span::from_micros(100 * ack).after_start();
    for ack in 0..acks {
        host.on_sent(at(ack), MTU);
        host.on_sent(at(ack), MTU);
        if let Some(old) = ack.checked_sub(500) {
            if old % 10_000 == 9_999 {
                host.on_lost(at(ack), at(old), 2 * MTU);
            } else {
                host.on_acked(at(old), MTU);
                host.on_acked(at(old), MTU);
                host.on_end_acks(at(ack), false);
            }
        }
        black_box(host.window());
        keep(host.take());
    }
}

fn main() {
    println!(
        "controller  ns per acknowledgement of two packets: host and controller, controller alone, host"
    );
    for name in ["reno", "cubic", "pert", "bbr"] {
        let config = Config::named(name).expect("registered");
        let fresh = || Host::new(&config, INITIAL_WINDOW, MTU, 1);
        let mut record = Vec::new();
        let mut host = fresh();
        host.record();
        drive(&mut host, ACKS, |told| record.extend(told));
        let both = (0..ROUNDS).map(|_| {
            let mut one = fresh();
            timed(|| drive(&mut one, ACKS, |told| drop(black_box(told))))
        });
        let both = both.min().unwrap_or_default();
        let alone = (0..ROUNDS).map(|_| {
            let mut controller = config.build(Start::new(Host::opening(INITIAL_WINDOW)));
            timed(|| {
                for told in &record {
                    black_box(told.signal.tell(&mut controller));
                    black_box(controller.control());
                }
            })
        });
        let alone = alone.min().unwrap_or_default();
        let [both, alone] = [both, alone].map(|time| time.as_nanos() as f64 / ACKS as f64);
        println!("{name:<10}  {both:6.1}  {alone:6.1}  {:6.1}", both - alone);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Feedback of few bits in whole networks: accelerate and brake, coarse codes of rates, and prices read off marks.

use kneepoint::packet::Flags;
use kneepoint::run;
use kneepoint::scenario;
use kneepoint::trace::{Event, Fate, Observer};
use kneepoint::units::Time;

/// From the fortieth to the hundredth second.
const MEASURED: std::ops::Range<u64> = 40..100;

/// The observations of senders and of a bottleneck.
#[derive(Default)]
struct Heard {
    /// Payload acknowledged, by flow.
    bytes: [u64; 5],
    /// Queueing delays of data, in seconds.
    waits: Vec<f64>,
    arrived: u32,
    marked: u32,
    dropped: u32,
}

impl Observer for Heard {
    fn on(&mut self, at: Time, event: &Event) {
        if !MEASURED.contains(&(at.0 / 1_000_000_000)) {
            return;
        }
        match event {
            Event::Acked { flow, acked, .. } => self.bytes[flow.0 as usize] += acked.0,
            Event::Service { packet, waited, .. } if !packet.flags.has(Flags::ACK) => {
                self.waits.push(waited.as_secs_f64());
            }
            Event::Arrival { packet, fate, .. } if !packet.flags.has(Flags::ACK) => {
                self.arrived += 1;
                self.marked += u32::from(*fate == Fate::Marked);
                self.dropped += u32::from(matches!(fate, Fate::Dropped(_)));
            }
            _ => {}
        }
    }
}

impl Heard {
    /// Goodput by flow, in Mbit/s on the wire.
    fn rates(&self, flows: usize) -> Vec<f64> {
        let seconds = (MEASURED.end - MEASURED.start) as f64;
        self.bytes[..flows].iter().map(|bytes| *bytes as f64 * 8.0 * 1.04 / seconds / 1e6).collect()
    }

    /// The queueing delay that one in twenty packets exceeds.
    fn high_wait(&self) -> f64 {
        let mut waits = self.waits.clone();
        waits.sort_by(f64::total_cmp);
        waits[waits.len() * 95 / 100]
    }
}

/// The greatest over the least.
fn spread(rates: &[f64]) -> f64 {
    let greatest = rates.iter().copied().fold(0.0, f64::max);
    greatest / rates.iter().copied().fold(f64::INFINITY, f64::min)
}

/// A dumbbell of `rate` with `flows` senders; `top` stands before its section, `capacity` after.
fn dumbbell(top: &str, rate: &str, rtt: u32, capacity: &str, cc: &str, flows: usize) -> Heard {
    let text = format!(
        "{top}\n[topology]\nkind = \"dumbbell\"\nrate = \"{rate}\"\nbuffer = \"300pkt\"\nrtt = \"{rtt}ms\"\n{capacity}\n\
         [tcp]\necn = true\n[[flows]]\nname = \"{cc}\"\ncc = \"{cc}\"\ncount = {flows}\n[run]\nduration = \"100s\"\n"
    );
    let plan = scenario::parse(&text).unwrap_or_else(|faults| panic!("{faults:?}"));
    run::run(&plan.cases[0].valid, 1, Heard::default()).0
}

/// A rate that changes every second.
const STEPS: &str =
    "[capacity]\nkind = \"steps\"\nrates = [\"0s: 12mbit\", \"1s: 4mbit\", \"2s: 8mbit\"]\nperiod = \"3s\"";

#[test]
fn accelerate_and_brake_keep_a_varying_link_busy_with_a_shorter_queue_than_drop_tail() {
    let told = dumbbell("feedback = \"abc\"", "8mbit", 50, STEPS, "abc", 3);
    let reno = dumbbell("", "8mbit", 50, STEPS, "reno", 3);
    let carried: f64 = told.rates(3).iter().sum();
    assert!(carried > 0.8 * 8.0, "{:?}", told.rates(3));
    assert!(spread(&told.rates(3)) < 1.2, "{:?}", told.rates(3));
    assert!(told.high_wait() < 0.5 * reno.high_wait(), "{} {}", told.high_wait(), reno.high_wait());
}

#[test]
fn seven_bits_round_the_fair_rate_down() {
    // Nine tenths of a third of 9 Mbit/s are between the codes 28 and 29: 2.51 and 2.82 Mbit/s.
    let told =
        dumbbell("feedback = { kind = \"scone\", period = \"1s\" }", "9mbit", 100, "", "ratcp:backlog=0", 3);
    let rates = told.rates(3);
    assert!(rates.iter().all(|rate| (2.4..2.52).contains(rate)), "{rates:?}");
    assert_eq!(told.dropped, 0);
}

#[test]
fn flows_that_read_one_price_share_equally() {
    let queue = "queue = { kind = \"rem\", ecn = true, gamma = 1.0, alpha = 0.003 }";
    let told = dumbbell(queue, "10mbit", 100, "", "ratcp-rem", 5);
    let rates = told.rates(5);
    assert!(rates.iter().sum::<f64>() > 9.5 && spread(&rates) < 1.15, "{rates:?}");
    // The price of five flows at 10 Mbit/s and the default weight: 1 - 1.001^-(5 · 60000 / 1202) = 22 %.
    let marked = f64::from(told.marked) / f64::from(told.arrived);
    assert!((0.15..0.3).contains(&marked) && told.dropped == 0, "{marked} {}", told.dropped);
}

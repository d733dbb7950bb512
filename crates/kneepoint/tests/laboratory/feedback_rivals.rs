// SPDX-License-Identifier: Apache-2.0 OR MIT
//! RCP and XCP in operation: one bottleneck, flows of different round trips, newcomers, a varying capacity, other traffic.

use kneepoint::run;
use kneepoint::scenario;
use kneepoint::trace::{Event, Fate, Observer};
use kneepoint::units::Time;

/// Acknowledged payload, in bins of 100 ms and by flow, and the events of the queue from the fifth second on.
#[derive(Default)]
struct Heard {
    bins: Vec<[u64; 12]>,
    dropped: u32,
    backlogs: (f64, f64),
    most: u32,
    last: (Time, u32),
}

const SETTLED: Time = Time(5_000_000_000);

impl Observer for Heard {
    fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Acked { flow, acked, .. } => {
                let bin = (at.0 / 100_000_000) as usize;
                if self.bins.len() <= bin {
                    self.bins.resize(bin + 1, [0; 12]);
                }
                self.bins[bin][flow.0 as usize] += acked.0;
            }
            Event::Arrival { fate: Fate::Dropped(_), .. } => self.dropped += 1,
            Event::Queue { backlog, .. } if at >= SETTLED => {
                let passed = (at - self.last.0.max(SETTLED)).as_secs_f64();
                self.backlogs.0 += passed * f64::from(self.last.1);
                self.backlogs.1 += passed;
                self.most = self.most.max(backlog.packets);
                self.last = (at, backlog.packets);
            }
            Event::Queue { backlog, .. } => self.last = (at, backlog.packets),
            _ => {}
        }
    }
}

impl Heard {
    /// Rates in Mbit/s of payload in an interval of seconds.
    fn rates(&self, from: f64, to: f64) -> [f64; 12] {
        let mut rates = [0.0; 12];
        for bin in &self.bins[(from * 10.0) as usize..(to * 10.0) as usize] {
            for (rate, bytes) in rates.iter_mut().zip(bin) {
                *rate += *bytes as f64 * 8e-6 / (to - from);
            }
        }
        rates
    }

    fn mean_queue(&self) -> f64 {
        self.backlogs.0 / self.backlogs.1
    }
}

fn sum(rates: &[f64]) -> f64 {
    rates.iter().sum()
}

/// The ratio of the greatest rate to the least.
fn spread(rates: &[f64]) -> f64 {
    rates.iter().copied().fold(0.0, f64::max) / rates.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Twenty seconds of a bottleneck of 10 Mbit/s with a buffer of its product with 60 ms, 72 packets; of payload, 9.6 Mbit/s.
fn bottleneck(feedback: &str, capacity: &str, flows: &str) -> Heard {
    let text = format!(
        "feedback = \"{feedback}\"\n[topology]\nkind = \"dumbbell\"\nrate = \"10mbit\"\nbuffer = \"72pkt\"\nrtt = \"60ms\"\n\
         {capacity}\n{flows}\n[run]\nduration = \"20s\"\n"
    );
    let plan = scenario::parse(&text).unwrap_or_else(|faults| panic!("{faults:?}"));
    run::run(&plan.cases[0].valid, 1, Heard::default()).0
}

/// A flow with a round trip in ms that starts at a second.
fn flow(cc: &str, rtt: u32, start: u32) -> String {
    format!(
        "[[flows]]\nname = \"{cc} {rtt} {start}\"\ncc = \"{cc}\"\nrtt = \"{rtt}ms\"\nstart = \"{start}s\"\n"
    )
}

/// Flows of five round trips from 30 to 150 ms.
fn five(cc: &str) -> String {
    [30, 60, 90, 120, 150].map(|rtt| flow(cc, rtt, 0)).concat()
}

const STEPS: &str = "[capacity]\nkind = \"steps\"\nrates = [\"0s: 10mbit\", \"8s: 4mbit\", \"14s: 10mbit\"]";

#[test]
fn flows_of_different_round_trips_share_the_target_equally_over_a_short_queue() {
    // RCP's target is 95 % of the capacity; XCP's all of it.
    for (kind, least, equal, queue) in [("rcp", 0.945, 1.01, 1), ("xcp", 0.99, 1.15, 10)] {
        let heard = bottleneck(kind, "", &five(kind));
        let rates = heard.rates(5.0, 20.0);
        assert!(sum(&rates) / 9.615 > least && spread(&rates[..5]) < equal, "{kind}: {rates:?}");
        assert!(heard.dropped == 0 && heard.most <= queue, "{kind}: {} {}", heard.dropped, heard.most);
        assert!(heard.mean_queue() < 5.0, "{kind}: {}", heard.mean_queue());
    }
}

#[test]
fn a_newcomer_has_its_share_after_some_round_trips() {
    // RCP within ten round trips. XCP takes a tenth of the difference away in each, so it needs 25 for 0.07 of it, a ratio of 1.15.
    for (kind, from, drops) in [("rcp", 10.6, true), ("xcp", 11.5, false)] {
        let heard = bottleneck(kind, "", &[flow(kind, 60, 0), flow(kind, 60, 10)].concat());
        let rates = heard.rates(from, from + 1.0);
        assert!(spread(&rates[..2]) < 1.15, "{kind}: {rates:?}");
        // RCP's newcomer starts at the rate of the flow that had the link alone, twice the capacity for a round trip.
        assert_eq!(heard.dropped > 0, drops, "{kind}: {}", heard.dropped);
    }
}

#[test]
fn the_rates_follow_a_capacity_that_falls_and_rises_again() {
    for (kind, target) in [("rcp", 0.95), ("xcp", 1.0)] {
        let heard = bottleneck(kind, STEPS, &five(kind));
        for (from, to, mbit) in [(5.0, 8.0, 9.615), (9.0, 14.0, 3.846), (15.0, 20.0, 9.615)] {
            let rates = heard.rates(from, to);
            let used = sum(&rates) / (target * mbit);
            assert!((0.97..1.02).contains(&used) && spread(&rates[..5]) < 1.15, "{kind}: {used} {rates:?}");
        }
    }
}

#[test]
fn flows_that_heed_feedback_starve_beside_flows_that_fill_the_queue() {
    for kind in ["rcp", "xcp"] {
        let flows = [flow(kind, 60, 0), flow(kind, 61, 0), flow("reno", 60, 0), flow("reno", 61, 0)].concat();
        let rates = bottleneck(kind, "", &flows).rates(5.0, 20.0);
        assert!(sum(&rates[..2]) < 0.05 * sum(&rates), "{kind}: {rates:?}");
    }
}

#[test]
fn without_feedback_in_the_network_both_are_reno() {
    let reno = bottleneck("none", "", &five("reno")).bins;
    assert!(["rcp", "xcp"].iter().all(|kind| bottleneck("none", "", &five(kind)).bins == reno));
}

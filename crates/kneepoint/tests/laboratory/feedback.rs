// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Explicit feedback at work: senders' use of advised rates in whole networks.

use kneepoint::run;
use kneepoint::scenario;
use kneepoint::trace::{Event, Fate, Observer};
use kneepoint::units::{Span, Time};

/// Payload acknowledged from the tenth to the sixtieth second, by flow, and the packets dropped by queues meanwhile.
#[derive(Default)]
struct Heard {
    bytes: [u64; 4],
    dropped: u32,
}

impl Observer for Heard {
    fn on(&mut self, at: Time, event: &Event) {
        if !(Time::ZERO + Span::from_secs(10)..Time::ZERO + Span::from_secs(60)).contains(&at) {
            return;
        }
        match event {
            Event::Acked { flow, acked, .. } => self.bytes[flow.0 as usize] += acked.0,
            Event::Arrival { fate: Fate::Dropped(_), .. } => self.dropped += 1,
            _ => {}
        }
    }
}

/// Rates in kB/s, and drops, in a scenario of sixty seconds.
fn heard(text: &str) -> ([f64; 4], u32) {
    let plan = scenario::parse(&format!("{text}\n[run]\nduration = \"60s\"\n"))
        .unwrap_or_else(|faults| panic!("{faults:?}"));
    let (heard, _) = run::run(&plan.cases[0].valid, 1, Heard::default());
    (heard.bytes.map(|bytes| bytes as f64 / 50.0 / 1e3), heard.dropped)
}

/// A bottleneck of 0.8 Mbit/s with sessions of these round-trip times in ms.
fn bottleneck(cc: &str, feedback: &str, rtts: &[u32]) -> ([f64; 4], u32) {
    let sessions: String = rtts
        .iter()
        .map(|rtt| format!("[[flows]]\nname = \"{rtt} ms\"\ncc = \"{cc}\"\nrtt = \"{rtt}ms\"\n"))
        .collect();
    heard(&format!(
        "feedback = {feedback}\n[topology]\nkind = \"dumbbell\"\nrate = \"800kbit\"\nbuffer = \"25pkt\"\nrtt = \"100ms\"\n\
         [tcp]\nrecovery = \"reno\"\n{sessions}"
    ))
}

#[test]
fn sessions_that_know_their_fair_rate_share_equally_whatever_their_round_trips_and_lose_nothing() {
    let ([short, long, ..], dropped) = bottleneck("ratcp", "\"oracle\"", &[100, 200]);
    // 100 kB/s on the wire are 96.2 kB/s of payload.
    assert!((short / long - 1.0).abs() < 0.05 && short + long > 94.0, "{short} {long}");
    assert_eq!(dropped, 0);
}

#[test]
fn sessions_without_it_share_unequally_and_lose_packets() {
    let ([short, long, ..], dropped) = bottleneck("reno", "\"oracle\"", &[100, 200]);
    assert!((short / long).max(long / short) > 1.5 && dropped > 0, "{short} {long} {dropped}");
}

#[test]
fn a_rate_stamped_by_an_edge_device_gives_equal_shares_below_its_target() {
    let edge = "{ kind = \"erica\", utilization = 0.9, interval = \"1s\" }";
    let ([first, second, third, _], dropped) = bottleneck("ratcp:backlog=0", edge, &[100, 150, 200]);
    let sum = first + second + third;
    assert!((0.8..1.0).contains(&(sum / (0.96 * 100.0))), "{first} {second} {third}");
    assert!(
        first < 1.25 * third && third < 1.25 * first && dropped == 0,
        "{first} {second} {third} {dropped}"
    );
}

#[test]
fn a_controller_without_advice_is_untouched_by_feedback() {
    for feedback in ["\"oracle\"", "\"erica\""] {
        assert_eq!(bottleneck("reno", feedback, &[100, 200]), bottleneck("reno", "\"none\"", &[100, 200]));
    }
}

#[test]
fn without_feedback_ratcp_is_reno() {
    assert_eq!(bottleneck("ratcp", "\"none\"", &[100, 200]), bottleneck("reno", "\"none\"", &[100, 200]));
}

#[test]
fn over_two_bottlenecks_the_least_rate_along_the_path_counts() {
    let lot = |feedback: &str| {
        heard(&format!(
            "feedback = {feedback}\n[topology]\nkind = \"graph\"\n\
             [[link]]\nfrom = \"a\"\nto = \"b\"\nrate = \"10mbit\"\ndelay = \"40ms\"\nbuffer = \"50pkt\"\n\
             [[link]]\nfrom = \"b\"\nto = \"c\"\nrate = \"6mbit\"\ndelay = \"40ms\"\nbuffer = \"50pkt\"\n\
             [[flows]]\nname = \"long\"\nfrom = \"a\"\nto = \"c\"\ncc = \"ratcp\"\n\
             [[flows]]\nname = \"first\"\nfrom = \"a\"\nto = \"b\"\ncc = \"ratcp\"\n\
             [[flows]]\nname = \"second\"\nfrom = \"b\"\nto = \"c\"\ncc = \"ratcp\"\ncount = 2\n"
        ))
    };
    // Max-min: the long flow and both of the second link 2 Mbit/s each, the first link's own flow 8; kB/s of payload.
    let (rates, dropped) = lot("\"oracle\"");
    let fair = [240.0, 962.0, 240.0, 240.0];
    assert!(rates.iter().zip(fair).all(|(rate, fair)| (rate / fair - 1.0).abs() < 0.06), "{rates:?}");
    assert_eq!(dropped, 0);
    // An edge device sees only its own link: half of the first link is left to a flow that cannot use it.
    let (edge, _) = lot("{ kind = \"erica\", utilization = 1.0, interval = \"1s\" }");
    assert!(edge[1] < 700.0, "{edge:?}");
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of RACK's counts, whatever is sent and heard.

use super::*;
use crate::packet::Flags;
use crate::rng::Rng;

/// The counts are those of the segments, nothing is lost that was not sent, and what is lost was sent before
/// something that arrived or before a timeout.
fn check(rack: &Rack, high: u32) {
    let count = |state| rack.segments.iter().filter(|one| one.state == state).count() as u32;
    assert_eq!((rack.lost, rack.sacked()), (count(State::Lost), count(State::Sacked)));
    assert_eq!(rack.pipe(), count(State::Flying) + count(State::Resent));
    assert_eq!(rack.una + rack.segments.len() as u32, high);
}

#[test]
fn it_never_marks_more_than_was_sent_whatever_arrives_and_in_whatever_order() {
    let options = Options::default();
    for case in 0..300 {
        let mut rng = Rng::stream(case, "rack", 0);
        let mut rack = Rack::default();
        let (mut now, mut high, mut held) = (Time(0), 0, std::collections::BTreeSet::new());
        let mut sent: Vec<(u32, Time)> = Vec::new();
        for _ in 0..300 {
            now += Span::from_millis(rng.below(20));
            match rng.below(10) {
                0..5 => {
                    let seq = rack.next_lost().unwrap_or(high);
                    rack.on_sent(seq, now);
                    high = high.max(seq + 1);
                    sent.push((seq, now));
                }
                5..9 if !sent.is_empty() => {
                    let (seq, at) = sent[rng.below(sent.len() as u64) as usize];
                    held.insert(seq);
                    let una = (0..).find(|one| !held.contains(one)).expect("some number is missing");
                    let end = (seq..).find(|one| !held.contains(one)).expect("some number is missing");
                    let block = if seq > una { (seq, end) } else { (0, 0) };
                    let packet = Packet::ack(0, una, 40, Flags::default(), at, [block, (0, 0), (0, 0)]);
                    let before = rack.pipe();
                    let told = rack.on_ack(&packet, now, Span::from_millis(50), rng.chance(0.5), &options);
                    assert!(told.lost <= before, "{} of {before}", told.lost);
                }
                9 if rng.chance(0.3) => rack.on_timeout(now),
                _ => {
                    rack.on_due(now, Span::from_millis(50), rng.chance(0.5), &options);
                }
            }
            check(&rack, high);
        }
    }
}

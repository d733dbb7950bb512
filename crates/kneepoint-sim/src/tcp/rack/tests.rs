// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of the counts, for any sequence of events.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::outstanding::Fate;
use super::*;
use crate::cc;
use crate::packet::Flags;
use crate::rng::Rng;
use crate::tcp::{Options, Recovery, Sender};

/// The counts match the segments.
fn check(rack: &Rack) {
    let out = &rack.out;
    let count = |fate| {
        (out.una()..out.high()).filter(|&seq| out.get(seq).is_some_and(|sent| sent.fate.has(fate))).count()
            as u32
    };
    assert_eq!((out.lost(), out.resent()), (count(Fate::LOST), count(Fate::RESENT)));
    assert_eq!(out.sacked(), count(Fate::SACKED) + out.duplicates());
    assert!(out.left() <= out.len(), "{} of {}", out.left(), out.len());
    // Except for probes at the tail, no retransmission waits that the search would not find.
    let waits = |seq: &u32| {
        out.get(*seq).is_some_and(|sent| sent.fate.has(Fate::LOST) && !sent.fate.has(Fate::RESENT))
    };
    let first = (out.una()..out.high()).find(waits);
    if out.resent() < out.lost() {
        assert_eq!(out.clone().next_lost(), first);
    }
}

#[test]
fn the_counts_are_those_of_the_segments_whatever_arrives_and_in_whatever_order() {
    for case in 0..300 {
        let mut rng = Rng::stream(case, "rack", 0);
        let options = Options { recovery: Recovery::Rack, sack: case % 4 > 0, ..Options::default() };
        let controller = cc::Config::named("reno").expect("a registered name");
        let mut sender = Sender::new(Arc::new(options), &controller, None);
        let (mut now, mut sent, mut held) = (Time(1), Vec::new(), BTreeSet::new());
        for _ in 0..300 {
            while let Some(segment) = sender.poll(now) {
                sent.push((segment.seq, now));
                check(sender.recovery().expect("it goes by time"));
            }
            now += Span::from_millis(rng.below(20));
            if sender.next_wakeup(now) <= now {
                sender.on_wakeup(now);
            } else if !sent.is_empty() {
                let (seq, at) = sent[rng.below(sent.len() as u64) as usize];
                held.insert(seq);
                let una = (0..).find(|one| !held.contains(one)).expect("some number is missing");
                let end = (seq..).find(|one| !held.contains(one)).expect("some number is missing");
                let block = if seq > una { (seq, end) } else { (0, 0) };
                let twice = rng.chance(0.1).then_some((seq, seq + 1));
                let blocks = [twice.unwrap_or(block), if twice.is_some() { block } else { (0, 0) }, (0, 0)];
                // Some are overtaken by later ones.
                let una = una - rng.below(2) as u32 * u32::from(una > 0);
                let flags = Flags::default().with_if(rng.chance(0.02), Flags::ECE);
                sender.on_ack(&Packet::ack(0, una, 40, flags, at, blocks), now, &mut rng);
            }
            check(sender.recovery().expect("it goes by time"));
        }
    }
}

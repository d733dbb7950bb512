// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Segments sent and acknowledged, and what follows from them.

use super::*;

fn data(at: u64, seq: u32, stamp: u32) -> Segment {
    Segment {
        at: Time(at),
        seq,
        ack: Some(1),
        payload: 100,
        timestamps: Some((stamp, 0)),
        ..Segment::default()
    }
}

fn ack(at: u64, ack: u32, sack: (u32, u32), echo: u32) -> Segment {
    let sack = [sack, (0, 0), (0, 0), (0, 0)];
    Segment { ack: Some(ack), payload: 0, sack, timestamps: Some((0, echo)), ..data(at, 1, 0) }
}

fn new() -> Sent {
    Sent { segments: 1, ..Sent::default() }
}

fn lost(at: u64) -> Sent {
    Sent { lost: vec![Time(at)], ..new() }
}

fn needless() -> Sent {
    Sent { needless: true, ..new() }
}

fn sent(told: Told) -> Option<u64> {
    told.sent.map(|sent| sent.0)
}

#[test]
fn an_acknowledgement_answers_the_last_packet_that_it_covers_wherever_numbers_wrap() {
    for first in [1_u32, 0xffff_ffc0] {
        let at = |bytes: u32| first.wrapping_add(bytes);
        let mut out = Outstanding::default();
        for place in 0..3 {
            assert_eq!(out.send(&data(10 + u64::from(place), at(100 * place), 1)), new());
        }
        let told = out.hear(&ack(50, at(200), (0, 0), 1));
        assert_eq!((sent(told), told.flight, told.acked), (Some(11), 300, 200));
        // Half of a packet that a network card put together.
        let half = out.hear(&ack(51, at(250), (0, 0), 1));
        assert_eq!((sent(half), half.flight, half.acked), (Some(12), 100, 50));
    }
}

#[test]
fn what_is_sent_again_was_lost_unless_it_had_arrived() {
    let mut out = Outstanding::default();
    for place in 0..4 {
        out.send(&data(10 + u64::from(place), 1 + 100 * place, 1));
    }
    let told = out.hear(&ack(50, 1, (101, 401), 1));
    assert_eq!((sent(told), told.acked), (Some(13), 0));
    assert_eq!(out.send(&data(60, 1, 2)), lost(10));
    assert_eq!(out.send(&data(61, 101, 2)), needless());
    // A second time: the retransmission was lost.
    assert_eq!(out.send(&data(90, 1, 3)), lost(60));
    let filled = out.hear(&ack(120, 401, (0, 0), 3));
    assert_eq!((sent(filled), filled.flight, filled.acked), (Some(90), 100, 400));
    assert_eq!(out.send(&data(130, 301, 4)), needless());
}

#[test]
fn a_round_trip_of_what_was_sent_twice_counts_only_if_an_echo_tells_which() {
    for (echo, known) in [(2, Some(60)), (1, None)] {
        let mut out = Outstanding::default();
        out.send(&data(10, 1, 1));
        out.send(&data(60, 1, 2));
        assert_eq!(sent(out.hear(&ack(70, 101, (0, 0), echo))), known);
    }
    // A coarse clock gives no information.
    let mut out = Outstanding::default();
    out.send(&data(10, 1, 1));
    out.send(&data(60, 1, 1));
    assert_eq!(sent(out.hear(&ack(70, 101, (0, 0), 1))), None);
}

#[test]
fn what_comes_late_and_was_not_seen_before_is_no_loss() {
    let mut out = Outstanding::default();
    out.send(&data(10, 1, 1));
    out.send(&data(12, 201, 1));
    assert_eq!(out.send(&data(13, 101, 1)), Sent { hole: Some(Time(12)), ..new() });
    assert_eq!(sent(out.hear(&ack(50, 301, (0, 0), 1))), None);
}

#[test]
fn a_segment_is_lost_once_however_retransmissions_cut_it_or_join_it() {
    let sized = |at, seq, payload| Segment { payload, ..data(at, seq, 1) };
    let mut out = Outstanding::default();
    (0..3).for_each(|place| drop(out.send(&data(10 + u64::from(place), 1 + 100 * place, 1))));
    // In two parts, of which the second is retransmitted.
    let resized = |sent| Sent { resized: true, ..sent };
    let rest = || resized(Sent::default());
    assert_eq!(out.send(&sized(50, 1, 60)), resized(lost(10)));
    assert_eq!(out.send(&sized(51, 61, 40)), rest());
    assert_eq!(out.send(&sized(90, 61, 40)), resized(lost(51)));
    // The first again, with the other two.
    assert_eq!(out.send(&sized(91, 1, 60)), rest());
    let joined = Sent { segments: 2, lost: vec![Time(11), Time(12)], ..Sent::default() };
    assert_eq!(out.send(&sized(92, 101, 200)), resized(joined));
    // The data that had arrived, in two parts.
    out.hear(&ack(120, 301, (0, 0), 1));
    assert_eq!(out.send(&sized(130, 1, 60)), needless());
    assert_eq!(out.send(&sized(131, 61, 40)), rest());
    assert_eq!(out.send(&sized(132, 101, 100)), needless());
}

#[test]
fn the_byte_of_a_probe_is_sent_once_the_receiver_takes_it() {
    let mut out = Outstanding::default();
    out.send(&data(10, 1, 1));
    out.hear(&ack(20, 101, (0, 0), 1));
    out.probe(&Segment { payload: 1, ..data(30, 101, 1) });
    assert_eq!(out.hear(&ack(40, 101, (0, 0), 1)).acked, 0);
    assert_eq!(out.edges(), Some((101, 101)));
    assert_eq!(out.hear(&ack(50, 102, (0, 0), 1)).acked, 1);
    assert_eq!(out.send(&data(60, 102, 1)), new());
    assert_eq!(out.edges(), Some((102, 202)));
}

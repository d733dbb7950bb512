// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A sender's behaviour, packet by packet, as the RFCs specify it: numbers worked by hand.
//!
//! The round trip takes 100 ms and transmission no time, so that everything happens at multiples of 100 ms.

use kneepoint::cc;
use kneepoint::packet::{Flags, Packet};
use kneepoint::rng::Rng;
use kneepoint::tcp::{Options, Recovery};
use kneepoint::units::{Bytes, Span, Time};

use crate::common::wire::{Fate, Transfer, Way};

const RTT: Span = Span::from_millis(100);
const LONG: Span = Span::from_secs(300);

fn reno() -> cc::Config {
    cc::Config::named("reno").expect("a registered name")
}

/// Options of a sender that begins in avoidance, with this window.
fn window(packets: u32, recovery: Recovery) -> Options {
    let packets = f64::from(packets);
    Options { recovery, initial_window: packets, initial_ssthresh: packets, ..Options::default() }
}

/// A transfer that loses the first transmission of each of `lost`.
fn losing(
    options: &Options,
    packets: u32,
    lost: &'static [u32],
) -> Transfer<impl FnMut(Way, u32, &Packet) -> Fate + use<>> {
    under(options, packets, move |way, _, packet| {
        let first = !packet.flags.has(Flags::RETRANSMITTED);
        if way == Way::Data && first && lost.contains(&packet.seq) { Fate::Lose } else { Fate::Pass }
    })
}

/// A transfer under a law, over a path where transmission takes no time.
fn under<F: FnMut(Way, u32, &Packet) -> Fate>(options: &Options, packets: u32, law: F) -> Transfer<F> {
    let mut transfer = Transfer::new(options, &reno(), packets, law);
    transfer.gap = Span::ZERO;
    transfer
}

/// The packets sent at a multiple of the round trip.
fn sent_at<F: FnMut(Way, u32, &Packet) -> Fate>(transfer: &Transfer<F>, trip: u64) -> Vec<u32> {
    transfer.sent_between(RTT * trip, RTT * trip + Span(1))
}

#[test]
fn slow_start_doubles_the_window_every_round_trip() {
    let mut transfer = losing(&Options::default(), 126, &[]);
    transfer.complete(LONG);
    let flights: Vec<_> = (0..6).map(|trip| sent_at(&transfer, trip).len()).collect();
    assert_eq!(flights, [2, 4, 8, 16, 32, 64]);
    assert_eq!(transfer.now, Time::ZERO + RTT * 6);
}

#[test]
fn delayed_acknowledgements_slow_slow_start_down_to_a_half_more() {
    let mut transfer = losing(&Options { delayed_ack: true, ..Options::default() }, 100, &[]);
    transfer.complete(LONG);
    let flights: Vec<_> = (0..5).map(|trip| sent_at(&transfer, trip).len()).collect();
    // Two packets acknowledged at once permit three. Of an odd flight, one packet's acknowledgement waits.
    assert_eq!(flights[..3], [2, 3, 3], "{flights:?}");
}

#[test]
fn a_receiver_acknowledges_every_second_packet_and_holds_the_last_no_longer_than_its_timer() {
    let options = Options { delayed_ack: true, initial_window: 5.0, ..Options::default() };
    let mut transfer = losing(&options, 5, &[]);
    transfer.complete(LONG);
    let heard: Vec<_> = transfer.heard.iter().map(|(at, reply)| (at.0 / 1_000_000, reply.seq)).collect();
    assert_eq!(heard, [(100, 2), (100, 4), (200, 5)]);
    // A delayed acknowledgement echoes the earliest packet's time.
    assert!(transfer.heard.iter().all(|(_, reply)| reply.sent == Time::ZERO));
}

#[test]
fn a_packet_out_of_order_is_acknowledged_at_once_and_so_is_the_one_that_fills_the_gap() {
    let options = Options { delayed_ack: true, initial_window: 4.0, ..Options::default() };
    let mut transfer = under(&options, 4, |way, nth, _| match (way, nth) {
        (Way::Data, 1) => Fate::Late(Span::from_millis(10)),
        _ => Fate::Pass,
    });
    transfer.complete(LONG);
    let heard: Vec<_> = transfer.heard.iter().map(|(at, reply)| (at.0 / 1_000_000, reply.seq)).collect();
    assert_eq!(heard, [(100, 1), (100, 1), (110, 4)]);
    assert_eq!(transfer.heard[0].1.sack[0], (2, 3));
    assert_eq!(transfer.heard[1].1.sack[0], (2, 4));
}

#[test]
fn selective_acknowledgements_repair_several_losses_in_one_round_trip() {
    let mut transfer = losing(&window(20, Recovery::Sack), 60, &[2, 5, 9, 14]);
    transfer.complete(LONG);
    assert_eq!((transfer.timeouts.len(), transfer.repairs.len()), (0, 1));
    let again: Vec<_> = sent_at(&transfer, 1).into_iter().filter(|&seq| seq < 20).collect();
    assert_eq!(again, [2, 5, 9, 14]);
}

#[test]
fn pipe_holds_a_recovery_to_half_the_window() {
    let mut transfer = losing(&window(20, Recovery::Sack), 200, &[2]);
    transfer.complete(LONG);
    // 20 in flight and 22 after two acknowledgements; one lost, 19 left: ten go once pipe is below ten.
    assert_eq!(transfer.repairs, [Time::ZERO + RTT]);
    let during = sent_at(&transfer, 1).into_iter().filter(|&seq| seq >= 22).count();
    // Two limited transmits, then one per duplicate after pipe fell from 22 − 3 to 10: 17 − 3 − 11 … and the hole.
    let (limited, duplicates, pipe_after_three) = (2, 17, 21 - 3 + 1);
    assert_eq!(during, limited + duplicates - 3 - (pipe_after_three - 10));
}

#[test]
fn newreno_repairs_one_hole_per_round_trip() {
    let mut transfer = losing(&window(20, Recovery::NewReno), 60, &[2, 5, 9]);
    transfer.complete(LONG);
    assert_eq!((transfer.timeouts.len(), transfer.repairs.len()), (0, 1));
    for (trip, hole) in [(1, 2), (2, 5), (3, 9)] {
        let again: Vec<_> = sent_at(&transfer, trip).into_iter().filter(|&seq| seq < 20).collect();
        assert_eq!(again, [hole], "in round trip {trip}");
    }
}

#[test]
fn reno_repairs_one_loss_of_a_window_and_waits_for_the_timer_with_the_second() {
    let mut one = losing(&window(12, Recovery::Reno), 60, &[2]);
    one.complete(LONG);
    assert_eq!((one.timeouts.len(), one.repairs.len()), (0, 1));
    let mut two = losing(&window(12, Recovery::Reno), 60, &[2, 5]);
    two.complete(LONG);
    assert_eq!((two.timeouts.len(), two.repairs.len()), (1, 1));
}

#[test]
fn reno_inflates_by_three_and_by_each_further_duplicate() {
    let mut transfer = losing(&window(12, Recovery::Reno), 60, &[0]);
    transfer.advance(Time::ZERO + RTT);
    // Eleven duplicates: two limited transmits, the hole, then 6 + 3 + 8 = 17 may be out, and 14 are.
    assert_eq!(sent_at(&transfer, 1), [12, 13, 0, 14, 15, 16]);
    assert_eq!(transfer.sender.window(), 6.0);
}

#[test]
fn tahoe_starts_over_from_one_packet() {
    let mut transfer = losing(&window(16, Recovery::Tahoe), 60, &[4]);
    transfer.complete(LONG);
    assert_eq!((transfer.timeouts.len(), transfer.repairs.len()), (0, 1));
    let first: Vec<_> = sent_at(&transfer, 1).into_iter().filter(|&seq| seq < 16).collect();
    assert_eq!(first, [4], "one packet from the hole");
    // The receiver had all the others: its acknowledgement skips them, and slow start continues with two.
    assert_eq!(sent_at(&transfer, 2), [22, 23]);
}

#[test]
fn old_tahoe_waits_for_its_timer() {
    let mut transfer = losing(&window(16, Recovery::OldTahoe), 60, &[4]);
    transfer.complete(LONG);
    assert!(transfer.repairs.is_empty());
    // The last acknowledgement of something new came at 100 ms; SRTT + 4 RTTVAR of equal samples, floored at 200 ms.
    assert_eq!(transfer.timeouts.len(), 1);
    let waited = transfer.timeouts[0] - (Time::ZERO + RTT);
    assert!(waited >= Span::from_millis(200) && waited <= Span::from_millis(300), "{waited:?}");
}

#[test]
fn the_timer_doubles_until_its_ceiling() {
    let options = Options { rto_max: Span::from_secs(20), ..Options::default() };
    let mut left = 7;
    let mut transfer = under(&options, 1, |_, _, _| {
        left -= 1;
        if left >= 0 { Fate::Lose } else { Fate::Pass }
    });
    transfer.complete(LONG);
    let seconds: Vec<_> = transfer.sent.iter().map(|(at, _)| at.0 / 1_000_000_000).collect();
    assert_eq!(seconds, [0, 1, 3, 7, 15, 31, 51, 71]);
}

#[test]
fn a_second_timeout_of_one_segment_holds_the_threshold_although_a_duplicate_cleared_the_back_off() {
    // Segment 0 is lost twice. Segment 5 arrives late, between the two expiries, and its duplicate acknowledgement
    // carries a timestamp, which is a sample and clears the back-off.
    let mut copies = 0;
    let mut transfer = under(&window(16, Recovery::OldTahoe), 200, move |way, _, packet| {
        copies += u32::from(way == Way::Data && packet.seq == 0);
        match packet.seq {
            0 if way == Way::Data && copies <= 2 => Fate::Lose,
            5 if way == Way::Data => Fate::Late(RTT * 10),
            _ => Fate::Pass,
        }
    });
    transfer.advance(Time::ZERO + RTT * 100);
    assert_eq!(transfer.timeouts.len(), 2, "{:?}", transfer.timeouts);
    let late = transfer.heard.iter().filter(|(at, reply)| *at > transfer.timeouts[0] && reply.seq == 0);
    assert_eq!(late.count(), 1);
    // RFC 5681 §3.1: half of 16, once. Slow start reaches it in three round trips; a threshold of 2 would let it grow by one a trip.
    let restart = transfer.timeouts[1].since(Time::ZERO);
    let flight =
        |trip: u64| transfer.sent_between(restart + RTT * trip, restart + RTT * trip + Span(1)).len();
    assert_eq!([0, 1, 2, 3].map(flight), [1, 2, 4, 8]);
}

#[test]
fn the_first_two_duplicates_release_new_data_if_limited_transmit_is_on() {
    for (limited_transmit, sent) in [(true, vec![4, 5, 0]), (false, vec![0, 4])] {
        let options = Options { limited_transmit, ..window(4, Recovery::Sack) };
        let mut transfer = losing(&options, 40, &[0]);
        transfer.complete(LONG);
        assert_eq!(sent_at(&transfer, 1), sent);
        assert!(transfer.timeouts.is_empty());
    }
}

#[test]
fn the_last_segment_is_as_short_as_the_data() {
    let options = Options { initial_window: 10.0, ..Options::default() };
    let mut transfer = Transfer::of(&options, &reno(), Bytes(4_300), |_, _, _| Fate::Pass);
    transfer.complete(LONG);
    let sizes: Vec<_> = transfer.sent.iter().map(|(_, segment)| segment.size).collect();
    assert_eq!(sizes, [1040, 1040, 1040, 1040, 340]);
}

#[test]
fn a_mark_is_echoed_until_it_is_answered_and_answered_once_a_window() {
    let mut transfer = under(&window(8, Recovery::Sack), 60, |way, nth, _| match (way, nth) {
        (Way::Data, 2 | 5) => Fate::Mark,
        _ => Fate::Pass,
    });
    transfer.advance(Time::ZERO + RTT);
    // Two acknowledgements had grown it; acknowledgements with the echo do not (RFC 3168 §6.1.2).
    let grown = 8.0 + 1.0 / 8.0 + 1.0 / 8.125;
    assert_eq!(transfer.sender.window(), grown / 2.0, "one reduction for two marks of a window");
    transfer.complete(LONG);
    let echoes: Vec<_> = transfer.heard.iter().filter(|(_, reply)| reply.flags.has(Flags::ECE)).collect();
    let answers: Vec<_> = transfer.sent.iter().filter(|(_, segment)| segment.flags.has(Flags::CWR)).collect();
    assert_eq!(answers.len(), 1);
    // The acknowledgements of 2 to 7, and of 8 and 9, which left before the response.
    assert_eq!(echoes.len(), 8, "{echoes:?}");
    assert!(transfer.repairs.is_empty() && transfer.timeouts.is_empty());
}

#[test]
fn a_loss_and_a_mark_in_one_window_reduce_it_once() {
    for recovery in [Recovery::Sack, Recovery::NewReno, Recovery::Reno] {
        // The sender acts on the mark after the loss: the echo continues until the sender has recovered and sends new
        // data.
        let mut transfer = under(&window(16, recovery), 200, |way, nth, _| match (way, nth) {
            (Way::Data, 2) => Fate::Lose,
            (Way::Data, 9) => Fate::Mark,
            _ => Fate::Pass,
        });
        transfer.advance(Time::ZERO + RTT * 3);
        let window = transfer.sender.window();
        assert!((8.0..10.0).contains(&window), "{recovery}: {window}");
        let answers = transfer.sent.iter().filter(|(_, segment)| segment.flags.has(Flags::CWR)).count();
        assert_eq!(answers, 1, "{recovery}");
    }
}

#[test]
fn a_restart_skips_what_the_receiver_holds() {
    // 0 and 6 are lost twice; the timer expires with 1 to 5 and 7 to 9 at the receiver.
    let mut losses = vec![0, 0, 6, 6];
    let mut transfer = under(&window(10, Recovery::Sack), 40, |way, _, packet| {
        let lost = losses.iter().position(|&seq| way == Way::Data && seq == packet.seq);
        lost.map_or(Fate::Pass, |place| {
            losses.remove(place);
            Fate::Lose
        })
    });
    transfer.complete(LONG);
    let expired = transfer.timeouts[0];
    assert_eq!(transfer.timeouts.len(), 1);
    let after: Vec<_> =
        transfer.sent.iter().filter(|(at, _)| *at >= expired).map(|(_, one)| one.seq).collect();
    assert_eq!(after[..2], [0, 6], "{after:?}");
    assert!(after[2..].iter().all(|&seq| seq > 9), "{after:?}");
}

#[test]
fn a_handshake_costs_a_round_trip_and_a_lost_one_a_second() {
    let options = Options { handshake: true, ..Options::default() };
    let mut prompt = losing(&options, 2, &[]);
    prompt.complete(LONG);
    assert_eq!(prompt.now, Time::ZERO + RTT * 2);
    let mut transfer =
        under(&options, 2, |way, nth, _| if (way, nth) == (Way::Ack, 0) { Fate::Lose } else { Fate::Pass });
    transfer.complete(LONG);
    assert_eq!(transfer.now, Time::ZERO + Span::from_secs(1) + RTT * 2);
}

#[test]
fn an_acknowledgement_repeated_by_the_network_is_no_loss_where_blocks_could_tell() {
    for (recovery, repairs) in [(Recovery::Sack, false), (Recovery::NewReno, true)] {
        let mut transfer = losing(&window(8, recovery), 40, &[]);
        transfer.advance(Time::ZERO + RTT);
        let seq = transfer.receiver.next();
        let ack = Packet::ack(0, seq, 40, Flags::default(), Time::ZERO, [(0, 0); 3]);
        let mut rng = Rng::stream(1, "repeated", 0);
        let now = transfer.now;
        let repaired = (0..4).map(|_| transfer.sender.on_ack(&ack, now, &mut rng).repair);
        assert_eq!(repaired.filter(|&repair| repair).count() == 1, repairs, "{recovery}");
    }
}

#[test]
fn after_a_restart_blocks_repair_what_follows_and_duplicates_wait_for_more() {
    // The first four are lost, so that the timer restarts at 0 and the point is 4; then 4 is lost.
    for (recovery, timeouts) in [(Recovery::Sack, 1), (Recovery::NewReno, 2)] {
        let options = Options { initial_window: 4.0, recovery, ..Options::default() };
        let mut transfer = losing(&options, 40, &[0, 1, 2, 3, 4]);
        transfer.complete(LONG);
        assert_eq!(transfer.timeouts.len(), timeouts, "{recovery}");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of accurate ECN feedback: counts, their copies, and whole transfers.

use std::sync::Arc;

use super::*;
use crate::cc;
use crate::rng::Rng;
use crate::tcp::{Receiver, ReceiverEcn, Recovery, Sender};
use crate::units::{Span, Time};

const PAYLOAD: Bytes = Bytes(1000);

/// A receiver's count, with the option or without.
fn counter(ecn_feedback: EcnFeedback) -> Counter {
    Counter::new(&Options { ecn_feedback, ..Options::default() })
}

/// A full ECN-capable segment.
fn data(marked: bool) -> Packet {
    Packet::data(0, 0, 1040, Flags::ECT.with_if(marked, Flags::CE), Time::ZERO)
}

/// An acknowledgement with these counts.
fn report(counter: &mut Counter) -> Packet {
    let (flags, bytes) = counter.report();
    let ack = Packet::ack(0, 0, 40, flags, Time::ZERO, [(0, 0); 3]);
    bytes.map_or(ack, |bytes| ack.with_marked_bytes(bytes))
}

const BOTH: [EcnFeedback; 2] = [EcnFeedback::AccEcn, EcnFeedback::Ace];

#[test]
fn the_counter_begins_at_five_in_the_three_flags_and_at_no_bytes() {
    assert_eq!(counter(EcnFeedback::AccEcn).report(), (Flags::AE.with(Flags::ECE), None));
    assert!((0..8).all(|count| decode(encode(count)) == u32::from(count)));
    assert_eq!((encode(13), decode(unmarked())), (encode(5), 5));
}

#[test]
fn the_option_comes_with_the_first_byte_of_an_ecn_capable_packet_and_stays() {
    let mut counter = counter(EcnFeedback::AccEcn);
    for (packet, bytes) in [
        (Packet::data(0, 0, 1040, Flags::RETRANSMITTED, Time::ZERO), None),
        (Packet::data(0, 0, 40, Flags::ECT, Time::ZERO), None),
        (data(false), Some(0)),
        (data(true), Some(1000)),
        (Packet::data(0, 0, 1040, Flags::RETRANSMITTED, Time::ZERO), Some(1000)),
        (Packet::data(0, 0, 540, Flags::ECT.with(Flags::CE), Time::ZERO), Some(1500)),
    ] {
        counter.count(&packet);
        assert_eq!(counter.report().1, bytes);
    }
    let mut stripped = self::counter(EcnFeedback::Ace);
    stripped.count(&data(true));
    assert_eq!(stripped.report(), (encode(6), None));
}

#[test]
fn a_change_of_two_is_ten_where_ten_packets_are_acknowledged() {
    assert_eq!(safest(2, 10), 10);
    // Of nine packets no ten are marked.
    assert_eq!(safest(2, 9), 2);
    assert_eq!([safest(0, 8), safest(0, 15), safest(7, 15)], [8, 8, 15]);
}

#[test]
fn the_copy_has_no_more_than_twelve_bytes() {
    assert_eq!(size_of::<Option<Copied>>(), 12);
    assert!(size_of::<Sender>() + size_of::<Receiver>() <= 776);
}

#[test]
fn the_first_mark_after_another_packet_is_urgent_and_the_second_of_an_acknowledgement() {
    let mut counter = counter(EcnFeedback::AccEcn);
    let urgent = |one: &mut Counter, marks: [bool; 4]| marks.map(|marked| one.count(&data(marked)));
    assert_eq!(urgent(&mut counter, [true, false, true, true]), [true, false, true, true]);
    counter.report();
    assert_eq!(urgent(&mut counter, [true, true, false, true]), [false, true, false, true]);
}

#[test]
fn up_to_seven_packets_every_pattern_of_marks_and_lost_acknowledgements_is_read_exactly() {
    // Each packet is acknowledged; bits say which were marked and which acknowledgements were lost.
    for feedback in BOTH {
        for marks in 0..1u32 << 7 {
            for lost in 0..1u32 << 6 {
                let (mut counter, mut copy, mut read, mut arrived) = (counter(feedback), Copied::new(), 0, 0);
                for packet in 0..7 {
                    counter.count(&data(marks >> packet & 1 == 1));
                    let ack = report(&mut counter);
                    arrived += 1;
                    if lost >> packet & 1 == 0 && (packet > 0 || decode(ack.flags) != 0) {
                        read += copy.read(&ack, std::mem::take(&mut arrived), PAYLOAD);
                    }
                }
                // Three marks before the first acknowledgement make ACE zero.
                let zeroed = copy.trust == Trust::Zeroed;
                assert!(zeroed || read == marks.count_ones(), "marks {marks:b}, lost {lost:b}");
                assert!(!zeroed || read == 0 && (marks & lost).count_ones() >= 2);
            }
        }
    }
}

/// The marks that a sender reads of `run` packets whose acknowledgements but for the last are lost, and those there were.
fn after_a_gap(feedback: EcnFeedback, run: u32, chance: f64, rng: &mut Rng) -> (u32, u32) {
    let (mut counter, mut copy) = (counter(feedback), Copied::new());
    // The mean is that of single acknowledgements.
    counter.count(&data(false));
    copy.read(&report(&mut counter), 1, PAYLOAD);
    let mut marks = 0;
    for _ in 0..run {
        let marked = rng.chance(chance);
        marks += u32::from(marked);
        counter.count(&data(marked));
    }
    (copy.read(&report(&mut counter), run, PAYLOAD), marks)
}

#[test]
fn longer_losses_are_read_exactly_with_the_option_and_without_as_no_fewer_marks() {
    let mut rng = Rng::stream(1, "accecn", 0);
    let mut over = 0;
    for _ in 0..1000 {
        let (run, chance) = (8 + rng.below(40) as u32, rng.below(11) as f64 / 10.0);
        let exact = after_a_gap(EcnFeedback::AccEcn, run, chance, &mut rng);
        assert_eq!(exact.0, exact.1, "of {run}");
        let (read, marks) = after_a_gap(EcnFeedback::Ace, run, chance, &mut rng);
        assert!(read >= marks && read <= run && (read - marks) % CYCLE == 0, "{read} of {marks} in {run}");
        over += u32::from(read > marks);
    }
    assert!(over > 0, "no run was long enough to be uncertain");
}

#[test]
fn where_acknowledgements_are_thin_as_a_rule_a_standing_counter_says_no_mark() {
    let (mut counter, mut thin, mut dense) = (counter(EcnFeedback::Ace), Copied::new(), Copied::new());
    let ack = report(&mut counter);
    (0..200).for_each(|_| _ = (thin.read(&ack, 16, PAYLOAD), dense.read(&ack, 1, PAYLOAD)));
    assert_eq!([thin.read(&ack, 16, PAYLOAD), dense.read(&ack, 16, PAYLOAD)], [0, 16]);
}

#[test]
fn standing_bytes_say_no_mark_whatever_the_mean() {
    let (mut counter, mut copy) = (counter(EcnFeedback::AccEcn), Copied::new());
    counter.count(&data(false));
    assert_eq!([1, 16, 1, 40].map(|arrived| copy.read(&report(&mut counter), arrived, PAYLOAD)), [0; 4]);
}

#[test]
fn an_old_acknowledgement_changes_nothing() {
    for feedback in BOTH {
        let (mut counter, mut copy) = (counter(feedback), Copied::new());
        counter.count(&data(false));
        let old = report(&mut counter);
        counter.count(&data(true));
        let new = report(&mut counter);
        let mut read = |ack, arrived| copy.read(ack, arrived, PAYLOAD);
        assert_eq!([read(&new, 1), read(&old, 0), read(&new, 1)], [1, 0, 0]);
        if feedback == EcnFeedback::AccEcn {
            // By its bytes it is known to be old.
            assert_eq!([read(&old, 1), read(&new, 1)], [0, 0]);
        }
    }
}

#[test]
fn the_count_of_bytes_wraps_and_replaces_what_was_estimated() {
    let (mut counter, mut copy) = (counter(EcnFeedback::AccEcn), Copied::new());
    let (mut read, mut marks) = (0, 0);
    // Three cycles of 2^24 bytes; ten packets share an acknowledgement, of which some have no option.
    for number in 0..5099 {
        for _ in 0..10 {
            counter.count(&data(true));
            marks += 1;
        }
        let ack = report(&mut counter);
        let bare = Packet::ack(0, 0, 40, ack.flags.without(Flags::BYTES), Time::ZERO, [(0, 0); 3]);
        read += copy.read(if number % 7 == 3 { &bare } else { &ack }, 10, PAYLOAD);
    }
    assert!(marks * 1000 > 3 * CYCLE_OF_BYTES);
    assert_eq!(read, marks);
}

#[test]
fn a_first_ace_of_zero_ends_ecn_and_a_later_one_does_not() {
    let ack = |count: u8| Packet::ack(0, 0, 40, encode(count), Time::ZERO, [(0, 0); 3]);
    let mut copy = Copied::new();
    assert!(!copy.shows_marks(&ack(0)));
    assert_eq!(([0, 6, 7].map(|count| copy.read(&ack(count), 1, PAYLOAD)), copy.ends_ecn()), ([0; 3], true));
    assert!(!copy.shows_marks(&ack(7)));
    let mut sound = Copied::new();
    assert_eq!([5, 7, 0].map(|count| sound.read(&ack(count), 2, PAYLOAD)), [0, 2, 1]);
    assert!(!sound.ends_ecn());
}

#[test]
fn bytes_without_packets_end_ecn_and_are_answered_all_the_same() {
    let mut copy = Copied::new();
    let ack = |count: u8, bytes| {
        Packet::ack(0, 0, 40, encode(count), Time::ZERO, [(0, 0); 3]).with_marked_bytes(bytes)
    };
    assert_eq!([copy.read(&ack(6, 1000), 2, PAYLOAD), copy.read(&ack(6, 1000), 2, PAYLOAD)], [1, 0]);
    assert!(!copy.ends_ecn());
    assert!(copy.shows_marks(&ack(6, 2000)));
    assert_eq!((copy.read(&ack(6, 2000), 2, PAYLOAD), copy.ends_ecn()), (1, true));
    // Eight packets may have been a cycle.
    let mut cycled = Copied::new();
    assert_eq!((cycled.read(&ack(5, 8000), 8, PAYLOAD), cycled.ends_ecn()), (8, false));
}

/// A transfer of two megabytes of which a fifth of the packets are marked, and of whose acknowledgements one in `kept` arrives.
struct Transfer {
    /// The marks that the sender counted, and those there were.
    counted: f64,
    marks: f64,
    /// The codepoints and flags of its segments.
    sent: Flags,
    /// The greatest acknowledgement.
    largest: u16,
}

fn transfer(name: &str, options: Options, kept: u32) -> Transfer {
    let options = Arc::new(options);
    let config = cc::Config::named(name).expect("a controller of the registry");
    let mut sender = Sender::new(options.clone(), &config, Some(Bytes(2_000_000)));
    let mut receiver = Receiver::new(&options, sender.controller().marks());
    let (mut rng, mut now, mut number) = (Rng::stream(1, "accecn", 1), Time::ZERO, 0u32);
    let mut transfer = Transfer { counted: 0.0, marks: 0.0, sent: Flags::default(), largest: 0 };
    while !sender.done() {
        let mut flight = Vec::new();
        while let Some(segment) = sender.poll(now) {
            let marked = segment.flags.has(Flags::ECT) && rng.chance(0.2);
            transfer.marks += f64::from(u8::from(marked));
            transfer.sent = transfer.sent.with(segment.flags);
            let flags = segment.flags.with_if(marked, Flags::CE);
            flight.push(Packet::data(0, segment.seq, segment.size, flags, now));
        }
        now = if flight.is_empty() { sender.next_wakeup(now).max(now) } else { now + Span::from_millis(20) };
        let last = flight.len().saturating_sub(1);
        for (place, packet) in flight.into_iter().enumerate() {
            let reply = receiver.on_next(&packet, now).or_else(|| receiver.on_data(&packet, now));
            number += 1;
            // The first arrives, since ACE may be zero later, and the last of a flight, or the timer would expire.
            if let Some(reply) = reply.filter(|_| number % kept == 1 % kept || kept > 2 && place == last) {
                let ack = Packet::ack(0, reply.seq, 40, reply.flags, reply.sent, reply.sack);
                let ack = reply.marked.map_or(ack, |bytes| ack.with_marked_bytes(bytes));
                transfer.largest = transfer.largest.max(ack.size);
                sender.on_ack(&ack, now, &mut rng);
            }
        }
        sender.on_wakeup(now);
    }
    let state = sender.controller().state();
    let counted = state.iter().find(|(one, _)| *one == "marked_packets");
    transfer.counted = counted.map_or(0.0, |(_, counted)| *counted);
    transfer
}

#[test]
fn with_every_second_acknowledgement_lost_the_count_is_exact_and_echoes_are_not() {
    for name in ["dctcp", "prague"] {
        for recovery in [Recovery::Sack, Recovery::Rack] {
            let with = |ecn_feedback| {
                let options = Options { recovery, ecn_feedback, initial_window: 10.0, ..Options::default() };
                transfer(name, options, 2)
            };
            for (feedback, largest) in [(EcnFeedback::AccEcn, 48), (EcnFeedback::Ace, 40)] {
                let Transfer { counted, marks, sent, largest: seen } = with(feedback);
                assert!(marks > 100.0);
                assert_eq!((counted, seen), (marks, largest), "{name}, {recovery:?}");
                // ACE of a host that receives nothing: five, and no answer to marks.
                assert!(sent.has(Flags::AE.with(Flags::ECE)) && !sent.has(Flags::CWR));
            }
            let echoed = with(EcnFeedback::Echo);
            assert_ne!(echoed.counted, echoed.marks, "{name}, {recovery:?}");
        }
    }
}

#[test]
fn with_29_of_30_acknowledgements_lost_the_count_is_exact_with_the_option_alone() {
    for recovery in [Recovery::Sack, Recovery::Rack] {
        let with = |ecn_feedback| {
            let options = Options { recovery, ecn_feedback, initial_window: 200.0, ..Options::default() };
            transfer("dctcp", options, 30)
        };
        let Transfer { counted, marks, .. } = with(EcnFeedback::AccEcn);
        assert!(marks > 100.0);
        assert_eq!(counted, marks, "{recovery:?}");
        let stripped = with(EcnFeedback::Ace);
        assert_ne!(stripped.counted, stripped.marks, "{recovery:?}");
    }
}

#[test]
fn a_connection_uses_of_ecn_what_both_ends_know_with_a_handshake_and_without() {
    for handshake in [false, true] {
        for recovery in [Recovery::Sack, Recovery::Rack] {
            let with = |name, ecn_feedback, ecn_receiver| {
                let options =
                    Options { recovery, handshake, ecn_feedback, ecn_receiver, ..Options::default() };
                transfer(name, options, 1)
            };
            use EcnFeedback::{AccEcn, Echo};
            // A sender that may count, of a receiver that knows echoes alone.
            let classic = with("prague", AccEcn, ReceiverEcn::Classic);
            assert!(classic.sent.has(Flags::ECT.with(Flags::CWR)) && classic.marks > 0.0);
            assert!(!classic.sent.has_any(Flags::SCALABLE.with(Flags::AE)) || handshake);
            assert_eq!((classic.counted, classic.largest), (0.0, 40));
            // Of one that knows nothing.
            let none = with("prague", AccEcn, ReceiverEcn::None);
            assert!(!none.sent.has(Flags::ECT) && none.marks == 0.0);
            // A sender that knows echoes alone, of a receiver that may count.
            let older = with("cubic", Echo, ReceiverEcn::AccEcn);
            assert!(older.sent.has(Flags::ECT.with(Flags::CWR)) && !older.sent.has(Flags::AE));
            assert_eq!(older.largest, 40);
            // Both know it.
            let both = with("prague", AccEcn, ReceiverEcn::AccEcn);
            assert!(both.sent.has(Flags::SCALABLE) && both.marks > 100.0);
            assert_eq!((both.counted, both.largest), (both.marks, 48));
        }
    }
}

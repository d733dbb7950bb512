// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Which packets are acknowledged when, and with what.

use super::*;
use crate::rng::Rng;

/// Packets at these milliseconds; the times and numbers of their acknowledgements.
fn answers(options: &Options, packets: &[(u64, u32)]) -> Vec<(u64, u32)> {
    let mut receiver = Receiver::new(options, Marks::Classic);
    let mut answers = Vec::new();
    let end = [(10_000, u32::MAX)];
    for &(milli, seq) in packets.iter().chain(&end) {
        let now = Span::from_millis(milli).after_start();
        while receiver.next_wakeup() <= now {
            let at = receiver.next_wakeup();
            answers.extend(receiver.on_wakeup(at).map(|reply| (at.0 / 1_000_000, reply.seq)));
        }
        if seq < u32::MAX {
            let packet = Packet::data(0, seq, 1500, Flags::default(), now);
            answers.extend(receiver.on_data(&packet, now).map(|reply| (milli, reply.seq)));
        }
    }
    answers
}

#[test]
fn acknowledgements_are_as_thin_as_the_options_say() {
    let thin = |ack_every| Options { delayed_ack: true, ack_every, ..Options::default() };
    let packets = [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (200, 5), (201, 7)];
    assert_eq!(answers(&thin(2), &packets), [(1, 2), (3, 4), (104, 5), (201, 6)]);
    assert_eq!(answers(&thin(4), &packets), [(3, 4), (104, 5), (201, 6)]);
    assert_eq!(answers(&thin(9), &packets), [(100, 5), (201, 6)]);
}

#[test]
fn after_three_at_once_acknowledgements_of_what_is_out_of_order_are_collected() {
    let options =
        Options { recovery: Recovery::Rack, sack_delay: Span::from_millis(5), ..Options::default() };
    let packets = [(0, 0), (10, 2), (11, 3), (12, 4), (13, 5), (15, 6), (17, 7), (20, 8), (21, 1), (30, 10)];
    // 13 to 17 ms are one; the one of 20 ms goes with the packet that fills the gap.
    let expected = [(0, 1), (10, 1), (11, 1), (12, 1), (18, 1), (21, 9), (30, 9)];
    assert_eq!(answers(&options, &packets), expected);
}

#[test]
fn where_each_mark_is_echoed_linux_answers_the_first_packet_of_the_other_kind_at_once() {
    let options = Options { quick_acks: 0, ..Options::of(crate::tcp::Host::Linux) };
    let mut receiver = Receiver::new(&options, Marks::Each);
    let at = |milli: u64| Span::from_millis(milli).after_start();
    let mut answers = |seq: u32, marked: bool| {
        let now = at(u64::from(seq));
        let flags = Flags::default().with_if(marked, Flags::CE);
        let first = receiver.on_data(&Packet::data(0, seq, 1500, flags, now), now);
        let all = [first, receiver.on_wakeup(now)];
        all.map(|reply| reply.map(|reply| (reply.seq, reply.flags.has(Flags::ECE))))
    };
    assert_eq!(answers(0, false), [None, None]);
    // The packet before is answered without an echo, and this one with it.
    assert_eq!(answers(1, true), [Some((1, false)), Some((2, true))]);
    assert_eq!(answers(2, true), [None, None]);
    assert_eq!(answers(3, true), [Some((4, true)), None]);
    // Nothing waits, so there is one answer.
    assert_eq!(answers(4, false), [Some((5, false)), None]);
}

#[test]
fn a_delay_that_ran_out_doubles_up_to_the_round_trip_and_comes_back_with_segments() {
    let options = Options { quick_acks: 0, ..Options::of(crate::tcp::Host::Linux) };
    let mut receiver = Receiver::new(&options, Marks::Classic);
    let at = |milli: u64| Span::from_millis(milli).after_start();
    let syn = Packet::data(0, 0, 52, Flags::SYN, at(0));
    receiver.on_data(&syn, at(0));
    let mut wait = |seq: u32, milli: u64| {
        receiver.on_data(&Packet::data(0, seq, 1500, Flags::default(), at(milli)), at(milli));
        let until = receiver.next_wakeup();
        receiver.on_wakeup(until);
        until.since(at(milli)).0 / 1_000_000
    };
    // A round trip of 60 ms: 40 ms, then 80 of which 60 are left.
    assert_eq!([wait(0, 60), wait(1, 200), wait(2, 400)], [40, 60, 60]);
}

#[test]
fn a_duplicate_echoes_its_own_packet_or_the_last_one_in_order() {
    // Packet 1 is late: 0, 2, 3, 1 leave a second apart.
    let echoed = |echo| {
        let mut receiver = Receiver::new(&Options { echo, ..Options::default() }, Marks::Classic);
        [(0, 1), (2, 3), (3, 4), (1, 5)].map(|(seq, second)| {
            let sent = Time(second * 1_000_000_000);
            let packet = Packet::data(0, seq, 1040, Flags::default(), sent);
            let now = sent + Span::from_millis(30);
            let reply = receiver.on_next(&packet, now).or_else(|| receiver.on_data(&packet, now));
            reply.expect("one acknowledgement a packet").sent.0 / 1_000_000_000
        })
    };
    assert_eq!(echoed(Echo::Own), [1, 3, 4, 5]);
    assert_eq!((echoed(Echo::InOrder), echoed(Echo::Rfc7323)), ([1, 1, 1, 5], [1, 1, 1, 5]));
}

#[test]
fn a_packet_that_is_simply_the_next_is_answered_alike_on_both_paths() {
    let mut rng = Rng::stream(1, "receiver", 0);
    let mut simple = 0;
    for delayed_ack in [false, true] {
        for marks in [Marks::Classic, Marks::Each] {
            let options = Options { delayed_ack, ..Options::default() };
            let mut receiver = Receiver::new(&options, marks);
            for step in 0..2000 {
                let seq = receiver.next() + if rng.chance(0.1) { rng.below(4) as u32 } else { 0 };
                let flags = Flags::default().with_if(rng.chance(0.05), Flags::CE);
                let flags = flags.with_if(rng.chance(0.2), Flags::CWR);
                let packet = Packet::data(0, seq, 1040, flags, Time(1_000_000 * step));
                let (mut short, now) = (receiver.clone(), packet.sent + Span(rng.below(1 << 30)));
                let answer = short.on_next(&packet, now);
                let whole = receiver.on_data(&packet, now);
                if answer.is_some() {
                    simple += 1;
                    assert_eq!((answer, format!("{short:?}")), (whole, format!("{receiver:?}")));
                }
            }
        }
    }
    assert!(simple > 500, "{simple}");
}

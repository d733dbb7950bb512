// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The echo of congestion marks: a receiver echoes them until answered (RFC 3168 §6.1.3) or one by one (RFC 8257
//! §3.2), and a sender halves its window (RFC 3168 §6.1.2).

use std::sync::Arc;

use kneepoint::cc::{self, Marks};
use kneepoint::packet::{Explicit, Flags, Packet};
use kneepoint::rng::Rng;
use kneepoint::tcp::{Options, Receiver, Sender};
use kneepoint::units::{Rate, Time};

fn packet(seq: u32, flags: Flags) -> Packet {
    Packet::data(0, seq, 40, flags, Time::ZERO)
}

#[test]
fn a_mark_halves_the_window_that_was_full_before_its_acknowledgement_came() {
    let options = Options { initial_window: 10.5, initial_ssthresh: 10.5, ..Options::default() };
    let reno = cc::Config::named("reno").unwrap();
    let mut sender = Sender::new(Arc::new(options), &reno, None);
    let sent = std::iter::from_fn(|| sender.poll(Time::ZERO)).count();
    assert_eq!(sent, 10);
    let echo = packet(1, Flags::ACK.with(Flags::ECE));
    sender.on_ack(&echo, Time(60_000_000), &mut Rng::stream(1, "flow", 0));
    // Nine are outstanding once the acknowledgement has removed one, but the window had limited them.
    assert_eq!(sender.window(), 5.25);
}

/// A receiver's answers to packets in order, of which these are marked: the acknowledgement number, and whether it
/// echoes.
fn answers(options: &Options, marks: Marks, pattern: &[bool]) -> Vec<(u32, bool)> {
    let mut receiver = Receiver::new(options, marks);
    let flags = |marked| Flags::ECT.with_if(marked, Flags::CE);
    let replies =
        (0..).zip(pattern).map(|(seq, marked)| receiver.on_data(&packet(seq, flags(*marked)), Time::ZERO));
    replies.flatten().map(|reply| (reply.seq, reply.flags.has(Flags::ECE))).collect()
}

#[test]
fn a_receiver_echoes_until_it_is_answered_or_each_mark_once() {
    let marked = [false, true, false, true, true, false];
    let echoed = |marks| answers(&Options::default(), marks, &marked).into_iter().map(|(_, echo)| echo);
    assert!(echoed(Marks::Each).eq(marked));
    assert!(echoed(Marks::Scalable).eq(marked));
    assert!(echoed(Marks::Classic).eq([false, true, true, true, true, true]));
}

#[test]
fn an_acknowledgement_never_speaks_for_marked_and_unmarked_packets() {
    let options = Options { delayed_ack: true, ..Options::default() };
    let marked = [false, false, false, true, true, true, false];
    // Two unmarked; one unmarked, sent off by the first marked one; two marked; and so on.
    let told = [(2, false), (3, false), (5, true), (6, true)];
    assert_eq!(answers(&options, Marks::Each, &marked), told);
    assert_eq!(answers(&options, Marks::Classic, &marked), [(2, false), (4, true), (6, true)]);
}

#[test]
fn an_acknowledgement_echoes_the_sum_of_explicit_changes() {
    let options = Options { delayed_ack: true, ..Options::default() };
    let mut receiver = Receiver::new(&options, Marks::Classic);
    let data = |seq, change| packet(seq, Flags::default()).with_explicit(Explicit::Change(change));
    let mut echoed = |packet| receiver.on_data(&packet, Time::ZERO).map(|reply| reply.explicit);
    assert_eq!(echoed(data(0, 0.5)), None);
    assert_eq!(echoed(data(1, -0.25)), Some(Some(Explicit::Change(0.25))));
    assert_eq!([2, 3].map(|seq| echoed(data(seq, 1.0))), [None, Some(Some(Explicit::Change(2.0)))]);
}

#[test]
fn an_acknowledgement_echoes_the_explicit_rate_that_arrived_last() {
    let options = Options { delayed_ack: true, ..Options::default() };
    let mut receiver = Receiver::new(&options, Marks::Classic);
    let data = |seq| packet(seq, Flags::default());
    let mut echoed = |packet| receiver.on_data(&packet, Time::ZERO).map(|reply| reply.explicit);
    assert_eq!(echoed(data(0).with_explicit(Explicit::Rate(Rate(7)))), None);
    assert_eq!(echoed(data(1).with_explicit(Explicit::Rate(Rate(5)))), Some(Some(Explicit::Rate(Rate(5)))));
    assert_eq!([2, 3].map(|seq| echoed(data(seq))), [None, Some(None)]);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What an echoed congestion mark does to a sender (RFC 3168 §6.1.2).

use std::sync::Arc;

use kneepoint::cc;
use kneepoint::packet::{Flags, Lag, Packet};
use kneepoint::rng::Rng;
use kneepoint::tcp::{Options, Sender};
use kneepoint::units::Time;

#[test]
fn a_mark_halves_the_window_that_was_full_before_its_acknowledgement_came() {
    let options = Options { initial_window: 10.5, initial_ssthresh: 10.5, ..Options::default() };
    let reno = cc::Config::named("reno").unwrap();
    let mut sender = Sender::new(Arc::new(options), &reno, None);
    let sent = std::iter::from_fn(|| sender.poll(Time::ZERO)).count();
    assert_eq!(sent, 10);
    let echo = Packet {
        sent: Time::ZERO,
        sack: [(0, 0); 3],
        flow: 0,
        seq: 1,
        hop: 0,
        id: 0,
        size: 40,
        epoch: 0,
        flags: Flags::ACK.with(Flags::ECE),
        lag: Lag::default(),
    };
    sender.on_ack(&echo, Time(60_000_000), &mut Rng::stream(1, "flow", 0));
    // Nine are outstanding once the acknowledgement has taken one out, but it was the window that limited them.
    assert_eq!(sender.window(), 5.25);
}

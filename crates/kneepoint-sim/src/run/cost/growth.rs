// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The growth of a window where the network holds nothing back.
//!
//! ```text
//! slow start           W(n) = W(0) · 2ⁿ after n round trips
//! the timer is first   the controller itself, after a timeout and n round trips in which all of its window arrives
//! ```
//!
//! The second holds where a round trip is longer than the retransmission timeout before the first sample: the timer ends slow start
//! before anything is acknowledged, and the window continues from two packets by the controller's growth in congestion avoidance. The
//! timer, which doubles, expires until it is longer than the round trip.

use crate::cc::{self, Ack, Timeout, Wanted};
use crate::rng::Rng;
use crate::tcp::{Options, Recovery};
use crate::units::{Span, Time};

/// Above this number of round trips a controller is not played: an estimate is to take no time.
const PLAYED: f64 = 1e4;

/// The most that a sender has outstanding, and the time of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    /// Packets.
    pub(super) window: f64,
    /// Round trips until a transfer of this many packets is sent.
    pub(super) rounds: f64,
}

impl Growth {
    /// The rate of a transfer of `size` bytes that lasts this many seconds. The behaviour of an external controller is
    /// unknown.
    pub(super) fn of(tcp: &Options, cc: Option<&cc::Config>, size: f64, lasts: f64, rtt: f64) -> Growth {
        let payload = tcp.payload.0.max(1) as f64;
        let buffer = tcp.receive_buffer.0 as f64;
        let room = if buffer > 0.0 { buffer / 2.0 / payload } else { f64::INFINITY };
        let packets = (size / payload).ceil();
        let most = packets.min(f64::from(tcp.max_window)).min(room).max(1.0);
        let rounds = (lasts / rtt).floor();
        let known = cc.filter(|config| cc::REGISTRY.iter().any(|entry| entry.name == config.name()));
        match known {
            Some(config) if timer_is_first(tcp, rtt) && rounds <= PLAYED => {
                played(tcp, config, packets, most, lasts, rtt).unwrap_or_else(|| doubled(tcp, most, rounds))
            }
            Some(_) => doubled(tcp, most, rounds),
            None => doubled(tcp, most, f64::INFINITY),
        }
    }
}

/// Whether the retransmission timer expires before the first acknowledgement, and the sender does not undo the reduction. A
/// handshake measures the round trip before there is anything to retransmit.
fn timer_is_first(tcp: &Options, rtt: f64) -> bool {
    let timeout = tcp.rto_initial.min(tcp.rto_max).as_secs_f64();
    rtt > timeout && !tcp.handshake && tcp.recovery != Recovery::Rack
}

fn doubled(tcp: &Options, most: f64, rounds: f64) -> Growth {
    let window = (tcp.initial_window * libm::exp2(rounds)).min(most).max(1.0);
    Growth { window, rounds: libm::log2(1.0 + window / tcp.initial_window) }
}

/// The time at which the timer expires last: after 1, 3, 7, … of its first values, until it exceeds the round trip.
fn last_timeout(tcp: &Options, rtt: f64) -> f64 {
    let [first, longest] = [tcp.rto_initial, tcp.rto_max].map(Span::as_secs_f64);
    let (mut timer, mut at) = (first.min(longest), 0.0);
    while timer <= rtt && at < rtt {
        at += timer;
        timer = (2.0 * timer).min(longest);
    }
    at
}

/// The controller after a timeout. Nothing for a controller without a threshold, or with signals from the network: it
/// may grow by any rule.
fn played(tcp: &Options, cc: &cc::Config, packets: f64, most: f64, lasts: f64, rtt: f64) -> Option<Growth> {
    let mut controller = cc.build(tcp.start());
    let flight = tcp.initial_window.min(most);
    let last = last_timeout(tcp, rtt);
    let now = Time::ZERO + Span::from_secs_f64(last);
    controller.on_timeout(&Timeout { now, flight, reported: false, next: flight as u64 });
    controller.threshold().filter(|_| controller.wanted() == Wanted::Nothing)?;
    let rounds = ((lasts - last) / rtt).floor();
    let mut rng = Rng::stream(1, "cost", 0);
    let (mut greatest, mut sent, mut round) = (flight, 0.0, 0.0);
    while round < rounds && sent < packets {
        let window = controller.control().window.min(most);
        greatest = window.max(greatest);
        sent += window;
        round += 1.0;
        controller.on_ack(&all_arrived(window, sent, last + round * rtt, rtt), &mut rng);
    }
    Some(Growth { window: greatest.max(1.0), rounds: round })
}

/// A window's acknowledgements at once: controllers grow by acknowledged packets, not by the number of
/// acknowledgements.
fn all_arrived(window: f64, sent: f64, at: f64, rtt: f64) -> Ack {
    let rtt = Span::from_secs_f64(rtt);
    Ack {
        now: Time::ZERO + Span::from_secs_f64(at),
        rtt: Some(rtt),
        one_way: Some(rtt),
        acked: window as u32,
        delivered: sent as u64,
        resent: 0,
        marked: 0,
        credit: window,
        limited: false,
        una: sent as u64,
        next: (sent + window) as u64,
        in_flight: window as u32,
        recovering: false,
    }
}

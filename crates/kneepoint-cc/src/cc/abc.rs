// SPDX-License-Identifier: Apache-2.0 OR MIT
//! ABC: answers each packet that arrives accelerated with two packets, and each braked one with none.
//!
//! P. Goyal, A. Agarwal, R. Netravali, M. Alizadeh, H. Balakrishnan, "ABC: A Simple Explicit Congestion Controller for Wireless Networks", NSDI 2020, §3.1.2, §4, §5.1.
//!
//! ```text
//! accelerate: W += 1 + 1/W        brake: W += -1 + 1/W        each packet acknowledged
//! window = min(W, Wn)             Wn as Reno's, halved by losses
//! W, Wn <= 2 outstanding          where an acknowledgement raises them
//! ```
//!
//! `W`, `Wn` packets. The term 1/W is one packet a round trip, which equalises W of flows that share a router: with n
//! flows a fraction of 1/2 (1 - 1/W) is accelerated, so flows with a smaller W gain.
//!
//! Readings: an acknowledgement of several packets counts for each of them; nothing accelerates during recovery or
//! while the sender has nothing to send; brakes always count. A timeout leaves W alone, and starts Wn over from one
//! packet.
//!
//! Departures: a packet that arrives with a CE mark is a brake, and any other accelerates; the paper's codepoints are ECT(1) and ECT(0).
//! So any queue that marks is a brake, and Wn answers no marks. Wn is Reno's, CUBIC's in the paper. Without such a router on the path, W
//! never brakes and Wn alone counts.

use alloc::vec::Vec;

use super::window::{InLinux, Window};
use super::{Ack, Control, Controller, Ecn, Loss, Marks, Start, Timeout};
use crate::rng::Rng;

crate::settings! {
    /// ABC's senders have no parameters.
    pub struct Params {}
}

/// An ABC controller.
#[derive(Clone, Debug)]
pub struct Abc {
    /// W.
    window: f64,
    /// Wn.
    other: Window,
}

impl Controller for Abc {
    type Params = Params;

    const MARKS: Marks = Marks::Each;

    fn new(_: Params, start: Start) -> Abc {
        Abc { window: start.initial_window, other: Window::new(start, InLinux::Fractions) }
    }

    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        let braked = f64::from(ack.marked);
        self.window = (self.window + braked * (1.0 / self.window - 1.0)).max(1.0);
        if ack.recovering || ack.limited {
            return;
        }
        let most = 2.0 * (f64::from(ack.in_flight) + f64::from(ack.acked));
        let accelerated = f64::from(ack.acked.saturating_sub(ack.marked));
        let window = self.window + accelerated * (1.0 + 1.0 / self.window);
        self.window = window.min(most).max(self.window);
        // An echoed mark is a brake, which is not a reason for Wn not to grow.
        let before = self.other.packets;
        self.other.grow_by(f64::from(ack.acked), ack, 1.0);
        self.other.packets = self.other.packets.min(most).max(before);
    }

    fn on_ecn(&mut self, _: &Ecn) {}

    fn on_loss(&mut self, loss: &Loss) {
        self.other.reduce_to(loss.flight / 2.0);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.other.restart(timeout, timeout.flight / 2.0);
    }

    fn control(&self) -> Control {
        Control { window: self.window.min(self.other.packets).max(1.0), pacing: None }
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        [("abc_window_packets", self.window), ("other_window_packets", self.other.packets)].into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;

    fn sender(window: f64) -> Trace<Abc> {
        Trace::new(Abc::new(Params {}, Start::new(window)))
    }

    #[test]
    fn accelerations_double_the_window_in_a_round_trip_and_brakes_empty_it() {
        let mut trace = sender(10.0);
        // Ten packets, and about ln 2 of the additive increase.
        trace.round_trip();
        let after = trace.controller.window;
        assert!((20.6..20.8).contains(&after), "{after}");
        trace.marked = true;
        for _ in 0..60 {
            trace.ack(trace.rtt);
        }
        assert!((1.0..1.001).contains(&trace.window()), "{}", trace.window());
    }

    #[test]
    fn of_as_many_accelerations_as_brakes_one_packet_a_round_trip_is_left() {
        let mut trace = sender(40.0);
        for _ in 0..40 {
            trace.marked = !trace.marked;
            trace.ack(trace.rtt);
        }
        assert!((40.9..41.1).contains(&trace.window()), "{}", trace.window());
        // A mark is also reported once per window, which changes nothing.
        let before = trace.window();
        trace.ecn();
        assert_eq!(trace.window(), before);
    }

    #[test]
    fn a_loss_halves_the_window_for_other_routers_alone() {
        let mut trace = sender(40.0);
        trace.loss();
        assert_eq!((trace.window(), trace.controller.window), (20.0, 40.0));
        trace.timeout();
        assert_eq!((trace.window(), trace.controller.window), (1.0, 40.0));
    }

    #[test]
    fn a_delayed_acknowledgement_counts_for_each_of_its_packets() {
        let mut trace = sender(10.0);
        let twice = Ack {
            now: trace.now,
            rtt: None,
            one_way: None,
            acked: 2,
            delivered: 2,
            resent: 0,
            marked: 0,
            credit: 1.0,
            limited: false,
            una: 2,
            next: 10,
            in_flight: 8,
            recovering: false,
        };
        let mut rng = Rng::stream(1, "abc", 0);
        trace.controller.on_ack(&twice, &mut rng);
        assert!((trace.window() - 12.0).abs() < 1e-12, "{}", trace.window());
        assert!((trace.controller.window - 12.2).abs() < 1e-12);
        trace.controller.on_ack(&Ack { marked: 2, credit: 0.0, ..twice }, &mut rng);
        assert!((trace.controller.window - (10.2 + 2.0 / 12.2)).abs() < 1e-12);
    }
}

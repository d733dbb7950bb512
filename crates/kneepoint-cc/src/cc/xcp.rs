// SPDX-License-Identifier: Apache-2.0 OR MIT
//! XCP: a window that changes by values that routers write into its packets.
//!
//! D. Katabi, M. Handley, C. Rohrs, "Congestion Control for High Bandwidth-Delay Product Networks", SIGCOMM 2002, §3.3.
//!
//! ```text
//! W <- max(W + H, 1)                  every acknowledgement with feedback H
//! loss:  W <- max(flight / 2, 2)      timeout:  W = 1
//! ```
//!
//! `W` window, `H` change: packets.
//!
//! Readings: the paper answers losses "in a similar manner to TCP"; a mark is a loss, as it is for TCP. A change that raises
//! the window counts only where the window limits the sender and no recovery is in progress, or a sender with little to send
//! would collect window without end; the host's `window_validation` turns the former off. Feedback that lowers it always
//! counts. There is no slow start once a router answered, not after a timeout either: routers give a small window the
//! largest part of the spare capacity.
//!
//! Without advice, the sender is Reno: with no `feedback = "xcp"` on any link of its path it grows and yields as Reno does. A link
//! without feedback is noticed by its losses.

use super::window::{InLinux, Window};
use super::{Ack, Advice, Advised, Control, Controller, Loss, Sizes, Start, Timeout, Wanted};
use crate::rng::Rng;

crate::settings! {
    /// XCP's sender has no parameters.
    pub struct Params {}
}

/// An XCP controller.
#[derive(Clone, Debug)]
pub struct Xcp {
    window: Window,
    /// Whether any router has answered.
    advised: bool,
    /// H of the acknowledgement that is being processed.
    change: f64,
}

impl Controller for Xcp {
    type Params = Params;

    const WANTED: Wanted = Wanted::Change;

    fn new(_: Params, start: Start) -> Xcp {
        Xcp { window: Window::new(start, InLinux::Fractions), advised: false, change: 0.0 }
    }

    fn on_advice(&mut self, advised: &Advised) {
        if let Advice::Change(packets) = advised.advice {
            self.advised = true;
            self.change += packets;
        }
    }

    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        let change = core::mem::take(&mut self.change);
        if !self.advised {
            self.window.grow(ack, 1.0);
        } else if change < 0.0 || ack.credit > 0.0 {
            self.window.packets = (self.window.packets + change).max(1.0);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.window.reduce_to(loss.flight / 2.0);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.window.restart(timeout, timeout.flight / 2.0);
    }

    fn sizes(&mut self) -> Option<Sizes<'_>> {
        Some(self.window.sizes())
    }

    fn control(&self) -> Control {
        self.window.control()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;
    use crate::units::{Span, Time};

    fn flow() -> Trace<Xcp> {
        Trace::new(Xcp::new(Params {}, Start::new(10.0)))
    }

    /// One acknowledgement that echoes `change`.
    fn echo(trace: &mut Trace<Xcp>, change: f64) -> f64 {
        let advice = Advice::Change(change);
        trace.controller.on_advice(&Advised { now: Time::ZERO, advice });
        trace.ack(Span::from_millis(1));
        trace.window()
    }

    #[test]
    fn the_window_is_what_it_was_and_the_feedback_and_never_below_a_packet() {
        let mut trace = flow();
        assert_eq!([2.5, 0.0, -0.5, -20.0].map(|change| echo(&mut trace, change)), [12.5, 12.5, 12.0, 1.0]);
        // An acknowledgement without feedback changes nothing.
        assert_eq!(trace.round_trip(), 1.0);
    }

    #[test]
    fn a_sender_that_its_window_does_not_limit_collects_none() {
        let mut controller = flow().controller;
        let ack = Ack {
            now: Time::ZERO,
            rtt: None,
            one_way: None,
            acked: 1,
            delivered: 1,
            resent: 0,
            marked: 0,
            credit: 0.0,
            limited: true,
            una: 1,
            next: 2,
            in_flight: 1,
            recovering: false,
        };
        for (change, window) in [(5.0, 10.0), (-1.0, 9.0), (1.0, 9.0)] {
            controller.on_advice(&Advised { now: Time::ZERO, advice: Advice::Change(change) });
            controller.on_ack(&ack, &mut Rng::stream(1, "limited", 0));
            assert_eq!(controller.control().window, window);
        }
    }

    #[test]
    fn a_loss_halves_the_window_and_a_timeout_leaves_a_packet_and_no_slow_start() {
        let mut trace = flow();
        echo(&mut trace, 10.0);
        trace.loss();
        assert_eq!(trace.window(), 10.0);
        trace.timeout();
        assert_eq!((trace.window(), trace.round_trip()), (1.0, 1.0));
        assert_eq!(echo(&mut trace, 4.0), 5.0);
    }

    #[test]
    fn without_advice_it_is_reno() {
        let mut trace = flow();
        assert_eq!(trace.round_trip(), 20.0);
        trace.loss();
        assert_eq!(trace.window(), 10.0);
        assert!((trace.round_trip() - 11.0).abs() < 0.1, "{}", trace.window());
    }
}

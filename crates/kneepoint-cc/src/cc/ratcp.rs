// SPDX-License-Identifier: Apache-2.0 OR MIT
//! RATCP: TCP with a known fair rate, and never has more outstanding than that rate needs.
//!
//! A. Karnik, A. Kumar, "Performance of TCP Congestion Control With Explicit Rate Feedback", IEEE/ACM ToN 13(1) 2005, §II.
//!
//! ```text
//! Wr = D r + delta                    at every acknowledgement; infinite before the first advice
//! slow start   W += acked,            ends at W >= S, or with W = Wr where Wr < W
//! avoidance    W  = min(W, Wr), then W += acked / W
//! inactive     W does not grow after a reduction until outstanding <= W
//! duplicates   S = W = Wr             TCP: half of the outstanding packets
//! timeout      S = Wr, W = 1          TCP: half of the outstanding packets
//! ```
//!
//! `D` least round-trip time, s; `r` advised rate, packets/s; `delta` target backlog, packets; `W` window, `S` slow-start
//! threshold, `Wr` rate window: packets. A window below `S` after advice does not start slow start again: the phase is a
//! variable of its own.
//!
//! The paper's versions differ in their hosts alone: RATCP-OldTahoe is this controller under `recovery = "old-tahoe"`,
//! RATCP-Reno under `recovery = "reno"`. The host inflates the window during fast recovery. The rate is from any
//! feedback that provides one: see `knee list feedback`.
//!
//! Readings: until the first advice, a loss is answered as Reno answers it. Advice is heeded during fast recovery, too. A
//! congestion mark is answered as a loss that duplicates report. The paper's tagged session has the true D in §V.A and
//! measures it elsewhere: `base_rtt` is either. A measured D includes the packet's own transmission, and so one packet
//! more.
//! A window counts whole packets, so `Wr` is rounded, down unless `rounding` says otherwise; the paper is silent.

use super::rate_window::{Params, RateWindow};
use super::{Ack, Advice, Advised, Control, Controller, Loss, Start, Timeout, Wanted};
use crate::rng::Rng;
use alloc::vec::Vec;

/// A RATCP controller.
#[derive(Clone, Debug)]
pub struct Ratcp(pub(super) RateWindow);

impl Controller for Ratcp {
    type Params = Params;

    const WANTED: Wanted = Wanted::Rate;

    fn new(params: Params, start: Start) -> Ratcp {
        Ratcp(RateWindow::new(params, start))
    }

    fn on_advice(&mut self, advised: &Advised) {
        if let Advice::Rate(rate) = advised.advice {
            self.0.rate = Some(rate.0);
        }
    }

    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        self.0.on_ack(ack);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.0.on_loss(loss);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.0.on_timeout(timeout);
    }

    fn control(&self) -> Control {
        self.0.control()
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let known = self.0.bound().map(|packets| ("rate_window_packets", packets));
        known.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;
    use crate::units::{PacketRate, Span, Time};

    #[test]
    fn a_measured_base_is_the_least_round_trip() {
        let mut trace = Trace::new(Ratcp::new(Params::default(), Start::new(2.0)));
        let advice = Advice::Rate(PacketRate(100.0));
        trace.controller.on_advice(&Advised { now: Time::ZERO, advice });
        for millis in [300, 200, 250] {
            trace.rtt = Span::from_millis(millis);
            trace.ack(Span::from_millis(10));
        }
        assert_eq!(trace.controller.state(), [("rate_window_packets", 21.0)]);
    }
}

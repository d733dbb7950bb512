// SPDX-License-Identifier: Apache-2.0 OR MIT
//! CUBIC's congestion avoidance as RFC 8312 has it: the header of `cubic.rs` says what differs.

use super::{Cubic, Epoch, cubic_window, seconds};
use crate::units::Time;

impl Cubic {
    /// The curve returns to Wmax as from its share of that, whatever the window is.
    pub(super) fn begin_epoch_8312(&self, now: Time) -> Epoch {
        let window = self.window.packets;
        let (k, origin) = match self.w_max > 0.0 {
            true => (libm::cbrt(self.w_max * (1.0 - self.beta) / self.scale), self.w_max),
            false => (0.0, window),
        };
        Epoch { began: now, k, origin, reno: origin * self.beta }
    }

    /// Congestion avoidance as RFC 8312 has it.
    pub(super) fn avoid_8312(&mut self, now: Time, credit: f64) {
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin_epoch_8312(now));
        let window = self.window.packets;
        let (t, rtt) = (seconds(now.since(epoch.began)), seconds(self.rtt.smoothed()));
        if rtt > 0.0 {
            epoch.reno = epoch.origin * self.beta + self.reno_gain * t / rtt;
        }
        if self.reno_friendly && cubic_window(self.scale, t, epoch.k, epoch.origin) < epoch.reno {
            self.window.packets = window.max(epoch.reno);
        } else {
            let step = cubic_window(self.scale, t + rtt, epoch.k, epoch.origin) - window;
            self.window.packets += credit * (step / window).clamp(0.0, 1.0);
        }
        self.epoch = Some(epoch);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{avoiding, run};
    use super::super::{Era, Params};
    use crate::cc::{Ack, Controller, Loss};
    use crate::rng::Rng;
    use crate::units::Span;

    #[test]
    fn a_flow_that_gives_way_stays_until_the_curve_is_there() {
        let params = Params { era: Era::Rfc8312, ..Params::default() };
        let mut trace = avoiding(1000.0, params);
        trace.loss();
        trace.loss();
        // Wmax is 700 · 0.85 = 595, the window 490. K = cbrt(595 · 0.3 / 0.4) = 7.64 s, and the curve starts at 416: it is at 490 after
        // 7.64 - cbrt(105 / 0.4) = 1.24 s, where RFC 9438's begins.
        let before = trace.window();
        assert!((before - 490.0).abs() < 1e-9);
        let stayed = run(&mut trace, Span::from_secs(1));
        assert!((stayed - before).abs() < 1e-9, "{stayed}");
        let returned = run(&mut trace, Span::from_secs_f64(6.64));
        assert!((returned - 595.0).abs() < 1.0, "{returned}");
        assert!((trace.controller.epoch.unwrap().k - 7.64).abs() < 0.01);
    }

    #[test]
    fn a_loss_leaves_a_part_of_the_window_and_the_curve_begins_with_it() {
        let mut trace = avoiding(100.0, Params { era: Era::Rfc8312, ..Params::default() });
        trace.controller.on_loss(&Loss { now: trace.now, flight: 60.0, una: 0, next: 100 });
        assert!((trace.window() - 70.0).abs() < 1e-9, "of 100, and not of 60 in flight");
        let began = trace.now;
        let mut hear = |after: u64, recovering: bool| {
            let (now, rtt, rng) =
                (began + Span::from_secs(after), Some(trace.rtt), &mut Rng::stream(1, "test", 0));
            let ack = Ack {
                now,
                rtt,
                one_way: None,
                acked: 0,
                delivered: 0,
                resent: 0,
                marked: 0,
                credit: 0.0,
                limited: !recovering,
                una: 0,
                next: 100,
                in_flight: 60,
                recovering,
            };
            trace.controller.on_ack(&ack, rng);
            trace.controller.epoch.map(|epoch| epoch.began)
        };
        // Losses are repaired for a second, in which no acknowledgement grows the window; after that the sender has nothing to send.
        assert_eq!(hear(1, true), Some(began));
        assert_eq!(hear(2, false), Some(began + Span::from_secs(1)));
    }

    #[test]
    fn a_short_path_is_renos_by_time() {
        let params = Params { era: Era::Rfc8312, ..Params::default() };
        let mut trace = avoiding(20.0, params);
        trace.rtt = Span::from_millis(10);
        trace.loss();
        let gained = run(&mut trace, Span::from_millis(100)) - 14.0;
        assert!((gained - 10.0 * 0.5294).abs() < 0.4, "{gained}");
    }
}

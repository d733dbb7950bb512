// SPDX-License-Identifier: Apache-2.0 OR MIT
//! CUBIC's congestion avoidance as Linux 2.6.22 has it: the header of `cubic.rs` says what differs.

use super::{Cubic, cubic_window, seconds};
use crate::units::Time;

/// `W` gained per packet acknowledged before the first loss.
const GAIN_BEFORE_LOSS: f64 = 1.0 / 50.0;

/// `W` gained per packet acknowledged, times `W`, where the cubic function lies below it.
const GAIN_BELOW: f64 = 1.0 / 100.0;

impl Cubic {
    /// Congestion avoidance as Linux 2.6.22 has it.
    pub(super) fn avoid_2006(&mut self, now: Time, credit: f64) {
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(now));
        let window = self.window.packets;
        let rtt = seconds(self.rtt.least().unwrap_or_default());
        let ahead = seconds(now.since(epoch.began)) + rtt;
        let mut step = cubic_window(self.scale, ahead, epoch.k, epoch.origin) - window;
        if step <= 0.0 {
            step = GAIN_BELOW;
        }
        if ahead >= epoch.k && rtt > 0.0 {
            step = step.min(self.max_increment * rtt);
        }
        if self.w_max == 0.0 {
            step = GAIN_BEFORE_LOSS * window;
        }
        epoch.reno += self.reno_gain * credit / window;
        if self.reno_friendly {
            step = step.max(epoch.reno - window);
        }
        self.window.packets += credit * (step / window).min(1.0);
        self.epoch = Some(epoch);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{avoiding, run};
    use super::super::{Era, Params};
    use crate::units::Span;

    fn era_2006() -> Params {
        Params { era: Era::Linux2006, ..Params::default() }
    }

    #[test]
    fn era_2006_leaves_80_percent_and_gains_at_most_16_packets_per_100_ms_past_k() {
        let mut trace = avoiding(1000.0, era_2006());
        // Before the first loss, a packet per fifty.
        trace.ack(Span::from_millis(1));
        assert!((trace.window() - 1000.02).abs() < 1e-9);
        let before = trace.window();
        trace.loss();
        assert!((trace.window() - before * 819.0 / 1024.0).abs() < 1e-9);
        // K = cbrt(200 / 0.4) = 7.94 s. At 40 s the cubic alone would add 1.2 · 32² · 0.06 = 74 a round trip.
        trace.rtt = Span::from_millis(60);
        run(&mut trace, Span::from_secs(40));
        let (from, at) = (trace.window(), trace.now);
        let gained = run(&mut trace, Span::from_secs(1)) - from;
        let seconds = trace.now.since(at).as_secs_f64();
        assert!((gained / seconds - 160.0).abs() < 8.0, "{gained} in {seconds}");
    }
}

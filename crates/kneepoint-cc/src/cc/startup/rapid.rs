// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Rapid Start: the window triples each round trip while nothing queues, and the first reduction follows what arrived.
//!
//! K. Oku, "Rapid Startup of Congestion Control", draft-kazuho-ccwg-rapid-start, the author's text of November 2025.
//!
//! ```text
//! P = smallest RTT so far,  f = smallest RTT of the last P
//! f <= min(P + 4 ms, 1.1 P):   W += 2 acked     (3 × a round trip)
//! otherwise:                   W += acked       (2 ×)
//! first loss or mark:  W <- s W
//! until it is repaired:  W -= a · newly acknowledged + l · newly lost,  not below B (s - a/3 - 2 l/3)
//! K = 11/18,  s = l = b + K (1 - b),  a = K (1 - b)
//! ```
//!
//! `W` window, `B` window before the loss: packets; `b` what the controller keeps after a loss: 1/2 for Reno, 0.7 for CUBIC. If two thirds
//! are lost, as at a full queue after tripling, b B/3 is left, as after a reduction by b of what the path holds.
//!
//! Readings: the last P is this round of packets and the one before, so a queue shows up to a round later than in the draft; a round ends when
//! the packet that was sent first after it began is acknowledged. `b` is the
//! quotient of the window to which the controller reduces and the window before. Losses are counted as they are repaired. Applies only to
//! the first slow start. Departure: pacing of the first window over a round trip (§3.2) is the host's.

use super::super::Ack;
use super::super::rounds::Rounds;
use crate::units::Span;

/// K.
const SHARE: f64 = 11.0 / 18.0;
/// The rise of delays that counts as a queue, in time and as a share of P.
const RISE: (Span, f64) = (Span::from_millis(4), 1.1);
/// Growth in units of doubling.
const TRIPLING: f64 = 2.0;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Phase {
    #[default]
    Starting,
    Converging {
        acked: f64,
        lost: f64,
        least: f64,
    },
    Retired,
}

/// The state of Rapid Start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rapid {
    phase: Phase,
    rounds: Rounds,
    least: Option<Span>,
    /// f of the last round.
    floor: Option<Span>,
    delivered: u64,
    resent: u64,
}

impl Rapid {
    /// The growth that an acknowledgement in slow start permits, in units of doubling.
    pub fn haste(&mut self, ack: &Ack) -> f64 {
        self.count(ack);
        if self.phase != Phase::Starting {
            return 1.0;
        }
        if self.rounds.over(ack) {
            self.floor = self.rounds.least();
            self.rounds.begin(ack.next);
        }
        if let Some(rtt) = ack.rtt {
            self.rounds.observe(rtt);
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        }
        let lately = match (self.floor, self.rounds.least()) {
            (Some(last), Some(now)) => Some(last.min(now)),
            (last, now) => last.or(now),
        };
        match (self.least, lately) {
            (Some(least), Some(floor)) if floor > (least + RISE.0).min(scaled(least)) => 1.0,
            _ => TRIPLING,
        }
    }

    /// The first reduction, from a window of `before` packets to `after` without Rapid Start; the one with it.
    pub fn reduced(&mut self, before: f64, after: f64) -> f64 {
        if self.phase != Phase::Starting {
            return after;
        }
        let kept = (after / before).min(1.0);
        let acked = SHARE * (1.0 - kept);
        let silence = kept + acked;
        let least = before * (silence - acked / 3.0 - 2.0 * silence / 3.0);
        self.phase = Phase::Converging { acked, lost: silence, least };
        before * silence
    }

    /// The window after this acknowledgement, while it is still brought to what the path holds.
    pub fn converged(&mut self, ack: &Ack, window: f64) -> Option<f64> {
        let (delivered, resent) = self.count(ack);
        let Phase::Converging { acked, lost, least } = self.phase else { return None };
        if !ack.recovering {
            self.phase = Phase::Retired;
            return None;
        }
        Some((window - acked * delivered - lost * resent).max(least).min(window))
    }

    /// Packets that arrived and that were retransmitted since the acknowledgement before.
    fn count(&mut self, ack: &Ack) -> (f64, f64) {
        let delivered = ack.delivered.saturating_sub(self.delivered);
        let resent = ack.resent.saturating_sub(self.resent);
        (self.delivered, self.resent) = (ack.delivered, ack.resent);
        (delivered as f64, resent as f64)
    }

    /// Later slow starts only double.
    pub fn retire(&mut self) {
        self.phase = Phase::Retired;
    }
}

fn scaled(least: Span) -> Span {
    Span((RISE.1 * least.0 as f64) as u64)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::Trace;
    use super::super::SlowStart;
    use super::super::tests::Bare;
    use super::*;
    use crate::units::Time;

    fn fresh() -> Trace<Bare> {
        Bare::trace(SlowStart::Rapid, 10.0)
    }

    #[test]
    fn it_triples_without_a_queue_and_doubles_with_one() {
        let mut trace = fresh();
        assert_eq!(trace.round_trip(), 30.0);
        assert_eq!(trace.round_trip(), 90.0);
        // P = 60 ms: more than 64 ms, which are less than 66, is a queue; it must last for a round.
        trace.rtt = Span::from_millis(64);
        assert_eq!(trace.round_trip(), 270.0);
        trace.rtt = Span::from_micros(64_001);
        trace.round_trip();
        let before = trace.window();
        assert_eq!(trace.round_trip(), 2.0 * before);
        trace.rtt = Span::from_millis(60);
        assert_eq!(trace.round_trip(), 6.0 * before);
    }

    #[test]
    fn on_a_short_path_a_tenth_is_a_queue() {
        let mut trace = fresh();
        trace.rtt = Span::from_millis(20);
        trace.round_trip();
        trace.rtt = Span::from_micros(22_001);
        trace.round_trip();
        let before = trace.window();
        assert_eq!(trace.round_trip(), 2.0 * before);
    }

    /// The factors of silence and of acknowledged packets, and the least window, for a controller that keeps `kept`.
    fn factors(kept: f64) -> [f64; 3] {
        let mut rapid = Rapid::default();
        let silent = rapid.reduced(360.0, 360.0 * kept);
        let Phase::Converging { acked, lost, least } = rapid.phase else { panic!("it does not converge") };
        assert_eq!(lost, silent / 360.0);
        [silent, 360.0 * acked, least]
    }

    #[test]
    fn the_factors_are_those_of_the_draft() {
        // 29/36 and 11/36 at one half, 53/60 and 11/60 at 0.7; at least s/3 - a/3, b/3 of the window before.
        for (kept, wanted) in [(0.5, [290.0, 110.0, 60.0]), (0.7, [318.0, 66.0, 84.0])] {
            let found = factors(kept);
            assert!(found.iter().zip(wanted).all(|(one, other)| (one - other).abs() < 1e-9), "{found:?}");
        }
    }

    #[test]
    fn after_a_recovery_the_window_is_what_the_controller_keeps_of_what_arrived() {
        // Of 300 packets 200 are lost: 100 arrive, and a controller that halves keeps 50.
        let mut rapid = Rapid::default();
        let mut window = rapid.reduced(300.0, 150.0);
        let ack = |delivered, resent, recovering| Ack {
            now: Time::ZERO,
            rtt: None,
            one_way: None,
            acked: 0,
            delivered,
            resent,
            marked: 0,
            credit: 0.0,
            limited: false,
            una: 0,
            next: 300,
            in_flight: 100,
            recovering,
        };
        for step in 1..=100 {
            window = rapid.converged(&ack(step, 2 * step, true), window).expect("it converges");
        }
        assert!((window - 50.0).abs() < 1e-9, "{window}");
        assert_eq!(rapid.converged(&ack(101, 200, false), window), None);
        assert_eq!((rapid.phase, rapid.reduced(50.0, 25.0)), (Phase::Retired, 25.0));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Pacing by the host of a controller that has no pace of its own.
//!
//! ```text
//! rate = 2 W / R below half the slow-start threshold,  1.2 W / R above,  none for the first ten packets
//! ```
//!
//! `W` window or packets in flight, the greater; `R` smoothed round-trip time. Linux's TCP computes the rate
//! (`tcp_update_pacing_rate`,
//! `tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`), and its queue `fq` spaces what leaves (E. Dumazet, `sch_fq`); bursts
//! follow `burst`.

use super::Sender;
use crate::units::PacketRate;

crate::choice! {
    /// The part of a host that paces.
    pub enum Pacing {
        /// The controller, if it has a pace.
        Own = "own",
        /// The controller, or else the host, as Linux under `fq`.
        Fq = "fq",
    }
}

/// Windows that leave in a round-trip time, in slow start and above.
const SLOW_START: f64 = 2.0;
const AVOIDANCE: f64 = 1.2;
/// Packets that are not paced.
const FIRST: u32 = 10;

impl Sender {
    /// The pace of a controller that has none.
    #[cold]
    pub(super) fn pace_by_host(&mut self) {
        let rtt = self.rtt.smoothed().as_secs_f64();
        if rtt == 0.0 || self.high < FIRST {
            return;
        }
        let threshold = self.controller.threshold().unwrap_or(f64::INFINITY);
        let window = self.control.window.max(f64::from(self.outstanding()));
        let ratio = if self.control.window < threshold / 2.0 { SLOW_START } else { AVOIDANCE };
        self.control.pacing = Some(PacketRate(ratio * window / rtt));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cc;
    use crate::packet::{Flags, Packet};
    use crate::rng::Rng;
    use crate::tcp::{Host, Options};
    use crate::units::{Span, Time};

    /// The sending times of packets in the round trip after the acknowledgements of the first ten, at 100 ms.
    fn leaves(pacing: Pacing, host: Host) -> Vec<u64> {
        let options =
            Options { pacing, initial_window: 10.0, handshake: false, tso: false, ..Options::of(host) };
        let mut sender = Sender::new(Arc::new(options), &cc::Config::default(), None);
        let mut rng = Rng::stream(1, "pacing", 0);
        let first = std::iter::from_fn(|| sender.poll(Time::ZERO)).count();
        assert_eq!(first, 10, "at once");
        let now = Time::ZERO + Span::from_millis(100);
        let mut left = Vec::new();
        for seq in 1..=10 {
            sender.on_ack(&Packet::ack(0, seq, 40, Flags::default(), Time::ZERO, [(0, 0); 3]), now, &mut rng);
            left.extend(std::iter::from_fn(|| sender.poll(now)).map(|_| 0));
        }
        let mut at = now;
        while at < now + Span::from_millis(100) {
            while sender.poll(at).is_some() {
                left.push((at - now).0 / 1_000_000);
            }
            at = sender.next_wakeup(at).max(at + Span(1));
        }
        left
    }

    #[test]
    fn a_window_leaves_over_half_a_round_trip_in_slow_start_and_at_once_without_pacing() {
        for host in [Host::Paper, Host::Linux] {
            let own = leaves(Pacing::Own, host);
            assert!(own.len() == 20 && own.iter().all(|at| *at == 0), "{host:?} {own:?}");
            let paced = leaves(Pacing::Fq, host);
            // The first at 2 · 11 in 100 ms, the others at 2 · 20: one each 2.5 ms, or two each 5 ms.
            assert_eq!(paced.len(), 20, "{host:?} {paced:?}");
            assert!((44..=51).contains(paced.last().expect("some")), "{host:?} {paced:?}");
        }
    }
}

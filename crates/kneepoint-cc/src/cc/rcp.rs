// SPDX-License-Identifier: Apache-2.0 OR MIT
//! RCP: TCP's reliability at the rate that routers advise.
//!
//! N. Dukkipati, M. Kobayashi, R. Zhang-Shen, N. McKeown, "Processor Sharing Flows in the Internet", IWQoS 2005, §2.
//!
//! ```text
//! pace = R                            the advised rate, from the first advice on
//! W    = max(w R s, 2)                so that the pace limits the sender, not the window
//! W    = max(w R · 1 s, 2)            before the first round trip is measured
//! loss:     R, W as before            timeout: W = 1 until an acknowledgement arrives
//! ```
//!
//! `R` advised rate, packets/s; `s` smoothed round-trip time (RFC 6298), s; `W` window, packets; `w` [`Params::window`]. The feedback
//! `rcp` advises a rate in every packet, the SYN included, and so does any other feedback that gives rates.
//!
//! Readings: the paper's sender has no window. Here it may send for w round trips without an acknowledgement; one second is
//! assumed before the first sample, as RFC 6298 does for its timer. Routers own the rate, so a loss or a mark changes nothing;
//! a timeout probes with one packet.
//!
//! Without advice, the sender is Reno: with no `feedback = "rcp"` on any link of its path it grows and yields as Reno does.
//! Where only some links advise, a queue without feedback can overflow at a rate that another link allows,
//! and its losses do not lower the rate.

use super::window::{InLinux, Window};
use super::{Ack, Advice, Advised, Control, Controller, Loss, Start, Timeout, Wanted};
use crate::rng::Rng;
use crate::units::PacketRate;
use alloc::vec::Vec;

crate::settings! {
    /// RCP's parameters at the sender.
    pub struct Params {
        /// The number of round trips at the advised rate that may be outstanding, w.
        window: f64 = 2.0, 1.0..=100.0;
    }
}

/// The round-trip time assumed before the first is measured, in seconds (RFC 6298 §2.1).
const PRESUMED_RTT: f64 = 1.0;
/// The weight of a sample of the round-trip time (RFC 6298 §2.3).
const SAMPLE_WEIGHT: f64 = 1.0 / 8.0;
/// The least window of a sender that is advised: delayed acknowledgements answer every second packet.
const LEAST_WINDOW: f64 = 2.0;
/// A link without capacity advises zero; a pace is above it, in packets per second.
const LEAST_RATE: f64 = 1e-3;

/// An RCP controller.
#[derive(Clone, Debug)]
pub struct Rcp {
    params: Params,
    /// Reno's, before the first advice.
    unadvised: Window,
    /// R, once advised.
    rate: Option<f64>,
    /// s in seconds, once measured.
    rtt: Option<f64>,
    /// A timeout without an acknowledgement since.
    silent: bool,
}

impl Controller for Rcp {
    type Params = Params;

    const WANTED: Wanted = Wanted::Rate;

    fn new(params: Params, start: Start) -> Rcp {
        Rcp {
            params,
            unadvised: Window::new(start, InLinux::Fractions),
            rate: None,
            rtt: None,
            silent: false,
        }
    }

    fn on_advice(&mut self, advised: &Advised) {
        if let Advice::Rate(rate) = advised.advice {
            self.rate = Some(rate.0.max(LEAST_RATE));
        }
    }

    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        self.silent = false;
        if let Some(sample) = ack.rtt {
            let sample = sample.as_secs_f64();
            let before = self.rtt.unwrap_or(sample);
            self.rtt = Some(before + SAMPLE_WEIGHT * (sample - before));
        }
        self.unadvised.grow(ack, 1.0);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.unadvised.reduce_to(loss.flight / 2.0);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.silent = true;
        self.unadvised.restart(timeout, timeout.flight / 2.0);
    }

    fn control(&self) -> Control {
        let Some(rate) = self.rate else { return self.unadvised.control() };
        let packets = self.params.window * rate * self.rtt.unwrap_or(PRESUMED_RTT);
        let window = if self.silent { 1.0 } else { packets.max(LEAST_WINDOW) };
        Control { window, pacing: Some(PacketRate(rate)) }
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        self.rate.map(|rate| ("rate_packets_per_s", rate)).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;
    use crate::units::{Span, Time};

    fn flow() -> Trace<Rcp> {
        let start = Start::new(2.0);
        let mut trace = Trace::new(Rcp::new(Params::default(), start));
        trace.rtt = Span::from_millis(100);
        trace
    }

    fn advise(trace: &mut Trace<Rcp>, rate: f64) {
        let advice = Advice::Rate(PacketRate(rate));
        trace.controller.on_advice(&Advised { now: Time::ZERO, advice });
    }

    #[test]
    fn the_first_advice_sets_the_pace_and_a_window_that_does_not_limit_it() {
        let mut trace = flow();
        assert_eq!(trace.controller.control(), Control { window: 2.0, pacing: None });
        advise(&mut trace, 500.0);
        let before_a_sample = Control { window: 1000.0, pacing: Some(PacketRate(500.0)) };
        assert_eq!(trace.controller.control(), before_a_sample);
        trace.ack(Span::from_millis(10));
        // 500 packets/s over 100 ms: 50 packets in flight, and as many again allowed.
        assert_eq!(trace.window(), 100.0);
        advise(&mut trace, 0.5);
        assert_eq!(trace.controller.control(), Control { window: 2.0, pacing: Some(PacketRate(0.5)) });
        advise(&mut trace, 0.0);
        assert!(trace.controller.control().pacing.is_some_and(|pace| pace.0 > 0.0));
    }

    #[test]
    fn losses_and_marks_leave_the_rate_to_the_routers_and_a_timeout_probes_with_one_packet() {
        let mut trace = flow();
        advise(&mut trace, 500.0);
        trace.ack(Span::from_millis(10));
        let before = trace.controller.control();
        trace.loss();
        trace.ecn();
        assert_eq!(trace.controller.control(), before);
        trace.timeout();
        assert_eq!(trace.controller.control(), Control { window: 1.0, ..before });
        trace.ack(Span::from_millis(10));
        assert_eq!(trace.controller.control(), before);
    }

    #[test]
    fn without_advice_it_is_reno() {
        let mut trace = flow();
        for window in [4.0, 8.0, 16.0] {
            assert_eq!(trace.round_trip(), window);
        }
        trace.loss();
        assert_eq!(trace.controller.control(), Control { window: 8.0, pacing: None });
        trace.timeout();
        assert_eq!(trace.window(), 1.0);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Adaptive PERT for small windows and receivers that delay acknowledgements: a remedy, and beyond the thesis.
//!
//! ```text
//! a round trip's sample is its smallest                s <- s + (1 - exp(-1 / m)) (r - s)      once per round trip
//! early response     W <- max((1 - β) W, least),  S <- max(W, least threshold),  and the acknowledgement may grow W still
//! ```
//!
//! `W` window, `S` slow-start threshold: packets; `s` smoothed delay, `r` sample: time; `m` round trips. All else is as in
//! `pert-adaptive`.
//!
//! A window of two packets with delayed acknowledgements has one acknowledgement a round trip. As the thesis has it, that one responds early
//! and does not grow the window; the hundred samples that the average remembers are a hundred round trips; a packet that
//! waits for the receiver's timer counts as a queue, the greatest one among them. The window stays at two.
//!
//! * The smallest sample of a round trip is that of RFC 9406 §4.2, whose rounds end when a packet is acknowledged that was sent after
//!   they began: if two packets arrive in it, the acknowledgement of the second waited for nothing.
//! * The memory of the average is this many round trips at any window.
//! * The window stays at two packets or more, so that the receiver does not wait for its timer.
//! * The acknowledgement that triggers a response also grows the reduced window.
//! * The delay is that from sender to receiver (`signal`), so that the queue of acknowledgements on the reverse path
//!   does not count in this direction.
//! * The growth rises by 0.5 every five round trips in compete mode (`compete_step`): with more, PERT alone keeps its own queue full.
//!
//! Its effect (20 flows against 20, 50 Mbit/s, 60 ms, Linux hosts, 0.5 to 2 bandwidth-delay products): 0.42 to 0.48
//! of the link against SACK, 0.35 to 0.51 against CUBIC, where the thesis's rule has 0.15 to 0.29 and 0.15 to 0.81;
//! alone the same queue. Price: a flow alone uses 1 to 3 % less of the link than with the
//! thesis's rules, and where few packets per flow fit into path and buffer more are lost, since the window stays at two.
//!
//! Counting bytes (RFC 3465) is the host's: `growth_per_ack`.

use super::pert_adaptive::PertAdaptive;
use super::pert_adaptive::small::{Small, Variant, rules};

/// The remedy's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remedy;

rules!(remedy: 2.0, 2.0, true, 10.0, true, OneWay, 0.5);

impl Variant for Remedy {
    type Params = remedy::Params;

    fn small(params: &remedy::Params) -> Small {
        params.small()
    }
}

/// Adaptive PERT with the remedy.
pub type PertSmall = PertAdaptive<Remedy>;

#[cfg(test)]
mod tests {
    use super::super::pert_adaptive::Thesis;
    use super::super::tests::Trace;
    use super::super::{Controller, Start};
    use super::*;
    use crate::units::Span;

    /// The window after this many round trips of two acknowledged packets, where every second sample contains 70 ms of the receiver's timer.
    fn after<V: Variant>(trips: u32) -> f64 {
        let mut trace = Trace::new(PertAdaptive::<V>::new(Default::default(), Start::avoiding(2.0)));
        for _ in 0..trips {
            let packets = trace.window() as u32;
            for packet in 0..packets {
                let millis = if packet + 1 < packets { 170 } else { 100 };
                trace.rtt = Span::from_millis(millis);
                trace.one_way = Some(Span::from_millis(millis - 50));
                trace.ack(Span::from_millis(u64::from(100 / packets)));
            }
        }
        trace.window()
    }

    #[test]
    fn a_receivers_timer_is_no_queue_where_a_round_trip_has_one_sample() {
        // 200 round trips on an empty path: the thesis's PERT takes the timer for a queue, and stays where it began.
        assert!(after::<Thesis>(200) < 8.0, "{}", after::<Thesis>(200));
        assert!(after::<Remedy>(200) > 100.0, "{}", after::<Remedy>(200));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! PI: drops or marks arriving packets with a probability that a proportional-integral controller of the queue sets.
//!
//! C. Hollot, V. Misra, D. Towsley, W. Gong, "On Designing Improved Controllers for AQM Routers Supporting TCP Flows", INFOCOM 2001; as in ns-2.35; PISA and PIMC: M. Kim, "Proportional Integrator with Short-lived flows Adjustment", M.S. thesis, Worcester Polytechnic Institute 2004, §3.2 and §3.3.
//!
//! ```text
//! p <- p + a (q - reference) - b (q' - reference),  within [0, 1];   q' <- q     every 1/frequency
//! an arriving packet is dropped or marked with probability p, adjusted by its sender's window: SA, MC
//!                                              with at_arrival, p + a (q - reference) - b (q' - reference), not stored
//! a = K/m + K d/2,  b = K/m - K d/2,  d = 1/frequency        of C(s) = K (1 + s/m) / s
//! ```
//!
//! `q` backlog in packets, without the arriving packet and the one in transmission.
//!
//! Readings, as ns-2: the clock is 170 Hz, although a and b are for 160 Hz, and it ticks while the queue is empty;
//! p is constant between ticks; a packet that finds the buffer full is dropped for any p.
//! PISA is `spare = "sa"`: the adjusted probability does not enter the next p. PIMC is `spare = "mc"` and `at_arrival`:
//! its Figure 3.4 evaluates the law at each arrival with the queue of that instant; without `at_arrival` it has the p of
//! the last tick, as PISA does. The marking variants are the thesis's future work.
//! Departure: no length in bytes.

use super::sparing::Sparing;
use super::{Arrival, Backlog, Decision, Discipline, Facts};
use crate::law::{Law, pi as law, sparing};
use crate::rng::Rng;
use crate::units::{Span, Time};

crate::settings! {
    /// The controller's parameters.
    pub struct Params {
        ..sparing: sparing::Params;
        /// Mark packets of senders that understand marks, instead of dropping them.
        ecn: bool = false;
        /// The queue to keep, in packets.
        reference: f64 = 50.0, 0.0..=10000000.0;
        /// The weight of the queue now, per packet.
        a: f64 = 0.00001822, 0.0..=1.0;
        /// The weight of the queue before, per packet.
        b: f64 = 0.00001816, 0.0..=1.0;
        /// Computations of the probability per second.
        frequency: f64 = 170.0, 0.1..=100000.0;
        /// Judge each arrival by the law at the queue of that instant, as PIMC does, not by the probability of the last tick.
        at_arrival: bool = false;
    }
}

/// A PI queue's judgement.
#[derive(Clone, Debug)]
pub struct Pi {
    law: law::Pi,
    sparing: Sparing,
    at_arrival: bool,
    interval: Span,
    decision: Decision,
}

impl Discipline for Pi {
    type Params = Params;

    fn new(params: Params, _: Facts) -> Pi {
        let Params { reference: target, a, b, .. } = params;
        Pi {
            law: law::Pi::new(law::Params { target, a, b }),
            sparing: Sparing::new(params.sparing),
            at_arrival: params.at_arrival,
            interval: Span::from_secs_f64(1.0 / params.frequency),
            decision: if params.ecn { Decision::Mark } else { Decision::Drop },
        }
    }

    fn on_arrival(&mut self, arrival: &Arrival, rng: &mut Rng) -> Decision {
        self.sparing.observe(arrival);
        let probability = self.sparing.adjust(if self.at_arrival {
            self.law.at(f64::from(arrival.backlog.packets))
        } else {
            self.law.probability()
        });
        if probability > 0.0 && rng.chance(probability) { self.decision } else { Decision::Pass }
    }

    fn interval(&self) -> Option<Span> {
        Some(self.interval)
    }

    fn on_tick(&mut self, backlog: Backlog, now: Time) {
        self.law.sample(f64::from(backlog.packets), now);
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        [("probability", self.law.probability())].into_iter().chain(self.sparing.state()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{arrival, link, packet, packet_of};
    use super::*;
    use crate::law::sparing::Rule;
    use crate::units::Bytes;

    /// The probability after each tick at these queues, in packets.
    fn follow(params: Params, queues: &[u32]) -> Vec<f64> {
        let mut pi = Pi::new(params, link(10, 0.06));
        let tick = |packets: &u32| {
            pi.on_tick(Backlog { packets: *packets, bytes: Bytes(u64::from(*packets) * 1040) }, Time::ZERO);
            pi.law.probability()
        };
        queues.iter().map(tick).collect()
    }

    #[test]
    fn the_probability_follows_the_printed_law() {
        let got = follow(Params::default(), &[200, 200, 100]);
        // a · 150 + b · 50; then (a - b) · 150; then a · 50 - b · 150.
        assert!((got[0] - (1.822e-5 * 150.0 + 1.816e-5 * 50.0)).abs() < 1e-15, "{got:?}");
        assert!((got[1] - got[0] - 6e-8 * 150.0).abs() < 1e-15, "{got:?}");
        assert!((got[2] - got[1] - (1.822e-5 * 50.0 - 1.816e-5 * 150.0)).abs() < 1e-15, "{got:?}");
        assert_eq!(follow(Params::default(), &[0; 100]), [0.0; 100]);
    }

    #[test]
    fn a_standing_queue_off_its_reference_moves_the_probability_until_it_is_certain() {
        let strong = Params { a: 0.01, b: 0.005, ..Params::default() };
        let got = follow(strong.clone(), &[150; 4]);
        assert_eq!(got, [1.0; 4]);
        // From probability one the first smaller error reduces it: there is no wind-up.
        assert!((follow(strong, &[150, 150, 60])[2] - 0.6).abs() < 1e-12);
        assert_eq!(follow(Params::default(), &[50; 500])[499], follow(Params::default(), &[50])[0]);
    }

    #[test]
    fn between_ticks_packets_are_taken_at_random_with_that_probability() {
        let mut pi = Pi::new(Params { a: 0.001, b: 0.001, ..Params::default() }, link(10, 0.06));
        assert_eq!(pi.interval(), Some(Span(5_882_353)));
        let (packet, mut rng) = (packet(), Rng::stream(1, "pi", 0));
        let mut taken = |queue: &mut Pi, backlog| {
            let fates =
                (0..20_000).map(|_| queue.on_arrival(&arrival(&packet, backlog, Time::ZERO), &mut rng));
            fates.filter(|fate| *fate == Decision::Drop).count()
        };
        assert_eq!(taken(&mut pi, 10_000), 0);
        pi.on_tick(Backlog { packets: 250, bytes: Bytes(0) }, Time::ZERO);
        // 0.25 for any queue; four standard deviations are 245.
        let count = taken(&mut pi, 0);
        assert!((4755..=5245).contains(&count), "{count}");
    }

    /// The number of 10,000 packets with this window that are dropped at 100 packets, after a tick at 250 and one
    /// packet of window 10.
    fn dropped(params: Params, window: f64) -> usize {
        let mut pi = Pi::new(Params { a: 0.0012, b: 0.001, ..params }, link(10, 0.06));
        pi.on_tick(Backlog { packets: 250, bytes: Bytes(0) }, Time::ZERO);
        let mut rng = Rng::stream(1, "pi", 0);
        let first = packet_of(10.0);
        pi.on_arrival(&arrival(&first, 0, Time::ZERO), &mut rng);
        let packet = packet_of(window);
        let judge = |_| pi.clone().on_arrival(&arrival(&packet, 100, Time::ZERO), &mut rng) == Decision::Drop;
        (0..10_000).map(judge).filter(|dropped| *dropped).count()
    }

    #[test]
    fn pisa_drops_in_proportion_to_the_window() {
        let sparing = sparing::Params { spare: Rule::Proportional, ..Default::default() };
        let pisa = Params { sparing, ..Params::default() };
        // p = 0.0012 · 200 + 0.001 · 50 = 0.29. At 10, 3 · 0.29; at 2, 0.87 · 2 / 9.84 = 0.1768; four deviations are 153.
        assert!(dropped(pisa.clone(), 10.0).abs_diff(8700) < 153);
        assert!(dropped(pisa.clone(), 2.0).abs_diff(1768) < 153);
        assert_eq!(dropped(pisa, 50.0), 10_000);
    }

    #[test]
    fn pimc_spares_small_windows_and_judges_others_by_the_queue_of_the_instant() {
        let sparing = sparing::Params { spare: Rule::Threshold, ..Default::default() };
        let pimc = Params { sparing, at_arrival: true, ..Params::default() };
        assert_eq!(dropped(pimc.clone(), 7.0), 0);
        // 0.29 + 0.0012 · 50 - 0.001 · 200 = 0.15; four deviations are 143. At the last tick it was 0.29.
        assert!(dropped(pimc.clone(), 8.0).abs_diff(1500) < 143);
        assert!(dropped(Params { at_arrival: false, ..pimc }, 8.0).abs_diff(2900) < 182);
    }

    #[test]
    fn with_ecn_it_marks_instead() {
        let certain = Params { a: 1.0, b: 0.0, ecn: true, ..Params::default() };
        let mut pi = Pi::new(certain, link(10, 0.06));
        pi.on_tick(Backlog { packets: 100, bytes: Bytes(0) }, Time::ZERO);
        let mut rng = Rng::stream(1, "pi", 0);
        assert_eq!(pi.on_arrival(&arrival(&packet(), 0, Time::ZERO), &mut rng), Decision::Mark);
    }
}

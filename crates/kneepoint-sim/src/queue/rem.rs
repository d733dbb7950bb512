// SPDX-License-Identifier: Apache-2.0 OR MIT
//! REM: drops or marks arriving packets with a probability that is exponential in the link's price.
//!
//! S. Athuraliya, S. Low, V. Li, Q. Yin, "REM: Active Queue Management", IEEE Network 15(3) 2001; constants as in ns-2.35.
//!
//! ```text
//! in    <- (1 - input_weight) in + input_weight arrivals                            every interval
//! price <- max(0, price + gamma (alpha (q - target) + in - C interval))
//! an arriving packet is dropped or marked with probability 1 - phi^-price, adjusted by its sender's window: SA, MC
//! ```
//!
//! `q target` backlog in packets, without the one in transmission; `arrivals in` packets that arrived in the interval;
//! `C` link rate, packets/s; `gamma` price per packet; `alpha phi input_weight` numbers.
//!
//! Readings: arrivals include dropped packets, as in ns-2, and are counted without regard to size; `C` is of full
//! packets of this network. Departure: ns-2 marks packets as they leave, the paper as they arrive, as here. The
//! length is in packets only.

use super::sparing::Sparing;
use super::{Arrival, Backlog, Decision, Discipline, Facts};
use crate::law::{Law, rem as law, sparing};
use crate::rng::Rng;
use crate::units::{Span, Time};

crate::settings! {
    /// REM's parameters.
    pub struct Params {
        ..sparing: sparing::Params;
        ..law: law::Params;
        /// Mark packets of senders that understand marks, instead of dropping them.
        ecn: bool = false;
        /// The interval between computations of the price.
        interval: Span = Span::from_millis(2), Span::from_micros(100)..=Span::from_secs(10);
        /// The weight of the latest interval in the average of arrivals.
        input_weight: f64 = 1.0, 0.001..=1.0;
    }
}

/// A REM queue's judgement.
#[derive(Clone, Debug)]
pub struct Rem {
    law: law::Rem,
    sparing: Sparing,
    interval: Span,
    input_weight: f64,
    /// C interval, in packets.
    served: f64,
    /// Packets that arrived in this interval.
    arrivals: u32,
    /// Packets that arrive in an interval, averaged.
    input: f64,
    decision: Decision,
}

impl Discipline for Rem {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> Rem {
        Rem {
            law: law::Rem::new(params.law),
            sparing: Sparing::new(params.sparing),
            interval: params.interval,
            input_weight: params.input_weight,
            served: facts.rate.packets(facts.packet) * params.interval.as_secs_f64(),
            arrivals: 0,
            input: 0.0,
            decision: if params.ecn { Decision::Mark } else { Decision::Drop },
        }
    }

    fn on_arrival(&mut self, arrival: &Arrival, rng: &mut Rng) -> Decision {
        self.arrivals += 1;
        self.sparing.observe(arrival);
        let probability = self.sparing.adjust(self.law.probability());
        if probability > 0.0 && rng.chance(probability) { self.decision } else { Decision::Pass }
    }

    fn interval(&self) -> Option<Span> {
        Some(self.interval)
    }

    fn on_tick(&mut self, backlog: Backlog, _: Time) {
        let arrivals = f64::from(std::mem::take(&mut self.arrivals));
        self.input = (1.0 - self.input_weight) * self.input + self.input_weight * arrivals;
        self.law.sample_rates(f64::from(backlog.packets), self.input, self.served);
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let own = [("price", self.law.price()), ("probability", self.law.probability())];
        own.into_iter().chain(self.sparing.state()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{arrival, link, packet};
    use super::*;
    use crate::units::Bytes;

    fn tick(rem: &mut Rem, arrivals: u32, packets: u32) {
        let (packet, mut rng) = (packet(), Rng::stream(1, "rem", 0));
        for _ in 0..arrivals {
            rem.on_arrival(&arrival(&packet, packets, Time::ZERO), &mut rng);
        }
        rem.on_tick(Backlog { packets, bytes: Bytes(0) }, Time::ZERO);
    }

    #[test]
    fn the_price_is_of_the_queue_and_of_the_rate_beyond_the_links() {
        let mut rem = Rem::new(Params::default(), link(10, 0.06));
        // 10 Mbit/s serve 2.404 packets of 1040 bytes in 2 ms.
        let served = 0.002 * 10e6 / 8320.0;
        tick(&mut rem, 5, 120);
        let first = 0.001 * (0.1 * 100.0 + 5.0 - served);
        assert!((rem.law.price() - first).abs() < 1e-12, "{}", rem.law.price());
        tick(&mut rem, 1, 20);
        assert!((rem.law.price() - (first + 0.001 * (1.0 - served))).abs() < 1e-12);
        // An idle link has a mismatch below zero, and no price is.
        (0..100).for_each(|_| tick(&mut rem, 0, 0));
        assert_eq!(rem.state(), [("price", 0.0), ("probability", 0.0)]);
    }

    #[test]
    fn the_average_of_arrivals_may_have_a_memory() {
        let params = Params { input_weight: 0.25, ..Params::default() };
        let mut rem = Rem::new(params, link(10, 0.06));
        tick(&mut rem, 8, 20);
        assert_eq!(rem.input, 2.0);
        tick(&mut rem, 4, 20);
        assert_eq!(rem.input, 2.5);
    }

    #[test]
    fn packets_are_dropped_at_random_with_the_probability_of_the_price_and_marked_with_ecn() {
        for (ecn, decision) in [(false, Decision::Drop), (true, Decision::Mark)] {
            let mut rem = Rem::new(Params { ecn, ..Params::default() }, link(10, 0.06));
            // 0.001 · 0.1 · 10,000 packets are a price of 1 each time.
            (0..250).for_each(|_| tick(&mut rem, 0, 10_020));
            let price = rem.law.price();
            let expected = 20_000.0 * (1.0 - libm::pow(1.001, -price));
            let (packet, mut rng) = (packet(), Rng::stream(1, "rem", 0));
            let fates = (0..20_000).map(|_| rem.on_arrival(&arrival(&packet, 0, Time::ZERO), &mut rng));
            let count = fates.filter(|fate| *fate == decision).count() as f64;
            // A price of 249.4 is a probability of 0.221; four standard deviations are 235.
            assert!((249.0..250.0).contains(&price) && (count - expected).abs() < 235.0, "{price} {count}");
        }
    }
}

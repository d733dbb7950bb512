// SPDX-License-Identifier: Apache-2.0 OR MIT
//! PERT/REM: PERT that responds as a router with random exponential marking would have marked.
//!
//! Ours; S. Bhandarkar, A. L. N. Reddy, Y. Zhang, D. Loguinov, "Emulating AQM from End Hosts", SIGCOMM 2007, §7 proposes such emulations. The router's is S. Athuraliya, S. Low, V. Li, Q. Yin, "REM: Active Queue Management", IEEE Network 15(3) 2001; constants as in ns-2.35.
//!
//! ```text
//! price <- max(0, price + gamma (alpha (q - target) + q - q'))      every interval;   q' <- q
//! p = 1 - phi^-price
//! ```
//!
//! `q` queueing delay as PERT estimates it, `target`: time; `gamma` price per second of delay; `alpha`, `phi` numbers.
//! What PERT does with `p`, and every parameter that has no equation here, is as in `pert`.
//!
//! Nobody published this; the derivation is ours. A router's price gains g (alpha (b - b*) + x - c) an interval, with `b`
//! packets waiting, `x` arriving and `c` served in it. While the link is busy x - c is the growth of the queue, b - b',
//! and b = C q: so the price gains g C (alpha (q - target) + q - q'), and gamma = g C. ns-2's g = 0.001 at the
//! capacity of the PERT paper's link, C = 18750 packets/s, gives gamma = 18.75; alpha = 0.1, phi = 1.001 and 2 ms are
//! ns-2's. The target is that of `pert-pi`, so that the laws can be compared; ns-2's 20 packets are 1.07 ms there.
//!
//! Departure: with an idle link the router sees that x < c; the delay is 0 then, and only alpha (0 - target) lowers the
//! price. The clock, and slow start, are as in `pert-pi`.
//!
//! What to expect: with ns-2's constants the price is all but an integral, for the law has its zero at alpha / interval,
//! 50 rad/s, and `pert-pi` at 0.56. So the delay swings about its target, and the link runs dry at times: it is used
//! to 95 % at 150 Mbit/s, 60 ms, 50 flows, with `pert-pi` to 99.7 %. That is the law; a test holds the derivation
//! against the router's form. Hosts share as in `pert-pi`.

use super::super::pert::Pert;
use super::{Clock, Response};
use crate::units::{Span, Time};

crate::settings! {
    /// The law's parameters.
    pub struct Params {
        /// The queueing delay to keep.
        target: Span = Span::from_millis(3), Span::ZERO..=Span::from_secs(10);
        /// The gain of the price, per second of delay.
        gamma: f64 = 18.75, 0.0..=100000.0;
        /// The weight of the delay's distance from its target beside the delay's change.
        alpha: f64 = 0.1, 0.0..=10.0;
        /// The base of the probability as a function of the price.
        phi: f64 = 1.001, 1.0..=10.0;
        /// How often the price is computed.
        interval: Span = Span::from_millis(2), Span::from_millis(1)..=Span::from_secs(10);
    }
}

/// PERT with this response.
pub type PertRem = Pert<Rem>;

/// A price of queueing delay.
#[derive(Clone, Debug, PartialEq)]
pub struct Rem {
    clock: Clock,
    target: f64,
    gamma: f64,
    alpha: f64,
    /// ln phi.
    exponent: f64,
    /// The latest estimate, in seconds.
    delay: f64,
    /// The same when the clock struck last.
    before: f64,
    price: f64,
    probability: f64,
}

impl Rem {
    fn strike(&mut self) {
        let mismatch = self.alpha * (self.delay - self.target) + self.delay - self.before;
        self.price = (self.price + self.gamma * mismatch).max(0.0);
        self.before = self.delay;
    }
}

impl Response for Rem {
    type Params = Params;

    fn new(params: &Params) -> Rem {
        Rem {
            clock: Clock::new(params.interval),
            target: params.target.as_secs_f64(),
            gamma: params.gamma,
            alpha: params.alpha,
            exponent: libm::log(params.phi),
            delay: 0.0,
            before: 0.0,
            price: 0.0,
            probability: 0.0,
        }
    }

    #[inline]
    fn probability(&mut self, queueing: Span, now: Time) -> f64 {
        let strikes = self.clock.strikes(now);
        for _ in 0..strikes {
            self.strike();
        }
        if strikes > 0 {
            self.probability = -libm::expm1(-self.exponent * self.price);
        }
        self.delay = queueing.as_secs_f64();
        self.probability
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::follow;
    use super::*;
    use crate::rng::Rng;

    const TICK: Span = Span::from_millis(2);

    #[test]
    fn a_step_of_delay_raises_the_price_by_its_height_and_then_by_its_distance() {
        let got = follow(&mut Rem::new(&Params::default()), TICK, [Span::from_millis(13); 4]);
        // 18.75 · (0.1 · 10 ms + 13 ms), then 18.75 · 0.1 · 10 ms a strike.
        for (strike, price) in [(1, 0.2625), (2, 0.28125), (3, 0.3)] {
            let expected = 1.0 - libm::pow(1.001, -price);
            assert!((got[strike] - expected).abs() < 1e-12, "{strike}: {} {expected}", got[strike]);
        }
    }

    #[test]
    fn it_is_the_routers_law_over_the_capacity_while_the_link_is_busy() {
        let (capacity, mut rng) = (18_750.0, Rng::stream(1, "rem", 0));
        let served = 0.002 * capacity;
        let (mut backlog, mut price, mut host) = (0.0, 0.0, Rem::new(&Params::default()));
        for strike in 0..2_000 {
            // More than is served or less, but always as much as keeps the link busy.
            let arriving = rng.between(0.0, 2.5 * served).max(served - backlog);
            backlog += arriving - served;
            price = f64::max(0.0, price + 0.001 * (0.1 * (backlog - 0.003 * capacity) + arriving - served));
            host.delay = backlog / capacity;
            host.strike();
            assert!((host.price - price).abs() < 1e-9 * price.max(1.0), "{strike}: {} {price}", host.price);
        }
        assert!(price > 1.0, "{price}");
    }
}

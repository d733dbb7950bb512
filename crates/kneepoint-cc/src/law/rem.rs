// SPDX-License-Identifier: Apache-2.0 OR MIT
//! REM: a price of queueing, and a probability that is exponential in the price.
//!
//! S. Athuraliya, S. Low, V. Li, Q. Yin, "REM: Active Queue Management", IEEE Network 15(3) 2001; constants as in ns-2.35.
//!
//! ```text
//! price <- max(0, price + gamma (alpha (x - target) + x - x'))      every interval;   x' <- x
//! p = 1 - phi^-price
//! ```
//!
//! `x` the queue in packets or the queueing delay, `target` in its unit; `gamma` price per unit of it; `alpha`, `phi`
//! numbers. The probabilities of several links add up as their prices do: 1 - phi^-(price + price').
//!
//! Departure: the published price has the rate mismatch, arrivals less capacity, for x - x'. They are the same while
//! the link is busy; an idle link has a mismatch below zero and a queue that does not change. A router samples the rates
//! themselves: [`Rem::sample_rates`].

use super::Law;
use crate::units::Time;

crate::settings! {
    /// The law's parameters, in the unit of the signal.
    pub struct Params {
        /// The signal to keep.
        target: f64 = 20.0, 0.0..=1000000000.0;
        /// The gain of the price, per unit.
        gamma: f64 = 0.001, 0.0..=100000.0;
        /// The weight of the distance from the target relative to the change.
        alpha: f64 = 0.1, 0.0..=10.0;
        /// The base of the probability as a function of the price.
        phi: f64 = 1.001, 1.0..=10.0;
    }
}

/// A price and its law.
#[derive(Clone, Debug, PartialEq)]
pub struct Rem {
    target: f64,
    gamma: f64,
    alpha: f64,
    /// ln phi.
    exponent: f64,
    /// The latest sample.
    before: f64,
    price: f64,
}

impl Rem {
    /// The price.
    #[inline]
    pub fn price(&self) -> f64 {
        self.price
    }

    /// Takes in the queue and the rate mismatch of an interval: its arrivals, and the capacity of the link.
    #[inline]
    pub fn sample_rates(&mut self, signal: f64, arrived: f64, served: f64) {
        let mismatch = self.alpha * (signal - self.target) + arrived - served;
        self.price = (self.price + self.gamma * mismatch).max(0.0);
    }
}

impl Law for Rem {
    type Params = Params;

    fn new(params: Params) -> Rem {
        let Params { target, gamma, alpha, phi } = params;
        Rem { target, gamma, alpha, exponent: libm::log(phi), before: 0.0, price: 0.0 }
    }

    #[inline]
    fn sample(&mut self, signal: f64, _: Time) {
        self.sample_rates(signal, signal, self.before);
        self.before = signal;
    }

    #[inline]
    fn probability(&self) -> f64 {
        -libm::expm1(-self.exponent * self.price)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn of_delay_it_is_the_routers_law_over_the_capacity_while_the_link_is_busy() {
        let (capacity, mut rng) = (18_750.0, Rng::stream(1, "rem", 0));
        let served = 0.002 * capacity;
        let of_delay = Params { target: 0.003, gamma: 18.75, ..Params::default() };
        let (mut backlog, mut price, mut host) = (0.0, 0.0, Rem::new(of_delay));
        for tick in 0..2_000 {
            // More or less than the service rate, but always enough to keep the link busy.
            let arriving = rng.between(0.0, 2.5 * served).max(served - backlog);
            backlog += arriving - served;
            price = f64::max(0.0, price + 0.001 * (0.1 * (backlog - 0.003 * capacity) + arriving - served));
            host.sample(backlog / capacity, Time::ZERO);
            assert!((host.price - price).abs() < 1e-9 * price.max(1.0), "{tick}: {} {price}", host.price);
        }
        assert!(price > 1.0, "{price}");
    }

    #[test]
    fn prices_of_links_add_up_to_the_probability_of_passing_none() {
        let at = |price| Rem { price, ..Rem::new(Params::default()) }.probability();
        let (first, second) = (at(300.0), at(500.0));
        assert!((at(800.0) - (1.0 - (1.0 - first) * (1.0 - second))).abs() < 1e-12);
        assert_eq!(at(0.0), 0.0);
    }
}

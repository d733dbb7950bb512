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
//! PERT's response to `p`, and every parameter without an equation here, are as in `pert`.
//!
//! This is unpublished; the derivation is ours. A router's price gains g (alpha (b - b*) + x - c) an interval, with `b`
//! packets waiting, `x` arriving and `c` served in it. While the link is busy x - c is the growth of the queue, b - b',
//! and b = C q: so the price gains g C (alpha (q - target) + q - q'), and gamma = g C. ns-2's g = 0.001 at the
//! capacity of the PERT paper's link, C = 18750 packets/s, gives gamma = 18.75; alpha = 0.1, phi = 1.001 and 2 ms are
//! ns-2's. The target is that of `pert-pi`, so that the laws can be compared; ns-2's 20 packets are 1.07 ms there.
//!
//! Departure: with an idle link the router sees that x < c; the delay is 0 then, and only alpha (0 - target) lowers the
//! price. The clock, and slow start, are as in `pert-pi`.
//!
//! Expected behaviour: with ns-2's constants the price is almost an integral, because the law has its zero at alpha /
//! interval, 50 rad/s, and `pert-pi` at 0.56. So the delay swings about its target, and the link runs dry at times: it
//! is used to 95 % at 150 Mbit/s, 60 ms, 50 flows, with `pert-pi` to 99.7 %. That is the law; a test in `law/rem.rs`
//! holds the derivation against the router's form. Hosts share as in `pert-pi`.

use super::super::pert::Pert;
use super::{Clocked, Response};
use crate::law::{Law, rem as law};
use crate::units::{Span, Time};

crate::settings! {
    /// The law's parameters.
    pub struct Params {
        /// The queueing delay to keep.
        target: Span = Span::from_millis(3), Span::ZERO..=Span::from_secs(10);
        /// The gain of the price, per second of delay.
        gamma: f64 = 18.75, 0.0..=100000.0;
        /// The weight of the delay's distance from its target relative to the delay's change.
        alpha: f64 = 0.1, 0.0..=10.0;
        /// The base of the probability as a function of the price.
        phi: f64 = 1.001, 1.0..=10.0;
        /// The interval between computations of the price.
        interval: Span = Span::from_millis(2), Span::from_millis(1)..=Span::from_secs(10);
    }
}

/// PERT with this response.
pub type PertRem = Pert<Rem>;

/// A price of queueing delay.
pub type Rem = Clocked<law::Rem>;

impl Response for Rem {
    type Params = Params;

    fn new(params: &Params) -> Rem {
        let Params { target, gamma, alpha, phi, interval } = *params;
        let law = law::Params { target: target.as_secs_f64(), gamma, alpha, phi };
        Clocked::every(interval, law::Rem::new(law))
    }

    #[inline]
    fn probability(&mut self, queueing: Span, now: Time) -> Option<f64> {
        self.hear(queueing, now)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::follow;
    use super::*;

    const TICK: Span = Span::from_millis(2);

    #[test]
    fn a_step_of_delay_raises_the_price_by_its_height_and_then_by_its_distance() {
        let got = follow(&mut Rem::new(&Params::default()), TICK, [Span::from_millis(13); 4]);
        // 18.75 · (0.1 · 10 ms + 13 ms), then 18.75 · 0.1 · 10 ms a tick.
        for (tick, price) in [(1, 0.2625), (2, 0.28125), (3, 0.3)] {
            let expected = 1.0 - libm::pow(1.001, -price);
            assert!((got[tick] - expected).abs() < 1e-12, "{tick}: {} {expected}", got[tick]);
        }
    }
}

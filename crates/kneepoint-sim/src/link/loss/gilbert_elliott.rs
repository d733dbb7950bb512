// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Gilbert-Elliott: losses come in bursts; a good and a bad state, which may change before each packet.
//!
//! Gilbert, "Capacity of a Burst-Noise Channel", Bell System Technical Journal 1960; Elliott, "Estimates of Error
//! Rates for Codes on Burst-Noise Channels", Bell System Technical Journal 1963.
//!
//! The states last 1 / to_bad and 1 / to_good packets in the mean, so the share of packets sent in the bad one
//! is to_bad / (to_bad + to_good). The channel begins in the good state.

use super::Loss;
use crate::rng::Rng;
use crate::units::{Bytes, Time};

crate::settings! {
    /// A channel with two states and a probability of loss in each.
    pub struct Params {
        /// Probability of going from good to bad.
        to_bad: f64 = 0.001, 0.0..=1.0;
        /// Probability of going from bad to good.
        to_good: f64 = 0.1, 0.0..=1.0;
        /// Probability of loss in the good state.
        loss_good: f64 = 0.0, 0.0..=1.0;
        /// Probability of loss in the bad state.
        loss_bad: f64 = 0.5, 0.0..=1.0;
    }
}

/// A channel and its state.
#[derive(Clone, Debug)]
pub struct GilbertElliott {
    params: Params,
    bad: bool,
}

impl Loss for GilbertElliott {
    type Params = Params;

    fn new(params: Params) -> GilbertElliott {
        GilbertElliott { params, bad: false }
    }
    fn loses(&mut self, _: Time, _: Bytes, rng: &mut Rng) -> bool {
        let Params { to_bad, to_good, loss_good, loss_bad } = self.params;
        let leaves = rng.chance(if self.bad { to_good } else { to_bad });
        self.bad ^= leaves;
        rng.chance(if self.bad { loss_bad } else { loss_good })
    }
}

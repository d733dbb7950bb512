// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Uniform: each packet is lost with probability `p`.

use super::Loss;
use crate::rng::Rng;
use crate::units::{Bytes, Time};

crate::settings! {
    /// A channel that loses each packet with the same probability.
    pub struct Params {
        /// Probability that a packet is lost.
        p: f64 = 0.001, 0.0..=1.0;
    }
}

/// A channel that loses packets independently of one another.
#[derive(Clone, Debug)]
pub struct Uniform(Params);

impl Loss for Uniform {
    type Params = Params;

    fn new(params: Params) -> Uniform {
        Uniform(params)
    }
    fn loses(&mut self, _: Time, _: Bytes, rng: &mut Rng) -> bool {
        rng.chance(self.0.p)
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bit errors: each bit is wrong with probability `p`; one wrong bit loses the packet.
//!
//! Bits fail independently, so a packet is lost with probability 1 − (1 − p)^bits.

use super::Loss;
use crate::rng::Rng;
use crate::units::{Bytes, Time};

crate::settings! {
    /// A channel in which a single bit error loses the packet.
    pub struct Params {
        /// Probability that a bit is wrong.
        p: f64 = 1e-7, 0.0..=1.0;
    }
}

/// A channel with independent bit errors.
#[derive(Clone, Debug)]
pub struct BitError(Params);

impl Loss for BitError {
    type Params = Params;

    fn new(params: Params) -> BitError {
        BitError(params)
    }
    fn loses(&mut self, _: Time, size: Bytes, rng: &mut Rng) -> bool {
        rng.chance(-libm::expm1(8.0 * size.0 as f64 * libm::log1p(-self.0.p)))
    }
}

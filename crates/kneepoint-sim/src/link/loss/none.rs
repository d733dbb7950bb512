// SPDX-License-Identifier: Apache-2.0 OR MIT
//! None: every packet arrives.

use super::Loss;
use crate::rng::Rng;
use crate::units::{Bytes, Time};

crate::settings! {
    /// A channel without losses has no parameters.
    pub struct Params {}
}

/// A channel without losses.
#[derive(Clone, Debug)]
pub struct Lossless;

impl Loss for Lossless {
    type Params = Params;

    fn new(_: Params) -> Lossless {
        Lossless
    }
    fn lossless(&self) -> bool {
        true
    }
    fn loses(&mut self, _: Time, _: Bytes, _: &mut Rng) -> bool {
        false
    }
}

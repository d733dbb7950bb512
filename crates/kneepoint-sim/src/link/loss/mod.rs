// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Loss models: whether a packet is lost after its transmission, and their registry.
//!
//! To add one: write `link/loss/NAME.rs` like `link/loss/uniform.rs` and add its line to the registry below.

use std::fmt::Debug;

use crate::rng::Rng;
use crate::settings::Settings;
use crate::units::{Bytes, Time};

/// A loss model with its state: the channel that packets cross after their transmission.
pub trait Loss: Clone + Debug {
    /// Its parameters.
    type Params: Settings;

    /// A channel before its first packet.
    fn new(params: Self::Params) -> Self;
    /// Whether it never loses a packet or draws a number, so that a line may leave it out.
    fn lossless(&self) -> bool {
        false
    }
    /// Whether the next packet, whose transmission ends at `now`, is lost. Packets are passed in time order.
    fn loses(&mut self, now: Time, size: Bytes, rng: &mut Rng) -> bool;
}

crate::registry! {
    trait Loss;
    each each;
    algorithms {
        none::Lossless,
        uniform::Uniform,
        bit_error::BitError as "bit-error",
        gilbert_elliott::GilbertElliott as "gilbert-elliott",
        at::At,
    }
}

/// The methods of [`Loss`], forwarded to the model.
#[allow(missing_docs)]
impl Any {
    pub fn lossless(&self) -> bool {
        each!(self, one => one.lossless())
    }
    #[inline]
    pub fn loses(&mut self, now: Time, size: Bytes, rng: &mut Rng) -> bool {
        each!(self, one => one.loses(now, size, rng))
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Laws of early response: a signal of congestion in, the probability of a drop, a mark or a response out.
//!
//! The signal is an average queue, a queue or a queueing delay; thresholds and gains are in the signal's unit. A law is
//! independent of packets and clocks: a queue samples it at arrivals or ticks, PERT at acknowledgements
//! ([`response`](crate::cc::response)), and the fluid models evaluate the same equations. The same laws are the
//! reference for fixed-point implementations.
//!
//! To add one: write `law/NAME.rs` like `law/pi.rs` and add its line to the registry below.

pub mod sparing;
pub mod spread;

use crate::settings::Settings;
use crate::units::Time;

/// A law: samples of a signal in, a probability out.
///
/// From one state, a greater signal never makes a smaller probability.
pub trait Law: Clone + PartialEq + core::fmt::Debug {
    /// Its parameters.
    type Params: Settings + PartialEq;

    /// A law without a sample.
    fn new(params: Self::Params) -> Self;
    /// Takes in the signal at `now`. A law with a sampling interval relies on its host to keep it.
    fn sample(&mut self, signal: f64, now: Time);
    /// The probability, in [0, 1]; zero before the first sample.
    fn probability(&self) -> f64;
}

/// An adjustment of a probability, such as one that spaces drops evenly; it wraps any law in [`Adjusted`].
pub trait Adjustment: Clone + PartialEq + core::fmt::Debug {
    /// The probability to apply where the law yields `probability`; both in [0, 1].
    fn adjust(&self, probability: f64) -> f64;
}

/// A law with an adjustment.
#[derive(Clone, Debug, PartialEq)]
pub struct Adjusted<L, A> {
    /// The law.
    pub law: L,
    /// The adjustment of its probability.
    pub adjustment: A,
}

impl<L: Law, A: Adjustment> Adjusted<L, A> {
    /// Takes in the signal at `now`.
    #[inline]
    pub fn sample(&mut self, signal: f64, now: Time) {
        self.law.sample(signal, now);
    }

    /// The adjusted probability.
    #[inline]
    pub fn probability(&self) -> f64 {
        self.adjustment.adjust(self.law.probability())
    }
}

crate::registry! {
    trait Law;
    each each;
    algorithms {
        red::Red,
        pi::Pi,
        rem::Rem,
        pie::Pie,
        codel::CoDel,
    }
}

/// The methods of [`Law`], forwarded to the law.
#[allow(missing_docs)]
impl Any {
    pub fn sample(&mut self, signal: f64, now: Time) {
        each!(self, one => one.sample(signal, now))
    }
    pub fn probability(&self) -> f64 {
        each!(self, one => one.probability())
    }
}

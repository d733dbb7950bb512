// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rules of adaptive PERT that matter for windows of a few packets: each variant has its own defaults.

use crate::cc::delay::Signal;
use crate::cc::early::Cut;
use crate::settings::Settings;

/// The rules.
#[derive(Clone, Copy, Debug)]
pub struct Small {
    /// The window after an early response.
    pub cut: Cut,
    /// The average's time constant in round-trip times; zero for a weight per acknowledgement.
    pub memory_rtts: f64,
    /// A round trip has one sample, its smallest.
    pub rounds: bool,
    /// The delay whose queueing part is estimated.
    pub signal: Signal,
    /// The increase of the growth by a step in compete mode.
    pub compete_step: f64,
}

/// Adaptive PERT with its own rules.
pub trait Variant: Clone + core::fmt::Debug + PartialEq {
    /// The rules as parameters.
    type Params: Settings + PartialEq;

    /// The rules.
    fn small(params: &Self::Params) -> Small;
}

/// Declares the rules as parameters with these defaults, in a module of this name.
macro_rules! rules {
    ($module:ident: $window:literal, $threshold:literal, $grows:literal, $rtts:literal, $rounds:literal, $signal:ident, $step:literal) => {
        mod $module {
            use crate::cc::delay::Signal;
            use crate::cc::early::Cut;
            use crate::cc::pert_adaptive::small::Small;

            crate::settings! {
                /// The rules below two packets.
                pub struct Params {
                    /// The least window after an early response, in packets.
                    min_window: f64 = $window, 1.0..=100.0;
                    /// The least slow-start threshold after an early response, in packets; at 1 the threshold is the window.
                    min_threshold: f64 = $threshold, 1.0..=100.0;
                    /// The acknowledgement that triggers a response also grows the reduced window.
                    grow_on_response: bool = $grows;
                    /// Beyond the thesis: the average's time constant in round-trip times; 0 takes the weight `history` instead.
                    memory_rtts: f64 = $rtts, 0.0..=1000.0;
                    /// Beyond the thesis: a round trip has one sample, its smallest.
                    rounds: bool = $rounds;
                    /// The delay whose queueing part is estimated.
                    signal: Signal = Signal::$signal;
                    /// The increase of the growth by a step in compete mode.
                    compete_step: f64 = $step, 0.0..=1000.0;
                }
            }

            impl Params {
                pub(super) fn small(&self) -> Small {
                    let Params { min_window, min_threshold, grow_on_response: grows, .. } = *self;
                    let Params { memory_rtts, rounds, signal, compete_step, .. } = *self;
                    Small {
                        cut: Cut { min_window, min_threshold, grows },
                        memory_rtts,
                        rounds,
                        signal,
                        compete_step,
                    }
                }
            }
        }
    };
}
pub(in crate::cc) use rules;

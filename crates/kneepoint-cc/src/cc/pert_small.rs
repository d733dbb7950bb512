// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Adaptive PERT for small windows and receivers that delay acknowledgements: a remedy, and beyond the thesis.
//!
//! ```text
//! a round trip's sample is its smallest                s <- s + (1 - exp(-1 / m)) (r - s)      once per round trip
//! early response     W <- max((1 - β) W, least),  S <- max(W, least threshold),  and the acknowledgement may grow W still
//! ```
//!
//! `W` window, `S` slow-start threshold: packets; `s` smoothed delay, `r` sample: time; `m` round trips. All else is as in
//! `pert-adaptive`.
//!
//! A window of two packets with delayed acknowledgements has one acknowledgement a round trip. As the thesis has it, that one responds early
//! and does not grow the window; the hundred samples that the average remembers are a hundred round trips; a packet that
//! waits for the receiver's timer counts as a queue, the greatest one among them. The window stays at two.
//!
//! * The smallest sample of a round trip is that of RFC 9406 §4.2, whose rounds end when a packet is acknowledged that was sent after
//!   they began: if two packets arrive in it, the acknowledgement of the second waited for nothing.
//! * The memory of the average is so many round trips at any window.
//! * The window stays at two packets or more, so that the receiver does not wait for its timer.
//! * The acknowledgement that responds grows the window, too, from what the response leaves.
//!
//! Counting bytes (RFC 3465) is the host's: `growth_per_ack`.

use crate::settings::Settings;

use super::early::Cut;
use super::pert_adaptive::PertAdaptive;

/// The rules of adaptive PERT that decide where windows are a few packets.
#[derive(Clone, Copy, Debug)]
pub struct Small {
    /// What an early response leaves.
    pub cut: Cut,
    /// The average's time constant in round-trip times; zero for a weight per acknowledgement.
    pub memory_rtts: f64,
    /// A round trip has one sample, its smallest.
    pub rounds: bool,
}

/// Adaptive PERT with these rules.
pub trait Variant: Clone + core::fmt::Debug + PartialEq {
    /// The rules as parameters.
    type Params: Settings + PartialEq;

    /// The rules.
    fn small(params: &Self::Params) -> Small;
}

/// Declares a variant and the defaults of its rules.
macro_rules! variant {
    ($(#[doc = $doc:literal])* $name:ident, $module:ident: $window:literal, $threshold:literal, $grows:literal, $rtts:literal, $rounds:literal) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name;

        mod $module {
            crate::settings! {
                /// The rules below two packets.
                pub struct Params {
                    /// The least window after an early response, in packets.
                    min_window: f64 = $window, 1.0..=100.0;
                    /// The least slow-start threshold after an early response, in packets; at 1 the threshold is the window.
                    min_threshold: f64 = $threshold, 1.0..=100.0;
                    /// The acknowledgement that responds also grows the window, from what the response leaves.
                    grow_on_response: bool = $grows;
                    /// Beyond the thesis: the average's time constant in round-trip times; 0 takes the weight `history` instead.
                    memory_rtts: f64 = $rtts, 0.0..=1000.0;
                    /// Beyond the thesis: a round trip has one sample, its smallest.
                    rounds: bool = $rounds;
                }
            }
        }

        impl Variant for $name {
            type Params = $module::Params;

            fn small(params: &Self::Params) -> Small {
                let $module::Params { min_window, min_threshold, grow_on_response: grows, memory_rtts, rounds } = *params;
                Small { cut: Cut { min_window, min_threshold, grows }, memory_rtts, rounds }
            }
        }
    };
}

variant! {
    /// The thesis's.
    Thesis, thesis: 1.0, 2.0, false, 0.0, false
}

variant! {
    /// The remedy's.
    Remedy, remedy: 2.0, 2.0, true, 10.0, true
}

/// Adaptive PERT with the remedy.
pub type PertSmall = PertAdaptive<Remedy>;

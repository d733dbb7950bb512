// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The channels of `[loss]`, declared: a name, a sentence and fields for each.

use super::choose::Family;
use super::forms::List;
use crate::link::Loss;
use crate::settings::Assign;
use crate::settings::{Field, Raw, Refusal, Settings};
use crate::units::{Span, Time};

crate::settings! {
    /// A channel that loses nothing.
    pub struct None {}
}
crate::settings! {
    /// A channel that loses each packet with the same probability.
    pub struct Uniform {
        /// Probability that a packet is lost.
        p: f64 = 0.001, 0.0..=1.0;
    }
}
crate::settings! {
    /// A channel in which one wrong bit loses the packet.
    pub struct BitError {
        /// Probability that a bit is wrong.
        p: f64 = 1e-7, 0.0..=1.0;
    }
}
crate::settings! {
    /// A channel that is good or bad, and changes between packets (Gilbert 1960, Elliott 1963).
    pub struct GilbertElliott {
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

crate::settings! {
    /// A channel that loses packets at given times, so that a controller's answer can be looked at.
    pub struct At {
        /// The first packet sent at each of these times or after it is lost; a time given twice loses two.
        times: List<Span> = List::one(Span::from_secs(10)), List::one(Span::ZERO)..=List::one(Span::from_secs(1_000_000));
    }
}

/// A kind of channel.
#[derive(Clone, Copy, Debug)]
pub struct Channel {
    /// Its name in `[loss]`.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// Its fields.
    pub fields: fn() -> &'static [Field],
}

macro_rules! channels {
    ($($type:ident = $name:literal, $about:literal, $loss:expr;)*) => {
        /// A chosen channel with its parameters.
        #[derive(Clone, Debug)]
        pub(super) enum Config { $( $type($type), )* }

        /// Every kind of channel.
        pub const CHANNELS: &[Channel] = &[$(
            Channel { name: $name, about: $about, fields: <$type as Settings>::fields },
        )*];

        impl Config {
            /// The loss that the link is given.
            pub(super) fn loss(&self) -> Loss {
                match self { $( Config::$type(params) => { let loss: fn(&$type) -> Loss = $loss; loss(params) } )* }
            }
        }
        impl Assign for Config {
            fn declared(&self) -> &'static [Field] {
                match self { $( Config::$type(_) => $type::fields(), )* }
            }
            fn assign(&mut self, name: &str, raw: &Raw) -> Result<(), Refusal> {
                match self { $( Config::$type(params) => params.set(name, raw), )* }
            }
            fn agree(&self) -> Result<(), String> {
                match self { $( Config::$type(params) => params.check(), )* }
            }
        }
        impl Family for Config {
            const WHAT: &'static str = "channel";
            fn members() -> Vec<&'static str> {
                vec![$($name),*]
            }
            fn member(name: &str) -> Option<Config> {
                match name {
                    $( $name => Some(Config::$type($type::default())), )*
                    _ => Option::None,
                }
            }
        }
    };
}
channels! {
    None = "none", "Nothing is lost.", |_| Loss::None;
    Uniform = "uniform", "Each packet is lost with probability `p`.", |params| Loss::Uniform(params.p);
    BitError = "bit-error", "Each bit is wrong with probability `p`; one wrong bit loses the packet.",
        |params| Loss::BitError(params.p);
    GilbertElliott = "gilbert-elliott", "Losses come in bursts: a good and a bad state, per packet.",
        |params| Loss::GilbertElliott {
            to_bad: params.to_bad,
            to_good: params.to_good,
            loss_good: params.loss_good,
            loss_bad: params.loss_bad,
        };
    At = "at", "One packet is lost at each of the given `times`, and no other.",
        |params| {
            let mut instants: Vec<Time> = params.times.values().iter().map(|time| Time(time.0)).collect();
            instants.sort_unstable();
            Loss::At(instants)
        };
}

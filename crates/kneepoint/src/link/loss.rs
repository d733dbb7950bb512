// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Channels that lose packets.

use crate::rng::Rng;
use crate::units::{Bytes, Time};

/// How a channel loses packets after transmission.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Loss {
    /// Never.
    #[default]
    None,
    /// Each packet with this probability.
    Uniform(f64),
    /// Each bit is wrong with this probability; one wrong bit loses the packet: 1 − (1 − p)^bits.
    BitError(f64),
    /// Two states with a probability of loss each, and the probabilities of leaving them, per packet
    /// (Gilbert 1960, Elliott 1963).
    GilbertElliott {
        /// Probability of going from good to bad.
        to_bad: f64,
        /// Probability of going from bad to good.
        to_good: f64,
        /// Loss in the good state.
        loss_good: f64,
        /// Loss in the bad state.
        loss_bad: f64,
    },
    /// No chance: the first packet sent at each of these instants or after it. They are in order, and an instant
    /// given twice loses two packets.
    At(Vec<Time>),
}

/// A channel and the state it is in.
#[derive(Clone, Debug)]
pub struct Channel {
    loss: Loss,
    bad: bool,
    /// How many of the given instants have had their packet.
    met: usize,
}

impl Channel {
    /// A channel in its good state.
    pub fn new(loss: Loss) -> Channel {
        Channel { loss, bad: false, met: 0 }
    }

    /// Whether the next packet is lost, whose transmission ends at `now`.
    #[inline]
    pub fn loses(&mut self, now: Time, size: Bytes, rng: &mut Rng) -> bool {
        match &self.loss {
            Loss::None => false,
            Loss::Uniform(p) => rng.chance(*p),
            Loss::BitError(p) => rng.chance(-libm::expm1(8.0 * size.0 as f64 * libm::log1p(-*p))),
            Loss::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
                let leaves = rng.chance(if self.bad { *to_good } else { *to_bad });
                self.bad ^= leaves;
                rng.chance(if self.bad { *loss_bad } else { *loss_good })
            }
            Loss::At(instants) => {
                let due = instants.get(self.met).is_some_and(|instant| *instant <= now);
                self.met += usize::from(due);
                due
            }
        }
    }
}

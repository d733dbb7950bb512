// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Corruption: a bit of some packets is wrong, so that their receiver, whose checksum shows it, ignores them (Linux NetEm's `corrupt`).
//!
//! A corrupted packet takes up queues and capacity of all links on its way, unlike one that the channel loses.

crate::settings! {
    /// A link that delivers packets with a wrong bit.
    pub struct Corruption {
        /// Probability that a bit of a packet is wrong.
        p: f64 = 0.0, 0.0..=1.0;
    }
}

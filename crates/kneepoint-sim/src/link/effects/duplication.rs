// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Duplication: some packets arrive twice, one copy behind the other (RFC 5560; Linux NetEm's `duplicate`).

crate::settings! {
    /// A link that delivers packets twice.
    pub struct Duplication {
        /// Probability that a packet arrives twice.
        p: f64 = 0.0, 0.0..=1.0;
    }
}

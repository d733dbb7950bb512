// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A sender whose clock is noisy.

use super::Sender;
use crate::rng::Rng;

impl Sender {
    /// The same, with the noise of its options in measured round trips. It is drawn from a separate stream,
    /// so that no other draw depends on it.
    pub fn noisy(mut self, stream: impl FnOnce() -> Rng) -> Sender {
        self.rtt = self.rtt.noisy(&self.options, stream);
        self
    }
}

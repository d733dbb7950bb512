// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Links: a queue before a transmitter before a delay before a channel that may lose.

mod loss;

pub use loss::{Channel, Loss};

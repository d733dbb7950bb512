// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Links: a queue before a transmitter before a line that delays, jitters and loses.

mod line;
mod loss;
mod tail;
mod transmitter;

pub use line::Line;
pub use loss::{Channel, Loss};
pub use tail::Tail;
pub use transmitter::Transmitter;

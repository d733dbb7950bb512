// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Links: a queue before a transmitter before a line that delays, jitters and loses; and networks of them, at work.

mod line;
mod loss;
mod network;
mod routes;
mod spec;
mod tail;
mod transmitter;

pub use line::Line;
pub use loss::{Channel, Loss};
pub use network::{Links, Reached};
pub use routes::Routes;
pub use spec::{LinkSpec, Network, NodeId};
pub use tail::Tail;
pub use transmitter::Transmitter;

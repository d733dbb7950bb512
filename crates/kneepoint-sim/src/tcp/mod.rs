// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A TCP host without I/O: a sender that carries a controller, and a receiver.
//!
//! Nothing here waits or performs I/O. The caller passes arrivals and the time, polls for packets to send until
//! there are none, and calls again at the next wake-up. Data is counted in segments: packets of the size that the
//! options give, the last one shorter where the transfer ends inside it.

pub mod accecn;
mod hint;
mod increase;
mod info;
mod options;
mod patience;
mod prr;
mod rack;
mod receiver;
mod room;
mod rtt;
mod scoreboard;
pub mod script;
mod segments;
mod sender;

pub use hint::Encoding;
pub use info::{CongestionState, Info};
pub use options::{Echo, EcnFeedback, Host, Options, ReceiverEcn, Recovery, Reduced};
pub use prr::Reduction;
pub use rack::Woken;
pub use receiver::{Receiver, Reply};
pub use rtt::Estimator;
pub use sender::imposed::Standing;
pub use sender::{Heard, Pacing, Segment, Sender};

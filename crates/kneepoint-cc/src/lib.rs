// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Kneepoint's congestion controls and their foundations.
//!
//! | room | purpose |
//! |---|---|
//! | [`units`] | instants, spans, bytes, rates: the only unit system |
//! | [`rng`] | one seed, many named streams |
//! | [`settings`] | declared parameters and registries |
//! | [`law`] | probabilities from queues, delays and prices, one file each |
//! | [`cc`] | congestion controls, one file each |
//!
//! A controller takes signals and answers with a window and a pace; time and random numbers are arguments. It depends
//! on neither simulator nor kernel, so a QUIC stack can carry it. The crate is `no_std` and needs an allocator. A room
//! imports only from rooms above it.
//!
//! A host builds a controller by name, reports events to it, and sends as much as it allows:
//!
//! ```
//! use kneepoint_cc::cc::{Ack, Config, Loss, Start};
//! use kneepoint_cc::{rng::Rng, units::{Span, Time}};
//!
//! let cubic = Config::named("cubic").expect("a registered controller");
//! let mut controller = cubic.build(Start::new(10.0));
//! let mut rng = Rng::stream(1, "cc", 0);
//! let rtt = Span::from_millis(60);
//!
//! // The first ACK of ten packets that were sent at time 0.
//! let ack = Ack {
//!     now: Time::ZERO + rtt, rtt: Some(rtt), one_way: None,
//!     acked: 1, delivered: 1, resent: 0, marked: 0, credit: 1.0, limited: false,
//!     una: 1, next: 10, in_flight: 9, recovering: false,
//! };
//! controller.on_ack(&ack, &mut rng);
//! let allowed = controller.control();
//! assert_eq!((allowed.window, allowed.pacing), (11.0, None)); // Slow start: send two packets.
//!
//! // One of ten packets in flight was lost: CUBIC takes three tenths off.
//! controller.on_loss(&Loss { now: ack.now, flight: 10.0, una: 1, next: 11 });
//! assert_eq!(controller.control().window, 7.0);
//! ```
//!
//! A controller of another crate needs no registry: see [`cc::external`].

#![no_std]

#[macro_use]
extern crate alloc;
#[cfg(test)]
extern crate std;

#[macro_use]
pub mod settings;
pub mod cc;
pub mod law;
pub mod rng;
pub mod units;

/// Names that the macros use in the crates that call them.
#[doc(hidden)]
pub mod __private {
    pub use alloc::boxed::Box;
    pub use alloc::format;
    pub use alloc::string::{String, ToString};
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Kneepoint's congestion controls in QUIC stacks.
//!
//! | room | purpose |
//! |---|---|
//! | [`host`] | from a stack's bytes and instants to the signals of a controller, and back; independent of stacks |
//! | [`carried`] | which controllers a stack can carry, and why it cannot carry the others |
//! | `quinn`, `noq`, `s2n` | the skins, each a feature of the crate |
//! | `tape` | signals to controllers in quinn and noq, for replay |
//! | `record` | the qlog files of their connections |
//! | `virtual_time` | endpoints of quinn and noq as the hosts of a scenario, another feature |
//! | `wire` | a server and a client on the network, another |
//!
//! [`host`] and [`carried`] are `no_std` and need an allocator.

#![cfg_attr(not(any(feature = "quinn", feature = "noq", feature = "s2n")), no_std)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod carried;
#[cfg(any(feature = "quinn", feature = "noq"))]
mod clock;
pub mod host;
#[cfg(feature = "noq")]
pub mod noq;
#[cfg(feature = "quinn")]
pub mod quinn;
#[cfg(feature = "qlog")]
pub mod record;
#[cfg(feature = "s2n")]
pub mod s2n;
#[cfg(any(feature = "quinn", feature = "noq"))]
pub mod tape;
#[cfg(feature = "virtual-time")]
pub mod virtual_time;
#[cfg(feature = "wire")]
pub mod wire;

pub use carried::{Stack, carries};
pub use host::Host;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The kernel's controllers in this process: the C of `bpf/cc`, compiled natively and fed by hand.
//!
//! ```text
//! trace ─┬─ the laboratory's controller ─ windows ─┬─ replay: where they part
//!        └─ the kernel's, in C ────────── windows ─┘
//! ```
//!
//! | file | what it does |
//! |---|---|
//! | [`foreign`] | the table of functions on the side of C |
//! | [`twin`] | a controller in C behind safe calls |
//! | [`trace`] | the signals to a controller, step by step, as CSV |
//! | [`recording`] | the trace of a flow of a simulation |
//! | [`replay`] | one trace to several controllers |

mod foreign;
pub mod recording;
pub mod replay;
pub mod trace;
mod twin;

pub use foreign::{product, quotient};
pub use twin::{Twin, names, rounded};

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
//! | [`replay`] | one trace to several controllers |

mod foreign;
pub mod replay;
mod twin;

pub use kneepoint::replay::{recording, trace};

pub use foreign::{product, quotient};
pub use twin::{Twin, names, rounded};

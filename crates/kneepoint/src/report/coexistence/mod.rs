// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Coexistence: what controllers do to each other where their flows share a queue, in every format.

mod data;
mod figure;
mod text;

pub use data::{json, records};
pub use figure::{losses, overview, shares};
pub use text::render;

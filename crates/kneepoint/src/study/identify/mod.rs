// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Identify: which controller made a capture.
//!
//! Nothing is learned from examples. Each suspect is led through the capture ([`follow`]), and what it would have had in flight is compared
//! with what was. It may be off by a hundredth of what it can be; a suspect that draws, by what it is from itself on the path that the capture
//! shows, simulated.
//!
//! ```text
//! Course ─Path::of→ path;  suspects ─follow→ moments ─error→ classes;  best ─witness→ its own error → Verdict
//! ```

mod follow;
mod path;
mod score;
mod suspects;
mod verdict;
mod witness;

pub use follow::{Moment, Passed, RENEWAL, Renewal, follow};
pub use path::Path;
pub use score::{error, weights};
pub use suspects::{Make, Suspect, suspects};
pub use verdict::{Class, Decisive, Verdict, identify};
pub use witness::witness;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Identify: which controller made a capture.
//!
//! Nothing is learned from examples. Each suspect is led through the capture ([`follow`]), and its expected packets in flight are compared
//! with the observed ones. A suspect is named if its error is at most a hundredth of the greatest possible one; one that draws random numbers
//! may have the greatest error that it has against itself in several simulations of the captured path. One that is far closer than any other controller
//! is named with a greater error.
//!
//! ```text
//! Course ─Path::of→ path;  suspects ─follow→ moments ─error→ classes;  best ─witness→ its own error → Verdict
//! ```

mod branches;
mod class;
mod crew;
mod follow;
mod logged;
mod path;
mod score;
mod suspects;
mod usual;
mod verdict;
mod witness;

pub use class::Class;
pub use crew::{Alone, Crew};
pub use follow::{Moment, Passed, RENEWAL, Renewal, follow};
pub use path::Path;
pub use score::{error, weights};
pub use suspects::{Make, Suspect, suspects, suspects_in_quic};
pub use usual::{MAINLINE, OF_STACKS};
pub use verdict::{CLOSE, Decisive, EXCLUDES, LEAD, Verdict, identify};
pub use witness::witness;

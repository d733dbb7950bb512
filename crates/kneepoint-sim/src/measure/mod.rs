// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measurement: observers that turn events into rows, and the registry of metrics.
//!
//! ```text
//! Event ─Meter→ counters of link · group · class · flow ─tables of metrics→ Row { labels, values }
//! ```
//!
//! Everything in a row happened inside the schedule's measurement window, which is half-open: an event at its first instant
//! counts, one at its end does not. Events may come from a simulation or from a machine.

mod class;
pub mod cost;
mod crossing;
mod flow;
mod group;
mod lateness;
mod link;
mod meter;
mod mixture;
mod object;
mod occupancy;
mod parts;
mod playback;
mod position;
mod registry;
mod reordering;
mod run;
mod seconds;
mod series;
mod slowdown;
mod tally;

pub use group::ends_at_proxy;
pub use meter::Meter;
pub use object::Objects;
pub use parts::{PARTS, Parts};
pub use playback::Played;
pub use registry::{Subject, courses, headlines};
pub use series::{COLUMNS, Column, Followed, Series, spread};

/// Nanoseconds per packet that a group's senders took, of runs on a machine alone.
pub const SENDING: &str = "sending_ns_per_packet";
/// Nanoseconds per packet that the senders' host took to receive acknowledgements, of runs on a machine alone.
pub const RECEIVING: &str = "receiving_ns_per_packet";

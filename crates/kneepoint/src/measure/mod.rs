// SPDX-License-Identifier: Apache-2.0 OR MIT
//! From events to numbers: observers, what they sum up to, and statistics over seeds.
//!
//! Everything in a [`Summary`] happened inside the schedule's measurement window, which is half-open: an event
//! at its first instant counts, one at its end does not. It does not matter here whether events come from a
//! simulation or from a machine.

mod distribution;
mod headline;
mod meter;
mod mixture;
mod occupancy;
mod prediction;
mod series;
mod summary;
mod theory;

pub use distribution::Distribution;
pub use headline::{Estimates, METRICS, Metric};
pub use meter::Meter;
pub use mixture::Position;
pub use prediction::Prediction;
pub use series::Series;
pub use summary::{CbrSummary, Drops, GroupSummary, LinkSummary, ShareSummary, Summary, WebSummary};
pub use theory::{Misfit, Theory};

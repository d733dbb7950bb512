// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Run: the metrics of a whole run.
//!
//! The headline metrics of the bottleneck, the first measured link, are those of the run. Fairness and goodput are over the
//! flows of the groups whose data crossed it; groups that only send against it do not count.

use super::metric::{Entry, MBIT, PLAIN, SECONDS, number};
use crate::table::jain_index;
use crate::units::Span;

/// The inputs of a run's row besides its bottleneck.
pub(super) struct Run {
    /// The length of the measurement window.
    pub(super) window: Span,
    /// The goodputs of the flows whose groups cross the bottleneck.
    pub(super) goodputs: Vec<f64>,
}

/// The metrics of a run that are not those of its bottleneck.
pub(super) const METRICS: &[Entry<Run>] = &[
    number("jain_index", "Jain fairness index", "Jain", PLAIN, |run: &Run| jain_index(&run.goodputs))
        .headline(),
    number("goodput_bps", "Goodput per flow", "goodput", MBIT, |run: &Run| {
        run.goodputs.iter().sum::<f64>() / run.goodputs.len() as f64
    })
    .headline(),
    number("window_s", "Length of the measurement window", "window", SECONDS, |run: &Run| {
        run.window.as_secs_f64()
    })
    .detail(),
];

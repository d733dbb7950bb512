// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Run: the metrics of a whole run.
//!
//! The headline metrics of the bottleneck, the first measured link, are also the run's. Fairness and goodput are over the
//! flows of the groups whose data crossed it; groups that only send against it do not count. Fairness compares flows of one
//! path: where these groups do not cross the same measured links, it is NaN, and each group's remains. Retransmissions and
//! timeouts are of all senders, counted as for a group.

use super::group::Senders;
use crate::metric::{Entry, INDEX, MBIT, PERCENT, PLAIN, SECONDS, number};
use crate::table::jain_index;
use crate::units::Span;

/// The inputs of a run's row other than its bottleneck.
pub(super) struct Run {
    /// The length of the measurement window.
    pub(super) window: Span,
    /// The goodputs of the flows whose groups cross the bottleneck.
    pub(super) goodputs: Vec<f64>,
    /// Whether these groups cross the same measured links.
    pub(super) one_path: bool,
    /// Of all groups.
    pub(super) senders: Senders,
}

/// The metrics of a run other than its bottleneck's.
pub(super) const METRICS: &[Entry<Run>] = &[
    number("jain_index", "Jain fairness index", "Jain", INDEX, |run: &Run| match run.one_path {
        true => jain_index(&run.goodputs),
        false => f64::NAN,
    })
    .more()
    .headline(),
    number("flow_goodput_bps", "Goodput per flow", "goodput", MBIT, |run: &Run| {
        run.goodputs.iter().sum::<f64>() / run.goodputs.len() as f64
    })
    .more()
    .headline(),
    number("retransmissions", "Retransmitted segments", "retransmitted", PLAIN, |run: &Run| {
        run.senders.again as f64
    })
    .detail(),
    number(
        "retransmission_rate",
        "Retransmitted segments, of all sent",
        "retransmitted",
        PERCENT,
        |run: &Run| run.senders.retransmission_rate(),
    )
    .detail(),
    number("timeouts", "Timeouts", "timeouts", PLAIN, |run: &Run| run.senders.timeouts as f64).detail(),
    number("window_s", "Length of the measurement window", "window", SECONDS, |run: &Run| {
        run.window.as_secs_f64()
    })
    .detail(),
];

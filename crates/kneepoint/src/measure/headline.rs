// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Headline figures: the one list of metrics that every report shows.
//!
//! The bottleneck is the first measured link. Fairness and goodput are over the flows of the groups whose data
//! crossed it; groups that only sent against it are not counted.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::summary::{LinkSummary, Summary};
use crate::table::{Estimate, jain_index};

/// One headline figure.
pub struct Metric {
    /// Its name in files, with its unit.
    pub key: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// The same at the head of a narrow column.
    pub short: &'static str,
    /// What people read it in; empty for a plain number.
    pub unit: &'static str,
    /// What makes the file's number the one in `unit`.
    pub scale: f64,
    /// The number of one run, as in files; not a number where it is undefined.
    pub of: fn(&Summary) -> f64,
}

fn bottleneck(summary: &Summary, of: impl Fn(&LinkSummary) -> f64) -> f64 {
    summary.bottleneck().map_or(f64::NAN, of)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Every headline figure, in the order of reports.
pub const METRICS: [Metric; 9] = [
    Metric {
        key: "queue_mean_packets",
        title: "Mean queue",
        short: "queue",
        unit: "packets",
        scale: 1.0,
        of: |summary| bottleneck(summary, |link| link.queue_mean_packets),
    },
    Metric {
        key: "queue_mean_normalized",
        title: "Mean queue of buffer",
        short: "of buffer",
        unit: "%",
        scale: 100.0,
        of: |summary| bottleneck(summary, |link| link.queue_mean_normalized),
    },
    Metric {
        key: "queueing_delay_mean_ms",
        title: "Mean queueing delay",
        short: "delay",
        unit: "ms",
        scale: 1.0,
        of: |summary| bottleneck(summary, |link| link.queueing_delay.mean * 1e3),
    },
    Metric {
        key: "queueing_delay_p99_ms",
        title: "99th percentile of queueing delay",
        short: "p99 delay",
        unit: "ms",
        scale: 1.0,
        of: |summary| bottleneck(summary, |link| link.queueing_delay.p99 * 1e3),
    },
    Metric {
        key: "drop_ratio",
        title: "Packets dropped",
        short: "dropped",
        unit: "%",
        scale: 100.0,
        of: |summary| bottleneck(summary, LinkSummary::drop_ratio),
    },
    Metric {
        key: "mark_ratio",
        title: "Packets marked",
        short: "marked",
        unit: "%",
        scale: 100.0,
        of: |summary| bottleneck(summary, LinkSummary::mark_ratio),
    },
    Metric {
        key: "utilization",
        title: "Utilization",
        short: "utilization",
        unit: "%",
        scale: 100.0,
        of: |summary| bottleneck(summary, |link| link.utilization),
    },
    Metric {
        key: "jain_index",
        title: "Jain fairness index",
        short: "Jain",
        unit: "",
        scale: 1.0,
        of: |summary| jain_index(&summary.forward_goodput_bps()),
    },
    Metric {
        key: "goodput_bps",
        title: "Goodput per flow",
        short: "goodput",
        unit: "Mbit/s",
        scale: 1e-6,
        of: |summary| mean(&summary.forward_goodput_bps()),
    },
];

/// The headline figures of a scheme over its runs, in the order of [`METRICS`].
#[derive(Clone, Debug, PartialEq)]
pub struct Estimates(pub [Estimate; METRICS.len()]);

impl Estimates {
    /// The figures over `runs`, one summary per seed.
    pub fn of<'a>(runs: impl Iterator<Item = &'a Summary> + Clone) -> Estimates {
        Estimates(std::array::from_fn(|place| {
            Estimate::of(&runs.clone().map(METRICS[place].of).collect::<Vec<_>>())
        }))
    }

    /// Each metric with its figure.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Metric, Estimate)> {
        METRICS.iter().zip(self.0)
    }
}

/// By the metrics' keys.
impl Serialize for Estimates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(METRICS.len()))?;
        for (metric, estimate) in self.iter() {
            map.serialize_entry(metric.key, &estimate)?;
        }
        map.end()
    }
}

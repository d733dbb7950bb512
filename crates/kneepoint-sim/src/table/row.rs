// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Rows of numbers under labels.
//!
//! Labels are the axes of the sweep (`scheme`, `bandwidth`) and labels of a run's rows (`link`, `group`, `predictor`,
//! `time`). A number is found by all its labels, so the queue of one link is never taken for the
//! queue of the bottleneck.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::keys::Shape;
use crate::units::{Bytes, Rate, Span};

/// Labels by axis.
pub type Labels = BTreeMap<String, String>;

crate::keys! {
    /// Numbers of one run under the same labels.
    #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
    pub struct Row {
        /// The subject of the row: no label for the whole run, else the subject's.
        pub labels: Labels => Shape::Each("<label>", "The label along this axis, as `link` or `group`."),
        /// The metrics of the subject.
        pub values: BTreeMap<String, Option<f64>> => Shape::Each("<metric>", "The value of the metric; left out where it is undefined."),
    }
}

impl Row {
    /// A row without a number yet.
    pub fn new<'a>(labels: impl IntoIterator<Item = (&'a str, String)>) -> Row {
        let labels = labels.into_iter().map(|(axis, label)| (axis.to_string(), label)).collect();
        Row { labels, values: BTreeMap::new() }
    }

    /// Under one label more.
    pub fn under(mut self, axis: &str, label: &str) -> Row {
        self.labels.insert(axis.to_string(), label.to_string());
        self
    }

    /// The number of a metric; NaN where it is undefined or absent.
    pub fn value(&self, metric: &str) -> f64 {
        self.values.get(metric).copied().flatten().unwrap_or(f64::NAN)
    }

    /// The label along an axis; empty if the row has none.
    pub fn label(&self, axis: &str) -> &str {
        self.labels.get(axis).map_or("", String::as_str)
    }

    /// With one more number.
    pub fn with(mut self, metric: impl Into<String>, value: f64) -> Row {
        self.values.insert(metric.into(), Some(value).filter(|value| value.is_finite()));
        self
    }

    /// Makes these metrics undefined: nothing observed them.
    pub fn forget(&mut self, metrics: &[&str]) {
        let of = |(metric, _): &(&String, &mut Option<f64>)| metrics.contains(&metric.as_str());
        self.values.iter_mut().filter(of).for_each(|(_, value)| *value = None);
    }
}

/// The number of a metric in the row with exactly these labels; NaN where it is undefined or absent.
pub fn value(rows: &[Row], metric: &str, labels: &[(&str, &str)]) -> f64 {
    let has = |row: &&Row| {
        row.labels.len() == labels.len() && labels.iter().all(|(axis, label)| row.label(axis) == *label)
    };
    rows.iter().find(has).map_or(f64::NAN, |row| row.value(metric))
}

/// The number that a label denotes, in packets, seconds, bits per second or bytes; none for a name.
pub fn quantity(label: &str) -> Option<f64> {
    let number = label.parse().ok().filter(|number: &f64| number.is_finite());
    number
        .or_else(|| label.parse().ok().map(Span::as_secs_f64))
        .or_else(|| label.parse().ok().map(Rate::as_f64))
        .or_else(|| label.parse().ok().map(|bytes: Bytes| bytes.0 as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_with_units_stand_for_numbers() {
        for (label, number) in [("5", 5.0), ("10mbit", 1e7), ("60ms", 0.06), ("3kB", 3000.0)] {
            assert_eq!(quantity(label), Some(number), "{label}");
        }
        assert_eq!(quantity("sack/droptail"), None);
    }
}

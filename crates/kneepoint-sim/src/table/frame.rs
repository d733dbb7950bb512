// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Rows of numbers under labels, and the rows of an experiment over its seeds.
//!
//! Labels are the axes of the sweep (`scheme`, `bandwidth`) and labels of a run's rows (`link`, `group`, `predictor`,
//! `time`). A number is found by all its labels, so the queue of one link is never taken for the
//! queue of the bottleneck.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Estimate;
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

/// The numbers of one metric under the same labels, by seed.
type Replications = BTreeMap<u64, f64>;

/// The rows of all runs of one variant of an experiment.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    cells: BTreeMap<Labels, BTreeMap<String, Replications>>,
    /// The labels of each axis in order of appearance.
    axes: Vec<(String, Vec<String>)>,
    seeds: Vec<u64>,
}

impl Frame {
    /// Adds the rows of one run; `labels` are its point of the sweep.
    pub fn add(&mut self, labels: &[(String, String)], seed: u64, rows: &[Row]) {
        if !self.seeds.contains(&seed) {
            self.seeds.push(seed);
        }
        for row in rows {
            let swept = labels.iter().map(|(axis, label)| (axis, label));
            let all: Vec<(&String, &String)> = swept.chain(&row.labels).collect();
            for (axis, label) in &all {
                self.meet(axis, label);
            }
            let key = all.into_iter().map(|(axis, label)| (axis.clone(), label.clone())).collect();
            let cell = self.cells.entry(key).or_default();
            for (metric, value) in &row.values {
                let replications = cell.entry(metric.clone()).or_default();
                replications.extend(value.map(|value| (seed, value)));
            }
        }
    }

    fn meet(&mut self, axis: &str, label: &str) {
        let place = self.axes.iter().position(|(name, _)| name == axis).unwrap_or_else(|| {
            self.axes.push((axis.to_string(), Vec::new()));
            self.axes.len() - 1
        });
        let labels = &mut self.axes[place].1;
        if !labels.iter().any(|known| known == label) {
            labels.push(label.to_string());
        }
    }

    /// The number of `metric` under exactly these labels for one seed, or the mean of all seeds that have one.
    pub fn value(&self, metric: &str, labels: &Labels, seed: Option<u64>) -> Option<f64> {
        let replications = self.cells.get(labels)?.get(metric)?;
        match seed {
            Some(seed) => replications.get(&seed).copied(),
            None if replications.is_empty() => None,
            None => Some(replications.values().sum::<f64>() / replications.len() as f64),
        }
    }

    /// The estimate of `metric` under exactly these labels.
    pub fn estimate(&self, metric: &str, labels: &Labels) -> Option<Estimate> {
        let replications = self.cells.get(labels)?.get(metric)?;
        let values: Vec<f64> = replications.values().copied().collect();
        (!values.is_empty()).then(|| Estimate::of(&values))
    }

    /// The labels of an axis in order of appearance; none if there is no such axis.
    pub fn labels(&self, axis: &str) -> &[String] {
        self.axes.iter().find(|(name, _)| name == axis).map_or(&[], |(_, labels)| labels)
    }

    /// Every axis in order of appearance.
    pub fn axes(&self) -> impl Iterator<Item = &str> {
        self.axes.iter().map(|(axis, _)| axis.as_str())
    }

    /// Every metric under every combination of labels.
    pub fn cells(&self) -> impl Iterator<Item = (&Labels, &str)> {
        let metrics = |cell| BTreeMap::keys(cell).map(String::as_str);
        self.cells.iter().flat_map(move |(labels, cell)| metrics(cell).map(move |metric| (labels, metric)))
    }

    /// The seeds that were run.
    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }
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

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        pairs.iter().map(|(axis, label)| (axis.to_string(), label.to_string())).collect()
    }

    fn frame() -> Frame {
        let mut frame = Frame::default();
        for (seed, queue) in [(1, 10.0), (2, 12.0), (3, f64::NAN)] {
            let rows =
                [Row::new([]).with("queue", queue), Row::new([("link", "r1-r2".into())]).with("queue", 1.0)];
            frame.add(&[("scheme".into(), "pert".into())], seed, &rows);
        }
        frame
    }

    #[test]
    fn a_number_is_found_by_all_its_labels_and_by_no_fewer() {
        let frame = frame();
        assert_eq!(frame.value("queue", &labels(&[("scheme", "pert")]), Some(2)), Some(12.0));
        assert_eq!(frame.value("queue", &labels(&[("scheme", "pert"), ("link", "r1-r2")]), None), Some(1.0));
        assert_eq!(frame.value("queue", &labels(&[("link", "r1-r2")]), None), None);
        assert_eq!(frame.labels("link"), ["r1-r2"]);
    }

    #[test]
    fn an_undefined_number_is_left_out_of_the_mean() {
        let frame = frame();
        let pert = labels(&[("scheme", "pert")]);
        assert_eq!(frame.value("queue", &pert, Some(3)), None);
        assert_eq!(frame.value("queue", &pert, None), Some(11.0));
        assert_eq!(frame.estimate("queue", &pert).map(|estimate| estimate.mean), Some(11.0));
        assert_eq!(frame.seeds(), [1, 2, 3]);
    }

    #[test]
    fn labels_with_units_stand_for_numbers() {
        for (label, number) in [("5", 5.0), ("10mbit", 1e7), ("60ms", 0.06), ("3kB", 3000.0)] {
            assert_eq!(quantity(label), Some(number), "{label}");
        }
        assert_eq!(quantity("sack/droptail"), None);
    }
}

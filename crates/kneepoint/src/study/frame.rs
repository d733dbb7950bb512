// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rows of many runs by their labels and seeds.
//!
//! ```text
//! run (point of the sweep, seed) ─rows→ cell (labels of the point and of the row) ─metric→ a number for each seed
//! ```
//!
//! Points may have different seeds, since further ones are run only where a claim needs them. What is computed from several points is
//! computed from their [common](Frame::common) seeds, with which all of them were run: a mean over a part of the points is another quantity.

use std::collections::{BTreeMap, BTreeSet};

use crate::table::{Estimate, Labels, Row};

/// The numbers of one metric under the same labels, by seed.
type Replications = BTreeMap<u64, f64>;

/// The rows of all runs of one variant of an experiment.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    cells: BTreeMap<Labels, BTreeMap<String, Replications>>,
    /// The labels of each axis in order of appearance.
    axes: Vec<(String, Vec<String>)>,
    seeds: Vec<u64>,
    /// The seeds with which each point of the sweep was run.
    runs: BTreeMap<Labels, BTreeSet<u64>>,
}

impl Frame {
    /// Adds the rows of one run; `labels` are its point of the sweep.
    pub fn add(&mut self, labels: &[(String, String)], seed: u64, rows: &[Row]) {
        if !self.seeds.contains(&seed) {
            self.seeds.push(seed);
        }
        self.runs.entry(labels.iter().cloned().collect()).or_default().insert(seed);
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

    /// The mean of `metric` under exactly these labels over these seeds, without those for which it is undefined.
    pub fn value(&self, metric: &str, labels: &Labels, seeds: &[u64]) -> Option<f64> {
        let replications = self.cells.get(labels)?.get(metric)?;
        let values: Vec<f64> = seeds.iter().filter_map(|seed| replications.get(seed)).copied().collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The numbers of `metric` under exactly these labels, of all seeds that have one.
    pub fn replications(&self, metric: &str, labels: &Labels) -> Vec<f64> {
        let cell = self.cells.get(labels).and_then(|cell| cell.get(metric));
        cell.into_iter().flat_map(BTreeMap::values).copied().collect()
    }

    /// The estimate of `metric` under exactly these labels.
    pub fn estimate(&self, metric: &str, labels: &Labels) -> Option<Estimate> {
        let values = self.replications(metric, labels);
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

    /// Every seed with which a point was run.
    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// The points of the sweep that were run.
    pub fn points(&self) -> impl Iterator<Item = &Labels> {
        self.runs.keys()
    }

    /// The seeds with which every point that is read was run; all where none is read, or where they have no seed in common.
    pub fn common(&self, is_read: impl Fn(&Labels) -> bool) -> Vec<u64> {
        let read: Vec<&BTreeSet<u64>> =
            self.runs.iter().filter(|(point, _)| is_read(point)).map(|(_, seeds)| seeds).collect();
        let has_all = |seed: &u64| read.iter().all(|seeds| seeds.contains(seed));
        let common: Vec<u64> = self.seeds.iter().copied().filter(has_all).collect();
        if common.is_empty() { self.seeds.clone() } else { common }
    }
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
        assert_eq!(frame.value("queue", &labels(&[("scheme", "pert")]), &[2]), Some(12.0));
        assert_eq!(
            frame.value("queue", &labels(&[("scheme", "pert"), ("link", "r1-r2")]), &[1, 2]),
            Some(1.0)
        );
        assert_eq!(frame.value("queue", &labels(&[("link", "r1-r2")]), &[1, 2, 3]), None);
        assert_eq!(frame.labels("link"), ["r1-r2"]);
    }

    #[test]
    fn an_undefined_number_is_left_out_of_the_mean() {
        let frame = frame();
        let pert = labels(&[("scheme", "pert")]);
        assert_eq!(frame.value("queue", &pert, &[3]), None);
        assert_eq!(frame.value("queue", &pert, frame.seeds()), Some(11.0));
        assert_eq!(frame.estimate("queue", &pert).map(|estimate| estimate.mean), Some(11.0));
        assert_eq!(frame.seeds(), [1, 2, 3]);
    }

    #[test]
    fn points_have_those_seeds_in_common_with_which_all_of_them_were_run() {
        let mut frame = frame();
        frame.add(&[("scheme".into(), "red".into())], 2, &[]);
        frame.add(&[("scheme".into(), "red".into())], 4, &[]);
        let is = |name: &'static str| move |point: &Labels| point["scheme"] == name;
        assert_eq!(frame.common(is("pert")), [1, 2, 3]);
        assert_eq!(frame.common(is("red")), [2, 4]);
        assert_eq!(frame.common(|_| true), [2]);
        assert_eq!(frame.common(|_| false), [1, 2, 3, 4]);
        frame.add(&[("scheme".into(), "vegas".into())], 5, &[]);
        assert_eq!(frame.common(|_| true), [1, 2, 3, 4, 5]);
        assert_eq!(frame.points().count(), 3);
    }
}

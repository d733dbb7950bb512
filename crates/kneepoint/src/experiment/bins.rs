// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bins: runs pooled by a measured value.
//!
//! ```text
//! [bins]
//! name = "T/µ"                                                the axis that the bins are
//! of = "goodput_bps[group=ftp] / flows[group=ftp] / 300e3"    evaluated in each run alone
//! edges = [1.0, 1.2, 1.4]                                     1.0 ≤ value < 1.2 is the bin `1.0..1.2`
//! pool = ["streams"]                                          axes of the sweep that are folded
//! ```
//!
//! A number of a bin is, for each seed, the mean over the runs of that seed in the bin which agree in all other axes. Runs outside all bins
//! count nowhere. So a publication's "for T/µ in [1.4, 2.0]" is a label of claims and figures.

use std::collections::{BTreeMap, BTreeSet};

use super::expression::{Expression, Scope};
use super::sections::{Names, Words};
use crate::settings::{Raw, Setting};
use crate::study::Frame;
use crate::table::{Labels, Row};

/// Increasing numbers.
#[derive(Clone, Debug, Default, PartialEq, PartialOrd)]
pub struct Edges(pub Vec<f64>);

impl std::fmt::Display for Edges {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl Setting for Edges {
    const KIND: &'static str = "list of increasing numbers";
    const JSON: &'static [&'static str] = &["array"];
    fn read(raw: &Raw) -> Result<Edges, String> {
        let Raw::List(several) = raw else {
            return Err(format!("{raw} is not a list: write [1.0, 1.5, 2.0]"));
        };
        let edges = several.iter().map(f64::read).collect::<Result<Vec<_>, _>>()?;
        if edges.len() < 2 || !edges.is_sorted_by(|a, b| a < b) {
            return Err(format!("{raw} has to be two increasing numbers or more"));
        }
        Ok(Edges(edges))
    }
}

crate::settings! {
    /// The pooling of runs by a measured value.
    pub struct BinParams {
        /// The axis of the bins.
        name: Words = Words::default();
        /// The value that decides on the bin of a run.
        of: Words = Words::default();
        /// The edges of the bins: each except the last is the first value of a bin.
        edges: Edges = Edges::default();
        /// The axes of the sweep over which runs are pooled.
        pool: Names = Names::default();
    }
}

/// The pooling of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Bins {
    /// The axis of the bins.
    pub name: String,
    /// The value that decides on the bin of a run.
    pub of: Expression,
    /// The edges.
    pub edges: Vec<f64>,
    /// The folded axes.
    pub pool: Vec<String>,
}

impl Bins {
    /// The labels of all bins.
    pub fn labels(&self) -> Vec<String> {
        self.edges.windows(2).map(|edges| format!("{:?}..{:?}", edges[0], edges[1])).collect()
    }

    /// The label of a run's bin, if it is in one.
    fn label(&self, point: &[(String, String)], rows: &[Row]) -> Option<String> {
        let mut alone = Frame::default();
        alone.add(point, 0, rows);
        let labels: Labels = point.iter().cloned().collect();
        let value = self.of.value(Scope { frame: &alone, labels: &labels, seeds: &[0] }).ok()?;
        let inside = |edges: &[f64]| (edges[0]..edges[1]).contains(&value);
        let place = self.edges.windows(2).position(inside)?;
        self.labels().into_iter().nth(place)
    }
}

/// The frame of runs, each with the labels of its point, its seed and its rows; pooled by bins if there are any.
pub fn frame<'a>(
    bins: Option<&Bins>,
    runs: impl IntoIterator<Item = (&'a [(String, String)], u64, Vec<Row>)>,
) -> Frame {
    let mut frame = Frame::default();
    let Some(bins) = bins else {
        for (point, seed, rows) in runs {
            frame.add(point, seed, &rows);
        }
        return frame;
    };
    let mut pools: BTreeMap<(Vec<(String, String)>, u64), Pool> = BTreeMap::new();
    let mut seeds = BTreeSet::new();
    for (point, seed, rows) in runs {
        seeds.insert(seed);
        if let Some(label) = bins.label(point, &rows) {
            let kept = point.iter().filter(|(axis, _)| !bins.pool.contains(axis)).cloned();
            let labels = kept.chain([(bins.name.clone(), label)]).collect();
            pools.entry((labels, seed)).or_default().add(rows);
        }
    }
    // In the order of the bins, as in figures.
    let all = bins.labels();
    let mut pools: Vec<_> = pools.into_iter().collect();
    pools.sort_by_key(|((labels, _), _)| {
        all.iter().position(|label| labels.last().is_some_and(|(_, own)| own == label))
    });
    for ((labels, seed), pool) in pools {
        // A bin that no run of a seed is in lacks numbers of that seed, which was run.
        seeds.iter().for_each(|any| frame.add(&labels, *any, &[]));
        frame.add(&labels, seed, &pool.means());
    }
    frame
}

/// Sums of numbers with their counts, by the labels of their rows, in the order of these, and by metric.
#[derive(Default)]
struct Pool(Vec<(Labels, Sums)>);

/// The sum of a metric's numbers, and how many there are.
type Sums = BTreeMap<String, (f64, f64)>;

impl Pool {
    fn add(&mut self, rows: Vec<Row>) {
        for row in rows {
            let known = self.0.iter().position(|(labels, _)| *labels == row.labels);
            let place = known.unwrap_or_else(|| {
                self.0.push((row.labels, BTreeMap::new()));
                self.0.len() - 1
            });
            let sums = &mut self.0[place].1;
            for (metric, value) in row.values {
                let (sum, count) = sums.entry(metric).or_default();
                *sum += value.unwrap_or_default();
                *count += f64::from(u8::from(value.is_some()));
            }
        }
    }

    /// The mean of nothing is undefined.
    fn means(self) -> Vec<Row> {
        let row = |(labels, sums): (Labels, Sums)| {
            let row = Row { labels, values: BTreeMap::new() };
            sums.into_iter().fold(row, |row, (metric, (sum, count))| row.with(metric, sum / count))
        };
        self.0.into_iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_pooled_by_what_they_measured() {
        let of = Expression::parse("goodput_bps[group=ftp] / 300e3").expect("an expression");
        let bins =
            Bins { name: "room".into(), of, edges: vec![1.0, 1.5, 2.0], pool: vec!["streams".to_string()] };
        let runs = [
            (20, 1, 540e3, 0.1),
            (25, 1, 510e3, 0.3),
            (30, 1, 330e3, 0.7),
            (20, 2, 450e3, 0.2),
            (25, 2, 100.0, 9.0),
        ];
        let points: Vec<Vec<(String, String)>> = runs
            .iter()
            .map(|run| vec![("scheme".into(), "pert".into()), ("streams".into(), run.0.to_string())])
            .collect();
        let rows = |goodput: f64, late: f64| {
            vec![
                Row::new([("group", "ftp".into())]).with("goodput_bps", goodput),
                Row::new([]).with("late", late),
            ]
        };
        let each = runs.iter().zip(&points).map(|(run, point)| (point.as_slice(), run.1, rows(run.2, run.3)));
        let frame = frame(Some(&bins), each);
        let labels = |bin: &str| -> Labels {
            [("scheme", "pert"), ("room", bin)].map(|(axis, label)| (axis.into(), label.into())).into()
        };
        assert_eq!(frame.labels("room"), ["1.0..1.5", "1.5..2.0"]);
        assert!(frame.labels("streams").is_empty());
        // 540 and 510 are 1.8 and 1.7; 330 is 1.1; 450 is an edge, the first value of its bin; 0.0003 is in none.
        assert_eq!(frame.value("late", &labels("1.5..2.0"), &[1]), Some(0.2));
        assert_eq!(frame.value("late", &labels("1.5..2.0"), &[2]), Some(0.2));
        assert_eq!(frame.value("late", &labels("1.0..1.5"), &[1]), Some(0.7));
        assert_eq!(frame.value("late", &labels("1.0..1.5"), &[2]), None);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The comparison table: every figure of every place of every point, ours and ns-2's.

use std::collections::BTreeMap;

use super::compare::{Agreement, METRICS, Pair};
use super::figures::{Figures, Location};
use super::record::Point;
use super::runs::Measured;
use crate::explanations::Explanations;

/// One line of a table.
pub struct MetricPairs {
    /// Group of the point.
    pub group: String,
    /// Name of the point, matched by explanations.
    pub name: String,
    /// Label of the varied parameter.
    pub label: String,
    /// The scheme.
    pub scheme: String,
    /// Place of measurement.
    pub place: Location,
    /// The figures, in the order of [`METRICS`].
    pub pairs: [Pair; METRICS.len()],
    /// Number of the explanation of each differing figure.
    pub because: [Option<usize>; METRICS.len()],
}

impl MetricPairs {
    /// Differing metrics without explanation.
    pub fn unexplained(&self) -> impl Iterator<Item = (&'static str, &Pair)> {
        METRICS
            .iter()
            .zip(self.pairs.iter().zip(&self.because))
            .filter(|(_, (pair, because))| pair.verdict == Agreement::Differs && because.is_none())
            .map(|(metric, (pair, _))| (metric.key, pair))
    }
}

/// Compares our runs with ns-2's.
pub fn rows(points: &[Point], measured: &[Measured], explanations: &Explanations) -> Vec<MetricPairs> {
    let mut rows = Vec::new();
    for (point, ours) in points.iter().zip(measured) {
        for place in point.measured[0].keys() {
            let mean = |runs: &[BTreeMap<Location, Figures>]| {
                Figures::mean(&runs.iter().filter_map(|run| run.get(place).copied()).collect::<Vec<_>>())
            };
            let (ours, theirs) = (mean(ours), mean(&point.measured));
            let pairs: [Pair; METRICS.len()] =
                std::array::from_fn(|metric| METRICS[metric].compare(&ours, &theirs));
            let because = std::array::from_fn(|metric| {
                let differs = pairs[metric].verdict == Agreement::Differs;
                let found = || explanations.find(&point.name(), METRICS[metric].key);
                differs.then(found).flatten().map(|(number, _)| number)
            });
            let (group, label) = (point.group.clone(), point.label.clone());
            let scheme = point.setup.text("scheme", "sack-droptail").to_string();
            rows.push(MetricPairs {
                group,
                name: point.name(),
                label,
                scheme,
                place: place.clone(),
                pairs,
                because,
            });
        }
    }
    rows
}

/// Number of agreeing figures of a metric, and of all figures available.
pub fn agreement<'a>(rows: impl Iterator<Item = &'a MetricPairs> + Clone, metric: usize) -> (usize, usize) {
    let verdicts = || rows.clone().map(|row| row.pairs[metric].verdict);
    let agree = verdicts().filter(|verdict| *verdict == Agreement::Agrees).count();
    (agree, verdicts().filter(|verdict| *verdict != Agreement::Silent).count())
}

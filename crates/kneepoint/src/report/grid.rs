// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The table of headline figures as cells, for every format that shows it to people.

use super::{Comparison, number};
use crate::measure::{Estimates, METRICS, Metric};

/// One column per metric that is defined for some scheme, one row per scheme.
pub(super) struct Grid {
    pub(super) metrics: Vec<&'static Metric>,
    pub(super) rows: Vec<Row>,
}

pub(super) struct Row {
    pub(super) scheme: String,
    pub(super) cells: Vec<Cell>,
}

/// A mean and, over several seeds, its half width.
pub(super) struct Cell {
    pub(super) mean: String,
    pub(super) half_width: Option<String>,
}

impl Grid {
    pub(super) fn of(comparison: &Comparison) -> Grid {
        let all: Vec<Estimates> = comparison.schemes.iter().map(|scheme| scheme.estimates()).collect();
        let shown: Vec<usize> = (0..METRICS.len())
            .filter(|place| all.iter().any(|estimates| estimates.0[*place].mean.is_finite()))
            .collect();
        let cell = |estimates: &Estimates, place: usize| {
            let (mean, half_width) = number::estimate(&estimates.0[place], METRICS[place].scale);
            Cell { mean, half_width }
        };
        let row = |(scheme, estimates): (&super::SchemeResult, &Estimates)| Row {
            scheme: scheme.scheme.clone(),
            cells: shown.iter().map(|place| cell(estimates, *place)).collect(),
        };
        Grid {
            metrics: shown.iter().map(|place| &METRICS[*place]).collect(),
            rows: comparison.schemes.iter().zip(&all).map(row).collect(),
        }
    }
}

impl Cell {
    /// `12.3 ± 0.4`
    pub(super) fn text(&self) -> String {
        match &self.half_width {
            Some(half_width) => format!("{} ± {half_width}", self.mean),
            None => self.mean.clone(),
        }
    }
}

impl Comparison {
    /// What the numbers are: `means and 95 % confidence intervals over 3 seeds (1, 2, 3)`, and what is missing.
    pub(super) fn caption(&self) -> String {
        let missing = self.without_a_run();
        match missing.as_slice() {
            [] => self.extent(),
            names => format!("{} Without a run: {}.", self.extent(), names.join(", ")),
        }
    }

    /// Schemes that were planned, each with a scenario of its own, and have not come to run.
    fn without_a_run(&self) -> Vec<&str> {
        let scenarios = &self.manifest.scenario;
        let ran = |name: &str| self.schemes.iter().any(|scheme| scheme.scheme == name);
        // Rows of a single scenario's sweep have names that are not the scenario's.
        let planned = scenarios.iter().filter(|_| scenarios.len() > 1).map(|(name, _)| name.as_str());
        planned.filter(|name| !ran(name)).collect()
    }

    /// Over how many runs the numbers are.
    fn extent(&self) -> String {
        let seeds = &self.manifest.seeds;
        let runs = || self.schemes.iter().map(|scheme| scheme.runs.len());
        let (least, most) = (runs().min().unwrap_or(0), runs().max().unwrap_or(0));
        if least < seeds.len() && !self.schemes.is_empty() {
            let planned = format!("of {} planned seeds", seeds.len());
            return match (least, most) {
                (_, 1) => format!("One run {planned}: no confidence interval."),
                _ => {
                    let done = if least < most { format!("{least} to {most}") } else { most.to_string() };
                    let lone = if least == 1 { " One run: no confidence interval." } else { "" };
                    format!(
                        "Means and half widths of their 95 % confidence intervals over {done} {planned}.{lone}"
                    )
                }
            };
        }
        let list = match seeds.as_slice() {
            [] => "no seed".into(),
            [one] => format!("seed {one}"),
            [first, .., last] if seeds.windows(2).all(|pair| pair[1] == pair[0] + 1) && seeds.len() > 3 => {
                format!("{} seeds ({first} to {last})", seeds.len())
            }
            several => {
                let list: Vec<String> = several.iter().map(u64::to_string).collect();
                format!("{} seeds ({})", seeds.len(), list.join(", "))
            }
        };
        if seeds.len() > 1 {
            format!("Means and half widths of their 95 % confidence intervals over {list}.")
        } else {
            format!("One run, {list}: no confidence interval.")
        }
    }
}

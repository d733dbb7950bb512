// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How the figure of a scenario or an experiment is drawn, declared field by field.

use super::forms::{Names, Words};
use crate::settings::{Auto, Or};

crate::choice! {
    /// The scale of an axis of a figure.
    pub enum Scale {
        /// Logarithmic where its numbers would crowd otherwise; linear in an experiment.
        Auto = "auto",
        /// Evenly.
        Linear = "linear",
        /// Logarithmic.
        Log = "log",
    }
}

/// The word for no small multiples on a command line; in a scenario, an empty list.
pub const NO_FACET: &str = "none";

/// Axes of small multiples: their columns, and their rows.
pub const MOST_FACETS: usize = 2;

crate::settings! {
    /// How the figure of a scenario or an experiment is drawn.
    pub struct FigureSpec {
        /// The axis of the sweep along which it is drawn; levels that are not numbers become bars. Without it, the one
        /// with most numbers.
        x: Words = Words::default();
        /// The readable name of that axis, with its unit.
        label: Words = Words::default();
        /// The scale of that axis.
        scale: Scale = Scale::Auto;
        /// The axis each of whose labels has its own line; `auto` is the scheme or the congestion control.
        series: Or<Words, Auto> = Or::WORD;
        /// The axis of the rows of a heat map, whose columns are the labels of `x`: instead of series.
        y: Words = Words::default();
        /// One axis, or two, each of whose labels has its own panel: small multiples with common scales.
        facet: Names = Names::default();
        /// Metrics, or expressions of them as in claims, each in its own panel: `drop_ratio[group=web]`. Without any, the most telling.
        panels: Names = Names::default();
        /// How the numbers of the panels are divided; `auto` is by powers of ten for times and rates of more than two decades.
        panel_scale: Scale = Scale::Auto;
        /// Metrics whose panels are divided by powers of ten, overriding `panel_scale`.
        log_panels: Names = Names::default();
        /// Only what has these labels, as in `judge=queue`.
        only: Names = Names::default();
        /// Axes over whose labels the mean is taken.
        mean_over: Names = Names::default();
        /// Two metrics or expressions: for each label of the series a further panel with a dot for each label of `x`,
        /// the first across and the second up.
        plane: Names = Names::default();
        /// Metrics or expressions of which tables are made: a line for each label of `x`, a column for each of the series.
        tables: Names = Names::default();
    } check |figure| {
        if !matches!(figure.plane.0.len(), 0 | 2) {
            return Err("plane: name two metrics, the one across and the one up".into());
        }
        if figure.facet.0.len() > MOST_FACETS {
            return Err(format!("facet: name {MOST_FACETS} axes at most, that of the columns and that of the rows"));
        }
        if !figure.y.0.is_empty() && figure.series.get().is_some_and(|series| !series.0.is_empty()) {
            return Err("y: a heat map has no series: leave out y or series, or name the one in facet".into());
        }
        Ok(())
    }
}

impl FigureSpec {
    /// The axis of the series; empty where there is none.
    pub fn series(&self) -> &str {
        let chosen = self.series.get().map_or("scheme", |series| &series.0);
        if self.y.0.is_empty() { chosen } else { "" }
    }

    /// The keys that name axes, and the axes.
    pub fn axes(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let series = self.series.get().map(|series| ("series", series.0.as_str()));
        let ends = [("x", self.x.0.as_str()), ("y", self.y.0.as_str())].into_iter().chain(series);
        let facets = self.facet.0.iter().map(|axis| ("facet", axis.as_str()));
        let only = self.only.0.iter().map(|only| ("only", only.split('=').next().unwrap_or_default()));
        let mean = self.mean_over.0.iter().map(|axis| ("mean_over", axis.as_str()));
        ends.chain(facets).chain(only).chain(mean).filter(|(_, axis)| !axis.is_empty())
    }

    /// Everything that it shows, with its keys.
    pub fn shown(&self) -> impl Iterator<Item = (&'static str, &String)> {
        let lists = [("panels", &self.panels), ("plane", &self.plane), ("tables", &self.tables)];
        lists.into_iter().flat_map(|(key, names)| names.0.iter().map(move |name| (key, name)))
    }
}

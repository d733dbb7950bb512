// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Columns to the laboratory's own line chart, as a file.

use kneepoint::chart::{Axis, Line, Lines, lines};
use serde::Deserialize;

/// A chart that a page asks for.
#[derive(Clone, Debug, Deserialize)]
pub struct Asked {
    title: String,
    x: String,
    y: String,
    series: Vec<Series>,
}

#[derive(Clone, Debug, Deserialize)]
struct Series {
    name: String,
    /// Its place among the colours of the page.
    rank: usize,
    points: Vec<(f64, Option<f64>)>,
}

impl Asked {
    /// The chart as SVG.
    pub fn svg(self) -> String {
        let series = self.series.into_iter().map(|Series { name, rank, points }| {
            let points = points.into_iter().map(|(x, y)| (x, y.unwrap_or(f64::NAN)));
            Line { rank: Some(rank), ..Line::exact(name, points) }
        });
        let chart = Lines {
            title: self.title,
            x: Axis::linear(self.x),
            y: Axis::linear(self.y).holding(0.0, 0.0),
            series: series.collect(),
            marks: Vec::new(),
            published: Vec::new(),
            measured: None,
        };
        lines(&chart).standalone()
    }
}

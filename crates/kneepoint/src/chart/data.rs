// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The numbers behind a chart, for readers who cannot see it or want to look one up. Files have all of them; this is a table to read.

use std::fmt::Write;

use super::Drawing;
use super::value::tip_number;
use crate::table::{Bounds, Estimate, number};

/// A chart, or one of its panels, in words and as a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Data {
    /// The title of the chart or of the panel.
    pub title: String,
    /// The content of the chart, in a sentence.
    pub about: String,
    /// Titles of the columns, with units; the first column names the rows.
    pub columns: Vec<String>,
    /// The cells of each row, as people read them.
    pub rows: Vec<Vec<String>>,
    /// Says which rows are left out, if some are.
    pub left_out: String,
}

/// A named series of points, each with its label.
pub(super) struct Series {
    pub(super) name: String,
    pub(super) points: Vec<(f64, String)>,
}

/// Most rows of a table.
const MOST: usize = 60;

impl Drawing {
    /// The numbers of the chart, a table for each of its panels.
    pub fn data(&self) -> Vec<Data> {
        let mut panels = self.source.as_ref().map_or(Vec::new(), |source| source.data());
        for data in panels.iter_mut().filter(|data| data.title.is_empty()) {
            data.title.clone_from(&self.label);
        }
        panels
    }

    /// The content of the chart, in a sentence for each panel.
    pub(super) fn described(&self) -> String {
        let all = self.data();
        let panels = all.iter().map(|data| match all.len() {
            1 => data.about.clone(),
            _ => format!("{}: {}", data.title, data.about),
        });
        panels.collect::<Vec<_>>().join(" ")
    }
}

impl Data {
    /// A table of these columns.
    pub(super) fn new(about: String, columns: &[&str], rows: Vec<Vec<String>>) -> Data {
        let columns = columns.iter().map(ToString::to_string).collect();
        Data { about, columns, rows, ..Data::default() }
    }

    /// Series over x: side by side where they have the same places, else one after the other.
    pub(super) fn over(x: &str, y: &str, series: &[Series]) -> Data {
        let points = series.iter().flat_map(|one| &one.points);
        let (from, to) = points
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), (at, _)| (from.min(*at), to.max(*at)));
        let mut about = format!("{y} over {x}");
        if from <= to {
            let _ = write!(about, " from {} to {}", tip_number(from), tip_number(to));
        }
        let names: Vec<&str> =
            series.iter().map(|one| one.name.as_str()).filter(|name| !name.is_empty()).collect();
        about += &if names.is_empty() { ".".into() } else { format!(": {}.", names.join(", ")) };
        let data = match places(series) {
            Some(places) => beside(x, y, series, &places),
            None => below(x, y, series),
        };
        Data { about, ..data }
    }
}

/// The places of all series in order; none unless they are much the same.
fn places(series: &[Series]) -> Option<Vec<f64>> {
    let rises = |one: &Series| one.points.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let mut all: Vec<f64> = series.iter().flat_map(|one| &one.points).map(|point| point.0).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    let longest = series.iter().map(|one| one.points.len()).max().unwrap_or(0);
    (series.iter().all(rises) && 4 * all.len() <= 5 * longest).then_some(all)
}

/// A row for each place, and a column for each series.
fn beside(x: &str, y: &str, series: &[Series], places: &[f64]) -> Data {
    let stride = places.len().div_ceil(MOST).max(1);
    let cell = |one: &Series, place: f64| {
        let found = one.points.binary_search_by(|point| point.0.total_cmp(&place));
        found.map_or(number::NONE.to_string(), |at| one.points[at].1.clone())
    };
    let row = |place: &f64| {
        let cells = series.iter().map(|one| cell(one, *place));
        [tip_number(*place)].into_iter().chain(cells).collect()
    };
    // A single series has the name of the axis.
    let named = |one: &Series| match (one.name.as_str(), series.len()) {
        ("", _) => y.to_string(),
        (name, 1) => format!("{name}: {y}"),
        (name, _) => name.to_string(),
    };
    Data {
        columns: [x.to_string()].into_iter().chain(series.iter().map(named)).collect(),
        rows: places.iter().step_by(stride).map(row).collect(),
        left_out: left_out(stride, places.len()),
        ..Data::default()
    }
}

/// A row for each point of each series.
fn below(x: &str, y: &str, series: &[Series]) -> Data {
    let count: usize = series.iter().map(|one| one.points.len()).sum();
    let stride = count.div_ceil(MOST).max(1);
    let rows = series.iter().flat_map(|one| {
        // A curve without a name has the name of the axis.
        let name = if one.name.is_empty() { y } else { &one.name };
        let row = move |(at, shown): &(f64, String)| vec![name.to_string(), tip_number(*at), shown.clone()];
        one.points.iter().step_by(stride).map(row)
    });
    Data {
        rows: rows.collect(),
        left_out: left_out(stride, count),
        ..Data::new(String::new(), &["curve", x, y], Vec::new())
    }
}

fn left_out(stride: usize, count: usize) -> String {
    if stride == 1 { String::new() } else { format!("One in {stride} of {count} points.") }
}

/// An estimate as a cell: `12.3 ± 0.4`.
pub(super) fn shown(estimate: &Estimate) -> String {
    match number::quoted(estimate, 1.0, Bounds::NONE) {
        (mean, Some(spread)) => format!("{mean} {spread}"),
        (_, None) => number_or_none(estimate.mean),
    }
}

/// A number as a cell.
pub(super) fn number_or_none(value: f64) -> String {
    if value.is_finite() { tip_number(value) } else { number::NONE.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str, points: &[f64]) -> Series {
        Series { name: name.into(), points: points.iter().map(|at| (*at, format!("{name}{at}"))).collect() }
    }

    #[test]
    fn series_with_the_same_places_stand_side_by_side_and_others_below_each_other() {
        let alike = Data::over("RTT, ms", "goodput", &[series("a", &[1.0, 2.0]), series("b", &[1.0, 2.0])]);
        assert_eq!(alike.columns, ["RTT, ms", "a", "b"]);
        assert_eq!(alike.rows, [["1", "a1", "b1"], ["2", "a2", "b2"]]);
        assert_eq!(alike.about, "goodput over RTT, ms from 1 to 2: a, b.");
        let apart = Data::over("t", "q", &[series("a", &[1.0, 2.0]), series("b", &[1.5, 3.0])]);
        assert_eq!(apart.columns, ["curve", "t", "q"]);
        assert_eq!(
            (apart.rows.len(), apart.rows[2].clone()),
            (4, vec!["b".into(), "1.500".into(), "b1.5".into()])
        );
        // A loop has no place twice in a table of places.
        assert_eq!(Data::over("t", "q", &[series("a", &[1.0, 2.0, 1.0])]).rows.len(), 3);
    }

    #[test]
    fn long_series_are_thinned_and_say_so() {
        let places: Vec<f64> = (0..1000).map(f64::from).collect();
        let data = Data::over("t", "q", &[series("", &places)]);
        assert!(data.rows.len() <= MOST && data.columns == ["t", "q"]);
        assert_eq!(data.left_out, "One in 17 of 1000 points.");
    }

    #[test]
    fn a_missing_number_is_a_dash() {
        let data = Data::over("t", "q", &[series("a", &[1.0, 2.0, 3.0, 4.0]), series("b", &[2.0])]);
        assert_eq!(data.rows[0], ["1", "a1", number::NONE]);
        let undefined = Estimate { mean: f64::NAN, half_width: None };
        assert_eq!(
            (shown(&undefined), number_or_none(f64::INFINITY)),
            (number::NONE.into(), number::NONE.into())
        );
    }
}

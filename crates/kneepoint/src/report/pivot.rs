// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Rows of several factors: the whole table for pages, and for a terminal the most informative part.
//!
//! ```text
//! lines      the factor that is compared: the first one of names, such as schemes
//! columns    of the others, the one that the metrics depend on most
//! slice      levels of the rest, at which the lines differ most
//! ```
//!
//! A metric depends on a factor by the variance of the means over its levels, as a part of the variance of all rows.

use std::collections::BTreeSet;

use super::document::{Block, Column, Section, Shown, Table, TableLine};
use super::grid::Grid;
use super::{Comparison, Factor, SchemeResult};
use crate::metric::Metric;
use crate::table::number::NONE;

/// Metrics, the most telling first. Others follow in the order of reports.
const FIRST: [&str; 5] =
    ["utilization", "queueing_delay_mean_ms", "drop_ratio", "jain_index", "flow_goodput_bps"];

/// Lines of a terminal for the tables of metrics.
const ROOM: usize = 32;
/// Tables at most, or columns of one.
const MOST: usize = 4;
/// More rows than this are too many for every table in a terminal.
const MANY: usize = 12;

/// Whether a terminal lacks room for every table of a comparison.
pub(super) fn is_long(comparison: &Comparison) -> bool {
    comparison.schemes.len() > MANY || comparison.varied().count() > 1
}

/// Sections that a terminal leaves out where it has no room for them.
pub(super) fn aside(comparison: &Comparison, sections: Vec<Section>) -> Vec<Section> {
    if !is_long(comparison) {
        return sections;
    }
    let of_pages = |block: Block| match block {
        Block::Pages { blocks, .. } => blocks,
        block => vec![block],
    };
    let folded = |section: Section| {
        let blocks = section.blocks.into_iter().flat_map(of_pages).collect();
        Section { blocks: vec![Block::pages(blocks)], ..section }
    };
    sections.into_iter().map(folded).collect()
}

/// Every row with every metric. A column for each factor, the first of which has the names of the lines.
pub(super) fn table(comparison: &Comparison, grid: &Grid) -> Table {
    let (first, others) = match comparison.factors.split_first() {
        Some((first, others)) => (Some(first), others),
        None => (None, &[][..]),
    };
    let line = |(rank, (scheme, (name, cells))): (usize, (&SchemeResult, &(String, Vec<Shown>)))| {
        let level = |(factor, level): (&Factor, &usize)| factor.levels[*level].text.clone();
        let mut levels = comparison.factors.iter().zip(&scheme.levels).map(level);
        let name = levels.next().unwrap_or_else(|| name.clone());
        let cells = levels.map(Shown::from).chain(cells.iter().cloned()).collect();
        TableLine { class: comparison.class_of_row(rank), ..TableLine::new(name, cells) }
    };
    let of_factor =
        |factor: &Factor| Column { about: factor.key.clone(), level: true, ..Column::text(&factor.name) };
    let factors = others.iter().map(of_factor);
    Table {
        corner: first.map_or("scheme", |factor| factor.name.as_str()).into(),
        columns: factors.chain(grid.metrics.iter().map(|metric| column(metric))).collect(),
        lines: comparison.schemes.iter().zip(&grid.lines).enumerate().map(line).collect(),
        linked: false,
    }
}

fn column(metric: &Metric) -> Column {
    Column { about: metric.title.clone(), ..Column::number(&metric.short, metric.unit) }
}

/// The most informative part for a terminal; none where it has room for everything.
pub(super) fn blocks(comparison: &Comparison, grid: &Grid) -> Option<Vec<Block>> {
    if !is_long(comparison) {
        return None;
    }
    let telling = telling(grid);
    if telling.is_empty() {
        return None;
    }
    let (tables, slice) = match Pivot::of(comparison, grid, &telling) {
        Some(pivot) => (pivot.tables(&telling), pivot.slice()),
        None => (vec![brief(comparison, grid, &telling)], None),
    };
    let mut blocks: Vec<Block> = slice.into_iter().map(Block::prose).collect();
    blocks.extend(tables.into_iter().map(Block::Table));
    blocks.extend(constants(grid).map(Block::prose));
    let all = format!(
        "All {} rows with all metrics: report.html, and summary.csv with a column for each factor.",
        comparison.schemes.len()
    );
    blocks.push(Block::prose(all));
    Some(blocks)
}

/// The places of the metrics that differ between rows, the most telling first.
fn telling(grid: &Grid) -> Vec<usize> {
    let rank = |place: &usize| {
        let key = &grid.metrics[*place].key;
        FIRST.iter().position(|first| first == key).unwrap_or(FIRST.len())
    };
    let mut places: Vec<usize> =
        (0..grid.metrics.len()).filter(|place| texts(grid, *place).len() > 1).collect();
    places.sort_by_key(rank);
    places
}

/// The parts of a metric to show, each once.
fn texts(grid: &Grid, metric: usize) -> BTreeSet<&str> {
    grid.lines.iter().map(|(_, cells)| cells[metric].mean.as_str()).filter(|text| *text != NONE).collect()
}

/// Metrics that are the same in every row.
fn constants(grid: &Grid) -> Option<String> {
    let told = |(place, metric): (usize, &&Metric)| match texts(grid, place).into_iter().collect::<Vec<_>>()[..]
    {
        [only] => Some(format!("{} {only} {}", metric.short, metric.unit).trim_end().to_string()),
        _ => None,
    };
    let told = grid.metrics.iter().enumerate().filter_map(told);
    let told: Vec<String> = grid.same.iter().cloned().chain(told).collect();
    (!told.is_empty()).then(|| format!("The same in every row: {}.", told.join(", ")))
}

/// A line for each row of a single factor, with the most telling metrics only.
fn brief(comparison: &Comparison, grid: &Grid, telling: &[usize]) -> Table {
    let shown = &telling[..telling.len().min(MOST)];
    let whole = table(comparison, grid);
    let factors = whole.columns.len() - grid.metrics.len();
    let line = |line: TableLine| {
        let cells =
            line.cells[..factors].iter().chain(shown.iter().map(|place| &line.cells[factors + place]));
        TableLine { cells: cells.cloned().collect(), ..TableLine::new(line.name.clone(), Vec::new()) }
    };
    let metrics = shown.iter().map(|place| column(grid.metrics[*place]));
    Table {
        columns: whole.columns.into_iter().take(factors).chain(metrics).collect(),
        lines: whole.lines.into_iter().map(line).collect(),
        corner: whole.corner,
        linked: false,
    }
}

/// Two factors, and levels of the others.
struct Pivot<'c> {
    comparison: &'c Comparison,
    grid: &'c Grid,
    lines: usize,
    columns: usize,
    /// Places of the other factors and of their levels.
    at: Vec<(usize, usize)>,
}

impl<'c> Pivot<'c> {
    /// None of a single factor.
    fn of(comparison: &'c Comparison, grid: &'c Grid, telling: &[usize]) -> Option<Pivot<'c>> {
        let varied: Vec<(usize, &Factor)> = comparison.varied().collect();
        let (lines, _) = *varied.iter().find(|(_, factor)| !factor.is_numeric()).or(varied.first())?;
        let means = Means::of(comparison, grid, telling);
        let others = varied.iter().map(|(place, _)| *place).filter(|place| *place != lines);
        let columns = greatest(others.clone(), |place| means.effect(*place))?;
        let rest: Vec<usize> = others.filter(|place| *place != columns).collect();
        let levels_of = |scheme: &SchemeResult| -> Vec<(usize, usize)> {
            rest.iter().map(|place| (*place, scheme.levels[*place])).collect()
        };
        let slices: BTreeSet<_> = comparison.schemes.iter().map(levels_of).collect();
        let at = greatest(slices, |slice| means.contrast(slice, columns))?;
        Some(Pivot { comparison, grid, lines, columns, at })
    }

    /// A table of each metric for which there is room.
    fn tables(&self, telling: &[usize]) -> Vec<Table> {
        let each = self.factor(self.lines).levels.len() + 2;
        let room = (ROOM / each).clamp(1, MOST);
        telling.iter().take(room).map(|metric| self.table(*metric)).collect()
    }

    fn factor(&self, place: usize) -> &'c Factor {
        &self.comparison.factors[place]
    }

    fn table(&self, metric: usize) -> Table {
        let (down, across) = (self.factor(self.lines), self.factor(self.columns));
        let title = |level: usize| match level {
            0 => across.told(0),
            _ => across.levels[level].text.clone(),
        };
        let columns = || 0..across.levels.len();
        let line = |level: usize| {
            let name = if down.is_numeric() { down.told(level) } else { down.levels[level].text.clone() };
            TableLine::new(name, columns().map(|other| self.cell(metric, level, other)).collect())
        };
        Table {
            corner: column(self.grid.metrics[metric]).title_and_unit(),
            columns: columns()
                .map(|level| Column { alone: across.told(level), ..Column::number(title(level), "") })
                .collect(),
            lines: (0..down.levels.len()).map(line).collect(),
            linked: false,
        }
    }

    fn cell(&self, metric: usize, line: usize, column: usize) -> Shown {
        let is_here = |scheme: &SchemeResult| {
            scheme.levels[self.lines] == line
                && scheme.levels[self.columns] == column
                && self.at.iter().all(|(place, level)| scheme.levels[*place] == *level)
        };
        let row = self.comparison.schemes.iter().position(is_here);
        row.map_or_else(|| NONE.into(), |row| self.grid.lines[row].1[metric].clone())
    }

    /// The levels of other factors in the tables.
    fn slice(&self) -> Option<String> {
        let at = |(place, level): &(usize, usize)| self.factor(*place).told(*level);
        let at: Vec<String> = self.at.iter().map(at).collect();
        (!at.is_empty()).then(|| format!("Shown at {}, where the lines differ most.", at.join(", ")))
    }
}

/// Means of metrics in each row, as parts of their range over all rows.
struct Means<'c> {
    comparison: &'c Comparison,
    metrics: Vec<Vec<f64>>,
}

impl<'c> Means<'c> {
    fn of(comparison: &'c Comparison, grid: &Grid, metrics: &[usize]) -> Means<'c> {
        let means = |place: &usize| -> Vec<f64> {
            let key = &grid.metrics[*place].key;
            let means: Vec<f64> = comparison.schemes.iter().map(|one| one.estimate(key).mean).collect();
            let (least, most) = range(means.iter().copied());
            means.into_iter().map(|mean| (mean - least) / (most - least)).collect()
        };
        Means { comparison, metrics: metrics.iter().map(means).collect() }
    }

    /// The share of the variance of the metrics that a factor explains, summed over metrics.
    fn effect(&self, factor: usize) -> f64 {
        let levels = 0..self.comparison.factors[factor].levels.len();
        let of = |means: &Vec<f64>| {
            let known = |at: &dyn Fn(&SchemeResult) -> bool| -> Vec<f64> {
                let rows = self.comparison.schemes.iter().zip(means);
                rows.filter(|(row, mean)| at(row) && mean.is_finite()).map(|(_, mean)| *mean).collect()
            };
            let own = levels.clone().map(|level| mean(&known(&|row| row.levels[factor] == level)));
            variance(&own.filter(|mean| mean.is_finite()).collect::<Vec<_>>()) / variance(&known(&|_| true))
        };
        self.metrics.iter().map(of).filter(|part| part.is_finite()).sum()
    }

    /// The difference between rows of the same column in a slice, summed over columns and metrics.
    fn contrast(&self, at: &[(usize, usize)], columns: usize) -> f64 {
        let rows = self.comparison.schemes.iter().enumerate();
        let here = rows.filter(|(_, row)| at.iter().all(|(place, level)| row.levels[*place] == *level));
        let here: Vec<(usize, usize)> = here.map(|(place, row)| (place, row.levels[columns])).collect();
        let levels: BTreeSet<usize> = here.iter().map(|(_, level)| *level).collect();
        let width = |means: &Vec<f64>, level: usize| {
            let own = here.iter().filter(|(_, other)| *other == level).map(|(row, _)| means[*row]);
            let (least, most) = range(own);
            Some(most - least).filter(|width| width.is_finite()).unwrap_or(0.0)
        };
        self.metrics.iter().flat_map(|means| levels.iter().map(move |level| width(means, *level))).sum()
    }
}

/// The first one with the greatest number.
fn greatest<T>(all: impl IntoIterator<Item = T>, number: impl Fn(&T) -> f64) -> Option<T> {
    let mut best: Option<(T, f64)> = None;
    for one in all {
        let own = number(&one);
        if best.as_ref().is_none_or(|(_, most)| own > *most) {
            best = Some((one, own));
        }
    }
    best.map(|(one, _)| one)
}

fn range(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let known = numbers.filter(|number| number.is_finite());
    known.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), one| (least.min(one), most.max(one)))
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

fn variance(numbers: &[f64]) -> f64 {
    let centre = mean(numbers);
    numbers.iter().map(|number| (number - centre) * (number - centre)).sum::<f64>() / numbers.len() as f64
}

#[cfg(test)]
mod tests {
    use super::super::comparison::document;
    use super::super::example;
    use super::super::format::text;
    use super::*;

    #[test]
    fn a_grid_of_three_factors_fits_a_screen_and_says_where_the_rest_is() {
        let printed = text::render(&document(&example::grid()));
        assert!(printed.lines().count() <= 50, "{printed}");
        assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
        for part in ["utilization, %", "RTT 20 ms", "Shown at buffer ", "All 36 rows"] {
            assert!(printed.contains(part), "{part}: {printed}");
        }
    }

    #[test]
    fn a_table_that_is_continued_names_its_factor_again() {
        let document = document(&example::grid());
        for width in [40, 48, 60] {
            let printed = text::within(&document, width);
            let tables = printed.lines().skip_while(|line| *line != "Headline metrics");
            let heads = tables.filter(|line| line.contains(" ms") && !line.contains(", ms"));
            let bare: Vec<&str> = heads.filter(|line| !line.contains("RTT ")).collect();
            assert!(bare.is_empty(), "{width}: {bare:?} in\n{printed}");
        }
    }

    #[test]
    fn a_phone_has_the_levels_of_a_row_below_its_name() {
        let page = super::super::format::html::render(&document(&example::grid()));
        let levels = "cubic<small class=\"levels folded\">buffer 0.5 BDP,<br>RTT 80 ms</small></th>\
                      <td class=\"level\">0.5 BDP</td><td class=\"level\">80 ms</td>";
        assert!(page.contains(levels), "{page}");
        assert!(page.contains(".level { display: none } .folded { display: block }"), "its style");
    }

    #[test]
    fn columns_are_the_factor_that_matters_and_the_slice_is_where_lines_differ() {
        let mut grid = example::grid();
        // The queue depends on the round trip, and on the congestion control where the buffer is the largest.
        for scheme in &mut grid.schemes {
            let [control, buffer, rtt] = scheme.levels[..] else { panic!("three factors") };
            let queue = 100.0 * rtt as f64 + if buffer == 2 { 10.0 * control as f64 } else { 0.0 };
            for row in
                scheme.runs.iter_mut().flat_map(|run| &mut run.rows).filter(|row| row.labels.is_empty())
            {
                *row = crate::table::Row::new([]).with("queue_mean_packets", queue);
            }
        }
        let cells = Grid::of(&grid);
        let pivot = Pivot::of(&grid, &cells, &telling(&cells)).expect("several factors");
        assert_eq!((pivot.lines, pivot.columns, &pivot.at[..]), (0, 2, &[(1, 2)][..]));
        let table = pivot.table(0);
        assert_eq!(
            table.columns.iter().map(|one| one.title.as_str()).collect::<Vec<_>>(),
            ["RTT 20 ms", "80 ms", "200 ms"]
        );
        assert_eq!((table.lines[3].name.as_str(), table.lines[3].cells[2].mean.as_str()), ("vegas", "230"));
    }

    #[test]
    fn two_schemes_keep_their_whole_table_and_pages_keep_every_row() {
        let two = example::comparison();
        assert!(blocks(&two, &Grid::of(&two)).is_none());
        let grid = example::grid();
        let whole = table(&grid, &Grid::of(&grid));
        assert_eq!((whole.lines.len(), whole.corner.as_str()), (36, "congestion control"));
        assert_eq!(
            (whole.columns[0].title.as_str(), whole.lines[1].cells[1].mean.as_str()),
            ("buffer", "80 ms")
        );
    }

    #[test]
    fn many_levels_of_one_factor_are_one_table_of_few_metrics() {
        let names: Vec<String> = (0..20).map(|place| format!("scheme-{place}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let long = example::of("Twenty", &names);
        let shown = blocks(&long, &Grid::of(&long)).expect("too many rows");
        let tables: Vec<&Table> = shown
            .iter()
            .filter_map(|block| if let Block::Table(table) = block { Some(table) } else { None })
            .collect();
        assert_eq!((tables.len(), tables[0].lines.len(), tables[0].columns.len()), (1, 20, 4));
    }

    #[test]
    fn what_is_the_same_everywhere_is_said_once() {
        let mut grid = example::grid();
        for row in grid.schemes.iter_mut().flat_map(|scheme| &mut scheme.runs).flat_map(|run| &mut run.rows) {
            *row = row.clone().with("utilization", 1.0);
        }
        let said = constants(&Grid::of(&grid)).expect("a constant");
        assert!(said.contains("utilization 100 %"), "{said}");
        assert!(!telling(&Grid::of(&grid)).is_empty());
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One table for a column of a paper, divided as the figure is: a part for each metric and each panel, a line for each series, a column
//! for each level of x. Where a single factor varies, a line for each level and a column for each metric.

use super::super::document::{Column, Paper, Prose, Shown, Table, TableLine};
use super::super::grid::{Grid, marks};
use super::super::{Comparison, SchemeResult};
use super::Observed;
use super::choice::{Chosen, settle};
use super::quantity::Quantity;
use super::study::{combinations, shown, slug};
use super::view::View;
use crate::scenario::FigureSpec;
use crate::study::Frame;
use crate::table::{Bounds, Labels};

/// Lines of a table, unless more metrics are requested.
const ROOM: usize = 40;
/// Columns of metrics, unless more are requested.
const ABREAST: usize = 3;
/// Letters of the heading of the names that have room above any.
const SHORT: usize = 8;

/// The table of a comparison; none of a single case.
pub fn paper(comparison: &Comparison, wish: &FigureSpec) -> Option<Paper> {
    let Chosen { figure, pages } = settle(wish, &comparison.factors).ok()?;
    let frame = comparison.frame();
    let numbers = Numbers { comparison, grid: Grid::of(comparison) };
    let mut quantities = shown(comparison, &frame, &figure);
    let mut parts: Vec<Vec<TableLine>> = vec![Vec::new(); quantities.len()];
    let mut begun = None;
    for page in combinations(&pages, &comparison.factors) {
        let mut own = figure.clone();
        let at: Vec<(String, String)> = page.iter().map(|(factor, level)| named(factor, *level)).collect();
        own.only.0.extend(at.iter().map(|(only, _)| only.clone()));
        let observed = drawn_from(comparison, &own, &frame);
        let view = View::of(&observed)?;
        if is_single(&view) {
            let most = if wish.panels.0.is_empty() { ABREAST } else { quantities.len() };
            quantities.truncate(most);
            return of_one(&view, &numbers, &quantities);
        }
        let told: Vec<String> = at.into_iter().map(|(_, told)| told).collect();
        for (quantity, part) in quantities.iter().zip(&mut parts) {
            part.extend(part_of(&view, &numbers, quantity, &told));
        }
        begun.get_or_insert_with(|| heads(&view));
    }
    let (over, empty) = begun?;
    if wish.panels.0.is_empty() {
        let room = ROOM / parts.first()?.len().max(1);
        quantities.truncate(room.max(1));
    }
    let lines: Vec<TableLine> = parts.into_iter().take(quantities.len()).flatten().collect();
    // A column of `cubic` and `bbr` has no room for `congestion control`.
    let names = lines.iter().filter(|line| !line.is_heading()).map(|line| line.name.chars().count());
    let corner = empty.corner.clone();
    let fits = names.max().is_none_or(|longest| corner.chars().count() <= longest.max(SHORT));
    let table = Table { lines, corner: if fits { corner } else { String::new() }, ..empty };
    Some(numbers.paper(&quantities, &over, table))
}

/// The inputs of the figure at some levels.
fn drawn_from<'o>(comparison: &'o Comparison, figure: &'o FigureSpec, frame: &'o Frame) -> Observed<'o> {
    let factors = &comparison.factors;
    Observed { figure, frame, factors, published: &[], measured: None, scaled: true }
}

/// A level, as a figure is restricted to it and as people read it.
fn named(factor: &super::Factor, level: usize) -> (String, String) {
    (format!("{}={}", factor.key, factor.levels[level].text), factor.told(level))
}

/// Whether x alone varies.
fn is_single(view: &View) -> bool {
    is_bare(view) && view.multiples().is_none()
}

/// Whether it has neither series nor rows.
fn is_bare(view: &View) -> bool {
    matches!(view.series.as_slice(), [None]) && view.ys.is_empty()
}

/// A line for each level of x.
fn of_one(view: &View, numbers: &Numbers, quantities: &[Quantity]) -> Option<Paper> {
    let x = &view.observed.figure.x.0;
    let line = |label: &String| {
        let cells = quantities.iter().map(|one| numbers.cell(view, one, &view.labels(label, &None)));
        TableLine::new(label.clone(), cells.collect())
    };
    let table = Table {
        corner: view.factor(x).map_or(x.clone(), |factor| factor.name.clone()),
        columns: quantities.iter().map(|one| one.column(one.short.clone())).collect(),
        lines: view.xs.iter().map(line).collect(),
        linked: false,
    };
    let over = format!("by {}", table.corner);
    (table.lines.len() > 1 && !quantities.is_empty()).then(|| numbers.paper(quantities, &over, table))
}

/// The meaning of the columns, for the caption, and a table without lines.
fn heads(view: &View) -> (String, Table) {
    let figure = view.observed.figure;
    let name = |axis: &str| view.factor(axis).map_or(axis, |factor| factor.name.as_str()).to_string();
    let title = |(place, label): (usize, &String)| match place {
        0 => view.told(&figure.x.0, label),
        _ => label.clone(),
    };
    let columns = view.xs.iter().enumerate().map(title).map(|words| Column::number(words, "")).collect();
    let down = if view.ys.is_empty() { figure.series() } else { figure.y.0.as_str() };
    let across = name(&figure.x.0);
    let over = if view.numbers().is_some() { format!("over {across}") } else { format!("by {across}") };
    (over, Table { corner: name(down), columns, ..Table::default() })
}

/// The lines of a metric: below a heading of each panel. Panels without series are lines themselves.
fn part_of(view: &View, numbers: &Numbers, quantity: &Quantity, at: &[String]) -> Vec<TableLine> {
    let panels: Vec<(View, Vec<String>)> = match view.multiples() {
        Some(multiples) => {
            let told = (0..multiples.views.len()).map(|place| multiples.told(place)).collect::<Vec<_>>();
            multiples.views.into_iter().zip(told).collect()
        }
        None => vec![(view.clone(), Vec::new())],
    };
    let heading = |told: &[String]| {
        let words = [quantity.titled()].into_iter().chain(at.iter().cloned()).chain(told.iter().cloned());
        TableLine::new(words.collect::<Vec<_>>().join("; "), Vec::new())
    };
    let bare = is_bare(view);
    let mut lines = if bare { vec![heading(&[])] } else { Vec::new() };
    for (panel, told) in &panels {
        let cells = |with: &dyn Fn(&String) -> Labels| -> Vec<Shown> {
            panel.xs.iter().map(|x| numbers.cell(panel, quantity, &with(x))).collect()
        };
        if bare {
            lines.push(TableLine::new(told.join(", "), cells(&|x| panel.labels(x, &None))));
            continue;
        }
        lines.push(heading(told));
        let y = &view.observed.figure.y.0;
        lines.extend(panel.ys.iter().map(|label| {
            let labels = |x: &String| {
                let mut labels = panel.labels(x, &None);
                labels.insert(y.clone(), label.clone());
                labels
            };
            TableLine::new(label.clone(), cells(&labels))
        }));
        let series = panel.series.iter().filter(|_| panel.ys.is_empty());
        lines
            .extend(series.map(|series| {
                TableLine::new(panel.series_name(series), cells(&|x| panel.labels(x, series)))
            }));
    }
    lines
}

/// The numbers of a comparison, with their places among rivals.
struct Numbers<'c> {
    comparison: &'c Comparison,
    grid: Grid,
}

impl Numbers<'_> {
    /// A number as in the table of headlines, or as in the figure.
    fn cell(&self, view: &View, quantity: &Quantity, labels: &Labels) -> Shown {
        let metric = self.grid.metrics.iter().position(|metric| metric.key == quantity.text);
        if let (Some(metric), Some(rank)) = (metric, self.only_one(labels)) {
            return self.grid.lines[rank].1[metric].clone();
        }
        let (least, most) = quantity.bounds;
        let bounds = Bounds { least: least / quantity.scale, most: most / quantity.scale };
        Shown::within(&view.estimated(quantity, labels), quantity.scale, bounds)
    }

    /// The only case with these levels.
    fn only_one(&self, labels: &Labels) -> Option<usize> {
        let Comparison { factors, schemes, .. } = self.comparison;
        let is_there = |scheme: &SchemeResult| {
            let levels = factors.iter().zip(&scheme.levels);
            let mut own = levels.map(|(factor, level)| (&factor.key, &factor.levels[*level].text));
            own.all(|(key, text)| labels.get(key).is_none_or(|label| label == text))
        };
        let mut there = schemes.iter().enumerate().filter(|(_, scheme)| is_there(scheme));
        let (rank, _) = there.next()?;
        there.next().is_none().then_some(rank)
    }

    fn paper(&self, quantities: &[Quantity], over: &str, table: Table) -> Paper {
        let cells: Vec<Shown> = table.lines.iter().flat_map(|line| line.cells.iter().cloned()).collect();
        let seeds = self.comparison.schemes.iter().map(|scheme| scheme.runs.len()).min().unwrap_or(0);
        let titles: Vec<&str> = quantities.iter().map(|quantity| quantity.title.as_str()).collect();
        let texts: Vec<&str> = quantities.iter().map(|quantity| quantity.text.as_str()).collect();
        let notes = [self.comparison.title.clone() + ".", self.comparison.caption()];
        let notes = notes.into_iter().chain(marks(&cells, "Bold:", seeds)).map(Prose::from);
        Paper {
            name: slug(&format!("{} {over}", texts.join(" "))),
            title: format!("{} {over}", listed(&titles)),
            notes: notes.collect(),
            table,
        }
    }
}

/// `Utilization, packets dropped and mean queue`: titles within a sentence.
fn listed(titles: &[&str]) -> String {
    let inner = |title: &&str| {
        let mut letters = title.chars();
        let first = letters.next().map_or(String::new(), |letter| letter.to_lowercase().collect());
        // A separate name keeps its capital: RTT, Jain's index.
        let own = letters.clone().next().is_some_and(char::is_uppercase) || title.starts_with("Jain");
        if own { title.to_string() } else { first + letters.as_str() }
    };
    let Some((first, rest)) = titles.split_first() else { return String::new() };
    match rest.split_last() {
        None => first.to_string(),
        Some((last, [])) => format!("{first} and {}", inner(last)),
        Some((last, between)) => {
            let between: Vec<String> = between.iter().map(inner).collect();
            format!("{first}, {} and {}", between.join(", "), inner(last))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::example;
    use super::*;
    use crate::scenario::{Names, Words};

    fn names(table: &Table) -> Vec<&str> {
        table.lines.iter().map(|line| line.name.as_str()).collect()
    }

    #[test]
    fn a_grid_has_a_part_for_each_metric_and_panel_and_a_column_for_each_level_of_x() {
        let grid = example::grid();
        let wish = FigureSpec {
            panels: Names(vec!["utilization".into()]),
            x: Words("rtt".into()),
            ..FigureSpec::default()
        };
        let paper = paper(&grid, &wish).expect("a table");
        let columns: Vec<&str> = paper.table.columns.iter().map(|column| column.title.as_str()).collect();
        assert_eq!(columns[0], "RTT 20 ms");
        assert!(columns[1..].iter().all(|title| title.ends_with(" ms") && !title.contains("RTT")));
        let headings = paper.table.lines.iter().filter(|line| line.cells.is_empty());
        let headings: Vec<&str> = headings.map(|line| line.name.as_str()).collect();
        assert!(
            headings.iter().all(|heading| heading.starts_with("Utilization, %; buffer ")),
            "{headings:?}"
        );
        let cases: usize = paper.table.lines.iter().map(|line| line.cells.len()).sum();
        assert_eq!(cases, grid.schemes.len(), "each case once");
        assert_eq!(
            (paper.title.as_str(), paper.name.as_str()),
            ("Utilization over RTT", "utilization-over-rtt")
        );
    }

    #[test]
    fn without_a_wish_as_many_metrics_are_in_it_as_a_column_has_room_for() {
        let paper = paper(&example::grid(), &FigureSpec::default()).expect("a table");
        assert!(paper.table.lines.len() <= ROOM, "{:?}", names(&paper.table));
    }

    #[test]
    fn the_numbers_are_those_of_the_headlines_with_their_marks() {
        let grid = example::grid();
        let wish = FigureSpec {
            panels: Names(vec!["utilization".into()]),
            x: Words("buffer".into()),
            ..FigureSpec::default()
        };
        let paper = paper(&grid, &wish).expect("a table");
        let all = Grid::of(&grid);
        let place = all.metrics.iter().position(|metric| metric.key == "utilization").expect("it varies");
        let mut own: Vec<String> = all.lines.iter().map(|(_, cells)| format!("{:?}", cells[place])).collect();
        let cells = paper.table.lines.iter().flat_map(|line| &line.cells);
        let mut shown: Vec<String> = cells.map(|cell| format!("{cell:?}")).collect();
        own.sort();
        shown.sort();
        assert_eq!(own, shown);
    }

    #[test]
    fn schemes_alone_have_a_line_each_and_a_lone_case_has_no_table() {
        let paper_of = |comparison: &Comparison| paper(comparison, &FigureSpec::default());
        let mut comparison = example::comparison();
        let several = paper_of(&comparison).expect("a table");
        assert_eq!(names(&several.table).len(), comparison.schemes.len());
        assert!(several.table.columns.len() <= ABREAST);
        comparison.schemes.truncate(1);
        assert!(paper_of(&comparison).is_none());
    }

    #[test]
    fn titles_are_a_sentence() {
        assert_eq!(
            listed(&["Mean queue", "Jain index", "Packets dropped"]),
            "Mean queue, Jain index and packets dropped"
        );
        assert_eq!(listed(&["RTT", "RTT"]), "RTT and RTT");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The width of a table in characters, and the part of a page that has room for it.

use super::super::super::document::{Shown, Table};
use super::cells;

/// Characters in `\footnotesize` that a column of a two-column paper has room for, and a page.
pub(super) const NARROW: usize = 63;
pub(super) const WIDE: usize = 126;
/// Characters in `\scriptsize` that fit a column.
pub(super) const DENSE: usize = 72;
/// Longer texts are broken into lines.
pub(super) const LONGEST: usize = 36;

/// How a table is fitted to a paper of two columns.
pub(super) struct Fit {
    /// With a star it is as wide as the page.
    pub(super) star: &'static str,
    pub(super) letters: &'static str,
}

impl Fit {
    /// The fit of a table of this many characters, where a column has room for `most`.
    pub(super) fn of(width: usize, most: usize) -> Fit {
        let star = if width > most { "*" } else { "" };
        let is_dense = width > NARROW && width <= most;
        let letters = if is_dense {
            "\\scriptsize\\setlength{\\tabcolsep}{3pt}"
        } else {
            "\\footnotesize\\setlength{\\tabcolsep}{4pt}"
        };
        Fit { star, letters }
    }
}

/// The characters of a line of these columns; the space between two columns is as wide as two.
pub(super) fn width(table: &Table, columns: &[usize]) -> usize {
    let length = |text: &str| text.chars().count().min(LONGEST);
    let names = table.lines.iter().filter(|line| !line.is_heading()).map(|line| line.name.as_str());
    let first = names.chain([table.corner.as_str()]).map(length).max().unwrap_or(0);
    let of = |place: &usize| {
        let column = &table.columns[*place];
        let all = cells(&table.lines, *place);
        let most = |of: &dyn Fn(&Shown) -> usize| all.iter().map(|cell| of(cell)).max().unwrap_or(0);
        let long = match column.text {
            true => most(&|cell| length(&cell.text())),
            false => {
                most(&whole) + most(&behind) + most(&|cell| interval(cell) + length(cell.standing.mark()))
            }
        };
        2 + long.max(length(&column.title)).max(length(&column.unit))
    };
    first + columns.iter().map(of).sum::<usize>()
}

/// The characters of a mean up to its point, behind it with the point, and of its interval with the space before it.
fn whole(cell: &Shown) -> usize {
    cell.mean.split('.').next().map_or(0, |digits| digits.chars().count())
}

fn behind(cell: &Shown) -> usize {
    cell.mean.chars().count() - whole(cell)
}

fn interval(cell: &Shown) -> usize {
    cell.spread.as_ref().map_or(0, |spread| 1 + spread.to_string().chars().count())
}

#[cfg(test)]
mod tests {
    use super::super::super::super::document::{Column, TableLine};
    use super::*;
    use crate::table::number::Spread;

    #[test]
    fn a_column_of_numbers_is_as_wide_as_its_parts_with_points_below_each_other() {
        let cell = |mean: &str, spread: &str| Shown {
            spread: (!spread.is_empty()).then(|| Spread::Even(spread.into())),
            ..Shown::from(mean)
        };
        let line = |shown: Shown| TableLine::new("reno", vec![shown]);
        let lines = vec![
            line(cell("104", "14")),
            line(cell("0.0369", "0.0099")),
            TableLine::new("a long heading", vec![]),
        ];
        let table = Table { columns: vec![Column::number("delay", "ms")], lines, ..Table::default() };
        // `reno`, a space of two, `104` and `.0369`, and ` ± 0.0099`.
        assert_eq!(width(&table, &[0]), 4 + 2 + 3 + 5 + 9);
    }

    #[test]
    fn a_table_is_dense_before_it_is_as_wide_as_the_page() {
        let fit = |width| {
            let Fit { star, letters } = Fit::of(width, DENSE);
            (star, letters.starts_with("\\footnotesize"))
        };
        assert_eq!([fit(NARROW), fit(DENSE), fit(DENSE + 1)], [("", true), ("", false), ("*", true)]);
        assert_eq!(Fit::of(NARROW + 1, NARROW).star, "*", "where density is not wanted");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tables for LaTeX, in the style of `booktabs`, for a paper of one or two columns.
//!
//! A mean and its interval are two columns, so that the signs between them are aligned. A table of more columns than a page is wide
//! continues in the next one, and so does a table of more lines than a page is high.

mod fit;
mod words;

use std::borrow::Cow;

use super::super::document::{Block, Column, Document, Paper, Shown, Standing, Table, TableLine};
use super::Format;
use super::tabulated::{Tabulated, tables};
use crate::table::number::{self, Spread};
use fit::{DENSE, Fit, LONGEST, NARROW, WIDE, width};
use words::{commented, escaped, label};

/// The tables of a document, for `\input`.
pub const TABLES: Format = Format { name: "latex", extension: "tex", render };

/// Lines of a table that fit on a page with the caption.
const HIGH: usize = 54;

/// The environments of all tables.
pub fn render(document: &Document) -> String {
    let title = commented(&document.title);
    let mut text = format!(
        "% Tables of the report \"{title}\".\n\
         % \\usepackage{{booktabs}} in the preamble; then \\input this file, or copy a table of it.\n"
    );
    let mut labels: Vec<String> = Vec::new();
    for one in tables(document) {
        for part in parts(&one.table) {
            let stem = label(one.heading);
            let count = labels.iter().filter(|other| **other == stem).count();
            let fit = Fit::of(width(&one.table, &part.columns), NARROW);
            text += &environment(&one, &part, &numbered(&stem, count), fit);
            labels.push(stem);
        }
    }
    text
}

/// The environment of the single table for a column of a paper; none for a document without it.
pub fn paper(document: &Document) -> Option<String> {
    let of = |block: &Block| if let Block::Paper(paper) = block { Some(paper.clone()) } else { None };
    let Paper { name, title, notes, table } =
        *document.sections.iter().flat_map(|section| &section.blocks).find_map(of)?;
    let one = Tabulated { heading: &title, notes: notes.iter().collect(), table: Cow::Borrowed(&table) };
    let begin = format!(
        "% A table of the report \"{}\"; tables.tex has all.\n% \\usepackage{{booktabs}} in the preamble; then \\input this file.\n",
        commented(&document.title)
    );
    let environments = parts(&table).into_iter().enumerate().map(|(place, part)| {
        let fit = Fit::of(width(&table, &part.columns), DENSE);
        environment(&one, &part, &numbered(&name, place), fit)
    });
    Some(environments.fold(begin, |text, environment| text + &environment))
}

/// A label for a table behind this many of the same name.
fn numbered(stem: &str, before: usize) -> String {
    if before == 0 { stem.to_string() } else { format!("{stem}-{}", before + 1) }
}

/// Some columns and some lines of a table, each by its place.
struct Part {
    columns: Vec<usize>,
    lines: std::ops::Range<usize>,
    /// Whether it continues an earlier part.
    continued: bool,
}

/// As many columns and lines as a page holds.
fn parts(table: &Table) -> Vec<Part> {
    // Columns of text before the numbers name the lines, and are in each part.
    let names = table.columns.iter().take_while(|column| column.text).count();
    let names: Vec<usize> = (0..if names < table.columns.len() { names } else { 0 }).collect();
    let mut groups: Vec<Vec<usize>> = vec![names.clone()];
    for column in names.len()..table.columns.len() {
        let last = groups.len() - 1;
        let wider = [&groups[last][..], &[column]].concat();
        if groups[last].len() == names.len() || width(table, &wider) <= WIDE {
            groups[last] = wider;
        } else {
            groups.push([&names[..], &[column]].concat());
        }
    }
    let of =
        |lines: std::ops::Range<usize>| groups.iter().map(move |columns| (columns.clone(), lines.clone()));
    let all = pages(table).into_iter().flat_map(of).enumerate();
    all.map(|(place, (columns, lines))| Part { columns, lines, continued: place > 0 }).collect()
}

/// The lines of each page, which ends before a heading if there is one.
fn pages(table: &Table) -> Vec<std::ops::Range<usize>> {
    let count = table.lines.len();
    let mut pages = Vec::new();
    let mut from = 0;
    loop {
        let most = count.min(from + HIGH);
        let heading = (from + 1..most).rev().find(|place| table.lines[*place].is_heading());
        let to = if most < count { heading.unwrap_or(most) } else { count };
        pages.push(from..to);
        from = to;
        if from >= count {
            return pages;
        }
    }
}

/// The cells of a column; headings have none.
fn cells(lines: &[TableLine], place: usize) -> Vec<&Shown> {
    lines.iter().filter_map(|line| line.cells.get(place)).collect()
}

fn environment(one: &Tabulated, part: &Part, label: &str, Fit { star, letters }: Fit) -> String {
    let table = &*one.table;
    let columns: Vec<(usize, &Column, Kind)> = part
        .columns
        .iter()
        .map(|place| {
            (*place, &table.columns[*place], Kind::of(&table.columns[*place], &cells(&table.lines, *place)))
        })
        .collect();
    let kinds: String = columns.iter().map(|(_, _, kind)| kind.preamble()).collect();
    let head = |first: &str, of: &dyn Fn(&Column) -> String| {
        let cells = columns.iter().map(|(_, column, kind)| format!(" & {}", kind.head(&of(column))));
        format!("    {}{} \\\\\n", escaped(first), cells.collect::<String>())
    };
    let mut heads = head(&table.corner, &|column| escaped(&column.title));
    if columns.iter().any(|(_, column, _)| !column.unit.is_empty()) {
        heads += &head("", &|column| escaped(&column.unit));
    }
    let all = &table.lines[part.lines.clone()];
    // Decimal points are aligned within the lines of a heading.
    let panels = all.chunk_by(|_, next| !next.is_heading()).map(|lines| panel(&columns, lines));
    let lines = panels.collect::<Vec<_>>().join("    \\addlinespace\n");
    format!(
        "\n\\begin{{table{star}}}\n  \\centering{letters}\n  \\caption{{{}}}\n  \
         \\label{{tab:{label}}}\n  \\begin{{tabular}}{{@{{}}{}{kinds}@{{}}}}\n    \\toprule\n{heads}    \\midrule\n{lines}    \
         \\bottomrule\n  \\end{{tabular}}\n\\end{{table{star}}}\n",
        caption(one, part.continued),
        paragraph(table.lines.iter().filter(|line| !line.is_heading()).map(|of| of.name.as_str())),
    )
}

/// Lines with their numbers aligned, and the heading above them.
fn panel(columns: &[(usize, &Column, Kind)], lines: &[TableLine]) -> String {
    let aligned: Vec<(usize, Kind)> =
        columns.iter().map(|(place, _, kind)| (*place, kind.aligned(&cells(lines, *place)))).collect();
    let wide: usize = columns.iter().map(|(_, _, kind)| kind.breadth()).sum();
    let line = |of: &TableLine| match of.is_heading() {
        true => format!(
            "    \\multicolumn{{{}}}{{@{{}}l@{{}}}}{{\\emph{{{}}}}} \\\\\n",
            1 + wide,
            escaped(&of.name)
        ),
        false => {
            let cells = aligned.iter().map(|(place, kind)| format!(" & {}", kind.cell(&of.cells[*place])));
            format!("    {}{} \\\\\n", escaped(&of.name), cells.collect::<String>())
        }
    };
    lines.iter().map(line).collect()
}

/// The heading, and the paragraphs about the table.
fn caption(one: &Tabulated, continued: bool) -> String {
    let heading = escaped(one.heading.trim_end_matches('.'));
    if continued {
        return format!("{heading} (continued).");
    }
    let notes = one.notes.iter().map(|note| format!(" {}", escaped(note.plain().trim())));
    format!("{heading}.{}", notes.collect::<String>())
}

/// How a column is set.
enum Kind {
    /// Left-aligned; broken into lines if it is long.
    Text(&'static str),
    /// Right-aligned, with at most this many decimals.
    Number(usize),
    /// A mean to the right, with this many decimals at most, its interval to the left.
    Estimate(usize),
}

impl Kind {
    fn of(column: &Column, cells: &[&Shown]) -> Kind {
        if column.text {
            let texts: Vec<String> = cells.iter().map(|cell| cell.text()).collect();
            Kind::Text(paragraph(texts.iter().map(String::as_str)))
        } else if cells.iter().any(|cell| cell.spread.is_some()) {
            Kind::Estimate(0)
        } else {
            Kind::Number(0)
        }
    }

    /// The same with the decimals of some cells.
    fn aligned(&self, cells: &[&Shown]) -> Kind {
        let most = || cells.iter().filter_map(|cell| decimals(&cell.mean)).max().unwrap_or(0);
        match self {
            Kind::Text(kind) => Kind::Text(kind),
            Kind::Number(_) => Kind::Number(most()),
            Kind::Estimate(_) => Kind::Estimate(most()),
        }
    }

    /// The number of its columns in LaTeX.
    fn breadth(&self) -> usize {
        if matches!(self, Kind::Estimate(_)) { 2 } else { 1 }
    }

    fn preamble(&self) -> &'static str {
        match self {
            Kind::Text(kind) => kind,
            Kind::Number(_) => "r",
            Kind::Estimate(_) => "r@{\\,}l",
        }
    }

    /// A title, or a unit, which is escaped already.
    fn head(&self, text: &str) -> String {
        match self {
            Kind::Estimate(_) => format!("\\multicolumn{{2}}{{c}}{{{text}}}"),
            Kind::Text(_) | Kind::Number(_) => text.to_string(),
        }
    }

    fn cell(&self, shown: &Shown) -> String {
        let mean = match self {
            Kind::Text(_) => escaped(&shown.mean),
            Kind::Number(_) | Kind::Estimate(_) => digits(&shown.mean),
        };
        let (mean, mark) = match shown.standing {
            Standing::Best => (format!("\\textbf{{{mean}}}"), String::new()),
            standing => (mean, escaped(standing.mark())),
        };
        let spread = match &shown.spread {
            Some(Spread::Even(half)) => format!("$\\pm$\\,{}", digits(half)),
            Some(Spread::Between(low, high)) => format!("({}--{})", digits(low), digits(high)),
            None => String::new(),
        };
        match self {
            Kind::Estimate(most) => format!("{mean}{} & {spread}{mark}", room(&shown.mean, *most)),
            Kind::Number(most) => format!("{mean}{mark}{}", room(&shown.mean, *most)),
            Kind::Text(_) => format!("{mean}{mark}"),
        }
    }
}

/// The kind of a column of texts: long ones are paragraphs.
fn paragraph<'a>(mut texts: impl Iterator<Item = &'a str>) -> &'static str {
    let is_long = texts.any(|text| text.chars().count() > LONGEST);
    if is_long { "p{0.3\\textwidth}" } else { "l" }
}

/// The digits of a plain number behind its point.
fn decimals(text: &str) -> Option<usize> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, behind) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    (!whole.is_empty() && plain(whole) && plain(behind)).then_some(behind.len())
}

/// Padding for missing decimals, so that decimal points are aligned.
fn room(text: &str, most: usize) -> String {
    match decimals(text) {
        Some(own) if own < most => {
            let point = if own == 0 { "." } else { "" };
            format!("\\phantom{{{point}{}}}", "0".repeat(most - own))
        }
        _ => String::new(),
    }
}

/// A number, whose hyphen is a sign, with spaces between thousands.
fn digits(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(rest) => format!("$-${}", escaped(&number::grouped(rest))),
        None => escaped(&number::grouped(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::document::{Block, Prose, Section};
    use super::*;

    fn document(table: Table) -> Document {
        let note = Block::prose("Bold: the best 50 % of_all.");
        let section = Section::new("Headline metrics", vec![Block::Table(table), note]);
        Document { title: "A & B\n\\input{evil}".into(), about: Prose::default(), sections: vec![section] }
    }

    fn estimate(mean: &str, half: &str) -> Shown {
        Shown { spread: Some(Spread::Even(half.into())), ..mean.into() }
    }

    #[test]
    fn a_mean_and_its_half_width_stand_beside_the_sign_and_the_best_is_bold() {
        let best = estimate("-1.5", "0.2").standing(Standing::Best);
        let few = Shown { spread: Some(Spread::Between("0".into(), "14".into())), ..Shown::from("18754") };
        let table = Table {
            corner: "scheme".into(),
            columns: vec![
                Column::number("queue", "packets"),
                Column::number("J", ""),
                Column::text("remark"),
            ],
            lines: vec![
                TableLine::new("a_b", vec![best, "0.9".into(), "fine".into()]),
                TableLine::new("c", vec!["–".into(), "1".into(), "50 %".into()]),
                TableLine::new("d", vec![few.standing(Standing::Alike), "1".into(), "".into()]),
            ],
            linked: false,
        };
        let text = render(&document(table));
        for part in [
            "\\begin{table}\n",
            "\\caption{Headline metrics. Bold: the best 50 \\% of\\_all.}",
            "\\label{tab:headline-metrics}",
            "\\begin{tabular}{@{}lr@{\\,}lrl@{}}",
            "scheme & \\multicolumn{2}{c}{queue} & J & remark \\\\",
            " & \\multicolumn{2}{c}{packets} &  &  \\\\",
            "a\\_b & \\textbf{$-$1.5} & $\\pm$\\,0.2 & 0.9 & fine \\\\",
            "c & -- &  & 1\\phantom{.0} & 50 \\% \\\\",
            "d & 18\\,754\\phantom{.0} & (0--14)$\\approx$ & 1\\phantom{.0} &  \\\\",
        ] {
            assert!(text.contains(part), "`{part}` is missing from\n{text}");
        }
        assert!(text.starts_with("% Tables of the report \"A & B \\input{evil}\".\n% "), "{text}");
    }

    #[test]
    fn the_table_for_a_column_has_headings_and_points_below_each_other() {
        let grid = super::super::super::example::grid();
        let document = super::super::super::comparison::document(&grid);
        let text = paper(&document).expect("a table");
        assert_eq!(text.matches("\\begin{table}").count(), 1, "of one column: {text}");
        assert!(
            text.contains("\\caption{") && text.contains("Bold: ") && text.contains("\\label{tab:"),
            "{text}"
        );
        let headings: Vec<&str> = text.lines().filter(|row| row.contains("\\emph{")).collect();
        assert!(headings.len() > 2 && headings[0].starts_with("    \\multicolumn{"), "{text}");
        assert_eq!(text.matches("\\addlinespace").count(), headings.len() - 1, "between parts");
        assert!(render(&document).contains("buffer & RTT"), "the whole table is with all others");
        let mut lone = super::super::super::example::comparison();
        lone.schemes.truncate(1);
        assert!(paper(&super::super::super::comparison::document(&lone)).is_none());
    }

    #[test]
    fn a_page_ends_before_a_heading() {
        let line = |place: usize| match place % 10 {
            0 => TableLine::new(format!("part {place}"), Vec::new()),
            _ => TableLine::new("line", vec!["1".into()]),
        };
        let lines: Vec<TableLine> = (0..HIGH + 15).map(line).collect();
        let table = Table { columns: vec![Column::number("x", "")], lines, ..Table::default() };
        let found = pages(&table);
        assert_eq!(found, [0..50, 50..HIGH + 15]);
    }

    #[test]
    fn a_table_too_wide_or_too_high_for_a_page_continues_in_the_next_one() {
        let columns = (0..30).map(|place| Column::number(format!("column {place}"), "ms"));
        let line = |name: usize| TableLine::new(format!("row {name}"), (0..30).map(|_| "1".into()).collect());
        let table = Table {
            corner: "scheme".into(),
            columns: columns.collect(),
            lines: (0..HIGH + 1).map(line).collect(),
            linked: false,
        };
        let text = render(&document(table));
        let count = text.matches("\\begin{table").count();
        assert!(count >= 6, "{count}");
        assert_eq!(count, text.matches("\\label{tab:headline-metrics").count());
        assert_eq!(count - 1, text.matches("(continued)").count());
        let mut labels: Vec<&str> = text.lines().filter(|row| row.contains("\\label")).collect();
        labels.sort_unstable();
        labels.dedup();
        assert_eq!(labels.len(), count);
        assert_eq!(text.matches("column 29").count(), 2, "each column is in one part of each page");
        let named = Table {
            columns: [Column::text("buffer")]
                .into_iter()
                .chain((0..29).map(|place| Column::number(format!("column {place}"), "ms")))
                .collect(),
            lines: vec![line(0)],
            ..Table::default()
        };
        let parted = render(&document(named));
        let tables = parted.matches("\\begin{table").count();
        assert!(
            tables > 1 && parted.matches("buffer").count() == tables,
            "a name of lines is in each part: {parted}"
        );
    }
}

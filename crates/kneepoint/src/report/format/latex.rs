// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tables for LaTeX, in the style of `booktabs`, for a paper of one or two columns.
//!
//! A mean and its interval are two columns, so that the signs between stand below each other. A table of more columns than a page is
//! wide continues in the next one, and so does a table of more lines than a page is high.

use super::super::document::{Column, Document, Shown, Standing, Table, TableLine};
use super::Format;
use super::tabulated::{Tabulated, tables};
use crate::table::number::{self, Spread};
use crate::visible::visible;

/// The tables of a document, for `\input`.
pub const TABLES: Format = Format { name: "latex", extension: "tex", render };

/// Characters in `\footnotesize` that a column of a two-column paper has room for, and a page.
const NARROW: usize = 56;
const WIDE: usize = 112;
/// Lines of a table that fit on a page with the caption.
const HIGH: usize = 54;
/// Longer texts are broken into lines.
const LONGEST: usize = 36;

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
            text += &environment(&one, &part, &stem, count);
            labels.push(stem);
        }
    }
    text
}

/// Some columns and some lines of a table, each by its place.
struct Part {
    columns: Vec<usize>,
    lines: std::ops::Range<usize>,
    /// Whether it continues a part before it.
    continued: bool,
}

/// As many columns as a page is wide, and as many lines as it is high.
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
    let count = table.lines.len();
    let pages = (0..count.max(1)).step_by(HIGH).map(|from| from..count.min(from + HIGH));
    let of =
        |lines: std::ops::Range<usize>| groups.iter().map(move |columns| (columns.clone(), lines.clone()));
    let all = pages.flat_map(of).enumerate();
    all.map(|(place, (columns, lines))| Part { columns, lines, continued: place > 0 }).collect()
}

/// The characters of a line of these columns; the space between two columns is as wide as two.
fn width(table: &Table, columns: &[usize]) -> usize {
    let length = |text: &str| text.chars().count().min(LONGEST);
    let names = table.lines.iter().map(|line| line.name.as_str()).chain([table.corner.as_str()]);
    let first = names.map(length).max().unwrap_or(0);
    let of = |place: &usize| {
        let column = &table.columns[*place];
        let cells = table.lines.iter().map(|line| length(&line.cells[*place].text())).max().unwrap_or(0);
        2 + cells.max(length(&column.title)).max(length(&column.unit))
    };
    first + columns.iter().map(of).sum::<usize>()
}

fn environment(one: &Tabulated, part: &Part, stem: &str, before: usize) -> String {
    let table = &*one.table;
    // With a star it is as wide as a page of two columns.
    let star = if width(table, &part.columns) > NARROW { "*" } else { "" };
    let label = if before == 0 { stem.to_string() } else { format!("{stem}-{}", before + 1) };
    let columns: Vec<(usize, &Column, Kind)> =
        part.columns.iter().map(|place| (*place, &table.columns[*place], Kind::of(table, *place))).collect();
    let kinds: String = columns.iter().map(|(_, _, kind)| kind.preamble()).collect();
    let head = |first: &str, of: &dyn Fn(&Column) -> String| {
        let cells = columns.iter().map(|(_, column, kind)| format!(" & {}", kind.head(&of(column))));
        format!("    {}{} \\\\\n", escaped(first), cells.collect::<String>())
    };
    let mut heads = head(&table.corner, &|column| escaped(&column.title));
    if columns.iter().any(|(_, column, _)| !column.unit.is_empty()) {
        heads += &head("", &|column| escaped(&column.unit));
    }
    let line = |of: &TableLine| {
        let cells = columns.iter().map(|(place, _, kind)| format!(" & {}", kind.cell(&of.cells[*place])));
        format!("    {}{} \\\\\n", escaped(&of.name), cells.collect::<String>())
    };
    let lines: String = table.lines[part.lines.clone()].iter().map(line).collect();
    format!(
        "\n\\begin{{table{star}}}\n  \\centering\\footnotesize\\setlength{{\\tabcolsep}}{{4pt}}\n  \\caption{{{}}}\n  \
         \\label{{tab:{label}}}\n  \\begin{{tabular}}{{@{{}}{}{kinds}@{{}}}}\n    \\toprule\n{heads}    \\midrule\n{lines}    \
         \\bottomrule\n  \\end{{tabular}}\n\\end{{table{star}}}\n",
        caption(one, part.continued),
        paragraph(table.lines.iter().map(|of| of.name.as_str())),
    )
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
    /// To the left; broken into lines if it is long.
    Text(&'static str),
    /// To the right, with so many decimals at most.
    Number(usize),
    /// A mean to the right, with so many decimals at most, its interval to the left.
    Estimate(usize),
}

impl Kind {
    fn of(table: &Table, place: usize) -> Kind {
        let cells = || table.lines.iter().map(|line| &line.cells[place]);
        if table.columns[place].text {
            let texts: Vec<String> = cells().map(Shown::text).collect();
            Kind::Text(paragraph(texts.iter().map(String::as_str)))
        } else {
            let most = cells().filter_map(|cell| decimals(&cell.mean)).max().unwrap_or(0);
            if cells().any(|cell| cell.spread.is_some()) { Kind::Estimate(most) } else { Kind::Number(most) }
        }
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

/// The room of the decimals that a number has not, so that points stand below each other.
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

/// A label of a heading: letters, digits and hyphens.
fn label(heading: &str) -> String {
    let words = heading.to_lowercase();
    let words = words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let joined = words.collect::<Vec<_>>().join("-");
    if joined.is_empty() { "results".to_string() } else { joined }
}

/// A text within a comment.
fn commented(text: &str) -> String {
    visible(text).replace(['\n', '\t'], " ")
}

/// Text that is text: no command, environment, comment or formula of it is alive, and no paragraph ends in it.
fn escaped(text: &str) -> String {
    let mut shown = String::new();
    let mut before = ' ';
    for character in visible(text).chars() {
        match SIGNS.iter().find(|(sign, _)| *sign == character) {
            Some((_, written)) => shown.push_str(written),
            // Two hyphens would be a dash.
            None if character == '-' && before == '-' => shown.push_str("{-}"),
            None => shown.push(character),
        }
        before = character;
    }
    shown
}

/// Characters that act in LaTeX, or that its usual fonts do not have, and how they are written.
const SIGNS: &[(char, &str)] = &[
    ('\\', "\\textbackslash{}"),
    ('{', "\\{"),
    ('}', "\\}"),
    ('$', "\\$"),
    ('&', "\\&"),
    ('#', "\\#"),
    ('%', "\\%"),
    ('_', "\\_"),
    ('^', "\\textasciicircum{}"),
    ('~', "\\textasciitilde{}"),
    ('<', "\\textless{}"),
    ('>', "\\textgreater{}"),
    ('|', "\\textbar{}"),
    ('"', "\\char34{}"),
    ('`', "\\textasciigrave{}"),
    // Behind a line break it would be the break's argument.
    ('[', "{[}"),
    (']', "{]}"),
    ('*', "{*}"),
    ('\n', " "),
    ('\t', " "),
    ('\u{a0}', "~"),
    ('\u{2009}', "\\,"),
    ('\u{202f}', "\\,"),
    ('–', "--"),
    ('—', "---"),
    ('−', "$-$"),
    ('±', "$\\pm$"),
    ('×', "$\\times$"),
    ('·', "$\\cdot$"),
    ('≈', "$\\approx$"),
    ('≤', "$\\le$"),
    ('≥', "$\\ge$"),
    ('≠', "$\\ne$"),
    ('∞', "$\\infty$"),
    ('→', "$\\rightarrow$"),
    ('°', "$^\\circ$"),
    ('²', "$^2$"),
    ('³', "$^3$"),
    ('µ', "$\\mu$"),
    ('μ', "$\\mu$"),
    ('α', "$\\alpha$"),
    ('β', "$\\beta$"),
    ('γ', "$\\gamma$"),
    ('Δ', "$\\Delta$"),
    ('λ', "$\\lambda$"),
    ('ρ', "$\\rho$"),
    ('σ', "$\\sigma$"),
    ('τ', "$\\tau$"),
    ('…', "\\ldots{}"),
    ('‘', "`"),
    ('’', "'"),
    ('“', "``"),
    ('”', "''"),
];

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
    fn of_several_factors_the_brief_tables_come_first() {
        let grid = super::super::super::example::grid();
        let text = render(&super::super::super::comparison::document(&grid));
        let tables: Vec<&str> = text.split("\\begin{table").skip(1).collect();
        assert!(tables[0].contains("{RTT 20 ms}"), "{}", tables[0]);
        assert!(tables[0].contains("Shown at buffer "), "{}", tables[0]);
        assert!(
            text.contains("\\begin{table*}") && text.contains("buffer & RTT"),
            "the whole table is there, too"
        );
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

    #[test]
    fn no_name_is_a_command_a_comment_or_a_cell() {
        let text = escaped("\\write18{rm}%&$x^2$~#_`\"[2pt]--\u{1b}\n\nnext");
        assert_eq!(
            text,
            "\\textbackslash{}write18\\{rm\\}\\%\\&\\$x\\textasciicircum{}2\\$\\textasciitilde{}\\#\\_\\textasciigrave{}\\char34{}\
             {[}2pt{]}-{-}\\textbackslash{}u001b  next"
        );
        for character in (0..=0x7f).filter_map(char::from_u32).filter(|one| !one.is_ascii_alphanumeric()) {
            let shown = escaped(&character.to_string());
            let raw = "\\{}$&#%_^~\"`\n".chars().any(|acting| shown == acting.to_string());
            assert!(!raw, "{character:?} is {shown:?}");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tables of a page: in a box that scrolls by itself, and that the keyboard reaches.

use std::fmt::{self, Write};
use std::ops::Range;

use super::super::super::document::{Column, Finding, Shown, Standing, Table, TableLine};
use super::anchor;
use crate::chart::{Data, Escaped};
use crate::table::number::{self, Spread};

/// Opens the box of a table; its label is for screen readers.
pub(super) fn open(page: &mut String, label: &str) -> fmt::Result {
    write!(page, "<div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-label=\"{}\">", Escaped(label))
}

/// The heading of the first column; a plain cell where it has no words, because an empty heading confuses readers.
fn corner(page: &mut String, words: &str) -> fmt::Result {
    match words.is_empty() {
        true => page.write_str("<td></td>"),
        false => write!(page, "<th scope=\"col\">{}</th>", Escaped(words)),
    }
}

/// The most columns of a table, without names, that fit a wide window and paper.
const MOST: usize = 12;

/// A table of a document, in parts one below another where it has many columns, and then the definitions of its words.
pub(super) fn lines(page: &mut String, heading: &str, table: &Table) -> fmt::Result {
    let parts = table.columns.len().div_ceil(MOST).max(1);
    let columns = table.columns.len().div_ceil(parts);
    for place in 0..parts {
        let name = if parts == 1 { String::new() } else { format!(", part {} of {parts}", place + 1) };
        open(page, &format!("Table: {heading}{name}"))?;
        part(page, table, place * columns..((place + 1) * columns).min(table.columns.len()))?;
        page.push_str("</div>\n");
    }
    terms(page, table)
}

/// The table with some of its columns.
fn part(page: &mut String, table: &Table, columns: Range<usize>) -> fmt::Result {
    page.push_str("<table>\n<thead><tr>");
    corner(page, &table.corner)?;
    for column in &table.columns[columns.clone()] {
        head(page, column)?;
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for line in &table.lines {
        row(page, table, line, columns.clone())?;
    }
    page.write_str("</tbody></table>")
}

fn head(page: &mut String, column: &Column) -> fmt::Result {
    let side = side(column);
    let (title, unit) = (Escaped(&column.title), Escaped(&column.unit));
    let title = match &column.class {
        Some(class) => format!("<span class=\"{class}\"><i></i>{title}</span>"),
        None => title.to_string(),
    };
    let unit = if column.unit.is_empty() { String::new() } else { format!("<small>{unit}</small>") };
    write!(page, "<th scope=\"col\"{side}{}>{title}{unit}</th>", tip(&column.about))
}

/// The class of the cells of a column.
fn side(column: &Column) -> &'static str {
    match (column.level, column.text) {
        (true, _) => " class=\"level\"",
        (_, true) => " class=\"text\"",
        _ => "",
    }
}

/// The levels of a line below its name, where they have no columns: on a phone, and in a table's later parts.
fn levels(table: &Table, line: &TableLine, is_first: bool) -> String {
    let own = table.columns.iter().zip(&line.cells).filter(|(column, _)| column.level);
    let told: Vec<String> =
        own.map(|(column, cell)| format!("{} {}", Escaped(&column.title), Escaped(&cell.mean))).collect();
    let class = if is_first { "levels folded" } else { "levels" };
    match told.is_empty() {
        true => String::new(),
        false => format!("<small class=\"{class}\">{}</small>", told.join(",<br>")),
    }
}

fn row(page: &mut String, table: &Table, line: &TableLine, columns: Range<usize>) -> fmt::Result {
    let TableLine { name, about, class, cells } = line;
    let (shown, tip, levels) = (Escaped(name), tip(about), levels(table, line, columns.start == 0));
    match class {
        Some(class) => {
            write!(page, "<tr><th scope=\"row\" class=\"{class}\"{tip}><i></i>{shown}{levels}</th>")?
        }
        None if table.linked => {
            write!(page, "<tr><th scope=\"row\"{tip}><a href=\"#{}\">{shown}</a></th>", anchor(name))?;
        }
        None => write!(page, "<tr><th scope=\"row\"{tip}>{shown}{levels}</th>")?,
    }
    for (Shown { mean, spread, standing }, column) in
        cells[columns.clone()].iter().zip(&table.columns[columns])
    {
        let (side, mean) = match (column.text, standing) {
            (true, _) => (side(column), mean.clone()),
            (_, Standing::Best) => (" class=\"best\"", number::grouped(mean)),
            _ => ("", number::grouped(mean)),
        };
        let spread = match spread {
            Some(Spread::Even(half)) => format!("<small>± {}</small>", number::grouped(half)),
            Some(Spread::Between(low, high)) => {
                format!("<small>{}–{}</small>", number::grouped(low), number::grouped(high))
            }
            None => String::new(),
        };
        let mark = if *standing == Standing::Best { "" } else { standing.mark() };
        write!(page, "<td{side}>{}{mark}{spread}</td>", Escaped(&mean))?;
    }
    page.write_str("</tr>\n")
}

/// The attribute of a tooltip; none without a text.
fn tip(about: &str) -> String {
    if about.is_empty() { String::new() } else { format!(" title=\"{}\"", Escaped(about)) }
}

/// The text of tooltips, for readers without a pointer.
fn terms(page: &mut String, table: &Table) -> fmt::Result {
    let columns = table.columns.iter().map(|column| (&column.title, &column.about));
    let lines = table.lines.iter().map(|line| (&line.name, &line.about));
    let told: Vec<_> = columns.chain(lines).filter(|(_, about)| !about.is_empty()).collect();
    if told.is_empty() {
        return Ok(());
    }
    page.push_str("<details class=\"aside\">\n<summary>What these words mean</summary>\n<dl>\n");
    for (title, about) in told {
        writeln!(page, "<dt>{}</dt><dd>{}</dd>", Escaped(title), Escaped(about))?;
    }
    page.write_str("</dl>\n</details>\n")
}

/// A table of the statements; the columns of numbers only if some statement has any.
pub(super) fn claims(page: &mut String, (heading, what): (&str, &str), claims: &[Finding]) -> fmt::Result {
    let numbers = claims.iter().any(|claim| claim.ours.is_some() || claim.published.is_some());
    let heads = if numbers { "<th scope=\"col\">ours</th><th scope=\"col\">published</th>" } else { "" };
    open(page, &format!("Claims: {heading}"))?;
    writeln!(
        page,
        "<table class=\"claims\">\n<thead><tr><th scope=\"col\">{what}</th><th scope=\"col\">verdict</th>{heads}\
         <th scope=\"col\">why</th></tr></thead>\n<tbody>"
    )?;
    for claim in claims {
        let class = if claim.stands_out { " class=\"fails\"" } else { "" };
        let noise = if claim.noisy { "<small>within noise</small>" } else { "" };
        write!(
            page,
            "<tr><th scope=\"row\">{} <small>{}</small></th>",
            Escaped(&claim.name),
            Escaped(&claim.text)
        )?;
        write!(page, "<td{class}>{}{noise}</td>", Escaped(&claim.verdict))?;
        for number in [&claim.ours, &claim.published].into_iter().filter(|_| numbers) {
            write!(page, "<td>{}</td>", Escaped(number.as_deref().unwrap_or("–")))?;
        }
        writeln!(page, "<td>{}</td></tr>", Escaped(&claim.why.join("; ")))?;
    }
    page.write_str("</tbody></table></div>\n")
}

/// The numbers behind a chart, folded until a reader opens them.
pub(super) fn numbers(page: &mut String, title: &str, panels: &[Data]) -> fmt::Result {
    if panels.is_empty() {
        return Ok(());
    }
    let title = Escaped(title);
    writeln!(
        page,
        "<details class=\"aside\">\n<summary>Numbers<span class=\"unseen\"> of the chart: {title}</span></summary>"
    )?;
    for data in panels {
        open(page, &format!("Numbers: {}", data.title))?;
        page.push_str("<table>\n");
        if panels.len() > 1 {
            writeln!(page, "<caption>{}</caption>", Escaped(&data.title))?;
        }
        page.push_str("<thead><tr>");
        let mut columns = data.columns.iter();
        corner(page, columns.next().map_or("", String::as_str))?;
        for column in columns {
            let words = if column.is_empty() { &data.title } else { column };
            write!(page, "<th scope=\"col\">{}</th>", Escaped(words))?;
        }
        page.push_str("</tr></thead>\n<tbody>\n");
        for row in &data.rows {
            let mut cells = row.iter();
            let name = cells.next().map_or("", String::as_str);
            write!(page, "<tr><th scope=\"row\">{}</th>", Escaped(name))?;
            for cell in cells {
                write!(page, "<td>{}</td>", Escaped(cell))?;
            }
            page.push_str("</tr>\n");
        }
        page.push_str("</tbody></table></div>\n");
        if !data.left_out.is_empty() {
            writeln!(page, "<p class=\"note\">{}</p>", Escaped(&data.left_out))?;
        }
    }
    page.write_str("</details>\n")
}

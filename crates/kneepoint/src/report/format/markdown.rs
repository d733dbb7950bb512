// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Markdown for repositories and comments. Figures are linked as `figures/NAME.svg`.

use super::super::document::{Block, Document, Figure, Finding, Inline, Prose, Standing, Table};
use super::Format;
use super::tabulated::{self, Tabulated};
use crate::visible::visible;

/// Markdown with tables.
pub const FORMAT: Format = Format { name: "markdown", extension: "md", render };

/// The tables alone.
pub const TABLES: Format = Format { name: "markdown", extension: "md", render: tables };

/// The tables of a document, below the headings of their sections.
pub fn tables(document: &Document) -> String {
    let mut parts = vec![format!("# {}\n", escaped(&document.title))];
    let mut before = "";
    for Tabulated { heading, notes, table } in tabulated::tables(document) {
        if heading != before {
            parts.push(format!("## {}\n", escaped(heading)));
        }
        before = heading;
        parts.push(lines(&Table { linked: false, ..table.into_owned() }));
        parts.extend(notes.into_iter().map(paragraph));
    }
    parts.join("\n")
}

/// The whole document.
pub fn render(document: &Document) -> String {
    let mut parts = vec![format!("# {}\n", escaped(&document.title))];
    parts.extend(Some(paragraph(&document.about)).filter(|text| text != "\n"));
    for section in &document.sections {
        if !section.heading.is_empty() {
            parts.push(format!("## {}\n", escaped(&section.heading)));
        }
        parts.extend(section.blocks.iter().flat_map(block));
    }
    parts.join("\n")
}

/// Blocks of lines, each with its last line ended.
fn block(block: &Block) -> Vec<String> {
    match block {
        Block::Prose(prose) => vec![paragraph(prose)],
        Block::List(items) => vec![items.iter().map(|item| format!("* {}", paragraph(item))).collect()],
        Block::Table(table) => vec![lines(table)],
        Block::Figures(_, figures) => figures.iter().map(figure).collect(),
        Block::Findings(what, of) => vec![claims(what, of)],
        Block::Key(_) | Block::Paper(_) => Vec::new(),
        Block::Facts(facts) => {
            let fact =
                |(name, value): &(String, String)| format!("| {} | {} |\n", escaped(name), escaped(value));
            vec![format!("| | |\n|---|---|\n{}", facts.iter().map(fact).collect::<String>())]
        }
        Block::Listing(name, text) => {
            let text = visible(text.trim_end());
            let fence = "`".repeat(longest_run(&text).max(2) + 1);
            vec![format!("{}\n\n{fence}text\n{text}\n{fence}\n", escaped(name))]
        }
        Block::Pages { blocks, .. } => blocks.iter().flat_map(self::block).collect(),
    }
}

fn figure(figure: &Figure) -> String {
    let note = if figure.note.is_empty() { String::new() } else { format!("\n{}\n", escaped(figure.note)) };
    format!("![{}](figures/{}.svg)\n{note}", escaped(&figure.title), figure.name)
}

fn lines(table: &Table) -> String {
    let heads = table.columns.iter().map(|column| format!(" {} |", escaped(&column.title_and_unit())));
    let marks = table.columns.iter().map(|column| if column.text { "---|" } else { "---:|" });
    let mut text = format!(
        "| {} |{}\n|---|{}\n",
        escaped(&table.corner),
        heads.collect::<String>(),
        marks.collect::<String>()
    );
    for line in &table.lines {
        let name = match table.linked {
            true => format!("[{}](#{})", escaped(&line.name), anchor(&line.name)),
            false => escaped(&line.name),
        };
        let cells = line.cells.iter().map(|shown| match (escaped(&shown.text()), shown.standing) {
            (cell, Standing::Best) => format!(" **{cell}** |"),
            (cell, standing) => format!(" {cell}{} |", standing.mark()),
        });
        text += &format!("| {name} |{}\n", cells.collect::<String>());
    }
    text
}

/// A table of the statements; the columns of numbers only if some statement has any.
fn claims(what: &str, claims: &[Finding]) -> String {
    let numbers = claims.iter().any(|claim| claim.ours.is_some() || claim.published.is_some());
    let (heads, marks) = if numbers { (" ours | published |", "---|---|") } else { ("", "") };
    let mut text = format!("| {what} | verdict |{heads} why |\n|---|---|{marks}---|\n");
    for claim in claims {
        let verdict = escaped(&claim.verdict);
        let verdict = if claim.stands_out { format!("**{verdict}**") } else { verdict };
        let noise = if claim.noisy { " (within noise)" } else { "" };
        let number =
            |number: &Option<String>| number.as_ref().map_or("–".to_string(), |number| escaped(number));
        let numbers = match numbers {
            true => format!(" {} | {} |", number(&claim.ours), number(&claim.published)),
            false => String::new(),
        };
        let statement = format!("**{}** {}", escaped(&claim.name), escaped(&claim.text));
        text += &format!(
            "| {} | {verdict}{noise} |{numbers} {} |\n",
            statement.trim_end(),
            escaped(&claim.why.join("; "))
        );
    }
    text
}

fn paragraph(prose: &Prose) -> String {
    let inline = |inline: &Inline| match inline {
        Inline::Plain(text) => escaped(text),
        Inline::Strong(text) => format!("**{}**", escaped(text)),
        Inline::Emphasis(text) => format!("*{}*", escaped(text)),
        Inline::Code(text) => code(text),
        Inline::Link(text, address) => format!("[{}]({address})", escaped(text)),
    };
    prose.0.iter().map(inline).collect::<String>() + "\n"
}

/// The anchor that readers of Markdown give a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
}

/// Escaped text: it contains no active markup, link, image or address.
fn escaped(text: &str) -> String {
    let mut shown = String::new();
    let mut before = ' ';
    let text = visible(text);
    for (place, character) in text.char_indices() {
        let rest = &text[place + character.len_utf8()..];
        match character {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '\\' | '`' | '*' | '[' | ']' | '|' | '~' => shown.extend(['\\', character]),
            // Within a word it is not emphasis.
            '_' if !(before.is_alphanumeric() && rest.starts_with(char::is_alphanumeric)) => {
                shown.push_str("\\_")
            }
            // Readers turn apparent addresses into links.
            ':' if rest.starts_with("//") => shown.push_str("\\:"),
            '.' if shown.to_ascii_lowercase().ends_with("www") => shown.push_str("\\."),
            '@' => shown.push_str("\\@"),
            '\n' => shown.push(' '),
            other => shown.push(other),
        }
        before = character;
    }
    shown
}

/// A text in a run of backticks longer than any in it.
fn code(text: &str) -> String {
    let text = visible(text).replace('\n', " ");
    let fence = "`".repeat(longest_run(&text) + 1);
    match text.starts_with('`') || text.ends_with('`') {
        true => format!("{fence} {text} {fence}"),
        false => format!("{fence}{text}{fence}"),
    }
}

/// The length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_line_of_a_table_has_the_same_number_of_cells_and_names_stay_text() {
        let text = super::render(&super::super::tests::example());
        for table in text.split("\n\n").filter(|part| part.starts_with('|')) {
            let bars = |line: &str| line.replace("\\|", "").matches('|').count();
            assert!(table.lines().all(|line| bars(line) == bars(table.lines().next().unwrap())), "{table}");
        }
        assert!(text.contains("| scheme | share, % | remark |\n|---|---:|---|\n"), "{text}");
        assert!(text.contains("| a\\|&lt;b> | 50.0 ± 2.0 | fine |"), "{text}");
        assert!(text.contains("**strong**, *stressed* and `knee`"), "{text}");
        assert!(
            text.contains("| **c1** It is &lt;used>. | **fails** | 0.5 | 0.9 | short by 0.4 |"),
            "{text}"
        );
    }

    #[test]
    fn an_anchor_has_no_dots() {
        assert_eq!(super::anchor("pert.fig13-14"), "pertfig13-14");
    }
}

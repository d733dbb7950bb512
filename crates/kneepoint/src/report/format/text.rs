// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Plain text for terminals: lines of 80 columns, wider only where a cell is.

use super::super::document::{Block, Document, Finding, Prose, Shown, Table, TableLine};
use super::Format;
use crate::table::number::NONE;
use crate::visible::visible;

/// Plain text.
pub const FORMAT: Format = Format { name: "text", extension: "txt", render };

/// Columns of a terminal.
const WIDTH: usize = 80;

/// The document without figures and without blocks for pages.
pub fn render(document: &Document) -> String {
    let mut parts = vec![wrapped(&document.title, 0)];
    parts[0] += &wrapped(&document.about.plain(), 0);
    for section in &document.sections {
        let text = blocks(&section.blocks);
        if !text.is_empty() {
            parts.push(wrapped(&section.heading, 0) + &text);
        }
    }
    visible(&parts.join("\n")).into_owned()
}

/// Blocks with an empty line between, without those that say nothing.
fn blocks(blocks: &[Block]) -> String {
    let texts = blocks.iter().map(block).filter(|text| !text.is_empty());
    texts.collect::<Vec<_>>().join("\n")
}

fn block(block: &Block) -> String {
    match block {
        Block::Prose(prose) => wrapped(&prose.plain(), 0),
        Block::List(items) => items.iter().map(item).collect(),
        Block::Table(table) => lines(table),
        Block::Findings(claims) => claims.iter().map(claim).collect(),
        Block::Facts(facts) => {
            let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
            facts.iter().map(|(name, value)| beside(name, value, width)).collect()
        }
        Block::Pages { terminal, .. } => blocks(terminal),
        Block::Figures(..) | Block::Key(_) | Block::Listing(..) => String::new(),
    }
}

fn item(prose: &Prose) -> String {
    let text = wrapped(&prose.plain(), 2);
    text.replacen("  ", "* ", 1)
}

/// The name and the verdict, and below them the statement, the numbers and the grounds.
fn claim(claim: &Finding) -> String {
    let mut text = format!("{}: {}\n", claim.name, claim.verdict);
    let mut sentences: Vec<String> = Vec::new();
    sentences.extend((!claim.text.is_empty()).then(|| claim.text.clone()));
    if let (Some(ours), Some(published)) = (&claim.ours, &claim.published) {
        sentences.push(format!("Ours: {ours}; published: {published}."));
    }
    if sentences.is_empty() {
        text.extend(claim.why.iter().map(|why| wrapped(why, 4)));
    } else {
        sentences.extend(claim.why.iter().map(|why| sentence(why)));
        text += &wrapped(&sentences.join(" "), 4);
    }
    text
}

/// With a capital and a full stop.
pub(in crate::report) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str().trim_end_matches('.')),
        None => String::new(),
    }
}

/// Lines of words behind an indent; nothing if there are no words.
fn wrapped(text: &str, indent: usize) -> String {
    hanging(&" ".repeat(indent), text, WIDTH)
}

/// Lines of words, the first behind a name and the others below its first word; nothing if there are no words.
pub fn hanging(name: &str, text: &str, width: usize) -> String {
    let indent = name.chars().count();
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("{:indent$}{word}", "")),
            None => lines.push(format!("{name}{word}")),
        }
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// A text behind a name of a column that is so wide; below it where it would get less than a third of a line.
fn beside(name: &str, text: &str, width: usize) -> String {
    match width + 2 {
        indent if WIDTH - WIDTH / 3 < indent => format!("{name}\n{}", wrapped(text, 4)),
        _ if text.is_empty() => format!("{name}\n"),
        _ => hanging(&format!("{name:<width$}  "), text, WIDTH),
    }
}

/// A name in lines of at most [`WIDEST`] characters, broken where it has a space, a comma or a slash.
fn folded(name: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for piece in name.split_inclusive([' ', ',', '/']) {
        let last = lines.len() - 1;
        let length = lines[last].chars().count();
        if length > 0 && length + piece.trim_end().chars().count() > WIDEST {
            lines.push(piece.to_string());
        } else {
            lines[last].push_str(piece);
        }
    }
    lines.iter().map(|line| line.trim_end().to_string()).collect()
}

/// Longest line of a name in the first column: so much is left for numbers.
const WIDEST: usize = 40;

/// As many columns side by side as there is room for; then the others, below the names again, but for those that say nothing
/// of these columns.
fn lines(table: &Table) -> String {
    let grid = |columns: &[usize], all: bool| -> Vec<Vec<String>> {
        let head = |first: &str, of: &dyn Fn(usize) -> String| -> Vec<String> {
            [first.to_string()].into_iter().chain(columns.iter().map(|column| of(*column))).collect()
        };
        let mut grid = vec![head(&table.corner, &|column| table.columns[column].title.clone())];
        if columns.iter().any(|column| !table.columns[*column].unit.is_empty()) {
            grid.push(head("", &|column| table.columns[column].unit.clone()));
        }
        // What is best has a star, and the rest of its column a space, so that digits stay below each other.
        let marked = |column: usize| table.lines.iter().any(|line| line.cells[column].best);
        let cells = |cells: &[Shown], column: usize| match (cells[column].best, marked(column)) {
            (true, _) => cells[column].text() + "*",
            (false, true) => cells[column].text() + " ",
            (false, false) => cells[column].text(),
        };
        let told = |line: &&TableLine| all || columns.iter().any(|column| line.cells[*column].mean != NONE);
        for line in table.lines.iter().filter(told) {
            let mut names = folded(&line.name);
            let last = names.pop().unwrap_or_default();
            grid.extend(names.into_iter().map(|name| vec![name]));
            grid.push(head(&last, &|column| cells(&line.cells, column)));
        }
        grid
    };
    let text = |columns: &[usize], all: bool| {
        if let [one] = columns
            && table.columns[*one].text
        {
            return words(table, *one);
        }
        let left: Vec<bool> =
            [true].into_iter().chain(columns.iter().map(|column| table.columns[*column].text)).collect();
        aligned(&grid(columns, all), &left)
    };
    let fits = |columns: &[usize]| text(columns, true).lines().all(|line| line.chars().count() <= WIDTH);
    let mut parts: Vec<Vec<usize>> = vec![Vec::new()];
    for column in 0..table.columns.len() {
        let last = parts.len() - 1;
        let wider: Vec<usize> = parts[last].iter().copied().chain([column]).collect();
        if parts[last].is_empty() || fits(&wider) {
            parts[last] = wider;
        } else {
            parts.push(vec![column]);
        }
    }
    parts.iter().map(|columns| text(columns, parts.len() == 1)).collect::<Vec<_>>().join("\n")
}

/// One column of text, in lines beside the names.
fn words(table: &Table, column: usize) -> String {
    let lines = || {
        let title = (table.corner.as_str(), table.columns[column].title.clone());
        [title]
            .into_iter()
            .chain(table.lines.iter().map(move |line| (line.name.as_str(), line.cells[column].text())))
    };
    let width = lines().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    lines().map(|(name, text)| beside(name, &text, width)).collect()
}

/// Cells to the left or to the right of their columns, two spaces between columns.
fn aligned(lines: &[Vec<String>], left: &[bool]) -> String {
    let length = |cell: &String| cell.chars().count();
    let widths: Vec<usize> = (0..left.len())
        .map(|column| lines.iter().filter_map(|line| line.get(column)).map(length).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for line in lines {
        let cells = line.iter().zip(&widths).zip(left).map(|((cell, width), left)| match left {
            true => format!("{cell:<width$}"),
            false => format!("{cell:>width$}"),
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::super::document::Column;
    use super::*;

    #[test]
    fn a_wide_table_continues_below_and_prose_is_wrapped() {
        let columns = (0..12).map(|place| Column::number(format!("column {place}"), "ms"));
        // Undefined but in the first column.
        let few = (0..12).map(|place| if place == 0 { "0".into() } else { NONE.to_string().into() });
        let table = Table {
            corner: "name".into(),
            columns: columns.collect(),
            lines: vec![
                TableLine::new("one", (0..12).map(|place| place.to_string().into()).collect()),
                TableLine::new("few", few.collect()),
            ],
            linked: false,
        };
        let text = lines(&table);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("one ")).count(), 2, "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("few ")).count(), 1, "{text}");
        let prose = wrapped(&"word ".repeat(40), 4);
        assert!(prose.lines().all(|line| line.len() <= WIDTH && line.starts_with("    word")), "{prose}");
    }

    #[test]
    fn long_names_are_folded_and_no_line_is_wider_than_a_terminal() {
        let name = "topology.buffer=0.5bdp scheme=pert:t1=3ms,decrease=0.25/self-configuring-red/oracle";
        let table = Table {
            corner: "case".into(),
            columns: vec![Column::number("queue", "packets"), Column::number("delay", "ms")],
            lines: vec![TableLine::new(name, vec!["12.5 ± 0.3".into(), "4.2 ± 0.1".into()])],
            linked: false,
        };
        let text = lines(&table);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.contains("\nself-configuring-red/oracle"), "{text}");
        let value = "a value of so many words that it has to stand on several lines of its own";
        let facts = Block::Facts(vec![("short".into(), value.into()), ("n".repeat(60), value.into())]);
        let listed = super::block(&facts);
        assert!(listed.lines().all(|line| line.chars().count() <= WIDTH), "{listed}");
        assert!(listed.starts_with("short\n    a value"), "{listed}");
    }

    #[test]
    fn numbers_are_aligned_to_the_right_and_files_are_left_out() {
        let text = render(&super::super::tests::example());
        assert!(text.contains("scheme       share  remark\n"), "{text}");
        assert!(text.contains("a|<b>   50.0 ± 2.0  fine\n"), "{text}");
        assert!(
            text.contains("c1: fails\n    It is <used>. Ours: 0.5; published: 0.9. Short by 0.4.\n"),
            "{text}"
        );
        assert!(!text.contains("a < b"), "{text}");
    }
}

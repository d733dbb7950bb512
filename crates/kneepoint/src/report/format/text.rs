// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Plain text for terminals: lines of the terminal's width, or 80 columns, and wider only where a cell is.

use super::super::document::{Block, Column, Document, Finding, Prose, Shown, Table, TableLine};
use super::Format;
use crate::table::number::NONE;
use crate::visible::visible;

/// Plain text.
pub const FORMAT: Format = Format { name: "text", extension: "txt", render };

/// Columns of a terminal of unknown width, and of files.
const USUAL: usize = 80;
/// Columns of the narrowest supported terminal.
const NARROWEST: usize = 16;
/// Columns below which a table that does not fit is a list of its cells.
const STACKED: usize = 40;
/// Longest line of prose: longer ones are hard to follow.
const PROSE: usize = 100;

/// The document without figures and without blocks for pages, in 80 columns.
pub fn render(document: &Document) -> String {
    within(document, USUAL)
}

/// The same for a terminal of this many columns: tables use all of them, and prose as many as are easy to read.
pub fn within(document: &Document, columns: usize) -> String {
    let terminal = Terminal(columns.max(NARROWEST));
    let mut parts = vec![terminal.wrapped(&document.title, 0)];
    parts[0] += &terminal.wrapped(&document.about.plain(), 0);
    for section in &document.sections {
        let text = terminal.blocks(&section.blocks);
        if !text.is_empty() {
            parts.push(terminal.wrapped(&section.heading, 0) + &text);
        }
    }
    visible(&parts.join("\n")).into_owned()
}

/// The columns of a terminal.
#[derive(Clone, Copy)]
struct Terminal(usize);

impl Terminal {
    /// Blocks with an empty line between, without empty ones.
    fn blocks(self, blocks: &[Block]) -> String {
        let texts = blocks.iter().map(|block| self.block(block)).filter(|text| !text.is_empty());
        texts.collect::<Vec<_>>().join("\n")
    }

    fn block(self, block: &Block) -> String {
        match block {
            Block::Prose(prose) => self.wrapped(&prose.plain(), 0),
            Block::List(items) => items.iter().map(|item| self.item(item)).collect(),
            Block::Table(table) => self.lines(table),
            Block::Findings(_, claims) => claims.iter().map(|claim| self.claim(claim)).collect(),
            Block::Facts(facts) => {
                let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
                facts.iter().map(|(name, value)| self.beside(name, value, width)).collect()
            }
            Block::Pages { terminal, .. } => self.blocks(terminal),
            Block::Figures(..) | Block::Key(_) | Block::Listing(..) | Block::Paper(_) => String::new(),
        }
    }

    fn item(self, prose: &Prose) -> String {
        let text = self.wrapped(&prose.plain(), 2);
        text.replacen("  ", "* ", 1)
    }

    /// The name and the verdict, and below them the statement, the numbers and the grounds.
    fn claim(self, claim: &Finding) -> String {
        let mut text = format!("{}: {}\n", claim.name, claim.verdict);
        let mut sentences: Vec<String> = Vec::new();
        sentences.extend((!claim.text.is_empty()).then(|| claim.text.clone()));
        if let (Some(ours), Some(published)) = (&claim.ours, &claim.published) {
            sentences.push(format!("Ours: {ours}; published: {published}."));
        }
        if sentences.is_empty() {
            text.extend(claim.why.iter().map(|why| self.wrapped(why, 4)));
        } else {
            sentences.extend(claim.why.iter().map(|why| sentence(why)));
            text += &self.wrapped(&sentences.join(" "), 4);
        }
        text
    }

    /// Lines of words behind an indent; nothing if there are no words.
    fn wrapped(self, text: &str, indent: usize) -> String {
        hanging(&" ".repeat(indent), text, self.0.min(PROSE))
    }

    /// A text behind a name of a column that is so wide; below it where it would get less than a third of a line.
    fn beside(self, name: &str, text: &str, width: usize) -> String {
        let room = self.0.min(PROSE);
        match width + 2 {
            indent if room - room / 3 < indent => format!("{name}\n{}", self.wrapped(text, 4)),
            _ if text.is_empty() => format!("{name}\n"),
            _ => hanging(&format!("{name:<width$}  "), text, room),
        }
    }

    /// As many columns side by side as fit; then the others, below repeated names, without rows that are empty in these
    /// columns.
    fn lines(self, table: &Table) -> String {
        let grid = |columns: &[usize], all: bool| -> Vec<Vec<String>> {
            let head = |first: &str, of: &dyn Fn(usize) -> String| -> Vec<String> {
                [first.to_string()].into_iter().chain(columns.iter().map(|column| of(*column))).collect()
            };
            let title = |column: usize| {
                let Column { title, alone, .. } = &table.columns[column];
                let is_first = columns.first() == Some(&column) && !alone.is_empty();
                if is_first { alone.clone() } else { title.clone() }
            };
            let mut grid = vec![head(&table.corner, &title)];
            if columns.iter().any(|column| !table.columns[*column].unit.is_empty()) {
                grid.push(head("", &|column| table.columns[column].unit.clone()));
            }
            // A mark follows its number, and a space follows the other numbers of its column, so that digits stay aligned.
            let marked =
                |column: usize| table.lines.iter().any(|line| !line.cells[column].standing.mark().is_empty());
            let cells = |cells: &[Shown], column: usize| {
                let (text, mark) = (cells[column].text(), cells[column].standing.mark());
                if marked(column) { format!("{text}{mark:1}") } else { text }
            };
            let told =
                |line: &&TableLine| all || columns.iter().any(|column| line.cells[*column].mean != NONE);
            for line in table.lines.iter().filter(told) {
                let mut names = folded(&line.name, self.0 / 2);
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
                return self.words(table, *one);
            }
            let left: Vec<bool> =
                [true].into_iter().chain(columns.iter().map(|column| table.columns[*column].text)).collect();
            aligned(&grid(columns, all), &left)
        };
        let fits = |columns: &[usize]| text(columns, true).lines().all(|line| line.chars().count() <= self.0);
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
        let tables: Vec<String> = parts.iter().map(|columns| text(columns, parts.len() == 1)).collect();
        let shown = tables.join("\n");
        let wide = shown.lines().any(|line| line.chars().count() > self.0);
        if wide && self.0 < STACKED { self.stacked(table) } else { shown }
    }

    /// Each line of a table as its name with its non-empty cells below it.
    fn stacked(self, table: &Table) -> String {
        let cell = |(column, shown): (&Column, &Shown)| {
            let unit = if column.unit.is_empty() { String::new() } else { format!(" {}", column.unit) };
            let (text, mark) = (shown.text(), shown.standing.mark());
            (shown.mean != NONE)
                .then(|| hanging("  ", &format!("{}: {text}{mark}{unit}", column.title), self.0))
        };
        let line = |line: &TableLine| {
            let cells: String = table.columns.iter().zip(&line.cells).filter_map(cell).collect();
            self.wrapped(&line.name, 0) + &cells
        };
        table.lines.iter().map(line).collect()
    }

    /// One column of text, in lines next to the names.
    fn words(self, table: &Table, column: usize) -> String {
        let lines = || {
            let title = (table.corner.as_str(), table.columns[column].title.clone());
            [title]
                .into_iter()
                .chain(table.lines.iter().map(move |line| (line.name.as_str(), line.cells[column].text())))
        };
        let width = lines().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        lines().map(|(name, text)| self.beside(name, &text, width)).collect()
    }
}

/// With a capital and a full stop.
pub(in crate::report) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str().trim_end_matches('.')),
        None => String::new(),
    }
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

/// A name in lines of at most this many characters, broken where it has a space, a comma or a slash.
fn folded(name: &str, longest: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for piece in name.split_inclusive([' ', ',', '/']) {
        let last = lines.len() - 1;
        let length = lines[last].chars().count();
        if length > 0 && length + piece.trim_end().chars().count() > longest {
            lines.push(piece.to_string());
        } else {
            lines[last].push_str(piece);
        }
    }
    lines.iter().map(|line| line.trim_end().to_string()).collect()
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
        let text = Terminal(USUAL).lines(&table);
        assert!(text.lines().all(|line| line.chars().count() <= USUAL), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("one ")).count(), 2, "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("few ")).count(), 1, "{text}");
        let prose = Terminal(USUAL).wrapped(&"word ".repeat(40), 4);
        assert!(prose.lines().all(|line| line.len() <= USUAL && line.starts_with("    word")), "{prose}");
    }

    #[test]
    fn a_table_takes_the_columns_that_it_needs_and_no_more_than_there_are() {
        let columns = (0..9).map(|place| Column::number(format!("column {place}"), "ms")).collect();
        let cells = (0..9).map(|place| place.to_string().into()).collect();
        let table = Table {
            corner: "name".into(),
            columns,
            lines: vec![TableLine::new("one", cells)],
            linked: false,
        };
        let widest = |width: usize| {
            let text = Terminal(width).lines(&table);
            (text.matches("one ").count(), text.lines().map(|line| line.chars().count()).max().unwrap_or(0))
        };
        assert_eq!(widest(160), (1, 4 + 9 * 10));
        assert_eq!(widest(94), (1, 94));
        assert_eq!((widest(93).0, widest(50).0), (2, 3));
        assert!([93, 80, 50].into_iter().all(|width| widest(width).1 <= width));
        let words = "word ".repeat(60);
        let longest =
            |width: usize| Terminal(width).wrapped(&words, 0).lines().map(str::len).max().unwrap_or(0);
        assert!(longest(200) <= PROSE && longest(200) > USUAL && longest(60) <= 60);
    }

    #[test]
    fn a_terminal_too_narrow_for_a_table_has_a_list_of_its_cells() {
        let table = Table {
            corner: "case".into(),
            columns: vec![Column::number("queueing delay", "packets"), Column::text("remark")],
            lines: vec![TableLine::new("a long name of a case", vec!["12.5 ± 0.3".into(), "fine".into()])],
            linked: false,
        };
        for width in [1, 16, 20, 30, 39] {
            let text = Terminal(width.max(NARROWEST)).lines(&table);
            assert!(text.lines().all(|line| line.chars().count() <= width.max(NARROWEST)), "{width}: {text}");
            let words: Vec<&str> = text.split_whitespace().collect();
            assert!(words.join(" ").contains("queueing delay"), "{width}: {text}");
        }
        let narrow = Terminal(20).lines(&table);
        assert_eq!(
            narrow,
            "a long name of a\ncase\n  queueing delay:\n  12.5 ± 0.3 packets\n  remark: fine\n"
        );
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
        let text = Terminal(USUAL).lines(&table);
        assert!(text.lines().all(|line| line.chars().count() <= USUAL), "{text}");
        assert!(text.contains("\nself-configuring-red/oracle"), "{text}");
        let value = "a value of so many words that it has to stand on several lines of its own";
        let facts = Block::Facts(vec![("short".into(), value.into()), ("n".repeat(60), value.into())]);
        let listed = Terminal(USUAL).block(&facts);
        assert!(listed.lines().all(|line| line.chars().count() <= USUAL), "{listed}");
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

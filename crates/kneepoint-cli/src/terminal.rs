// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Text of the terminal's width, or of the width in `COLUMNS`. Other output to a pipe or a file is not changed: a line for each item.

mod equation;

use std::io::{IsTerminal, stderr, stdout};

use kneepoint::report::document::Document;
use kneepoint::report::format::text;
use kneepoint::visible::{acts, visible};

/// The fewest columns for a text next to its name.
const LEAST: usize = 24;
/// Columns before a text that must be placed below its name.
const INDENT: usize = 6;

/// Columns in `COLUMNS`, or of the terminal that shows standard output; none where it is redirected.
pub fn columns() -> Option<usize> {
    let size = || {
        let shown = stdout().is_terminal();
        shown.then(|| rustix::termios::tcgetwinsize(stdout()).ok()).flatten()
    };
    let own = || size().map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
    wished().or_else(own)
}

/// Columns that the caller requests, for any destination: a pager has them, too.
fn wished() -> Option<usize> {
    read(&std::env::var("COLUMNS").ok()?)
}

/// A width from `COLUMNS`; none if it is not a width.
fn read(columns: &str) -> Option<usize> {
    columns.trim().parse().ok().filter(|columns| *columns > 0)
}

/// A document of this width; in 80 columns where it is unknown.
pub fn shown(document: &Document) -> String {
    match columns() {
        Some(columns) => text::within(document, columns),
        None => text::render(document),
    }
}

/// A message for standard error, every character of it visible, in lines of whole words to the right of `error:` or
/// `help:`.
pub fn message(words: &str) -> String {
    // `  = help: ` behind a number of three digits.
    const BEFORE: usize = 13;
    let words = visible(words);
    let Some(columns) = error_columns() else { return words.into_owned() };
    let width = columns.saturating_sub(BEFORE).max(LEAST);
    let lines = words.lines().map(|line| text::hanging("", line, width));
    lines.collect::<String>().trim_end().to_string()
}

/// A refusal of arguments for standard error, in lines of whole words; nothing if its lines fit unchanged, and every character of
/// them is visible.
pub fn refusal(text: &str) -> Option<String> {
    if text.contains(acts) {
        return Some(visible(text).into_owned());
    }
    let columns =
        error_columns().filter(|columns| text.lines().any(|line| line.chars().count() > *columns))?;
    Some(text.lines().map(|line| folded(line, columns)).collect())
}

/// A line as several, the further ones below its first word.
fn folded(line: &str, columns: usize) -> String {
    let indent = &line[..line.len() - line.trim_start().len()];
    let lines = text::hanging(indent, line, columns.max(LEAST));
    if lines.is_empty() { "\n".into() } else { lines }
}

/// Columns of the terminal that shows standard error; none where it is redirected.
fn error_columns() -> Option<usize> {
    let shown = stderr().is_terminal();
    let size = shown.then(|| rustix::termios::tcgetwinsize(stderr()).ok()).flatten()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// A text behind its name, with further lines below its own first word.
pub fn hanging(name: &str, words: &str, columns: Option<usize>) -> String {
    match columns {
        // No room next to the name: below it.
        Some(columns) if !words.is_empty() && columns < name.chars().count() + LEAST => {
            format!(
                "{}\n{}",
                name.trim_end(),
                text::hanging(&" ".repeat(INDENT), words, columns.max(INDENT + LEAST))
            )
        }
        Some(columns) if !words.is_empty() => text::hanging(name, words, columns),
        _ => format!("{name}{words}").trim_end().to_string() + "\n",
    }
}

/// The documentation of an item in lines of the terminal's width: prose and lists are filled, equations are broken
/// where they are wider.
pub fn documentation(text: &str, columns: Option<usize>) -> String {
    // Code fences are for rustdoc.
    const FENCE: &str = "```";
    let (mut shown, mut prose, mut verbatim) = (String::new(), String::new(), false);
    for line in text.lines() {
        let fence = line.starts_with(FENCE);
        let as_it_is = verbatim || line.is_empty() || columns.is_none();
        if fence || as_it_is || line.starts_with("* ") {
            shown += &paragraph(&std::mem::take(&mut prose), columns);
        }
        match () {
            () if fence => verbatim = !verbatim,
            () if as_it_is => {
                shown += &columns.map_or(format!("{line}\n"), |columns| equation::folded(line, columns));
            }
            () => prose.extend([line.trim(), " "]),
        }
    }
    shown += &paragraph(&prose, columns);
    shown.trim_end().to_string() + "\n"
}

/// A paragraph, or an item of a list behind its star; nothing if there are no words.
fn paragraph(prose: &str, columns: Option<usize>) -> String {
    match prose.strip_prefix("* ") {
        _ if prose.is_empty() => String::new(),
        Some(item) => hanging("* ", item, columns),
        None => hanging("", prose, columns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_hangs_behind_its_name_and_a_pipe_gets_one_line() {
        assert_eq!(
            hanging("pert  ", "responds early, and at random", None),
            "pert  responds early, and at random\n"
        );
        let narrow = hanging("pert  ", "responds early, and at random", Some(30));
        assert_eq!(narrow, "pert  responds early, and at\n      random\n");
        let below = hanging("a name with much room  ", "responds early, and at random", Some(36));
        assert_eq!(below, "a name with much room\n      responds early, and at random\n");
    }

    #[test]
    fn a_width_is_a_number_above_zero() {
        assert_eq!(
            ["160", " 80 ", "0", "-3", "", "wide"].map(read),
            [Some(160), Some(80), None, None, None, None]
        );
    }

    #[test]
    fn a_line_is_folded_at_words_below_its_indent() {
        assert_eq!(
            folded("  [possible values: one, two, three]", 24),
            "  [possible values: one,\n  two, three]\n"
        );
        assert_eq!(folded("", 24), "\n");
    }

    #[test]
    fn equations_keep_their_lines_and_prose_does_not() {
        let text = "One line\nof two.\n\n```text\na = b\n  + c\n```\n\n* an item that\n  goes on";
        let shown = "One line of two.\n\na = b\n  + c\n\n* an item that goes on\n";
        assert_eq!(documentation(text, Some(80)), shown);
        assert_eq!(documentation(text, None), text.replace("```text\n", "").replace("```\n", "") + "\n");
    }
}

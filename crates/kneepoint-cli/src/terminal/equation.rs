// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Lines of equations for as many columns as there are.
//!
//! A line has cells with two blanks or more between: an equation, its condition, its source. A cell without room continues below its
//! own beginning, or as a whole below the first one. An equation is broken before an operator, and outside of parentheses if it can be.

/// Columns that a cell gets at least where it is.
const LEAST: usize = 24;
/// Columns by which the rest of an equation is indented.
const INDENT: usize = 4;
/// Possible beginnings of a line.
const OPERATORS: [&str; 17] =
    ["+", "-", "−", "·", "×", "/", "=", "<", ">", "≤", "≥", "≈", "<=", ">=", "<-", "if", "else"];

/// A line as several, none wider than `columns` unless a word is.
pub fn folded(line: &str, columns: usize) -> String {
    if width(line) <= columns {
        return format!("{line}\n");
    }
    let cells = cells(line);
    // A line that begins far to the right continues the previous one.
    let indent = cells.first().map_or(0, |(column, _)| (*column).min(columns.saturating_sub(LEAST)));
    let below = indent + INDENT;
    let (mut lines, mut last) = (String::new(), String::new());
    for (column, cell) in cells {
        let (first, behind) = (last.is_empty(), width(&last) + 2);
        let fitting = match () {
            () if first => Some(indent),
            // A separate column, and not the next of a sequence.
            () if behind < column && column + width(cell).min(LEAST) <= columns => Some(column),
            () if behind.max(column) + width(cell) <= columns => Some(behind.max(column)),
            () if behind + width(cell) <= columns => Some(behind),
            () => None,
        };
        if fitting.is_none() {
            lines += &format!("{last}\n");
            last.clear();
        }
        let begin = fitting.unwrap_or(below);
        // A line that begins far to the right is not an equation.
        let rest = if first && indent < LEAST { below } else { begin };
        last += &" ".repeat(begin - width(&last));
        let mut words = cell;
        let mut room = columns.saturating_sub(begin);
        while let Some((before, after)) = split(words, room) {
            lines += &format!("{last}{before}\n");
            (words, last, room) = (after, " ".repeat(rest), columns.saturating_sub(rest));
        }
        last += words;
    }
    lines + &last + "\n"
}

/// The cells of a line, each with its column.
fn cells(line: &str) -> Vec<(usize, &str)> {
    let (mut found, mut begin): (Vec<(usize, &str)>, _) = (Vec::new(), 0);
    for part in line.split_inclusive("  ") {
        let cell = part.trim();
        let column = width(&line[..begin + (part.len() - part.trim_start().len())]);
        begin += part.len();
        if !cell.is_empty() {
            found.push((column, cell));
        }
    }
    found
}

/// Two parts of a cell, the first of which fits; nothing if all of it fits, or if it has no blank.
fn split(cell: &str, room: usize) -> Option<(&str, &str)> {
    if width(cell) <= room {
        return None;
    }
    let (mut depth, mut best) = (0_usize, None);
    for (column, (at, letter)) in cell.char_indices().enumerate() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ' ' if column <= room || best.is_none() => {
                let next = cell[at..].split_whitespace().next().unwrap_or_default();
                let ends = OPERATORS.contains(&next) || cell[..at].ends_with([',', ';', ':']);
                // The last of the best kind; an operator only where it leaves no short line.
                let kind = (depth == 0) as u8 + (depth == 0 && ends && column > room / 2) as u8;
                if best.is_none_or(|(other, _)| kind >= other) {
                    best = Some((kind, at));
                }
            }
            _ => {}
        }
    }
    best.map(|(_, at)| (&cell[..at], cell[at..].trim_start()))
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_without_room_goes_on_below_its_own_beginning_or_below_the_equation() {
        for (line, columns, shown) in [
            ("a = b      every round", 40, "a = b      every round\n"),
            (
                "W += α / W        per acknowledgement, in congestion avoidance",
                42,
                "W += α / W        per acknowledgement,\n                  in congestion avoidance\n",
            ),
            (
                "  K > C·RTT / 7            equation (13): no N empties it",
                40,
                "  K > C·RTT / 7\n      equation (13): no N empties it\n",
            ),
            // The column of the rows below is an ordinary column.
            ("m   = argmax of the value of a segment", 30, "m   = argmax of the value of a\n    segment\n"),
        ] {
            assert_eq!(folded(line, columns), shown);
        }
    }

    #[test]
    fn an_equation_is_broken_before_an_operator_and_outside_of_parentheses() {
        let shown = "p = xi (h + max(phi, 0))\n    / (d sum(r s / w))\n";
        assert_eq!(folded("p = xi (h + max(phi, 0)) / (d sum(r s / w))", 36), shown);
        assert_eq!(folded("a_word_that_is_too_wide", 9), "a_word_that_is_too_wide\n");
    }
}

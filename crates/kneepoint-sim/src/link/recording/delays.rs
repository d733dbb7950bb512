// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Delays over time, of a trace that has them.
//!
//! ```text
//! two columns   a time and a delay in each line: `15s 35ms`, or seconds and milliseconds
//! CSV           a header that names a time and a delay, or a latency there and back, with units: time_s,delay_ms
//! ```

use super::columns::{Quantity, meaning};
use super::rows::Separator;
use super::{lines, shown};
use crate::settings::Timed;
use crate::units::Span;

/// The place of a column, and the nanoseconds of one in it.
#[derive(Clone, Copy)]
struct Column {
    place: usize,
    factor: f64,
}

/// Nanoseconds of a millisecond, in which columns count delays.
const MILLISECOND: f64 = 1e6;
/// Seconds and milliseconds.
const BARE: [Column; 2] = [Column { place: 0, factor: 1e9 }, Column { place: 1, factor: MILLISECOND }];

/// Reads the delays of a file. The error names line, value and remedy.
pub fn delays(text: &str) -> Result<Vec<Timed<Span>>, String> {
    let content = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rows = lines(content).filter(|(_, line)| !line.trim().is_empty()).peekable();
    let Some((_, first)) = rows.peek().copied() else {
        return Err("it has no rows: write `15s 35ms`".into());
    };
    let separator = Separator::of(first);
    let [time, delay] = match columns(&separator.cells(first))? {
        Some(columns) => {
            rows.next();
            columns
        }
        None => BARE,
    };
    let row = |(number, line): (usize, &str)| {
        let cells = separator.cells(line);
        let cell = |column: Column| {
            let cell = cells.get(column.place).copied().unwrap_or_default();
            span(cell, column.factor)
                .ok_or_else(|| format!("line {number}: `{}` is not a time: write `15s 35ms`", shown(cell)))
        };
        Ok(Timed { at: cell(time)?, value: cell(delay)? })
    };
    rows.map(row).collect()
}

/// The columns of time and delay under a header; none where the line is not a header.
fn columns(names: &[&str]) -> Result<Option<[Column; 2]>, String> {
    let known: Vec<_> = names.iter().map(|name| meaning(name)).collect::<Result<_, _>>()?;
    if known.iter().all(Option::is_none) {
        return Ok(None);
    }
    let find = |wanted: Quantity, scale: f64| {
        let place = known.iter().position(|one| one.is_some_and(|one| one.quantity == wanted))?;
        let factor = known[place]?.factor * scale;
        Some(Column { place, factor })
    };
    let time = find(Quantity::Time, 1.0).ok_or("no column is a time: name it as in time_s")?;
    // A latency is a round trip's.
    let delay = find(Quantity::Delay, MILLISECOND).or_else(|| find(Quantity::Latency, MILLISECOND / 2.0));
    let delay = delay.ok_or("no column is a delay: name it as in delay_ms")?;
    Ok(Some([time, delay]))
}

/// A time with its unit, or a number of this many nanoseconds.
fn span(cell: &str, factor: f64) -> Option<Span> {
    let number = || cell.parse::<f64>().ok().map(|number| (number * factor).round());
    let bare = || number().filter(|nanos| (0.0..1e18).contains(nanos)).map(|nanos| Span(nanos as u64));
    cell.parse().ok().or_else(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_read_in_every_form() {
        let expected = [(0, 20), (15, 35), (30, 25)]
            .map(|(at, value)| Timed { at: Span::from_secs(at), value: Span::from_millis(value) });
        for text in [
            "0s 20ms\n15s 35ms\n30s 25ms\n",
            "# a comment\n0 20\n15 35\n30\t25\n",
            "time_s,rate_mbps,delay_ms\n0,50,20\n15,40,35\n30,30,25\n",
            "time_ms;rtt_ms\r\n0;40\r\n15000;70\r\n30000;50\r\n\r\n",
        ] {
            assert_eq!(delays(text).as_deref(), Ok(&expected[..]), "{text}");
        }
    }

    #[test]
    fn a_wrong_file_names_line_and_remedy() {
        for (text, part) in [
            ("", "no rows"),
            ("0 20\n15 soon\n", "line 2: `soon`"),
            ("time_s,rate_mbps\n0,50\n", "delay_ms"),
            ("delay_ms,loss\n0,50\n", "time_s"),
        ] {
            assert!(delays(text).unwrap_err().contains(part), "{text}");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The due time of an event.
//!
//! ```text
//! 1.5        at 1.5 s              +.1     0.1 s after the event before
//! 1~2        between               +1~+2   between, after the event before
//! *          whenever              +0...2  a call that begins at once and lasts
//! ```

use super::cursor::Cursor;
use crate::fault::Fault;
use crate::units::{Span, Time};

/// The due time of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Whenever it happens.
    Any,
    /// Between two times since the start, or since the event before.
    Between { relative: bool, from: Span, to: Span },
}

impl When {
    /// The instants between which it is due, where the event before was at `last`.
    pub fn due(self, last: Time) -> (Time, Time) {
        match self {
            When::Any => (last, Time::NEVER),
            When::Between { relative: true, from, to } => (last + from, last + to),
            When::Between { relative: false, from, to } => (from.after_start(), to.after_start()),
        }
    }

    /// The greatest delay after the previous event; none if it would make the script longer than a year.
    pub fn latest(self, before: Span) -> Option<Span> {
        let latest = match self {
            When::Any => before,
            When::Between { relative: true, to, .. } => before + to,
            When::Between { relative: false, to, .. } => before.max(to),
        };
        (latest <= Span::from_secs(LONGEST)).then_some(latest)
    }
}

/// The longest time, and the longest script: a year, in seconds.
const LONGEST: u64 = 31_536_000;

pub(super) fn read(cursor: &mut Cursor) -> Result<When, Fault> {
    if cursor.take("*") {
        return Ok(When::Any);
    }
    let begin = cursor.at;
    let relative = cursor.take("+");
    let from = seconds(cursor)?;
    let mut to = from;
    cursor.blank();
    if cursor.take("~") {
        cursor.blank();
        cursor.take("+");
        to = seconds(cursor)?;
        if to < from {
            let message = "the range of times ends before it begins";
            return Err(Fault::at(begin..cursor.at, message, "write the earlier time first"));
        }
    } else if cursor.take("...") {
        // A call that blocks: it acts when it begins.
        cursor.blank();
        cursor.take("+");
        seconds(cursor)?;
    }
    Ok(When::Between { relative, from, to })
}

fn seconds(cursor: &mut Cursor) -> Result<Span, Fault> {
    let begin = cursor.at;
    let whole = cursor.run(|c| c.is_ascii_digit());
    // A point that another follows begins an ellipsis.
    let fraction = if cursor.next_is(".") && !cursor.next_is("..") {
        cursor.take(".");
        cursor.run(|c| c.is_ascii_digit())
    } else {
        ""
    };
    if whole.is_empty() && fraction.is_empty() {
        cursor.at = begin;
        return Err(cursor.expected("a time in seconds, as in `0.1`, `+.1`, `+.1~+.2` or `*`"));
    }
    let whole = if whole.is_empty() { Ok(0) } else { whole.parse::<u64>() };
    let Some(whole) = whole.ok().filter(|whole| *whole <= LONGEST) else {
        let message = format!("a time of `{}` seconds is too long", &cursor.text[begin..cursor.at]);
        return Err(Fault::at(begin..cursor.at, message, format!("write at most {LONGEST} seconds, a year")));
    };
    let nanos = fraction.bytes().chain(std::iter::repeat(b'0')).take(9);
    let nanos = nanos.fold(0, |sum, digit| 10 * sum + u64::from(digit - b'0'));
    Ok(Span(whole * 1_000_000_000 + nanos))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The signals to a controller, step by step, as CSV.
//!
//! | column | steps | meaning |
//! |---|---|---|
//! | `at_us` | all | the time in microseconds, with up to three decimals |
//! | `kind` | all | `open`, `ack`, `loss`, `timeout`, `advice`, `mark`, `resume`, `resize` |
//! | `packets` | open, loss, timeout, mark, resize | the initial window; packets that were using the path; the window that the host sets |
//! | `rtt_us` | ack | the round-trip time measured, in microseconds with up to three decimals; empty for none |
//! | `acked` | ack | packets newly acknowledged in order |
//! | `credit` | ack | packets by which the window may grow; `acked` if empty |
//! | `una`, `next` | ack, loss, timeout, mark | the first packet not acknowledged; the next one never sent |
//! | `in_flight` | ack | packets outstanding |
//! | `recovering` | ack | 1 during recovery, else 0 |
//! | `draw` | ack | the random number that the step may use, from 0 and below 1; 0.5 if empty |
//! | `reported` | timeout | 1 if a loss step reported it before, else 0 |
//! | `rate` | advice | packets per second |
//! | `delivered` | ack | packets known to have arrived; `una` if empty |
//! | `resent` | ack | packets retransmitted so far, or lost; 0 if empty |
//! | `limited` | ack | 1 if the sender had nothing more to send, else 0 |
//! | `idle_us` | resume | how long nothing was in flight |
//! | `threshold` | resize | the slow-start threshold that the host sets |
//!
//! The first step is `open`. Columns may come in any order, and a column that no step needs may be missing. Lines that begin with `#` are
//! comments.

mod written;

use std::ops::Range;
use std::str::FromStr;

use crate::scenario::Fault;
use crate::units::{Span, Time};
pub use written::write;

use written::micros;

/// A step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// When.
    pub at: Time,
    /// The signal.
    pub signal: Signal,
}

/// A controller's signal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Signal {
    /// The connection begins with a window of this many packets.
    Open {
        /// Packets.
        window: f64,
    },
    /// An acknowledgement arrived.
    Ack(Heard),
    /// Packets were lost.
    Loss {
        /// Packets that were using the path.
        flight: f64,
        /// The first packet not acknowledged.
        una: u64,
        /// The next packet never sent.
        next: u64,
    },
    /// The retransmission timer expired.
    Timeout {
        /// Packets that were using the path.
        flight: f64,
        /// The next packet never sent.
        next: u64,
        /// Whether the loss was reported before.
        reported: bool,
    },
    /// Packets arrived with marks of congestion.
    Mark {
        /// Packets that were using the path.
        flight: f64,
        /// The next packet never sent.
        next: u64,
    },
    /// Sending begins again.
    Resume {
        /// The time for which nothing was in flight.
        idle: Span,
    },
    /// The host sets sizes, for a loss that was none.
    Resize {
        /// The window.
        window: f64,
        /// The slow-start threshold.
        threshold: f64,
    },
    /// The network advised a rate.
    Advice {
        /// Packets per second.
        rate: f64,
    },
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heard {
    /// The round-trip time.
    pub rtt: Option<Span>,
    /// Packets newly acknowledged in order.
    pub acked: u32,
    /// Packets by which the window may grow.
    pub credit: u32,
    /// The first packet not acknowledged.
    pub una: u64,
    /// The next packet never sent.
    pub next: u64,
    /// Packets outstanding.
    pub in_flight: u32,
    /// Whether losses are repaired.
    pub recovering: bool,
    /// Uniform on [0, 1): the step's random draw, if any.
    pub draw: f64,
    /// Packets known to have arrived.
    pub delivered: u64,
    /// Packets retransmitted so far, or lost where numbers are never reused.
    pub resent: u64,
    /// Whether the sender had nothing more to send.
    pub limited: bool,
}

const COLUMNS: [&str; 18] = [
    "at_us",
    "kind",
    "packets",
    "rtt_us",
    "acked",
    "credit",
    "una",
    "next",
    "in_flight",
    "recovering",
    "draw",
    "reported",
    "rate",
    "delivered",
    "resent",
    "limited",
    "idle_us",
    "threshold",
];
/// Columns that every trace has; the others are left out where they are not needed.
const USUAL: usize = 13;
const KINDS: &str = "open, ack, loss, timeout, advice, mark, resume, resize";

fn nanos(text: &str) -> Option<u64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if decimals.len() > 3 || !digits(whole) || !digits(decimals) {
        return None;
    }
    let decimals = format!("{decimals:0<3}").parse::<u64>().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(decimals)
}

/// One cell and its position.
#[derive(Clone, Copy)]
struct Cell<'a> {
    text: &'a str,
    start: usize,
}

impl Cell<'_> {
    fn span(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }
}

/// The cells of a line that begins at byte `start`.
fn cells(line: &str, start: usize) -> impl Iterator<Item = Cell<'_>> {
    line.split(',').scan(start, |at, cell| {
        let place = *at + cell.len() - cell.trim_start().len();
        *at += cell.len() + 1;
        Some(Cell { text: cell.trim(), start: place })
    })
}

fn fault(span: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Fault {
    Fault { span, message: message.into(), help: Some(help.into()) }
}

/// A line under the header.
struct Row<'a> {
    columns: &'a [&'static str],
    cells: Vec<Cell<'a>>,
    line: Range<usize>,
}

impl Row<'_> {
    fn cell(&self, column: &str) -> Option<Cell<'_>> {
        let place = self.columns.iter().position(|name| *name == column)?;
        self.cells.get(place).copied().filter(|cell| !cell.text.is_empty())
    }

    fn read<T>(
        &self,
        column: &str,
        want: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let Some(cell) = self.cell(column) else { return Ok(None) };
        let wrong = || {
            fault(
                cell.span(),
                format!("`{}` is not a value of `{column}`", cell.text),
                format!("write {want}"),
            )
        };
        read(cell.text).map(Some).ok_or_else(wrong)
    }

    fn needed<T>(&self, column: &str, value: Option<T>) -> Result<T, Fault> {
        value.ok_or_else(|| {
            fault(self.line.clone(), format!("this step has no `{column}`"), "fill in the column")
        })
    }

    fn whole<T: FromStr>(&self, column: &str) -> Result<T, Fault> {
        let value = self.read(column, "a whole number from 0 up", |text| text.parse().ok())?;
        self.needed(column, value)
    }

    fn count(&self, column: &str) -> Result<Option<u64>, Fault> {
        self.read(column, "a whole number from 0 up", |text| text.parse().ok())
    }

    fn number(&self, column: &str, want: &str, fits: impl Fn(f64) -> bool) -> Result<Option<f64>, Fault> {
        self.read(column, want, |text| text.parse().ok().filter(|number| fits(*number)))
    }

    fn packets(&self) -> Result<f64, Fault> {
        let value = self.number("packets", "packets, from 1 up to 16777216", |packets| {
            (1.0..=16_777_216.0).contains(&packets)
        })?;
        self.needed("packets", value)
    }

    fn flag(&self, column: &str) -> Result<bool, Fault> {
        let value = self.read(column, "0 or 1", |text| ["0", "1"].iter().position(|flag| *flag == text))?;
        Ok(value == Some(1))
    }

    fn span(&self, column: &str) -> Result<Option<u64>, Fault> {
        self.read(column, "microseconds with at most three decimals, as in 60000.125", nanos)
    }

    fn signal(&self) -> Result<Signal, Fault> {
        let kind = self.needed("kind", self.cell("kind"))?;
        Ok(match kind.text {
            "open" => Signal::Open { window: self.packets()? },
            "ack" => {
                let acked = self.whole("acked")?;
                let rtt = self.span("rtt_us")?;
                let credit = self.read("credit", "a whole number from 0 up", |text| text.parse().ok())?;
                let draw =
                    self.number("draw", "a number from 0 and below 1", |draw| (0.0..1.0).contains(&draw))?;
                let una = self.whole("una")?;
                Signal::Ack(Heard {
                    rtt: rtt.map(|rtt| Span(rtt.max(1))),
                    acked,
                    credit: credit.unwrap_or(acked),
                    una,
                    next: self.whole("next")?,
                    in_flight: self.whole("in_flight")?,
                    recovering: self.flag("recovering")?,
                    draw: draw.unwrap_or(0.5),
                    delivered: self.count("delivered")?.unwrap_or(una),
                    resent: self.count("resent")?.unwrap_or(0),
                    limited: self.flag("limited")?,
                })
            }
            "loss" => {
                Signal::Loss { flight: self.packets()?, una: self.whole("una")?, next: self.whole("next")? }
            }
            "timeout" => Signal::Timeout {
                flight: self.packets()?,
                next: self.whole("next")?,
                reported: self.flag("reported")?,
            },
            "mark" => Signal::Mark { flight: self.packets()?, next: self.whole("next")? },
            "resume" => {
                let idle = self.span("idle_us")?;
                Signal::Resume { idle: Span(self.needed("idle_us", idle)?) }
            }
            "resize" => {
                let threshold =
                    self.number("threshold", "packets, from 1 up, or inf", |packets| packets >= 1.0)?;
                Signal::Resize { window: self.packets()?, threshold: self.needed("threshold", threshold)? }
            }
            "advice" => {
                let rate = self.number("rate", "packets per second, above 0 and up to 1e9", |rate| {
                    rate > 0.0 && rate <= 1e9
                })?;
                Signal::Advice { rate: self.needed("rate", rate)? }
            }
            other => {
                return Err(fault(
                    kind.span(),
                    format!("`{other}` is not a kind of step"),
                    format!("write one of {KINDS}"),
                ));
            }
        })
    }
}

/// Reads a trace.
pub fn read(text: &str) -> Result<Vec<Step>, Vec<Fault>> {
    let mut columns = Vec::new();
    let (mut steps, mut faults) = (Vec::<Step>::new(), Vec::new());
    let mut start = 0;
    for raw in text.split_inclusive('\n') {
        let line = raw.trim_end();
        let place = start..start + line.len();
        start += raw.len();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let row = cells(line, place.start).collect::<Vec<_>>();
        if columns.is_empty() {
            columns = header(&row)?;
            continue;
        }
        let row = Row { columns: &columns, cells: row, line: place };
        match step(&row, steps.last()) {
            Ok(step) => steps.push(step),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() && steps.is_empty() {
        faults.push(fault(0..0, "the trace has no steps", format!("its columns are {}", COLUMNS.join(","))));
    }
    if faults.is_empty() { Ok(steps) } else { Err(faults) }
}

fn header(row: &[Cell]) -> Result<Vec<&'static str>, Vec<Fault>> {
    let column = |cell: &Cell| {
        let known = COLUMNS.iter().find(|name| **name == cell.text).copied();
        let message = || format!("`{}` is not a column of a trace", cell.text);
        known.ok_or_else(|| {
            fault(cell.span(), message(), format!("the first line names some of {}", COLUMNS.join(",")))
        })
    };
    let (known, unknown): (Vec<_>, Vec<_>) = row.iter().map(column).partition(Result::is_ok);
    let unknown = unknown.into_iter().filter_map(Result::err).collect::<Vec<_>>();
    if unknown.is_empty() { Ok(known.into_iter().flatten().collect()) } else { Err(unknown) }
}

fn step(row: &Row, before: Option<&Step>) -> Result<Step, Fault> {
    if row.cells.len() > row.columns.len() {
        let (cells, columns) = (row.cells.len(), row.columns.len());
        return Err(fault(
            row.line.clone(),
            format!("{cells} cells under {columns} columns"),
            "remove what is too much",
        ));
    }
    let at = row.needed("at_us", row.span("at_us")?)?;
    let step = Step { at: Time(at), signal: row.signal()? };
    let opens = matches!(step.signal, Signal::Open { .. });
    if before.is_none() != opens {
        return Err(fault(
            row.line.clone(),
            "a trace has one step `open`, its first",
            "begin with a line such as 0,open,10",
        ));
    }
    match before {
        Some(before) if before.at > step.at => Err(fault(
            row.line.clone(),
            "time runs back",
            format!("the step before is at {} us", micros(before.at.0)),
        )),
        _ => Ok(step),
    }
}

#[cfg(test)]
mod tests;

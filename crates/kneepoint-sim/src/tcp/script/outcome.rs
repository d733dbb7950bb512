// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The outcome of a script: passed, or the first difference as people and programs read it.

use std::fmt;

use serde::Serialize;

use crate::keys::{Keyed, Shape};
use crate::units::Time;

/// The outcome of a script.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Whether everything matched the script.
    pub passed: bool,
    /// The events that occurred, in order; the last of them is where a difference is.
    pub steps: Vec<Step>,
    /// The first difference.
    pub difference: Option<Difference>,
}

/// An event of a script.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Its line, from 1.
    pub line: usize,
    /// When it happened.
    #[serde(rename = "at_s", serialize_with = "seconds")]
    pub at: Time,
}

/// The difference between host and script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The host sends nothing.
    Missing,
    /// It sends another packet.
    Other,
    /// It sends the packet at another time.
    Time,
    /// An assertion does not hold.
    State,
    /// It sends or wakes up endlessly.
    Endless,
}

impl Keyed for Kind {
    const SHAPE: Shape = Shape::Value;
}

crate::keys! {
    /// The first difference between host and script.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Difference {
        /// Its line, from 1.
        pub line: usize,
        /// The time at which the event was due or happened.
        #[serde(rename = "at_s", serialize_with = "seconds")]
        pub at: Time,
        /// `missing`, `other` or `time` for a packet, `state` for an assertion, `endless` for a host that never waits.
        pub kind: Kind,
        /// The expectation of the script.
        pub expected: String,
        /// The action of the host.
        pub seen: String,
        /// Some events before and after.
        pub rows: Vec<Row>,
    }

    /// An event with the host's reaction.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Row {
        /// Its line, from 1.
        pub line: usize,
        /// The time of the event; null if it did not happen.
        #[serde(rename = "at_s", serialize_with = "optional_seconds")]
        pub at: Option<Time>,
        /// The event as written.
        pub script: String,
        /// The action of the host.
        pub host: Vec<String>,
        /// Whether this is the difference.
        pub differs: bool,
    }
}

fn seconds<S: serde::Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

fn optional_seconds<S: serde::Serializer>(time: &Option<Time>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => seconds(time, serializer),
        None => serializer.serialize_none(),
    }
}

/// Longer events are cut short.
const WIDEST: usize = 64;

fn cut(text: &str) -> String {
    match text.char_indices().nth(WIDEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// A sentence, and the events around it side by side.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "line {}: expected {}; seen {}\n", self.line, self.expected, self.seen)?;
        let width = self.rows.iter().map(|row| cut(&row.script).chars().count()).max().unwrap_or(0);
        let shown = |row: &Row| row.at.map_or("-".to_string(), |at| format!("{:.6}", at.as_secs_f64()));
        let time = self.rows.iter().map(|row| shown(row).len()).max().unwrap_or(0).max(10);
        writeln!(f, "  {:>time$}  {:>4}  {:<width$}  simulated host", "time in s", "line", "script")?;
        for row in &self.rows {
            let mark = if row.differs { '>' } else { ' ' };
            let first = row.host.first().map_or("", String::as_str);
            let line = format!(
                "{mark} {:>time$}  {:>4}  {:<width$}  {first}",
                shown(row),
                row.line,
                cut(&row.script)
            );
            writeln!(f, "{}", line.trim_end())?;
            for more in row.host.iter().skip(1) {
                writeln!(f, "  {:>time$}  {:>4}  {:<width$}  {more}", "", "", "")?;
            }
        }
        Ok(())
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Faults of files, and their places.

use std::fmt;

/// Where something is in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At a line, from 1.
    Line(usize),
    /// At an event of a trace of a document, both from 1.
    Event {
        /// The trace.
        trace: usize,
        /// The event.
        event: usize,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Place::Line(line) => write!(out, "line {line}"),
            Place::Event { trace, event } => write!(out, "event {event} of trace {trace}"),
        }
    }
}

/// What a file has that no qlog has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where it is.
    pub place: Place,
    /// The message, without the place.
    pub message: String,
    /// How to get a readable file.
    pub remedy: &'static str,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "at {}: {}", self.place, self.message)
    }
}

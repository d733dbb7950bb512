// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Recordings of a link's capacity: the form of a trace file, and its contents as one value.
//!
//! ```text
//! Mahimahi      a whole number of milliseconds in each line: an opportunity to deliver 1500 bytes
//! text          two columns without names, with blanks, tabs or commas between: seconds and Mbit/s, as for Pensieve
//! CSV           a header that names quantities with units: time_s,throughput_mbps,delay_ms,loss
//! JSON          a list of objects with such names, as for Sabre: [{"duration_ms": …, "bandwidth_kbps": …, "latency_ms": …}]
//! ```
//!
//! Mao, Netravali, Alizadeh, "Neural Adaptive Video Streaming with Pensieve", SIGCOMM 2017; Spiteri, Sitaraman, Sparacio, "From Theory
//! to Practice: Improving Bitrate Adaptation in the DASH Reference Player", MMSys 2018.
//!
//! A byte order mark, lines that begin with `#`, carriage returns and empty last lines are skipped. A rate holds from its time until
//! the next; the last one holds as long as the one before it, unless durations are given; then the recording begins again. A
//! departure: Pensieve's simulator applies a rate to the interval before its time.

mod columns;
mod course;
mod delays;
mod json;
mod opportunities;
mod rows;
mod write;

use std::fmt;

pub use course::{Besides, Course};
pub use delays::delays;
pub use opportunities::Times;

use crate::settings::{Raw, Setting};
use crate::units::{Rate, Span, Time};

/// A link's capacity over time, which repeats.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub enum Recording {
    /// Opportunities to deliver 1500 bytes.
    Opportunities(Times),
    /// Rates, with delay and loss where they were recorded.
    Course(Course),
}

/// The form of a trace file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Milliseconds of delivery opportunities, one in each line.
    Mahimahi,
    /// Two columns without a header.
    Text,
    /// Columns under a header.
    Csv,
    /// A list of objects.
    Json,
}

/// The contents of a trace file.
#[derive(Clone, Debug, PartialEq)]
pub struct Recognised {
    /// The form of the file.
    pub form: Form,
    /// Its contents.
    pub recording: Recording,
    /// The names of columns that are neither time, rate, delay nor loss.
    pub ignored: Vec<String>,
}

impl Form {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Form::Mahimahi => "mahimahi",
            Form::Text => "text",
            Form::Csv => "csv",
            Form::Json => "json",
        }
    }
}

/// Recognises the form of a trace and reads it. The error names line, column, value, range and remedy.
pub fn read(text: &str) -> Result<Recognised, String> {
    let content = text.strip_prefix('\u{feff}').unwrap_or(text);
    if content.trim_start().starts_with(['[', '{']) {
        return json::read(content);
    }
    let first = lines(content).find(|(_, line)| !line.trim().is_empty());
    match first {
        Some((_, line)) if rows::are(line) => rows::read(content),
        _ => {
            let recording = Recording::Opportunities(Times::parse(content)?);
            Ok(Recognised { form: Form::Mahimahi, recording, ignored: Vec::new() })
        }
    }
}

/// The numbered lines of a text without comments and without empty ones at its end.
fn lines(content: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(content.trim_end_matches(['\n', '\r', ' ', '\t']).lines());
    lines.filter(|(_, line)| !line.starts_with('#'))
}

/// A text of a file as an error shows it.
fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}

impl Recording {
    /// The mean rate.
    pub fn mean(&self) -> Rate {
        match self {
            Recording::Opportunities(times) => times.mean(),
            Recording::Course(course) => course.mean(),
        }
    }

    /// Its period.
    pub fn period(&self) -> Span {
        match self {
            Recording::Opportunities(times) => times.period(),
            Recording::Course(course) => course.period(),
        }
    }

    /// The bits that can be carried from the start of a period to an instant in it, which is included.
    pub fn carried(&self, to: Time) -> f64 {
        match self {
            Recording::Opportunities(times) => times.until(to) as f64 * f64::from(8 * Times::BYTES),
            Recording::Course(course) => course.carried(to) as f64 / 1e9,
        }
    }

    /// The intervals in which nothing can be carried, of this length or longer; one that reaches past the end of a period is whole.
    pub fn gaps(&self, least: Span) -> Vec<Span> {
        let gaps = match self {
            Recording::Opportunities(times) => times.gaps(),
            Recording::Course(course) => course.gaps(),
        };
        gaps.into_iter().filter(|gap| *gap >= least).collect()
    }

    /// The number of its rows or opportunities.
    pub fn len(&self) -> usize {
        match self {
            Recording::Opportunities(times) => times.values().len(),
            Recording::Course(course) => course.points().len(),
        }
    }

    /// Whether it is empty, which no recording is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Quantities recorded in addition to the rate.
    pub fn besides(&self) -> &[Besides] {
        match self {
            Recording::Opportunities(_) => &[],
            Recording::Course(course) => course.besides(),
        }
    }
}

impl fmt::Display for Recording {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Recording::Opportunities(times) => times.fmt(f),
            Recording::Course(_) => f.write_str(&self.to_csv(self.period()).unwrap_or_default()),
        }
    }
}

impl Setting for Recording {
    const KIND: &'static str = "list of milliseconds";
    const JSON: &'static [&'static str] = &["integer", "array", "string"];
    fn read(raw: &Raw) -> Result<Recording, String> {
        match raw {
            Raw::Text(text) => read(text).map(|known| known.recording),
            listed => Times::read(listed).map(Recording::Opportunities),
        }
    }
}

#[cfg(test)]
mod tests;

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files that a scenario names, each read and used by one.

use std::str::from_utf8;

use kneepoint::link::recording::{self, Form};
use kneepoint::units::Span;
use kneepoint::{report, scenario};

use crate::texts::planned;

/// A scenario for two seconds, without traffic.
const TOP: &str = "\
[run]
duration = '2s'
measure = '1s..2s'
[topology]
kind = 'dumbbell'
rate = '10mbit'
rtt = '20ms'
";

/// Reads a scenario with these lines, in which the only named file has these bytes.
fn named(lines: &str, bytes: &[u8]) {
    let Ok(content) = from_utf8(bytes) else { return };
    let text = format!("{TOP}{lines}");
    planned(&text, scenario::parse_with(&text, &|_| Ok(content.to_string())));
}

/// Pages as browsers export them.
pub fn har(bytes: &[u8]) {
    named("[[browser]]\ncc = 'cubic'\npages_file = 'a.har'\n", bytes);
}

/// The sizes of one page.
pub fn page(bytes: &[u8]) {
    named("[[browser]]\ncc = 'cubic'\npages_file = 'a.csv'\n", bytes);
}

/// Sizes to draw from.
pub fn sizes(bytes: &[u8]) {
    named("[[arrivals]]\ncc = 'cubic'\nsizes_file = 'a.csv'\n", bytes);
}

/// Times and sizes of flows.
pub fn arrivals(bytes: &[u8]) {
    named("[[arrivals]]\ncc = 'cubic'\nfile = 'a.csv'\n", bytes);
}

/// A trace in any form, described, converted and played.
pub fn recording(bytes: &[u8]) {
    let Ok(text) = from_utf8(bytes) else { return };
    match recording::read(text) {
        Ok(known) => {
            let interval = report::recording::usual_interval(&known.recording);
            report::recording::describe("a.csv", &known, interval, Span::from_millis(100));
            let written = known.recording.to_csv(interval).map(|csv| recording::read(&csv));
            // Opportunities may be less than a bit per second.
            let readable = known.form == Form::Mahimahi || written.is_none_or(|again| again.is_ok());
            assert!(readable, "what is written cannot be read");
        }
        Err(wrong) => assert!(!wrong.is_empty()),
    }
    let top = TOP.replace("10mbit", "auto");
    let lines = "[[flows]]\ncc = 'cubic'\n[capacity]\nkind = 'trace'\nfile = 'a.csv'\nbesides = 'ignored'\n";
    let scenario = format!("{top}{lines}");
    planned(&scenario, scenario::parse_with(&scenario, &|_| Ok(text.to_string())));
}

/// Delivery opportunities of a link. The rate of the link must be the mean of most seeds.
pub fn opportunities(bytes: &[u8]) {
    named("[[flows]]\ncc = 'cubic'\n[capacity]\nkind = 'trace'\nfile = 'a.trace'\n", bytes);
}

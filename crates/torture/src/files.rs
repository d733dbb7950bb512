// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files that a scenario names, each read and used by one.

use std::str::from_utf8;

use kneepoint::scenario;

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

/// Reads a scenario with these lines, in which the only file that is named has these bytes.
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

/// Delivery opportunities of a link. The rate of the link has to be the mean of most seeds.
pub fn opportunities(bytes: &[u8]) {
    named("[[flows]]\ncc = 'cubic'\n[capacity]\nkind = 'trace'\nfile = 'a.trace'\n", bytes);
}

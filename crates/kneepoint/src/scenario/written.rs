// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How values are written, as regular expressions for the schema: one for each kind of value that is a text.
//!
//! A schema sees texts only: the reader alone checks that `5ms` is in range.

use crate::settings::names;

/// A number without a sign or an exponent.
const NUMBER: &str = r"([0-9]+\.?[0-9]*|\.[0-9]+)";
const TIMES: &[&str] = &["s", "ms", "us", "µs", "μs", "ns", "min"];
const RATES: &[&str] =
    &["bit", "kbit", "mbit", "gbit", "tbit", "bit/s", "kbit/s", "mbit/s", "gbit/s", "tbit/s"];
const SIZES: &[&str] = &["b", "kb", "mb", "gb", "byte", "bytes"];
const PACKETS: &[&str] = &["pkt", "packet", "packets"];

/// The pattern of values of this kind; none where any text is valid, or where it is not a text.
pub(super) fn form(kind: &str) -> Option<String> {
    let (time, rate, data) = (quantity(&[TIMES]), quantity(&[RATES]), quantity(&[SIZES]));
    let interval = format!(r"{time}\.\.{time}");
    // The content of a file replaces a value.
    let file = r"[^\n,]*[\n,][\s\S]*|";
    Some(match kind {
        // In percent: other numbers are not texts.
        "number" => quantity(&[&["%"]]),
        "time" => time,
        "rate" => rate,
        "data" => data,
        "interval" => interval,
        "time or interval" => format!("{time}|{interval}"),
        "buffer" => quantity(&[&["bdp"], PACKETS, TIMES, SIZES]),
        "time and value" => format!("{time}:{}", quantity(&[TIMES, RATES])),
        "list of increasing rates" => format!(r"{rate}|\s*\[{rate}(,{rate})*\]\s*"),
        "list of delays" => format!("{file}{time}:{time}"),
        "list of sizes" => format!("{file}{data}"),
        "list of arrivals" => format!(r"{file}none|{time}(\s{data})?"),
        "list of pages" => format!(r"{file}\s*[\[{{][\s\S]*|{data}(\s{data})*"),
        "list of milliseconds" => r"[\s\S]*[0-9][\s\S]*".to_string(),
        // A hundred bytes without control characters, at least one of them visible.
        "name" => {
            r"[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*"
                .to_string()
        }
        "path" => r"[\s\S]+".to_string(),
        "list of names" => r"[\s\S]*\S[\s\S]*".to_string(),
        _ => return None,
    })
}

/// A number with one of these units, case-insensitive.
fn quantity(units: &[&[&str]]) -> String {
    let units: Vec<String> = units.concat().into_iter().map(either).collect();
    format!(r"\s*{NUMBER}\s*({})\s*", units.join("|"))
}

/// Letters of either case.
fn either(word: &str) -> String {
    let either = |letter: char| match letter.is_ascii_lowercase() {
        true => format!("[{}{letter}]", letter.to_ascii_uppercase()),
        false => letter.to_string(),
    };
    word.chars().map(either).collect()
}

/// The pattern of one of these names, with or without settings: `pert`, `pert:t1=5ms`. Without settings it has no space around.
pub(super) fn named(names: &[&str]) -> String {
    let names = spellings(names);
    whole(&format!(r"({names})|\s*({names})\s*:[\s\S]*"))
}

/// All ways to write one of these names.
pub(super) fn spellings(names: &[&str]) -> String {
    names.iter().map(|name| names::pattern(name)).collect::<Vec<_>>().join("|")
}

/// An expression for the whole text.
pub(super) fn whole(form: &str) -> String {
    format!("^({form})$")
}

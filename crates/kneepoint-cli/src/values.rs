// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Values of arguments: names of a list, in any spelling, and numbers.

use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command, Error};
use kneepoint::settings::names::declared;
use kneepoint::settings::{Raw, Refusal, Setting, read_within};
use kneepoint::units::{Bytes, Span};

use crate::failure::Failure;

/// Parses a finite number.
pub fn number(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "expected a finite number, as in `0.5`".to_string())
}

/// Parses a number of a range.
pub fn within(range: RangeInclusive<f64>) -> impl Fn(&str) -> Result<f64, String> + Clone {
    move |text| match text.parse() {
        Ok(value) if range.contains(&value) => Ok(value),
        _ => Err(format!("allowed is a number from {} to {}", range.start(), range.end())),
    }
}

/// Parses a value of a range, as settings of scenarios are read.
pub fn of_range<T: Setting>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| match read_within(&Raw::guess(text), Some(range.clone())) {
        Ok(value) => Ok(value),
        Err(Refusal::Value(message)) => Err(message),
        Err(Refusal::Unknown) => Err(format!("`{text}` is unknown")),
    }
}

/// The interval between samples of the state, and the sampled flows: `100ms`, `all`, `100ms,all`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampling {
    /// The sampling interval, if given; zero is never.
    interval: Option<Span>,
    /// Whether every flow has its window, round-trip time and rate.
    pub every_flow: bool,
}

impl Sampling {
    /// The interval, `usual` by default; none means never.
    pub fn interval_or(self, usual: Span) -> Option<Span> {
        Some(self.interval.unwrap_or(usual)).filter(|interval| *interval > Span::ZERO)
    }
}

impl FromStr for Sampling {
    type Err = String;

    fn from_str(text: &str) -> Result<Sampling, String> {
        text.split(',').map(str::trim).try_fold(Sampling::default(), |sampling, word| match word.parse() {
            _ if word.eq_ignore_ascii_case("all") => Ok(Sampling { every_flow: true, ..sampling }),
            Ok(interval) if sampling.interval.is_none() => {
                Ok(Sampling { interval: Some(interval), ..sampling })
            }
            Ok(_) => Err("one interval is enough".into()),
            Err(_) => Err("write a time, `all` for every flow, or both, as in `100ms,all`".into()),
        })
    }
}

/// Refuses a list with two equivalent values.
pub fn distinct<T: std::fmt::Display, M: PartialEq>(
    what: &str,
    all: &[T],
    meant: impl Fn(&T) -> M,
) -> Result<(), Failure> {
    let meanings = all.iter().map(meant).collect::<Vec<_>>();
    match (1..all.len()).find(|place| meanings[..*place].contains(&meanings[*place])) {
        Some(place) => {
            Err(Failure::usage(format!("{what} `{}` is given twice", all[place]), "name each once"))
        }
        None => Ok(()),
    }
}

/// The canonical form of a buffer: `1.0bdp` is `1bdp`. Invalid sizes are left to the scenario parser.
pub fn meant(buffer: &str) -> String {
    if let Ok(time) = buffer.parse::<Span>() {
        return time.to_string();
    }
    if let Ok(data) = buffer.parse::<Bytes>() {
        return data.to_string();
    }
    let unit = buffer.trim_start_matches(|c: char| !c.is_ascii_alphabetic());
    match buffer[..buffer.len() - unit.len()].trim().parse::<f64>() {
        Ok(number) => format!("{number}{}", unit.to_ascii_lowercase()),
        Err(_) => buffer.to_string(),
    }
}

/// Parses one of these names; the value is the name as declared.
#[derive(Clone)]
pub struct OneOf(Vec<&'static str>);

impl OneOf {
    /// One of these.
    pub fn of(names: impl IntoIterator<Item = &'static str>) -> OneOf {
        OneOf(names.into_iter().collect())
    }
}

impl TypedValueParser for OneOf {
    type Value = String;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        let name = value.to_str().and_then(|written| declared(written, self.0.iter().copied()));
        // A name that is not in the list is refused with the list.
        let list = PossibleValuesParser::new(self.0.iter().copied());
        list.parse_ref(command, argument, name.map_or(value, OsStr::new))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(|name| PossibleValue::new(*name))))
    }
}

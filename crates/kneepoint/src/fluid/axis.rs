// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A parameter that is swept through a range: `rtt=50ms..300ms:40:log`.

use std::str::FromStr;

use super::{Config, Knob, REGISTRY};
use crate::settings::{Assign, Raw, Refusal, names};
use crate::suggest::did_you_mean;
use crate::units::{Span, number_and_unit};

/// A parameter, its range and the number of steps.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterAxis {
    /// The parameter's name.
    pub name: String,
    /// The unit its values are written in; empty for plain numbers.
    pub unit: String,
    /// The first value, in that unit.
    pub from: f64,
    /// The last.
    pub to: f64,
    /// The number of values, both ends included.
    pub points: usize,
    /// Whether each value is a multiple of the one before, not a sum.
    pub log: bool,
}

/// Values along an axis, unless it says how many.
const POINTS: usize = 40;
/// More values than this along an axis are a mistake.
const MOST: usize = 2000;

impl FromStr for ParameterAxis {
    type Err = String;

    fn from_str(text: &str) -> Result<ParameterAxis, String> {
        let wrong = |why: &str| {
            format!(
                "`{text}` is not a range of a parameter: {why}; write it as `rtt=50ms..300ms`, `rtt=50ms..300ms:40` or `delta=1us..1s:40:log`"
            )
        };
        let (name, range) = text.split_once('=').ok_or_else(|| wrong("it has no `=`"))?;
        let mut parts = range.split(':');
        let ends = parts.next().unwrap_or_default();
        let (from, to) = ends.split_once("..").ok_or_else(|| wrong("it has no `..`"))?;
        let number = |end: &str| {
            number_and_unit(end)
                .filter(|(number, _)| number.is_finite())
                .map(|(n, unit)| (n, unit.to_string()))
                .ok_or_else(|| wrong("its ends must be numbers"))
        };
        let ((mut from, first), (to, unit)) = (number(from)?, number(to)?);
        if !first.is_empty() && first != unit {
            from *= in_units_of(&first, &unit).ok_or_else(|| wrong("its ends have different units"))?;
        }
        let (mut points, mut log) = (POINTS, false);
        for part in parts {
            match part {
                "log" => log = true,
                _ => {
                    points =
                        part.parse().map_err(|_| wrong(&format!("`{part}` is neither a count nor `log`")))?
                }
            }
        }
        let fields = REGISTRY.iter().flat_map(|entry| entry.fields);
        let name = names::spelled(name.trim(), fields.map(|field| field.name)).to_string();
        if !(2..=MOST).contains(&points) {
            return Err(wrong(&format!("{points} values are not between 2 and {MOST}")));
        }
        if from >= to || log && from <= 0.0 {
            return Err(wrong("the first end must be the lesser, and above 0 with `log`"));
        }
        Ok(ParameterAxis { name, unit, from, to, points, log })
    }
}

/// How many of `unit` one of another unit of time is: 0.000001 s are 1 us.
fn in_units_of(other: &str, unit: &str) -> Option<f64> {
    let span = |one: &str| format!("1{one}").parse::<Span>().ok();
    Some(span(other)?.as_secs_f64() / span(unit)?.as_secs_f64())
}

impl ParameterAxis {
    /// All of a knob's range, on a logarithmic axis.
    pub fn of(knob: &Knob, points: usize) -> Result<ParameterAxis, String> {
        format!("{}={}..{}:{points}:log", knob.name, knob.range.0, knob.range.1).parse()
    }

    /// The value at a share of the way.
    pub fn at(&self, share: f64) -> f64 {
        if self.log {
            self.from * libm::pow(self.to / self.from, share)
        } else {
            self.from + share * (self.to - self.from)
        }
    }

    /// Every value, in order.
    pub fn values(&self) -> impl Iterator<Item = f64> {
        (0..self.points).map(|place| self.at(place as f64 / (self.points - 1) as f64))
    }

    /// A value as it would be written.
    pub fn written(&self, value: f64) -> String {
        format!("{value}{}", self.unit)
    }

    /// The parameter's name with its unit: the head of a column.
    pub fn column(&self) -> String {
        if self.unit.is_empty() { self.name.clone() } else { format!("{}_{}", self.name, self.unit) }
    }

    /// The model with this value.
    pub fn set(&self, config: &Config, value: f64) -> Result<Config, String> {
        let mut config = config.clone();
        match config.set(&self.name, &Raw::guess(&self.written(value))) {
            Ok(()) => config.check().map(|()| config),
            Err(Refusal::Unknown) => {
                let known: Vec<&str> = config.declared().iter().map(|field| field.name).collect();
                let help = did_you_mean(&self.name, &known);
                Err(format!("{} has no parameter `{}`: {help}", config.name(), self.name))
            }
            Err(Refusal::Value(why)) => Err(format!("{}: {why}", self.name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_reads_its_ends_its_count_and_its_spacing() {
        let axis: ParameterAxis = "rtt=50ms..300ms:6".parse().unwrap();
        assert_eq!(axis.values().collect::<Vec<_>>(), [50.0, 100.0, 150.0, 200.0, 250.0, 300.0]);
        assert_eq!((axis.written(150.5), axis.column()), ("150.5ms".into(), "rtt_ms".into()));
        let log: ParameterAxis = "flows=1..100:3:log".parse().unwrap();
        assert!(log.values().zip([1.0, 10.0, 100.0]).all(|(a, b)| (a - b).abs() < 1e-12));
        assert_eq!("rtt=50..300ms".parse::<ParameterAxis>().unwrap().unit, "ms");
        assert_eq!("Window-Delayed=0..1".parse::<ParameterAxis>().unwrap().name, "window_delayed");
    }

    #[test]
    fn a_wrong_axis_says_why() {
        for (text, why) in [
            ("rtt", "no `=`"),
            ("rtt=5ms", "no `..`"),
            ("rtt=5ms..x", "must be numbers"),
            (&format!("rtt=5ms..{}ms", "9".repeat(400)), "must be numbers"),
            ("rtt=5pps..5ms", "different units"),
            ("rtt=9ms..5ms", "the lesser"),
            ("flows=0..5:log", "above 0"),
            ("flows=1..5:1", "between 2 and 2000"),
            ("flows=1..5:ten", "`ten`"),
        ] {
            let message = text.parse::<ParameterAxis>().unwrap_err();
            assert!(message.contains(why), "{text}: {message}");
        }
    }

    #[test]
    fn ends_in_different_units_of_time_are_in_the_last_ones() {
        let axis: ParameterAxis = "delta=1us..1s:40:log".parse().unwrap();
        assert_eq!((axis.from, axis.to, axis.unit.as_str()), (1e-6, 1.0, "s"));
    }

    #[test]
    fn every_knob_of_every_model_can_be_turned_to_both_ends() {
        for entry in REGISTRY {
            let config = Config::named(entry.name).unwrap();
            for knob in config.build().knobs() {
                let axis = ParameterAxis::of(knob, 2).unwrap();
                // An end that contradicts another parameter is refused with a reason, not for its range.
                for value in axis.values() {
                    if let Err(why) = axis.set(&config, value) {
                        assert!(why.contains("must be less"), "{}: {why}", entry.name);
                    }
                }
            }
        }
    }
}

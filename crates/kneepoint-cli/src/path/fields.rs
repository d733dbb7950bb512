// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Fields of a scenario that options set, as lines that `--set` would have, each with the option that it comes from.

use std::mem;

use super::property::{named, quoted};
use crate::failure::Failure;

/// Fields of a scenario that options set.
#[derive(Default)]
pub struct Fields {
    /// As `--set` has them.
    lines: Vec<String>,
    /// The option that each comes from; none of those of `--set`.
    options: Vec<Option<String>>,
    /// How titles tell them, without those of `--set`.
    pub told: Vec<String>,
    /// Whether the way back has to be simulated.
    pub both_ways: bool,
}

impl Fields {
    /// Those of `--set`.
    pub(super) fn of_set(set: &[String]) -> Fields {
        Fields { lines: set.to_vec(), options: vec![None; set.len()], ..Fields::default() }
    }

    /// A field that an option sets, before those of `--set`.
    pub fn add(&mut self, option: &str, line: String) {
        self.lines.push(line);
        self.options.push(Some(option.to_string()));
    }

    /// A field in the place of what a preset or a more general option says of it.
    pub(super) fn put(&mut self, field: &str, option: &str, value: String) {
        let places: Vec<usize> =
            (0..self.lines.len()).filter(|place| path_of(&self.lines[*place]) == field).collect();
        for place in places.into_iter().rev() {
            self.lines.remove(place);
            self.options.remove(place);
        }
        self.add(option, format!("{field}={value}"));
    }

    /// Leaves out the fields of a preset that `--set` has.
    pub(super) fn forget(&mut self, preset: &str, set: &[String]) {
        let all = mem::take(&mut self.lines).into_iter().zip(mem::take(&mut self.options));
        let stays = |(line, option): &(String, Option<String>)| {
            let own = option.as_deref() == Some(preset);
            !own || !set.iter().any(|other| path_of(other).eq_ignore_ascii_case(path_of(line)))
        };
        (self.lines, self.options) = all.filter(stays).unzip();
    }

    /// A field of the topology with one value, or an axis of several; nothing without any.
    pub fn vary(&mut self, word: &str, values: Vec<String>) {
        let Some(field) = named(word).and_then(|property| property.forward) else { return };
        let option = format!("--{word} {}", values.join(","));
        match &values[..] {
            [] => {}
            [one] => {
                self.add(&option, format!("{field}={}", quoted(one)));
                self.told.push(format!("{word} {one}"));
            }
            several => {
                let list: Vec<String> = several.iter().map(|value| quoted(value)).collect();
                self.add(&option, format!("sweep.{field}=[{}]", list.join(", ")));
            }
        }
    }

    /// These fields before the others.
    pub fn after(mut self, mut first: Fields) -> Fields {
        first.lines.append(&mut self.lines);
        first.options.append(&mut self.options);
        first.told.append(&mut self.told);
        Fields { both_ways: first.both_ways || self.both_ways, ..first }
    }

    /// Refuses a field that is an axis of one option and has one value by another, which would take the axis' place.
    pub fn once(self) -> Result<Fields, Failure> {
        let of = |place: usize| match &self.options[place] {
            Some(option) => option.clone(),
            None => format!("--set {}", self.lines[place]),
        };
        for (axis, line) in self.lines.iter().enumerate() {
            let Some(field) = path_of(line).strip_prefix("sweep.") else { continue };
            if let Some(other) =
                self.lines.iter().position(|other| path_of(other).eq_ignore_ascii_case(field))
            {
                let message = format!("{} and {} both set {field}", of(axis), of(other));
                return Err(Failure::usage(message, "leave one of them out"));
            }
        }
        Ok(self)
    }

    /// As `--set` has them.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// The value of a field, if it is set.
    pub fn get(&self, field: &str) -> Option<&str> {
        let line = self.lines.iter().rev().find(|line| path_of(line) == field)?;
        line.split_once('=').map(|(_, value)| value.trim().trim_matches('"'))
    }

    /// Those of `--set` alone.
    pub fn set(&self) -> &[String] {
        let own = self.options.iter().filter(|option| option.is_some()).count();
        &self.lines[own..]
    }

    /// Those of options other than `--set`.
    pub fn own(&self) -> &[String] {
        &self.lines[..self.lines.len() - self.set().len()]
    }

    /// The option that sets the field at this place of the lines, which are joined by line ends.
    pub fn option_at(&self, place: usize) -> &str {
        let mut end = 0;
        let own = self.lines.iter().zip(&self.options).find(|(line, _)| {
            end += line.len() + 1;
            place < end
        });
        own.and_then(|(_, option)| option.as_deref()).unwrap_or("--set")
    }
}

/// The path of a field: what stands before its value.
fn path_of(line: &str) -> &str {
    line.split('=').next().unwrap_or_default().trim()
}

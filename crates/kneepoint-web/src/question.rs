// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A scenario as a page asks about it: its text, fields set from outside, and files that the reader gave.

use std::collections::BTreeMap;

use kneepoint::scenario::{Fault, Plan, Settings, parse_set};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A question of a page.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Question {
    /// The scenario.
    pub text: String,
    /// Fields set from outside, each `PATH=VALUE`.
    pub set: Vec<String>,
    /// Texts of files by the names that the scenario gives them.
    pub files: BTreeMap<String, String>,
    /// The published figure whose sweep runs in place of the scenario.
    pub figure: Option<String>,
    /// The case of the sweep that runs.
    pub case: usize,
    /// The seed; the scenario's first without one.
    pub seed: Option<u64>,
    /// The number of instants in the columns.
    pub instants: usize,
    /// The number of flows whose windows are recorded.
    pub followed: usize,
    /// The number of packets whose path through the bottleneck is kept.
    pub packets: usize,
}

/// A fault of a text, where a reader looks for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Problem {
    /// Its line, from 1.
    pub line: usize,
    /// Its column in characters, from 1.
    pub column: usize,
    /// The field set from outside that contains it, if one does.
    pub set: Option<usize>,
    /// The problem.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
}

impl Problem {
    /// A problem of the page itself, without a place in a text.
    pub fn new(message: String) -> Problem {
        Problem { line: 1, column: 1, set: None, message, help: None }
    }
}

/// A case of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Case {
    /// Swept fields and their values.
    pub settings: Settings,
    /// The length of its run in seconds.
    pub duration_s: f64,
    /// Its groups of traffic.
    pub groups: Vec<String>,
}

/// The size of a valid scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    /// Its name.
    pub name: String,
    /// Its text, with the fields that are set from outside.
    pub text: String,
    /// That text as a tree.
    pub tree: Value,
    /// Its cases.
    pub cases: Vec<Case>,
    /// Its first seed.
    pub seed: u64,
}

impl Question {
    /// The plan of the scenario and its text with the fields set from outside; or its problems.
    pub fn plan(&self) -> Result<(Plan, String), Vec<Problem>> {
        let open = |name: &str| {
            self.files.get(name).cloned().ok_or_else(|| format!("drop the file `{name}` on the page"))
        };
        parse_set(&self.text, &self.set, &open, &open)
            .map_err(|faults| faults.into_iter().map(|fault| self.problem(fault)).collect())
    }

    /// The size of the scenario, or its problems.
    pub fn check(&self) -> Result<Checked, Vec<Problem>> {
        let (plan, text) = self.plan()?;
        let cases = plan.cases.iter().map(|case| Case {
            settings: case.settings.clone(),
            duration_s: case.valid.schedule().duration.as_secs_f64(),
            groups: case.valid.groups().iter().map(|group| group.name.clone()).collect(),
        });
        let cases = cases.collect();
        // The parser has read it: it is TOML.
        let tree = toml::from_str(&text).unwrap_or_default();
        Ok(Checked { name: plan.name, text, tree, cases, seed: plan.seeds.first().copied().unwrap_or(1) })
    }

    /// The place of a fault. Places in fields set from outside are on lines of their own behind the text.
    fn problem(&self, fault: Fault) -> Problem {
        let Fault { span, message, help } = fault;
        let whole = [&self.text].into_iter().chain(&self.set);
        let mut begin = 0;
        for (place, part) in whole.enumerate() {
            if span.start <= begin + part.len() {
                let before = &part[..part.floor_char_boundary(span.start - begin)];
                let line = before.matches('\n').count() + 1;
                let column = before.chars().rev().take_while(|sign| *sign != '\n').count() + 1;
                return Problem { line, column, set: place.checked_sub(1), message, help };
            }
            begin += part.len() + 1;
        }
        Problem { help, ..Problem::new(message) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[topology]\nkind = 'dumbbell'\nrate = '10mbit'\n[[flows]]\ncc = 'reno'\n\
                        [sweep]\nscheme = ['pert', 'sack/droptail']\n";

    fn asked(text: &str, set: &[&str]) -> Question {
        let set = set.iter().map(|line| line.to_string()).collect();
        Question { text: text.into(), set, ..Question::default() }
    }

    #[test]
    fn a_scenario_has_its_cases_and_its_fields_as_they_are_set() {
        let checked = asked(TEXT, &["topology.rate=2mbit"]).check().unwrap();
        let labels: Vec<_> = checked.cases.iter().map(|case| case.settings[0].1.as_str()).collect();
        assert_eq!(labels, ["pert", "sack/droptail"]);
        assert_eq!(checked.tree["topology"]["rate"], "2mbit");
        assert_eq!(asked(&checked.text, &[]).check().unwrap().tree, checked.tree);
    }

    #[test]
    fn a_problem_has_its_line_and_column_in_the_text_or_in_the_field() {
        let wrong = TEXT.replace("'10mbit'", "'fast'");
        let in_text = asked(&wrong, &[]).check().unwrap_err();
        assert_eq!((in_text[0].line, in_text[0].column, in_text[0].set), (3, 8, None));
        let found = asked(TEXT, &["run.duration=9s", "topology.rate=fast"]).check().unwrap_err();
        assert_eq!((found[0].line, found[0].column, found[0].set), (1, 15, Some(1)));
        assert!(found[0].message.contains("`fast`"), "{}", found[0].message);
    }
}

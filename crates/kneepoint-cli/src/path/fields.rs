// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Fields of a scenario that options set, in the form of `--set`, each with its option.

use super::property::named;
use super::table::quoted;
use crate::failure::Failure;

/// Fields of a scenario that options set.
#[derive(Default)]
pub struct Fields {
    /// In the form of `--set`.
    lines: Vec<String>,
    /// The option of each; none for `--set`.
    options: Vec<Option<String>>,
    /// Fields that options of a verb set without a line, and those options.
    claims: Vec<(String, String)>,
    /// Their description in titles, without `--set`.
    pub told: Vec<String>,
    /// Whether the reverse path must be simulated.
    pub both_ways: bool,
}

impl Fields {
    /// The fields set by `--set`.
    pub(super) fn of_set(set: &[String]) -> Fields {
        Fields { lines: set.to_vec(), options: vec![None; set.len()], ..Fields::default() }
    }

    /// A field that an option sets, before `--set` does.
    pub fn add(&mut self, option: &str, line: String) {
        self.lines.push(line);
        self.options.push(Some(option.to_string()));
    }

    /// A field that an option of a verb sets by itself.
    pub fn claim(&mut self, field: &str, option: String) {
        self.claims.push((field.to_string(), option));
    }

    /// A field that overrides the preset's.
    pub(super) fn put(&mut self, field: &str, option: &str, value: String) -> Result<(), Failure> {
        let same = |line: &str| path_of(line).trim_start_matches(AXIS) == field.trim_start_matches(AXIS);
        while let Some(place) = self.lines.iter().position(|line| same(line)) {
            if let Some(other) = self.options[place].as_deref().filter(|other| !of_preset(other)) {
                return Err(both_set(other, option, field.trim_start_matches(AXIS)));
            }
            self.lines.remove(place);
            self.options.remove(place);
        }
        self.add(option, format!("{field}={value}"));
        Ok(())
    }

    /// A field of the topology with one value, or an axis of several, by the option of a verb; without any, the
    /// preset's values.
    pub fn vary(&mut self, word: &str, values: Vec<String>, preset: Option<(String, &str)>) {
        let Some(field) = named(word).and_then(|property| property.forward) else { return };
        let option = format!("--{word} {}", values.join(","));
        match &values[..] {
            [] => {
                if let Some((name, usual)) = preset {
                    self.add(&name, format!("{field}={}", quoted(usual)));
                }
            }
            [one] => {
                self.add(&option, format!("{field}={}", quoted(one)));
                self.told.push(format!("{word} {one}"));
            }
            several => self.add(&option, axis(field, several.iter().map(|value| quoted(value)))),
        }
    }

    /// These fields before the others.
    pub fn after(mut self, mut first: Fields) -> Fields {
        first.lines.append(&mut self.lines);
        first.options.append(&mut self.options);
        first.claims.append(&mut self.claims);
        first.told.append(&mut self.told);
        Fields { both_ways: first.both_ways || self.both_ways, ..first }
    }

    /// Refuses a field that two options set, one of which would silently replace the other. Presets yield to both.
    pub(super) fn once(mut self) -> Result<Fields, Failure> {
        let setters = self.setters();
        for (place, one) in setters.iter().enumerate().filter(|(_, one)| !of_preset(&one.option)) {
            let others = setters[..place].iter().filter(|other| !of_preset(&other.option));
            if let Some((other, field)) =
                others.filter_map(|other| Some((other, one.disputes(other)?))).next()
            {
                return Err(both_set(&other.option, &one.option, &field));
            }
        }
        let taken: Vec<String> =
            setters.iter().filter(|one| !of_preset(&one.option)).map(|one| one.field.clone()).collect();
        let stays = |(line, option): &(String, Option<String>)| {
            let gives_way = option.as_deref().is_some_and(of_preset);
            !gives_way || !taken.iter().any(|field| same_field(field, path_of(line)))
        };
        let all = self.lines.into_iter().zip(self.options);
        (self.lines, self.options) = all.filter(stays).unzip();
        Ok(self)
    }

    /// Everything that sets a field, in the order of precedence.
    fn setters(&self) -> Vec<Setter> {
        let claims = self.claims.iter().map(|(field, option)| Setter {
            field: field.clone(),
            value: String::new(),
            option: option.clone(),
            swept: false,
        });
        let lines = self.lines.iter().zip(&self.options).map(|(line, option)| Setter {
            field: path_of(line).trim_start_matches(AXIS).to_ascii_lowercase(),
            value: line.split_once('=').map_or("", |(_, value)| value).to_string(),
            option: option.clone().unwrap_or_else(|| format!("--set {line}")),
            swept: path_of(line).starts_with(AXIS),
        });
        claims.chain(lines).collect()
    }

    /// The option, or the line of `--set`, that sets one of some fields.
    pub fn option_of(&self, wanted: impl Fn(&str) -> bool) -> Option<String> {
        self.setters().into_iter().rfind(|one| wanted(&one.field)).map(|one| one.option)
    }

    /// The option that gives a field several values.
    pub fn swept_by(&self) -> Option<String> {
        self.setters().into_iter().find(|one| one.swept).map(|one| one.option)
    }

    /// In the form of `--set`.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// The value of a field, if it is set.
    pub fn get(&self, field: &str) -> Option<&str> {
        let line = self.lines.iter().rev().find(|line| path_of(line) == field)?;
        line.split_once('=').map(|(_, value)| value.trim().trim_matches('"'))
    }

    /// The fields of `--set` alone.
    pub fn set(&self) -> &[String] {
        let own = self.options.iter().filter(|option| option.is_some()).count();
        &self.lines[own..]
    }

    /// Fields of options other than `--set`.
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

/// The section of axes.
const AXIS: &str = "sweep.";

/// A field with several values, each in TOML.
pub(super) fn axis(field: &str, values: impl Iterator<Item = String>) -> String {
    format!("{AXIS}{field}=[{}]", values.collect::<Vec<_>>().join(", "))
}

/// The option that sets a field.
struct Setter {
    /// Its path, without the section of axes.
    field: String,
    /// The value, where it is known.
    value: String,
    /// The option.
    option: String,
    /// Whether it gives the field several values.
    swept: bool,
}

impl Setter {
    /// The field that both would set, of two different options.
    fn disputes(&self, other: &Setter) -> Option<String> {
        // Two lines of `--set` are compared where they are read, but for an axis and a value.
        let read = self.option.starts_with("--set ") && other.option.starts_with("--set ");
        if self.option == other.option || read && self.swept == other.swept {
            return None;
        }
        match same_field(&self.field, &other.field) || other.writes(&self.field) {
            true => Some(self.field.clone()),
            false => Some(other.field.clone()).filter(|field| self.writes(field)),
        }
    }

    /// Whether the value has a part with this path.
    fn writes(&self, path: &str) -> bool {
        let part = path.strip_prefix(self.field.as_str()).and_then(|rest| rest.strip_prefix('.'));
        let Some(part) = part.filter(|_| !self.value.is_empty()) else { return false };
        let keys = self.value.split(['{', ',', ':', '"']).filter_map(|word| word.split_once('='));
        part == "kind" || keys.into_iter().any(|(key, _)| key.trim() == part)
    }
}

/// Whether two paths denote one field; `*` represents any group.
fn same_field(one: &str, other: &str) -> bool {
    let parts = |path: &str| {
        path.trim_start_matches(AXIS).to_ascii_lowercase().split('.').map(String::from).collect()
    };
    let (one, other): (Vec<String>, Vec<String>) = (parts(one), parts(other));
    let alike = |(a, b): (&String, &String)| a == b || a == "*" || b == "*";
    one.len() == other.len() && one.iter().zip(&other).all(alike)
}

/// Whether an option is the name of a path.
pub fn of_preset(option: &str) -> bool {
    option.starts_with("--path ")
}

pub(super) fn both_set(one: &str, other: &str, field: &str) -> Failure {
    Failure::usage(format!("{one} and {other} both set {field}"), "leave one of them out")
}

/// The path of a field: the text before its value.
fn path_of(line: &str) -> &str {
    line.split('=').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(failure: &Failure) -> String {
        match failure {
            Failure::Usage(complaint) => complaint.message().to_string(),
            _ => String::new(),
        }
    }

    fn refused(fields: &[(&str, &str)], set: &[&str]) -> Option<String> {
        let mut all = Fields::default();
        fields.iter().for_each(|(option, line)| all.add(option, line.to_string()));
        let set: Vec<String> = set.iter().map(|line| line.to_string()).collect();
        Fields::of_set(&set).after(all).once().err().map(|failure| message(&failure))
    }

    #[test]
    fn two_options_of_one_field_are_refused_and_named() {
        for (field, set) in [
            (("--rtt 20ms,60ms", "sweep.topology.rtt=[\"20ms\", \"60ms\"]"), "topology.rtt=5ms"),
            (("--rate 20mbit", "topology.rate=\"20mbit\""), "Topology.Rate=5mbit"),
            (("--policer 5mbit", "policer={ rate = \"5mbit\" }"), "policer.rate=2mbit"),
            (("--loss 1%", "loss=\"uniform:p=0.01\""), "loss.p=0.02"),
            (
                ("--shaper 9kb", "capacity={ kind = \"token-bucket\", burst = \"9kb\" }"),
                "capacity.kind=grants",
            ),
        ] {
            let said = refused(&[field], &[set]).unwrap_or_default();
            assert!(
                said.contains(field.0) && said.contains(&format!("--set {set}")),
                "{field:?} {set}: {said}"
            );
        }
        assert_eq!(
            refused(&[("--policer 5mbit", "policer={ rate = \"5mbit\" }")], &["policer.burst=9kb"]),
            None
        );
        assert_eq!(
            refused(&[("--up queue=codel", "reverse_queue=\"codel\"")], &["reverse_queue.target=9ms"]),
            None
        );
    }

    #[test]
    fn a_preset_gives_way_and_a_claim_does_not() {
        let mut fields = Fields::default();
        fields.add("--path leo", "topology.rtt=\"50ms\"".into());
        fields.add("--path leo", "topology.jitter=\"6ms\"".into());
        let all = Fields::of_set(&["topology.rtt=9ms".into()]).after(fields).once();
        assert_eq!(
            all.ok().map(|all| all.lines),
            Some(vec!["topology.jitter=\"6ms\"".into(), "topology.rtt=9ms".into()])
        );
        let mut claimed = Fields::default();
        claimed.claim("flows.forward.count", "--flows 5".into());
        let set = Fields::of_set(&["flows.*.count=3".into()]);
        assert!(set.after(claimed).once().is_err());
    }
}

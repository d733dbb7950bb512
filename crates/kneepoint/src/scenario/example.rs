// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A scenario that explains itself: every section, every field with its default, range and sentence.

use super::family::Members;
use super::outline::{HEAD, Part, Section, default, sections, sentence};
use crate::settings::{Field, Settings};
use crate::tcp;

/// The annotated example: a scenario that runs, with comments from which any other can be made.
pub fn example() -> String {
    let mut page = Page { text: PREFACE.to_string(), only: None };
    page.fields(HEAD, "", "");
    for section in sections() {
        page.section(&section);
    }
    page.text + COMMON + SWEEP
}

/// The same scenario with only the fields that most scenarios set.
pub fn brief_example() -> String {
    let mut page = Page { text: BRIEF_PREFACE.to_string(), only: Some(BRIEF) };
    page.fields(HEAD, "", "");
    let shown = |section: &Section| BRIEF.iter().any(|(name, _)| *name == section.name);
    for section in sections().filter(shown) {
        page.section(&section);
    }
    page.text + SWEEP
}

/// Sections and fields of the brief example.
const BRIEF: &[(&str, &[&str])] = &[
    ("", &["name"]),
    ("run", &["duration", "seeds"]),
    ("topology", &["kind", "rate", "rtt", "buffer"]),
    ("queue", &["kind"]),
    ("flows", &["name", "count", "start", "cc"]),
];

/// Values of the examples that are not the defaults. Flows start at random, so that seeds differ.
const GIVEN: &[(&str, &str, &str)] = &[
    ("run", "seeds", "3"),
    ("flows", "name", "\"long\""),
    ("flows", "count", "5"),
    ("flows", "start", "\"0s..5s\""),
];

const BRIEF_PREFACE: &str = "\
# A scenario: a network, its traffic, and when to measure. `knee init --all` shows every other section and field,
# `knee list` the choices, `knee explain NAME` their effects.

";

const PREFACE: &str = "\
# A scenario: a network, its traffic, and when to measure. Every field is shown with its default, so a line
# may be left out; only the number of seeds, and the flows' name, count and start are chosen. Lines that
# begin with `#` and no space are alternatives: take the `#` away to use them.

";

/// Sections that refer to those before.
const COMMON: &str = "
# Parameters of a controller wherever a group chooses it; what the group itself sets goes before.
#[controllers.pert]
#t1 = \"5ms\"
";

const SWEEP: &str = "
# Fields by path and the values they take, in every combination. A group is addressed by its name, all groups
# of a section by `*`; `scheme` sets the control of all groups and the queue, as in \"pert:t1=5ms/droptail\".
#[sweep]
#scheme = [\"pert\", \"cubic\"]
#\"topology.rate\" = [\"1mbit\", \"10mbit\", \"100mbit\"]
#\"flows.long.count\" = [1, 5, 25]
";

struct Page {
    text: String,
    /// The fields to show; all if there is no list.
    only: Option<&'static [(&'static str, &'static [&'static str])]>,
}

impl Page {
    fn section(&mut self, section: &Section) {
        self.text.push('\n');
        let off = if section.wanted { "" } else { "#" };
        self.comment(section.about);
        self.text.push_str(&format!("{off}{}\n", header(section)));
        let wanted = |name: &str| section.required.contains(&name);
        for (name, part) in section.parts.iter().filter(|(name, _)| wanted(name)) {
            self.part(section, name, *part, off);
        }
        match section.choice {
            Some(family) => self.choice(family, off, section.name),
            None => {
                for list in section.fields.iter().chain(&section.own) {
                    self.fields(list, off, section.name);
                }
            }
        }
        let only = self.only;
        let shown = |name: &str| shows(only, section.name, name);
        for (name, part) in section.parts.iter().filter(|(name, _)| !wanted(name) && shown(name)) {
            self.part(section, name, *part, off);
        }
    }

    /// A field that chooses one of a family or holds a table.
    fn part(&mut self, section: &Section, name: &str, part: Part, off: &str) {
        let table = match part {
            Part::One(_) => None,
            Part::Options => {
                Some((<tcp::Options as Settings>::fields(), "Options that differ from `[tcp]`.".to_string()))
            }
            Part::Table(like) => {
                Some((like.fields, format!("A table with the fields of `[{}]`.", like.name)))
            }
        };
        if let Some((fields, comment)) = table {
            self.comment(&comment);
            let first = fields.first();
            let shown = first.map(|field| format!("{} = {}", field.name, default(field))).unwrap_or_default();
            self.text.push_str(&format!("#{name} = {{ {shown} }}\n"));
        }
        let Part::One(family) = part else { return };
        let members = family.all();
        let home = sections().find(|other| other.name == family.section);
        if section.name == family.section && self.only.is_none() {
            for member in &members {
                self.comment(&format!("\"{}\": {}", member.name, member.about));
                for field in member.fields {
                    let default = member.default(field);
                    self.comment(&format!("    {} = {default}  {}", field.name, remark(field)));
                }
            }
        } else if let Some(home) = home.filter(|_| self.only.is_none()) {
            let header = header(&home);
            self.comment(&format!("A name, or a table with a `kind` and its fields, as in `{header}`."));
        }
        if self.only.is_some() {
            self.comment(&format!(
                "The {} by its name, or a table with `kind` and its parameters.",
                family.what
            ));
        }
        // A link without these has the sections'.
        let off = if section.required.contains(&name) { off } else { "#" };
        let first = members.first().map_or("", |member| member.name);
        self.text.push_str(&format!("{off}{name} = \"{first}\"\n"));
    }

    /// A section that is one of a family: the first with its fields, the others as alternatives.
    fn choice(&mut self, family: &Members, off: &str, section: &str) {
        let members = family.all();
        let shown = if self.only.is_some() { 1 } else { members.len() };
        for (place, member) in members.iter().take(shown).enumerate() {
            let off = if place == 0 { off } else { "#" };
            self.comment(&member.about);
            self.text.push_str(&format!("{off}kind = \"{}\"\n", member.name));
            self.lines(member.fields, off, section, |field| member.default(field));
        }
    }

    fn fields(&mut self, fields: &[Field], off: &str, section: &str) {
        self.lines(fields, off, section, |field| {
            let given = GIVEN.iter().find(|(of, name, _)| (*of, *name) == (section, field.name));
            given.map_or_else(|| default(field), |(.., value)| value.to_string())
        });
    }

    fn lines(&mut self, fields: &[Field], off: &str, section: &str, value: impl Fn(&Field) -> String) {
        let only = self.only;
        for field in fields.iter().filter(|field| shows(only, section, field.name)) {
            self.comment(&remark(field));
            for (name, about) in field.choices {
                self.comment(&format!("    \"{name}\": {about}"));
            }
            self.text.push_str(&format!("{off}{} = {}\n", field.name, value(field)));
        }
    }

    /// A comment in lines of readable length.
    fn comment(&mut self, text: &str) {
        let indent: String = text.chars().take_while(|c| *c == ' ').collect();
        let mut line = format!("# {indent}");
        for word in text.split_whitespace() {
            if line.chars().count() + word.chars().count() > 108 && !line.trim_end().ends_with('#') {
                self.text.push_str(line.trim_end());
                line = format!("\n# {indent}");
            }
            line.push_str(word);
            line.push(' ');
        }
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }
}

/// Whether a page with only these fields shows this one.
fn shows(only: Option<&[(&str, &[&str])]>, section: &str, field: &str) -> bool {
    only.is_none_or(|all| all.iter().any(|(name, fields)| *name == section && fields.contains(&field)))
}

/// `[name]`, or `[[name]]` where there may be several.
fn header(section: &Section) -> String {
    if section.repeated { format!("[[{}]]", section.name) } else { format!("[{}]", section.name) }
}

/// A field's sentence and range.
fn remark(field: &Field) -> String {
    match field.range() {
        Some(range) => format!("{} [{range}]", sentence(field)),
        None => sentence(field),
    }
}

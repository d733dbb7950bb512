// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Algorithms of other crates that a scenario may name beside those of the registries.

use super::build::FIXED;
use super::choose::BESIDES;
use super::family::Family;
use super::scheme::{self, Scheme};
use super::traffic::common;
use super::{Fault, Files, Opened, Plan, files, read_set, read_with};
use crate::settings::names::same_name;
use crate::settings::{Entry, Field};
use crate::traffic::{self, sources};
use crate::{cc, queue};

/// Controllers, queue disciplines and sources of traffic of other crates.
///
/// ```
/// use kneepoint::cc;
/// use kneepoint::scenario::Extensions;
/// # type Gentle = kneepoint::cc::reno::Reno;
///
/// // `Gentle` implements `cc::Controller` in the file gentle.rs, which begins with its documentation.
/// let source = "//! Gentle: Reno that gives way.";
/// let known = Extensions::NONE.controller(cc::external::of::<Gentle>("gentle", source))?;
/// let text = r#"
///     [topology]
///     kind = "dumbbell"
///     rate = "10mbit"
///     rtt = "40ms"
///
///     [[flows]]
///     cc = "gentle:decrease=0.3"
///
///     [[flows]]
///     cc = "cubic"
/// "#;
/// let plan = known.parse(text).map_err(|faults| faults[0].to_string())?;
/// assert_eq!(plan.cases[0].valid.groups()[0].cc.as_ref().map(cc::Config::name), Some("gentle"));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extensions {
    controllers: Vec<cc::Config>,
    queues: Vec<queue::Config>,
    traffic: Vec<traffic::Config>,
}

impl Extensions {
    /// No algorithms but those of the registries.
    pub const NONE: Extensions =
        Extensions { controllers: Vec::new(), queues: Vec::new(), traffic: Vec::new() };

    /// Adds a controller, unless another has its name or a parameter cannot be set.
    pub fn controller(mut self, controller: cc::External) -> Result<Extensions, String> {
        self.vacant::<cc::Config>(controller.name())?;
        settable("controller", controller.entry(), BESIDES)?;
        self.controllers.push(controller.into());
        Ok(self)
    }

    /// Adds a queue discipline, unless another has its name or a parameter cannot be set.
    pub fn queue(mut self, discipline: queue::External) -> Result<Extensions, String> {
        self.vacant::<queue::Config>(discipline.name())?;
        settable("queue", discipline.entry(), BESIDES)?;
        self.queues.push(discipline.into());
        Ok(self)
    }

    /// Adds a source of traffic, unless another has its name, a scenario another section of its, or a parameter cannot be set.
    pub fn source(mut self, source: traffic::External) -> Result<Extensions, String> {
        let (name, entry) = (source.name(), *source.entry());
        let config = traffic::Config::from(source);
        let section = config.nature().section;
        let mut names = traffic::REGISTRY
            .iter()
            .map(|known| known.name)
            .chain(self.traffic.iter().map(traffic::Config::name));
        vacant("source of traffic", name, names.any(|other| same_name(other, name)))?;
        vacant("section", section, self.top().contains(&section))?;
        settable("source of traffic", &entry, &common(config.nature().kind))?;
        self.traffic.push(config);
        Ok(self)
    }

    /// The controllers, with their defaults.
    pub fn controllers(&self) -> &[cc::Config] {
        &self.controllers
    }

    /// The queue disciplines, with their defaults.
    pub fn queues(&self) -> &[queue::Config] {
        &self.queues
    }

    /// The sources of traffic, with their defaults.
    pub fn traffic(&self) -> &[traffic::Config] {
        &self.traffic
    }

    /// The names and the documentation of all.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        let controllers = self.controllers.iter().filter_map(|one| Some(one.external()?.entry()));
        let queues = self.queues.iter().filter_map(|one| Some(one.external()?.entry()));
        let sources = self.traffic.iter().filter_map(|one| Some(one.external()?.entry()));
        controllers.chain(queues).chain(sources)
    }

    /// Reads a scenario that names no files, as [`parse`](super::parse) does.
    pub fn parse(&self, text: &str) -> Result<Plan, Vec<Fault>> {
        self.parse_with(text, &files::none)
    }

    /// Reads a scenario with the files that it names, as [`parse_with`](super::parse_with) does.
    pub fn parse_with(&self, text: &str, files: Files) -> Result<Plan, Vec<Fault>> {
        read_with(text, self, files)
    }

    /// Reads a scenario of which some fields are set from outside, as [`parse_set`](super::parse_set) does.
    pub fn parse_set(
        &self,
        text: &str,
        set: &[String],
        files: Files,
        others: Files,
    ) -> Result<(Plan, String), Vec<Fault>> {
        read_set(text, set, self, Opened { text: files, others, end: text.len() })
    }

    /// Reads a scheme, as [`scheme::parse`] does.
    pub fn scheme(&self, text: &str) -> Result<Scheme, String> {
        scheme::read(text, self)
    }

    /// A member of a family by its name.
    pub(super) fn member<F: Family>(&self, name: &str) -> Option<F> {
        let added = || F::added(self).iter().find(|one| one.called() == name).cloned();
        F::member(name).or_else(added)
    }

    /// Every name that a scenario may give to a member of a family.
    pub(super) fn names<F: Family>(&self) -> Vec<&'static str> {
        F::MEMBERS.names().into_iter().chain(F::added(self).iter().map(F::called)).collect()
    }

    /// Every source that a scenario may have: its section, and its defaults.
    pub(super) fn sources(&self) -> impl Iterator<Item = (&'static str, traffic::Config)> {
        let registered = sources().map(|(section, _, source)| (section, source));
        registered.chain(self.traffic.iter().map(|source| (source.nature().section, source.clone())))
    }

    /// The names of the sections of traffic, in the order in which tables show them.
    pub(super) fn sections(&self) -> impl Iterator<Item = &'static str> {
        self.sources().map(|(section, _)| section)
    }

    /// The names of the sections whose groups have a congestion control.
    pub(super) fn connecting(&self) -> impl Iterator<Item = &'static str> {
        self.sources().filter(|(_, source)| source.nature().kind.connects()).map(|(section, _)| section)
    }

    /// Every section's name.
    pub(super) fn top(&self) -> Vec<&'static str> {
        FIXED.into_iter().chain(self.sections()).collect()
    }

    fn vacant<F: Family>(&self, name: &str) -> Result<(), String> {
        vacant(F::MEMBERS.what, name, self.names::<F>().iter().any(|other| same_name(other, name)))
    }
}

/// A parameter can be set if its name can be written in a table and in a scheme, and is not that of a field which every table has.
fn settable(what: &str, Entry { name, fields, .. }: &Entry, reserved: &[&str]) -> Result<(), String> {
    for Field { name: parameter, .. } in *fields {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !parameter.starts_with(|c: char| c.is_ascii_lowercase()) || !parameter.chars().all(plain) {
            return Err(format!(
                "`{parameter}` cannot be the name of a parameter of the {what} `{name}`: use lower-case letters, digits and \
                 underscores, a letter first"
            ));
        }
        if reserved.contains(parameter) {
            return Err(format!(
                "`{parameter}` cannot be the name of a parameter of the {what} `{name}`: choose another name than {}, which \
                 scenarios have beside them",
                reserved.join(", ")
            ));
        }
    }
    Ok(())
}

/// A name can be given if it is free, and if it can be told from the settings that follow it in a scheme.
fn vacant(what: &str, name: &str, taken: bool) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if name.is_empty() || !name.chars().all(plain) {
        return Err(format!(
            "`{name}` cannot be the name of a {what}: use lower-case letters, digits and dashes"
        ));
    }
    if taken {
        return Err(format!("there is a {what} called `{name}` already: choose another name"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::settings! {
        /// Parameters of which one cannot be set.
        pub struct Odd {
            /// The name of the controller, in every table that chooses one.
            kind: f64 = 1.0;
        }
    }

    #[test]
    fn a_parameter_with_the_name_of_a_field_that_every_table_has_is_refused() {
        let make = |_: Odd, _: cc::Start| -> Box<dyn cc::external::Object> { unreachable!("nothing runs") };
        let odd = cc::External::new("odd", "//! Odd.", make);
        let refused = Extensions::NONE.controller(odd).unwrap_err();
        assert!(
            refused.starts_with("`kind` cannot be the name of a parameter of the controller `odd`"),
            "{refused}"
        );
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The external algorithms that a scenario can name: with a free name and with parameters that can be written.

use super::choose::BESIDES;
use super::extensions::Extensions;
use super::family::Family;
use super::traffic::common;
use crate::settings::names::same_name;
use crate::settings::{Entry, Field};
use crate::{cc, queue, traffic};

impl Extensions {
    /// Adds a controller, unless its name is taken or a parameter cannot be set.
    pub fn controller(mut self, controller: cc::External) -> Result<Extensions, String> {
        self.vacant::<cc::Config>(controller.name())?;
        settable("controller", controller.entry(), BESIDES)?;
        self.controllers.push(controller.into());
        Ok(self)
    }

    /// Adds a queue discipline, unless its name is taken or a parameter cannot be set.
    pub fn queue(mut self, discipline: queue::External) -> Result<Extensions, String> {
        self.vacant::<queue::Config>(discipline.name())?;
        settable("queue", discipline.entry(), BESIDES)?;
        self.queues.push(discipline.into());
        Ok(self)
    }

    /// Adds a source of traffic, unless its name is taken by another source or by a section of scenarios, or a
    /// parameter cannot be set.
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

/// A name can be given if it is free, and if it cannot be confused with the settings that follow it in a scheme.
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
        /// Parameters, one of which cannot be set.
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

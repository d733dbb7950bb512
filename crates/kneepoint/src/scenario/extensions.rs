// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Algorithms of other crates that a scenario may name like registered ones.

use super::sections::FIXED;
use crate::settings::Entry;
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
    pub(super) controllers: Vec<cc::Config>,
    pub(super) queues: Vec<queue::Config>,
    pub(super) traffic: Vec<traffic::Config>,
}

impl Extensions {
    /// Registered algorithms alone.
    pub const NONE: Extensions =
        Extensions { controllers: Vec::new(), queues: Vec::new(), traffic: Vec::new() };

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
}

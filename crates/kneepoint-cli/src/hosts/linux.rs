// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Linux's controllers as schemes, such as `linux-cubic`: hosts, routers and queues of a Linux in virtual time, as with `knee live --on uml`.
//!
//! Every group of such a scenario has a host of Linux, with its own controller of the same name where the scenario has one of the laboratory.
//! Controllers have Linux's parameters, and hosts Linux's TCP.

use std::sync::{Arc, OnceLock};

use kneepoint::cc::{self, Config};
use kneepoint::settings::Assign;
use kneepoint::spec::{Group, Valid};
use kneepoint::trace::Observer;
use kneepoint_bench::failure::Failure;
use kneepoint_bench::session::Engine;
use kneepoint_linux::live::Plan;
use kneepoint_linux::uml::{self, Kernel, Prepared, Station};

use super::uml::ready;
use super::{Others, scheme};

/// The beginning of their names.
const PREFIX: &str = "linux-";

/// A Linux that is looked for when it is first needed.
#[derive(Default)]
struct Linux {
    hosts: OnceLock<(Kernel, Station)>,
}

impl Linux {
    fn hosts(&self) -> Result<&(Kernel, Station), Failure> {
        if let Some(hosts) = self.hosts.get() {
            return Ok(hosts);
        }
        let found = ready(&[])?;
        Ok(self.hosts.get_or_init(|| found))
    }
}

/// The kernel's name of a scheme's controller, if it is one of these.
fn control(controller: &Config) -> Option<&'static str> {
    let name = controller.name().strip_prefix(PREFIX)?;
    uml::controls().find(|control| control.replace('_', "-") == name)
}

/// The kernel's name of a group's controller; the error is the reason why Linux has none for it.
fn control_of(group: &Group) -> Result<String, String> {
    let config = group.cc.clone().unwrap_or_default();
    if let Some(control) = control(&config) {
        return Ok(control.to_string());
    }
    let name = config.name();
    let Some(control) = uml::controls().find(|control| control.replace('_', "-") == name) else {
        return Err(format!("Linux has no congestion control `{name}`, which group `{}` has", group.name));
    };
    let defaults = Config::named(name).unwrap_or_default();
    let set = config.declared().iter().find(|field| config.get(field.name) != defaults.get(field.name));
    match set {
        Some(field) => {
            Err(format!("`{}` of group `{}` cannot be set in Linux's `{control}`", field.name, group.name))
        }
        None => Ok(control.to_string()),
    }
}

fn prepared(valid: &Valid, seed: u64) -> Result<Prepared, String> {
    for group in valid.groups().iter().filter(|group| group.kind().connects()) {
        control_of(group)?;
    }
    let plan = Plan::new(valid, seed, |group| control_of(group).unwrap_or_default())?;
    Prepared::new(valid, seed, plan)
}

impl Engine for Linux {
    fn has(&self, controller: &cc::Config) -> bool {
        control(controller).is_some()
    }
    fn refuse(&self, valid: &Valid) -> Option<String> {
        prepared(valid, 1).err()
    }
    fn remark(&self, controller: &cc::Config) -> Option<String> {
        Some(format!(
            "`{}`: hosts and queues are Linux's, to which `[tcp]` does not apply",
            controller.name()
        ))
    }
    fn run(
        &self,
        valid: &Valid,
        seed: u64,
        watch: &mut dyn Observer,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), Failure> {
        let (kernel, station) = self.hosts()?;
        let ready =
            prepared(valid, seed).map_err(|why| Failure::run(why, "leave that out of the scenario"))?;
        let seen = ready.run(valid, seed, (kernel, station), watch, &|_| stop());
        let seen = seen.map_err(|error| {
            Failure::run(format!("the instance failed: {error}"), "`knee doctor` shows the kernel")
        })?;
        match seen.spoiled {
            None => Ok(()),
            Some(why) => Err(Failure::run(format!("the run does not count: {why}"), "leave this scheme out")),
        }
    }
}

/// The schemes, and what runs them.
pub(super) fn others() -> Others {
    let of = |control: &str| {
        let header = format!(
            "//! `{control}` of Linux in virtual time, with its own hosts and queues.\n//!\n//! docs/linux-queues.md.\n"
        );
        scheme(format!("{PREFIX}{}", control.replace('_', "-")), header)
    };
    Others { schemes: uml::controls().map(of).collect(), engine: Arc::new(Linux::default()) }
}

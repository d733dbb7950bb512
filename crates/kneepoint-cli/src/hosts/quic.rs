// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The stacks' own controllers as schemes, such as `noq-cubic`, which their endpoints run in virtual time.
//!
//! Every group of such a scenario runs on a QUIC stack. A group with a controller of the laboratory runs on the first stack that the
//! scenario names. A scheme's colon introduces parameters, hence the dash in these names.

use std::sync::Arc;

use kneepoint::cc;
use kneepoint::spec::Valid;
use kneepoint::trace::Observer;
use kneepoint_bench::failure::Failure;
use kneepoint_bench::session::Engine;
use kneepoint_quic::virtual_time::{self, Factory, Hosts, Own, STACKS};

use super::{Others, scheme};

/// A stack's own controller as a scheme.
struct Scheme {
    name: String,
    stack: &'static Hosts,
    own: &'static Own,
}

impl Scheme {
    fn new(stack: &'static Hosts, own: &'static Own) -> Scheme {
        Scheme { name: own.name.replace(':', "-"), stack, own }
    }

    /// The header that documents it.
    fn header(&self) -> String {
        let entropy = match self.own.repeats {
            true => "",
            false => " It draws from the machine's entropy, so its runs cannot be repeated.",
        };
        format!(
            "//! `{}` of the QUIC stack {}, between the stack's own endpoints in virtual time.{entropy}\n//!\n//! docs/quic.md.\n",
            self.own.name, self.stack.name
        )
    }
}

/// Every such scheme.
struct Stacks(Vec<Scheme>);

impl Stacks {
    fn new() -> Stacks {
        let of = |stack: &'static Hosts| stack.own.iter().map(move |own| Scheme::new(stack, own));
        Stacks(STACKS.into_iter().flat_map(of).collect())
    }

    fn scheme(&self, controller: &cc::Config) -> Option<&Scheme> {
        self.0.iter().find(|scheme| scheme.name == controller.name())
    }

    fn factories(&self, valid: &Valid) -> Result<Vec<Factory>, String> {
        let configs = || valid.groups().iter().map(|group| group.cc.clone().unwrap_or_default());
        let first = configs().find_map(|config| self.scheme(&config));
        let Some(first) = first else { return Err("no group has a controller of a QUIC stack".into()) };
        let factory = |(config, group): (cc::Config, &kneepoint::spec::Group)| match self.scheme(&config) {
            Some(scheme) => Ok((scheme.own.make)()),
            None => (first.stack.carrying)(config, None)
                .map_err(|why| format!("group `{}`: its controller {why}", group.name)),
        };
        configs().zip(valid.groups()).map(factory).collect()
    }
}

impl Engine for Stacks {
    fn has(&self, controller: &cc::Config) -> bool {
        self.scheme(controller).is_some()
    }
    fn refuse(&self, valid: &Valid) -> Option<String> {
        virtual_time::refuse(valid).or_else(|| self.factories(valid).err())
    }
    fn remark(&self, controller: &cc::Config) -> Option<String> {
        let scheme = self.scheme(controller).filter(|scheme| !scheme.own.repeats)?;
        Some(format!(
            "`{}` draws from the machine's entropy: its runs cannot be repeated, and pairs of seeds share nothing",
            scheme.name
        ))
    }
    fn run(
        &self,
        valid: &Valid,
        seed: u64,
        watch: &mut dyn Observer,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), Failure> {
        let ran =
            self.factories(valid).and_then(|hosts| virtual_time::run_until(valid, seed, &hosts, watch, stop));
        ran.map(drop).map_err(|why| Failure::run(why, "leave that out of the scenario"))
    }
    fn unseen(&self) -> &'static [&'static str] {
        &["retransmissions", "retransmission_rate", "retransmitted_bytes", "timeouts"]
    }
}

/// The schemes, and what runs them.
pub(super) fn others() -> Others {
    let stacks = Stacks::new();
    let schemes = stacks.0.iter().map(|one| scheme(one.name.clone(), one.header())).collect();
    Others { schemes, engine: Arc::new(stacks) }
}

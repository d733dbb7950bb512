// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The stacks' own controllers as schemes, such as `noq-cubic`, which their endpoints run in virtual time.
//!
//! Every group of such a scenario runs on a QUIC stack. A group with a controller of the laboratory runs on the first stack that the
//! scenario names. A scheme's colon introduces parameters, hence the dash in these names.

use std::sync::Arc;

use kneepoint::cc::{self, Ack, Control, Controller, Loss, Start, Timeout, external};
use kneepoint::rng::Rng;
use kneepoint::scenario::Extensions;
use kneepoint::settings::NoParameters;
use kneepoint::spec::Valid;
use kneepoint::trace::Observer;
use kneepoint_bench::session::{Engine, Given};
use kneepoint_quic::virtual_time::{self, Factory, Hosts, Own, STACKS};

/// A stack's own controller as a scheme.
struct Scheme {
    name: &'static str,
    /// The header that documents it.
    source: &'static str,
    stack: &'static Hosts,
    own: &'static Own,
}

impl Scheme {
    fn new(stack: &'static Hosts, own: &'static Own) -> Scheme {
        let kept = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        let entropy = match own.repeats {
            true => "",
            false => " It draws from the machine's entropy, so its runs cannot be repeated.",
        };
        let source = format!(
            "//! `{}` of the QUIC stack {}, between the stack's own endpoints in virtual time.{entropy}\n//!\n//! docs/quic.md.\n",
            own.name, stack.name
        );
        Scheme { name: kept(own.name.replace(':', "-")), source: kept(source), stack, own }
    }
}

/// A placeholder in scenarios: no simulation asks it.
#[derive(Clone, Debug)]
struct Elsewhere(f64);

impl Controller for Elsewhere {
    type Params = NoParameters;

    fn new(_: NoParameters, start: Start) -> Elsewhere {
        Elsewhere(start.initial_window)
    }
    fn on_ack(&mut self, _: &Ack, _: &mut Rng) {}
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Timeout) {}
    fn control(&self) -> Control {
        Control { window: self.0, pacing: None }
    }
}

/// Every such scheme.
struct Stacks(Vec<Scheme>);

impl Stacks {
    /// Names and sources of its schemes live as long as the program.
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
    ) -> Result<(), String> {
        virtual_time::run_until(valid, seed, &self.factories(valid)?, watch, stop).map(drop)
    }
}

/// A session's additional input: the schemes, and what runs them.
pub fn given() -> Given {
    let add = |known: Extensions, scheme: &Scheme| {
        let controller = external::of::<Elsewhere>(scheme.name, scheme.source);
        known.controller(controller).expect("names that no controller of the laboratory has")
    };
    let stacks = Stacks::new();
    let extensions = stacks.0.iter().fold(Extensions::NONE, add);
    Given { extensions, engine: Some(Arc::new(stacks)), ..Given::default() }
}

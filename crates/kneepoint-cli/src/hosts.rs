// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Controllers that only other hosts than the simulator's have, as schemes of every study: `linux-cubic` of a Linux in virtual time, and
//! in a build with the feature `quic` `noq-cubic` of a QUIC stack.
//!
//! In a scenario each is a placeholder: the engine that has it runs the scenario.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(feature = "quic")]
mod quic;
#[cfg(target_os = "linux")]
pub mod uml;

use std::sync::Arc;

use kneepoint::cc::{self, Ack, Control, Controller, Loss, Start, Timeout, external};
use kneepoint::rng::Rng;
use kneepoint::scenario::Extensions;
use kneepoint::settings::NoParameters;
use kneepoint_bench::session::{Engine, Given};

/// Additional input of a session that has these algorithms: the controllers of other hosts, and what runs them. The error
/// says which name is taken.
pub fn given(known: Extensions) -> Result<Given, String> {
    let others: Vec<Others> = vec![
        #[cfg(target_os = "linux")]
        linux::others(),
        #[cfg(feature = "quic")]
        quic::others(),
    ];
    let mut given = Given { extensions: known, ..Given::default() };
    for Others { schemes, engine } in others {
        for controller in schemes {
            given.extensions = given.extensions.controller(controller)?;
        }
        given.engines.push(engine);
    }
    Ok(given)
}

/// The controllers of some hosts, and what runs them.
struct Others {
    schemes: Vec<cc::External>,
    engine: Arc<dyn Engine>,
}

/// A controller of other hosts by this name, and the lines that document it. Both live as long as the program.
fn scheme(name: String, header: String) -> cc::External {
    let kept = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    external::of::<Elsewhere>(kept(name), kept(header))
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

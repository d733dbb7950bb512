// SPDX-License-Identifier: Apache-2.0 OR MIT
//! QUIC stacks as the hosts of `knee live`: with the controller of each group, or with their own.

use kneepoint::measure::{Meter, Series};
use kneepoint::run as engine;
use kneepoint::spec::Group;
use kneepoint::study::{Record, Yield};
use kneepoint_quic::virtual_time::{self, Factory, Hosts};

use super::Runs;
use super::cases::Case;
use super::measure::{Attempt, FOLLOWED};
use super::study::{Machine, Measured};
use crate::failure::Failure;

/// The makers of the hosts of each group.
pub fn factories(stack: &Hosts, runs: &Runs, case: &Case) -> Result<Vec<Factory>, Failure> {
    case.valid.groups().iter().map(|group| factory(stack, runs, case, group)).collect()
}

fn factory(stack: &Hosts, runs: &Runs, case: &Case, group: &Group) -> Result<Factory, Failure> {
    let config = group.cc.clone().unwrap_or_default();
    if let Some(name) = runs.mapped(config.name(), &group.name) {
        let named = stack.own.iter().find(|own| own.name == name);
        return named.map(|own| (own.make)()).ok_or_else(|| {
            let names: Vec<&str> = stack.own.iter().map(|own| own.name).collect();
            let message = format!("{} has no congestion control {name}", stack.name);
            Failure::usage(message, format!("--cc-map takes {} with --on {}", names.join(", "), stack.name))
        });
    }
    (stack.carrying)(config, None).map_err(|why| {
        let message = format!("{}: group `{}`: its controller {why}", case.name, group.name);
        Failure::run(message, "leave it to `knee run`, or take another with --cc-map")
    })
}

/// One run of a case.
pub fn once(stack: &Hosts, runs: &Runs, case: &Case, attempt: &Attempt) -> Result<Measured, Failure> {
    let (valid, seed) = (&case.valid, attempt.repetition);
    let hosts = factories(stack, runs, case)?;
    let watch = (Meter::new(valid, seed), Series::new(valid, seed, FOLLOWED));
    let (meter, series) = virtual_time::run(valid, seed, &hosts, watch)
        .map_err(|why| Failure::run(format!("{}: {why}", case.name), "leave it to `knee run`"))?;
    let rows = Yield { rows: meter.finish(), series: Some(series.table()), parts: None };
    Ok(Measured {
        processor: Vec::new(),
        machine: Machine { attempts: attempt.number, ..Machine::default() },
        record: Record::simulated(seed, 0.0, engine::Outcome::default(), rows),
    })
}

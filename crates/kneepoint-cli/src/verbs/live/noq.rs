// SPDX-License-Identifier: Apache-2.0 OR MIT
//! noq as the hosts of `knee live`: with the controller of each group, or with its own.

use std::sync::Arc;

use kneepoint::measure::{Meter, Series};
use kneepoint::run as engine;
use kneepoint::spec::Group;
use kneepoint::study::{Record, Yield};
use kneepoint_quic::noq::Carried;
use kneepoint_quic::virtual_time::{self, Factory};
use noq_proto::congestion::{Bbr3Config, CubicConfig, NewRenoConfig};

use super::Runs;
use super::cases::Case;
use super::measure::{Attempt, FOLLOWED};
use super::study::{Machine, Measured};
use crate::failure::Failure;

type Make = fn() -> Factory;

/// The controllers that noq itself has.
const OWN: [(&str, Make); 3] = [
    ("noq:reno", || Arc::new(NewRenoConfig::default())),
    ("noq:cubic", || Arc::new(CubicConfig::default())),
    ("noq:bbr3", || Arc::new(Bbr3Config::default())),
];

/// The makers of the controllers of each group.
pub fn factories(runs: &Runs, case: &Case) -> Result<Vec<Factory>, Failure> {
    case.valid.groups().iter().map(|group| factory(runs, case, group)).collect()
}

fn factory(runs: &Runs, case: &Case, group: &Group) -> Result<Factory, Failure> {
    let config = group.cc.clone().unwrap_or_default();
    let mapped = runs.mapped(config.name(), &group.name);
    if let Some(name) = mapped {
        let named = OWN.iter().find(|(own, _)| *own == name);
        let names: Vec<&str> = OWN.iter().map(|(own, _)| *own).collect();
        return named.map(|(_, make)| make()).ok_or_else(|| {
            let message = format!("noq has no congestion control {name}");
            Failure::usage(message, format!("--cc-map takes {} with --on noq", names.join(", ")))
        });
    }
    let carried = Carried::new(config).map_err(|why| {
        let message = format!("{}: group `{}`: its controller {why}", case.name, group.name);
        Failure::run(message, "leave it to `knee run`, or take another with --cc-map")
    })?;
    Ok(Arc::new(carried))
}

/// One run of a case.
pub fn once(runs: &Runs, case: &Case, attempt: &Attempt) -> Result<Measured, Failure> {
    let (valid, seed) = (&case.valid, attempt.repetition);
    let controllers = factories(runs, case)?;
    let watch = (Meter::new(valid, seed), Series::new(valid, seed, FOLLOWED));
    let (meter, series) = virtual_time::run(valid, seed, &controllers, watch)
        .map_err(|why| Failure::run(format!("{}: {why}", case.name), "leave it to `knee run`"))?;
    let rows = Yield { rows: meter.finish(), series: Some(series.table()), parts: None };
    Ok(Measured {
        processor: Vec::new(),
        machine: Machine { attempts: attempt.number, ..Machine::default() },
        record: Record::simulated(seed, 0.0, engine::Outcome::default(), rows),
    })
}

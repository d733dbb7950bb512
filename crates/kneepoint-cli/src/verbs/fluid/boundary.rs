// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee fluid boundary`: the exact stability boundary of a model compared with the published theorem's.

use clap::Args;
use kneepoint::fluid::axis::ParameterAxis;
use kneepoint::report;
use kneepoint::study::fluid::StabilityBoundary;
use kneepoint_bench::answer::Answer;
use kneepoint_bench::session::Session;

use super::parameters::Chosen;
use super::{axis, print, refused};
use crate::failure::Failure;

/// Arguments of `knee fluid boundary`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  knee fluid boundary pert --capacity 100pps --flows 5 --delta 0.1ms --tmin 50ms --tmax 100ms --pmax 0.1 --alpha 0.99
  knee fluid boundary pert --window-delayed false
  knee fluid boundary tcp-red --along weight=0.0000001..0.1:60:log
  knee fluid boundary pert-pi --along flows=1..1000:60:log --gain 0.2 --zero 1.5 --json

The JSON names its fields after the parameter: boundary_rtt_ms, theorem_rtt_ms, oscillation_rtt_ms.")]
pub struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// The parameter to vary: NAME=FROM..TO[:POINTS][:log]
    #[arg(long, value_name = "AXIS", default_value = "rtt=1ms..1000ms:60:log", value_parser = axis)]
    along: ParameterAxis,
}

/// Computes and prints the boundary.
pub fn boundary(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let found = found(arguments)?;
    print(session, &report::fluid::boundary(&found), &found, as_json)
}

/// Computes the boundary.
pub fn answer(arguments: &Arguments) -> Result<Answer, Failure> {
    let found = found(arguments)?;
    Ok(Answer::whole(report::fluid::boundary(&found), report::json::render(&found), Vec::new()))
}

fn found(arguments: &Arguments) -> Result<StabilityBoundary, Failure> {
    let Arguments { chosen, along } = arguments;
    let subject = chosen.subject()?;
    if subject.has(&along.name) {
        let name = &along.name;
        return Err(Failure::usage(
            format!("--{name} is the parameter to search along"),
            format!("omit --{name}, or vary another parameter with --along, as in `--along flows=1..100`"),
        ));
    }
    StabilityBoundary::of(subject, along.clone()).map_err(refused)
}

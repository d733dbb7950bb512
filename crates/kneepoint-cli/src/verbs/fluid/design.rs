// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee fluid design`: parameter values for which a model is stable with a margin.

use clap::Args;
use kneepoint::fluid::axis::ParameterAxis;
use kneepoint::fluid::design::Goal;
use kneepoint::report;
use kneepoint::study::fluid::Designs;
use kneepoint_bench::answer::Answer;
use kneepoint_bench::session::Session;

use super::parameters::Chosen;
use super::{axis, print, refused};
use crate::failure::Failure;
use crate::values::within;

/// Arguments of `knee fluid design`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  knee fluid design pert --capacity 1000pps --flows 40 --rtt 100ms --variable-rtt true
  knee fluid design pert-pi --capacity 150mbit --packet 1000b --flows 50 --rtt 60ms --phase-margin 45
  knee fluid design tcp-red --vary weight=0.0000001..0.1:60:log --damping 0.5

Give the fewest flows and the longest round-trip time: with more flows or a shorter one margins grow, as a rule; \
`knee fluid stability` shows it. Each parameter is varied alone, the others stay as they are.")]
pub struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// The parameter to vary: NAME=FROM..TO[:POINTS][:log] [default: each that the model declares for design]
    #[arg(long, value_name = "AXIS", value_parser = axis)]
    vary: Vec<ParameterAxis>,
    /// Minimum phase margin
    #[arg(long, value_name = "DEGREES", default_value_t = 0.0, value_parser = within(0.0..=180.0))]
    phase_margin: f64,
    /// Minimum gain margin, as a ratio
    #[arg(long, value_name = "RATIO", default_value_t = 1.0, value_parser = within(1.0..=1e6))]
    gain_margin: f64,
    /// Minimum damping ratio of the rightmost mode; 1 means no oscillation
    #[arg(long, value_name = "RATIO", default_value_t = 0.0, value_parser = within(0.0..=1.0))]
    damping: f64,
}

/// Computes and prints the designs.
pub fn design(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let designs = designs(arguments)?;
    print(session, &report::fluid::designs(&designs), &designs, as_json)
}

/// Computes the designs.
pub fn answer(arguments: &Arguments) -> Result<Answer, Failure> {
    let designs = designs(arguments)?;
    Ok(Answer::whole(report::fluid::designs(&designs), report::json::render(&designs), Vec::new()))
}

fn designs(arguments: &Arguments) -> Result<Designs, Failure> {
    let Arguments { chosen, vary, phase_margin: phase, gain_margin: gain, damping } = arguments;
    let goal = Goal { phase: *phase, gain: *gain, damping: *damping };
    Designs::of(chosen.subject()?, vary.clone(), goal).map_err(refused)
}

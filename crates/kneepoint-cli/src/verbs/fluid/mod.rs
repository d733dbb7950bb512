// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee fluid`: analysis of fluid models, one file per question.

mod boundary;
mod design;
mod parameters;
mod run;
mod stability;

use clap::{Args, Subcommand};
use kneepoint::fluid::axis::ParameterAxis;
use kneepoint::report::document::Document;
use kneepoint::report::json;
use kneepoint_bench::answer::Answer;
use kneepoint_bench::session::Session;
use serde::Serialize;

use super::Verb;
use crate::failure::Failure;
use crate::terminal;

/// Examples at the end of `knee fluid --help`.
const EXAMPLES: &str = "\
Examples:
  knee fluid run pert --rtt 171ms                     the limit cycle of Figure 13 (d)
  knee fluid boundary pert                            the smallest unstable round-trip time, and the theorem's
  knee fluid stability pert --x rtt=50ms..300ms --y delta=1us..1s:40:log
  knee fluid design tcp-pi --flows 60 --phase-margin 45
  knee list models && knee explain tcp-red";

/// Analyse fluid models: trajectories, exact stability, boundaries, designs
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    question: Question,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: Some(answer) };

#[derive(Subcommand)]
enum Question {
    /// Integrate a model: trajectory, turning points, range and equilibrium
    Run(run::Arguments),
    /// Map the stability of a model over two parameters
    Stability(stability::Arguments),
    /// Find where a model becomes unstable along a parameter
    Boundary(boundary::Arguments),
    /// Find parameter values that are stable with a margin
    Design(design::Arguments),
}

/// Dispatches to the question.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    match &arguments.question {
        Question::Run(arguments) => run::run(session, arguments, as_json),
        Question::Stability(arguments) => stability::stability(session, arguments, as_json),
        Question::Boundary(arguments) => boundary::boundary(session, arguments, as_json),
        Question::Design(arguments) => design::design(session, arguments, as_json),
    }
}

/// Answers the question, and leaves no report behind.
fn answer(session: &Session, arguments: &Arguments) -> Result<Answer, Failure> {
    match &arguments.question {
        Question::Run(arguments) => run::answer(arguments),
        Question::Stability(arguments) => stability::answer(session, arguments),
        Question::Boundary(arguments) => boundary::answer(arguments),
        Question::Design(arguments) => design::answer(arguments),
    }
}

/// The failure for a value refused by the library.
fn refused(why: String) -> Failure {
    Failure::usage(why, "`knee explain MODEL` shows every parameter with its range")
}

/// Parses the range of a parameter.
fn axis(text: &str) -> Result<ParameterAxis, String> {
    text.parse()
}

/// Prints the answer, for people or for programs.
fn print(
    session: &Session,
    document: &Document,
    outcome: &impl Serialize,
    as_json: bool,
) -> Result<(), Failure> {
    session.print(if as_json { json::render(outcome) } else { terminal::shown(document) })
}

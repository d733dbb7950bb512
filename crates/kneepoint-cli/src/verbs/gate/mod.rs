// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee gate`: a congestion control tested like code, one file per question.

mod accept;
mod asked;
mod init;
mod run;
mod workflow;
mod written;

use clap::{Args, Subcommand};
use kneepoint_bench::answer::Answer;
use kneepoint_bench::session::Session;

use super::Verb;
use crate::failure::Failure;

/// Examples at the end of `knee gate --help`.
const EXAMPLES: &str = "\
Examples:
  knee gate init --subject cubic                 gate.toml, and a workflow for GitHub
  knee gate run --quick                          as gate.toml says
  knee gate run bbr3 --suite bbr-draft           without a gate.toml
  knee gate run pert --against reno --margin 0.1 --suite coexist
  knee gate run --junit gate.xml --markdown gate.md --sarif gate.sarif
  knee gate accept                               what moved is right: accept it

Exit status of `run`:
  0    every case passed, or failed as it was accepted to
  1    a case failed, moved, or is worse than with the other scheme
  2    a case could not be judged, or the arguments or files are wrong
  130  interrupted; finished runs are kept

The same program and the same subject give the same bytes: a gate has no flaky cases. docs/gate.md says how cases are judged.";

/// Test a controller by suites of cases from standards, as continuous integration does
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    question: Question,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: Some(answer) };

#[derive(Subcommand)]
enum Question {
    /// Write a gate.toml and a workflow for GitHub
    Init(init::Arguments),
    /// Run the cases, and fail if one does
    Run(run::Arguments),
    /// Run the cases, show the changes, and write the baseline
    Accept(accept::Arguments),
}

/// Dispatches to the question. Any error that prevents a judgement has the status 2, because 1 means that a case
/// failed.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let done = match &arguments.question {
        Question::Init(arguments) => init::init(session, arguments, as_json),
        Question::Run(arguments) => run::run(session, arguments, as_json),
        Question::Accept(arguments) => accept::accept(session, arguments, as_json),
    };
    done.map_err(|failure| match failure {
        Failure::Run(complaint) => Failure::Usage(complaint),
        other => other,
    })
}

/// Runs the cases, and leaves no files behind.
fn answer(session: &Session, arguments: &Arguments) -> Result<Answer, Failure> {
    let why = "this question of `gate` writes files, and has no rows";
    match &arguments.question {
        Question::Run(arguments) => run::answer(session, arguments),
        Question::Init(_) | Question::Accept(_) => {
            Err(Failure::usage(why, "`knee gate` in a shell does it; `run` has rows"))
        }
    }
}

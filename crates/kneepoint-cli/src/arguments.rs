// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The command line: the verbs, their common options and the exit status.

use std::ffi::OsString;

use clap::error::{ContextKind, ErrorKind};
use clap::{Arg, Command, CommandFactory, Error, Parser, Subcommand};
use kneepoint_bench::answer::Answer;
use kneepoint_bench::session::Session;

use crate::failure::Failure;
use crate::verbs::{
    check, coexist, compare, completions, doctor, drill, explain, fluid, init, kernel, list, man, markov,
    predict, reproduce, run, schema,
};
#[cfg(target_os = "linux")]
use crate::verbs::{emulate, live, replay};

const EXAMPLES: &str = "\
Examples:
  knee compare                              four schemes on one bottleneck, with a report
  knee compare pert cubic/red-ecn --rate 50mbit --rtt 100ms
  knee coexist cubic sack vegas --quick     throughput shares of every pair
  knee init my.toml && knee run my.toml     an experiment of your own
  knee reproduce pert --quick               a paper's figures and claims
  knee list controllers
  knee explain pert

Exit status:
  0    success
  1    reading, writing or running failed
  2    invalid arguments or scenario
  130  interrupted; finished runs are kept

With --json a failure is one object on standard error; docs/output.md has every key.";

/// A congestion-control laboratory: compare, design and run algorithms that keep a network at its knee.
#[derive(Parser)]
#[command(name = "knee", version, long_version = LONG_VERSION, after_help = EXAMPLES, max_term_width = 110)]
#[command(arg_required_else_help = true, infer_subcommands = true)]
pub struct Knee {
    #[command(subcommand)]
    verb: Verb,
    /// Print JSON on standard output instead of text, and errors as JSON on standard error
    #[arg(long, global = true)]
    json: bool,
}

/// Whether `--json` is among the arguments, which need not be valid; those after `--` are a program's.
pub fn want_json(arguments: impl Iterator<Item = OsString>) -> bool {
    arguments.take_while(|argument| argument != "--").any(|argument| argument == "--json")
}

/// The refusal of a negative value that stands apart from its option, where it looks like options of one letter, says how to write it.
pub fn below_zero(refusal: Error) -> Error {
    let letters = refusal.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
    let is_number =
        letters.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if refusal.kind() != ErrorKind::UnknownArgument || !is_number {
        return refusal;
    }
    let words: Vec<_> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let command = Knee::command();
    let takes = |word: &str| word.strip_prefix("--").is_some_and(|long| takes_value(&command, long));
    let option = words.windows(2).find(|two| takes(&two[0]) && two[1].starts_with(&letters));
    let Some([option, value]) = option else { return refusal };
    let message =
        format!("`{value}` is not an option\n\n  tip: write a value below zero as in `{option}={value}`");
    Knee::command().error(ErrorKind::UnknownArgument, message)
}

/// Whether a command, or one below it, has an option of this name that takes a value.
fn takes_value(command: &Command, long: &str) -> bool {
    let takes = |one: &Arg| one.get_long() == Some(long) && one.get_action().takes_values();
    command.get_arguments().any(takes) || command.get_subcommands().any(|below| takes_value(below, long))
}

const LONG_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("KNEE_REVISION"), ")");

/// The verbs.
#[derive(Subcommand)]
enum Verb {
    /// Compare schemes on one bottleneck
    Compare(compare::Arguments),
    /// Test which controllers can share a link
    Coexist(coexist::Arguments),
    /// Run a scenario file, with every case of its sweep
    Run(run::Arguments),
    /// Reproduce published figures and tables, and test their claims
    Reproduce(reproduce::Arguments),
    /// Score congestion predictors, in a simulation or on a packet capture
    Predict(predict::Arguments),
    /// Analyse fluid models: trajectories, exact stability, boundaries, designs
    #[command(after_help = fluid::EXAMPLES)]
    Fluid(fluid::Arguments),
    /// Analyse RATCP and TCP beside short sessions as a Markov renewal process
    Markov(markov::Arguments),
    /// Test the simulated TCP host with scripts of packetdrill
    Drill(drill::Arguments),
    /// Run algorithms in this machine's kernel
    #[command(after_help = kernel::EXAMPLES)]
    Kernel(kernel::Arguments),
    /// List controllers, queues, predictors, models, topologies, recoveries
    #[command(after_help = "Example:\n  knee list controllers queues")]
    List(list::Arguments),
    /// Explain an algorithm: equations, source, parameters
    #[command(after_help = "Example:\n  knee explain pert")]
    Explain(explain::Arguments),
    /// Write an annotated example scenario
    #[command(
        after_help = "Examples:\n  knee init my.toml && knee check my.toml && knee run my.toml\n  knee init --all -    every section and field"
    )]
    Init(init::Arguments),
    /// Check scenarios without running them
    #[command(after_help = "Example:\n  knee check my.toml yours.toml")]
    Check(check::Arguments),
    /// Run a program behind an emulated link
    #[cfg(target_os = "linux")]
    Emulate(emulate::Arguments),
    /// Run a scenario on this machine's kernel, beside the simulator's prediction
    #[cfg(target_os = "linux")]
    Live(live::Arguments),
    /// Play a trace of acknowledgements to a controller of the laboratory and to the kernel's
    #[cfg(target_os = "linux")]
    Replay(replay::Arguments),
    /// Report the capabilities of this machine; remove what was left on it
    #[command(after_help = "Examples:\n  knee doctor\n  knee doctor --clean")]
    Doctor(doctor::Arguments),
    /// Print a completion script for a shell
    #[command(after_help = "Example, in ~/.bashrc:\n  source <(knee completions bash)")]
    Completions(completions::Arguments),
    /// Print or write manual pages
    #[command(after_help = "Example:\n  knee man --out ~/.local/share/man/man1 && man knee")]
    Man(man::Arguments),
    /// Print the JSON Schema of scenarios
    #[command(after_help = "Example:\n  knee schema > scenario.schema.json")]
    Schema,
}

/// The verbs that are about results.
const WITH_ROWS: [&str; 7] = ["compare", "coexist", "run", "reproduce", "predict", "fluid", "markov"];

impl Knee {
    /// What the verb finds out, where it is about results. Nothing is printed, and no report is written.
    pub fn answer(&self, session: &Session) -> Result<Answer, Failure> {
        match &self.verb {
            Verb::Compare(arguments) => compare::answer(session, arguments),
            Verb::Coexist(arguments) => coexist::answer(session, arguments),
            Verb::Run(arguments) => run::answer(session, arguments),
            Verb::Reproduce(arguments) => reproduce::answer(session, arguments),
            Verb::Predict(arguments) => predict::answer(session, arguments),
            Verb::Fluid(arguments) => fluid::answer(session, arguments),
            Verb::Markov(arguments) => markov::answer(session, arguments),
            _ => Err(Failure::usage(
                "this verb prints, and has no rows",
                format!("run it as `knee` in a shell; those with rows are {}", WITH_ROWS.join(", ")),
            )),
        }
    }

    /// Whether a verb has an [answer](Knee::answer).
    pub fn has_rows(verb: &str) -> bool {
        WITH_ROWS.contains(&verb)
    }

    /// Executes the verb.
    pub fn act(&self, session: &Session) -> Result<(), Failure> {
        match self.perform(session) {
            // A part of the runs was asked for and made: that is the outcome.
            Err(Failure::Left(left)) => {
                session.tell(left.text());
                if self.json { session.print_json(&left) } else { Ok(()) }
            }
            done => done,
        }
    }

    fn perform(&self, session: &Session) -> Result<(), Failure> {
        match &self.verb {
            Verb::Compare(arguments) => compare::compare(session, arguments, self.json),
            Verb::Coexist(arguments) => coexist::coexist(session, arguments, self.json),
            Verb::Run(arguments) => run::run(session, arguments, self.json),
            Verb::Reproduce(arguments) => reproduce::reproduce(session, arguments, self.json),
            Verb::Predict(arguments) => predict::predict(session, arguments, self.json),
            Verb::Fluid(arguments) => fluid::fluid(session, arguments, self.json),
            Verb::Markov(arguments) => markov::markov(session, arguments, self.json),
            Verb::Drill(arguments) => drill::drill(session, arguments, self.json),
            Verb::Kernel(arguments) => kernel::kernel(session, arguments, self.json),
            Verb::List(arguments) => list::list(session, arguments, self.json),
            Verb::Explain(arguments) => explain::explain(session, arguments, self.json),
            Verb::Init(arguments) => init::init(session, arguments, self.json),
            Verb::Check(arguments) => check::check(session, arguments, self.json),
            #[cfg(target_os = "linux")]
            Verb::Emulate(arguments) => emulate::emulate(session, arguments, self.json),
            #[cfg(target_os = "linux")]
            Verb::Live(arguments) => live::live(session, arguments, self.json),
            #[cfg(target_os = "linux")]
            Verb::Replay(arguments) => replay::replay(session, arguments, self.json),
            Verb::Doctor(arguments) => doctor::doctor(session, arguments, self.json),
            Verb::Completions(arguments) => completions::completions(session, arguments),
            Verb::Man(arguments) => man::man(session, arguments, Knee::command(), self.json),
            Verb::Schema => schema::schema(session),
        }
    }
}

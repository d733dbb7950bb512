// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The command line as a whole: its verbs, what they share, and what their exit status means.

use clap::{Parser, Subcommand};

use crate::failure::Failure;
use crate::verbs::{
    check, coexist, compare, completions, doctor, explain, fluid, init, list, man, predict, reproduce, run,
    schema,
};

const EXAMPLES: &str = "\
Examples:
  knee compare                              four schemes on one bottleneck, with a report to look at
  knee compare pert cubic/red-ecn --rate 50mbit --rtt 100ms
  knee coexist cubic sack vegas --quick     who takes what beside whom
  knee init my.toml && knee run my.toml     an experiment of your own
  knee reproduce pert --quick               a paper's figures, and which of its claims hold
  knee list controllers
  knee explain pert

Exit status:
  0    done
  1    reading, writing or running failed
  2    wrong usage, or a scenario that is not valid
  130  interrupted; finished runs are kept";

/// A congestion-control laboratory: compare, design and run algorithms that keep a network at its knee.
#[derive(Parser)]
#[command(name = "knee", version, long_version = LONG_VERSION, after_help = EXAMPLES, max_term_width = 110)]
#[command(arg_required_else_help = true, infer_subcommands = true, disable_help_subcommand = true)]
pub struct Knee {
    #[command(subcommand)]
    verb: Verb,
    /// Print JSON on standard output instead of text
    #[arg(long, global = true)]
    json: bool,
}

const LONG_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("KNEE_REVISION"), ")");

/// What to do.
#[derive(Subcommand)]
enum Verb {
    /// Compare schemes on one bottleneck
    Compare(compare::Arguments),
    /// Let controllers meet, and tell which can share a link with which
    Coexist(coexist::Arguments),
    /// Run a scenario file, with every case of its sweep
    Run(run::Arguments),
    /// Reproduce published figures and tables, and test what was claimed
    Reproduce(reproduce::Arguments),
    /// Tell which congestion predictor works, in a simulation or on a packet capture
    Predict(predict::Arguments),
    /// Fluid models: trajectories, exact stability, boundaries, designs
    #[command(after_help = fluid::EXAMPLES)]
    Fluid(fluid::Arguments),
    /// List controllers, queues, predictors, models, topologies, recoveries
    #[command(after_help = "Example:\n  knee list controllers queues")]
    List(list::Arguments),
    /// Explain an algorithm: equations, source, parameters
    #[command(after_help = "Example:\n  knee explain pert")]
    Explain(explain::Arguments),
    /// Write an annotated scenario to begin with
    #[command(after_help = "Example:\n  knee init my.toml && knee check my.toml && knee run my.toml")]
    Init(init::Arguments),
    /// Check scenarios without running them
    #[command(after_help = "Example:\n  knee check my.toml yours.toml")]
    Check(check::Arguments),
    /// Tell what this machine can do
    Doctor,
    /// Print a completion script for a shell
    #[command(
        after_help = "Example:\n  knee completions bash > ~/.local/share/bash-completion/completions/knee"
    )]
    Completions(completions::Arguments),
    /// Print or write manual pages
    #[command(after_help = "Example:\n  knee man --out ~/.local/share/man/man1 && man knee")]
    Man(man::Arguments),
    /// Print the JSON Schema of scenarios
    #[command(after_help = "Example:\n  knee schema > scenario.schema.json")]
    Schema,
}

impl Knee {
    /// Does it.
    pub fn act(self) -> Result<(), Failure> {
        match &self.verb {
            Verb::Compare(arguments) => compare::compare(arguments, self.json),
            Verb::Coexist(arguments) => coexist::coexist(arguments, self.json),
            Verb::Run(arguments) => run::run(arguments, self.json),
            Verb::Reproduce(arguments) => reproduce::reproduce(arguments, self.json),
            Verb::Predict(arguments) => predict::predict(arguments, self.json),
            Verb::Fluid(arguments) => fluid::fluid(arguments, self.json),
            Verb::List(arguments) => list::list(arguments, self.json),
            Verb::Explain(arguments) => explain::explain(arguments, self.json),
            Verb::Init(arguments) => init::init(arguments, self.json),
            Verb::Check(arguments) => check::check(arguments, self.json),
            Verb::Doctor => doctor::doctor(self.json),
            Verb::Completions(arguments) => completions::completions(arguments),
            Verb::Man(arguments) => man::man(arguments, self.json),
            Verb::Schema => schema::schema(),
        }
    }
}

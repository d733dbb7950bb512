// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The command line: a file for each verb, and the list of them.
//!
//! To add one: write `verbs/NAME.rs` like `verbs/check.rs` and add its line to the list below. The file has
//!
//! * `Arguments`: their documentation is the sentence of `knee --help`, `after_help` has examples;
//! * `VERB`: the verb's function, and its answer if it is about results.
//!
//! Help, completion and manual pages follow from these; so does the function of Python, with its stub, if there is an answer.

use clap::{Parser, Subcommand};
use kneepoint_bench::answer::Answer;
use kneepoint_bench::session::Session;

use crate::failure::Failure;

/// The function of a verb.
struct Verb<Arguments> {
    /// Executes it: prints, as JSON if requested, and writes files.
    act: fn(&Session, &Arguments, bool) -> Result<(), Failure>,
    /// Its answer, if it is about results.
    answer: Option<Find<Arguments>>,
}

/// Finds something out. Nothing is printed, and no report is written.
type Find<Arguments> = fn(&Session, &Arguments) -> Result<Answer, Failure>;

/// Makes the modules of the verbs, the choice of one with its arguments, and the dispatch.
macro_rules! verbs {
    ($($(#[$where:meta])* $verb:ident,)*) => {
        $($(#[$where])* mod $verb;)*

        /// A verb with its arguments.
        #[derive(Subcommand)]
        #[expect(non_camel_case_types, reason = "a verb is called what its file is called")]
        enum Asked {
            $($(#[$where])* $verb(Box<$verb::Arguments>),)*
        }

        impl Asked {
            fn act(&self, session: &Session, as_json: bool) -> Result<(), Failure> {
                match self {
                    $($(#[$where])* Asked::$verb(arguments) => ($verb::VERB.act)(session, arguments, as_json),)*
                }
            }

            fn answer(&self, session: &Session) -> Option<Result<Answer, Failure>> {
                match self {
                    $($(#[$where])* Asked::$verb(arguments) => {
                        $verb::VERB.answer.map(|answer| answer(session, arguments))
                    })*
                }
            }
        }

        /// The names of the verbs, and whether they are about results.
        const NAMES: &[(&str, bool)] =
            &[$($(#[$where])* (stringify!($verb), $verb::VERB.answer.is_some()),)*];
    };
}

verbs! {
    compare,
    coexist,
    run,
    reproduce,
    plot,
    diff,
    predict,
    identify,
    fluid,
    markov,
    trace,
    drill,
    gate,
    hunt,
    kernel,
    list,
    explain,
    init,
    check,
    studio,
    quic,
    #[cfg(target_os = "linux")] emulate,
    #[cfg(target_os = "linux")] live,
    #[cfg(target_os = "linux")] replay,
    doctor,
    completions,
    man,
    schema,
}

const EXAMPLES: &str = "\
Examples:
  knee compare                              four schemes on one bottleneck, with a report
  knee compare pert cubic/red-ecn --rate 50mbit --rtt 100ms
  knee coexist cubic sack vegas --quick     throughput shares of every pair
  knee init my.toml && knee run my.toml     an experiment of your own
  knee reproduce pert --quick               a paper's figures and claims
  knee diff out/my out/my-2                 two results compared
  knee list controllers
  knee explain pert

Exit status:
  0    success
  1    reading, writing or running failed
  2    invalid arguments or scenario
  130  interrupted; finished runs are kept

Tables are as wide as the terminal, or as COLUMNS says, and have 80 columns elsewhere.
With --json a failure is one object on standard error; docs/output.md has every key.";

const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("KNEE_REVISION"),
    ")\nfeatures: ",
    env!("KNEE_FEATURES"),
    "\ntarget: ",
    env!("KNEE_TARGET")
);

/// A congestion-control laboratory: compare, design and run algorithms that keep a network at its knee.
#[derive(Parser)]
#[command(name = "knee", version, long_version = LONG_VERSION, after_help = EXAMPLES, max_term_width = 110)]
#[command(arg_required_else_help = true, infer_subcommands = true)]
pub struct Knee {
    #[command(subcommand)]
    asked: Asked,
    /// Print JSON on standard output instead of text, and errors as JSON on standard error
    #[arg(long, global = true)]
    json: bool,
}

impl Knee {
    /// The verb's answer, where it is about results. Nothing is printed, and no report is written.
    pub fn answer(&self, session: &Session) -> Result<Answer, Failure> {
        self.asked.answer(session).unwrap_or_else(|| {
            let remedy =
                format!("run it as `knee` in a shell; verbs with rows are {}", with_rows().join(", "));
            Err(Failure::usage("this verb prints, and has no rows", remedy))
        })
    }

    /// Whether a verb has an [answer](Knee::answer).
    pub fn has_rows(verb: &str) -> bool {
        with_rows().contains(&verb)
    }

    /// Executes the verb.
    pub fn act(&self, session: &Session) -> Result<(), Failure> {
        match self.asked.act(session, self.json) {
            // A part of the runs was requested and made: that is the outcome.
            Err(Failure::Left(left)) => {
                session.tell(left.text());
                if self.json { session.print_json(&left) } else { Ok(()) }
            }
            done => done,
        }
    }
}

/// The verbs that are about results.
fn with_rows() -> Vec<&'static str> {
    NAMES.iter().filter(|(_, has_rows)| *has_rows).map(|(name, _)| *name).collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_file_of_each_verb_has_a_sentence_about_it_and_an_example() {
        let knee = Knee::command();
        assert!(knee.get_subcommands().map(|verb| verb.get_name()).eq(NAMES.iter().map(|(name, _)| *name)));
        for verb in knee.get_subcommands() {
            let name = verb.get_name();
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(
                about.starts_with(char::is_uppercase) && !about.starts_with("Arguments"),
                "{name}: {about}"
            );
            let after = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(after.contains("Example") && after.contains(&format!("knee {name}")), "{name}: {after}");
        }
    }
}

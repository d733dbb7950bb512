// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee`: the command line of the laboratory, as a library: of the program `knee`, and of programs that take the same arguments and
//! need answers instead of text and files.
//!
//! | room | what it does |
//! |---|---|
//! | [`terminal`] | text as wide as the terminal |
//! | [`failure`] | errors, their messages and exit status |
//! | [`interrupt`] | Ctrl-C, and other signals |
//! | [`hosts`] | controllers of other hosts as schemes: Linux's, and with the feature `quic` QUIC stacks' |
//! | [`console`] | a person at a terminal who makes a call |
//! | [`manifest`] | provenance of results |
//! | [`named`] | the files that a scenario and its verb's options name |
//! | [`traced`] | traces that options name, and settings that play one |
//! | [`compressed`] | files that gzip, zstd or xz made smaller |
//! | [`catalogue`] | every named item |
//! | [`parquet`] | tables to Parquet |
//! | [`pictures`] | charts to SVG, PNG and PDF |
//! | [`outputs`] | the output directory of a verb |
//! | [`results`] | results read back from their directory |
//! | [`values`] | values of arguments: names of a list, numbers |
//! | [`means`] | options of the verbs that make runs |
//! | [`library`] | the published experiments |
//! | [`completion`] | suggestions of shells |
//! | [`path`] | options of a path: rates, delays, losses, and other effects of a link |
//! | [`controller`] | a controller that an option names |
//! | [`flow`] | a flow of a scenario that an option names |
//! | [`captures`] | packets of a link as pcapng, flows as qlog |
//! | [`figure`] | options of the figure over what varies |
//! | [`comparison`] | the files of a comparison: cases × seeds reported in a directory |
//! | [`workload`] | the short transfers next to long ones |
//! | [`verbs`] | the command line: one file per verb |
//! | [`arguments`] | arguments that were refused, or are needed before they are parsed |

mod arguments;
mod captures;
mod catalogue;
mod comparison;
mod completion;
mod compressed;
mod console;
mod controller;
pub mod failure;
mod figure;
mod flow;
mod hosts;
mod interrupt;
mod library;
mod manifest;
mod means;
mod named;
mod outputs;
mod parquet;
mod path;
mod pictures;
mod results;
mod terminal;
mod traced;
mod values;
mod verbs;
mod workload;

use std::io::ErrorKind;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use clap_complete::CompleteEnv;
use kneepoint::scenario::Extensions;

pub use verbs::Knee;

/// The program `knee`: executes its command line.
pub fn main() -> ExitCode {
    main_with(Extensions::NONE)
}

/// A program like `knee` with algorithms of its own, which commands and scenarios name as they do the laboratory's.
pub fn main_with(known: Extensions) -> ExitCode {
    #[cfg(target_os = "linux")]
    if kneepoint_linux::uml::is_inside() {
        kneepoint_linux::uml::main();
    }
    let session = match console::session(known) {
        Ok(session) => session,
        Err(taken) => {
            console::tell(&taken);
            return ExitCode::from(2);
        }
    };
    interrupt::outlive_limits();
    // A shell that asks for suggestions sets a variable.
    CompleteEnv::with_factory(Knee::command).complete();
    #[cfg(all(target_os = "linux", feature = "bpf"))]
    kneepoint_linux::kernel::quiet();
    let as_json = arguments::want_json(std::env::args_os());
    match Knee::try_parse().map_err(arguments::below_zero) {
        Ok(knee) => knee
            .act(&session)
            .map_or_else(|failure| failure::report(&failure, as_json), |()| ExitCode::SUCCESS),
        Err(usage) if as_json && usage.use_stderr() => failure::report(&failure::of_usage(&usage), as_json),
        Err(usage) => {
            match terminal::refusal(&usage.render().to_string()).filter(|_| usage.use_stderr()) {
                Some(text) => session.tell(text.trim_end()),
                None => match usage.print() {
                    Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                        return failure::report(&failure::Failure::output(&error), as_json);
                    }
                    // A closed pipe while printing help is not an error.
                    _ => {}
                },
            }
            ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2))
        }
    }
}

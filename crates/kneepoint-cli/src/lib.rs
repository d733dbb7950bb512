// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee`: the command line of the laboratory, as a library: of the program `knee`, and of programs that take the same words and want
//! answers instead of text and files.
//!
//! | room | what it does |
//! |---|---|
//! | [`terminal`] | text as wide as the terminal |
//! | [`failure`] | errors, their messages and exit status |
//! | [`session`] | what a call has of its own: who makes it, their words and algorithms, the request to stop |
//! | [`program`] | a program that makes calls: what is said to it waits until it takes it |
//! | [`interrupt`] | Ctrl-C, and other signals |
//! | [`console`] | a person at a terminal who makes a call |
//! | [`machine`] | clock, host name, kernel: the only place that reads them |
//! | [`memory`] | how much memory runs may take |
//! | [`manifest`] | provenance of results |
//! | [`temporary`] | files and directories of random names, and what killed processes left of them |
//! | [`files`] | atomic reads and writes, printing |
//! | [`named`] | the files that a scenario and its verb's options name |
//! | [`compressed`] | files that gzip, zstd or xz made smaller |
//! | [`threads`] | work side by side, within the machine's limits |
//! | [`catalogue`] | every named item |
//! | [`parquet`] | tables to Parquet |
//! | [`png`] | charts to PNG |
//! | [`outputs`] | where a verb writes |
//! | [`store`] | kept runs by the hash of their inputs |
//! | [`cluster`] | runs made by the Python package on a cluster |
//! | [`means`] | options of the verbs that make runs |
//! | [`budget`] | how many runs fit into memory, and how much each may take |
//! | [`conductor`] | runs a study: reads kept runs back, simulates what is missing on all cores |
//! | [`forecast`] | what a study would cost |
//! | [`library`] | the published experiments |
//! | [`completion`] | what shells suggest |
//! | [`values`] | values of arguments: names of a list, numbers |
//! | [`answer`] | what a verb found out: a document, JSON, and rows |
//! | [`captures`] | packets of a link as pcapng |
//! | [`comparison`] | the files of a comparison: cases × seeds reported in a directory |
//! | [`workload`] | the short transfers beside long ones |
//! | [`verbs`] | one file per verb |
//! | [`arguments`] | the command line |

pub mod answer;
mod arguments;
pub mod budget;
mod captures;
mod catalogue;
mod cluster;
mod comparison;
mod completion;
mod compressed;
mod conductor;
mod console;
pub mod failure;
mod files;
mod forecast;
mod interrupt;
mod library;
mod machine;
mod manifest;
mod means;
mod memory;
mod named;
mod outputs;
mod parquet;
mod png;
pub mod program;
pub mod session;
pub mod store;
mod temporary;
mod terminal;
mod threads;
mod values;
mod verbs;
mod workload;

use std::io::ErrorKind;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use clap_complete::CompleteEnv;

pub use arguments::Knee;

/// The program `knee`: acts as its command line says.
pub fn main() -> ExitCode {
    let session = console::session();
    interrupt::outlive_limits();
    // A shell that asks for suggestions sets a variable.
    CompleteEnv::with_factory(Knee::command).complete();
    #[cfg(all(target_os = "linux", feature = "bpf"))]
    kneepoint_linux::kernel::quiet();
    let as_json = arguments::want_json(std::env::args_os());
    match Knee::try_parse().map_err(arguments::below_zero) {
        Ok(knee) => knee.act(&session).map_or_else(|failure| failure.report(as_json), |()| ExitCode::SUCCESS),
        Err(usage) if as_json && usage.use_stderr() => failure::Failure::from(&usage).report(as_json),
        Err(usage) => {
            match terminal::refusal(&usage.render().to_string()).filter(|_| usage.use_stderr()) {
                Some(text) => session.tell(text.trim_end()),
                None => match usage.print() {
                    Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                        return failure::Failure::output(&error).report(as_json);
                    }
                    // A closed pipe while printing help is not an error.
                    _ => {}
                },
            }
            ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2))
        }
    }
}

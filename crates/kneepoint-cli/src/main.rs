// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee`: the command line of the laboratory.
//!
//! | room | what it does |
//! |---|---|
//! | [`machine`] | clock, host name, kernel: the only place that reads them |
//! | [`manifest`] | provenance of results |
//! | [`failure`] | errors, their messages and exit status |
//! | [`files`] | atomic reads and writes, printing |
//! | [`interrupt`] | Ctrl-C |
//! | [`catalogue`] | every named item |
//! | [`parquet`] | tables to Parquet |
//! | [`png`] | charts to PNG |
//! | [`campaign`] | runs on all cores, each stored when it finishes |
//! | [`captures`] | packets of a link as pcapng |
//! | [`study`] | rows × seeds, run, stored and reported in a directory |
//! | [`library`] | the published experiments |
//! | [`store`] | finished runs by the hash of their inputs |
//! | [`remembered`] | works × seeds, run or remembered |
//! | [`reproduction`] | experiments × points × seeds |
//! | [`dumbbell`] | command-line options of a bottleneck, as a scenario |
//! | [`verbs`] | one file per verb |
//! | [`arguments`] | the command line |

mod arguments;
mod campaign;
mod captures;
mod catalogue;
mod dumbbell;
mod failure;
mod files;
mod interrupt;
mod library;
mod machine;
mod manifest;
mod parquet;
mod png;
mod remembered;
mod reproduction;
mod store;
mod study;
mod verbs;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match arguments::Knee::try_parse() {
        Ok(knee) => knee.act().map_or_else(failure::Failure::report, |()| ExitCode::SUCCESS),
        Err(usage) => {
            // A closed pipe while printing help is not an error.
            let _ = usage.print();
            ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2))
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee`: the command line of the laboratory.
//!
//! | room | what it does |
//! |---|---|
//! | [`machine`] | clock, host name, kernel: the only place that reads them |
//! | [`manifest`] | provenance of results |
//! | [`failure`] | errors, their messages and exit status |
//! | [`files`] | atomic reads and writes, printing |
//! | [`compressed`] | files that gzip, zstd or xz made smaller |
//! | [`terminal`] | text as wide as the terminal |
//! | [`interrupt`] | Ctrl-C |
//! | [`catalogue`] | every named item |
//! | [`parquet`] | tables to Parquet |
//! | [`png`] | charts to PNG |
//! | [`outputs`] | where a verb writes |
//! | [`store`] | kept runs by the hash of their inputs |
//! | [`conductor`] | runs a study: reads kept runs back, simulates what is missing on all cores |
//! | [`captures`] | packets of a link as pcapng |
//! | [`comparison`] | the files of a comparison: cases × seeds reported in a directory |
//! | [`library`] | the published experiments |
//! | [`workload`] | the short transfers beside long ones |
//! | [`verbs`] | one file per verb |
//! | [`arguments`] | the command line |

mod arguments;
mod captures;
mod catalogue;
mod comparison;
mod compressed;
mod conductor;
mod failure;
mod files;
mod interrupt;
mod library;
mod machine;
mod manifest;
mod outputs;
mod parquet;
mod png;
mod store;
mod terminal;
mod verbs;
mod workload;

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

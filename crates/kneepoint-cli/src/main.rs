// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee`: the command line of the laboratory.
//!
//! | room | what it does |
//! |---|---|
//! | [`machine`] | the only place that looks at a clock, a host name, a kernel |
//! | [`manifest`] | where results come from |
//! | [`failure`] | what can go wrong, how it reads, its exit status |
//! | [`outputs`] | where a verb writes |
//! | [`files`] | reading whole, writing whole, printing |
//! | [`interrupt`] | Ctrl-C |
//! | [`catalogue`] | everything that has a name |
//! | [`parquet`] | tables to Parquet |
//! | [`png`] | charts to PNG |
//! | [`conductor`] | runs a study: what is kept is read back, what is missing is simulated on all cores |
//! | [`captures`] | packets of a link, for Wireshark |
//! | [`comparison`] | the files of a comparison: cases × seeds reported in a directory |
//! | [`library`] | the published experiments |
//! | [`store`] | kept runs by the hash of what determines them |
//! | [`verbs`] | one file for each verb |
//! | [`arguments`] | the verbs together |

mod arguments;
mod captures;
mod catalogue;
mod comparison;
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
mod verbs;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match arguments::Knee::try_parse() {
        Ok(knee) => knee.act().map_or_else(failure::Failure::report, |()| ExitCode::SUCCESS),
        Err(usage) => {
            // Help for a reader that left is no error.
            let _ = usage.print();
            ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2))
        }
    }
}

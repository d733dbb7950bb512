// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee`: the command line of the laboratory.
//!
//! | room | what it does |
//! |---|---|
//! | [`machine`] | the only place that looks at a clock, a host name, a kernel |
//! | [`manifest`] | where results come from |
//! | [`failure`] | what can go wrong, how it reads, its exit status |
//! | [`files`] | reading whole, writing whole, printing |
//! | [`interrupt`] | Ctrl-C |
//! | [`catalogue`] | everything that has a name |
//! | [`parquet`] | tables to Parquet |
//! | [`png`] | charts to PNG |
//! | [`campaign`] | many runs over all cores, each stored the moment it ends |
//! | [`captures`] | packets of a link, for Wireshark |
//! | [`study`] | rows × seeds, run, stored and reported in a directory |
//! | [`library`] | the published experiments |
//! | [`store`] | finished runs by the hash of what determines them |
//! | [`remembered`] | works × seeds, run or remembered |
//! | [`reproduction`] | experiments × points × seeds |
//! | [`dumbbell`] | one bottleneck with its traffic as a scenario |
//! | [`verbs`] | one file for each verb |
//! | [`arguments`] | the verbs together |

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
            // Help for a reader that left is no error.
            let _ = usage.print();
            ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(2))
        }
    }
}

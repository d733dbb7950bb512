// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What hunts find: a map for every controller, known weaknesses found again, and AdvNet's scores next to ours. Each
//! writes its part of
//! `docs/hunt.md`.

pub mod advnet;
mod confirm;
mod maps;
mod page;
mod rediscover;
mod search;

use clap::{Args, Subcommand};

/// A part of the page.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    part: Part,
}

#[derive(Subcommand)]
enum Part {
    /// Compare our scores of AdvNet's traces with the kernel's.
    Advnet(advnet::Arguments),
    /// Keep results of `knee live` for findings.
    Confirm(confirm::Arguments),
    /// Hunt every controller, and write the map of its weaknesses.
    Maps(maps::Arguments),
    /// Look for published weaknesses from random starts.
    Rediscover(rediscover::Arguments),
}

/// Makes the part.
pub fn run(arguments: &Arguments) -> Result<bool, String> {
    match &arguments.part {
        Part::Advnet(arguments) => advnet::run(arguments),
        Part::Confirm(arguments) => confirm::run(arguments),
        Part::Maps(arguments) => maps::run(arguments),
        Part::Rediscover(arguments) => rediscover::run(arguments),
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What developers of Kneepoint run: validation against ns-2, benchmarks, generated documentation.
//!
//! ```text
//! cargo run --release -p xtask -- validate     our scenarios beside ns-2's results
//! cargo run --release -p xtask -- bench        what a packet costs, and what it costs ns-2
//! cargo run --release -p xtask -- ratchet      instruction counts against the committed record
//! cargo run -p xtask -- docs                   what the registries say about themselves
//! ```

mod bench;
mod docs;
mod ns2;
mod setting;
mod validate;

use std::process::ExitCode;

use clap::Parser;

/// What developers of Kneepoint run.
#[derive(Parser)]
#[command(name = "xtask")]
enum Task {
    /// Run our scenarios beside ns-2's results and explain every difference.
    Validate(validate::Arguments),
    /// Measure what a packet costs, and what it costs ns-2.
    Bench(bench::Arguments),
    /// Compare instruction counts with the committed record.
    Ratchet(bench::ratchet::Arguments),
    /// One timed run: what `bench` starts.
    #[command(hide = true)]
    BenchChild(bench::child::Arguments),
    /// One controller's acknowledgements: what `bench` starts.
    #[command(hide = true)]
    BenchAcks(bench::acks::Arguments),
    /// Write, or check, the documentation that the registries hold.
    Docs(docs::Arguments),
}

fn main() -> ExitCode {
    let done = match Task::parse() {
        Task::Validate(arguments) => validate::run(&arguments),
        Task::Bench(arguments) => bench::run(&arguments),
        Task::Ratchet(arguments) => bench::ratchet::run(&arguments),
        Task::BenchChild(arguments) => bench::child::run_once(&arguments),
        Task::BenchAcks(arguments) => bench::acks::run_once(&arguments),
        Task::Docs(arguments) => docs::run(&arguments),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Developers' tools of Kneepoint: validation against ns-2, benchmarks, generated documentation.
//!
//! ```text
//! cargo run --release -p xtask -- validate     compare with ns-2's results
//! cargo run --release -p xtask -- linux        compare the Linux host with this machine's kernel
//! cargo run -p xtask -- fuzz-host              the sender compared with this machine's kernel, script by script
//! cargo run -p xtask -- live                   live experiments as they were measured on one machine
//! cargo run --profile dist -p xtask -- bench   cost per packet, compared with ns-2's
//! cargo run --profile dist -p xtask -- ratchet instruction counts against the committed record
//! cargo run --release -p xtask -- gates        every controller through the suites of `knee gate`
//! cargo run --release -p xtask -- hunt PART    findings of hunts, and AdvNet's scores next to ours
//! cargo run --release -p xtask -- precision    intervals and cautions compared with long runs
//! cargo run -p xtask -- mutants                seeded faults that gates have to catch
//! cargo run --release -p xtask -- nebby DIR    identification on labelled captures of others
//! cargo run --release -p xtask -- captures DIR identification on captures of Linux, this machine's or in virtual time
//! cargo run --release -p xtask -- qlogs DIR    identification on qlog of noq and quinn
//! cargo run -p xtask -- docs                   documentation from the registries
//! ```

mod bench;
mod docs;
mod explanations;
#[cfg(target_os = "linux")]
mod fuzz_host;
mod gates;
mod hunt;
mod identify;
#[cfg(target_os = "linux")]
mod linux;
mod live;
mod mutants;
mod ns2;
mod ns3;
mod precision;
mod setting;
mod validate;

use std::process::ExitCode;

use clap::Parser;

/// Developers' tools of Kneepoint.
#[derive(Parser)]
#[command(name = "xtask")]
enum Task {
    /// Compare our scenarios with ns-2's results and explain every difference.
    Validate(validate::Arguments),
    /// Compare the simulator's Linux host with this machine's kernel.
    #[cfg(target_os = "linux")]
    Linux(linux::Arguments),
    /// Compare our sender with this machine's kernel, script by script.
    #[cfg(target_os = "linux")]
    FuzzHost(fuzz_host::Arguments),
    /// Keep reports of live experiments and write their page.
    Live(live::Arguments),
    /// Measure the cost per packet, compared with ns-2's.
    Bench(bench::Arguments),
    /// Compare instruction counts with the committed record.
    Ratchet(bench::ratchet::Arguments),
    /// One timed run, started by `bench`.
    #[command(hide = true)]
    BenchChild(bench::child::Arguments),
    /// One controller's ACK processing, started by `bench`.
    #[command(hide = true)]
    BenchAcks(bench::acks::Arguments),
    /// One large run on a number of threads, started by `bench`.
    #[command(hide = true)]
    BenchParallelChild(bench::parallel::Arguments),
    /// Test every controller by the suites of `knee gate`, and keep the outcomes.
    Gates(gates::Arguments),
    /// Hunt controllers, and compare with published findings.
    Hunt(hunt::Arguments),
    /// Build seeded faults and refactorings, and run their gates.
    Mutants(mutants::Arguments),
    /// Compare intervals and cautions of scenarios at random with long runs.
    Precision(precision::Arguments),
    /// Try identification on captures that others made and labelled.
    Nebby(identify::Folder),
    /// Capture transfers of this machine's kernel, and try identification on them.
    #[cfg(target_os = "linux")]
    Captures(identify::kernel::Arguments),
    /// Try identification on qlog of QUIC stacks.
    Qlogs(identify::Folder),
    /// Write or check the documentation generated from the registries.
    Docs(docs::Arguments),
}

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if kneepoint_linux::uml::is_inside() {
        kneepoint_linux::uml::main();
    }
    let done = match Task::parse() {
        Task::Validate(arguments) => validate::run(&arguments),
        #[cfg(target_os = "linux")]
        Task::Linux(arguments) => linux::run(&arguments),
        #[cfg(target_os = "linux")]
        Task::FuzzHost(arguments) => fuzz_host::run(&arguments),
        Task::Live(arguments) => live::run(&arguments).map(|()| true),
        Task::Bench(arguments) => bench::run(&arguments),
        Task::Ratchet(arguments) => bench::ratchet::run(&arguments),
        Task::BenchChild(arguments) => bench::child::run_once(&arguments),
        Task::BenchAcks(arguments) => bench::acks::run_once(&arguments),
        Task::BenchParallelChild(arguments) => bench::parallel::run_once(&arguments),
        Task::Gates(arguments) => gates::run_all(&arguments),
        Task::Hunt(arguments) => hunt::run(&arguments),
        Task::Mutants(arguments) => mutants::run(&arguments),
        Task::Precision(arguments) => precision::run(&arguments),
        Task::Nebby(arguments) => identify::nebby::run(&arguments),
        #[cfg(target_os = "linux")]
        Task::Captures(arguments) => identify::kernel::run(&arguments),
        Task::Qlogs(arguments) => identify::stacks::run(&arguments),
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

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The workflow of a gate: a frame, and the steps that make the program of its subject.

use std::env;

use kneepoint::cc;
use kneepoint_bench::session::Session;

/// The workflow, with a line for steps and the program's name.
const FRAME: &str = include_str!("frame.yml");
/// The steps that install a release.
const RELEASE: &str = include_str!("release.yml");
/// More steps, that build the Linux of controllers of the kernel.
const LINUX: &str = include_str!("linux.yml");
/// The steps that build a program with algorithms of its own.
const OWN: &str = include_str!("own.yml");

/// The workflow for a subject.
pub(super) fn of(session: &Session, subject: &cc::Config) -> String {
    let elsewhere = session.engine_of(subject).is_some();
    let (program, steps) = match subject.external() {
        Some(_) if elsewhere => ("knee".to_string(), format!("{RELEASE}{LINUX}")),
        Some(_) => {
            let own = program();
            (format!("target/release/{own}"), OWN.replace("PROGRAM", &own))
        }
        None => ("knee".to_string(), RELEASE.to_string()),
    };
    FRAME.replace("INSTALL\n", &steps).replace("PROGRAM", &program)
}

/// The name of the program that runs.
fn program() -> String {
    let path = env::current_exe().unwrap_or_default();
    path.file_name().map_or_else(|| "knee".into(), |name| name.to_string_lossy().into_owned())
}

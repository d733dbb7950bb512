// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The workflow of a gate: a frame, and the steps that make the program of its subject.

use std::env;

use kneepoint::cc;
use kneepoint_bench::session::Session;

/// The workflow, with lines for a container and for steps, and the program's name.
const FRAME: &str = include_str!("frame.yml");
/// The steps that install a release.
const RELEASE: &str = include_str!("release.yml");
/// For controllers of the kernel: the system in which their Linux is built, what that needs, and the steps.
const CONTAINER: &str = include_str!("container.yml");
const PACKAGES: &str = include_str!("packages.yml");
const LINUX: &str = include_str!("linux.yml");
/// The steps that build a program with algorithms of its own.
const OWN: &str = include_str!("own.yml");

/// The workflow for a subject.
pub(super) fn of(session: &Session, subject: &cc::Config) -> String {
    let released = || "knee".to_string();
    let (program, container, steps) = match subject.external() {
        None => (released(), "", RELEASE.to_string()),
        Some(_) if session.engine_of(subject).is_some() => {
            (released(), CONTAINER, format!("{PACKAGES}{RELEASE}{LINUX}"))
        }
        Some(_) => {
            let own = program();
            (format!("target/release/{own}"), "", OWN.replace("PROGRAM", &own))
        }
    };
    let parts = [("CONTAINER\n", container), ("INSTALL\n", &steps), ("PROGRAM", &program)];
    parts.into_iter().fold(FRAME.to_string(), |text, (mark, part)| text.replace(mark, part))
}

/// The name of the program that runs.
fn program() -> String {
    let path = env::current_exe().unwrap_or_default();
    path.file_name().map_or_else(|| "knee".into(), |name| name.to_string_lossy().into_owned())
}

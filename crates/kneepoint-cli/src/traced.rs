// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Trace files that the command line names.

use std::path::Path;

use kneepoint::link::recording::{self, Recognised};
use kneepoint_bench::files;
use kneepoint_bench::session::Session;

use crate::failure::Failure;

/// Reads a trace file in any form.
pub fn read(session: &Session, file: &Path) -> Result<Recognised, Failure> {
    let text = files::read_text_of(session, "a trace", file, "check the path of the trace")?;
    recording::read(&text).map_err(|why| {
        Failure::usage(
            format!("{}: {why}", file.display()),
            "`knee trace --help` shows the forms of a trace file",
        )
    })
}

/// Reads a trace file that a link will play, and reports its ignored columns: its delays, where other options set
/// delays.
pub fn played(session: &Session, file: &Path, with_delays: bool) -> Result<Recognised, Failure> {
    let known = read(session, file)?;
    let has_delays = |name: &str| name.starts_with("delay") || name.starts_with("latency");
    let besides: Vec<&str> = known.recording.besides().iter().map(|one| one.name).collect();
    let left: Vec<&str> = besides.into_iter().filter(|name| !(with_delays && has_delays(name))).collect();
    if !left.is_empty() {
        let shown = file.display();
        let alone = if with_delays { "" } else { " alone" };
        session.tell(format!("{shown}: the rate{alone} is played, without {}", left.join(" and ")));
    }
    Ok(known)
}

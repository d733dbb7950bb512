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

/// Reads a trace file that a link will play, and says what of it is not played.
pub fn played(session: &Session, file: &Path) -> Result<Recognised, Failure> {
    let known = read(session, file)?;
    let besides: Vec<&str> = known.recording.besides().iter().map(|one| one.name).collect();
    if !besides.is_empty() {
        let shown = file.display();
        session.tell(format!("{shown}: the rate alone is played, without {}", besides.join(" and ")));
    }
    Ok(known)
}

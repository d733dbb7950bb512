// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Trace files that the command line names, and the settings of a scenario whose bottleneck follows one.

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

/// Fields set from outside, after those that let the bottleneck follow a trace at its mean rate.
pub fn settings(session: &Session, trace: Option<&Path>, set: &[String]) -> Result<Vec<String>, Failure> {
    let Some(file) = trace else { return Ok(set.to_vec()) };
    let mean = played(session, file)?.recording.mean();
    let name = file.display().to_string();
    let capacity = match is_plain(&name) {
        // A title shows it.
        true => format!("capacity=trace:file={name},besides=ignored"),
        false => {
            let quoted = serde_json::Value::from(name);
            format!("capacity={{ kind = \"trace\", file = {quoted}, besides = \"ignored\" }}")
        }
    };
    Ok([capacity, format!("topology.rate={mean}")].into_iter().chain(set.iter().cloned()).collect())
}

/// Whether a name can be neither a number nor several settings where it is written without quotes.
fn is_plain(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/')
        && name.contains(['.', '/'])
        && name.chars().all(|one| one.is_ascii_alphanumeric() || "._-/".contains(one))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The machine: clocks, name, size. No other module reads them.

use std::time::Duration;

use crate::session::Session;

/// CPU time used by this thread.
pub fn thread_cpu_time() -> Duration {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(spent).unwrap_or_default()
}

/// Time since the machine began, for spans of it.
pub fn wall_time() -> Duration {
    let passed = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    Duration::try_from(passed).unwrap_or_default()
}

/// Current time in UTC, to the second: `2026-01-31T12:00:00Z`.
pub fn now() -> String {
    let second = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second());
    second.unwrap_or_default().to_string()
}

/// Host name.
pub fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Kernel and version: `Linux 6.12.0 x86_64`.
pub fn kernel() -> String {
    let uname = rustix::system::uname();
    [uname.sysname(), uname.release(), uname.machine()]
        .map(|part| part.to_string_lossy().into_owned())
        .join(" ")
}

/// The command line of a call as a shell would read it.
pub fn command_line(session: &Session) -> String {
    let arguments = session.words().iter().map(|argument| quoted(argument));
    std::iter::once("knee".to_string()).chain(arguments).collect::<Vec<_>>().join(" ")
}

fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        return argument.to_string();
    }
    format!("'{}'", argument.replace('\'', "'\\''"))
}

/// Number of runs in parallel.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_shell_reads_a_quoted_argument_as_it_was() {
        assert_eq!(super::quoted("sack/red-ecn"), "sack/red-ecn");
        assert_eq!(super::quoted("it's 5"), r"'it'\''s 5'");
        assert_eq!(super::quoted(""), "''");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Errors: the fault and the remedy.

use std::fmt;
use std::sync::Mutex;

use libbpf_rs::PrintLevel;

/// The reason why something was not done.
#[derive(Clone, Debug)]
pub struct Error {
    /// The fault.
    pub message: String,
    /// The remedy.
    pub remedy: String,
    /// Whether the caller requested something that does not exist or is not permitted.
    pub usage: bool,
}

impl Error {
    /// Something failed.
    pub fn new(message: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error { message: message.into(), remedy: remedy.into(), usage: false }
    }
    /// The caller requested something that does not exist or is not permitted.
    pub fn usage(message: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error { usage: true, ..Error::new(message, remedy) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.remedy)
    }
}
impl std::error::Error for Error {}

/// Adds the operation in progress to a failure.
pub trait While<T> {
    /// The error names the operation and its place.
    fn during(self, doing: impl fmt::Display) -> Result<T, Error>;
}

impl<T, E: fmt::Display> While<T> for Result<T, E> {
    fn during(self, doing: impl fmt::Display) -> Result<T, Error> {
        self.map_err(|error| {
            Error::new(format!("cannot {doing}: {error}"), "`knee doctor` shows what this machine lacks")
        })
    }
}

/// Messages of libbpf and of the kernel's verifier.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// From now on libbpf prints nothing: standard error is for the program's own messages. Its messages about a failure
/// are in the error.
pub fn quiet() {
    libbpf_rs::set_print(None);
}

/// Does `work`; an error has the action and libbpf's message.
pub fn heard<T>(
    doing: impl fmt::Display,
    work: impl FnOnce() -> Result<T, libbpf_rs::Error>,
) -> Result<T, Error> {
    let (result, said) = listening(work);
    let said =
        said.iter().map(|line| line.trim_start_matches("libbpf: ").trim()).collect::<Vec<_>>().join("; ");
    match said.is_empty() {
        true => result.during(doing),
        false => result.map_err(|error| format!("{error} ({said})")).during(doing),
    }
}

/// Collects libbpf's messages while `work` is done, and returns them with the result.
pub fn listening<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    fn hear(_: PrintLevel, text: String) {
        if let Ok(mut said) = SAID.lock() {
            said.extend(text.lines().map(str::to_string));
        }
    }
    let take = || SAID.lock().map(|mut said| std::mem::take(&mut *said)).unwrap_or_default();
    take();
    let before = libbpf_rs::set_print(Some((PrintLevel::Warn, hear)));
    let result = work();
    libbpf_rs::set_print(before);
    (result, take())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_libbpf_says_is_in_the_error_and_nowhere_else() {
        quiet();
        let open = || libbpf_rs::ObjectBuilder::default().open_memory(b"no object").map(|_| ());
        let error = heard("open an object", open).unwrap_err().to_string();
        assert!(error.starts_with("cannot open an object: ") && error.contains(" ("), "{error}");
        assert!(!error.contains("libbpf:") && libbpf_rs::get_print().is_none(), "{error}");
    }
}

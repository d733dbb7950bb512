// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads and writes whole files: a file appears under its name only when complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use kneepoint::capture;
use kneepoint::report::json;
use serde::Serialize;

use crate::failure::Failure;
use crate::host;

/// Larger scenarios are a mistake, such as an endless device.
const LARGEST: u64 = 16 << 20;

/// What was read from standard input.
static INPUT: OnceLock<String> = OnceLock::new();

/// What was read from standard input, if anything.
pub fn input() -> Option<&'static str> {
    INPUT.get().map(String::as_str)
}

/// Reads a scenario from a file, or from standard input for `-`.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    read_text_of("a scenario in TOML", path, "check the path; `knee init FILE` writes an example scenario")
}

/// Reads text of a kind from a file, or from standard input for `-`; the remedy is for a file that is not there.
pub fn read_text_of(kind: &str, path: &Path, remedy: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = if path != Path::new("-") {
        File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes))
    } else if let Some(host) = host::embedding() {
        host.input().as_bytes().read_to_end(&mut bytes)
    } else {
        io::stdin().take(LARGEST + 1).read_to_end(&mut bytes)
    };
    read.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::run(format!("cannot read `{}`: {error}", path.display()), remedy),
        _ => Failure::io("read", path, &error),
    })?;
    if bytes.len() as u64 > LARGEST {
        let message = format!("`{}` is larger than {} MB", path.display(), LARGEST >> 20);
        return Err(Failure::run(message, format!("expected {kind}, which is shorter")));
    }
    if capture::is_capture(&bytes) {
        let message = format!("`{}` is a packet capture, not text", path.display());
        let but = if path == Path::new("-") { ", but none from standard input" } else { "" };
        return Err(Failure::run(message, format!("`knee predict FILE` reads captures{but}")));
    }
    if let Some(format) = capture::foreign_format(&bytes) {
        return Err(Failure::run(
            format!("`{}` is {}, not text", path.display(), format.name),
            format.remedy,
        ));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let message =
            format!("`{}` is not UTF-8 text: byte {} is not part of a character", path.display(), at + 1);
        Failure::run(message, format!("expected {kind}, saved as UTF-8"))
    })?;
    if path == Path::new("-") && host::embedding().is_none() {
        // Read once; the first reader leaves it to those who have to pass it on.
        let _ = INPUT.set(text.clone());
    }
    Ok(text)
}

/// The text of a file that a scenario names, relative to the scenario's folder.
pub fn beside(scenario: &Path, named: &str) -> Result<String, String> {
    let path = scenario.parent().unwrap_or(Path::new("")).join(named);
    let mut text = String::new();
    let read = File::open(&path).and_then(|file| file.take(LARGEST + 1).read_to_string(&mut text));
    read.map(|_| text).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => format!("`{}` is not UTF-8 text", path.display()),
        _ => format!("cannot read `{}`: {error}", path.display()),
    })
}

/// Whether `is` recognises the first bytes of a file; never for standard input, which stays unread.
pub fn begins(path: &Path, is: impl Fn(&[u8]) -> bool) -> Result<bool, Failure> {
    if path == Path::new("-") {
        return Ok(false);
    }
    let mut head = Vec::new();
    File::open(path)
        .and_then(|file| file.take(16).read_to_end(&mut head))
        .map_err(|error| Failure::io("read", path, &error))?;
    Ok(is(&head))
}

/// Reads a file of at most `largest` bytes.
pub fn read_bytes(path: &Path, largest: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(largest + 1).read_to_end(&mut bytes));
    read.map_err(|error| Failure::io("read", path, &error))?;
    if bytes.len() as u64 > largest {
        let message = format!("`{}` is larger than {} MB", path.display(), largest >> 20);
        return Err(Failure::run(message, "use a part of it"));
    }
    Ok(bytes)
}

/// Writes a file atomically.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    let mut pending = Pending::create(path)?;
    pending.write_all(content.as_ref()).map_err(|error| Failure::io("write", path, &error))?;
    pending.commit()
}

/// Creates a directory and its parents.
pub fn make_directory(path: &Path) -> Result<(), Failure> {
    fs::create_dir_all(path).map_err(|error| Failure::io("make the directory", path, &error))
}

/// A file being written under a temporary name in the same directory.
///
/// Dropping it before [`commit`](Pending::commit) removes it.
pub struct Pending {
    writer: Option<BufWriter<File>>,
    temporary: PathBuf,
    path: PathBuf,
}

impl Pending {
    /// Starts a file with the final name `path`.
    pub fn create(path: &Path) -> Result<Pending, Failure> {
        let name = path.file_name().ok_or_else(|| {
            Failure::run(format!("cannot write `{}`: it names no file", path.display()), "name a file")
        })?;
        if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
            // A finished file would take its place.
            let message = format!("cannot write `{}`: it is a device or a pipe", path.display());
            return Err(Failure::run(message, "name a file that is new or may be replaced"));
        }
        let temporary =
            path.with_file_name(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
        let file = File::create(&temporary).map_err(|error| Failure::io("write", path, &error))?;
        Ok(Pending { writer: Some(BufWriter::new(file)), temporary, path: path.to_path_buf() })
    }

    /// Renames the finished file to its final name.
    pub fn commit(mut self) -> Result<(), Failure> {
        let finished = match self.writer.take() {
            Some(writer) => {
                writer.into_inner().map_err(io::IntoInnerError::into_error).and_then(|file| file.sync_all())
            }
            None => Ok(()),
        };
        finished
            .and_then(|()| fs::rename(&self.temporary, &self.path))
            .map_err(|error| Failure::io("write", &self.path, &error))
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.as_mut().map_or(Ok(0), |writer| writer.write(bytes))
    }
    fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        // After a commit the temporary name no longer exists.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Prints text to standard output; a closed pipe is not an error. Within another program, which takes the answer, nothing is printed.
pub fn print(text: impl AsRef<str>) -> Result<(), Failure> {
    if host::embedding().is_some() {
        return Ok(());
    }
    let text = text.as_ref();
    let ending = if text.ends_with('\n') { "" } else { "\n" };
    let mut stdout = anstream::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.write_all(ending.as_bytes()))
        .and_then(|()| stdout.flush())
        .map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ReaderLeft,
            _ => Failure::output(&error),
        })
}

/// Prints an outcome as a JSON object with its version to standard output.
pub fn print_json(outcome: &impl Serialize) -> Result<(), Failure> {
    print(json::render(outcome))
}

/// Prints a message to standard error, ignoring errors.
pub fn tell(text: impl AsRef<str>) {
    match host::embedding() {
        Some(host) => host.tell(text.as_ref()),
        None => {
            let _ = writeln!(anstream::stderr(), "{}", text.as_ref());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_finished_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.csv");
        let mut pending = Pending::create(&path).unwrap();
        pending.write_all(b"half").unwrap();
        drop(pending);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        write(&path, "whole").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads and writes whole files: a file appears under its name only when complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use kneepoint::capture;
use rustix::fs::{AtFlags, CWD, RenameFlags, renameat, renameat_with, statat};
use rustix::io::Errno;
use rustix::path::Arg;
use tempfile::NamedTempFile;

use crate::failure::Failure;
use crate::session::Session;
use crate::temporary;

/// The first bytes of a file by which its kind is recognised: the first line of an export names its columns.
const HEAD: u64 = 4096;

/// Larger scenarios are a mistake, such as an endless device.
const LARGEST: u64 = 16 << 20;

/// Reads a scenario from a file, or from standard input for `-`.
pub fn read_text(session: &Session, path: &Path) -> Result<String, Failure> {
    read_text_of(
        session,
        "a scenario in TOML",
        path,
        "check the path; `knee init FILE` writes an example scenario",
    )
}

/// Reads text of a kind from a file, or from standard input for `-`; the remedy is for a missing file.
pub fn read_text_of(session: &Session, kind: &str, path: &Path, remedy: &str) -> Result<String, Failure> {
    let is_input = path == Path::new("-");
    let read = if is_input { session.read(LARGEST + 1) } else { content(path, LARGEST + 1) };
    let bytes = read.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::run(format!("cannot read `{}`: {error}", path.display()), remedy),
        _ => Failure::io("read", path, &error),
    })?;
    if bytes.len() as u64 > LARGEST {
        let message = format!("`{}` is larger than {} MB", path.display(), LARGEST >> 20);
        return Err(Failure::run(message, format!("expected {kind}, which is shorter")));
    }
    if capture::is_capture(&bytes) || capture::is_export(&bytes) {
        let message = format!("`{}` is a packet capture, but expected is {kind}", path.display());
        let but = if is_input { ", but none from standard input" } else { "" };
        let readers = format!("`knee identify FILE` and `knee predict FILE` read captures{but}");
        return Err(Failure::run(message, readers));
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
    if is_input {
        session.keep_input(&text);
    }
    Ok(text)
}

/// The first bytes of a file.
fn content(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes).map(|_| bytes)
}

/// The text of a file that a scenario names, relative to the scenario's folder.
pub fn beside(scenario: &Path, named: &str) -> Result<String, String> {
    data(&scenario.parent().unwrap_or(Path::new("")).join(named))
}

/// The text of a file of data.
pub fn data(path: &Path) -> Result<String, String> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_string(&mut text));
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
        .and_then(|file| file.take(HEAD).read_to_end(&mut head))
        .map_err(|error| Failure::io("read", path, &error))?;
    Ok(is(&head))
}

/// Reads a file of at most `largest` bytes.
pub fn read_bytes(path: &Path, largest: u64) -> Result<Vec<u8>, Failure> {
    let bytes = content(path, largest + 1).map_err(|error| Failure::io("read", path, &error))?;
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

/// Renames a file or a directory to a name that is free.
pub fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    rename_new_at(CWD, from, CWD, to)
}

/// The same, in open directories.
pub fn rename_new_at(
    old: impl AsFd,
    from: impl Arg + Copy,
    new: impl AsFd,
    to: impl Arg + Copy,
) -> io::Result<()> {
    match renameat_with(&old, from, &new, to, RenameFlags::NOREPLACE) {
        // The file system has no such call.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            match statat(&new, to, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                Err(_) => renameat(old, from, new, to).map_err(io::Error::from),
            }
        }
        done => done.map_err(io::Error::from),
    }
}

/// A file being written under a temporary name in the same directory.
///
/// Dropping it before [`commit`](Pending::commit) removes it.
pub struct Pending {
    writer: BufWriter<Unnamed>,
    path: PathBuf,
}

/// A temporary file. The caller adds the place to its errors, because the random name is meaningless to a user.
struct Unnamed(NamedTempFile);

impl Write for Unnamed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.as_file_mut().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.as_file_mut().flush()
    }
}

impl Pending {
    /// Starts a file with the final name `path`. A symbolic link of that name is replaced by the file; its target
    /// stays.
    pub fn create(path: &Path) -> Result<Pending, Failure> {
        if path.file_name().is_none() {
            let message = format!("cannot write `{}`: it names no file", path.display());
            return Err(Failure::run(message, "name a file"));
        }
        if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
            // A finished file would take its place.
            let message = format!("cannot write `{}`: it is a device or a pipe", path.display());
            return Err(Failure::run(message, "name a file that is new or may be replaced"));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = temporary::file(folder).map_err(|error| Failure::io("write", path, &error))?;
        Ok(Pending { writer: BufWriter::new(Unnamed(file)), path: path.to_path_buf() })
    }

    /// Renames the finished file to its final name.
    pub fn commit(self) -> Result<(), Failure> {
        let Pending { writer, path } = self;
        let finished =
            writer.into_inner().map_err(io::IntoInnerError::into_error).and_then(|Unnamed(file)| {
                file.as_file().sync_all()?;
                file.persist(&path).map_err(|refused| refused.error)
            });
        finished.map(drop).map_err(|error| Failure::io("write", &path, &error))
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
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

    #[test]
    fn a_link_in_the_place_of_a_file_is_replaced_and_its_target_stays() {
        let directory = tempfile::tempdir().unwrap();
        let [link, target] = ["a.csv", "thesis.tex"].map(|name| directory.path().join(name));
        fs::write(&target, "three years").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        write(&link, "new").unwrap();
        assert!(link.symlink_metadata().unwrap().is_file());
        assert_eq!(fs::read_to_string(&link).unwrap(), "new");
        assert_eq!(fs::read_to_string(&target).unwrap(), "three years");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Kept runs: each in a file named by the hash of everything that determines it, shared by all verbs.
//!
//! | a file that | is |
//! |---|---|
//! | has its checksum, name and seed | read |
//! | has not | set aside as `NAME.json.bad`, named, and made again |
//! | is of another version | made again; one line reports all of them |
//! | is not a file, or is larger than [`LARGEST`] | refused: only its owner knows its purpose |

mod sealed;

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use kneepoint::study::Record;
use rustix::fs::OFlags;

use crate::failure::Failure;
use crate::session::Session;
use crate::{files, temporary};

pub use sealed::{Fault, close};

/// The default folder of kept runs.
const USUAL: &str = "out/runs";
/// The environment variable that overrides it.
const VARIABLE: &str = "KNEE_STORE";
/// The largest file of a run: 2 000 000 samples with 25 columns.
const LARGEST: u64 = 1 << 30;
/// Damaged files of one run that are set aside. A disk that damages every file is not to be filled.
const SET_ASIDE: usize = 3;

/// A folder of kept runs.
pub struct Store {
    folder: PathBuf,
    /// Whether runs of another version have been reported.
    said: AtomicBool,
}

/// The file found under the name of a run.
enum Found {
    Run(Box<Record>),
    Nothing,
    Faulty(Fault, Metadata),
}

impl Store {
    /// Opens the given folder, or the one of the environment, or the usual one; makes it if absent.
    /// Removes leftovers of killed processes in it.
    pub fn open(session: &Session, given: Option<&Path>) -> Result<Store, Failure> {
        let store = Store::at(session, given);
        let made = fs::create_dir_all(&store.folder);
        made.map_err(|error| {
            let message =
                format!("cannot make the folder of kept runs, `{}`: {error}", store.folder.display());
            let option = session.option("store", "DIR");
            Failure::run(message, format!("choose a writable one with `{option}` or ${VARIABLE}"))
        })?;
        temporary::sweep(&store.folder);
        Ok(store)
    }

    /// The same folder for reading, whether it exists or not.
    pub fn at(session: &Session, given: Option<&Path>) -> Store {
        // The contents of a URL are copied to the usual folder.
        let named = if Store::url(given).is_some() { None } else { Store::named(given) };
        let folder = named.unwrap_or_else(|| PathBuf::from(USUAL));
        // A program may have changed its directory by the time it asks.
        let lasting = if session.is_embedded() { std::path::absolute(&folder).ok() } else { None };
        Store { folder: lasting.unwrap_or(folder), said: AtomicBool::new(false) }
    }

    /// The given store, or the one of the environment, if it is a URL instead of a directory, as s3://bucket/runs.
    pub fn url(given: Option<&Path>) -> Option<String> {
        Store::named(given)?.to_str().filter(|text| text.contains("://")).map(str::to_string)
    }

    /// The given place, or the one of the environment.
    fn named(given: Option<&Path>) -> Option<PathBuf> {
        let variable = || std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        given.map(Path::to_path_buf).or_else(variable)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }

    /// A kept run. A damaged file is set aside, and counts as missing.
    pub fn get(&self, session: &Session, name: &str, seed: u64) -> Result<Option<Record>, Failure> {
        let path = self.path(name);
        match find(session, &path, name, seed)? {
            Found::Run(record) => Ok(Some(*record)),
            Found::Nothing => Ok(None),
            Found::Faulty(Fault::Version, _) => {
                if !self.said.swap(true, Ordering::Relaxed) {
                    let folder = self.folder.display();
                    session.tell(format!(
                        "{folder} has runs that another version of knee kept: they are made again"
                    ));
                }
                Ok(None)
            }
            Found::Faulty(Fault::Damaged(reason), file) => {
                let done = match set_aside(&path, &file) {
                    Aside::Gone => return self.get(session, name, seed),
                    Aside::To(place) => format!("it is now {}", place.display()),
                    Aside::Full => {
                        format!("{SET_ASIDE} earlier ones are set aside, and this one is replaced")
                    }
                    Aside::Failed(error) => format!("it cannot be set aside: {error}"),
                };
                let path = path.display();
                session.warn(format!(
                    "{path} is not the run that was kept: {reason}; {done}; simulating that run again"
                ));
                Ok(None)
            }
        }
    }

    /// A kept run, without changing its file.
    pub fn look(&self, session: &Session, name: &str, seed: u64) -> Result<Option<Record>, Failure> {
        let path = self.path(name);
        Ok(match find(session, &path, name, seed)? {
            Found::Run(record) => Some(*record),
            Found::Faulty(fault @ Fault::Damaged(_), _) => {
                session.warn(format!("{} is not the run that was kept: {fault}", path.display()));
                None
            }
            Found::Nothing | Found::Faulty(..) => None,
        })
    }

    /// Keeps a run.
    pub fn put(&self, session: &Session, name: &str, record: &Record) -> Result<(), Failure> {
        let text = sealed::seal(name, record);
        if let Some(reason) = too_large(text.as_bytes()) {
            session.warn(format!("{} would be {reason}, and is not kept", self.path(name).display()));
            return Ok(());
        }
        self.write(name, text.as_bytes())
    }

    /// Keeps the file of a run that was made elsewhere, if it is one.
    pub fn take(&self, name: &str, bytes: &[u8]) -> Result<Option<Fault>, Failure> {
        match fault(name, bytes) {
            Some(fault) => Ok(Some(fault)),
            None => self.write(name, bytes).map(|()| None),
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        let path = self.path(name);
        match fs::symlink_metadata(&path) {
            Ok(there) if there.is_dir() => Err(refused(&path, kind(there.file_type()))),
            _ => files::write(&path, bytes),
        }
    }
}

/// The fault of the file of a run, if any.
pub fn fault(name: &str, bytes: &[u8]) -> Option<Fault> {
    too_large(bytes).map(Fault::Damaged).or_else(|| sealed::open(name, None, bytes).err())
}

/// Whether a file would not be read back.
fn too_large(bytes: &[u8]) -> Option<String> {
    (bytes.len() as u64 > LARGEST).then(|| format!("larger than {} MB", LARGEST >> 20))
}

/// Looks for a run. A pipe or a device is not opened, so nothing waits for it.
fn find(session: &Session, path: &Path, name: &str, seed: u64) -> Result<Found, Failure> {
    let read = || -> io::Result<Result<Found, Failure>> {
        let there = fs::metadata(path)?;
        if !there.is_file() {
            return Ok(Err(refused(path, kind(there.file_type()))));
        }
        let nonblocking = OFlags::NONBLOCK.bits() as i32;
        let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
        // Another file may have replaced it.
        let opened = file.metadata()?;
        if !opened.is_file() {
            return Ok(Err(refused(path, kind(opened.file_type()))));
        }
        if opened.len() > LARGEST {
            return Ok(Err(refused(path, &format!("larger than {} MB", LARGEST >> 20))));
        }
        Ok(Ok(match sealed::open(name, Some(seed), &content(file, opened.len())?) {
            Ok(record) => Found::Run(Box::new(record)),
            Err(fault) => Found::Faulty(fault, opened),
        }))
    };
    read().unwrap_or_else(|error| {
        if error.kind() != io::ErrorKind::NotFound {
            session.warn(format!("cannot read {}: {error}; simulating that run again", path.display()));
        }
        Ok(Found::Nothing)
    })
}

/// As much as it had when opened.
fn content(file: File, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(length).read_to_end(&mut bytes).map(|_| bytes)
}

fn kind(found: FileType) -> &'static str {
    match found {
        it if it.is_dir() => "a directory",
        it if it.is_fifo() => "a named pipe",
        it if it.is_socket() => "a socket",
        _ => "a device",
    }
}

fn refused(path: &Path, kind: &str) -> Failure {
    Failure::run(
        format!("`{}` is where a run is kept, and is {kind}", path.display()),
        "move it elsewhere; that run is then simulated again",
    )
}

/// The new place of a damaged file.
enum Aside {
    To(PathBuf),
    /// Another process has set it aside, or replaced it.
    Gone,
    Full,
    Failed(io::Error),
}

/// Renames a damaged file to a free name in its folder.
fn set_aside(path: &Path, damaged: &Metadata) -> Aside {
    for number in 1..=SET_ASIDE {
        let ending = if number == 1 { String::new() } else { number.to_string() };
        let place = path.with_extension(format!("json.bad{ending}"));
        let same = |there: Metadata| (there.dev(), there.ino()) == (damaged.dev(), damaged.ino());
        if !fs::metadata(path).is_ok_and(same) {
            return Aside::Gone;
        }
        match files::rename_to_new(path, &place) {
            Ok(()) => return Aside::To(place),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Aside::Gone,
            Err(error) => return Aside::Failed(error),
        }
    }
    Aside::Full
}

#[cfg(test)]
mod tests;

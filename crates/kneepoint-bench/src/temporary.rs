// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files and directories that have a random name until they are finished. Processes that cannot see each other, for
//! example in two containers, may work in one directory.
//!
//! A file is locked while it is written. An unlocked one was left by a killed process, and is removed:
//!
//! ```text
//! writer   create · lock · is it still there? write …      else begin again
//! sweeper  open · lock, or leave it · remove
//! ```

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use tempfile::{NamedTempFile, TempDir};

use crate::ours::{self, Drawn};

/// Permissions of new files and directories, before the process's mask.
const FILE: u32 = 0o666;
const DIRECTORY: u32 = 0o777;
/// The number of clean-ups that may intervene.
const TRIES: usize = 100;

/// A new file in a directory, locked. It is removed when it is dropped.
pub fn file(directory: &Path) -> io::Result<NamedTempFile> {
    named(directory, &ours::file())
}

/// The same with another name.
pub fn named(directory: &Path, names: &Drawn) -> io::Result<NamedTempFile> {
    // Errors of one's own making are the system's, by whose numbers remedies are found.
    let create =
        |path: &Path| OpenOptions::new().read(true).write(true).create_new(true).mode(FILE).open(path);
    for _ in 0..TRIES {
        let file = names.draw().make_in(directory, create)?;
        // A file system without locks has no sweeps.
        let swept = matches!(file.as_file().try_lock(), Err(fs::TryLockError::WouldBlock));
        if !swept && file.as_file().metadata()?.nlink() > 0 {
            return Ok(file);
        }
    }
    Err(io::Error::other("another process removes or locks every new file there"))
}

/// A new directory in another. It is removed when it is dropped.
pub fn directory(parent: &Path, names: &Drawn) -> io::Result<TempDir> {
    names.draw().permissions(Permissions::from_mode(DIRECTORY)).tempdir_in(parent)
}

/// Removes the files in a directory that killed processes left.
pub fn sweep(directory: &Path) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| ours::is_file(&entry.file_name())) {
        // The lock is held until the file is gone.
        if let Some(_lock) = locked(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A file that no process had locked.
fn locked(path: &Path) -> Option<File> {
    let is_file = fs::symlink_metadata(path).is_ok_and(|there| there.is_file());
    let file = is_file.then(|| open(path, OpenOptions::new().read(true).write(true)))?.ok()?;
    file.try_lock().is_ok().then_some(file)
}

/// Opens an existing file without waiting for the other end of a pipe, and without following a symbolic link.
pub fn open(path: &Path, how: &mut OpenOptions) -> io::Result<File> {
    how.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_writes_is_swept_and_the_rest_stays() {
        let here = tempfile::tempdir().unwrap();
        let at = |name: &str| here.path().join(name);
        for left in [".knee-abcdef.tmp", ".0123456789abcdef0123456789abcdef.json.77.tmp"] {
            fs::write(at(left), "half").unwrap();
        }
        for other in ["a.tmp", ".profile", ".editor.tmp", ".knee-notes.tmp", ".config.json.old.tmp"] {
            fs::write(at(other), "theirs").unwrap();
        }
        std::os::unix::fs::symlink(at("a.tmp"), at(".knee-linked.tmp")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at(".knee-piping.tmp"), 0o600.into()).unwrap();
        let pending = file(here.path()).unwrap();
        sweep(here.path());
        let mut names: Vec<_> =
            fs::read_dir(here.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        let mut expected = [".knee-linked.tmp", ".knee-piping.tmp", ".profile", ".editor.tmp", "a.tmp"]
            .map(Into::into)
            .to_vec();
        expected.extend([".knee-notes.tmp", ".config.json.old.tmp"].map(Into::into));
        expected.push(pending.path().file_name().unwrap().to_owned());
        expected.sort();
        assert_eq!(names, expected);
    }

    #[test]
    fn a_file_lasts_through_sweeps_and_has_the_modes_of_any_other() {
        let here = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            let sweeping = scope.spawn(|| (0..2000).for_each(|_| sweep(here.path())));
            while !sweeping.is_finished() {
                let pending = file(here.path()).unwrap();
                pending.persist(here.path().join("done")).expect("it is still there");
            }
        });
        fs::write(here.path().join("other"), "").unwrap();
        let mode = |name| fs::metadata(here.path().join(name)).unwrap().mode();
        assert_eq!(mode("done"), mode("other"));
    }
}

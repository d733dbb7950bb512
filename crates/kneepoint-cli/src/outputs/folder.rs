// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A directory with a report. It is written next to the one before it and replaces it when it is whole, so that
//! whenever a process
//! is killed the directory has the files of one study.
//!
//! ```text
//! DIR/.kneepoint             the mark: our files, and the lock
//! DIR/.kneepoint-RANDOM.new/ the report that is being written
//!
//! published, where all of DIR is ours:
//!   PARENT/.DIR.kneepoint-RANDOM.new ⇄ DIR        in one step; then the old one is removed
//! published, where DIR has files of others, or cannot be renamed:
//!   mark old and new · remove the old files · move the new ones in · mark the new ones
//! ```
//!
//! For the holder of the lock, every other entry with such a name is stale: a killed process left it.

use std::fs::{self, Permissions};
use std::io;
use std::ops::Deref;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use kneepoint_bench::files;
use kneepoint_bench::session::Session;
use kneepoint_bench::{ours, temporary};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::process::geteuid;
use tempfile::TempDir;

use super::Out;
use super::mark::{self, Mark, Refused};
use super::tree::{self, Besides, Paths};
use crate::failure::Failure;

/// A directory that belongs to one study until this is dropped. Its path is where the study writes.
pub struct Folder {
    /// As given.
    shown: PathBuf,
    /// Without symbolic links.
    real: PathBuf,
    mark: Option<Mark>,
    staging: Option<TempDir>,
    /// Whether it did not exist before.
    made: bool,
}

/// The reason why a directory is not taken.
pub enum Denied {
    /// Another process writes there.
    Busy,
    Failed(Failure),
}

impl Folder {
    /// A requested directory: one that holds only files of other origin is refused.
    pub fn given(session: &Session, path: PathBuf) -> Result<Folder, Failure> {
        loop {
            let made = path.symlink_metadata().is_err();
            files::make_directory(&path)?;
            match Folder::take(session, &path, made, false) {
                Ok(Some(folder)) => return Ok(folder),
                // Another study that wrote nothing has just removed it.
                Ok(None) => {}
                Err(Denied::Failed(failure)) => return Err(failure),
                Err(Denied::Busy) => {
                    return Err(Failure::run(
                        format!("another knee is writing to `{}`", path.display()),
                        "wait until it has finished, or name another directory with --out",
                    ));
                }
            }
        }
    }

    /// A default directory, if it was just made, or holds only the mark of a killed process.
    pub fn free(session: &Session, path: &Path) -> Result<Option<Folder>, Failure> {
        sweep_beside(session, path);
        let made = match fs::create_dir(path) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(Failure::io("make the directory", path, &error)),
        };
        let is_left = || {
            let is_plain = path.symlink_metadata().is_ok_and(|there| there.is_dir());
            is_plain && mark::is_in(path) && is_hollow(path)
        };
        if !(made || is_left()) {
            return Ok(None);
        }
        match Folder::take(session, path, true, true) {
            Ok(folder) => Ok(folder),
            Err(Denied::Busy) => Ok(None),
            Err(Denied::Failed(failure)) => Err(failure),
        }
    }

    /// Takes an existing directory; nothing if it is absent, or should be empty and is not.
    fn take(session: &Session, path: &Path, made: bool, hollow: bool) -> Result<Option<Folder>, Denied> {
        let failed = |error: io::Error| Denied::Failed(Failure::io("read", path, &error));
        let real = fs::canonicalize(path).map_err(failed)?;
        // Checked again, since another process may have made a mark in between.
        if !mark::is_in(&real) && has_anything(&real) && !mark::is_in(&real) {
            return Err(Denied::Failed(strangers(path, "has files that knee did not write")));
        }
        let mark = match Mark::take(&real, true) {
            Ok(mark) => mark,
            Err(Refused::Busy) => return Err(Denied::Busy),
            Err(Refused::Gone) => return Ok(None),
            Err(Refused::Failed(failure)) => return Err(Denied::Failed(failure)),
        };
        if hollow && !is_hollow(&real) {
            return Ok(None);
        }
        sweep_inside(&real);
        sweep_beside(session, &real);
        check(path, &real, &mark).map_err(Denied::Failed)?;
        let staging = temporary::directory(&real, &ours::report());
        let staging = staging.map_err(|error| Denied::Failed(Failure::io("write", path, &error)))?;
        Ok(Some(Folder { shown: path.to_path_buf(), real, mark: Some(mark), staging: Some(staging), made }))
    }

    /// The name that a file in it will have.
    pub fn named(&self, file: &Path) -> PathBuf {
        file.strip_prefix(&**self).map_or_else(|_| file.to_path_buf(), |inside| self.shown.join(inside))
    }

    /// Lets files of the earlier report be files of this one, too.
    pub fn keep(&self, wanted: impl Fn(&Path) -> bool) -> Result<(), Failure> {
        let files = self.mark.iter().flat_map(|mark| &mark.files).filter(|path| wanted(path));
        for path in files {
            let (old, new) = (self.real.join(path), self.join(path));
            // A file that its owner has removed is not restored.
            if old.symlink_metadata().is_err() {
                continue;
            }
            if let Some(parent) = new.parent() {
                files::make_directory(parent)?;
            }
            let kept = fs::hard_link(&old, &new).or_else(|_| fs::copy(&old, &new).map(|_| ()));
            kept.map_err(|error| Failure::io("write", &self.shown.join(path), &error))?;
        }
        Ok(())
    }

    /// Replaces an earlier report with the written files. Returns the directory that has it.
    pub fn publish(mut self, session: &Session) -> Result<PathBuf, Failure> {
        let shown = self.shown.clone();
        let failed = |error: io::Error| Failure::io("write", &shown, &error);
        let files = tree::files(&self).map_err(failed)?;
        let ours = self.mark.as_ref().map(|mark| mark.files.clone()).unwrap_or_default();
        let Besides { foreign, replaced } = tree::besides(&self.real, &ours).map_err(failed)?;
        let exchanged = foreign.is_empty()
            && replaced.is_empty()
            && self.exchange(session, &files, &ours).map_err(failed)?;
        if exchanged {
            return Ok(shown);
        }
        if let Some(taken) = replaced.into_iter().next().or_else(|| tree::taken(&self.real, &files, &ours)) {
            session.tell(format!("{} is not knee's, and stays as it is", shown.join(taken).display()));
            let elsewhere = Out::Free(shown.clone()).settle(session)?;
            tree::move_into(&self, &elsewhere).map_err(failed)?;
            return elsewhere.publish(session);
        }
        self.replace(files, &ours).map_err(failed)?;
        Ok(shown)
    }

    /// Exchanges the whole directory, unless it cannot be renamed, or is the working directory of a process.
    fn exchange(&mut self, session: &Session, files: &Paths, ours: &Paths) -> io::Result<bool> {
        let (Some(parent), Some(name)) = (self.real.parent(), self.real.file_name()) else {
            return Ok(false);
        };
        let stands = std::env::current_dir().is_ok_and(|here| here.starts_with(&self.real));
        if stands || !alike(self, &self.real)? {
            return Ok(false);
        }
        let Ok(beside) = temporary::directory(parent, &ours::beside(name)) else { return Ok(false) };
        let new = Mark::write(self, files.clone())?;
        if fs::rename(&**self, beside.path()).is_err() {
            return Ok(false);
        }
        let swapped = renameat_with(CWD, beside.path(), CWD, &self.real, RenameFlags::EXCHANGE);
        if swapped.is_err() {
            fs::rename(beside.path(), &**self)?;
            new.remove(self);
            return Ok(false);
        }
        // It was moved by the exchange; the earlier report is next to it now.
        let _ = self.staging.take().map(TempDir::keep);
        let old = self.mark.replace(new);
        retire(session, &beside.keep(), ours, &self.real);
        drop(old);
        Ok(true)
    }

    /// Replaces the files of the earlier report, and leaves other files where they are.
    fn replace(&mut self, files: Paths, ours: &Paths) -> io::Result<()> {
        self.mark = Some(Mark::write(&self.real, files.union(ours).cloned().collect())?);
        tree::remove(&self.real, ours)?;
        tree::move_into(self, &self.real)?;
        self.mark = Some(Mark::write(&self.real, files)?);
        Ok(())
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        self.staging.as_ref().map_or(&self.real, TempDir::path)
    }
}

impl Drop for Folder {
    /// A study that wrote no report leaves nothing.
    fn drop(&mut self) {
        drop(self.staging.take());
        let Some(mark) = self.mark.take() else { return };
        // A file that could not be removed keeps its mark, so that the next study recognises it.
        if mark.files.is_empty() && has_only_a_mark(&self.real) && (self.made || mark.new) {
            mark.remove(&self.real);
            if self.made {
                let _ = fs::remove_dir(&self.real);
            }
        }
    }
}

fn strangers(shown: &Path, why: &str) -> Failure {
    let remedy = "name a directory that is new, empty, or has an earlier report";
    Failure::run(format!("`{}` {why}", shown.display()), remedy)
}

/// Refuses a directory whose files are not known, or that leads elsewhere.
fn check(shown: &Path, real: &Path, mark: &Mark) -> Result<(), Failure> {
    let found = tree::besides(real, &mark.files).map_err(|error| Failure::io("read", shown, &error))?;
    if let Some(path) = found.replaced.first() {
        let message = format!("`{}` is not the file that knee wrote there", shown.join(path).display());
        return Err(Failure::run(message, "remove it, or name another directory with --out"));
    }
    // Kept runs and other reports may be in a directory, but files next to a mark without names are an earlier
    // version's, or of other origin.
    let is_file = |path: &PathBuf| real.join(path).symlink_metadata().is_ok_and(|there| !there.is_dir());
    match found.foreign.iter().find(|path| mark.files.is_empty() && is_file(path)) {
        Some(path) => {
            let why = format!("has files that are not known to be knee's, such as `{}`", path.display());
            Err(strangers(shown, &why))
        }
        None => Ok(()),
    }
}

fn has_anything(path: &Path) -> bool {
    path.read_dir().is_ok_and(|mut inside| inside.next().is_some())
}

/// Whether a directory has only files of the writer.
fn is_hollow(path: &Path) -> bool {
    path.read_dir().is_ok_and(|inside| inside.flatten().all(|entry| ours::is_own(&entry.file_name())))
}

fn has_only_a_mark(path: &Path) -> bool {
    path.read_dir().is_ok_and(|inside| inside.flatten().all(|entry| entry.file_name() == ours::MARK))
}

/// Gives a new directory the owner and the mode of another; returns whether it has both.
fn alike(new: &Path, model: &Path) -> io::Result<bool> {
    let wanted = fs::metadata(model)?;
    let owner = |there: &fs::Metadata| (there.uid(), there.gid());
    if owner(&fs::metadata(new)?) != owner(&wanted)
        && chown(new, Some(wanted.uid()), Some(wanted.gid())).is_err()
    {
        return Ok(false);
    }
    fs::set_permissions(new, Permissions::from_mode(wanted.mode() & 0o7777)).map(|()| true)
}

/// Removes an earlier report that was moved aside. Files that have appeared in it meanwhile are moved to their
/// intended place.
fn retire(session: &Session, path: &Path, ours: &Paths, place: &Path) {
    let _ = tree::remove(path, ours);
    sweep_inside(path);
    let _ = tree::move_into(path, place);
    if is_hollow(path) {
        let _ = fs::remove_file(path.join(ours::MARK));
    }
    if let Err(error) = fs::remove_dir(path) {
        session.tell(format!("{} has leftovers of an earlier report: {error}", path.display()));
    }
}

/// Removes leftovers of killed processes in a directory, for the holder of its lock.
fn sweep_inside(path: &Path) {
    let unfinished = |entry: &fs::DirEntry| ours::is_unfinished(&entry.file_name());
    for entry in path.read_dir().into_iter().flatten().flatten().filter(unfinished) {
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let _ = if is_dir { fs::remove_dir_all(entry.path()) } else { fs::remove_file(entry.path()) };
    }
}

/// Removes the unfinished, unlocked files that killed processes left next to a directory.
fn sweep_beside(session: &Session, path: &Path) {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return };
    let names = ours::beside(name);
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let is_left = |entry: &fs::DirEntry| {
        names.has(&entry.file_name())
            && entry.metadata().is_ok_and(|there| there.is_dir() && there.uid() == geteuid().as_raw())
    };
    for entry in parent.read_dir().into_iter().flatten().flatten().filter(is_left) {
        match Mark::take(&entry.path(), false) {
            Ok(mark) => retire(session, &entry.path(), &mark.files, path),
            // Empty, as it is before a report is moved there.
            Err(Refused::Gone) => drop(fs::remove_dir(entry.path())),
            Err(Refused::Busy | Refused::Failed(_)) => {}
        }
    }
}

#[cfg(test)]
mod tests;

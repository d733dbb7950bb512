// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The files below a directory: files of a report, and other files. Symbolic links are never followed.

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use kneepoint_bench::{files, ours};
use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, unlinkat};
use rustix::path::Arg;

/// Paths of files, relative to a directory.
pub type Paths = BTreeSet<PathBuf>;

/// Every file below a directory.
pub fn files(root: &Path) -> io::Result<Paths> {
    let mut found = Paths::new();
    let mut open = vec![PathBuf::new()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                open.push(path);
            } else if !(folder.as_os_str().is_empty() && ours::is_own(&entry.file_name())) {
                found.insert(path);
            }
        }
    }
    Ok(found)
}

/// Files in a directory that do not belong to the report.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Besides {
    /// Files and directories of other origin.
    pub foreign: Vec<PathBuf>,
    /// An entry that has replaced a file or a directory of the report, such as a symbolic link.
    pub replaced: Vec<PathBuf>,
}

/// Lists the contents of a directory other than these files. A directory that has none of them is not read.
pub fn besides(root: &Path, ours: &Paths) -> io::Result<Besides> {
    let mut found = Besides::default();
    let mut open = vec![PathBuf::new()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            if folder.as_os_str().is_empty() && ours::is_own(&entry.file_name()) {
                continue;
            }
            let (path, kind) = (folder.join(entry.file_name()), entry.file_type()?);
            let next = ours.range(path.clone()..).next().filter(|next| next.starts_with(&path));
            match next {
                None => found.foreign.push(path),
                Some(file) if *file == path => {
                    if !kind.is_file() {
                        found.replaced.push(path);
                    }
                }
                Some(_) if kind.is_dir() => open.push(path),
                Some(_) => found.replaced.push(path),
            }
        }
    }
    Ok(found)
}

/// The first of these files whose place is taken by something that is not among `ours`.
pub fn taken(root: &Path, files: &Paths, ours: &Paths) -> Option<PathBuf> {
    let is_taken = |path: &Path, file: &Path| match fs::symlink_metadata(root.join(path)) {
        Err(_) => false,
        Ok(_) if ours.contains(path) => false,
        Ok(there) => path == file || !there.is_dir(),
    };
    files.iter().find_map(|file| {
        let mut parts: Vec<&Path> = file.ancestors().filter(|part| !part.as_os_str().is_empty()).collect();
        parts.reverse();
        parts.into_iter().find(|part| is_taken(part, file)).map(Path::to_path_buf)
    })
}

/// Removes files, and the directories that become empty by that.
pub fn remove(root: &Path, files: &Paths) -> io::Result<()> {
    let top = open(CWD, root)?;
    let mut folders = Paths::new();
    for (folder, name) in files.iter().filter_map(|file| Some((file.parent()?, file.file_name()?))) {
        let removed = within(&top, folder).and_then(|at| Ok(unlinkat(at, name, AtFlags::empty())?));
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let above = folder.ancestors().filter(|folder| !folder.as_os_str().is_empty());
        folders.extend(above.map(Path::to_path_buf));
    }
    // Inner directories come after outer ones. A directory with other contents stays.
    for (above, name) in
        folders.iter().rev().filter_map(|folder| Some((folder.parent()?, folder.file_name()?)))
    {
        let _ = within(&top, above).and_then(|at| Ok(unlinkat(at, name, AtFlags::REMOVEDIR)?));
    }
    Ok(())
}

/// Moves everything in a directory to another, except for the writer's files. Nothing is replaced.
pub fn move_into(from: &Path, to: &Path) -> io::Result<()> {
    moved(&open(CWD, from)?, &open(CWD, to)?)
}

fn moved(from: &OwnedFd, to: &OwnedFd) -> io::Result<()> {
    let names: Vec<CString> =
        Dir::read_from(from)?.map(|entry| Ok(entry?.file_name().to_owned())).collect::<io::Result<_>>()?;
    let is_other = |name: &&CString| {
        let name = name.to_bytes();
        name != b"." && name != b".." && !ours::is_own(OsStr::from_bytes(name))
    };
    for name in names.iter().filter(is_other) {
        match files::rename_new_at(from, name, to, name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // Two directories become one.
                let (Ok(source), Ok(target)) = (open(from, name), open(to, name)) else { return Err(error) };
                moved(&source, &target)?;
                unlinkat(from, name, AtFlags::REMOVEDIR)?;
            }
            done => done?,
        }
    }
    Ok(())
}

/// A directory that is not a symbolic link, so that operations in it stay in it.
fn open(at: impl AsFd, name: impl Arg) -> io::Result<OwnedFd> {
    let how = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
    Ok(openat(at, name, how, Mode::empty())?)
}

/// A directory below another, by a path without symbolic links.
fn within(top: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    path.components().try_fold(top.try_clone()?, |at, part| open(at, part.as_os_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> Paths {
        names.iter().map(PathBuf::from).collect()
    }

    fn made(names: &[&str]) -> tempfile::TempDir {
        let here = tempfile::tempdir().unwrap();
        for name in names {
            let path = here.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
        here
    }

    #[test]
    fn what_is_ours_goes_and_what_is_not_stays() {
        let ours = paths(&["report.md", "series/a.csv", "series/deep/b.csv", "figures/c.svg"]);
        let here = made(&[
            "report.md",
            "series/a.csv",
            "series/deep/b.csv",
            "figures/c.svg",
            "figures/mine.svg",
            "notes",
            "runs/1",
        ]);
        fs::create_dir(here.path().join("empty")).unwrap();
        fs::write(here.path().join(ours::MARK), "").unwrap();
        let mut found = besides(here.path(), &ours).unwrap();
        found.foreign.sort();
        let foreign = ["empty", "figures/mine.svg", "notes", "runs"].map(PathBuf::from).to_vec();
        assert_eq!(found, Besides { foreign, replaced: Vec::new() });
        remove(here.path(), &ours).unwrap();
        assert_eq!(files(here.path()).unwrap(), paths(&["figures/mine.svg", "notes", "runs/1"]));
        assert!(!here.path().join("series").exists() && here.path().join("empty").exists());
    }

    #[test]
    fn a_link_in_our_place_is_seen_and_not_followed() {
        let ours = paths(&["report.md", "series/a.csv"]);
        let (here, there) = (made(&[]), made(&["a.csv"]));
        std::os::unix::fs::symlink(there.path(), here.path().join("series")).unwrap();
        std::os::unix::fs::symlink(there.path().join("a.csv"), here.path().join("report.md")).unwrap();
        let mut found = besides(here.path(), &ours).unwrap();
        found.replaced.sort();
        assert_eq!(found.replaced, [PathBuf::from("report.md"), PathBuf::from("series")]);
        let none = Paths::new();
        assert_eq!(taken(here.path(), &paths(&["series/b.csv"]), &none), Some(PathBuf::from("series")));
        assert_eq!(taken(here.path(), &paths(&["new/b.csv"]), &none), None);
        assert_eq!(taken(here.path(), &paths(&["report.md"]), &none), Some(PathBuf::from("report.md")));
        assert!(remove(here.path(), &ours).is_err(), "series is not a directory");
        let from = made(&["series/b.csv"]);
        assert!(move_into(from.path(), here.path()).is_err());
        assert_eq!(files(there.path()).unwrap(), paths(&["a.csv"]));
    }

    #[test]
    fn directories_are_merged_and_nothing_is_replaced() {
        let (from, to) = (made(&["a/1", "a/b/2", "c"]), made(&["a/b/3"]));
        move_into(from.path(), to.path()).unwrap();
        assert_eq!(files(to.path()).unwrap(), paths(&["a/1", "a/b/2", "a/b/3", "c"]));
        let again = made(&["c"]);
        assert!(move_into(again.path(), to.path()).is_err());
    }
}

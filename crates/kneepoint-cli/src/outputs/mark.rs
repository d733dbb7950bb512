// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The mark of a directory with a report, `.kneepoint`: the names of the report's files, so that the next report replaces only
//! these. It is locked while a process writes there.
//!
//! A mark is replaced as a whole, never modified. The holder of a lock therefore checks that it is still the mark.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use kneepoint_bench::{ours, temporary};
use serde::{Deserialize, Serialize};

use super::tree::Paths;
use crate::failure::Failure;

/// More is not a list of names.
const LARGEST: u64 = 1 << 28;
const ABOUT: &str = "knee replaces these files when it writes here again, and leaves all others alone";

/// The mark of a directory, locked until it is dropped.
pub struct Mark {
    file: File,
    /// The files of the report.
    pub files: Paths,
    /// Whether it did not exist before.
    pub new: bool,
}

/// The contents of a mark, as JSON. An empty one marks a directory whose first report is not finished.
#[derive(Serialize, Deserialize)]
struct Content {
    about: String,
    kneepoint: u32,
    files: Paths,
}

/// The reason why there is no lock on a mark.
pub enum Refused {
    /// Another process writes there.
    Busy,
    /// The directory is gone.
    Gone,
    Failed(Failure),
}

fn of(directory: &Path) -> PathBuf {
    directory.join(ours::MARK)
}

/// Whether a directory has a mark, or anything of that name.
pub fn is_in(directory: &Path) -> bool {
    of(directory).symlink_metadata().is_ok()
}

impl Mark {
    /// Takes the mark of a directory; makes it if there is none and `make`.
    pub fn take(directory: &Path, make: bool) -> Result<Mark, Refused> {
        let path = of(directory);
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => Refused::Gone,
            _ => Refused::Failed(Failure::io("write", &path, &error)),
        };
        loop {
            let before = path.symlink_metadata().ok();
            if before.as_ref().is_some_and(|there| !there.is_file()) {
                return Err(not_ours(&path));
            }
            let mut how = OpenOptions::new();
            how.read(true).write(true).create(make);
            let file = temporary::open(&path, &mut how).map_err(failed)?;
            // A file system without locks: the mark alone must suffice.
            if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
                return Err(Refused::Busy);
            }
            let opened = file.metadata().map_err(failed)?;
            let identity = |there: &Metadata| (there.dev(), there.ino());
            if path.symlink_metadata().is_ok_and(|now| identity(&now) == identity(&opened)) {
                let files = read(&file, &opened).ok_or_else(|| not_ours(&path))?;
                return Ok(Mark { file, files, new: before.is_none() });
            }
        }
    }

    /// Gives a directory a mark with these files, locked from the beginning.
    pub fn write(directory: &Path, files: Paths) -> io::Result<Mark> {
        let content = Content { about: ABOUT.to_string(), kneepoint: 1, files };
        // JSON has no names that are not UTF-8.
        let text = serde_json::to_string_pretty(&content)?;
        let mut file = temporary::named(directory, &ours::next_mark())?;
        file.write_all(format!("{text}\n").as_bytes())?;
        file.as_file().sync_all()?;
        let file = file.persist(of(directory)).map_err(|refused| refused.error)?;
        Ok(Mark { file, files: content.files, new: false })
    }

    /// Removes it.
    pub fn remove(self, directory: &Path) {
        let _ = fs::remove_file(of(directory));
        drop(self.file);
    }
}

/// The files that a mark has; nothing if it is not a mark.
fn read(file: &File, opened: &Metadata) -> Option<Paths> {
    if !opened.is_file() || opened.len() > LARGEST {
        return None;
    }
    let mut text = String::new();
    file.take(LARGEST).read_to_string(&mut text).ok()?;
    if text.is_empty() {
        return Some(Paths::new());
    }
    let Content { kneepoint, files, .. } = serde_json::from_str(&text).ok()?;
    let within = |path: &PathBuf| {
        path.components().all(|part| matches!(part, std::path::Component::Normal(_)))
            && !path.as_os_str().is_empty()
    };
    (kneepoint == 1 && files.iter().all(within)).then_some(files)
}

fn not_ours(path: &Path) -> Refused {
    Refused::Failed(Failure::run(
        format!("`{}` is not the mark that knee makes", path.display()),
        "name another directory with --out, or remove that file",
    ))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn a_mark_has_one_holder_and_lasts_through_its_replacement() {
        let here = tempfile::tempdir().unwrap();
        let first = Mark::take(here.path(), true).ok().unwrap();
        assert!(first.new && first.files.is_empty());
        assert!(matches!(Mark::take(here.path(), true), Err(Refused::Busy)));
        let files = Paths::from(["report.md".into(), "series/ä \n.csv".into()]);
        let second = Mark::write(here.path(), files.clone()).unwrap();
        drop(first);
        assert!(matches!(Mark::take(here.path(), true), Err(Refused::Busy)));
        drop(second);
        assert_eq!(Mark::take(here.path(), true).ok().unwrap().files, files);
    }

    #[test]
    fn a_name_that_json_cannot_have_is_an_error_and_the_mark_stays_as_it_is() {
        let here = tempfile::tempdir().unwrap();
        let before = Mark::write(here.path(), Paths::from(["report.md".into()])).unwrap();
        for name in [&b"caf\xe9"[..], b"a/\xff/b", b"\xf0\x9f"] {
            let files = Paths::from([PathBuf::from(OsStr::from_bytes(name))]);
            let refused = Mark::write(here.path(), files).err().expect("an error");
            assert_eq!(refused.kind(), io::ErrorKind::InvalidData, "{refused}");
        }
        drop(before);
        assert_eq!(here.path().read_dir().unwrap().count(), 1, "the mark and nothing else");
        assert_eq!(Mark::take(here.path(), false).ok().unwrap().files, Paths::from(["report.md".into()]));
    }

    #[test]
    fn what_knee_did_not_make_is_no_mark_and_stays_as_it_is() {
        let here = tempfile::tempdir().unwrap();
        let thesis = here.path().join("thesis.tex");
        let mark = of(here.path());
        let refused = || matches!(Mark::take(here.path(), true), Err(Refused::Failed(_)));
        let link = |to: &Path| std::os::unix::fs::symlink(to, &mark).unwrap();
        fs::write(&thesis, "three years").unwrap();
        link(&thesis);
        assert!(refused());
        fs::remove_file(&mark).unwrap();
        link(&here.path().join("none"));
        assert!(refused() && !here.path().join("none").exists());
        fs::remove_file(&mark).unwrap();
        fs::hard_link(&thesis, &mark).unwrap();
        assert!(refused());
        fs::remove_file(&mark).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &mark, 0o600.into()).unwrap();
        assert!(refused());
        fs::remove_file(&mark).unwrap();
        for path in ["../thesis.tex", "/etc/passwd", ""] {
            fs::write(&mark, format!("{{\"about\": \"\", \"kneepoint\": 1, \"files\": [\"{path}\"]}}"))
                .unwrap();
            assert!(refused(), "{path}");
        }
        assert_eq!(fs::read_to_string(&thesis).unwrap(), "three years");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Where a verb writes, and what its files are called.

use std::fs::{self, DirEntry, File, TryLockError};
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use kneepoint::report::document::Document;
use kneepoint::report::format;

use crate::failure::Failure;
use crate::files::{self, tell};
use crate::{png, threads};

/// The file that says that a directory is ours, locked while something writes there.
const MARK: &str = ".kneepoint";

/// A directory to write to.
pub enum Out {
    /// This one, which is made, empty, or has an earlier report.
    Given(PathBuf),
    /// This one if there is none yet, or the first that is free of those numbered from 2.
    Free(PathBuf),
}

impl Out {
    /// The requested directory, or a free one named after `default`.
    pub fn or_free(given: Option<&Path>, default: PathBuf) -> Out {
        given.map_or(Out::Free(default), |given| Out::Given(given.to_path_buf()))
    }

    /// Takes the directory for this study alone; a message names it unless it is the default.
    pub fn settle(self) -> Result<Folder, Failure> {
        let base = match self {
            Out::Given(path) => return Folder::given(path),
            Out::Free(path) => path,
        };
        if let Some(parent) = base.parent() {
            files::make_directory(parent)?;
        }
        let numbered = |place: u64| PathBuf::from(format!("{}-{place}", base.display()));
        // To make it is to take it: another study that looks at the same time gets the next.
        for path in [base.clone()].into_iter().chain((2..).map(numbered)) {
            match fs::create_dir(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Failure::io("make the directory", &path, &error)),
                Ok(()) if path == base => return Folder::locked(path),
                Ok(()) => {
                    tell(format!("{} exists already; writing to {}", base.display(), path.display()));
                    return Folder::locked(path);
                }
            }
        }
        unreachable!("numbers do not end")
    }
}

/// A directory that belongs to one study until this is dropped.
pub struct Folder {
    path: PathBuf,
    /// Its lock ends with it.
    _mark: File,
}

impl Folder {
    /// A requested directory: one with files of somebody else's is refused.
    fn given(path: PathBuf) -> Result<Folder, Failure> {
        files::make_directory(&path)?;
        let mut inside = fs::read_dir(&path).map_err(|error| Failure::io("read", &path, &error))?;
        if inside.next().is_some() && !path.join(MARK).exists() {
            return Err(Failure::run(
                format!("`{}` has files that knee did not write", path.display()),
                "name a directory that is new, empty, or has an earlier report",
            ));
        }
        Folder::locked(path)
    }

    fn locked(path: PathBuf) -> Result<Folder, Failure> {
        let file = path.join(MARK);
        let mark = File::create(&file).map_err(|error| Failure::io("write", &file, &error))?;
        match mark.try_lock() {
            Ok(()) => Ok(Folder { path, _mark: mark }),
            Err(TryLockError::WouldBlock) => Err(Failure::run(
                format!("another knee is writing to `{}`", path.display()),
                "wait until it has finished, or name another directory with --out",
            )),
            // A file system without locks: the mark alone has to do.
            Err(TryLockError::Error(_)) => Ok(Folder { path, _mark: mark }),
        }
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    /// A study that wrote no file leaves nothing.
    fn drop(&mut self) {
        let inside = |entry: &DirEntry| entry.file_name() == MARK || is_hollow(entry);
        if fs::read_dir(&self.path).is_ok_and(|entries| entries.flatten().all(|entry| inside(&entry))) {
            prune(&self.path);
            let _ = fs::remove_file(self.path.join(MARK));
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// Whether it is a directory without a file in it, however deep.
fn is_hollow(entry: &DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_dir())
        && fs::read_dir(entry.path()).is_ok_and(|inside| inside.flatten().all(|one| is_hollow(&one)))
}

/// Removes the directories in another that are empty, or become so. One that has got a file meanwhile stays.
fn prune(path: &Path) {
    for entry in fs::read_dir(path).into_iter().flatten().flatten().filter(is_hollow) {
        prune(&entry.path());
        let _ = fs::remove_dir(entry.path());
    }
}

/// A directory in another, made if there is none.
pub fn directory(out: &Path, name: &str) -> Result<PathBuf, Failure> {
    let directory = out.join(name);
    files::make_directory(&directory)?;
    Ok(directory)
}

/// Writes scenarios as scenarios/NAME.toml, each with its name. Returns the directory.
pub fn write_scenarios(scenarios: &[(String, String)], out: &Path) -> Result<PathBuf, Failure> {
    let folder = directory(out, "scenarios")?;
    let names = scenarios.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
    for (place, (_, text)) in scenarios.iter().enumerate() {
        files::write(&folder.join(format!("{}.toml", numbered(&names, place))), text)?;
    }
    Ok(folder)
}

/// Formats of figures. Documents link to those in SVG, which are always written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Picture {
    Svg,
    Png,
}

/// Writes a document in every format as report.EXTENSION, and its figures as figures/NAME.*. Returns the page.
pub fn write_report(document: &Document, out: &Path, pictures: &[Picture]) -> Result<PathBuf, Failure> {
    files::make_directory(out)?;
    let written = threads::map(format::REGISTRY, |format| {
        files::write(&out.join(format!("report.{}", format.extension)), (format.render)(document))
    });
    written.into_iter().collect::<Result<(), _>>()?;
    let drawn = threads::map(&document.figures(), |figure| {
        let (folder, svg) = (directory(out, "figures")?, figure.drawing.standalone());
        if pictures.contains(&Picture::Png) {
            files::write(&folder.join(format!("{}.png", figure.name)), png::render(&svg)?)?;
        }
        files::write(&folder.join(format!("{}.svg", figure.name)), svg)
    });
    drawn.into_iter().collect::<Result<(), _>>()?;
    Ok(out.join("report.html"))
}

/// The slug of a name, with its place if another has the same.
pub fn numbered(names: &[&str], place: usize) -> String {
    let name = slug(names[place]);
    match names.iter().filter(|other| slug(other) == name).count() {
        0 | 1 => name,
        _ => format!("{name}-{}", place + 1),
    }
}

/// A name as a file may have it: `sack/red-ecn` becomes `sack-red-ecn`.
pub fn slug(name: &str) -> String {
    let safe = name.chars().map(|c| if c.is_ascii_alphanumeric() || "._=".contains(c) { c } else { '-' });
    let safe = safe.take(100).collect::<String>();
    let trimmed = safe.trim_matches(['-', '.']);
    if trimmed.is_empty() { "unnamed".to_string() } else { trimmed.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_share_a_file_get_their_places() {
        let names = ["a/b", "c", "a:b"];
        assert_eq!([0, 1, 2].map(|place| numbered(&names, place)), ["a-b-1", "c", "a-b-3"]);
    }

    #[test]
    fn studies_at_the_same_time_get_different_directories_and_leave_none_that_is_empty() {
        let here = tempfile::tempdir().unwrap();
        let base = here.path().join("out/compare");
        let taken = [(); 3].map(|()| Out::or_free(None, base.clone()).settle().unwrap());
        let names: Vec<_> = taken.iter().map(|folder| folder.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["compare", "compare-2", "compare-3"]);
        fs::write(taken[1].join("report.md"), "").unwrap();
        directory(&taken[2], "captures").unwrap();
        drop(taken);
        assert_eq!(fs::read_dir(here.path().join("out")).unwrap().count(), 1);
    }

    #[test]
    fn a_given_directory_has_one_writer_and_no_files_of_others() {
        let here = tempfile::tempdir().unwrap();
        let given = |name: &str| Out::Given(here.path().join(name)).settle();
        let first = given("a").unwrap();
        fs::write(first.join("report.md"), "").unwrap();
        assert!(matches!(given("a"), Err(Failure::Run(_))), "it is locked");
        drop(first);
        assert!(given("a").is_ok(), "an earlier report is renewed");
        fs::create_dir(here.path().join("b")).unwrap();
        fs::write(here.path().join("b/thesis.tex"), "").unwrap();
        assert!(matches!(given("b"), Err(Failure::Run(_))));
        assert_eq!(fs::read_dir(here.path().join("b")).unwrap().count(), 1);
    }
}

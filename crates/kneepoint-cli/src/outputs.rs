// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Where a verb writes, and what its files are called.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use kneepoint::report::document::Document;
use kneepoint::report::format;

use crate::failure::Failure;
use crate::files::{self, tell};
use crate::png;

/// A directory to write to.
pub enum Out {
    /// This one, whatever is in it.
    Given(PathBuf),
    /// This one if there is none yet, or the first that is free of those numbered from 2.
    Free(PathBuf),
}

impl Out {
    /// The requested directory, or a free one named after `default`.
    pub fn or_free(given: Option<&Path>, default: PathBuf) -> Out {
        given.map_or(Out::Free(default), |given| Out::Given(given.to_path_buf()))
    }

    /// Chooses the directory; a message names it unless it is the default.
    pub fn settle(self) -> PathBuf {
        let base = match self {
            Out::Given(path) => return path,
            Out::Free(path) => path,
        };
        let taken = |path: &Path| path.symlink_metadata().is_ok();
        if !taken(&base) {
            return base;
        }
        let numbered = |place: u64| PathBuf::from(format!("{}-{place}", base.display()));
        let free = (2..).map(numbered).find(|path| !taken(path)).unwrap_or_else(|| base.clone());
        tell(format!("{} exists already; writing to {}", base.display(), free.display()));
        free
    }
}

/// A directory in another, made if there is none.
pub fn directory(out: &Path, name: &str) -> Result<PathBuf, Failure> {
    let directory = out.join(name);
    files::make_directory(&directory)?;
    Ok(directory)
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
    for format in format::REGISTRY {
        files::write(&out.join(format!("report.{}", format.extension)), (format.render)(document))?;
    }
    for figure in document.figures() {
        let (folder, svg) = (directory(out, "figures")?, figure.drawing.standalone());
        if pictures.contains(&Picture::Png) {
            files::write(&folder.join(format!("{}.png", figure.name)), png::render(&svg)?)?;
        }
        files::write(&folder.join(format!("{}.svg", figure.name)), svg)?;
    }
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
    fn a_directory_that_exists_is_used_only_if_it_is_given() {
        let here = tempfile::tempdir().unwrap();
        let base = here.path().join("compare");
        assert_eq!(Out::or_free(None, base.clone()).settle(), base);
        std::fs::create_dir(&base).unwrap();
        std::fs::create_dir(here.path().join("compare-2")).unwrap();
        assert_eq!(Out::or_free(None, base.clone()).settle(), here.path().join("compare-3"));
        assert_eq!(Out::or_free(Some(&base), PathBuf::new()).settle(), base);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Where a verb writes, and what its files are called.

mod folder;
mod mark;
mod tree;

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use kneepoint::report::document::Document;
use kneepoint::report::format;
use kneepoint_bench::files;
use kneepoint_bench::session::Session;
use kneepoint_bench::threads;

use crate::failure::Failure;
use crate::png;
pub use folder::Folder;

/// A directory to write to.
pub enum Out {
    /// This one, which is new, empty, or has an earlier report. It may be reached by a symbolic link.
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
    pub fn settle(self, session: &Session) -> Result<Folder, Failure> {
        let base = match self {
            Out::Given(path) => return Folder::given(session, path),
            Out::Free(path) => path,
        };
        if let Some(parent) = base.parent() {
            files::make_directory(parent)?;
        }
        let numbered = |place: u64| PathBuf::from(format!("{}-{place}", base.display()));
        // To make it is to take it: another study that looks at the same time gets the next.
        for path in [base.clone()].into_iter().chain((2..).map(numbered)) {
            if let Some(folder) = Folder::free(session, &path)? {
                if path != base {
                    session.tell(format!("{} exists already; writing to {}", base.display(), path.display()));
                }
                return Ok(folder);
            }
        }
        unreachable!("numbers do not end")
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

/// Writes a document in every format as report.EXTENSION, and its figures as figures/NAME.*.
pub fn write_report(
    session: &Session,
    document: &Document,
    out: &Path,
    pictures: &[Picture],
) -> Result<(), Failure> {
    let written = threads::map(session, format::REGISTRY, |format| {
        files::write(&out.join(format!("report.{}", format.extension)), (format.render)(document))
    });
    written.into_iter().collect::<Result<(), _>>()?;
    let drawn = threads::map(session, &document.figures(), |figure| {
        let (folder, svg) = (directory(out, "figures")?, figure.drawing.standalone());
        if pictures.contains(&Picture::Png) {
            files::write(&folder.join(format!("{}.png", figure.name)), png::render(&svg)?)?;
        }
        files::write(&folder.join(format!("{}.svg", figure.name)), svg)
    });
    drawn.into_iter().collect()
}

/// The line that says where the report is.
pub fn report_at(directory: &Path) -> String {
    format!("report: {}", directory.join("report.html").display())
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
}

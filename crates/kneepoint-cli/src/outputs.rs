// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The output directory of a verb, and the names of its files.

mod folder;
mod mark;
mod tree;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use kneepoint::report::document::Document;
use kneepoint::report::format;
pub use kneepoint::report::names::{numbered, slug};
use kneepoint_bench::files;
use kneepoint_bench::session::Session;
use kneepoint_bench::threads;

use crate::failure::Failure;
use crate::pictures::{self, Grown, Printer};
pub use folder::Folder;

/// A directory to write to.
pub enum Out {
    /// This one, which is new, empty, or has an earlier report. It may be reached by a symbolic link.
    Given(PathBuf),
    /// This directory if it does not exist, or the first free one of those numbered from 2.
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
        let name = base.file_name().unwrap_or(base.as_os_str());
        let numbered = |place: u64| {
            let ending = OsString::from(format!("-{place}"));
            base.with_file_name([name, &ending].into_iter().collect::<OsString>())
        };
        // Creating it claims it: another study that checks at the same time gets the next.
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

/// Writes a document in every format as report.EXTENSION, its tables as tables.EXTENSION, the one for a column of a paper as table.tex,
/// and its figures as figures/NAME.*.
pub fn write_report(
    session: &Session,
    document: &Document,
    out: &Path,
    printer: &Printer,
) -> Result<(), Failure> {
    let reports = format::REGISTRY.iter().map(|format| ("report", format));
    let tables = format::TABLES.iter().map(|format| ("tables", format));
    let texts: Vec<_> = reports.chain(tables).collect();
    let written = threads::map(session, &texts, |(stem, format)| {
        files::write(&out.join(format!("{stem}.{}", format.extension)), (format.render)(document))
    });
    written.into_iter().collect::<Result<(), _>>()?;
    if let Some(paper) = format::latex::paper(document) {
        files::write(&out.join("table.tex"), paper)?;
    }
    let drawn = threads::map(session, &document.pictures(), |picture| {
        printer.write(picture, &directory(out, "figures")?)
    });
    let grown: Vec<Grown> =
        drawn.into_iter().collect::<Result<Vec<_>, Failure>>()?.into_iter().flatten().collect();
    pictures::told(&grown).into_iter().for_each(|note| session.warn(note));
    Ok(())
}

/// The line with the place of the report.
pub fn report_at(directory: &Path) -> String {
    format!("report: {}", directory.join("report.html").display())
}

/// The stem of the files of a run: its row, by the names of all, and its seed.
pub fn label(names: &[&str], (row, seed): (usize, u64)) -> String {
    format!("{}-seed{seed}", numbered(names, row))
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use kneepoint_bench::program::session;

    use super::*;

    #[test]
    fn a_number_comes_behind_a_name_whatever_its_bytes() {
        let here = tempfile::tempdir().unwrap();
        let real = here.path().canonicalize().unwrap();
        for name in [&b"caf\xe9"[..], b"\xff\xfe", "caf\u{e9}".as_bytes(), b"with/"] {
            let named = |ending: &[u8]| here.path().join(OsString::from_vec([name, ending].concat()));
            let folders = [(); 3].map(|()| Out::Free(named(b"")).settle(&session()).unwrap());
            let name = name.strip_suffix(b"/").unwrap_or(name);
            for (folder, ending) in folders.iter().zip([&b""[..], b"-2", b"-3"]) {
                let expected = real.join(OsString::from_vec([name, ending].concat()));
                assert_eq!(folder.parent(), Some(&*expected));
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Names of ours. Leftovers of killed processes under these names are removed, except the folder of a film; nothing
//! else is.
//!
//! | name | is |
//! |---|---|
//! | `.knee-RANDOM.tmp` | a file that is being written |
//! | `.HASH.json.NUMBER.tmp` | the same, as an earlier version of knee called it |
//! | `.film-RANDOM.new` | the folder of a film that is being made |
//! | `DIR/.kneepoint` | the mark of a directory with a report |
//! | `DIR/.kneepoint-RANDOM.mark` | the next mark |
//! | `DIR/.kneepoint-RANDOM.new` | the report that is being written |
//! | `.DIR.kneepoint-RANDOM.new` | the same while it replaces DIR |
//!
//! Six random characters distinguish them from names written by hand.

use std::ffi::{OsStr, OsString};

use tempfile::Builder;

/// The name of the mark.
pub const MARK: &str = ".kneepoint";
/// Characters that are drawn.
const DRAWN: usize = 6;

/// Names with drawn characters between a beginning and an ending.
pub struct Drawn {
    begin: OsString,
    end: &'static str,
}

/// A file.
pub fn file() -> Drawn {
    Drawn { begin: ".knee-".into(), end: ".tmp" }
}

/// The folder of a film.
pub fn film() -> Drawn {
    Drawn { begin: ".film-".into(), end: ".new" }
}

/// A mark, in the directory that will have it.
pub fn next_mark() -> Drawn {
    Drawn { begin: format!("{MARK}-").into(), end: ".mark" }
}

/// A report, in the directory that will have it.
pub fn report() -> Drawn {
    beside_of("", OsStr::new(""))
}

/// A report, next to the directory of this name.
pub fn beside(directory: &OsStr) -> Drawn {
    beside_of(".", directory)
}

fn beside_of(dot: &str, directory: &OsStr) -> Drawn {
    let begin = [OsStr::new(dot), directory, OsStr::new(MARK), OsStr::new("-")];
    Drawn { begin: begin.into_iter().collect(), end: ".new" }
}

impl Drawn {
    /// Draws names.
    pub fn draw(&self) -> Builder<'_, 'static> {
        let mut names = Builder::new();
        names.prefix(&self.begin).suffix(self.end).rand_bytes(DRAWN);
        names
    }

    /// Whether it is one of these names.
    pub fn has(&self, name: &OsStr) -> bool {
        let rest = name.as_encoded_bytes().strip_prefix(self.begin.as_encoded_bytes());
        let drawn = rest.and_then(|rest| rest.strip_suffix(self.end.as_bytes()));
        drawn.is_some_and(|drawn| drawn.len() == DRAWN && drawn.iter().all(u8::is_ascii_alphanumeric))
    }
}

/// Whether a file of this name was being written.
pub fn is_file(name: &OsStr) -> bool {
    let earlier = || {
        let rest = name.to_str()?.strip_prefix('.')?.strip_suffix(".tmp")?;
        let (hash, number) = rest.split_once(".json.")?;
        let is_hash = hash.len() == 32 && hash.bytes().all(|digit| digit.is_ascii_hexdigit());
        Some(is_hash && number.bytes().all(|digit| digit.is_ascii_digit()))
    };
    file().has(name) || earlier().unwrap_or(false)
}

/// Whether a file of this name, in a directory with a report, was not finished.
pub fn is_unfinished(name: &OsStr) -> bool {
    report().has(name) || next_mark().has(name)
}

/// Whether it is the mark or an unfinished file.
pub fn is_own(name: &OsStr) -> bool {
    name == MARK || is_unfinished(name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn a_name_that_was_drawn_is_known_and_one_that_is_longer_or_shorter_is_not() {
        let here = tempfile::tempdir().unwrap();
        let strange = OsStr::from_bytes(b"caf\xe9");
        for names in [file(), film(), next_mark(), report(), beside(OsStr::new("out")), beside(strange)] {
            let drawn = names.draw().tempfile_in(here.path()).unwrap();
            let name = drawn.path().file_name().unwrap().as_bytes();
            assert!(names.has(OsStr::from_bytes(name)), "{drawn:?}");
            for other in
                [&name[1..], &name[..name.len() - 1], &[name, b"x"].concat(), &[&b"x"[..], name].concat()]
            {
                assert!(!names.has(OsStr::from_bytes(other)), "{other:?}");
            }
            let place = names.begin.len();
            let longer = [&name[..place], b"a", &name[place..]].concat();
            let dotted = [&name[..place], b".", &name[place + 1..]].concat();
            assert!([longer, dotted].iter().all(|other| !names.has(OsStr::from_bytes(other))), "{drawn:?}");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The files that a scenario and the options of its verb name: where they are searched for, and their texts for copies
//! next to a report.
//!
//! A scenario names files relative to its own folder, the command line relative to the working directory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use kneepoint_bench::files;

/// Files by the names that a scenario has for them.
#[derive(Default)]
pub struct NamedFiles {
    texts: RefCell<BTreeMap<String, String>>,
}

impl NamedFiles {
    /// Files whose texts are known.
    pub fn known(texts: BTreeMap<String, String>) -> NamedFiles {
        NamedFiles { texts: RefCell::new(texts) }
    }

    /// The text of a known file.
    pub fn of(&self, name: &str) -> Result<String, String> {
        self.texts.borrow().get(name).cloned().ok_or_else(|| "there is no such file".to_string())
    }

    /// The text of a file that a scenario names.
    pub fn beside(&self, scenario: &Path, name: &str) -> Result<String, String> {
        self.keep(name, files::beside(scenario, name)?)
    }

    /// The text of a file that the command line names.
    pub fn given(&self, name: &str) -> Result<String, String> {
        self.keep(name, files::beside(Path::new(""), name)?)
    }

    /// The text of a file that the command line names for a field of a scenario: where the working directory has no
    /// such file, the file of the scenario's folder.
    pub fn set(&self, scenario: &Path, name: &str) -> Result<String, String> {
        if Path::new(name).exists() {
            self.given(name)
        } else {
            self.beside(scenario, name).or_else(|_| self.given(name))
        }
    }

    /// All of them.
    pub fn into_texts(self) -> BTreeMap<String, String> {
        self.texts.into_inner()
    }

    /// A copy of the scenario has one file of a name.
    fn keep(&self, name: &str, text: String) -> Result<String, String> {
        match self.texts.borrow_mut().insert(name.to_string(), text.clone()) {
            Some(other) if other != text => {
                Err("the scenario names another file in the same way: rename one of them".into())
            }
            _ => Ok(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_files_of_one_name_are_refused() {
        let here = tempfile::tempdir().unwrap();
        std::fs::write(here.path().join("a.trace"), "1\n").unwrap();
        let scenario = here.path().join("scenario.toml");
        let files = NamedFiles::default();
        assert_eq!(files.beside(&scenario, "a.trace").unwrap(), "1\n");
        assert_eq!(files.beside(&scenario, "a.trace").unwrap(), "1\n", "the same file again");
        std::fs::write(here.path().join("a.trace"), "2\n").unwrap();
        assert!(files.beside(&scenario, "a.trace").unwrap_err().contains("rename one"));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Kept runs: each in a file called by the hash of everything that determines it, shared by all verbs.

use std::path::{Path, PathBuf};

use kneepoint::report::json;
use kneepoint::study::Record;

use crate::failure::Failure;
use crate::files::{self, tell};
use crate::host;

/// The default folder of kept runs.
const USUAL: &str = "out/runs";
/// The environment variable that overrides it.
const VARIABLE: &str = "KNEE_STORE";

/// A folder of kept runs.
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// Opens the folder that was given, or that of the environment, or the usual one; makes it if there is none.
    pub fn open(given: Option<&Path>) -> Result<Store, Failure> {
        let store = Store::at(given);
        let made = std::fs::create_dir_all(&store.folder);
        made.map_err(|error| {
            let message =
                format!("cannot make the folder of kept runs, `{}`: {error}", store.folder.display());
            let option = host::option("store", "DIR");
            Failure::run(message, format!("choose a writable one with `{option}` or ${VARIABLE}"))
        })?;
        Ok(store)
    }

    /// The same folder to look into, whether there is one or not.
    pub fn at(given: Option<&Path>) -> Store {
        // What a URL names is copied to the usual folder.
        let named = if Store::url(given).is_some() { None } else { Store::named(given) };
        let folder = named.unwrap_or_else(|| PathBuf::from(USUAL));
        // Whoever asks later may be elsewhere.
        let lasting = if host::embedding().is_some() { std::path::absolute(&folder).ok() } else { None };
        Store { folder: lasting.unwrap_or(folder) }
    }

    /// The store that was given, or that of the environment, if it is not a directory: a URL, as s3://bucket/runs.
    pub fn url(given: Option<&Path>) -> Option<String> {
        Store::named(given)?.to_str().filter(|text| text.contains("://")).map(str::to_string)
    }

    /// The place that was given, or that of the environment.
    fn named(given: Option<&Path>) -> Option<PathBuf> {
        let variable = || std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        given.map(Path::to_path_buf).or_else(variable)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }

    /// Whether there is a file of a run.
    pub fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// A kept run. A file that cannot be read counts as none: the run is simulated again and the file replaced.
    pub fn get(&self, name: &str) -> Option<Record> {
        let path = self.path(name);
        let text = std::fs::read(&path).ok()?;
        let record = serde_json::from_slice(&text);
        if record.is_err() {
            tell(format!("{} is damaged; simulating that run again", path.display()));
        }
        record.ok()
    }

    /// Keeps a run.
    pub fn put(&self, name: &str, record: &Record) -> Result<(), Failure> {
        files::write(&self.path(name), json::line(record))
    }
}

#[cfg(test)]
mod tests {
    use kneepoint::table::Row;

    use super::*;

    #[test]
    fn a_run_comes_back_as_it_was_kept_and_a_damaged_one_does_not() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(Some(&directory.path().join("runs"))).unwrap();
        assert!(store.get("a").is_none());
        let rows = vec![Row::new([("link", "r1-r2".into())]).with("queue", 0.1).with("none", f64::NAN)];
        let record = Record::computed(1, 0.5, rows);
        store.put("a", &record).unwrap();
        assert_eq!(store.get("a"), Some(record));
        std::fs::write(store.path("a"), "{").unwrap();
        assert!(store.get("a").is_none());
    }
}

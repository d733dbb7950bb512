// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finished runs, each in a file called by the hash of what determines it, so that nothing is run twice.

use std::path::PathBuf;
use std::time::Duration;

use kneepoint::table::Row;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::failure::Failure;
use crate::files::{self, tell};

/// What is kept of a run.
#[derive(Serialize, Deserialize)]
pub struct Record {
    /// Who ran it: everything else that determines the rows is in the name.
    pub tool_version: String,
    /// The seed.
    pub seed: u64,
    /// CPU time it took.
    pub cpu_seconds: f64,
    /// Packets that the bottleneck carried.
    pub bottleneck_packets: u64,
    /// What was observed.
    pub rows: Vec<Row>,
}

impl Record {
    /// What this program observed.
    pub fn new(seed: u64, cpu: Duration, bottleneck_packets: u64, rows: Vec<Row>) -> Record {
        let tool_version = env!("CARGO_PKG_VERSION").to_string();
        Record { tool_version, seed, cpu_seconds: cpu.as_secs_f64(), bottleneck_packets, rows }
    }
}

/// A folder of finished runs.
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// Opens a folder, and makes it if there is none.
    pub fn open(folder: PathBuf) -> Result<Store, Failure> {
        files::make_directory(&folder)?;
        Ok(Store { folder })
    }

    /// The name of a run: of what is run, with which seed, by which laboratory.
    pub fn name(identity: &str, seed: u64) -> String {
        let mut hash = Sha256::new();
        for part in [identity, &seed.to_string(), env!("KNEE_FINGERPRINT")] {
            hash.update(part);
            hash.update([0]);
        }
        hash.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }

    /// A run that was kept. A file that cannot be read is as good as none: it is run and written again.
    pub fn get(&self, name: &str) -> Option<Record> {
        let path = self.path(name);
        let text = std::fs::read(&path).ok()?;
        let record = serde_json::from_slice(&text);
        if record.is_err() {
            tell(format!("{} is damaged; running it again", path.display()));
        }
        record.ok()
    }

    /// Keeps a run.
    pub fn put(&self, name: &str, record: &Record) -> Result<(), Failure> {
        let text = serde_json::to_string(record).map_err(|error| {
            Failure::run(format!("cannot write down a run: {error}"), "please report this with the command")
        })?;
        files::write(&self.path(name), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_comes_back_as_it_was_kept_and_a_damaged_one_does_not() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path().join("runs")).unwrap();
        let name = Store::name("a network", 1);
        assert!(store.get(&name).is_none());
        let rows = vec![Row::new([("link", "r1-r2".into())]).with("queue", 0.1).with("none", f64::NAN)];
        let record = Record::new(1, Duration::from_millis(500), 7, rows.clone());
        store.put(&name, &record).unwrap();
        assert_eq!(store.get(&name).map(|kept| kept.rows), Some(rows));
        std::fs::write(store.path(&name), "{").unwrap();
        assert!(store.get(&name).is_none());
    }

    #[test]
    fn another_seed_or_another_network_is_another_run() {
        assert_ne!(Store::name("a network", 1), Store::name("a network", 2));
        assert_ne!(Store::name("a network", 1), Store::name("a network1", 1));
    }
}

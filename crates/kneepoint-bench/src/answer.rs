// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The answer of a verb, for a program that needs it instead of text and files.

use std::collections::BTreeMap;

use kneepoint::report::document::Document;
use kneepoint::table::Records;

use crate::failure::Failure;
use crate::session::Session;
use crate::store::Store;

/// The answer of a verb.
pub struct Answer {
    /// The report.
    pub document: Document,
    /// The same for machines, as `--json` prints it.
    pub json: String,
    /// Rows under the names of their files, the most important first.
    pub tables: Vec<(String, Records)>,
    /// The sampled state of runs.
    pub series: Series,
    /// The reason why runs are missing, if some are.
    pub unfinished: Option<String>,
}

/// Series under the names that their files have. They are read from the kept runs on request: the series of a thousand
/// runs do not fit into memory.
#[derive(Default)]
pub struct Series {
    store: Option<Store>,
    kept: BTreeMap<String, (String, u64)>,
}

impl Answer {
    /// Everything requested.
    pub fn whole(document: Document, json: String, tables: Vec<(String, Records)>) -> Answer {
        Answer { document, json, tables, series: Series::default(), unfinished: None }
    }
}

impl Series {
    /// Names of series, and names and seeds of the kept runs that have them.
    pub fn new(store: Store, kept: BTreeMap<String, (String, u64)>) -> Series {
        Series { store: Some(store), kept }
    }

    /// Every name.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.kept.keys().map(String::as_str)
    }

    /// One of them; nothing if the name is unknown, the run was not finished or not sampled, or its file is absent or
    /// damaged.
    pub fn get(&self, session: &Session, name: &str) -> Result<Option<Records>, Failure> {
        let Some((store, (run, seed))) = self.store.as_ref().zip(self.kept.get(name)) else {
            return Ok(None);
        };
        Ok(store.look(session, run, *seed)?.and_then(|record| record.series.as_ref().map(Records::from)))
    }
}

/// A table under the name of its file.
pub fn named(name: &str, records: Records) -> (String, Records) {
    (name.to_string(), records)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Kept runs.

use std::fs;

use kneepoint::report::json;
use kneepoint::study::Record;
use kneepoint_bench::program;
use kneepoint_bench::store::Store;

use crate::captures::folder;

/// What a record says, whoever wrote it.
pub fn record(bytes: &[u8]) {
    let Ok(record) = serde_json::from_slice::<Record>(bytes) else { return };
    record.rows_over_time();
    let written = json::line(&record);
    let again: Record = serde_json::from_str(&written).expect("what was written is read");
    assert_eq!(json::line(&again), written, "a record that is read is written otherwise");
}

/// A file in a folder of kept runs.
pub fn store(bytes: &[u8]) {
    let runs = folder().path().join("kept");
    fs::create_dir_all(&runs).expect("a folder");
    fs::write(runs.join("0123456789abcdef.json"), bytes).expect("a file that can be written");
    // A file that is no run of this name is told, and stays where it is.
    let session = program::session();
    let _ = Store::at(&session, Some(&runs)).look(&session, "0123456789abcdef", 1);
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Kept runs.

use kneepoint::report::json;
use kneepoint::study::{Record, fingerprint};
use kneepoint_bench::store;

/// The name of the run, and the placeholder for the engine's fingerprint.
const NAME: &str = "0123456789abcdef";
const ENGINE: &str = "@engine@";

/// The contents of a record from any writer.
pub fn record(bytes: &[u8]) {
    let Ok(record) = serde_json::from_slice::<Record>(bytes) else { return };
    record.rows_over_time();
    let written = json::line(&record);
    let again: Record = serde_json::from_str(&written).expect("what was written is read");
    assert_eq!(json::line(&again), written, "a record that is read is written otherwise");
}

/// The file of a kept run, unchanged and sealed.
pub fn store(bytes: &[u8]) {
    store::fault(NAME, bytes);
    sealed(bytes);
}

/// Faults in the file of a run before its checksum. The fuzzer supplies the checksum, which no fuzzer finds, and the
/// engine's fingerprint, which differs between versions.
pub fn sealed(bytes: &[u8]) -> Option<store::Fault> {
    let body = String::from_utf8_lossy(bytes).replacen(ENGINE, fingerprint::engine(), 1);
    store::fault(NAME, store::close(body.trim_end().to_string()).as_bytes())
}

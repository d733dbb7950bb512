// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The file of a kept run: one JSON object that says which run it is, and ends with a checksum.
//!
//! ```text
//! {"format":2,"name":"…","seed":1,"engine":"…","record":{…},"sha256":"…"}
//!  └──────────────────── what the checksum is of ──────────┘
//! ```
//!
//! The beginning and the end keep their form in every format, which distinguishes a file of another version from a damaged one.

use std::fmt;

use kneepoint::report::json;
use kneepoint::study::{Record, fingerprint};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The format that is written. Files of the first format contained only a record.
const FORMAT: u32 = 2;
/// The beginning of the record, and the checksum.
const RECORD: &str = ",\"record\":";
const CHECKSUM: &str = ",\"sha256\":\"";
/// The length of the part after the record.
const TAIL: usize = CHECKSUM.len() + 64 + "\"}\n".len();

/// The identity of the run.
#[derive(Serialize, Deserialize)]
struct Head {
    format: u32,
    name: String,
    seed: u64,
    engine: String,
}

/// The fault of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It cannot be the run of this name.
    Damaged(String),
    /// It is complete, and was written by another version.
    Version,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Fault::Damaged(reason) => out.write_str(reason),
            Fault::Version => out.write_str("another version of knee kept it"),
        }
    }
}

fn damaged<T>(reason: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Damaged(reason.into()))
}

/// The file of a run.
pub fn seal(name: &str, record: &Record) -> String {
    let engine = fingerprint::engine().to_string();
    let head = Head { format: FORMAT, name: name.to_string(), seed: record.seed, engine };
    let (mut text, record) = (json::line(&head), json::line(record));
    text.truncate(text.trim_end().len() - 1);
    text.push_str(RECORD);
    text.push_str(record.trim_end());
    close(text)
}

/// A file up to its checksum, and the checksum.
pub fn close(text: String) -> String {
    let tail = tail(text.as_bytes());
    text + &tail
}

fn tail(text: &[u8]) -> String {
    let digest: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{CHECKSUM}{digest}\"}}\n")
}

/// The run that was kept under this name, and with this seed if it is known.
pub fn open(name: &str, seed: Option<u64>, bytes: &[u8]) -> Result<Record, Fault> {
    let split = bytes.len().checked_sub(TAIL).and_then(|at| bytes.split_at_checked(at));
    let Some((body, _)) = split.filter(|(body, end)| tail(body).as_bytes() == *end) else {
        return Err(unsealed(bytes));
    };
    let parts = std::str::from_utf8(body).ok().and_then(|body| body.split_once(RECORD));
    let Some((head, record)) = parts else { return damaged("it has no record") };
    let Ok(head) = serde_json::from_str::<Head>(&format!("{head}}}")) else {
        return damaged("it does not say which run it is");
    };
    if head.format != FORMAT || head.engine != fingerprint::engine() {
        return Err(Fault::Version);
    }
    if head.name != name {
        return damaged(format!("it is the file of another run, {}", head.name));
    }
    let Ok(record) = serde_json::from_str::<Record>(record) else { return damaged("it has no record") };
    if let Some(other) = [head.seed, record.seed].into_iter().find(|one| *one != seed.unwrap_or(head.seed)) {
        return damaged(format!("its seed is {other}, not {}", seed.unwrap_or(head.seed)));
    }
    if record.rows.is_empty() {
        return damaged("it has no numbers");
    }
    Ok(record)
}

/// The reason why a file without its checksum is not read.
fn unsealed(bytes: &[u8]) -> Fault {
    if bytes.is_empty() {
        return Fault::Damaged("it is empty".into());
    }
    // No file with an envelope is itself a record, however damaged.
    match serde_json::from_slice::<Record>(bytes) {
        Ok(_) => Fault::Version,
        Err(_) => Fault::Damaged("its checksum is missing or differs: it was truncated or changed".into()),
    }
}

#[cfg(test)]
mod tests {
    use kneepoint::table::Row;

    use super::*;

    fn record(seed: u64) -> Record {
        let rows = vec![Row::new([("link", "r1-r2".into())]).with("queue", 0.1).with("none", f64::NAN)];
        Record::computed(seed, 0.5, rows)
    }

    #[test]
    fn no_flipped_bit_and_no_shorter_file_is_read() {
        let whole = seal("a", &record(7)).into_bytes();
        assert_eq!(open("a", Some(7), &whole), Ok(record(7)));
        for bit in 0..8 * whole.len() {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(open("a", Some(7), &bytes), Err(Fault::Damaged(_))), "bit {bit}");
        }
        for length in 0..whole.len() {
            assert!(matches!(open("a", Some(7), &whole[..length]), Err(Fault::Damaged(_))), "{length} bytes");
        }
    }

    #[test]
    fn a_whole_file_that_is_not_this_run_is_not_read() {
        let fault = |name, seed, text: &str| open(name, seed, text.as_bytes()).unwrap_err().to_string();
        assert_eq!(fault("b", Some(7), &seal("a", &record(7))), "it is the file of another run, a");
        assert_eq!(fault("a", Some(8), &seal("a", &record(7))), "its seed is 7, not 8");
        let body = seal("a", &record(7));
        let body = &body[..body.len() - TAIL];
        let other = body.replacen("\"seed\":7", "\"seed\":8", 1);
        assert_eq!(fault("a", None, &close(other)), "its seed is 7, not 8");
        let empty = Record { rows: Vec::new(), ..record(7) };
        assert_eq!(fault("a", Some(7), &seal("a", &empty)), "it has no numbers");
    }

    #[test]
    fn a_file_of_another_version_is_told_from_a_damaged_one() {
        let plain = json::line(&record(7));
        assert_eq!(open("a", Some(7), plain.as_bytes()), Err(Fault::Version));
        let body = seal("a", &record(7));
        let body = &body[..body.len() - TAIL];
        let later = body.replacen("\"format\":2", "\"format\":3", 1);
        let engine = body.replacen(fingerprint::engine(), "another", 1);
        for text in [later, engine] {
            assert_eq!(open("a", Some(7), close(text).as_bytes()), Err(Fault::Version));
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Records of connections: the qlog files of their stacks, bounded, and with what the stacks get wrong put right.

use std::boxed::Box;
use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::string::String;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use std::vec::Vec;

use serde_json::{Value, json};

/// The byte before each record of a JSON text sequence (RFC 7464).
const SEPARATOR: u8 = 0x1e;
/// Fields of recovery's metrics that are round trips.
const ROUND_TRIPS: [&str; 4] = ["min_rtt", "smoothed_rtt", "latest_rtt", "rtt_variance"];

/// A folder for qlog files, a file for each connection. Copies count the same files.
#[derive(Clone, Debug)]
pub struct Records {
    folder: PathBuf,
    made: Arc<AtomicU32>,
}

impl Records {
    /// Files in all. Later connections have none, as a server that anyone can reach must not fill a disk.
    pub const FILES: u32 = 32;
    /// Bytes of a file. Later events are left out.
    pub const BYTES: u64 = 64 << 20;

    /// A folder, which is made where it does not exist. Fails if files cannot be written into it.
    pub fn in_folder(folder: &Path) -> Result<Records, String> {
        let fails = |error: io::Error| std::format!("cannot write into `{}`: {error}", folder.display());
        fs::create_dir_all(folder).map_err(fails)?;
        // Rights alone do not say whether a disk takes files.
        let trial = folder.join(std::format!(".knee-{}", std::process::id()));
        File::create(&trial).and_then(|_| fs::remove_file(&trial)).map_err(fails)?;
        Ok(Records { folder: folder.to_path_buf(), made: Arc::default() })
    }

    /// The file of a connection and its name, by its original destination connection ID and the side that writes it. `None` after
    /// [`Records::FILES`], and where it exists already.
    pub(crate) fn begin(&self, id: &dyn Display, side: &str, correct: Correct) -> Option<(Record, PathBuf)> {
        self.made
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |made| {
                (made < Self::FILES).then_some(made + 1)
            })
            .ok()?;
        let path = self.folder.join(std::format!("{id}_{side}.sqlog"));
        let file = OpenOptions::new().write(true).create_new(true).open(&path).ok()?;
        Some((Record { file: BufWriter::new(file), left: Self::BYTES, line: Vec::new(), correct }, path))
    }
}

/// Gives the record to the only connection of its configuration.
struct Once(Mutex<Option<noq_proto::QlogConfig>>);

impl noq_proto::QlogFactory for Once {
    fn for_connection(
        &self,
        _: noq_proto::Side,
        _: SocketAddr,
        _: noq_proto::ConnectionId,
        _: Instant,
    ) -> Option<noq_proto::QlogConfig> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Lets the connection of a configuration of noq be recorded, with times since `begin`, or since its beginning.
pub(crate) fn by_noq(
    config: &mut noq_proto::TransportConfig,
    record: Record,
    title: String,
    begin: Option<Instant>,
) {
    let mut qlog = noq_proto::QlogConfig::new(Box::new(record));
    qlog.title(Some(title));
    begin.map(|begin| qlog.start_time(begin));
    config.qlog_factory(Arc::new(Once(Mutex::new(Some(qlog)))));
}

/// The same for connections of quinn.
pub(crate) fn by_quinn(
    config: &mut quinn_proto::TransportConfig,
    record: Record,
    title: String,
    begin: Option<Instant>,
) {
    let mut qlog = quinn_proto::QlogConfig::default();
    qlog.writer(Box::new(record)).title(Some(title));
    begin.map(|begin| qlog.start_time(begin));
    config.qlog_stream(qlog.into_stream());
}

/// What a stack's records need before they are qlog.
pub(crate) type Correct = fn(&mut Value);

/// quinn writes round trips in seconds; qlog has milliseconds.
pub(crate) fn of_quinn(record: &mut Value) {
    let Some(data) = record.get_mut("data") else { return };
    for name in ROUND_TRIPS {
        let trip = data.get_mut(name);
        if let Some((trip, seconds)) = trip.and_then(|trip| trip.as_f64().map(|seconds| (trip, seconds))) {
            // To the nanosecond.
            *trip = json!((seconds * 1e9).round() / 1e6);
        }
    }
}

/// noq writes the number after the last one as the end of an acknowledged range; qlog has the last one.
pub(crate) fn of_noq(record: &mut Value) {
    let frames = record.get_mut("data").and_then(|data| data.get_mut("frames")).and_then(Value::as_array_mut);
    let ranges =
        frames.into_iter().flatten().filter_map(|frame| frame.get_mut("acked_ranges")?.as_array_mut());
    for range in ranges.flatten().filter_map(Value::as_array_mut) {
        if let [first, end] = range.as_mut_slice()
            && let (Some(first), Some(end)) = (first.as_u64(), end.as_u64())
        {
            *range = if end > first + 1 {
                std::vec![first.into(), (end - 1).into()]
            } else {
                std::vec![first.into()]
            };
        }
    }
}

/// A qlog file in progress. It never fails: a connection goes on where its record cannot.
pub(crate) struct Record {
    file: BufWriter<File>,
    left: u64,
    line: Vec<u8>,
    correct: Correct,
}

impl Record {
    /// Writes the line, corrected. Whole lines only: a reader takes everything until the last one.
    fn end(&mut self) -> io::Result<()> {
        let line = self.line.strip_prefix(&[SEPARATOR]).unwrap_or(&self.line);
        let mut record: Value = serde_json::from_slice(line)?;
        (self.correct)(&mut record);
        self.line.clear();
        self.line.push(SEPARATOR);
        serde_json::to_writer(&mut self.line, &record)?;
        self.line.push(b'\n');
        self.left = self.left.checked_sub(self.line.len() as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        self.file.write_all(&self.line)
    }
}

impl Write for Record {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        if self.left > 0 {
            self.line.extend_from_slice(part);
            // Strings of JSON have no line ends.
            let whole = part.ends_with(b"\n");
            let fits = if whole { self.end().is_ok() } else { self.line.len() as u64 <= self.left };
            if !fits {
                self.left = 0;
            }
            if whole || !fits {
                self.line.clear();
            }
        }
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_are_milliseconds_and_ranges_end_with_their_last_number() {
        let mut record = json!({ "data": { "latest_rtt": 0.0400325, "bytes_in_flight": 1200 } });
        of_quinn(&mut record);
        assert_eq!(record, json!({ "data": { "latest_rtt": 40.0325, "bytes_in_flight": 1200 } }));
        let mut acks = json!({ "data": { "frames": [
            { "frame_type": "ping" }, { "frame_type": "ack", "acked_ranges": [[0, 1], [3, 6]] },
        ] } });
        of_noq(&mut acks);
        assert_eq!(acks["data"]["frames"][1]["acked_ranges"], json!([[0], [3, 5]]));
        for mut other in [json!(null), json!({}), json!({ "data": { "frames": 3 } }), json!([[1, 2]])] {
            let before = other.clone();
            of_noq(&mut other);
            of_quinn(&mut other);
            assert_eq!(other, before);
        }
    }

    #[test]
    fn files_and_their_bytes_are_bounded_and_whole_lines() {
        let folder = std::env::temp_dir().join(std::format!("knee-records-{}", std::process::id()));
        let records = Records::in_folder(&folder).expect("a folder");
        let (mut record, _) = records.begin(&"ab", "server", |_| {}).expect("a file");
        assert!(records.begin(&"ab", "server", |_| {}).is_none(), "it exists");
        record.left = 40;
        for _ in 0..9 {
            record.write_all(b"\x1e{\"time\"").expect("taken");
            record.write_all(b":1}\n").expect("taken");
        }
        drop(record);
        let text = fs::read_to_string(folder.join("ab_server.sqlog")).expect("the file");
        assert_eq!(text, "\u{1e}{\"time\":1}\n".repeat(3));
        let more = (0..Records::FILES).filter(|id| records.begin(id, "client", |_| {}).is_some());
        assert_eq!(more.count() as u32, Records::FILES - 2);
        fs::remove_dir_all(&folder).expect("gone");
        assert!(Records::in_folder(Path::new("/dev/null/x")).is_err());
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Every reader of external input, as a function of bytes. A reader returns for any bytes: it does not panic,
//! and takes at most the memory that its line of the table allows.
//!
//! ```text
//! corpus/NAME/         inputs that a reader must survive: kept seeds, and all that once broke it
//! dictionaries/        words from which the fuzzer makes more
//!   │ tests/corpus.rs        feeds every one of them to its reader: a part of `make test`
//!   └ src/main.rs            libFuzzer resumes there: `make torture`
//! ```
//!
//! Not here, because their origin is trusted: records below `validation/`, files of `/proc`, and the output of programs
//! that `knee` starts (python3, iperf3, curl, mpv, tc).

#[cfg(target_os = "linux")]
mod behind;
mod brief;
mod captures;
mod files;
mod kept;
mod texts;

pub use kept::sealed;
use peak_alloc::PeakAlloc;

/// Counts what readers allocate.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// A reader of bytes from outside.
pub struct Reader {
    /// Its name, and that of its folder in the corpus.
    pub name: &'static str,
    read: fn(&[u8]),
    /// The longest input that the fuzzer makes.
    pub longest: usize,
    /// Its permitted memory for any input, in megabytes.
    megabytes: usize,
    /// The dictionary of its words, if it has one.
    pub words: &'static str,
    /// Folders of the repository with more that it reads.
    pub seeds: &'static [&'static str],
}

/// Further permitted memory, in bytes per byte of input.
const PER_BYTE: usize = 256;

const fn reader(
    name: &'static str,
    read: fn(&[u8]),
    (longest, megabytes): (usize, usize),
    words: &'static str,
    seeds: &'static [&'static str],
) -> Reader {
    Reader { name, read, longest, megabytes, words, seeds }
}

/// All readers. A plan of all cases of a sweep may take half a gigabyte, and a message says so above that.
#[rustfmt::skip]
pub const READERS: &[Reader] = &[
    reader("scenario", texts::scenario, (8192, 1200), "toml", &["scenarios"]),
    reader("settings", texts::settings, (1024, 1200), "toml", &[]),
    reader("values", texts::values, (128, 16), "toml", &[]),
    reader("schemes", texts::schemes, (256, 16), "toml", &[]),
    reader("predictors", texts::predictors, (256, 16), "toml", &[]),
    reader("experiment", texts::experiment, (8192, 1200), "toml", &["experiments"]),
    reader("publication", texts::publication, (8192, 64), "toml", &["experiments"]),
    reader("claim", texts::claim, (512, 16), "toml", &[]),
    reader("drill", texts::drill, (8192, 64), "packetdrill", &["crates/kneepoint/tests/scripts", "crates/kneepoint/tests/records"]),
    reader("words", texts::words, (256, 64), "options", &[]),
    reader("faults", texts::faults, (1024, 64), "", &[]),
    reader("har", files::har, (8192, 64), "json", &[]),
    reader("page", files::page, (1024, 64), "csv", &[]),
    reader("sizes", files::sizes, (1024, 64), "csv", &[]),
    reader("arrivals", files::arrivals, (1024, 64), "csv", &[]),
    reader("opportunities", files::opportunities, (1024, 64), "", &[]),
    reader("recording", files::recording, (1024, 64), "csv", &["scenarios"]),
    reader("capture", captures::capture, (16384, 64), "packets", &[]),
    reader("export", captures::export, (16384, 64), "csv", &[]),
    reader("frames", captures::frames, (4096, 64), "packets", &[]),
    reader("qlog", captures::qlog, (8192, 64), "json", &[]),
    reader("compressed", captures::compressed, (4096, 64), "", &[]),
    reader("kept-run", kept::record, (8192, 64), "json", &[]),
    reader("store", kept::store, (8192, 64), "json", &[]),
    #[cfg(target_os = "linux")]
    reader("packets", behind::packets, (4096, 64), "packets", &[]),
    #[cfg(target_os = "linux")]
    reader("trace", behind::trace, (4096, 64), "csv", &[]),
    #[cfg(target_os = "linux")]
    reader("film", behind::film, (4096, 64), "", &[]),
    #[cfg(all(target_os = "linux", feature = "bpf"))]
    reader("record", behind::record, (256, 16), "", &[]),
];

/// The reader of this name.
pub fn named(name: &str) -> Option<&'static Reader> {
    READERS.iter().find(|reader| reader.name == name)
}

impl Reader {
    /// Feeds it, and panics if it takes more memory than it may.
    pub fn feed(&self, bytes: &[u8]) {
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        (self.read)(bytes);
        let taken = MEMORY.peak_usage().saturating_sub(before);
        let most = (self.megabytes << 20) + PER_BYTE * bytes.len();
        assert!(taken <= most, "`{}` took {taken} bytes of memory, above {most}", self.name);
    }
}

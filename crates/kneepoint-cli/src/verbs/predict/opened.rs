// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The captures of one path, and remarks for readers.

use std::path::{Path, PathBuf};

use kneepoint::capture::{self, Capture, ClockStep, qlog};
use kneepoint::table::number::counted;

use crate::compressed::{self, Unpacked};
use crate::failure::Failure;

/// A size that fits twice into the memory of a small machine.
pub const LARGEST: u64 = 2 << 30;
/// The greatest number of flows and other items named in a message.
pub const SHOWN: usize = 6;

/// Endings of the names of captures, compressed or not.
const ENDINGS: [&str; 3] = [".pcap", ".pcapng", ".cap"];

/// Endings of the names of qlog.
const QLOG: [&str; 2] = [".qlog", ".sqlog"];

/// Whether a file is qlog, by its name or by its first bytes, decompressed if necessary.
pub fn is_qlog(path: &Path) -> Result<bool, Failure> {
    Ok(ends(path, &QLOG) || compressed::holds(path, qlog::is_qlog)?)
}

/// Whether a file is a capture, by its name or by its first bytes; a capture of an unsupported format also is one.
pub fn is_capture(path: &Path) -> Result<bool, Failure> {
    Ok(ends(path, &ENDINGS) || compressed::begins(path, begins)?)
}

/// Whether the name has one of these endings, before the ending of a compression.
fn ends(path: &Path, endings: &[&str]) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let plain = compressed::plain(&name);
    endings.iter().any(|ending| plain.ends_with(ending))
}

fn begins(head: &[u8]) -> bool {
    capture::is_capture(head) || capture::is_export(head) || capture::foreign_format(head).is_some()
}

/// What a file is not, if it can be read neither as a capture nor as qlog.
pub fn unknown(path: &Path) -> String {
    let shown = path.display();
    format!(
        "`{shown}` is not a capture: neither pcap nor pcapng, nor CSV with tshark's names of columns, nor qlog"
    )
}

/// Refuses a file that is given twice, by the same path or by another one: it would count twice.
pub fn distinct(paths: &[PathBuf]) -> Result<(), Failure> {
    let place = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let places: Vec<PathBuf> = paths.iter().map(place).collect();
    let same = |again: usize| places[..again].iter().position(|first| *first == places[again]);
    let Some((first, again)) = (1..places.len()).find_map(|again| Some((same(again)?, again))) else {
        return Ok(());
    };
    let (first, again) = (paths[first].display(), paths[again].display());
    Err(Failure::usage(format!("`{again}` is given twice, first as `{first}`"), "give each file once"))
}

/// The files of one path, and remarks on them.
#[derive(Default)]
pub struct Files {
    /// Their segments.
    pub capture: Capture,
    /// For readers.
    pub notes: Vec<String>,
    /// The notes that name missing parts.
    pub warnings: Vec<String>,
}

impl Files {
    fn warn(&mut self, warning: String) {
        self.notes.push(warning.clone());
        self.warnings.push(warning);
    }

    /// Adds a file.
    fn add(&mut self, path: &Path) -> Result<(), Failure> {
        let Unpacked { bytes, warning, remark } = compressed::read(path, LARGEST)?;
        let shown = path.display();
        if bytes.is_empty() {
            let message = format!("`{shown}` is an empty file: it has not even the header of a capture");
            return Err(Failure::run(message, "capture again, and let tcpdump end before its file is read"));
        }
        if let Some(format) = capture::foreign_format(&bytes) {
            let message = format!("`{shown}` is {}, which is not read", format.name);
            return Err(Failure::run(message, format.remedy));
        }
        if capture::is_export(&bytes) {
            return self.add_export(path, &bytes);
        }
        if !capture::is_capture(&bytes) {
            let remedy =
                "give one as `editcap` or `tcpdump -w` writes it, or as `knee identify --help` exports it";
            return Err(Failure::run(unknown(path), remedy));
        }
        let before = frames(&self.capture);
        let cut = self.capture.read(&bytes).map_err(|fault| {
            let remedy = "capture again, or let `editcap` or `tcpdump -r` copy what is whole of it";
            Failure::run(format!("`{shown}` {fault}"), remedy)
        })?;
        if let Some(warning) = warning {
            self.warn(warning);
        }
        if let Some(cut) = cut {
            let used = match frames(&self.capture) > before {
                true => "The part before was used.",
                false => "No whole packet is before that: nothing of it could be used.",
            };
            self.warn(format!("{shown} was cut off {cut}. {used}"));
        }
        self.notes.extend(remark);
        Ok(())
    }
}

/// Frames that were read, of whatever they are.
fn frames(capture: &Capture) -> u64 {
    capture.tcp() + capture.others() + capture.foreign().map(|(_, frames)| frames).sum::<u64>()
}

impl Files {
    /// Adds an export.
    fn add_export(&mut self, path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        let remedy = "export it as `knee identify --help` shows";
        let shown = path.display();
        let text = std::str::from_utf8(bytes)
            .map_err(|_| Failure::run(format!("`{shown}` is not UTF-8 text"), remedy))?;
        let read = self.capture.read_export(text);
        read.map_err(|fault| Failure::run(format!("`{shown}` {fault}"), remedy))
    }
}

/// Reads all files.
pub fn open(paths: &[PathBuf]) -> Result<Files, Failure> {
    distinct(paths)?;
    let mut files = Files::default();
    for path in paths {
        files.add(path)?;
    }
    let capture = &files.capture;
    let foreign = few(capture
        .foreign()
        .collect::<Vec<_>>()
        .into_iter()
        .map(|(link, frames)| format!("{frames} of link type {link}")));
    if !foreign.is_empty() {
        let told = format!("frames of a link type that is not supported: {}", foreign.join(", "));
        if capture.senders().is_empty() {
            return Err(Failure::run(told, format!("supported are {}", capture::supported())));
        }
        files.notes.push(format!("Ignored {told}."));
    }
    files.notes.extend(notes_on_files(&files.capture, paths));
    Ok(files)
}

/// Facts about the files that readers need for any flow.
fn notes_on_files(capture: &Capture, files: &[PathBuf]) -> Vec<String> {
    let name =
        |file: u32| files.get(file as usize - 1).map_or(String::new(), |path| path.display().to_string());
    let steps = capture.clock_steps().iter().map(|step| format!("{}: {}", name(step.file), described(step)));
    let mut notes = few(steps);
    let fragmented = capture.fragmented();
    if fragmented.whole > 0 {
        notes.push(format!("Put together from IP fragments: {}.", counted(fragmented.whole, "packet")));
    }
    if fragmented.incomplete > 0 {
        notes.push(format!(
            "IP fragments of {} are missing. Bytes that were only in these are missing from the numbers.",
            counted(fragmented.incomplete, "packet")
        ));
    }
    let setbacks = capture.setbacks();
    if setbacks > 0 {
        notes.push(format!(
            "An earlier time than the packet before at its interface, by up to 5 ms, was noted for {}: several queues of a network \
             card mix packets so, or the clock was corrected. They were sorted by time. Where that is not their order, round trips and losses \
             are missing.",
            counted(setbacks, "packet")
        ));
    }
    let cut = capture.cut_headers();
    if cut > 0 {
        notes.push(format!(
            "The snapshot length cuts {}, or the CSV has no columns for their options. Missing are timestamps, without which round trips of \
             retransmitted packets are unknown, and selective acknowledgements. Capture with `tcpdump -s 120`, or export \
             `tcp.options.timestamp.tsval`, `tcp.options.timestamp.tsecr`, `tcp.options.sack_le` and `tcp.options.sack_re`.",
            counted(cut, "TCP header")
        ));
    }
    let alone = capture.answers_alone().len();
    if alone > 0 && !capture.senders().is_empty() {
        notes.push(format!(
            "Only the acknowledgements of {} were captured: the direction of the data is missing.",
            counted(alone, "flow")
        ));
    }
    let senders = capture.senders();
    let unanswered = senders.iter().filter(|(direction, _)| !capture.is_answered(*direction)).count();
    if unanswered > 0 {
        notes.push(format!(
            "Of {} only the data was captured: the direction of the acknowledgements is missing, and round trips with it.",
            counted(unanswered, "flow")
        ));
    }
    if capture.others() > 0 {
        notes.push(format!("Ignored {}: {}.", counted(capture.others(), "other packet"), kinds(capture)));
    }
    notes
}

/// The first of them, and how many more there are.
fn few(all: impl ExactSizeIterator<Item = String>) -> Vec<String> {
    let more = all.len().saturating_sub(SHOWN);
    all.take(SHOWN).chain((more > 0).then(|| format!("{more} more"))).collect()
}

fn described(step: &ClockStep) -> String {
    let ClockStep { packet, since, by, back, mended, .. } = step;
    let (by, since) = (by.as_secs_f64(), since.as_secs_f64());
    let place = format!("at packet {packet}, {since:.3} s after the first");
    let direction = if *back { "back" } else { "forward" };
    if *mended {
        format!(
            "the clock was set {direction} by {by:.3} s {place}, as TCP timestamps or sequence numbers show. The packets from there on were \
             moved by as much."
        )
    } else {
        format!(
            "the time goes {direction} by {by:.3} s {place}, and nothing shows whether the clock was set or the file is unordered. The packets \
             were sorted by time."
        )
    }
}

/// The kinds of the other packets, by count.
pub fn kinds(capture: &Capture) -> String {
    let kinds = capture.kinds();
    let mut named: Vec<String> =
        kinds.iter().take(SHOWN).map(|(other, count)| format!("{count} {other}")).collect();
    let more: u64 = kinds.iter().skip(SHOWN).map(|(_, count)| count).sum();
    named.extend((more > 0).then(|| format!("{more} more")));
    named.join("; ")
}

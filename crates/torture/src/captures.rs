// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Packet captures, the frames in them, and their compressed forms.

use std::io::{Seek, Write};
use std::os::fd::AsRawFd;
use std::sync::LazyLock;

use clap::Parser;
use kneepoint::capture::{Capture, Course, foreign_format, is_capture, is_export, qlog};
use kneepoint::predict;
use kneepoint::rng::Rng;
use kneepoint::study::identify::{Alone, Suspect, identify, suspects, suspects_in_quic};
use kneepoint_bench::program;
use kneepoint_cli::Knee;

/// Candidates of each kind: with a window, by rates, and with random numbers.
const CANDIDATES: [&str; 4] = ["reno", "cubic", "bbr", "cdg"];
static OF_HOSTS: LazyLock<Vec<Suspect>> = LazyLock::new(|| candidates(suspects));
static OF_STACKS: LazyLock<Vec<Suspect>> = LazyLock::new(|| candidates(suspects_in_quic));

fn candidates(made: fn(&[String]) -> Result<Vec<Suspect>, String>) -> Vec<Suspect> {
    made(&CANDIDATES.map(String::from)).expect("registered controllers")
}

/// Whose likelihoods add up to one, whatever the course.
fn watch_senders(course: &Course, suspects: &[Suspect]) {
    let Some(verdict) = identify(course, suspects, &Alone) else { return };
    let sum: f64 = verdict.classes.iter().map(|class| class.likelihood).sum();
    assert!((sum - 1.0).abs() < 1e-9, "likelihoods add up to {sum}");
}

/// Everything that a capture is used for.
fn watch(capture: &Capture) {
    capture.kinds();
    capture.foreign().count();
    let _ =
        (capture.tcp(), capture.others(), capture.cut_headers(), capture.fragmented(), capture.clock_steps());
    capture.answers_alone();
    for (direction, _) in capture.senders().into_iter().take(4) {
        if let Some(course) = capture.course(direction) {
            watch_senders(&course, &OF_HOSTS);
        }
        let Some(transfer) = capture.transfer(direction) else { continue };
        transfer.score(&predict::standard(), 1.0);
        transfer.score_by_chance(&mut Rng::stream(1, "chance", 0), &predict::standard(), 1.0);
    }
}

/// A file, also as one of two that saw the same.
pub fn capture(bytes: &[u8]) {
    foreign_format(bytes);
    let mut capture = Capture::default();
    let read = capture.read(bytes);
    assert!(read.is_err() || is_capture(bytes), "a file that is not a capture was read");
    watch(&capture);
    if read.is_ok() && capture.read(bytes).is_ok() {
        watch(&capture);
    }
}

/// A QUIC stack's own record, and all that predictors and identification make of it.
pub fn qlog(bytes: &[u8]) {
    qlog::is_qlog(bytes);
    let Ok((traces, _)) = qlog::read(bytes) else { return };
    for traced in traces.iter().take(4) {
        traced.transfer.score(&predict::standard(), 1.0);
        if let Ok(course) = traced.exchange.course() {
            watch_senders(&course, &OF_STACKS);
        }
    }
}

/// The CSV of a capture.
pub fn export(bytes: &[u8]) {
    is_export(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut capture = Capture::default();
    if capture.read_export(text).is_ok() {
        watch(&capture);
    }
}

/// Link layers that are read, and one that is not.
const LINKS: [u32; 16] = [0, 1, 9, 12, 14, 50, 101, 104, 105, 108, 113, 127, 228, 229, 276, 147];

/// A capture of these frames: a byte that chooses the link layer, then each frame behind two bytes with its length. They are sent a
/// millisecond apart.
pub fn frames(bytes: &[u8]) {
    let Some((link, mut rest)) = bytes.split_first() else { return };
    let mut file = Vec::new();
    let link = LINKS[usize::from(*link) % LINKS.len()];
    let header = [0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 65_535, link];
    file.extend(header.iter().flat_map(|word: &u32| word.to_be_bytes()));
    let mut micros = 0_u32;
    while let Some((length, after)) = rest.split_first_chunk() {
        let (frame, after) = after.split_at(after.len().min(u16::from_be_bytes(*length).into()));
        micros += 1000;
        let long = frame.len() as u32;
        file.extend([micros / 1_000_000, micros % 1_000_000, long, long].map(u32::to_be_bytes).concat());
        file.extend(frame);
        rest = after;
    }
    let mut capture = Capture::default();
    assert_eq!(capture.read(&file), Ok(None), "a capture that was written whole");
    watch(&capture);
}

/// A file given to `knee predict`: compressed or not. It has no name, so that nothing remains however this process
/// ends, and no run is kept.
pub fn compressed(bytes: &[u8]) {
    let mut file = tempfile::tempfile().expect("a file without a name");
    file.write_all(bytes).and_then(|()| file.rewind()).expect("a file that can be written");
    let path = format!("/dev/fd/{}", file.as_raw_fd());
    let words = ["knee", "predict", "--predictors", "rtt", "--store", "/dev/null/runs", &path];
    let knee = Knee::try_parse_from(words);
    let _ = knee.map(|knee| knee.answer(&program::session())).expect("words that are understood");
}

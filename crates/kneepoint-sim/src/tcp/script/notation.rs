// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Packets of the host in the notation of scripts.

use super::subject::{SegmentKind, Sent};
use crate::packet::Flags;
use crate::units::Time;

/// Consecutive packets of one instant as one: `> . 1:4001(4000)`, each with its time. At most `most`.
pub(super) fn packets(sent: &[Sent], most: usize) -> Vec<(Time, String)> {
    let mut runs: Vec<Sent> = Vec::new();
    for one in sent {
        let full = runs.len() == most;
        match runs.last_mut() {
            Some(last) if continues(last, one) => last.length += one.length,
            _ if full => break,
            _ => runs.push(*one),
        }
    }
    runs.iter().map(|run| (run.at, packet(run))).collect()
}

fn continues(last: &Sent, next: &Sent) -> bool {
    let data = last.kind == SegmentKind::Data && next.kind == SegmentKind::Data;
    data && (last.at, last.flags) == (next.at, next.flags) && last.seq + last.length == next.seq
}

/// One packet: `> [ect0] . 1:1001(1000)`.
pub(super) fn packet(sent: &Sent) -> String {
    let codepoint = match sent.flags {
        flags if flags.has(Flags::SCALABLE) => "[ect1] ",
        flags if flags.has(Flags::ECT) && sent.kind == SegmentKind::Data => "[ect0] ",
        _ => "",
    };
    let (kind, end) = match sent.kind {
        SegmentKind::Syn if sent.flags.has(Flags::ACK) => ("S", "."),
        SegmentKind::Syn => ("S", ""),
        SegmentKind::Fin => ("F", "."),
        _ => ("", "."),
    };
    let letters = [(Flags::ECE, "E"), (Flags::CWR, "W"), (Flags::AE, "A")];
    let ecn: String =
        letters.iter().filter(|(flag, _)| sent.flags.has(*flag)).map(|(_, letter)| *letter).collect();
    format!("> {codepoint}{kind}{ecn}{end} {}:{}({})", sent.seq, sent.seq + sent.length, sent.length)
}

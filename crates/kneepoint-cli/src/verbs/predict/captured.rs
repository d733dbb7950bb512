// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Predictors on a flow of a packet capture.

use std::path::Path;

use kneepoint::capture::{self, Capture, Direction, Transfer, Vantage};
use kneepoint::predict::Judge;
use kneepoint::report::predictions::{Predictions, WatchedFlow, WatchedRun};
use kneepoint::units::Span;

use super::Arguments;
use crate::failure::Failure;
use crate::files;

/// What fits into the memory of a small machine, twice over.
const LARGEST: u64 = 2 << 30;
/// Flows named in a message.
const SHOWN: usize = 6;
/// The part of the round trip that may lie behind the point of capture without a word about it.
const UNSEEN: f64 = 0.1;
/// What a host itself may take to answer.
const HOST: Span = Span::from_micros(200);

/// Whether a file is a capture.
pub(super) fn is_capture(path: &Path) -> Result<bool, Failure> {
    files::begins(path, capture::is_capture)
}

/// Reads all files, and lets predictors watch one flow.
pub(super) fn watch(arguments: &Arguments) -> Result<Predictions, Failure> {
    if arguments.seeds.is_some() || arguments.seed.is_some() {
        let message = "--seeds and --seed mean nothing for a capture";
        return Err(Failure::usage(message, "leave them out: what happened has no seed"));
    }
    let configs = arguments.configs()?;
    let mut capture = Capture::default();
    for path in &arguments.files {
        capture.read(&files::read_bytes(path, LARGEST)?).map_err(|fault| {
            let remedy = "capture again, or let `editcap` or `tcpdump -r` copy what is whole of it";
            Failure::run(format!("`{}` {fault}", path.display()), remedy)
        })?;
    }
    let direction = direction(&capture, arguments.flow.as_deref())?;
    let flow = shown(direction);
    let transfer =
        capture.transfer(direction).filter(|transfer| !transfer.samples.is_empty()).ok_or_else(|| {
            Failure::run(
                format!("no round trips of {flow}: its data is not acknowledged"),
                "capture both directions, in one file or in several that are all given",
            )
        })?;
    let scores = transfer.score(&configs, arguments.hold_off);
    let names = arguments.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>();
    Ok(Predictions {
        title: names.join(", "),
        cases: vec![WatchedFlow {
            case: String::new(),
            flow,
            judges: vec![Judge::Flow],
            runs: vec![WatchedRun { seed: None, scores }],
        }],
        notes: notes(&transfer, capture.others()),
    })
}

fn shown((from, to): Direction) -> String {
    format!("{from}-{to}")
}

/// The requested flow, or the one with the most data.
fn direction(capture: &Capture, asked: Option<&str>) -> Result<Direction, Failure> {
    let senders = capture.senders();
    let Some(&(busiest, _)) = senders.first() else {
        let message = format!("the capture has no TCP data, only {} other packets", capture.others());
        return Err(Failure::run(message, "capture a TCP transfer, with at least 120 bytes of each packet"));
    };
    let Some(asked) = asked else { return Ok(busiest) };
    let wanted = capture::parse_direction(asked);
    let found = senders.iter().map(|(direction, _)| *direction).find(|one| Some(*one) == wanted);
    found.ok_or_else(|| {
        let flows = senders.iter().take(SHOWN).map(|(one, bytes)| format!("{} ({bytes} bytes)", shown(*one)));
        let more = senders.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        Failure::usage(
            format!("--flow: no flow `{asked}` in the capture"),
            format!("expected one of {}{more}", flows.collect::<Vec<_>>().join(", ")),
        )
    })
}

/// Remarks on the capture for readers.
fn notes(transfer: &Transfer, others: u64) -> Vec<String> {
    let Transfer { samples, losses, packets, needless, holes, mss, vantage, clock } = transfer;
    let mut notes = vec![format!(
        "{packets} data packets, segments of {mss} bytes; {} round trips; {} packets lost, as counted by retransmissions; \
         {needless} spurious retransmissions.",
        samples.len(),
        losses.len(),
    )];
    notes.push(place(*vantage));
    if *holes > 0 {
        notes.push(format!(
            "{holes} packets arrived out of order for the first time: reordered, or lost before the capture and repaired. \
             They do not count as losses; a capture at the sender has none of them."
        ));
    }
    notes.push(match clock {
        Some(clock) => {
            format!("One-way delay from the receiver's timestamps, with {clock} ticks per second.")
        }
        None => "The timestamps give no one-way delay; sync-tcp was given round trips.".to_string(),
    });
    if losses.is_empty() {
        notes.push("No packet was lost, so every prediction is a false positive.".into());
    }
    if others > 0 {
        notes.push(format!("{others} other packets were ignored."));
    }
    notes
}

/// Where the capture was taken.
fn place(vantage: Option<Vantage>) -> String {
    let Some(Vantage { to_sender, to_receiver }) = vantage else {
        return "The capture lacks the handshake; assumed to be taken at the sender, where round trips are complete.".into();
    };
    let millis = |span: Span| format!("{:.3} ms", span.as_millis_f64());
    let here = format!(
        "In the handshake the sender was {} away and back, the receiver {}",
        millis(to_sender),
        millis(to_receiver)
    );
    let whole = (to_sender.0 + to_receiver.0).max(1) as f64;
    let unseen = to_sender.0 as f64 / whole;
    if unseen <= UNSEEN || to_sender <= HOST {
        format!("{here}: captured at the sender.")
    } else if unseen < 1.0 - UNSEEN {
        format!(
            "{here}: captured in the middle. The round trips are those from here to the receiver; queues before are not in them."
        )
    } else {
        format!(
            "{here}: captured at the receiver, where almost nothing of the path is in the round trips. Capture at the sender."
        )
    }
}

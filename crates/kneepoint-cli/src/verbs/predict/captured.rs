// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Predictors on a flow of a packet capture.

use std::path::{Path, PathBuf};

use kneepoint::capture::{self, Capture, ClockStep, Direction, Transfer, Vantage};
use kneepoint::predict::{Config, Judge};
use kneepoint::report::predictions::{Course, Predictions, WatchedFlow, WatchedRun};
use kneepoint::rng::Rng;
use kneepoint::units::Span;

use super::Arguments;
use crate::compressed;
use crate::failure::Failure;
use crate::files;

/// What fits into the memory of a small machine, twice over.
const LARGEST: u64 = 2 << 30;
/// Flows named in a message.
const SHOWN: usize = 6;
/// Shifts of the losses by which chance is judged.
const SHIFTS: u64 = 20;
/// Flows with fewer round trips have nothing for a predictor to watch.
const LEAST_SAMPLES: usize = 100;

/// Endings of the names of captures, compressed or not.
const ENDINGS: [&str; 3] = [".pcap", ".pcapng", ".cap"];

/// Whether a file is a capture, by its name or by its first bytes; one that is not read is none the less.
pub(super) fn is_capture(path: &Path) -> Result<bool, Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let plain = compressed::plain(&name);
    Ok(ENDINGS.iter().any(|ending| plain.ends_with(ending)) || compressed::begins(path, begins)?)
}

fn begins(head: &[u8]) -> bool {
    capture::is_capture(head) || capture::foreign_format(head).is_some()
}

/// The files of one path, and what there is to say of them.
struct Files {
    capture: Capture,
    notes: Vec<String>,
}

/// Reads all files.
fn open(arguments: &Arguments) -> Result<Files, Failure> {
    let (mut capture, mut notes) = (Capture::default(), Vec::new());
    for path in &arguments.files {
        let bytes = compressed::read(path, LARGEST)?;
        if bytes.is_empty() {
            let message =
                format!("`{}` is an empty file: it has not even the header of a capture", path.display());
            return Err(Failure::run(message, "capture again, and let tcpdump end before its file is read"));
        }
        if let Some(format) = capture::foreign_format(&bytes) {
            let message = format!("`{}` is {}, which is not read", path.display(), format.name);
            return Err(Failure::run(message, format.remedy));
        }
        if !capture::is_capture(&bytes) {
            let message = format!("`{}` is not a capture: neither pcap nor pcapng", path.display());
            return Err(Failure::run(message, "give one of these, as `editcap` or `tcpdump -w` writes it"));
        }
        let cut = capture.read(&bytes).map_err(|fault| {
            let remedy = "capture again, or let `editcap` or `tcpdump -r` copy what is whole of it";
            Failure::run(format!("`{}` {fault}", path.display()), remedy)
        })?;
        notes
            .extend(cut.map(|cut| format!("{} was cut off {cut}. What is before was used.", path.display())));
    }
    let foreign: Vec<String> =
        capture.foreign().map(|(link, frames)| format!("{frames} of link type {link}")).collect();
    if !foreign.is_empty() {
        let told = format!("frames of a link type that is not supported: {}", foreign.join(", "));
        if capture.senders().is_empty() {
            return Err(Failure::run(told, format!("supported are {}", capture::supported())));
        }
        notes.push(format!("Ignored {told}."));
    }
    notes.extend(notes_on_files(&capture, &arguments.files));
    Ok(Files { capture, notes })
}

/// What readers have to know of the files, whatever flow they ask for.
fn notes_on_files(capture: &Capture, files: &[PathBuf]) -> Vec<String> {
    let name =
        |file: u32| files.get(file as usize - 1).map_or(String::new(), |path| path.display().to_string());
    let mut notes: Vec<String> = capture
        .clock_steps()
        .iter()
        .map(|step| format!("{}: {}", name(step.file), described(step)))
        .collect();
    let fragmented = capture.fragmented();
    if fragmented.whole > 0 {
        notes.push(format!("{} packets came in IP fragments and were put together.", fragmented.whole));
    }
    if fragmented.incomplete > 0 {
        notes.push(format!(
            "Of {} packets IP fragments are missing. Bytes that were only in these are missing from the numbers.",
            fragmented.incomplete
        ));
    }
    let setbacks = capture.setbacks();
    if setbacks > 0 {
        notes.push(format!(
            "{setbacks} packets have an earlier time than the packet before them at their interface, by up to 5 ms: several queues of a network \
             card mix them so, or the clock was corrected. They were sorted by time. Where that is not their order, round trips and losses \
             are missing."
        ));
    }
    let cut = capture.cut_headers();
    if cut > 0 {
        notes.push(format!(
            "{cut} TCP headers are cut by the snapshot length. Options in them are missing: timestamps, without which round trips of \
             retransmitted packets are unknown, and selective acknowledgements. Capture with `tcpdump -s 120`."
        ));
    }
    let alone = capture.answers_alone().len();
    if alone > 0 && !capture.senders().is_empty() {
        notes.push(format!("Of {alone} flows only the acknowledgements were captured: the direction of their data is missing."));
    }
    let senders = capture.senders();
    let unanswered = senders.iter().filter(|(direction, _)| !capture.is_answered(*direction)).count();
    if unanswered > 0 {
        notes.push(format!(
            "Of {unanswered} flows only the data was captured: the direction of their acknowledgements is missing, and round trips with it."
        ));
    }
    if capture.others() > 0 {
        notes.push(format!("{} other packets were ignored: {}.", capture.others(), kinds(capture)));
    }
    notes
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

/// What the other packets are, by count.
fn kinds(capture: &Capture) -> String {
    let kinds = capture.kinds();
    let mut named: Vec<String> =
        kinds.iter().take(SHOWN).map(|(other, count)| format!("{count} {other}")).collect();
    let more: u64 = kinds.iter().skip(SHOWN).map(|(_, count)| count).sum();
    named.extend((more > 0).then(|| format!("{more} more")));
    named.join("; ")
}

/// The error that a capture has no data.
fn without_data(capture: &Capture) -> Failure {
    if let [((from, to), bytes), rest @ ..] = capture.answers_alone().as_slice() {
        let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
        let message = format!(
            "the capture has only acknowledgements: {} acknowledges {bytes} bytes{more}, but the direction of the data, {}, is missing",
            shown((*from, *to)),
            shown((*to, *from)),
        );
        return Failure::run(message, "capture both directions, or give the file of the other one, too");
    }
    let message = match (capture.tcp(), capture.others()) {
        (0, 0) => "the capture has no packets".to_string(),
        (0, 1) => format!("the capture has no TCP data, only one other packet: {}", kinds(capture)),
        (0, others) => {
            format!("the capture has no TCP data, only {others} other packets: {}", kinds(capture))
        }
        (tcp, 0) => format!("the capture has no TCP data, only {tcp} TCP segments without any"),
        (tcp, others) => format!(
            "the capture has no TCP data, only {tcp} TCP segments without any, and {others} other packets: {}",
            kinds(capture)
        ),
    };
    Failure::run(message, "capture a TCP transfer, with at least 120 bytes of each packet")
}

/// The error that a flow has no round trips.
fn without_round_trips(capture: &Capture, direction: Direction) -> Failure {
    let flow = shown(direction);
    if capture.is_answered(direction) {
        let message =
            format!("no round trips of {flow}: no acknowledgement is later than the data that it is for");
        return Failure::run(
            message,
            "capture where one clock times both directions; `knee predict FILE --flows` says how the times go",
        );
    }
    let message = format!("no round trips of {flow}: its data is not acknowledged");
    Failure::run(message, "capture both directions, in one file or in several that are all given")
}

/// Lets predictors watch one flow, or all that there are.
pub(super) fn watch(arguments: &Arguments) -> Result<Predictions, Failure> {
    if arguments.seeds.is_some() || arguments.seed.is_some() {
        let message = "--seeds and --seed mean nothing for a capture";
        return Err(Failure::usage(message, "leave them out: what happened has no seed"));
    }
    let configs = arguments.configs()?;
    let Files { capture, mut notes } = open(arguments)?;
    if capture.senders().is_empty() {
        return Err(without_data(&capture));
    }
    let cases = match arguments.all {
        true => all(&capture, &configs, arguments.hold_off, &mut notes),
        false => {
            let direction = direction(&capture, arguments.flow.as_deref())?;
            let flow = shown(direction);
            let transfer = capture.transfer(direction).filter(|transfer| !transfer.samples.is_empty());
            let transfer = transfer.ok_or_else(|| without_round_trips(&capture, direction))?;
            notes.extend(notes_on(&transfer));
            vec![watched(flow, &transfer, &configs, arguments.hold_off)]
        }
    };
    let names = arguments.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>();
    Ok(Predictions { title: names.join(", "), cases, notes })
}

/// All flows with enough round trips, those with the most data first.
fn all(
    capture: &Capture,
    configs: &[(String, Config)],
    hold_off: f64,
    notes: &mut Vec<String>,
) -> Vec<WatchedFlow> {
    let mut left_out = 0;
    let mut watch = |(direction, _)| {
        let transfer = capture.transfer(direction)?;
        if transfer.samples.len() < LEAST_SAMPLES {
            left_out += 1;
            return None;
        }
        let flow = shown(direction);
        notes.extend(notes_on(&transfer).into_iter().map(|note| format!("{flow}: {note}")));
        Some(watched(flow, &transfer, configs, hold_off))
    };
    let cases = capture.senders().into_iter().filter_map(&mut watch).collect();
    if left_out > 0 {
        notes.push(format!("{left_out} flows with fewer than {LEAST_SAMPLES} round trips were left out."));
    }
    cases
}

fn watched(flow: String, transfer: &Transfer, configs: &[(String, Config)], hold_off: f64) -> WatchedFlow {
    let mut rng = Rng::stream(1, "chance", 0);
    let shifts = 0..if transfer.losses.is_empty() { 0 } else { SHIFTS };
    let scores = transfer.score(configs, hold_off);
    let seconds = |at: kneepoint::units::Time| at.as_secs_f64();
    let round_trip = |sample: &kneepoint::predict::Sample| (seconds(sample.now), sample.rtt.as_millis_f64());
    WatchedFlow {
        case: String::new(),
        flow,
        judges: vec![Judge::Flow],
        runs: vec![WatchedRun { seed: None, scores }],
        chance: shifts.map(|_| transfer.score_by_chance(&mut rng, configs, hold_off)).collect(),
        course: Some(Course {
            round_trips: transfer.samples.iter().map(round_trip).collect(),
            losses: transfer.losses.iter().copied().map(seconds).collect(),
        }),
    }
}

/// Prints the flows of the files: a line each, those with the most data first.
pub(super) fn list(arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let Files { capture, notes } = open(arguments)?;
    let senders = capture.senders();
    if senders.is_empty() {
        return Err(without_data(&capture));
    }
    notes.iter().for_each(files::tell);
    let told = senders.into_iter().filter_map(|(direction, _)| {
        let Transfer { bytes, packets, losses, samples, lasted, .. } = capture.transfer(direction)?;
        Some((shown(direction), bytes, packets, losses.len(), samples.len(), lasted.as_secs_f64()))
    });
    if as_json {
        let flow = |(flow, bytes, packets, losses, round_trips, seconds)| {
            serde_json::json!({ "flow": flow, "bytes": bytes, "packets": packets, "losses": losses,
                                "round_trips": round_trips, "duration_s": seconds })
        };
        let flows: Vec<_> = told.map(flow).collect();
        return files::print_json(&serde_json::json!({ "flows": flows, "notes": notes }));
    }
    let mut lines = vec!["      bytes  packets   lost  round trips  seconds  flow".to_string()];
    lines.extend(told.map(|(flow, bytes, packets, losses, samples, seconds)| {
        format!("{bytes:>11}  {packets:>7}  {losses:>5}  {samples:>11}  {seconds:>7.1}  {flow}")
    }));
    files::print(lines.join("\n"))
}

fn shown((from, to): Direction) -> String {
    format!("{from}-{to}")
}

/// The requested flow, or the one with the most data.
fn direction(capture: &Capture, asked: Option<&str>) -> Result<Direction, Failure> {
    let senders = capture.senders();
    let Some(&(busiest, _)) = senders.first() else { return Err(without_data(capture)) };
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

/// Remarks on a captured flow for readers.
fn notes_on(transfer: &Transfer) -> Vec<String> {
    let Transfer { samples, losses, packets, needless, holes, mss, vantage, clock, .. } = transfer;
    let mut notes = vec![format!(
        "{packets} data packets, segments of {mss} bytes; {} round trips; {} packets lost, as counted by retransmissions; \
         {needless} spurious retransmissions.",
        samples.len(),
        losses.len(),
    )];
    notes.push(place(*vantage, transfer.behind));
    if transfer.behind {
        notes.push(format!(
            "Judged by what is missing, the capture is behind the place where packets are lost: {holes} of the losses were seen as holes \
             that a later packet filled. Each is dated by the packet that showed the hole."
        ));
    } else if *holes > 0 {
        notes.push(format!(
            "{holes} packets were first seen after later ones, too late for reordering: lost before the capture and repaired, or missed by \
             it. They do not count as losses; a capture at the sender has none of them."
        ));
    }
    if transfer.reordered > 0 {
        notes.push(format!("{} packets were reordered.", transfer.reordered));
    }
    if transfer.resized > 0 {
        notes.push(format!(
            "{} retransmissions cut segments into parts or joined several. Packets and losses are counted in the segments of the first \
             transmission.",
            transfer.resized
        ));
    }
    if transfer.probes > 0 {
        notes.push(format!(
            "{} probes of a closed window or of an idle connection are neither packets nor losses.",
            transfer.probes
        ));
    }
    if transfer.copies > 0 {
        notes.push(format!(
            "{} packets were captured twice at one place, as their identification, numbers and timestamps say, and count once.",
            transfer.copies
        ));
    }
    if transfer.set_aside > 0 {
        notes.push(format!(
            "The flow was captured at several places. The one that saw most of it, which is nearest to the sender, was used; {} packets \
             of the others were set aside.",
            transfer.set_aside
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
    notes
}

/// Where the capture was taken.
fn place(vantage: Option<Vantage>, behind: bool) -> String {
    let Some(vantage @ Vantage { to_sender, to_receiver }) = vantage else {
        return "The capture lacks the handshake; assumed to be taken at the sender, where round trips are complete.".into();
    };
    let millis = |span: Span| format!("{:.3} ms", span.as_millis_f64());
    let here = format!(
        "In the handshake the sender was {} away and back, the receiver {}",
        millis(to_sender),
        millis(to_receiver)
    );
    if vantage.is_at_sender() && behind {
        format!("{here}, too close to tell where the capture was taken.")
    } else if vantage.is_at_sender() {
        format!("{here}: captured at the sender.")
    } else if !vantage.is_at_receiver() {
        format!(
            "{here}: captured in the middle. The round trips are those from here to the receiver; queues before are not in them."
        )
    } else {
        format!(
            "{here}: captured at the receiver, where almost nothing of the path is in the round trips. Capture at the sender."
        )
    }
}

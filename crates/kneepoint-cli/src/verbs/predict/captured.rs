// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Predictors on a flow of a packet capture.

use kneepoint::capture::{self, Capture, Direction, Transfer, Vantage};
use kneepoint::predict::{Config, Judge};
use kneepoint::report::predictions::{Course, Predictions, WatchedFlow, WatchedRun};
use kneepoint::rng::Rng;
use kneepoint::table::number::counted;
use kneepoint::units::Span;
use kneepoint_bench::session::Session;

use super::Arguments;
use super::opened::{Files, SHOWN, kinds, open};
use crate::failure::Failure;

/// Shifts of the losses for the estimate of chance.
const SHIFTS: u64 = 20;
/// Flows with fewer round trips give a predictor too few samples.
const LEAST_SAMPLES: usize = 100;

/// The error for a capture without data.
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

/// The error for a flow without round trips.
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

/// Lets predictors observe one flow, or all flows.
pub(super) fn watch(session: &Session, arguments: &Arguments) -> Result<Predictions, Failure> {
    let configs = arguments.configs_of_what_happened()?;
    let Files { capture, mut notes, warnings } = open(&arguments.files)?;
    warnings.iter().for_each(|warning| session.tell(format!("warning: {warning}")));
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
    Ok(Predictions { title: names.join(", "), factors: Vec::new(), cases, notes })
}

/// All flows with enough round trips, the ones with the most data first.
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

/// A flow with the results of the predictors.
pub(super) fn watched(
    flow: String,
    transfer: &Transfer,
    configs: &[(String, Config)],
    hold_off: f64,
) -> WatchedFlow {
    let mut rng = Rng::stream(1, "chance", 0);
    let shifts = 0..if transfer.losses.is_empty() { 0 } else { SHIFTS };
    let scores = transfer.score(configs, hold_off);
    let seconds = |at: kneepoint::units::Time| at.as_secs_f64();
    let round_trip = |sample: &kneepoint::predict::Sample| (seconds(sample.now), sample.rtt.as_millis_f64());
    WatchedFlow {
        case: String::new(),
        levels: Vec::new(),
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

/// Prints the flows of the files: a line each, the ones with the most data first.
pub(super) fn list(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let Files { capture, mut notes, mut warnings } = open(&arguments.files)?;
    let senders = capture.senders();
    if senders.is_empty() {
        warnings.iter().for_each(|warning| session.tell(format!("warning: {warning}")));
        return Err(without_data(&capture));
    }
    let mut untimed = 0;
    let mut row = |(direction, _)| {
        let Transfer { bytes, packets, losses, samples, lasted, .. } = capture.transfer(direction)?;
        untimed += usize::from(samples.is_empty() && capture.is_answered(direction));
        Some((shown(direction), bytes, packets, losses.len(), samples.len(), lasted.as_secs_f64()))
    };
    let told: Vec<_> = senders.into_iter().filter_map(&mut row).collect();
    if untimed > 0 {
        warnings.push(format!(
            "Of {}, no acknowledgement is later than the data that it is for: the clocks of the two directions differ.",
            counted(untimed, "flow")
        ));
        notes.extend(warnings.last().cloned());
    }
    for note in &notes {
        let warning = if warnings.contains(note) { "warning: " } else { "" };
        session.tell(format!("{warning}{note}"));
    }
    let told = told.into_iter();
    if as_json {
        let flow = |(flow, bytes, packets, losses, round_trips, seconds)| {
            serde_json::json!({ "flow": flow, "bytes": bytes, "packets": packets, "losses": losses,
                                "round_trips": round_trips, "duration_s": seconds })
        };
        let flows: Vec<_> = told.map(flow).collect();
        return session.print_json(&serde_json::json!({ "flows": flows, "notes": notes }));
    }
    let mut lines = vec!["      bytes  packets   lost  round trips  seconds  flow".to_string()];
    lines.extend(told.map(|(flow, bytes, packets, losses, samples, seconds)| {
        format!("{bytes:>11}  {packets:>7}  {losses:>5}  {samples:>11}  {seconds:>7.1}  {flow}")
    }));
    session.print(lines.join("\n"))
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

/// The place of the capture.
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
        format!("{here}, too close to decide where the capture was taken.")
    } else if vantage.is_at_sender() {
        format!("{here}: captured at the sender.")
    } else if !vantage.is_at_receiver() {
        format!(
            "{here}: captured in the middle. The round trips are measured from here to the receiver, without earlier queues."
        )
    } else {
        format!(
            "{here}: captured at the receiver, where almost nothing of the path is in the round trips. Capture at the sender."
        )
    }
}

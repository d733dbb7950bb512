// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Records as scripts of packetdrill.
//!
//! Times are absolute. A segment that the kernel sent at once after something has one time. One that a timer sent has a range, which ends when the kernel
//! sent it and begins when a timer without the kernel's ticks could have expired: the kernel's timers are late by up to two
//! ticks, those of 64 ticks by up to ten, those of 512 by up to 66.

use std::fmt::Write as _;

use kneepoint::tcp::script::Ticks;
use kneepoint::units::Span;
use kneepoint_linux::player::plan::{MSS, Plan};
use kneepoint_linux::player::record::{Played, Record, Segment, What};

use super::generator::Case;

/// An event this soon after another is caused by it.
const AT_ONCE: Span = Span::from_millis(1);
const FLAGS: [(u8, char); 8] =
    [(2, 'S'), (1, 'F'), (4, 'R'), (8, 'P'), (64, 'E'), (128, 'W'), (32, 'U'), (16, '.')];

/// The script of a case as it was played.
pub fn text(case: &Case, played: &Played, kernel: &str) -> String {
    let mut text = head(case, played, kernel);
    let mut last: Option<(Span, Cause)> = None;
    let mut established = false;
    for Record { at, what } in &played.records {
        match what {
            What::Wrote(bytes) => {
                line(&mut text, &seconds(*at), &format!("write(4, ..., {bytes}) = {bytes}"));
                last = Some((*at, Cause::Event));
            }
            What::Inbound(segment) => {
                line(&mut text, &seconds(*at), &format!("< {}", inbound(segment, &played.plan)));
                last = Some((*at, Cause::Event));
                if segment.flags & 2 == 0 && !established {
                    established = true;
                    line(&mut text, "+0", "accept(3, ..., ...) = 4");
                }
            }
            What::Outbound(segment) => {
                let cause = cause(*at, last, played.ticks.every);
                let before = last.map_or(Span::ZERO, |(before, _)| before);
                line(&mut text, &time(*at, cause, before), &format!("> {}", outbound(segment, &played.plan)));
                last = Some((*at, cause));
            }
        }
    }
    text
}

/// The reason for a packet of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// An arrival or a write.
    Event,
    /// A timer expired, late by this much at most.
    Timer(Span),
}

fn cause(at: Span, last: Option<(Span, Cause)>, tick: Span) -> Cause {
    let Some((before, cause)) = last else { return Cause::Event };
    let pause = at.saturating_sub(before);
    if pause <= AT_ONCE {
        return cause;
    }
    let ticks = match pause.0 / tick.0 {
        0..64 => 2,
        64..512 => 10,
        _ => 66,
    };
    Cause::Timer(Span(ticks * tick.0))
}

/// The time of a segment; scripts do not go back to the time before the event before.
fn time(at: Span, cause: Cause, before: Span) -> String {
    match cause {
        Cause::Event => seconds(at),
        Cause::Timer(late) => format!("{}~{}", seconds(at.saturating_sub(late).max(before)), seconds(at)),
    }
}

fn seconds(at: Span) -> String {
    let micros = at.0 / 1000;
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

fn line(text: &mut String, time: &str, what: &str) {
    let _ = writeln!(text, "{time:>9} {what}");
}

fn head(case: &Case, played: &Played, kernel: &str) -> String {
    let plan = &played.plan;
    let (ticks, idle) = (played.ticks, u8::from(plan.restart_after_idle));
    let mut settings = vec![
        format!("net.ipv4.tcp_congestion_control={}", plan.controller),
        "net.ipv4.tcp_wmem=\"4096 4194304 4194304\"".into(),
        format!("net.ipv4.tcp_slow_start_after_idle={idle}"),
    ];
    if plan.ecn {
        settings.push("net.ipv4.tcp_ecn=2".into());
    }
    let settings: String = settings.iter().map(|one| format!("\nsysctl -q {one}")).collect();
    let features = if case.features.is_empty() { "nothing".into() } else { case.features.join("+") };
    format!(
        "// {}\n// seed {}, controller {}, features {features}; recorded from {kernel}, at most {} us late.\n\
         {}\n\
         `../common/defaults.sh{settings}`\n\n\
         0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
         +0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0\n\
         +0 bind(3, ..., ...) = 0\n\
         +0 listen(3, 1) = 0\n",
        case.name(),
        case.seed,
        plan.controller,
        played.late.0 / 1000,
        Ticks { every: ticks.every, first: ticks.first.after_start(), number: ticks.number.into() }.line(),
    )
}

fn flags(bits: u8) -> String {
    FLAGS.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, letter)| letter).collect()
}

fn range(segment: &Segment) -> String {
    let end = segment.seq.wrapping_add(segment.length);
    format!("{} {}:{end}({})", flags(segment.flags), segment.seq, segment.length)
}

fn stamps(segment: &Segment) -> Option<String> {
    segment.stamps.map(|(value, echo)| format!("TS val {value} ecr {echo}"))
}

/// The options of a SYN or of its answer.
fn opening(segment: &Segment, plan: &Plan, mss: u32, scale: u8) -> String {
    let sack = if plan.sack { "sackOK" } else { "nop,nop" };
    let middle = match stamps(segment) {
        Some(stamps) if plan.sack => format!("sackOK,{stamps}"),
        Some(stamps) => format!("nop,nop,{stamps}"),
        None => format!("nop,nop,{sack}"),
    };
    format!("<mss {mss},{middle},nop,wscale {scale}>")
}

fn inbound(segment: &Segment, plan: &Plan) -> String {
    if segment.flags & 2 != 0 {
        let mss = MSS + if plan.timestamps { 12 } else { 0 };
        let options = opening(segment, plan, mss, plan.scale);
        return format!("{} win {} {options}", range(segment), segment.window);
    }
    let mut options: Vec<String> =
        stamps(segment).map(|stamps| format!("nop,nop,{stamps}")).into_iter().collect();
    if !segment.blocks.is_empty() {
        let blocks: Vec<String> =
            segment.blocks.iter().map(|(first, end)| format!("{first}:{end}")).collect();
        options.push(format!("nop,nop,sack {}", blocks.join(" ")));
    }
    let options = if options.is_empty() { String::new() } else { format!(" <{}>", options.join(",")) };
    format!("{} ack {} win {}{options}", range(segment), segment.ack, segment.window)
}

fn outbound(segment: &Segment, plan: &Plan) -> String {
    let options = match (segment.flags & 2 != 0, stamps(segment)) {
        (true, _) => format!(" {}", opening(segment, plan, 1460, 8)),
        (false, Some(stamps)) => format!(" <nop,nop,{stamps}>"),
        (false, None) => String::new(),
    };
    format!("{} ack {}{options}", range(segment), segment.ack)
}

#[cfg(test)]
mod tests {
    use kneepoint_linux::player::record::Ticks;

    use super::super::features::FEATURES;
    use super::super::generator::{Choice, case};
    use super::*;

    fn segment(flags: u8, seq: u32, length: u32, ack: u32) -> Segment {
        Segment { flags, seq, length, ack, window: 8192, ..Segment::default() }
    }

    fn record(micros: u64, what: What) -> Record {
        Record { at: Span::from_micros(micros), what }
    }

    /// A handshake, data, a block and a retransmission by a timer.
    fn records() -> Vec<Record> {
        let blocks = vec![(1001, 2001)];
        vec![
            record(0, What::Inbound(segment(2, 0, 0, 0))),
            record(40, What::Outbound(segment(2 + 16, 0, 0, 1))),
            record(50_000, What::Inbound(segment(16, 1, 0, 1))),
            record(60_000, What::Wrote(2000)),
            record(60_020, What::Outbound(segment(8 + 16, 1, 2000, 1))),
            record(110_000, What::Inbound(Segment { blocks, ..segment(16, 1, 0, 1) })),
            record(140_000, What::Outbound(segment(16, 1, 1000, 1))),
            record(140_010, What::Outbound(segment(128 + 16, 1001, 1000, 1))),
            record(900_000, What::Outbound(segment(16, 1, 1000, 1))),
        ]
    }

    fn written() -> String {
        let choice =
            Choice { features: FEATURES.iter().collect(), controllers: vec!["reno".into()], together: 1 };
        let mut case = case(1, &choice);
        (case.plan.timestamps, case.plan.ecn) = (false, false);
        let ticks = Ticks { every: Span::from_millis(4), first: Span::from_micros(1500), number: 17 };
        let plan = case.plan.clone();
        let played = Played { plan, records: records(), late: Span::ZERO, ticks, failure: None };
        text(&case, &played, "Linux 6")
    }

    /// A line of an event as it was recorded: the time is the end of a range.
    fn read(line: &str) -> Option<Record> {
        let (when, event) = line.trim_start().split_once(' ')?;
        let (_, at) = when.split_once('~').unwrap_or((when, when));
        let at = Span(
            (at.strip_prefix("+").is_none().then(|| at.parse::<f64>().ok())?? * 1e6).round() as u64 * 1000,
        );
        if let Some(bytes) = event.strip_prefix("write(4, ..., ") {
            let what = What::Wrote(bytes.split(')').next()?.parse().ok()?);
            return Some(Record { at, what });
        }
        let words: Vec<&str> = event.split(' ').collect();
        let flags =
            words[1].chars().map(|c| FLAGS.iter().find(|(_, letter)| *letter == c).map_or(0, |flag| flag.0));
        let (range, length) = words.get(2)?.trim_end_matches(')').split_once('(')?;
        let number = |after: &str, otherwise: u32| {
            let place = words.iter().position(|word| *word == after);
            place.map_or(otherwise, |place| words[place + 1].parse().expect("a number"))
        };
        let blocks = event.split_once("sack ").map_or(Vec::new(), |(_, blocks)| {
            let block =
                |block: &str| block.split_once(':').map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap()));
            blocks.trim_end_matches('>').split(' ').filter_map(block).collect()
        });
        let segment = Segment {
            flags: flags.sum(),
            seq: range.split_once(':')?.0.parse().ok()?,
            length: length.parse().ok()?,
            ack: number("ack", 0),
            window: number("win", 8192) as u16,
            blocks,
            stamps: None,
        };
        let what = if words[0] == "<" { What::Inbound(segment) } else { What::Outbound(segment) };
        ["<", ">"].contains(&words[0]).then_some(Record { at, what })
    }

    #[test]
    fn what_is_written_reads_as_what_was_recorded() {
        let found: Vec<Record> = written().lines().filter_map(read).collect();
        assert_eq!(found, records());
    }

    #[test]
    fn what_a_timer_sent_has_a_range_that_ends_when_it_was_sent() {
        let text = written();
        let time = |event: &str| {
            let line = text.lines().rfind(|line| line.ends_with(event)).unwrap();
            line.trim_start().split(' ').next().unwrap().to_string()
        };
        assert_eq!(time("> P. 1:2001(2000) ack 1"), "0.060020");
        assert_eq!(time("> W. 1001:2001(1000) ack 1"), "0.140000~0.140010");
        assert_eq!(time("> . 1:1001(1000) ack 1"), "0.860000~0.900000");
    }

    #[test]
    fn our_sender_can_be_asked() {
        let script = kneepoint::tcp::script::parse(&written()).unwrap();
        assert!(script.len() >= records().len());
    }
}

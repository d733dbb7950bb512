// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Records as scripts of packetdrill.
//!
//! Times are absolute. A segment that the kernel sent at once after something has one time. One that a timer sent has a range, which ends when the kernel
//! sent it and begins when a timer without the kernel's ticks could have expired: the kernel's timers are late by up to two
//! ticks, those of 64 ticks by up to ten, those of 512 by up to 66.

use std::fmt::Write as _;

use kneepoint::units::Span;
use kneepoint_linux::player::plan::{MSS, Plan};
use kneepoint_linux::player::record::{Played, Record, Segment, What};

use super::generator::Case;

/// What follows something so soon follows from it.
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
                line(&mut text, &time(*at, cause), &format!("> {}", outbound(segment, &played.plan)));
                last = Some((*at, cause));
            }
        }
    }
    text
}

/// Why the kernel sends something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// Something arrived or was written.
    Event,
    /// A timer expired, late by so much at most.
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

fn time(at: Span, cause: Cause) -> String {
    match cause {
        Cause::Event => seconds(at),
        Cause::Timer(late) => format!("{}~{}", seconds(at.saturating_sub(late)), seconds(at)),
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
         // The kernel's ticks: every {} us, the first at {} us with the number {} modulo 4096.\n\
         `../common/defaults.sh{settings}`\n\n\
         0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
         +0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0\n\
         +0 bind(3, ..., ...) = 0\n\
         +0 listen(3, 1) = 0\n",
        case.name(),
        case.seed,
        plan.controller,
        played.late.0 / 1000,
        ticks.every.0 / 1000,
        ticks.first.0 / 1000,
        ticks.number,
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
    let mut options: Vec<String> = stamps(segment).map(|stamps| format!("nop,nop,{stamps}")).into_iter().collect();
    if !segment.blocks.is_empty() {
        let blocks: Vec<String> = segment.blocks.iter().map(|(first, end)| format!("{first}:{end}")).collect();
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

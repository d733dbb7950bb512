// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs a script: events at their times, and the first difference.

use std::collections::BTreeMap;
use std::ops::Range;

use super::evaluate::State;
use super::expression::{Expression, Statement};
use super::grammar::Tolerance;
use super::notation::packets;
use super::outcome::{Difference, Kind, Outcome, Row};
use super::plan::{Action, Expected};
use super::subject::{SegmentKind, Sent, Subject};
use super::{Script, Step};
use crate::packet::{Codepoint, Flags};
use crate::tcp::accecn::{ACE, Ecn};
use crate::units::{Span, Time};

/// Events shown before and after a difference.
const BEFORE: usize = 5;
const AFTER: usize = 3;

/// Packets shown where others were expected.
const PACKETS: usize = 4;

/// A difference, before the events around it are known.
struct Found {
    kind: Kind,
    at: Time,
    expected: String,
    seen: String,
    host: Vec<String>,
}

pub(super) struct Runner<'s> {
    script: &'s Script,
    host: Subject,
    /// The time of the previous event.
    last: Time,
    /// All events but the expected packets have happened.
    replayed: bool,
    /// Packets of the host that the script has seen.
    taken: usize,
    variables: BTreeMap<String, i64>,
    steps: Vec<Step>,
    /// The packets that each event took.
    took: Vec<Range<usize>>,
}

impl<'s> Runner<'s> {
    pub fn new(script: &'s Script, host: Subject) -> Runner<'s> {
        let count = script.plan.steps.len();
        Runner {
            script,
            host,
            last: Time::ZERO,
            replayed: false,
            taken: 0,
            variables: BTreeMap::new(),
            steps: Vec::with_capacity(count),
            took: Vec::with_capacity(count),
        }
    }

    /// Everything but the comparison of packets happened, at its time; the packets remain.
    pub fn replayed(mut self) -> Runner<'s> {
        for step in &self.script.plan.steps {
            let (from, to) = step.when.due(self.last);
            if let Action::Expect(expected) = &step.action {
                self.host.set_clock(expected, from);
                self.last = to;
                continue;
            }
            self.host.advance(from);
            self.last = from;
            self.act(&step.action);
        }
        let tolerance = self.script.tolerance.span;
        self.host.advance(self.last + tolerance);
        self.last = Time::ZERO;
        self.replayed = true;
        self
    }

    pub fn outcome(mut self) -> Outcome {
        for place in 0..self.script.plan.steps.len() {
            let before = self.taken;
            let done = self.step(place);
            let at = done.as_ref().map_or_else(|found| found.at, |()| self.last);
            self.steps.push(Step { line: self.script.line(place), at });
            self.took.push(before..self.taken);
            if let Err(found) = done {
                return self.differs(place, *found);
            }
        }
        Outcome { passed: true, steps: self.steps, difference: None }
    }

    fn step(&mut self, place: usize) -> Result<(), Box<Found>> {
        let script = self.script;
        let step = &script.plan.steps[place];
        let (from, to) = step.when.due(self.last);
        if let Action::Expect(expected) = &step.action {
            if self.replayed && self.is_answer(expected) {
                self.last = to;
                return Ok(());
            }
            return self.expect(expected, from, to);
        }
        if self.replayed {
            self.last = from;
            return Ok(());
        }
        self.host.advance(from);
        self.last = self.host.now;
        if let Action::Check(statements) = &step.action {
            self.check(statements)?;
        }
        self.act(&step.action);
        if self.host.is_restless() { Err(self.endless()) } else { Ok(()) }
    }

    fn act(&mut self, action: &Action) {
        match action {
            Action::Open => self.host.open(),
            Action::Opened { window, flags, codepoint } => {
                self.host.opened(*window, *flags, true);
                self.host.answer(*codepoint);
            }
            Action::OpenAgain { flags, codepoint } => self.host.open_again(*flags, *codepoint),
            Action::Confirm(codepoint) => self.host.confirm(*codepoint),
            Action::Arrive(arrival) => self.host.arrive(arrival),
            Action::Write(bytes) => self.host.write(*bytes),
            Action::Close => self.host.close(),
            Action::Check(_) | Action::Expect(_) | Action::Nothing => {}
        }
    }

    fn endless(&self) -> Box<Found> {
        Box::new(Found {
            kind: Kind::Endless,
            at: self.host.now,
            expected: "a host that waits".to_string(),
            seen: "one that sends or wakes up a million times".to_string(),
            host: Vec::new(),
        })
    }

    /// Whether a recorded packet only acknowledges, as kernels do for discarded packets, which no sender sends.
    fn is_answer(&self, expected: &Expected) -> bool {
        let bits = expected.bits;
        let seen = self.host.sent.get(self.taken);
        let probes = seen.is_some_and(|sent| {
            matches!(sent.kind, SegmentKind::Ack | SegmentKind::Probe) && sent.seq == expected.seq
        });
        expected.length == 0 && !bits.syn && !bits.fin && !probes
    }

    /// The host sends this, in one packet or in one for each segment.
    fn expect(&mut self, expected: &Expected, from: Time, to: Time) -> Result<(), Box<Found>> {
        let tolerance = tolerance(self.script.tolerance, from.since(self.last));
        let latest = Time(to.0.saturating_add(tolerance.0));
        let (first, mut seq) = (self.taken, expected.seq);
        loop {
            self.host.advance_to_packet(self.taken, latest);
            if self.host.is_restless() {
                return Err(self.endless());
            }
            let Some(sent) = self.host.sent.get(self.taken).copied() else {
                return Err(self.missing(first, seq, expected, from, latest));
            };
            if !fits(expected, &sent, seq) || !self.has_flags(expected, &sent) {
                return Err(self.other(first, expected, from));
            }
            if sent.at > latest || Time(sent.at.0.saturating_add(tolerance.0)) < from {
                return Err(self.untimely(first, expected, (from, to), tolerance));
            }
            self.taken += 1;
            seq += sent.length;
            self.host.set_clock(expected, sent.at);
            self.last = if self.replayed { to } else { self.host.now.max(self.last).max(sent.at) };
            let ends = if expected.bits.fin {
                sent.kind == SegmentKind::Fin
            } else {
                seq == expected.seq + expected.length
            };
            if ends {
                return self.judge_mark(first, expected, from);
            }
        }
    }

    /// Whether a packet has the flags of ECN, where the host negotiates by itself. In the classic mode those of data are judged later.
    fn has_flags(&self, expected: &Expected, sent: &Sent) -> bool {
        let ecn = self.script.plan.agreed.ecn;
        let later = ecn.mode != Ecn::Accurate && sent.kind != SegmentKind::Syn;
        !ecn.strict || later || sent.flags.and(ACE) == expected.bits.flags()
    }

    /// CWR is in the header of the first segment that a long packet is cut into.
    fn judge_mark(&self, first: usize, expected: &Expected, from: Time) -> Result<(), Box<Found>> {
        let group = &self.host.sent[first..self.taken];
        let reduced = group.iter().any(|sent| sent.flags.has(Flags::CWR));
        let counts = self.script.plan.agreed.ecn.mode == Ecn::Accurate;
        if expected.length == 0 || counts || reduced == expected.bits.reduced {
            return Ok(());
        }
        let (seen, host) = (self.next_shown(first), self.shown(first));
        Err(Box::new(Found { kind: Kind::Other, at: from, expected: described(expected), seen, host }))
    }

    fn missing(&self, first: usize, seq: u32, expected: &Expected, from: Time, latest: Time) -> Box<Found> {
        let until = match latest {
            Time::NEVER => "at any time".to_string(),
            latest => format!("until {:.6} s", latest.as_secs_f64()),
        };
        let seen = match seq > expected.seq {
            true => format!("nothing from byte {seq} on {until}"),
            false => format!("nothing {until}"),
        };
        let mut host = self.shown(first);
        host.push(seen.clone());
        Box::new(Found { kind: Kind::Missing, at: from, expected: described(expected), seen, host })
    }

    /// The next packet differs from the expected one, whose first part may have been sent.
    fn other(&self, first: usize, expected: &Expected, from: Time) -> Box<Found> {
        let seen = match first..self.taken {
            before if before.is_empty() => self.next_shown(first),
            before => {
                let part = packets(&self.host.sent[before.clone()], PACKETS);
                let part = part.into_iter().map(|(_, packet)| packet).collect::<Vec<_>>().join(", ");
                format!("{part}, then {}", self.next_shown(before.end))
            }
        };
        let host = self.shown(first);
        Box::new(Found { kind: Kind::Other, at: from, expected: described(expected), seen, host })
    }

    /// A packet of the host together with its continuations, and their time.
    fn next_shown(&self, place: usize) -> String {
        let next = packets(&self.host.sent[place..], 1).pop();
        next.map_or(String::new(), |(at, packet)| format!("{packet} at {:.6} s", at.as_secs_f64()))
    }

    fn untimely(
        &self,
        first: usize,
        expected: &Expected,
        (from, to): (Time, Time),
        tolerance: Span,
    ) -> Box<Found> {
        let range = if to > from { format!("~{:.6}", to.as_secs_f64()) } else { String::new() };
        let expected = format!(
            "{} at {:.6}{range} s, give or take {} ms",
            described(expected),
            from.as_secs_f64(),
            tolerance.as_millis_f64()
        );
        let (host, seen) = (self.shown(first), self.next_shown(self.taken));
        Box::new(Found { kind: Kind::Time, at: from, expected, seen, host })
    }

    /// The host's packets from this one on, with times.
    fn shown(&self, first: usize) -> Vec<String> {
        let sent = packets(&self.host.sent[first..], PACKETS);
        sent.into_iter().map(|(at, packet)| format!("{packet} at {:.6} s", at.as_secs_f64())).collect()
    }

    fn check(&mut self, statements: &[Statement]) -> Result<(), Box<Found>> {
        let info = self.host.info();
        let mss = self.script.plan.agreed.payload;
        for statement in statements {
            let state = State { info: &info, mss, variables: &self.variables };
            match statement {
                Statement::Assert(condition, place) => {
                    if state.value(condition).is_none_or(|value| value == 0) {
                        return Err(self.unmet(&state, condition, place));
                    }
                }
                Statement::Set(name, value) => {
                    if let Some(value) = state.value(value) {
                        self.variables.insert(name.clone(), value);
                    }
                }
            }
        }
        Ok(())
    }

    fn unmet(&self, state: &State, condition: &Expression, place: &Range<usize>) -> Box<Found> {
        let mut seen = Vec::new();
        state.named(condition, &mut seen);
        let expected = self.script.text[place.clone()].trim_start_matches("assert").trim().to_string();
        let host = seen.clone();
        Box::new(Found { kind: Kind::State, at: self.last, expected, seen: seen.join(", "), host })
    }

    fn differs(self, place: usize, found: Found) -> Outcome {
        let last = (place + AFTER + 1).min(self.script.plan.steps.len());
        let row = |step: usize| {
            let differs = step == place;
            let at = if differs { Some(found.at) } else { self.steps.get(step).map(|done| done.at) };
            let took = self.took.get(step).cloned().unwrap_or(0..0);
            let host = match differs {
                true => found.host.clone(),
                false => {
                    packets(&self.host.sent[took], PACKETS).into_iter().map(|(_, packet)| packet).collect()
                }
            };
            let script = self.script.event(step);
            Row { line: self.script.line(step), at, script, host, differs }
        };
        let rows = (place.saturating_sub(BEFORE)..last).map(row).collect();
        let Found { kind, at, expected, seen, .. } = found;
        let line = self.script.line(place);
        let difference = Difference { line, at, kind, expected, seen, rows };
        Outcome { passed: false, steps: self.steps, difference: Some(difference) }
    }
}

/// The greater of a span and a part of the time waited for.
fn tolerance(of: Tolerance, waited: Span) -> Span {
    of.span.max(Span((waited.0 as f64 * of.percent / 100.0) as u64))
}

/// Whether a packet is the next part of an expected one, whose bytes before `seq` were sent.
fn fits(expected: &Expected, sent: &Sent, seq: u32) -> bool {
    let end = expected.seq + expected.length;
    let kind = match sent.kind {
        SegmentKind::Syn => expected.bits.syn,
        SegmentKind::Data => !expected.bits.syn && seq < end && sent.seq + sent.length <= end,
        SegmentKind::Fin => expected.bits.fin && seq == end,
        SegmentKind::Ack | SegmentKind::Probe => {
            expected.length == 0 && !expected.bits.syn && !expected.bits.fin
        }
    };
    let capable = sent.flags.has(Flags::ECT);
    let codepoint = match expected.codepoint.filter(|_| sent.kind == SegmentKind::Data) {
        None => true,
        Some(Codepoint::NotCapable) => !capable,
        Some(Codepoint::Capable0) => capable && !sent.flags.has(Flags::SCALABLE),
        Some(Codepoint::Capable1) => capable && sent.flags.has(Flags::SCALABLE),
        Some(Codepoint::Marked) => false,
    };
    kind && codepoint && sent.seq == seq
}

/// An expected packet in the notation of scripts, without uncompared parts.
fn described(expected: &Expected) -> String {
    let Expected { seq, length, bits, codepoint, .. } = expected;
    let codepoint = match codepoint {
        Some(Codepoint::NotCapable) => "[noecn] ",
        Some(Codepoint::Capable0) => "[ect0] ",
        Some(Codepoint::Capable1) => "[ect1] ",
        Some(Codepoint::Marked) => "[ce] ",
        None => "",
    };
    let flag = |set: bool, letter: &'static str| if set { letter } else { "" };
    let flags = [
        flag(bits.syn, "S"),
        flag(bits.fin, "F"),
        flag(bits.echo, "E"),
        flag(bits.reduced, "W"),
        flag(bits.accurate, "A"),
        flag(bits.ack, "."),
    ];
    format!("> {codepoint}{} {seq}:{}({length})", flags.concat(), seq + length)
}

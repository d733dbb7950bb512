// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Converts a written script to an executable one: the opener of the connection, the result of its handshake, and
//! bytes as segments.

use std::ops::Range;

use super::bytes::Cuts;
use super::call::{Call, Does};
use super::ecn::Agreement;
use super::expression::Statement;
use super::grammar::{Event, What, Written};
use super::settings::{Settings, set_controller};
use super::time::When;
use super::wire::{Bits, TcpOptions, Wire};
use crate::fault::{Fault, Faults};
use crate::packet::{Block, Codepoint, Flags};
use crate::units::Span;

/// The result of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Agreed {
    /// Payload of a full segment.
    pub payload: u32,
    pub sack: bool,
    pub timestamps: bool,
    pub ecn: Agreement,
    /// Windows of the script are to be shifted so far.
    pub scale: u32,
    /// The host answers a SYN instead of sending the first.
    pub answers: bool,
}

/// An acknowledgement, in segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    pub ack: u32,
    pub blocks: [Block; 3],
    /// AE, CWR and ECE, and the number of marked bytes, if there is one.
    pub flags: Flags,
    pub marked: Option<u32>,
    pub codepoint: Codepoint,
    /// The receive window in bytes.
    pub window: Option<u64>,
    /// Its timestamp, and the one that it echoes.
    pub stamp: Option<(u32, u32)>,
    pub fin: bool,
}

/// A packet that the host should send, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expected {
    pub seq: u32,
    pub length: u32,
    pub bits: Bits,
    pub codepoint: Option<Codepoint>,
    /// Its timestamp.
    pub stamp: Option<u32>,
}

/// An event of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// The host opens the connection, or answers the packet that does.
    Open,
    /// It answers the second packet of the handshake, which offers a window of this many bytes, and has opened.
    Opened { window: Option<u64>, flags: Flags, codepoint: Codepoint },
    /// The SYN arrives once more, and is answered.
    OpenAgain { flags: Flags, codepoint: Codepoint },
    /// The answer to the host's SYN, with this codepoint, arrives once more, and is acknowledged.
    Confirm(Codepoint),
    /// The script acknowledges.
    Arrive(Arrival),
    /// The host sends.
    Expect(Expected),
    /// Bytes to send.
    Write(u32),
    /// No further writes.
    Close,
    /// The state is as it should be.
    Check(Vec<Statement>),
    /// Nothing that the sender would notice.
    Nothing,
}

/// A step of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub when: When,
    pub place: Range<usize>,
    pub action: Action,
}

/// A script, and the host that it requires.
pub(super) struct Plan {
    pub steps: Vec<Step>,
    pub agreed: Agreed,
    pub settings: Settings,
}

/// More data than this has sequence numbers that wrap.
const MOST_BYTES: u32 = 1 << 30;

pub(super) fn plan(written: Written, faults: &mut Faults) -> Option<Plan> {
    let Written { events, settings, .. } = written;
    let agreed = match agreement(&events, &settings) {
        Ok(agreed) => agreed,
        Err(fault) => {
            faults.take(fault);
            return None;
        }
    };
    let mut planner = Planner {
        agreed,
        settings,
        stage: Stage::Closed,
        descriptor: None,
        cuts: Cuts::new(agreed.payload),
        closed: false,
    };
    let mut steps = Vec::with_capacity(events.len());
    let mut ends = Span::ZERO;
    for Event { when, place, what } in events {
        let Some(latest) = when.latest(ends) else {
            faults.add_with_help(&place, "the script lasts longer than a year", "shorten its times");
            return None;
        };
        ends = latest;
        match planner.action(what, &place) {
            Ok(action) => steps.push(Step { when, place, action }),
            Err(fault) => faults.take(fault),
        }
    }
    Some(Plan { steps, agreed, settings: planner.settings })
}

/// The segment size of a host that announces none (RFC 9293 §3.7.1).
const SMALLEST_MSS: u32 = 536;

/// The options agreed by the first two packets.
fn agreement(events: &[Event], settings: &Settings) -> Result<Agreed, Fault> {
    let syn = |inbound| {
        events.iter().find_map(|event| match &event.what {
            What::Packet(wire) if wire.bits.syn && wire.inbound == inbound => Some((wire, &event.place)),
            _ => None,
        })
    };
    let (Some((theirs, place)), Some((ours, _))) = (syn(true), syn(false)) else {
        let place = events.first().map_or(0..0, |event| event.place.clone());
        let help = "begin with `< S`, `> S.` and `< .`, or with a `connect`, `> S` and `< S.`";
        return Err(Fault::at(place, "the script has no handshake", help));
    };
    let mss = |options: &TcpOptions| options.mss.unwrap_or(if options.any { u32::MAX } else { SMALLEST_MSS });
    let both = |of: fn(&TcpOptions) -> bool, otherwise: bool| {
        of(&theirs.options) && (of(&ours.options) || ours.options.any && otherwise)
    };
    let timestamps = both(|options| options.stamp.is_some(), settings.timestamps);
    let scaled = both(|options| options.scale.is_some(), true);
    let (asks, answers) = if theirs.bits.ack { (ours, theirs) } else { (theirs, ours) };
    let ecn = Agreement::of(settings.ecn, asks, answers);
    let payload =
        mss(&theirs.options).min(mss(&ours.options)).saturating_sub(if timestamps { 12 } else { 0 });
    if !(8..=60_000).contains(&payload) {
        let message = format!("the handshake agrees on segments of {payload} bytes");
        return Err(Fault::at(
            place.clone(),
            message,
            "write an mss from 20 to 60000, as in `<mss 1000,sackOK>`",
        ));
    }
    Ok(Agreed {
        payload,
        sack: both(|options| options.sack_ok, settings.sack),
        timestamps,
        ecn,
        scale: if scaled { theirs.options.scale.unwrap_or(0) } else { 0 },
        answers: !theirs.bits.ack,
    })
}

/// A packet behind a reset.
fn was_reset(place: &Range<usize>) -> Fault {
    let help = "end the script with the reset: the simulated host forgets the connection";
    Fault::at(place.clone(), "the connection was reset", help)
}

/// The progress of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Closed,
    Opening,
    Open,
    Reset,
}

struct Planner {
    agreed: Agreed,
    settings: Settings,
    stage: Stage,
    /// The descriptor of the connection.
    descriptor: Option<i64>,
    cuts: Cuts,
    closed: bool,
}

impl Planner {
    fn action(&mut self, what: What, place: &Range<usize>) -> Result<Action, Fault> {
        match what {
            What::Packet(wire) if wire.inbound => self.inbound(&wire, place),
            What::Packet(wire) => self.outbound(&wire, place),
            What::Call(call) => self.call(&call),
            What::Code(statements) => {
                if self.stage == Stage::Closed
                    && statements.iter().any(|one| matches!(one, Statement::Assert(..)))
                {
                    let message = "there is no connection yet whose state could be asserted";
                    return Err(Fault::at(place.clone(), message, "assert behind the handshake"));
                }
                Ok(Action::Check(statements))
            }
            What::Shell => Ok(Action::Nothing),
        }
    }

    fn inbound(&mut self, wire: &Wire, place: &Range<usize>) -> Result<Action, Fault> {
        if wire.length > 0 {
            let message = format!("data to the host, {} bytes of it, is outside the subset", wire.length);
            let help = "write `1:1(0)`: the simulated host sends, and the script receives";
            return Err(Fault::at(wire.extent.clone(), message, help));
        }
        if wire.bits.reset && self.stage != Stage::Closed {
            self.stage = Stage::Reset;
            return Ok(Action::Nothing);
        }
        let (flags, codepoint) = (wire.bits.flags(), wire.codepoint.unwrap_or(Codepoint::NotCapable));
        match (wire.bits.syn, self.stage, wire.bits.ack) {
            (_, Stage::Reset, _) => Err(was_reset(place)),
            (true, Stage::Opening, false) if self.agreed.answers => {
                Ok(Action::OpenAgain { flags, codepoint })
            }
            (true, Stage::Open, true) if !self.agreed.answers => Ok(Action::Confirm(codepoint)),
            (true, Stage::Closed, false) => {
                self.stage = Stage::Opening;
                Ok(Action::Open)
            }
            (true, Stage::Opening, true) => {
                self.stage = Stage::Open;
                // RFC 7323 §2.2: the window of a SYN is not scaled.
                Ok(Action::Opened { window: wire.window.map(u64::from), flags, codepoint })
            }
            (true, ..) => {
                let help =
                    "leave it out: a script has one connection, opened by `< S` or by `connect` and `< S.`";
                Err(Fault::at(place.clone(), "this SYN opens nothing", help))
            }
            (false, Stage::Closed, _) => {
                let help = "open the connection first, by `< S` or by `connect`";
                Err(Fault::at(place.clone(), "there is no connection yet", help))
            }
            _ => {
                self.stage = Stage::Open;
                self.arrival(wire, place).map(Action::Arrive)
            }
        }
    }

    fn arrival(&self, wire: &Wire, place: &Range<usize>) -> Result<Arrival, Fault> {
        let Some((ack, at)) = &wire.ack else {
            return Err(Fault::at(place.clone(), "the packet acknowledges nothing", "add `ack NUMBER`"));
        };
        let mut blocks = [(0, 0); 3];
        if let Some((.., fourth)) = wire.options.sack.get(3) {
            let help = "keep the first three: more do not fit with timestamps";
            return Err(Fault::at(fourth.clone(), "a fourth block is outside the subset", help));
        }
        for (block, (first, end, written)) in blocks.iter_mut().zip(&wire.options.sack) {
            *block = if first < ack {
                // D-SACK (RFC 2883).
                (self.segment("the block", *first, written)?, self.segment("the block", *end, written)?)
            } else {
                self.whole_segments(*first, *end)
            };
        }
        Ok(Arrival {
            ack: self.segment("the acknowledgement", *ack, at)?,
            blocks,
            flags: wire.bits.flags(),
            marked: wire.options.marked,
            codepoint: wire.codepoint.unwrap_or(Codepoint::NotCapable),
            window: wire.window.map(|window| u64::from(window) << self.agreed.scale),
            stamp: wire.options.stamp,
            fin: wire.bits.fin,
        })
    }

    /// The segments that a block contains whole: Linux, too, takes a segment for outstanding of which only a part arrived.
    fn whole_segments(&self, first: u32, end: u32) -> (u32, u32) {
        let end = if self.closed && end == self.cuts.written() + 2 { end - 1 } else { end };
        self.cuts.whole(first.saturating_sub(1), end.saturating_sub(1))
    }

    /// The segment that begins at a byte.
    fn segment(&self, what: &str, byte: u32, place: &Range<usize>) -> Result<u32, Fault> {
        // The FIN has its own number.
        let byte = if self.closed && byte == self.cuts.written() + 2 { byte - 1 } else { byte };
        let payload = self.agreed.payload;
        let (lower, upper) = match byte.checked_sub(1).map(|before| self.cuts.segment(before)) {
            Some(Ok(segment)) => return Ok(segment),
            Some(Err(around)) => around,
            None => (0, payload),
        };
        let message = format!("{what} is at byte {byte}, inside a segment: segments are of {payload} bytes");
        let (lower, upper) = (lower + 1, upper.saturating_add(1));
        let help = format!("write {lower} or {upper}: the subset has whole segments");
        Err(Fault::at(place.clone(), message, help))
    }

    fn outbound(&mut self, wire: &Wire, place: &Range<usize>) -> Result<Action, Fault> {
        if self.stage == Stage::Closed {
            let help = "open the connection first, by `< S` or by `connect`";
            return Err(Fault::at(place.clone(), "the host has no connection to send on", help));
        }
        if self.stage == Stage::Reset {
            return Err(was_reset(place));
        }
        if wire.bits.reset {
            let help = "leave it out: the simulated host resets nothing";
            return Err(Fault::at(place.clone(), "a reset by the host is outside the subset", help));
        }
        if wire.length > 0 {
            if wire.bits.syn {
                let help = "leave the data out";
                return Err(Fault::at(wire.extent.clone(), "data in a SYN is outside the subset", help));
            }
            self.segment("the packet", wire.seq, &wire.extent)?;
            self.segment("the end of the packet", wire.end(), &wire.extent)?;
        }
        Ok(Action::Expect(Expected {
            seq: wire.seq,
            length: wire.length,
            bits: wire.bits,
            codepoint: wire.codepoint,
            stamp: wire.options.stamp.map(|(value, _)| value),
        }))
    }

    fn call(&mut self, call: &Call) -> Result<Action, Fault> {
        let ours = self.descriptor.is_some() && call.number(0) == self.descriptor;
        match call.does {
            Does::Accept => self.accept(call),
            Does::Connect => self.connect(call),
            Does::Write(count) => self.write(call, count, ours),
            Does::Close if ours => Ok(self.close()),
            Does::Shutdown if ours => match call.arguments.get(1).map(String::as_str) {
                Some("SHUT_WR" | "SHUT_RDWR") => Ok(self.close()),
                _ => {
                    let help = "write `SHUT_WR`: the simulated host only sends";
                    Err(Fault::at(call.place.clone(), "this shutdown is outside the subset", help))
                }
            },
            Does::Option if call.arguments.get(2).is_some_and(|name| name == "TCP_CONGESTION") => {
                self.choose_controller(call)
            }
            _ => Ok(Action::Nothing),
        }
    }

    fn choose_controller(&mut self, call: &Call) -> Result<Action, Fault> {
        if self.cuts.written() > 0 {
            let help = "set it before the first write";
            return Err(Fault::at(call.place.clone(), "the controller changes while data is sent", help));
        }
        let name = call.arguments.get(3).map_or("", |name| name.trim_matches(['[', ']', '"', ' ']));
        let refused = |(message, help)| Fault::at(call.place.clone(), message, help);
        set_controller(&mut self.settings, name).map_err(refused)?;
        Ok(Action::Nothing)
    }

    fn accept(&mut self, call: &Call) -> Result<Action, Fault> {
        let descriptor = call.result.filter(|descriptor| *descriptor >= 0 && self.descriptor.is_none());
        if descriptor.is_none() {
            let help = "accept the one connection of the script once, with its descriptor as the result";
            return Err(Fault::at(call.place.clone(), "this accept opens nothing", help));
        }
        self.descriptor = descriptor;
        Ok(Action::Nothing)
    }

    fn connect(&mut self, call: &Call) -> Result<Action, Fault> {
        if self.agreed.answers {
            let help = "leave the `connect` or the `< S` out";
            return Err(Fault::at(call.place.clone(), "both hosts open the connection", help));
        }
        if self.stage == Stage::Closed && self.descriptor.is_none() {
            self.descriptor = call.number(0);
            self.stage = Stage::Opening;
            return Ok(Action::Open);
        }
        // Asks a second time how far the connection is.
        match call.number(0) == self.descriptor {
            true => Ok(Action::Nothing),
            false => {
                let help = "leave it out: a script has one connection";
                Err(Fault::at(call.place.clone(), "this connect opens a second connection", help))
            }
        }
    }

    fn write(&mut self, call: &Call, count: usize, ours: bool) -> Result<Action, Fault> {
        let fault = |message: String, help: String| Err(Fault::at(call.place.clone(), message, help));
        if !ours || self.closed {
            let help =
                "write to the descriptor that `accept` returned or `connect` opened, before it is closed";
            return fault("this write has no connection".to_string(), help.to_string());
        }
        let asked = call.number(count).filter(|asked| (0..i64::from(MOST_BYTES)).contains(asked));
        let Some(bytes) =
            asked.map(|asked| asked as u32).filter(|bytes| self.cuts.written() + bytes < MOST_BYTES)
        else {
            let message = "the size of this write is not a number, or there is too much to send".to_string();
            return fault(
                message,
                format!("write numbers of bytes, less than {MOST_BYTES} of them together"),
            );
        };
        if call.result != Some(i64::from(bytes)) {
            let message = "a write that does not take all its data is outside the subset".to_string();
            return fault(
                message,
                format!("write `= {bytes}`: the simulated host has no limit on its buffer"),
            );
        }
        self.cuts.write(bytes);
        Ok(Action::Write(bytes))
    }

    fn close(&mut self) -> Action {
        self.closed = true;
        Action::Close
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Scripts of packetdrill that test a sender: arriving packets, the packets that it must send with their times, and its
//! state.
//!
//! ```
//! use kneepoint_sim::tcp::script;
//!
//! let text = "
//!     0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
//!    +0 bind(3, ..., ...) = 0
//!    +0 listen(3, 1) = 0
//!    +0 < S 0:0(0) win 65535 <mss 1000,nop,nop,sackOK,nop,wscale 8>
//!    +0 > S. 0:0(0) ack 1 <...>
//!   +.1 < . 1:1(0) ack 1 win 1000
//!    +0 accept(3, ..., ...) = 4
//!    +0 write(4, ..., 3000) = 3000
//!    +0 > P. 1:3001(3000) ack 1
//!   +.1 < . 1:1(0) ack 3001 win 1000
//!    +0 %{ assert tcpi_snd_cwnd == 10 and tcpi_unacked == 0 }%
//! ";
//! let script = script::parse(text).map_err(|faults| faults[0].to_string())?;
//! let outcome = script.run();
//! assert!(outcome.passed, "{}", outcome.difference.unwrap());
//! # Ok::<(), String>(())
//! ```
//!
//! ```text
//! text ─grammar→ events in bytes ─plan→ steps in segments ─run→ outcome
//!      wire call time expression shell
//! ```
//!
//! The host sends, and the script receives: data to the host, sockets that are polled, and connections other than one are refused
//! by name, and so is everything that is not a whole segment. docs/drill.md has the subset as a table.
//!
//! Readings: a packet of several segments is compared segment by segment, so how segments are gathered for the device is
//! left open. PSH, acknowledgement numbers, windows and options of the host's packets are not compared. Packets that the script
//! does not expect are noticed at the next one that it does, as packetdrill does.

mod bytes;
mod call;
mod cursor;
mod ecn;
mod evaluate;
mod expression;
mod fields;
mod grammar;
mod inbound;
mod notation;
mod outcome;
mod plan;
mod run;
mod settings;
mod shell;
mod subject;
mod ticks;
mod time;
mod wire;

pub use outcome::{Difference, Kind, Outcome, Row, Step};
pub use ticks::Ticks;

use std::collections::VecDeque;

use crate::cc;
use crate::fault::{Fault, Faults};
use crate::tcp::Options;
use crate::units::{Bytes, Time};
use grammar::Tolerance;
use plan::{Action, Plan};

/// A script that can be run.
pub struct Script {
    text: String,
    /// The beginnings of its lines.
    lines: Vec<usize>,
    plan: Plan,
    tolerance: Tolerance,
    ticks: Option<Ticks>,
    recorded: bool,
}

/// A longer text is not a hand-written script.
const LONGEST: usize = 1 << 20;

/// Reads a script, or gives every fault with its place and remedy.
pub fn parse(text: &str) -> Result<Script, Vec<Fault>> {
    let mut faults = Faults::default();
    if text.len() > LONGEST {
        faults.add_with_help(&(0..0), "the script is longer than a megabyte", "split it");
        return Err(faults.finish(text));
    }
    let written = grammar::read(text, &mut faults);
    let tolerance = written.tolerance;
    let plan = if faults.is_empty() { plan::plan(written, &mut faults) } else { None };
    match plan {
        Some(plan) if faults.is_empty() => {
            let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
            Ok(Script { text: text.to_string(), lines, plan, tolerance, ticks: None, recorded: false })
        }
        _ => Err(faults.finish(text)),
    }
}

impl Script {
    /// The options of the host that the script asks for: Linux's, with changes by its settings and its handshake.
    pub fn options(&self) -> Options {
        let agreed = self.plan.agreed;
        let options = self.plan.settings.options(agreed.sack, agreed.timestamps, agreed.ecn.host);
        Options { payload: Bytes(agreed.payload.into()), handshake: true, ..options }
    }

    /// The requested controller.
    pub fn controller(&self) -> &cc::Config {
        &self.plan.settings.cc
    }

    /// The same on a machine whose timers expire at these ticks; without, they are exact. The host must not pace: its timers of that
    /// are exact on every machine.
    #[must_use]
    pub fn ticking(self, ticks: Ticks) -> Script {
        Script { ticks: Some(ticks), ..self }
    }

    /// The same as a record of events: they occur at their times, regardless of what the host has sent by then, and packets are
    /// compared afterwards. A host that sends with the next acknowledgement what the recorded one sent with this one thus agrees with
    /// it within the tolerance.
    #[must_use]
    pub fn recorded(self) -> Script {
        Script { recorded: true, ..self }
    }

    /// Runs it on the requested host.
    pub fn run(&self) -> Outcome {
        self.run_on(self.options(), self.controller())
    }

    /// Runs it on a host with these options, but for the payload of segments, which its handshake gives.
    pub fn run_on(&self, options: Options, controller: &cc::Config) -> Outcome {
        let payload = Bytes(self.plan.agreed.payload.into());
        let options = Options { payload, handshake: true, handshake_rounds: 1, ..options };
        let host = subject::Subject::new(options, self.plan.agreed, controller, self.ticks);
        match self.recorded {
            true => run::Runner::new(self, host.following(self.expiries())).replayed().outcome(),
            false => run::Runner::new(self, host).outcome(),
        }
    }

    /// The expiry of timers: the ends of the ranges in which packets are expected.
    fn expiries(&self) -> VecDeque<Time> {
        let ranges = self.plan.steps.iter().filter(|step| matches!(step.action, Action::Expect(_)));
        let ends =
            ranges.map(|step| step.when.due(Time::ZERO)).filter(|(from, to)| from < to && *to != Time::NEVER);
        ends.map(|(_, to)| to).collect()
    }

    /// The number of its events.
    pub fn len(&self) -> usize {
        self.plan.steps.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.plan.steps.is_empty()
    }

    /// The line of an event, from 1.
    fn line(&self, step: usize) -> usize {
        self.lines.partition_point(|begin| *begin <= self.plan.steps[step].place.start)
    }

    /// An event as written, without its time, on one line.
    fn event(&self, step: usize) -> String {
        let text = &self.text[self.plan.steps[step].place.clone()];
        let when = |c: char| c.is_ascii_digit() || c.is_whitespace() || "+.~*".contains(c);
        text.trim_start_matches(when).split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The trace of a flow of a simulation.
//!
//! Made from the events that observers of a run receive: acknowledgements, packets sent, recovery. They do not receive
//! whether the window limits the sender, so in a trace every packet acknowledged outside recovery counts for growth.
//! They do not receive random draws
//! either: a trace has its own.

use crate::rng::Rng;
use crate::spec::{Roster, Valid};
use crate::trace::{Event, FlowId, Observer};
use crate::units::{Bytes, Time};

use super::trace::{Heard, Signal, Step};

/// The packets by which an acknowledgement may grow the window: at most the number that a delayed acknowledgement
/// covers.
const CREDIT: u32 = 2;

/// Records one flow.
#[derive(Debug)]
pub struct Recorder {
    flow: FlowId,
    payload: Bytes,
    rng: Rng,
    steps: Vec<Step>,
    una: u64,
    next: u64,
    /// A recovery episode lasts until this is acknowledged.
    repaired: u64,
    window: f64,
}

impl Recorder {
    /// Records this flow of `valid`; none where it has no connection before the run.
    pub fn new(valid: &Valid, flow: FlowId) -> Option<Recorder> {
        let slot = Roster::new(valid).slot(flow)?;
        let tcp = valid.groups().get(slot.group)?.tcp.as_ref()?;
        let window = tcp.initial_window;
        Some(Recorder {
            flow,
            payload: tcp.payload,
            rng: Rng::stream(1, "recording", u64::from(flow.0)),
            steps: vec![Step { at: Time::ZERO, signal: Signal::Open { window } }],
            una: 0,
            next: 0,
            repaired: 0,
            window,
        })
    }

    /// The steps so far.
    pub fn finish(self) -> Vec<Step> {
        self.steps
    }
}

impl Observer for Recorder {
    fn on(&mut self, at: Time, event: &Event) {
        let signal = match event {
            Event::Sent { packet, .. } if packet.flow == self.flow.0 => {
                self.next = self.next.max(u64::from(packet.seq) + 1);
                return;
            }
            Event::Acked { flow, acked, rtt, window, .. } if *flow == self.flow => {
                let acked = acked.0.div_ceil(self.payload.0.max(1)) as u32;
                self.una += u64::from(acked);
                self.next = self.next.max(self.una);
                self.window = *window;
                let recovering = self.una < self.repaired;
                Signal::Ack(Heard {
                    rtt: *rtt,
                    acked,
                    credit: if recovering { 0 } else { acked.min(CREDIT) },
                    una: self.una,
                    next: self.next,
                    in_flight: (self.next - self.una) as u32,
                    recovering,
                    draw: self.rng.uniform(),
                    delivered: self.una,
                    resent: 0,
                    limited: false,
                })
            }
            Event::Repair { flow, timeout } if *flow == self.flow => {
                let (flight, next) = (self.window.max(1.0), self.next);
                let reported = self.una < self.repaired;
                self.repaired = next;
                if *timeout {
                    Signal::Timeout { flight, next, reported }
                } else {
                    Signal::Loss { flight, una: self.una, next }
                }
            }
            _ => return,
        };
        self.steps.push(Step { at, signal });
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A trial of a controller before it is an algorithm: some round trips, losses, marks, a timeout, an undo and an idle time.

use kneepoint::cc::external::Object;
use kneepoint::cc::{Ack, Cause, Ecn, Loss, Resize, Start, Timeout};
use kneepoint::rng::Rng;
use kneepoint::units::{Span, Time};

use crate::flow::{Fault, Flow, usable};
use crate::table::{Checked, Refused};

const RTT: Span = Span::from_millis(50);
/// Round trips between two events.
const ROUNDS: u32 = 8;
/// The window that a fresh connection has.
const WINDOW: f64 = 10.0;
/// Acknowledgements of a round trip, however large the window.
const MOST: f64 = 1000.0;

/// A flow that is asked after each signal.
struct Trial {
    flow: Flow,
    now: Time,
    una: u64,
    next: u64,
    rng: Rng,
}

/// Whether every answer is one that a host can use.
pub(crate) fn passes(table: &Checked) -> Result<(), Refused> {
    let mut trial = Trial {
        flow: Flow::new(*table, Start::new(WINDOW), Fault::default()),
        now: Time::ZERO,
        una: 0,
        next: 0,
        rng: Rng::stream(1, "trial", 0),
    };
    let asked = |tried: &Trial, signal| {
        let answer = tried.flow.answer();
        usable(answer).map(drop).ok_or(Refused::Answer(table.name, answer.to_string(), signal))
    };
    asked(&trial, "open")?;
    for (signal, event) in EVENTS {
        for _ in 0..ROUNDS {
            trial.round_trip();
            asked(&trial, "an acknowledgement")?;
        }
        event(&mut trial);
        asked(&trial, signal)?;
    }
    Ok(())
}

type Happens = fn(&mut Trial);

/// The events, in their order.
const EVENTS: [(&str, Happens); 7] = [
    ("a loss", Trial::loss),
    ("an undone loss", Trial::undo),
    ("a mark", Trial::mark),
    ("a timeout", |trial| trial.timeout(false)),
    ("a timeout after a reported loss", |trial| {
        trial.loss();
        trial.timeout(true);
    }),
    ("an idle time", Trial::idle),
    ("a loss after an idle time", Trial::loss),
];

impl Trial {
    fn window(&self) -> f64 {
        self.flow.control().window
    }

    fn round_trip(&mut self) {
        let packets = self.window().min(MOST) as u64;
        for _ in 0..packets {
            self.now += Span(RTT.0 / packets);
            self.una += 1;
            self.next = self.next.max(self.una + self.window() as u64);
            let ack = Ack {
                now: self.now,
                rtt: Some(RTT),
                one_way: None,
                acked: 1,
                delivered: self.una,
                resent: 0,
                marked: u32::from(self.una.is_multiple_of(7)),
                credit: 1.0,
                limited: false,
                una: self.una,
                next: self.next,
                in_flight: (self.next - self.una) as u32,
                recovering: false,
            };
            self.flow.on_ack(&ack, &mut self.rng);
        }
    }

    fn loss(&mut self) {
        let loss = Loss { now: self.now, flight: self.window(), una: self.una, next: self.next };
        self.flow.on_loss(&loss);
    }

    fn undo(&mut self) {
        let window = self.window();
        self.loss();
        let resize = Resize { now: self.now, window, threshold: f64::INFINITY, cause: Cause::Undo };
        self.flow.on_resize(&resize);
    }

    fn mark(&mut self) {
        self.flow.on_ecn(&Ecn { now: self.now, flight: self.window(), next: self.next });
    }

    fn timeout(&mut self, reported: bool) {
        let timeout = Timeout { now: self.now, flight: self.window(), reported, next: self.next };
        self.flow.on_timeout(&timeout);
    }

    fn idle(&mut self) {
        let idle = Span::from_secs(10);
        self.now += idle;
        self.flow.on_resume(self.now, idle);
    }
}

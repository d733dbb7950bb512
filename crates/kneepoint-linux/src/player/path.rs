// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The path: which transmissions arrive, and when.

use kneepoint::rng::Rng;
use kneepoint::units::{Span, Time};

use super::plan::{Impairment, Plan, Transmission};
use super::receiver::Piece;

#[derive(Clone, Debug)]
pub(super) struct Path {
    rtt: Span,
    jitter: Span,
    spacing: Span,
    queue: u32,
    impairments: Vec<Impairment>,
    /// Transmissions so far, by segment.
    sent: Vec<u32>,
    /// The time at which the bottleneck becomes idle.
    free: Time,
    /// The latest arrival in order.
    last: Time,
    rng: Rng,
    acks: u32,
}

impl Path {
    pub fn new(plan: &Plan) -> Path {
        Path {
            rtt: plan.rtt,
            jitter: plan.jitter,
            spacing: plan.spacing,
            queue: plan.queue,
            impairments: plan.impairments.clone(),
            sent: Vec::new(),
            free: Time::ZERO,
            last: Time::ZERO,
            rng: Rng::stream(plan.seed, "path jitter", 0),
            acks: 0,
        }
    }

    /// The arrivals of a segment that leaves now, with their states: none, one or more.
    pub fn carry(&mut self, now: Time, mut piece: Piece) -> Vec<(Time, Piece)> {
        let which = self.count(piece.number());
        let mut arrivals = Vec::new();
        let Some(at) = self.through(now) else { return arrivals };
        let (mut lost, mut late, mut again) = (false, None, None);
        for impairment in &self.impairments {
            match impairment {
                Impairment::Loss(one) if *one == which => lost = true,
                Impairment::Late(one, by) if *one == which => late = Some(*by),
                Impairment::Twice(one, after) if *one == which => again = Some(*after),
                Impairment::Mark(one) if *one == which => piece.marked = true,
                _ => {}
            }
        }
        if lost {
            return arrivals;
        }
        let at = match late {
            Some(by) => at + by,
            None => {
                self.last = self.last.max(at);
                self.last
            }
        };
        arrivals.push((at, piece));
        arrivals.extend(again.map(|after| (at + after, piece)));
        arrivals
    }

    fn count(&mut self, segment: u32) -> Transmission {
        let place = segment as usize;
        if self.sent.len() <= place {
            self.sent.resize(place + 1, 0);
        }
        let nth = self.sent[place];
        self.sent[place] += 1;
        Transmission { segment, nth }
    }

    /// The arrival of a packet that leaves now and finds room at the bottleneck.
    fn through(&mut self, now: Time) -> Option<Time> {
        let jitter = Span((self.jitter.0 as f64 * self.rng.uniform()) as u64);
        let begins = self.free.max(now);
        if self.spacing > Span::ZERO {
            if begins.since(now).0 > u64::from(self.queue) * self.spacing.0 {
                return None;
            }
            self.free = begins + self.spacing;
        }
        Some(begins + self.spacing + self.rtt + jitter)
    }

    /// The extra delay of the next acknowledgement; none where it is lost.
    pub fn answer(&mut self) -> Option<Span> {
        let number = self.acks;
        self.acks += 1;
        let mut late = Span::ZERO;
        for impairment in &self.impairments {
            match impairment {
                Impairment::LostAck(one) if *one == number => return None,
                Impairment::LateAck(one, by) if *one == number => late = *by,
                _ => {}
            }
        }
        Some(late)
    }
}

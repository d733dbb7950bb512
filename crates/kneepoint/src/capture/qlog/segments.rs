// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Packets, whose numbers are never used again, as segments that are repaired: what a sender with TCP's recovery can be led through.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::exchange::Logged;
use crate::capture::{Happened, Step};
use crate::units::Time;

/// Blocks of an acknowledgement.
const BLOCKS: usize = 3;

/// A packet that was not acknowledged.
#[derive(Clone, Copy)]
struct Packet {
    segment: u32,
    sent: Time,
}

/// Acknowledgements that bytes in flight tell of.
struct Derived {
    /// Packets that are declared lost sooner or later.
    lost: BTreeSet<u64>,
    /// The others in the order of their sending, with their bytes.
    open: VecDeque<(Option<u64>, u64)>,
    /// Bytes that left flight beyond whole packets.
    rest: u64,
}

impl Derived {
    fn send(&mut self, number: Option<u64>, bytes: u64) {
        if !number.is_some_and(|number| self.lost.contains(&number)) {
            self.open.push_back((number, bytes));
        }
    }

    /// The packets that left: most of their bytes did.
    fn leave(&mut self, bytes: u64) -> Vec<u64> {
        self.rest = self.rest.saturating_add(bytes);
        let mut left = Vec::new();
        while let Some(&(number, size)) = self.open.front().filter(|(_, size)| self.rest >= size.div_ceil(2))
        {
            self.open.pop_front();
            self.rest = self.rest.saturating_sub(size);
            left.extend(number);
        }
        if self.open.is_empty() {
            self.rest = 0;
        }
        left
    }
}

/// The steps of a course, as the events of a log make them.
pub(super) struct Segments {
    /// Bytes of the packet that begins the course.
    first: u64,
    begin: Option<Time>,
    packets: BTreeMap<u64, Packet>,
    derived: Option<Derived>,
    /// Segments to be repaired.
    missing: VecDeque<u32>,
    next: u32,
    una: u32,
    /// Segments beyond it that arrived.
    arrived: BTreeSet<u32>,
    /// Segments acknowledged at the same time, and when the newest of their packets left.
    heard: Vec<u32>,
    echo: Time,
    heard_at: Time,
    steps: Vec<Step>,
    /// Bytes of the window, each after so many steps.
    windows: Vec<(usize, u64)>,
}

impl Segments {
    /// With the packets that are declared lost, if acknowledgements are to be derived.
    pub(super) fn new(first: u64, lost: Option<BTreeSet<u64>>) -> Segments {
        Segments {
            first,
            begin: None,
            packets: BTreeMap::new(),
            derived: lost.map(|lost| Derived { lost, open: VecDeque::new(), rest: 0 }),
            missing: VecDeque::new(),
            next: 0,
            una: 0,
            arrived: BTreeSet::new(),
            heard: Vec::new(),
            echo: Time::ZERO,
            heard_at: Time::ZERO,
            steps: Vec::new(),
            windows: Vec::new(),
        }
    }

    pub(super) fn take(&mut self, at: Time, what: Logged) {
        if !matches!(what, Logged::Acked(_)) || at != self.heard_at {
            self.answer();
        }
        match what {
            Logged::Sent { number, bytes } => self.send(at, number, bytes),
            Logged::Acked(number) => self.hear(at, number),
            Logged::Left(bytes) => {
                let left = self.derived.as_mut().map(|derived| derived.leave(bytes));
                left.into_iter().flatten().for_each(|number| self.hear(at, number));
            }
            Logged::Lost(number) => {
                self.missing.extend(self.packets.get(&number).map(|packet| packet.segment))
            }
            Logged::Window(bytes) => {
                // Before the course begins the last one counts.
                self.windows.pop_if(|(after, _)| *after == 0 && self.steps.is_empty());
                self.windows.push((self.steps.len(), bytes));
            }
        }
    }

    /// The steps, and windows with the number of steps before.
    pub(super) fn finish(mut self) -> (Vec<Step>, Vec<(usize, u64)>) {
        self.answer();
        (self.steps, self.windows)
    }

    fn send(&mut self, at: Time, number: Option<u64>, bytes: u64) {
        if let Some(derived) = &mut self.derived {
            derived.send(number, bytes);
        }
        let Some(number) = number else { return };
        if self.begin.is_none() && bytes < self.first {
            return;
        }
        let begin = *self.begin.get_or_insert(at);
        let sent = Time(at.since(begin).0);
        let segment = self.segment();
        self.packets.insert(number, Packet { segment, sent });
        self.steps.push(Step { at: sent, what: Happened::Sent(segment) });
    }

    /// The segment of the next packet: the first one to be repaired, or a new one.
    fn segment(&mut self) -> u32 {
        while let Some(segment) = self.missing.pop_front() {
            if segment >= self.una && !self.arrived.contains(&segment) {
                return segment;
            }
        }
        self.next += 1;
        self.next - 1
    }

    fn hear(&mut self, at: Time, number: u64) {
        let Some(Packet { segment, sent }) = self.packets.remove(&number) else { return };
        self.heard_at = at;
        self.echo = self.echo.max(sent);
        if segment >= self.una && self.arrived.insert(segment) {
            self.heard.push(segment);
        }
    }

    /// The acknowledgement of what arrived at the same time.
    fn answer(&mut self) {
        if self.heard.is_empty() {
            return;
        }
        let mut heard = std::mem::take(&mut self.heard);
        while self.arrived.remove(&self.una) {
            self.una += 1;
        }
        heard.retain(|segment| *segment >= self.una);
        heard.sort_unstable();
        let runs = heard.chunk_by(|one, next| next - one == 1).map(|run| (run[0], run[run.len() - 1] + 1));
        let mut runs = runs.peekable();
        let at = Time(self.heard_at.since(self.begin.unwrap_or_default()).0);
        let (una, echo) = (self.una, self.echo);
        loop {
            let mut blocks = [(0, 0); BLOCKS];
            blocks.iter_mut().zip(runs.by_ref()).for_each(|(block, run)| *block = run);
            self.steps.push(Step { at, what: Happened::Heard { una, blocks, echo } });
            if runs.peek().is_none() {
                return;
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A drop-tail queue that holds no packets: when a packet arrives, the instant at which it will leave is known.
//!
//! What must be remembered is when the waiting packets' transmissions begin, and that only where somebody asks
//! for the length of the queue: its limit, or its measurement.

use std::collections::VecDeque;

use crate::queue::{Backlog, Limit};
use crate::units::{Bytes, Time};

/// A queue of starting times.
#[derive(Clone, Debug)]
pub struct Tail {
    limit: Limit,
    backlog: Backlog,
    starts: VecDeque<(Time, u16)>,
}

impl Tail {
    /// An empty queue.
    pub fn new(limit: Limit) -> Tail {
        Tail { limit, backlog: Backlog::default(), starts: VecDeque::new() }
    }

    /// The queue after all departures due by now.
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// The queue at `now`, which may be in the past.
    pub fn backlog_at(&self, now: Time) -> Backlog {
        let waiting = self.starts.iter().rev().take_while(|(start, _)| *start > now);
        waiting.fold(Backlog::default(), |sum, (_, size)| Backlog {
            packets: sum.packets + 1,
            bytes: sum.bytes + Bytes(u64::from(*size)),
        })
    }

    /// Lets the next packet go whose transmission begins by `now`: when it begins.
    #[inline]
    pub fn leave(&mut self, now: Time) -> Option<Time> {
        let (start, size) = self.starts.pop_front_if(|(start, _)| *start <= now)?;
        self.backlog.packets -= 1;
        self.backlog.bytes.0 -= u64::from(size);
        Some(start)
    }

    /// Whether a packet finds room.
    #[inline]
    pub fn admits(&self, size: u16) -> bool {
        self.limit.admits(self.backlog, Bytes(u64::from(size)))
    }

    /// Takes in a packet whose transmission will begin at `start`.
    #[inline]
    pub fn join(&mut self, start: Time, size: u16) {
        self.starts.push_back((start, size));
        self.backlog.packets += 1;
        self.backlog.bytes.0 += u64::from(size);
    }
}

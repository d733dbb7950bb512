// SPDX-License-Identifier: Apache-2.0 OR MIT
//! IP fragments (RFC 791, RFC 8200 §4.5), put together again.
//!
//! A packet counts at the time of the fragment that was captured first. Where fragments are missing at the end of the file, or 30 s
//! after the first, the packet counts with the length that is known, and is counted as incomplete. Fragments of a packet that was complete
//! less than 30 s before are copies, and do not count.

use core::net::IpAddr;
use std::collections::BTreeMap;

use super::copies::Point;
use super::links::Part;
use super::work::step;
use crate::units::{Span, Time};

/// A receiver waits no longer for the other fragments (RFC 1122 §3.3.2).
const PATIENCE: Span = Span::from_secs(30);

/// Place of a fragment in its packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fragment {
    /// In bytes.
    pub(super) offset: usize,
    /// Whether others follow.
    pub(super) more: bool,
    pub(super) id: u32,
}

/// A fragmented packet, by the common fields of its fragments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) point: Point,
    pub(super) from: IpAddr,
    pub(super) to: IpAddr,
    pub(super) protocol: u8,
    pub(super) id: u32,
}

/// A payload that came in fragments.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    pub(super) key: Key,
    /// The time at which its first fragment was captured.
    pub(super) at: Time,
    /// The captured part without a gap.
    pub(super) bytes: Vec<u8>,
    /// Its length on the wire, as far as that is known.
    pub(super) length: usize,
}

/// One fragment: its length on the wire, and its captured part.
type Piece = (usize, Vec<u8>);

#[derive(Debug)]
struct Pending {
    at: Time,
    /// By where they begin.
    pieces: BTreeMap<usize, Piece>,
    /// Up to here the packet has no gap.
    reached: usize,
    /// The length of the packet, once its last fragment was seen.
    total: Option<usize>,
}

/// The packets that came in fragments.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    pending: BTreeMap<Key, Pending>,
    /// Given up before the end.
    stale: Vec<(Key, Pending)>,
    /// The completion time of the last packet of each key.
    completed: BTreeMap<Key, Time>,
    /// Packets that were put together.
    pub(super) whole: u64,
}

impl Fragments {
    /// Adds a fragment; returns the packet that it completes.
    pub(super) fn add(&mut self, key: Key, fragment: Fragment, part: Part, at: Time) -> Option<Whole> {
        let (offset, more) = (fragment.offset, fragment.more);
        if let Some(known) = self.pending.get(&key) {
            let same = known.pieces.get(&offset);
            let late = at.since(known.at) > PATIENCE;
            match same {
                // A copy.
                Some((length, bytes)) if !late && *length == part.wire && bytes == part.bytes => {
                    return None;
                }
                // The identification was used again.
                Some(_) => self.give_up(key),
                None if late => self.give_up(key),
                None => {}
            }
        }
        let new = || Pending { at, pieces: BTreeMap::new(), reached: 0, total: None };
        let pending = self.pending.entry(key).or_insert_with(new);
        pending.add(offset, part);
        if !more {
            pending.total = Some(offset + part.wire);
        }
        if pending.total.is_none_or(|total| pending.reached < total) {
            return None;
        }
        self.whole += 1;
        self.completed.insert(key, at);
        self.pending.remove(&key).map(|all| all.join(key))
    }

    fn give_up(&mut self, key: Key) {
        let completed = self.completed.get(&key);
        let is_copy = |pending: &Pending| completed.is_some_and(|at| pending.at.since(*at) <= PATIENCE);
        let pending = self.pending.remove(&key).filter(|pending| !is_copy(pending));
        self.stale.extend(pending.map(|pending| (key, pending)));
    }

    /// Incomplete packets at the end of the file: the ones with their first fragment, and the number of other
    /// fragments.
    pub(super) fn finish(&mut self) -> (Vec<Whole>, u64) {
        let keys: Vec<Key> = self.pending.keys().copied().collect();
        keys.into_iter().for_each(|key| self.give_up(key));
        let left = std::mem::take(&mut self.stale);
        let (begun, others): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|(_, pending)| pending.pieces.contains_key(&0));
        let count = others.iter().map(|(_, pending)| pending.pieces.len() as u64).sum();
        (begun.into_iter().map(|(key, pending)| pending.join(key)).collect(), count)
    }
}

impl Pending {
    fn add(&mut self, offset: usize, part: Part) {
        self.pieces.insert(offset, (part.wire, part.bytes.to_vec()));
        if offset > self.reached {
            return;
        }
        let mut passed = self.reached;
        self.reached = self.reached.max(offset + part.wire);
        // A record that begins in its new part may reach further.
        while passed < self.reached {
            let next = self.pieces.range(passed + 1..=self.reached).inspect(|_| step());
            let furthest = next.map(|(start, (length, _))| start + length).max();
            passed = self.reached;
            self.reached = self.reached.max(furthest.unwrap_or(0));
        }
    }

    fn join(self, key: Key) -> Whole {
        let mut bytes: Vec<u8> = Vec::new();
        for (start, (_, captured)) in &self.pieces {
            let Some(new) = bytes.len().checked_sub(*start).and_then(|known| captured.get(known..)) else {
                continue;
            };
            bytes.extend_from_slice(new);
        }
        let seen = self.pieces.iter().map(|(start, (length, _))| start + length).max().unwrap_or(0);
        Whole { key, at: self.at, bytes, length: self.total.unwrap_or(seen) }
    }
}

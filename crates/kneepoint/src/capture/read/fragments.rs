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

/// A fragmented packet, by what its fragments share.
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
    /// When its first fragment was captured.
    pub(super) at: Time,
    /// What was captured of it without a gap.
    pub(super) bytes: Vec<u8>,
    /// Its length on the wire, as far as that is known.
    pub(super) length: usize,
}

/// One fragment: where it begins, its length on the wire, and what was captured of it.
type Piece = (usize, usize, Vec<u8>);

#[derive(Debug)]
struct Pending {
    at: Time,
    pieces: Vec<Piece>,
    /// The length of the packet, once its last fragment was seen.
    total: Option<usize>,
}

/// The packets that came in fragments.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    pending: BTreeMap<Key, Pending>,
    /// Given up before the end.
    stale: Vec<(Key, Pending)>,
    /// When packets were complete, the last of each key.
    completed: BTreeMap<Key, Time>,
    /// Packets that were put together.
    pub(super) whole: u64,
}

impl Fragments {
    /// Adds a fragment; returns the packet that it completes.
    pub(super) fn add(&mut self, key: Key, fragment: Fragment, part: Part, at: Time) -> Option<Whole> {
        let (offset, more) = (fragment.offset, fragment.more);
        if let Some(known) = self.pending.get(&key) {
            let same = known.pieces.iter().find(|(start, _, _)| *start == offset);
            let late = at.since(known.at) > PATIENCE;
            match same {
                // A copy.
                Some((_, length, bytes)) if !late && *length == part.wire && bytes == part.bytes => {
                    return None;
                }
                // The identification was used again.
                Some(_) => self.give_up(key),
                None if late => self.give_up(key),
                None => {}
            }
        }
        let new = || Pending { at, pieces: Vec::new(), total: None };
        let pending = self.pending.entry(key).or_insert_with(new);
        pending.pieces.push((offset, part.wire, part.bytes.to_vec()));
        if !more {
            pending.total = Some(offset + part.wire);
        }
        if !pending.is_complete() {
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

    /// What is incomplete at the end of the file: packets whose first fragment is there, and the number of other fragments.
    pub(super) fn finish(&mut self) -> (Vec<Whole>, u64) {
        let keys: Vec<Key> = self.pending.keys().copied().collect();
        keys.into_iter().for_each(|key| self.give_up(key));
        let left = std::mem::take(&mut self.stale);
        let (begun, others): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|(_, pending)| pending.pieces.iter().any(|piece| piece.0 == 0));
        let count = others.iter().map(|(_, pending)| pending.pieces.len() as u64).sum();
        (begun.into_iter().map(|(key, pending)| pending.join(key)).collect(), count)
    }
}

impl Pending {
    fn is_complete(&mut self) -> bool {
        let Some(total) = self.total else { return false };
        if self.pieces.iter().map(|(_, length, _)| length).sum::<usize>() < total {
            return false;
        }
        self.pieces.sort_by_key(|piece| piece.0);
        let mut end = 0;
        for (start, length, _) in &self.pieces {
            if *start > end {
                return false;
            }
            end = end.max(start + length);
        }
        end >= total
    }

    fn join(mut self, key: Key) -> Whole {
        self.pieces.sort_by_key(|piece| piece.0);
        let mut bytes: Vec<u8> = Vec::new();
        for (start, _, captured) in &self.pieces {
            let Some(new) = bytes.len().checked_sub(*start).and_then(|known| captured.get(known..)) else {
                continue;
            };
            bytes.extend_from_slice(new);
        }
        let seen = self.pieces.iter().map(|(start, length, _)| start + length).max().unwrap_or(0);
        Whole { key, at: self.at, bytes, length: self.total.unwrap_or(seen) }
    }
}

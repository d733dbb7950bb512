// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Blocks of selective acknowledgements that a capture lacks, because headers were cut or an export has no column of them.
//!
//! The capture says later what had arrived: of each segment the last transmission. What was sent a round trip before an acknowledgement
//! that leaves something open is in its blocks; the round trip is the least of the last eight that were measured in order. A duplicate
//! names at least one segment.

use std::collections::{BTreeSet, VecDeque};

use super::course::{Happened, Step};
use crate::units::{Span, Time};

/// The times of the first and the last transmission of a segment.
type Sent = (Time, Time);

/// Round trips of which the least counts.
const LATEST: usize = 8;
/// Blocks of an acknowledgement.
const BLOCKS: usize = 3;

/// What is known at a step.
#[derive(Default)]
struct Known {
    una: u32,
    /// The latest round trips.
    rtts: VecDeque<Span>,
    /// Segments above `una` that were named.
    held: BTreeSet<u32>,
    /// Others by the time of their last transmission.
    waiting: VecDeque<u32>,
}

/// Adds the blocks to the steps of a transfer.
pub(super) fn add_blocks(steps: &mut [Step]) {
    let segments = &sent(steps);
    let mut known = Known::default();
    for step in steps {
        match &mut step.what {
            Happened::Sent(segment) if segments[*segment as usize].1 == step.at => {
                known.waiting.push_back(*segment);
            }
            Happened::Sent(_) => {}
            Happened::Heard { una, blocks, .. } => {
                let duplicate = *una == known.una;
                known.hear(*una, step.at, segments);
                *blocks = known.blocks(step.at, duplicate, segments);
            }
        }
    }
}

/// When segments were sent.
fn sent(steps: &[Step]) -> Vec<Sent> {
    let mut segments: Vec<Sent> = Vec::new();
    for step in steps {
        let Happened::Sent(segment) = step.what else { continue };
        match segments.get_mut(segment as usize) {
            Some(known) => known.1 = step.at,
            None => segments.push((step.at, step.at)),
        }
    }
    segments
}

impl Known {
    fn hear(&mut self, una: u32, at: Time, segments: &[Sent]) {
        let newest = una.checked_sub(1).and_then(|newest| segments.get(newest as usize));
        if let Some((first, last)) = newest.filter(|_| una > self.una)
            && first == last
            && !self.held.contains(&(una - 1))
        {
            self.rtts.push_front(at.since(*first));
            self.rtts.truncate(LATEST);
        }
        self.una = self.una.max(una);
        self.held = self.held.split_off(&self.una);
    }

    /// The blocks of an acknowledgement: of what it names for the first time.
    fn blocks(&mut self, at: Time, duplicate: bool, segments: &[Sent]) -> [(u32, u32); BLOCKS] {
        let mut blocks = [(0, 0); BLOCKS];
        let open = segments.get(self.una as usize).is_some_and(|(first, _)| *first < at);
        if !open || !duplicate && self.held.is_empty() {
            return blocks;
        }
        let mut named = self.arrived(at, duplicate, segments);
        named.sort_unstable();
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for segment in named {
            match runs.last_mut() {
                Some(run) if run.1 == segment => run.1 = segment + 1,
                _ => runs.push((segment, segment + 1)),
            }
        }
        // What has no room comes with the next one.
        let rest = runs.split_off(runs.len().min(BLOCKS));
        rest.into_iter()
            .rev()
            .flat_map(|(first, end)| (first..end).rev())
            .for_each(|one| self.waiting.push_front(one));
        blocks.iter_mut().zip(runs).for_each(|(block, run)| *block = run);
        self.held.extend(blocks.iter().flat_map(|(first, end)| *first..*end));
        blocks
    }

    /// Segments that have arrived by now, of those that wait to be named.
    fn arrived(&mut self, at: Time, duplicate: bool, segments: &[Sent]) -> Vec<u32> {
        let rtt = self.rtts.iter().min().copied().unwrap_or(Span::MAX);
        let mut named = Vec::new();
        while let Some(&segment) = self.waiting.front() {
            let sent = segments[segment as usize].1;
            let old = segment <= self.una;
            let due = at.since(sent) >= rtt || duplicate && named.is_empty();
            if !(old || due && sent < at) {
                break;
            }
            self.waiting.pop_front();
            if !old {
                named.push(segment);
            }
        }
        named
    }
}

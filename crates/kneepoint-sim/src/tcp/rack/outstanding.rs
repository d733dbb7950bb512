// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The outstanding segments, each with the time of its last transmission and its state.
//!
//! ```text
//! in flight = outstanding - sacked - lost + resent
//! ```
//!
//! `resent` counts retransmissions in flight, of segments that are still lost. RACK judges segments in the order of their last
//! transmission. Segments sent once are in order of their numbers, and retransmissions are in a queue: two lines, each judged
//! from its front to the first segment sent after the latest delivered one.

use std::collections::VecDeque;

use crate::tcp::segments::SegmentSet;
use crate::units::Time;

/// The state of a segment, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate(u8);

impl Fate {
    /// Received out of order.
    pub const SACKED: Fate = Fate(1);
    /// Lost, as far as known.
    pub const LOST: Fate = Fate(2);
    /// A retransmission is in flight.
    pub const RESENT: Fate = Fate(4);
    /// Transmitted more than once.
    pub const REPEATED: Fate = Fate(8);
    /// Found lost by its time. It is judged again only after it is retransmitted, even if the loss is undone.
    const JUDGED: Fate = Fate(16);

    /// Whether it has any of `other`.
    #[inline]
    pub fn has(self, other: Fate) -> bool {
        self.0 & other.0 != 0
    }

    #[inline]
    fn set(&mut self, other: Fate) {
        self.0 |= other.0;
    }

    /// Removes `other`; returns whether it was present.
    #[inline]
    fn clear(&mut self, other: Fate) -> bool {
        let had = self.has(other);
        self.0 &= !other.0;
        had
    }
}

/// A segment outstanding.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// The time of its last transmission.
    pub at: Time,
    /// Its state.
    pub fate: Fate,
}

/// The segments outstanding.
#[derive(Clone, Debug, Default)]
pub struct Outstanding {
    una: u32,
    segments: VecDeque<Sent>,
    sacked: SegmentSet,
    /// Duplicates, which stand for segments received out of order where the receiver has no blocks.
    duplicates: u32,
    lost: u32,
    resent: u32,
    /// One above the greatest segment sacked.
    top: u32,
    /// No segment below it awaits retransmission.
    hint: u32,
    /// Segments below it that were sent once have been judged.
    judged: u32,
    /// Retransmissions in order of sending, including segments acknowledged since.
    again: VecDeque<(Time, u32)>,
    /// Losses so far, lost retransmissions included.
    losses: u32,
}

impl Outstanding {
    /// The first segment not acknowledged in order.
    #[inline]
    pub fn una(&self) -> u32 {
        self.una
    }

    /// One above the greatest segment sent.
    #[inline]
    pub fn high(&self) -> u32 {
        self.una + self.segments.len() as u32
    }

    /// The number of segments.
    #[inline]
    pub fn len(&self) -> u32 {
        self.segments.len() as u32
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Whether all of them were sent once and none is sacked or lost.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.sacked.is_empty() && self.duplicates == 0 && self.lost == 0 && self.again.is_empty()
    }

    /// The number received out of order.
    #[inline]
    pub fn sacked(&self) -> u32 {
        self.sacked.len() + self.duplicates
    }

    /// The number lost, including retransmitted ones.
    #[inline]
    pub fn lost(&self) -> u32 {
        self.lost
    }

    /// Retransmissions in flight.
    #[inline]
    pub fn resent(&self) -> u32 {
        self.resent
    }

    /// Losses so far.
    #[inline]
    pub fn losses(&self) -> u32 {
        self.losses
    }

    /// Packets in flight.
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.len() + self.resent - self.sacked() - self.lost
    }

    /// Segments known to have left the network.
    #[inline]
    pub fn left(&self) -> u32 {
        self.sacked() + self.lost
    }

    /// One above the greatest segment sacked; `una` where none is.
    #[inline]
    pub fn top(&self) -> u32 {
        if self.sacked.is_empty() { self.una } else { self.top }
    }

    /// Counts a duplicate acknowledgement as a segment received out of order; returns whether there are more of them than segments that can
    /// have been.
    pub fn count_duplicates(&mut self, duplicates: u32) -> bool {
        self.duplicates += duplicates;
        let most = self.len() - self.lost.max(1).min(self.len());
        let too_many = self.duplicates > most;
        self.duplicates = self.duplicates.min(most);
        too_many
    }

    /// Duplicates counted.
    pub fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// An acknowledgement of `acked` segments: the first was missing, the others are the ones that caused duplicates.
    pub fn uncount_duplicates(&mut self, acked: u32) {
        self.duplicates = self.duplicates.saturating_sub(acked.saturating_sub(1));
    }

    /// Forgets the duplicates.
    pub fn forget_duplicates(&mut self) {
        self.duplicates = 0;
    }

    /// The first of them.
    #[inline]
    pub fn head(&self) -> Option<Sent> {
        self.segments.front().copied()
    }

    /// Segment `seq`.
    pub fn get(&self, seq: u32) -> Option<Sent> {
        self.segments.get(seq.checked_sub(self.una)? as usize).copied()
    }

    /// Whether segment `seq` has not been received, as far as known.
    pub fn is_missing(&self, seq: u32) -> bool {
        seq >= self.una && self.get(seq).is_none_or(|sent| !sent.fate.has(Fate::SACKED))
    }

    fn at(&mut self, seq: u32) -> &mut Sent {
        &mut self.segments[(seq - self.una) as usize]
    }

    /// Whether anything in flight was transmitted before.
    pub fn any_repeated(&self) -> bool {
        self.resent > 0 || self.head().is_some_and(|head| head.fate.has(Fate::REPEATED))
    }

    /// The next segment is sent for the first time.
    #[inline]
    pub fn send(&mut self, now: Time) {
        self.segments.push_back(Sent { at: now, fate: Fate::default() });
    }

    /// A segment is retransmitted. A probe at the tail does not count as in flight in addition to the original.
    #[cold]
    pub fn resend(&mut self, seq: u32, now: Time, probe: bool) {
        let segment = self.at(seq);
        segment.at = now;
        segment.fate.set(Fate::REPEATED);
        // After an undo, segments that a timeout retransmits may already be in flight.
        if !probe && !segment.fate.has(Fate::RESENT) {
            segment.fate.set(Fate::RESENT);
            self.resent += 1;
        }
        self.again.push_back((now, seq));
    }

    /// The first segment is acknowledged in order.
    #[inline]
    pub fn pop(&mut self) -> Option<Sent> {
        let sent = self.segments.pop_front()?;
        self.una += 1;
        if sent.fate != Fate::default() {
            self.resent -= u32::from(sent.fate.has(Fate::RESENT));
            self.lost -= u32::from(sent.fate.has(Fate::LOST));
        }
        Some(sent)
    }

    /// The first `count` segments are acknowledged in order, where all were sent once and none is sacked: when the first and the last
    /// of them were sent.
    #[inline]
    pub fn pop_plain(&mut self, count: u32) -> Option<(Time, Time)> {
        let first = self.segments.front()?.at;
        let last = self.segments.get(count as usize - 1)?.at;
        self.segments.drain(..count as usize);
        self.una += count;
        Some((first, last))
    }

    /// The segments below `una` are gone from the scoreboard, too.
    #[inline]
    pub fn forget_below(&mut self, una: u32) {
        if !self.sacked.is_empty() {
            self.sacked.remove_below(una);
        }
        while self.again.pop_front_if(|(_, seq)| *seq < una).is_some() {}
    }

    /// The first segment at or above `seq` that is not sacked.
    pub fn first_unsacked(&self, seq: u32) -> u32 {
        self.sacked.first_absent(seq)
    }

    /// A block names a segment that was not sacked before; returns its former state.
    pub fn sack(&mut self, seq: u32) -> Sent {
        self.sacked.insert(seq);
        self.top = self.top.max(seq + 1);
        let segment = self.at(seq);
        let before = *segment;
        segment.fate.set(Fate::SACKED);
        // A retransmission of a segment that is not lost counts as still in flight.
        if segment.fate.clear(Fate::LOST) {
            let resent = segment.fate.clear(Fate::RESENT);
            self.lost -= 1;
            self.resent -= u32::from(resent);
        }
        before
    }

    /// A segment arrived twice: its retransmission is no longer in flight.
    pub fn arrived_twice(&mut self, seq: u32) {
        if self.at(seq).fate.clear(Fate::RESENT) {
            self.resent -= 1;
        }
    }

    /// A segment, or its retransmission, is lost.
    pub fn lose(&mut self, seq: u32) {
        let segment = self.at(seq);
        if segment.fate.has(Fate::SACKED) {
            return;
        }
        if !segment.fate.has(Fate::LOST) {
            segment.fate.set(Fate::LOST);
            self.lost += 1;
        } else if segment.fate.clear(Fate::RESENT) {
            self.resent -= 1;
        } else {
            return;
        }
        self.losses += 1;
        self.hint = self.hint.min(seq);
    }

    /// The first segment is lost, unless it is already.
    pub fn lose_head(&mut self) {
        if self.head().is_some_and(|head| !head.fate.has(Fate::LOST)) {
            self.lose(self.una);
        }
    }

    /// Withdraws all losses. Segments that a timeout marked are judged by their times again.
    pub fn withdraw_losses(&mut self) {
        self.segments.iter_mut().for_each(|segment| {
            segment.fate.clear(Fate::LOST);
        });
        self.lost = 0;
        self.hint = self.una;
        self.judged = self.una;
    }

    /// The first lost segment whose retransmission is not in flight.
    pub fn next_lost(&mut self) -> Option<u32> {
        if self.resent >= self.lost {
            return None;
        }
        let from = self.hint.max(self.una);
        let waits = |sent: &Sent| sent.fate.has(Fate::LOST) && !sent.fate.has(Fate::RESENT);
        let ahead = self.segments.range((from - self.una) as usize..).position(waits)?;
        self.hint = from + ahead as u32;
        Some(self.hint)
    }

    /// Judges the segments that were sent before (`latest`, its number): a segment is lost if `lost` returns true for the time
    /// of its transmission.
    #[cold]
    pub fn judge(&mut self, latest: (Time, u32), mut lost: impl FnMut(Time) -> bool) {
        const SETTLED: Fate = Fate(Fate::SACKED.0 | Fate::LOST.0 | Fate::REPEATED.0 | Fate::JUDGED.0);
        let (high, mut reached) = (self.high(), true);
        let mut seq = self.judged.max(self.una);
        while seq < high {
            let sent = *self.at(seq);
            if !sent.fate.has(SETTLED) {
                if (sent.at, seq) >= latest {
                    break;
                }
                let is_lost = lost(sent.at);
                if is_lost {
                    self.lose(seq);
                    self.at(seq).fate.set(Fate::JUDGED);
                }
                reached &= is_lost;
            }
            seq += 1;
            if reached {
                self.judged = seq;
            }
        }
        self.judge_again(latest, lost);
    }

    fn judge_again(&mut self, latest: (Time, u32), mut lost: impl FnMut(Time) -> bool) {
        let mut place = 0;
        while let Some(&(at, seq)) = self.again.get(place) {
            let sent = self.get(seq).filter(|sent| sent.at == at && !sent.fate.has(Fate::SACKED));
            let Some(Sent { fate, .. }) = sent else {
                self.again.remove(place);
                continue;
            };
            // Segments that a timeout marked wait for retransmission, unless their loss is withdrawn.
            if fate.has(Fate::LOST) && !fate.has(Fate::RESENT) {
                place += 1;
                continue;
            }
            if (at, seq) >= latest {
                break;
            }
            if lost(at) {
                self.lose(seq);
                self.again.remove(place);
            } else {
                place += 1;
            }
        }
    }
}

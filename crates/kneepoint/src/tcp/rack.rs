// SPDX-License-Identifier: Apache-2.0 OR MIT
//! RACK-TLP: losses found by the time of sending, and probes for those at the tail.
//!
//! RFC 8985 §6 (RACK), §7 (TLP), in segments instead of bytes. The scoreboard survives timeouts.
//!
//! ```text
//! latest = (sent, number) of the packet delivered that was sent last;   rtt = how long it took        §6.2 step 2
//! lost     if sent before latest, and now >= sent + rtt + window                                     §6.2 step 5
//! window = 0 until reordering is seen, in recovery or with DupThresh segments sacked;                §6.2 step 4
//!          else min(steps · min_rtt / 4, SRTT)
//! probe    after 2 SRTT without news, one segment in flight: and the receiver's longest delay        §7.2
//! pipe = segments outstanding - sacked - lost and not yet sent again
//! ```
//!
//! Segments are in order of their sending where they were sent once, and so are retransmissions: two lines, each judged from
//! its front until one is reached that was sent after `latest`.
//!
//! Readings: where a timeout expires, the first segment is lost, and all others that were sent a round trip ago (§6.3). The
//! window of reordering grows by a step at each round trip that brings a D-SACK, and falls back after 16 recoveries
//! (§6.2 step 4). `min_rtt` is that of the connection, where Linux forgets it after five minutes. Linux bounds the
//! window by SRTT / 8 of its fixed-point variable, which is SRTT.

use std::collections::VecDeque;

use super::Options;
use super::segments::SegmentSet;
use crate::packet::{Block, Packet};
use crate::units::{Span, Time};

/// Recoveries for which a wider window of reordering is kept (RFC 8985 §6.2 step 4).
const PERSISTENCE: u32 = 16;

/// What is known of a segment outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Sent once, and on its way for all that is known.
    Flying,
    /// Lost, and not sent again since.
    Lost,
    /// Sent again, and on its way.
    Resent,
    /// Received out of order.
    Sacked,
}

/// A segment outstanding.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// When it was sent last.
    at: Time,
    state: State,
}

/// A tail loss probe in flight.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// One above the greatest segment sent when it left.
    end: u32,
    /// It was a segment sent before.
    again: bool,
}

/// What an acknowledgement told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Segments newly known to have arrived.
    pub delivered: u32,
    /// Segments newly found lost.
    pub lost: u32,
    /// A tail loss probe repaired a loss that nothing else told of (RFC 8985 §7.4.2).
    pub probe_repaired: bool,
    /// How much later than the segment whose timestamp the acknowledgement echoes the last one that it answers was sent,
    /// where that was sent once: a delayed acknowledgement waited for it.
    pub waited: Span,
}

/// The segments outstanding, with the time of their sending.
#[derive(Clone, Debug, Default)]
pub struct Rack {
    /// The number of the first.
    una: u32,
    segments: VecDeque<Sent>,
    sacked: SegmentSet,
    /// Segments lost and not yet sent again, none of them below `hint`.
    lost: u32,
    hint: u32,
    /// Segments below it that were sent once have been judged.
    judged: u32,
    /// Retransmissions in the order of their sending, those that were delivered since included.
    resent: VecDeque<(Time, u32)>,
    /// RACK.xmit_ts and RACK.end_seq.
    latest: (Time, u32),
    rtt: Span,
    least_rtt: Option<Span>,
    /// One above the greatest segment delivered.
    top: u32,
    reordered: bool,
    /// Quarters of the smallest round-trip time that the window of reordering has, less one; and for how many recoveries.
    widened: u32,
    keeps: u32,
    /// No D-SACK widens the window before this segment is acknowledged.
    round: u32,
    /// When the next segment is lost unless it arrives.
    due: Option<Time>,
    /// When something was sent or heard last.
    active: Time,
    probe: Option<Probe>,
    /// This one is sent next, whatever the window.
    forced: Option<u32>,
    /// All that was ever found lost.
    found: u32,
    /// When the last segment was sent that this acknowledgement told of, of those sent once.
    answered: Time,
}

impl Rack {
    /// Packets in flight.
    #[inline]
    pub fn pipe(&self) -> u32 {
        self.segments.len() as u32 - self.sacked.len() - self.lost
    }

    /// Segments received out of order.
    #[inline]
    pub fn sacked(&self) -> u32 {
        self.sacked.len()
    }

    /// Segments sent again that are on their way.
    pub fn resent(&self) -> u32 {
        self.segments.iter().filter(|segment| segment.state == State::Resent).count() as u32
    }

    /// Whether a segment is lost and not yet sent again.
    #[inline]
    pub fn any_lost(&self) -> bool {
        self.lost > 0
    }

    /// Segments found lost so far, each as often as it was.
    #[inline]
    pub fn found(&self) -> u32 {
        self.found
    }

    /// A segment was sent; all those that are sent for the first time are sent in order.
    #[inline(never)]
    pub fn on_sent(&mut self, seq: u32, now: Time) {
        self.active = now;
        let place = (seq - self.una) as usize;
        if place == self.segments.len() {
            self.segments.push_back(Sent { at: now, state: State::Flying });
        } else {
            self.on_resent(place, seq, now);
        }
    }

    #[cold]
    fn on_resent(&mut self, place: usize, seq: u32, now: Time) {
        let Some(segment) = self.segments.get_mut(place) else { return };
        self.lost -= u32::from(segment.state == State::Lost);
        *segment = Sent { at: now, state: State::Resent };
        self.resent.push_back((now, seq));
    }

    /// The segment to send whatever the window, once; else the first that is lost.
    pub fn next_lost(&mut self) -> Option<u32> {
        if let Some(seq) = self.forced.take().filter(|seq| *seq >= self.una) {
            return Some(seq);
        }
        if self.lost == 0 {
            return None;
        }
        let from = self.hint.max(self.una);
        let lost = |segment: &Sent| segment.state == State::Lost;
        let ahead = self.segments.range((from - self.una) as usize..).position(lost)?;
        self.hint = from + ahead as u32;
        Some(self.hint)
    }

    /// Whether a segment is to be sent whatever the window.
    #[inline]
    pub fn is_forced(&self) -> bool {
        self.forced.is_some()
    }

    /// The first lost segment is to be sent whatever the window (RFC 6675 §5 step 4.3).
    pub fn force_lost(&mut self) {
        self.forced = self.next_lost();
    }

    /// Takes in an acknowledgement; `repairing` in a recovery or after a timeout. Out of line, as all of RACK is for the
    /// sender, whose path without it stays short.
    #[inline(never)]
    pub fn on_ack(
        &mut self,
        packet: &Packet,
        now: Time,
        srtt: Span,
        repairing: bool,
        options: &Options,
    ) -> Told {
        let blocks = packet.sack();
        self.active = now;
        self.answered = packet.sent;
        let mut told = Told::default();
        if packet.seq > self.una {
            told.delivered += self.advance(packet.seq, packet.sent, now);
        }
        if blocks[0].1 != 0 {
            told.delivered += self.mark(&blocks, packet, now);
        }
        // What is outstanding was sent after all that arrived, unless something arrived out of order or was sent again.
        if !self.sacked.is_empty() || !self.resent.is_empty() || self.lost > 0 {
            told.lost = self.detect(now, srtt, repairing, options.dupthresh);
        } else {
            self.due = None;
        }
        if self.probe.is_some() {
            told.probe_repaired = self.judge_probe(packet.seq, blocks[0], told.delivered > 0);
        }
        told.waited = self.answered.since(packet.sent);
        told
    }

    /// Everything below `una` has arrived; how many segments of it were not known to have.
    #[inline]
    fn advance(&mut self, una: u32, echoed: Time, now: Time) -> u32 {
        let mut newly = 0;
        for seq in self.una..una {
            let Some(segment) = self.segments.pop_front() else { break };
            if segment.state != State::Sacked {
                newly += 1;
                self.deliver(seq, segment, echoed, now);
            }
        }
        self.una = una;
        if !self.sacked.is_empty() {
            self.sacked.remove_below(una);
        }
        newly
    }

    /// Takes in blocks; how many segments they name for the first time.
    #[cold]
    fn mark(&mut self, blocks: &[Block; 3], packet: &Packet, now: Time) -> u32 {
        let high = self.una + self.segments.len() as u32;
        if Rack::is_duplicate(blocks, packet.seq) {
            self.on_duplicate(high);
        }
        let before = self.sacked.len();
        // In order: what one acknowledgement tells is no sign of reordering.
        let mut ordered = *blocks;
        ordered.sort_unstable();
        for (first, end) in ordered {
            let block = first.max(self.una)..end.min(high);
            let mut seq = block.start;
            while seq < block.end {
                // Runs of segments that are known are skipped.
                seq = self.sacked.first_absent(seq);
                if seq >= block.end {
                    break;
                }
                self.sacked.insert(seq);
                let place = (seq - self.una) as usize;
                let segment = self.segments[place];
                self.segments[place].state = State::Sacked;
                self.deliver(seq, segment, packet.sent, now);
                seq += 1;
            }
        }
        self.sacked.len() - before
    }

    /// Whether the first block reports a segment that had arrived before: it is acknowledged, or inside the second block
    /// (RFC 2883 §4).
    fn is_duplicate(blocks: &[Block; 3], una: u32) -> bool {
        let (first, second) = (blocks[0], blocks[1]);
        first.1 <= una || second.1 != 0 && second.0 <= first.0 && first.1 <= second.1
    }

    /// A segment arrived twice: reordering was taken for a loss (RFC 8985 §6.2 step 4).
    fn on_duplicate(&mut self, high: u32) {
        if self.una >= self.round {
            self.widened += 1;
            self.keeps = PERSISTENCE;
            self.round = high;
        }
    }

    /// A segment is known to have arrived (RFC 8985 §6.2 steps 1 to 3).
    #[inline]
    fn deliver(&mut self, seq: u32, segment: Sent, echoed: Time, now: Time) {
        let rtt = now.since(segment.at);
        let again = segment.state == State::Resent || segment.state == State::Lost;
        self.lost -= u32::from(segment.state == State::Lost);
        if again {
            // The acknowledgement may be for an earlier transmission.
            if echoed < segment.at || self.least_rtt.is_some_and(|least| rtt < least) {
                return;
            }
        } else {
            self.reordered |= seq < self.top;
            self.answered = self.answered.max(segment.at);
        }
        self.top = self.top.max(seq + 1);
        self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        if (segment.at, seq) >= self.latest {
            self.latest = (segment.at, seq);
            self.rtt = rtt;
        }
    }

    /// Marks what is lost; how many segments (RFC 8985 §6.2 step 5).
    #[cold]
    fn detect(&mut self, now: Time, srtt: Span, repairing: bool, dupthresh: u32) -> u32 {
        let patience = self.rtt + self.window(srtt, repairing, dupthresh);
        let mut lost = 0;
        self.due = None;
        // Those sent once.
        let high = self.una + self.segments.len() as u32;
        let mut seq = self.judged.max(self.una);
        while seq < high {
            let segment = self.segments[(seq - self.una) as usize];
            if segment.state == State::Flying {
                if !self.overdue(segment.at, seq, patience, now) {
                    break;
                }
                self.lose(seq);
                lost += 1;
            }
            seq += 1;
        }
        self.judged = seq;
        // Those sent again.
        while let Some(&(at, again)) = self.resent.front() {
            let segment = again.checked_sub(self.una).and_then(|place| self.segments.get(place as usize));
            let current = segment.is_some_and(|one| one.state == State::Resent && one.at == at);
            if current {
                if !self.overdue(at, again, patience, now) {
                    break;
                }
                self.lose(again);
                lost += 1;
            }
            self.resent.pop_front();
        }
        lost
    }

    /// Whether a segment sent at `at` is lost. If it was sent before `latest` but not long ago, it will be, unless it
    /// arrives.
    fn overdue(&mut self, at: Time, seq: u32, patience: Span, now: Time) -> bool {
        if (at, seq) >= self.latest {
            return false;
        }
        let until = at + patience;
        if until > now {
            self.due = Some(self.due.map_or(until, |due| due.max(until)));
        }
        until <= now
    }

    fn lose(&mut self, seq: u32) {
        let place = (seq - self.una) as usize;
        self.segments[place].state = State::Lost;
        self.hint = if self.lost == 0 { seq } else { self.hint.min(seq) };
        self.lost += 1;
        self.found += 1;
    }

    /// The window of reordering (RFC 8985 §6.2 step 4).
    fn window(&self, srtt: Span, repairing: bool, dupthresh: u32) -> Span {
        if !self.reordered && (repairing || self.sacked.len() >= dupthresh) {
            return Span::ZERO;
        }
        let steps = u64::from(self.widened + 1);
        Span(self.least_rtt.unwrap_or(Span::ZERO).0 / 4 * steps).min(srtt)
    }

    /// A recovery is over: the wider window of reordering is kept for a number of them.
    pub fn end_recovery(&mut self) {
        self.keeps = self.keeps.saturating_sub(1);
        if self.keeps == 0 {
            self.widened = 0;
        }
    }

    /// The retransmission timer expired: the first segment is lost, and all that were sent a round trip ago (§6.3).
    pub fn on_timeout(&mut self, now: Time) {
        self.due = None;
        self.probe = None;
        self.forced = None;
        for place in 0..self.segments.len() {
            let Sent { at, state } = self.segments[place];
            let flying = matches!(state, State::Flying | State::Resent);
            if flying && (place == 0 || at + self.rtt <= now) {
                self.lose(self.una + place as u32);
            }
        }
    }

    /// When the sender must look for losses again.
    #[inline]
    pub fn due(&self) -> Option<Time> {
        self.due
    }

    /// The time for a loss came: how many segments were found lost.
    pub fn on_due(&mut self, now: Time, srtt: Span, repairing: bool, options: &Options) -> u32 {
        self.detect(now, srtt, repairing, options.dupthresh)
    }

    /// When a tail loss probe is due, where nothing is known to be missing (RFC 8985 §7.2).
    #[inline]
    pub fn probe_due(&self, srtt: Span, options: &Options) -> Option<Time> {
        let idle = self.segments.is_empty() || !self.sacked.is_empty() || self.lost > 0;
        if idle || self.probe.is_some() || srtt == Span::ZERO || !options.probes {
            return None;
        }
        let lone = if self.segments.len() == 1 { options.probe_ack_delay } else { Span::ZERO };
        Some(self.active + srtt * 2 + lone)
    }

    /// The probe is due: a new segment, if there is one, else the last one again (RFC 8985 §7.3).
    pub fn send_probe(&mut self, new: bool) {
        let high = self.una + self.segments.len() as u32;
        self.probe = Some(Probe { end: if new { high + 1 } else { high }, again: !new });
        self.forced = Some(if new { high } else { high - 1 });
    }

    /// RFC 8985 §7.4.2: whether the probe repaired a loss. If it did, data sent later is acknowledged and nothing was
    /// received twice; if it did not, a D-SACK or a duplicate acknowledgement answers it.
    #[cold]
    fn judge_probe(&mut self, una: u32, first: Block, news: bool) -> bool {
        let Some(probe) = self.probe.filter(|probe| una >= probe.end) else { return false };
        let twice = first.1 != 0 && first.1 <= una;
        let undecided = probe.again && una == probe.end && news && !twice;
        if !undecided {
            self.probe = None;
        }
        probe.again && una > probe.end && !twice
    }
}

#[cfg(test)]
mod tests;

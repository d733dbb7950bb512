// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The contents of an acknowledgement: segments acknowledged in order, blocks, duplicates, and the round trip.
//!
//! RFC 2018, RFC 2883 (D-SACK), RFC 6298 §3 (Karn); as Linux's `tcp_sacktag_write_queue` and `tcp_clean_rtx_queue` have it.
//!
//! ```text
//! D-SACK   the first block lies below the acknowledgement, or inside the second block    RFC 2883 §4
//! late     a segment sent once arrives after a greater one did: the path reorders
//! rtt      now - when the first segment was sent that is acknowledged, of those sent once;
//!          else of those that blocks name for the first time; else by the echoed timestamp
//! ```
//!
//! An acknowledgement of a segment that was sent twice is not a sample without timestamps. Timestamps are whole milliseconds.
//! A D-SACK counts its segments as delivered: a needless retransmission arrived. A number of them above the retransmissions is
//! implausible and ignored.
//!
//! Not here: receivers that discard what they reported (reneging).

use super::Rack;
use super::lent::Lent;
use super::outstanding::{Fate, Sent};
use super::undo::millisecond;
use crate::packet::{Block, Packet};
use crate::units::{Span, Time};

/// The information in an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub struct News {
    /// It acknowledges segments in order.
    pub advanced: bool,
    /// It changes the receiver's window.
    pub window: bool,
    /// A block names a segment for the first time.
    pub sacked: bool,
    /// A segment that was outstanding when the episode began arrived and was never retransmitted.
    pub original: bool,
    /// Segments arrived twice (D-SACK).
    pub twice: bool,
    /// The probe at the tail did.
    pub probe_twice: bool,
    /// It echoes a mark.
    pub echoed: bool,
    /// A retransmitted segment is acknowledged.
    pub repeated: bool,
    /// The timer must be restarted.
    pub timer: bool,
    /// A retransmission was lost.
    pub lost_again: bool,
    /// The sending times of the first and the last acknowledged segments that were sent once.
    pub acked: Option<(Time, Time)>,
    /// Likewise for segments that blocks name for the first time.
    pub named: Option<(Time, Time)>,
    /// The sending time of the latest delivered segment.
    pub sent: Option<Time>,
    /// The round trip of the last segment that it answers.
    pub rtt: Option<Span>,
}

impl News {
    /// Whether it is more than an acknowledgement in order.
    pub fn is_dubious(&self) -> bool {
        !(self.advanced || self.window) || self.sacked || self.echoed || self.twice
    }

    /// Whether it only repeats the last one.
    pub fn is_duplicate(&self) -> bool {
        !(self.advanced || self.window || self.twice)
    }
}

/// Widens a range of times by one.
#[inline]
fn extend(range: &mut Option<(Time, Time)>, at: Time) {
    *range = Some((range.map_or(at, |(first, _)| first), at));
}

impl Rack {
    /// Whether an acknowledgement answers an earlier transmission than the last one of a segment that was sent twice.
    fn answers_earlier(&self, sent: Sent, packet: &Packet, host: &Lent) -> bool {
        let repeated = sent.fate.has(Fate::REPEATED);
        repeated && host.options.timestamps && millisecond(packet.sent) < millisecond(sent.at)
    }

    /// Everything below `una` has arrived.
    pub(super) fn acknowledge(&mut self, host: &mut Lent, packet: &Packet, top: u32, news: &mut News) {
        let una = packet.seq;
        let (before, sacks) = (self.out.una(), host.options.sack);
        let mut late = self.out.high();
        while self.out.una() < una {
            let seq = self.out.una();
            let Some(sent) = self.out.pop() else { break };
            let sacked = sent.fate.has(Fate::SACKED);
            if sent.fate.has(Fate::REPEATED) {
                news.repeated = true;
            } else if !sacked {
                extend(&mut news.acked, sent.at);
                late = late.min(seq);
                news.original |= seq < self.point;
            }
            if !sacked {
                news.sent = news.sent.max(Some(sent.at));
                if sacks {
                    self.delivered += 1;
                    if !self.answers_earlier(sent, packet, host) {
                        self.detection.deliver(seq, sent, host.now);
                    }
                }
            }
        }
        self.out.forget_below(una);
        self.take_time(host, packet, news);
        if !news.advanced {
            return;
        }
        news.timer = true;
        if !sacks {
            self.remove_duplicates(una - before);
            news.original &= !news.repeated;
        } else if late < top {
            self.reorder(late);
        }
    }

    /// The round trip.
    fn take_time(&mut self, host: &mut Lent, packet: &Packet, news: &mut News) {
        let now = host.now;
        let in_order = news.acked.filter(|_| !news.repeated);
        // A controller receives the last segment, the timer the first.
        let by_time = || {
            let ticks = millisecond(now).saturating_sub(millisecond(packet.sent));
            let usable = news.advanced && host.options.timestamps;
            let sent = Time(now.0.saturating_sub(Span::from_millis(ticks.max(1)).0));
            usable.then_some((sent, sent))
        };
        let named = news.named.filter(|_| !self.untimed);
        let Some((first, _)) = in_order.or(named).or_else(by_time) else { return };
        let last = named.or(in_order).map_or(first, |(_, last)| last);
        let (una, high) = (self.out.una(), self.out.high());
        let rtt = host.measure(now - first, &mut self.deviation, una, high);
        let of_last = rtt.saturating_sub(last.since(first));
        news.rtt = Some(of_last);
        self.detection.measure(now - last);
        self.backoff = 0;
        // A block of segments sent after the first one shows that the path is alive; a block of earlier ones does not.
        let head = self.out.head().filter(|_| !news.advanced);
        news.timer |= head.is_some_and(|head| news.named.is_some_and(|told| told.0 < head.at));
    }

    /// Takes in blocks.
    #[cold]
    pub(super) fn take_blocks(&mut self, host: &mut Lent, packet: &Packet, before: u32, news: &mut News) {
        let mut blocks = packet.sack();
        let (una, high) = (packet.seq.max(before), self.out.high());
        let mut late = high;
        if is_twice(&blocks, packet.seq) && self.take_twice(blocks[0], before, news) {
            late = self.account_twice(blocks[0], late);
        }
        blocks.sort_unstable();
        for (first, end) in blocks {
            // Linux ignores blocks that reach beyond the sent data.
            if first > una && first < end && end <= high {
                self.name(first.max(self.out.una())..end, &mut late, host, news);
            }
        }
        if self.state != super::CongestionState::Loss || self.undo.marker.is_some() {
            self.reorder(late);
        }
    }

    /// A block names segments.
    fn name(&mut self, block: std::ops::Range<u32>, late: &mut u32, host: &Lent, news: &mut News) {
        let mut seq = block.start;
        while seq < block.end {
            // Runs of segments that are known are skipped.
            seq = self.out.first_unsacked(seq);
            if seq >= block.end {
                break;
            }
            let top = self.out.top();
            let sent = self.out.sack(seq);
            self.detection.deliver(seq, sent, host.now);
            news.sent = news.sent.max(Some(sent.at));
            if !sent.fate.has(Fate::REPEATED) {
                if seq < top {
                    *late = (*late).min(seq);
                }
                news.original |= seq < self.point;
                extend(&mut news.named, sent.at);
            }
            news.sacked = true;
            self.delivered += 1;
            seq += 1;
        }
    }

    /// A D-SACK: whether it is trusted.
    fn take_twice(&mut self, (first, end): Block, before: u32, news: &mut News) -> bool {
        let segments = end.saturating_sub(first);
        if segments == 0 || self.twice + segments > self.resent {
            self.twice += segments;
            return false;
        }
        self.twice += segments;
        news.probe_twice = segments == 1 && self.probe.is_some_and(|probe| probe.end == end);
        if !news.probe_twice {
            self.detection.duplicate();
        }
        news.twice = true;
        self.delivered += u64::from(segments);
        if end <= before {
            self.undo.report(end - 1, segments);
        }
        true
    }

    /// Outstanding segments that arrived twice; the least of them, or `late`, of the sacked ones.
    fn account_twice(&mut self, (first, end): Block, mut late: u32) -> u32 {
        for seq in first.max(self.out.una())..end.min(self.out.high()) {
            let Some(sent) = self.out.get(seq).filter(|sent| sent.fate.has(Fate::REPEATED)) else { continue };
            self.undo.report(seq, 1);
            if sent.fate.has(Fate::SACKED) {
                late = late.min(seq);
            }
            self.out.arrived_twice(seq);
        }
        late
    }

    /// Segment `late` arrived after greater ones, if it is below the greatest.
    pub(super) fn reorder(&mut self, late: u32) {
        let top = self.out.top();
        if late < top {
            self.detection.reorder(top - late);
        }
    }

    /// For a receiver without blocks: `acked` segments are acknowledged in order.
    fn remove_duplicates(&mut self, acked: u32) {
        self.delivered += u64::from(acked.saturating_sub(self.out.duplicates()).max(1));
        self.out.uncount_duplicates(acked);
        self.count_duplicates(0, acked);
    }

    /// For a receiver without blocks, a duplicate acknowledgement is one.
    pub(super) fn count_duplicates(&mut self, duplicates: u32, acked: u32) {
        let before = self.out.duplicates();
        if self.out.count_duplicates(duplicates) {
            self.detection.reorder_by_duplicates(self.out.len() + acked);
        }
        if duplicates > 0 {
            self.delivered += u64::from(self.out.duplicates().saturating_sub(before));
        }
    }
}

/// Whether the first block reports segments that had arrived before (RFC 2883 §4).
fn is_twice(blocks: &[Block; 3], una: u32) -> bool {
    let (first, second) = (blocks[0], blocks[1]);
    first.1 != 0 && (first.0 < una || second.1 != 0 && second.0 <= first.0 && first.1 <= second.1)
}

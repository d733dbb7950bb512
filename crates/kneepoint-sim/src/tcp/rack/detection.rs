// SPDX-License-Identifier: Apache-2.0 OR MIT
//! RACK: losses detected by the time of sending.
//!
//! RFC 8985 §6, in segments instead of bytes, as `tcp_recovery` of Linux has it.
//!
//! ```text
//! latest = (sent, number) of the packet delivered that was sent last;   rtt = how long the last one delivered took  §6.2 step 2
//! lost     if sent before latest, and now >= sent + rtt + window                                     §6.2 step 5
//! window = 0 until reordering is seen, in recovery or with DupThresh segments sacked;                §6.2 step 4
//!          else min(steps · min_rtt / 4, SRTT)
//! steps    one more for each round trip that brings a D-SACK, once reordering was seen;
//!          one again after 16 recoveries without
//! ```
//!
//! A sample of a segment that was sent twice counts unless it is shorter than the smallest round trip, or the echoed timestamp is
//! older than the last transmission: then an earlier transmission arrived.
//!
//! Readings: `min_rtt` covers the whole connection, where Linux forgets it after five minutes. The reordering degree,
//! Linux's
//! `tp->reordering`, is the distance by which a segment was seen late, at most 300; RACK uses it only as DupThresh.

use super::outstanding::{Fate, Outstanding, Sent};
use crate::units::{Span, Time};

/// The number of recoveries for which a wider reordering window is kept (RFC 8985 §6.2 step 4).
const PERSISTENCE: u32 = 16;
/// The greatest reordering degree (Linux `tcp_max_reordering`).
const MOST_REORDERED: u32 = 300;
/// The most steps of the window of reordering.
const MOST_STEPS: u32 = 255;

/// RACK's estimates of the path.
#[derive(Clone, Debug)]
pub struct Detection {
    latest: (Time, u32),
    rtt: Span,
    least_rtt: Option<Span>,
    /// A delivery has occurred since the last detection of losses.
    pub advanced: bool,
    /// The reordering degree: segments by which one was seen late, or DupThresh.
    pub degree: u32,
    reordered: bool,
    steps: u32,
    /// Recoveries for which `steps` is kept.
    keeps: u32,
    /// A D-SACK has come, which may widen the window; when it was widened last.
    duplicated: bool,
    widened: Time,
}

impl Detection {
    /// For an unknown path.
    pub fn new(dupthresh: u32) -> Detection {
        Detection {
            latest: (Time::ZERO, 0),
            rtt: Span::ZERO,
            least_rtt: None,
            advanced: false,
            degree: dupthresh,
            reordered: false,
            steps: 1,
            keeps: 0,
            duplicated: false,
            widened: Time::ZERO,
        }
    }

    /// A segment is known to have arrived (RFC 8985 §6.2 steps 1 and 2).
    #[inline]
    pub fn deliver(&mut self, seq: u32, sent: Sent, now: Time) {
        let rtt = now.since(sent.at);
        if sent.fate.has(Fate::REPEATED) && self.least_rtt.is_none_or(|least| rtt < least) {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        self.latest = self.latest.max((sent.at, seq));
    }

    /// A segment that was sent once, after all that were delivered before, is known to have arrived.
    #[inline]
    pub fn deliver_next(&mut self, seq: u32, at: Time, now: Time) {
        self.advanced = true;
        self.rtt = now.since(at);
        self.latest = self.latest.max((at, seq));
    }

    /// A round-trip time was measured.
    #[inline]
    pub fn measure(&mut self, rtt: Span) {
        self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
    }

    /// A segment arrived after one that is `distance` greater (RFC 8985 §6.2 step 3).
    #[cold]
    pub fn reorder(&mut self, distance: u32) {
        self.degree = self.degree.max(distance.min(MOST_REORDERED));
        self.reordered = true;
    }

    /// There were more duplicates than segments that can have been received out of order, where the receiver has no
    /// blocks: the degree is the number outstanding, even if that is less (Linux `tcp_check_reno_reordering`).
    #[cold]
    pub fn reorder_by_duplicates(&mut self, outstanding: u32) {
        self.degree = outstanding.min(MOST_REORDERED);
        self.reordered = true;
    }

    /// A D-SACK came that answers no probe.
    pub fn duplicate(&mut self) {
        self.duplicated |= self.reordered;
    }

    /// Widens the reordering window if a D-SACK shows that it was too narrow, at most once a round trip: `sent` is the time of
    /// the latest segment that this acknowledgement delivers.
    #[inline]
    pub fn widen(&mut self, sent: Time, now: Time) {
        if self.duplicated {
            self.widen_once(sent, now);
        } else if self.keeps == 0 {
            self.steps = 1;
        }
    }

    #[cold]
    fn widen_once(&mut self, sent: Time, now: Time) {
        self.duplicated = false;
        if sent >= self.widened {
            self.steps = (self.steps + 1).min(MOST_STEPS);
            self.widened = now;
            self.keeps = PERSISTENCE;
        }
    }

    /// A recovery is over, and was needed.
    pub fn confirm(&mut self) {
        self.keeps = self.keeps.saturating_sub(1);
    }

    /// A recovery was needless, as D-SACKs say.
    pub fn regret(&mut self) {
        self.keeps = (self.keeps + 1).min(PERSISTENCE);
    }

    /// After a timeout that followed many duplicates, the estimated degree was too high.
    pub fn relax(&mut self, dupthresh: u32) {
        self.degree = self.degree.min(dupthresh);
    }

    /// Whether a segment sent at `at` has been in flight for a round trip.
    pub fn is_due(&self, at: Time, now: Time) -> bool {
        at + self.rtt <= now
    }

    /// Marks lost segments; returns how much longer to wait for segments that may be lost, if there are any (§6.2 step 5).
    #[cold]
    pub fn detect(&mut self, out: &mut Outstanding, now: Time, srtt: Span, repairing: bool) -> Option<Span> {
        let patience = self.rtt + self.window(out.sacked(), srtt, repairing);
        let mut longest = None;
        out.judge(self.latest, |at| {
            let until = at + patience;
            if until > now {
                longest = longest.max(Some(until - now));
            }
            until <= now
        });
        longest
    }

    /// The window of reordering (§6.2 step 4).
    fn window(&self, sacked: u32, srtt: Span, repairing: bool) -> Span {
        if !self.reordered && (repairing || sacked >= self.degree) {
            return Span::ZERO;
        }
        let quarter = self.least_rtt.unwrap_or(Span::MAX).0 / 4;
        Span(quarter.saturating_mul(u64::from(self.steps))).min(srtt)
    }
}

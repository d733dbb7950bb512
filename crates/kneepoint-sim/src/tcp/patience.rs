// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The time for which a Linux receiver holds an acknowledgement back.
//!
//! Linux 6.12: `tcp_event_data_recv`, `tcp_send_delayed_ack`, `tcp_delack_timer_handler`, `tcp_ecn_check_ce`.
//!
//! ```text
//! every segment in order, `m` after the one before:
//!   m <= 20 ms:   a = a / 2 + 20 ms
//!   m < a:        a = a / 2 + m, at most RTO
//!   m > RTO:      the next 16 are acknowledged at once
//! an acknowledgement waits a, at most the round trip of the handshake where a is above 40 ms
//! it was sent for lack of another segment:   a = 2 a, at most RTO
//! a mark, the first since the sender's last CWR: the next two are acknowledged at once;  a CWR: its segment is
//! ```
//!
//! `a` begins with 40 ms; `RTO` is the receiver's own, of the handshake. Times here have no ticks.

use crate::packet::Flags;
use crate::units::{Span, Time};

/// Acknowledged at once after a pause.
const AFTER_PAUSE: u32 = 16;
/// Acknowledged at once after a mark.
const AFTER_MARK: u32 = 2;
/// The least difference between the timeout and the round trip.
const LEAST_VARIATION: Span = Span::from_millis(200);

/// The state of the delay.
#[derive(Clone, Debug)]
pub struct Patience {
    /// a at least.
    least: Span,
    a: Span,
    opened: Option<Time>,
    /// The round trip of the handshake, and the timeout that follows from it.
    rtt: Span,
    timeout: Span,
    /// The last segment in order.
    heard: Option<Time>,
    /// A mark was seen that the sender has not answered.
    marked: bool,
}

impl Patience {
    /// Before the first segment.
    pub fn new(least: Span) -> Patience {
        Patience { least, a: least, opened: None, rtt: least, timeout: Span::MAX, heard: None, marked: false }
    }

    /// A SYN arrived.
    pub fn open(&mut self, now: Time) {
        self.opened = Some(now);
    }

    /// A segment in order arrived, whose marks are echoed until the sender answers if `classic`: how many at least are acknowledged at once.
    pub fn hear(&mut self, flags: Flags, classic: bool, now: Time) -> u32 {
        let gap = self.heard.replace(now).map(|before| now.since(before));
        let mut hurry = match gap {
            None => {
                self.measure(now);
                0
            }
            Some(gap) => self.adapt(gap),
        };
        if classic && flags.has(Flags::CWR) {
            self.marked = false;
            hurry = hurry.max(1);
        }
        if classic && flags.has(Flags::CE) && !self.marked {
            self.marked = true;
            self.a = self.least;
            hurry = hurry.max(AFTER_MARK);
        }
        hurry
    }

    fn measure(&mut self, now: Time) {
        if let Some(opened) = self.opened.take() {
            let rtt = now.since(opened);
            self.timeout = rtt + (rtt * 2).max(LEAST_VARIATION);
            self.rtt = rtt.max(self.least);
        }
    }

    fn adapt(&mut self, gap: Span) -> u32 {
        let half = Span(self.least.0 / 2);
        if gap <= half {
            self.a = Span(self.a.0 / 2) + half;
        } else if gap < self.a {
            self.a = (Span(self.a.0 / 2) + gap).min(self.timeout);
        } else if gap > self.timeout {
            return AFTER_PAUSE;
        }
        0
    }

    /// The longest wait of an acknowledgement.
    pub fn delay(&self) -> Span {
        if self.a > self.least { self.a.min(self.rtt) } else { self.a }
    }

    /// An acknowledgement was sent because no further segment arrived.
    pub fn missed(&mut self) {
        self.a = (self.a * 2).min(self.timeout);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Flags = Flags(0);

    /// A receiver whose handshake took 100 ms, and the time of its first segment.
    fn open() -> (Patience, Time) {
        let mut patience = Patience::new(Span::from_millis(40));
        patience.open(Time::ZERO);
        let now = Span::from_millis(100).after_start();
        assert_eq!(patience.hear(PLAIN, true, now), 0);
        (patience, now)
    }

    #[test]
    fn close_segments_bring_the_delay_back_to_forty_milliseconds() {
        let (mut patience, mut now) = open();
        patience.missed();
        assert_eq!(patience.delay(), Span::from_millis(80));
        let delays: Vec<u64> = (0..4)
            .map(|_| {
                now += Span::from_millis(1);
                patience.hear(PLAIN, true, now);
                patience.delay().0 / 1_000_000
            })
            .collect();
        // 80 / 2 + 20, and so on.
        assert_eq!(delays, [60, 50, 45, 42]);
    }

    #[test]
    fn no_delay_is_longer_than_the_round_trip_of_the_handshake() {
        let (mut patience, _) = open();
        (0..3).for_each(|_| patience.missed());
        assert_eq!((patience.a, patience.delay()), (Span::from_millis(300), Span::from_millis(100)));
    }

    #[test]
    fn gaps_below_the_delay_become_it_and_a_pause_hurries() {
        let (mut patience, now) = open();
        let now = now + Span::from_millis(30);
        patience.hear(PLAIN, true, now);
        // 40 / 2 + 30.
        assert_eq!(patience.delay(), Span::from_millis(50));
        // The timeout is 100 + 200 ms.
        assert_eq!(patience.hear(PLAIN, true, now + Span::from_millis(301)), 16);
    }

    #[test]
    fn the_first_mark_hurries_two_and_the_senders_answer_one() {
        let (mut patience, now) = open();
        let mut hear = |flags| patience.hear(flags, true, now);
        assert_eq!([hear(Flags::CE), hear(Flags::CE), hear(PLAIN)], [2, 0, 0]);
        assert_eq!([hear(Flags::CWR), hear(Flags::CE)], [1, 2]);
    }
}

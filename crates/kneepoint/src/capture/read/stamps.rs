// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The sender's clock, by the timestamps that its data carries (RFC 7323): when it ticks, and when data left of a capture away from it.
//!
//! ```text
//! late     arrival less timestamp; its least is of a packet that met no queue, and left as the clock ticked
//! queue    late, beyond the least: what the packet waited before the capture, up to a tick too much
//! left     arrival less queue; no earlier than the packet before, nor, within a tick, than the acknowledgement that it echoes was there
//! steady   the least of each quarter of the capture is the same to a tenth of a tick: neither clock drifts or is set
//! ```

use std::collections::BTreeMap;

use super::Segment;
use crate::units::{Span, Time};

/// Ticks per second of clocks in use: Linux's, and those of older hosts. Not Linux's microseconds (6.7, `tcp_usec_ts`).
const CLOCKS: [f64; 4] = [1000.0, 250.0, 100.0, 10.0];
/// By how much a clock may seem to be off, as queues lengthen.
const OFF: f64 = 0.05;
/// Ticks from which a clock is known.
const ENOUGH: f64 = 100.0;
/// Parts of a capture that are compared, and the part of a tick by which they may differ.
const PARTS: usize = 4;
const DRIFT: f64 = 0.1;

/// The sender's clock.
pub(super) struct Stamps {
    first: u32,
    tick: Span,
    /// The least arrival less timestamp, in nanoseconds.
    least: f64,
    steady: bool,
    /// When acknowledgements with a timestamp were there first.
    heard: BTreeMap<u32, Time>,
    /// When the packet before left.
    before: Time,
}

/// Ticks since the first timestamp.
fn ticks(value: u32, first: u32) -> f64 {
    f64::from(value.wrapping_sub(first) as i32)
}

impl Stamps {
    /// None without timestamps, or if no known clock fits them.
    pub(super) fn of(data: &[Segment]) -> Option<Stamps> {
        let stamped = || data.iter().filter_map(|one| Some((one.at, one.timestamps?.0)));
        let ((from, first), (to, last)) = (stamped().next()?, stamped().next_back()?);
        let passed = ticks(last, first);
        let rate = passed / to.since(from).as_secs_f64();
        let clock = CLOCKS.into_iter().find(|clock| (rate / clock - 1.0).abs() <= OFF)?;
        if passed < ENOUGH {
            return None;
        }
        let tick = Span::from_secs_f64(1.0 / clock);
        let late = |(at, value): (Time, u32)| at.0 as f64 - ticks(value, first) * tick.0 as f64;
        let late: Vec<f64> = stamped().map(late).collect();
        let least_of = |part: &[f64]| part.iter().copied().fold(f64::INFINITY, f64::min);
        let least = least_of(&late);
        let steady = late
            .chunks(late.len().div_ceil(PARTS))
            .all(|part| least_of(part) - least <= DRIFT * tick.0 as f64);
        Some(Stamps { first, tick, least, steady, heard: BTreeMap::new(), before: Time::ZERO })
    }

    /// How long before a time of the capture the clock ticked; zero if it is not steady.
    pub(super) fn since_tick(&self, at: Time) -> Span {
        if !self.steady {
            return Span::ZERO;
        }
        Span((at.0 as f64 - self.least).rem_euclid(self.tick.0 as f64) as u64)
    }

    /// A time of a course that begins with the tick before `begin`, moved into the tick of this timestamp if the clock is steady.
    pub(super) fn in_tick(&self, value: u32, begin: Time, at: Time) -> Time {
        if !self.steady {
            return at;
        }
        let origin = begin.0 as f64 - self.since_tick(begin).0 as f64;
        let ticked = ticks(value, self.first) + ((self.least - origin) / self.tick.0 as f64).round();
        let start = Time((ticked.max(0.0) as u64) * self.tick.0);
        at.clamp(start, start + Span(self.tick.0 - 1))
    }

    /// An acknowledgement is at the sender.
    pub(super) fn hear(&mut self, answer: &Segment, at: Time) {
        if let Some((value, _)) = answer.timestamps {
            self.heard.entry(value).or_insert(at);
        }
    }

    /// When a packet left that was captured at `at`, in the times of the course.
    pub(super) fn sent(&mut self, segment: &Segment, at: Time) -> Time {
        let Some((value, echo)) = segment.timestamps else { return at };
        let late = segment.at.0 as f64 - ticks(value, self.first) * self.tick.0 as f64;
        let queue = Span((late - self.least).max(0.0) as u64);
        let left = Time(at.0.saturating_sub(queue.0));
        let heard = self.heard.get(&echo).copied().filter(|heard| heard.since(left) <= self.tick);
        self.before = left.max(heard.unwrap_or(left)).max(self.before);
        self.before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet captured at this millisecond with this timestamp and echo.
    fn packet(at: u64, stamps: (u32, u32)) -> Segment {
        Segment { at: Time(at * 1_000_000), timestamps: Some(stamps), payload: 1000, ..Segment::default() }
    }

    /// One packet each 10 ms, which a queue delays by up to 30 ms.
    fn queued() -> Vec<Segment> {
        (0..60).map(|place| packet(20 + 10 * place + (place % 4) * 10, (7 + 10 * place as u32, 0))).collect()
    }

    #[test]
    fn a_packet_left_when_its_timestamp_says_it() {
        let data = queued();
        let mut stamps = Stamps::of(&data).expect("a clock of 1 ms");
        let sent: Vec<u64> = data.iter().map(|one| stamps.sent(one, one.at).0 / 1_000_000).collect();
        assert!(sent.iter().zip(0..).all(|(sent, place)| *sent == 20 + 10 * place), "{sent:?}");
    }

    #[test]
    fn a_packet_left_after_the_acknowledgement_that_it_echoes() {
        let mut data = queued();
        data[5].timestamps = Some((57, 900));
        let mut stamps = Stamps::of(&data).expect("a clock of 1 ms");
        let there = Time(70_400_000);
        stamps.hear(&packet(0, (900, 0)), there);
        let sent: Vec<Time> = data.iter().map(|one| stamps.sent(one, one.at)).collect();
        assert_eq!((sent[4], sent[5], sent[6]), (Time(60_000_000), there, Time(80_000_000)));
    }

    #[test]
    fn times_lie_in_the_ticks_of_their_timestamps() {
        let data = queued();
        let stamps = Stamps::of(&data).expect("a clock of 1 ms");
        let begin = Time(20_300_000);
        assert_eq!(stamps.since_tick(begin), Span::from_micros(300));
        // The course begins at 20 ms, which has the timestamp 7.
        let within = |value, micros: u64| stamps.in_tick(value, begin, Time(micros * 1000)).0;
        assert_eq!(
            [within(7, 500), within(17, 10_500), within(17, 9_999)],
            [500_000, 10_500_000, 10_000_000]
        );
        assert_eq!(within(17, 11_200), 10_999_999);
    }

    #[test]
    fn a_clock_that_drifts_or_is_set_has_no_ticks() {
        let changed = |change: fn(u64) -> u64| {
            let mut data = queued();
            data.iter_mut().for_each(|one| one.at = Time(change(one.at.0)));
            let stamps = Stamps::of(&data).expect("a clock of 1 ms");
            let at = Time(31_700_000);
            (stamps.since_tick(at), stamps.in_tick(17, at, at))
        };
        let none = (Span::ZERO, Time(31_700_000));
        assert_ne!(changed(|at| at), none);
        // 500 ppm of 600 ms are a third of a tick.
        assert_eq!(changed(|at| at + at / 2000), none);
        assert_eq!(changed(|at| if at < 300_000_000 { at } else { at - 4_000_000 }), none);
    }

    #[test]
    fn a_clock_that_is_not_known_says_nothing() {
        let mut data = queued();
        data.iter_mut()
            .for_each(|one| one.timestamps = one.timestamps.map(|(value, echo)| (value * 3, echo)));
        assert!(Stamps::of(&data).is_none());
        assert!(Stamps::of(&[Segment::default()]).is_none());
    }
}

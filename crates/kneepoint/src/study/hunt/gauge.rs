// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Gauge: the observer of a contest, with the few numbers by which weaknesses are scored.

use super::genome::Genome;
use crate::packet::Flags;
use crate::trace::{Event, Fate, LinkId, Observer, Reason};
use crate::units::{Interval, Span, Time};

/// Groups that it inspects.
const PAIR: usize = 2;
/// The bottleneck, the first link.
const BOTTLENECK: LinkId = LinkId(0);

/// Watches a run.
#[derive(Clone, Debug)]
pub struct Gauge {
    rates: Interval,
    end: Time,
    delivered: [u64; PAIR],
    /// The time of the subject's last delivery, and its longest time without one.
    last: Time,
    gap: Interval,
    /// Waits of data packets at the bottleneck, in microseconds.
    waits: Vec<u32>,
    window: f64,
    /// The least window at an overflow drop.
    at_drop: f64,
    arrived: u64,
    dropped: u64,
    lawful: bool,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Gauged {
    /// Goodput of each group in the interval of rates, in bit/s.
    pub goodput: [f64; PAIR],
    /// The longest time without a delivery to the subject.
    pub gap: Interval,
    /// Mean queueing delay of data at the bottleneck, in seconds.
    pub delay: f64,
    /// 99th percentile of it less the median, in seconds.
    pub swing: f64,
    /// Data packets dropped by the queue, of all that arrived.
    pub drops: f64,
    /// The least window of the subject when the buffer overflowed, in packets; infinite if it did not.
    pub window_at_drop: f64,
    /// Whether every window was a positive number.
    pub lawful: bool,
}

impl Gauged {
    /// Numbers that no flow on this network exceeds: the score of a subject compared with them is the greatest that it can have.
    pub fn best(genome: &Genome) -> Gauged {
        let most = |pair: bool| {
            let whole = genome.rated(pair).span().as_secs_f64();
            // What arrives in an interval left the bottleneck in it, or as long before as the way takes.
            genome.greatest_rate().as_f64() * (1.0 + genome.longest_way().as_secs_f64() / whole.max(1e-9))
        };
        Gauged {
            goodput: [most(false).max(most(true)); PAIR],
            gap: Interval { from: Time::ZERO, to: Time::ZERO },
            delay: 0.0,
            swing: 0.0,
            drops: 0.0,
            window_at_drop: f64::INFINITY,
            lawful: true,
        }
    }
}

impl Gauge {
    /// A gauge of a run until `end` whose rates are those inside an interval.
    pub fn new(end: Time, rates: Interval) -> Gauge {
        let never = Interval { from: Time::ZERO, to: Time::ZERO };
        Gauge {
            rates,
            end,
            delivered: [0; PAIR],
            last: Time::ZERO,
            gap: never,
            waits: Vec::with_capacity(4096),
            window: 0.0,
            at_drop: f64::INFINITY,
            arrived: 0,
            dropped: 0,
            lawful: true,
        }
    }

    fn pause(&mut self, until: Time) {
        if until.since(self.last) > self.gap.span() {
            self.gap = Interval { from: self.last, to: until };
        }
    }

    /// The numbers of the run.
    pub fn finish(mut self) -> Gauged {
        self.pause(self.end);
        let whole = self.rates.span().as_secs_f64();
        let rate = |bytes: u64| 8.0 * bytes as f64 / whole;
        let count = self.waits.len();
        let sum: u64 = self.waits.iter().map(|wait| u64::from(*wait)).sum();
        let mut percentile = |part: f64| -> f64 {
            if count == 0 {
                return 0.0;
            }
            let place = ((count - 1) as f64 * part) as usize;
            f64::from(*self.waits.select_nth_unstable(place).1) / 1e6
        };
        let swing = percentile(0.99) - percentile(0.5);
        Gauged {
            goodput: self.delivered.map(rate),
            gap: self.gap,
            delay: if count == 0 { 0.0 } else { sum as f64 / count as f64 / 1e6 },
            swing,
            drops: if self.arrived == 0 { 0.0 } else { self.dropped as f64 / self.arrived as f64 },
            window_at_drop: self.at_drop,
            lawful: self.lawful,
        }
    }

    fn wait(&mut self, waited: Span) {
        self.waits.push((waited.0 / 1000).min(u64::from(u32::MAX)) as u32);
    }
}

impl Observer for Gauge {
    #[inline]
    fn on(&mut self, at: Time, event: &Event) {
        match event {
            Event::Delivered { packet, payload } if payload.0 > 0 && (packet.flow as usize) < PAIR => {
                if self.rates.contains(at) {
                    self.delivered[packet.flow as usize] += payload.0;
                }
                if packet.flow == 0 {
                    self.pause(at);
                    self.last = at;
                }
            }
            Event::Service { link: BOTTLENECK, packet, waited } if !packet.flags.has(Flags::ACK) => {
                self.wait(*waited);
            }
            Event::Arrival { link: BOTTLENECK, packet, fate } if !packet.flags.has(Flags::ACK) => {
                self.arrived += 1;
                self.dropped += u64::from(matches!(fate, Fate::Dropped(_)));
                if *fate == Fate::Dropped(Reason::Overflow) && packet.flow == 0 {
                    self.at_drop = self.at_drop.min(self.window);
                }
            }
            Event::Fate { link: BOTTLENECK, packet, fate: Fate::Dropped(reason) }
                if !packet.flags.has(Flags::ACK) && *reason != Reason::Channel =>
            {
                self.dropped += 1;
            }
            Event::Acked { flow, window, .. } if flow.0 == 0 => {
                self.window = *window;
                self.lawful &= window.is_finite() && *window > 0.0;
            }
            _ => {}
        }
    }
}

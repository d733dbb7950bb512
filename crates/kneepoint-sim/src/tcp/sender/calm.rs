// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The calm path of a sender: its segments arrive in order, and nothing is missing.
//!
//! Most acknowledgements and segments take this path. It does the same as `Sender::hear` and `Sender::next_segment` in
//! this state, without tests that the state rules out. The state is inspected after each step off this path, and lasts
//! until an acknowledgement brings news or a timer expires. A test drives a sender on each path through the same
//! transfers.

use super::{Heard, Pacing, Phase, Segment, Sender};
use crate::cc::Ack;
use crate::packet::{Flags, Packet};
use crate::rng::Rng;
use crate::units::Time;

/// Conditions that exclude an acknowledgement from the calm path.
const NEWS: Flags = Flags::SYN.with(Flags::ECE).with(Flags::RATE).with(Flags::CHANGE);

impl Sender {
    /// Whether nothing is missing, retransmitted, counted as a duplicate or followed by time.
    pub(super) fn is_calm(&self) -> bool {
        self.rack.is_none()
            && self.count.is_none()
            && self.options.pacing == Pacing::Own
            && !self.options.rate_limited_increase
            && self.phase == Phase::Open
            && self.next == self.high
            && !self.resend
            && (self.duplicates, self.inflation) == (0, 0)
            && self.board.is_empty()
            && self.prr.is_none()
    }

    /// An acknowledgement arrived.
    #[inline(always)]
    pub fn on_ack(&mut self, packet: &Packet, now: Time, rng: &mut Rng) -> Heard {
        let newly = packet.seq.wrapping_sub(self.una);
        let plain = newly.wrapping_sub(1) < self.high - self.una;
        if self.calm && plain && !packet.flags.has_any(NEWS) && !packet.reports_gap() {
            self.hear_calmly(packet, newly, now, rng)
        } else {
            self.hear_fully(packet, now, rng)
        }
    }

    /// The next packet to send now, if one may be sent.
    #[inline(always)]
    pub fn poll(&mut self, now: Time) -> Option<Segment> {
        if self.calm && self.pace <= now && self.control.pacing.is_none() {
            self.poll_calmly(now)
        } else {
            self.poll_fully(now)
        }
    }

    #[inline(always)]
    fn hear_calmly(&mut self, packet: &Packet, newly: u32, now: Time, rng: &mut Rng) -> Heard {
        let rtt = self.measure(packet, newly, now);
        // Before this acknowledgement removes its packets: afterwards no window looks full.
        let limited = f64::from(self.next - self.una) + 1.0 <= self.control.window && !self.is_paced();
        let acked = self.bytes_between(self.una, packet.seq);
        self.una = packet.seq;
        self.delivered = self.delivered.max(self.una);
        self.timer = if self.una == self.high { Time::NEVER } else { now + self.rtt.timeout() };
        let grows = !(limited && self.options.window_validation);
        let one_way = self.options.timestamps.then(|| packet.lag.span());
        let signal = Ack {
            now,
            rtt,
            one_way,
            acked: newly,
            delivered: u64::from(self.delivered),
            resent: u64::from(self.resent),
            marked: 0,
            limited,
            credit: if grows { f64::from(newly).min(self.options.growth_per_ack) } else { 0.0 },
            una: u64::from(self.una),
            next: u64::from(self.high),
            in_flight: self.next - self.una,
            recovering: false,
        };
        self.control = self.controller.hear(&signal, rng);
        let all_acked = self.una >= self.total;
        let done = all_acked && self.finish_if_done();
        Heard { acked, rtt, one_way, repair: false, done, drained: all_acked && !done }
    }

    #[inline(always)]
    fn poll_calmly(&mut self, now: Time) -> Option<Segment> {
        let seq = self.next;
        if f64::from(seq - self.una) + 1.0 > self.control.window || seq >= self.limit() {
            self.burst = 0;
            return None;
        }
        self.next = seq + 1;
        self.high = self.next;
        if self.timer == Time::NEVER {
            self.timer = now + self.rtt.timeout();
        }
        if !self.options.timestamps {
            self.timed = self.timed.or(Some((seq, now)));
        }
        Some(Segment { seq, size: self.wire_size(seq), flags: self.fresh() })
    }

    #[inline(never)]
    fn hear_fully(&mut self, packet: &Packet, now: Time, rng: &mut Rng) -> Heard {
        let heard = self.hear(packet, now, rng);
        self.calm = self.is_calm();
        heard
    }

    #[inline(never)]
    fn poll_fully(&mut self, now: Time) -> Option<Segment> {
        if self.options.pacing == Pacing::Fq && self.control.pacing.is_none() {
            self.pace_by_host();
        }
        if self.rack.is_some() {
            return self.poll_by_time(now);
        }
        let segment = self.next_segment(now);
        self.calm = self.is_calm();
        segment
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Arc;

    use super::*;
    use crate::cc;
    use crate::cc::Marks;
    use crate::tcp::{Options, Receiver, Recovery};
    use crate::units::{Bytes, Span};

    /// Two senders of the same data, the second of which never takes the calm path.
    struct Pair {
        senders: [Sender; 2],
        rngs: [Rng; 2],
        calm: u32,
    }

    impl Pair {
        fn new(options: Options, size: Option<Bytes>) -> Pair {
            let one = Sender::new(Arc::new(options), &cc::Config::default(), size);
            let rng = Rng::stream(1, "calm", 0);
            Pair { senders: [one.clone(), one], rngs: [rng.clone(), rng], calm: 0 }
        }

        fn both<T: PartialEq + std::fmt::Debug>(&mut self, act: impl Fn(&mut Sender, &mut Rng) -> T) -> T {
            self.calm += u32::from(self.senders[0].calm);
            self.senders[1].calm = false;
            let [first, second] = &mut self.senders;
            let done = act(first, &mut self.rngs[0]);
            assert_eq!(done, act(second, &mut self.rngs[1]));
            assert_eq!(format!("{:?}", first.controller), format!("{:?}", second.controller));
            done
        }
    }

    /// Sends over a path that loses some packets and some acknowledgements, and marks some: how often the sender was calm.
    fn transfer(options: Options, size: Option<Bytes>, seed: u64) -> u32 {
        let mut pair = Pair::new(options.clone(), size);
        let mut receiver = Receiver::new(&options, Marks::Classic);
        let (mut chance, mut on_their_way) = (Rng::stream(seed, "path", 0), VecDeque::new());
        let mut now = Time(1);
        for _ in 0..4000 {
            while let Some(segment) = pair.both(|sender, _| sender.poll(now)) {
                let flags = segment.flags.with_if(chance.chance(0.002), Flags::CE);
                let data = Packet::data(0, segment.seq, segment.size, flags, now);
                let reply = if chance.chance(0.01) { None } else { receiver.on_data(&data, now) };
                if let Some(reply) = reply.filter(|_| !chance.chance(0.01)) {
                    let ack = Packet::ack(0, reply.seq, 40, reply.flags, reply.sent, reply.sack);
                    on_their_way.push_back((now + Span::from_millis(50), ack));
                }
            }
            match on_their_way.pop_front() {
                Some((at, ack)) => {
                    now = now.max(at) + Span(chance.below(100_000));
                    pair.both(|sender, rng| sender.on_ack(&ack, now, rng));
                }
                None => {
                    let wakeup = pair.both(|sender, _| sender.next_wakeup(now));
                    if wakeup == Time::NEVER {
                        break;
                    }
                    now = now.max(wakeup);
                    pair.both(|sender, _| sender.on_wakeup(now));
                }
            }
        }
        pair.calm
    }

    #[test]
    fn the_calm_path_does_what_the_full_one_does() {
        for (seed, recovery) in Recovery::ALL.iter().copied().enumerate() {
            for timestamps in [true, false] {
                for size in [None, Some(Bytes(1_000_500))] {
                    let options = Options { recovery, timestamps, ..Options::default() };
                    let calm = transfer(options, size, seed as u64);
                    assert_eq!(calm > 100, recovery != Recovery::Rack, "{recovery:?}: {calm}");
                }
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sources at work: web sessions that ask for objects, and datagrams at a constant rate.

use crate::packet::{Flags, Packet};
use crate::rng::Rng;
use crate::traffic::cbr;
use crate::traffic::web::{Model, Params};
use crate::units::{Bytes, Rate, Span, Time};

/// A web session.
#[derive(Clone, Debug)]
pub struct Session {
    /// Its population.
    pub group: u32,
    /// Objects of the page that are still to be asked for.
    left: u32,
    /// Objects asked for that have not arrived.
    awaited: u32,
    rng: Rng,
}

impl Session {
    /// A session that has asked for nothing.
    pub fn new(group: u32, rng: Rng) -> Session {
        Session { group, left: 0, awaited: 0, rng }
    }

    /// Which of `pairs` server and client pairs serves the next object.
    pub fn pair(&mut self, pairs: usize) -> usize {
        self.rng.below(pairs as u64) as usize
    }

    /// The size of the next object: Pareto of the second kind, clamped, rounded up.
    pub fn size(&mut self, params: &Params) -> Bytes {
        let size = self.rng.lomax(params.size.0 as f64, params.shape).ceil();
        let size = (size as u64).clamp(params.least.0, params.greatest.0);
        Bytes(size.next_multiple_of(params.multiple.0))
    }

    /// The wait between this request and the next; none where the next waits for the end of a transfer.
    pub fn wait_after_request(&mut self, params: &Params) -> Option<Span> {
        if params.model == Model::Slots {
            return None;
        }
        let first = self.left == 0;
        self.left = if first { params.objects - 1 } else { self.left - 1 };
        self.awaited += 1;
        match (self.left > 0, params.model) {
            (true, _) => Some(self.draw(params.object_gap)),
            (false, Model::Pages) => Some(self.draw(params.gap)),
            (false, _) => None,
        }
    }

    /// The wait between the end of a transfer and the next request, where that is what starts it.
    pub fn wait_after_transfer(&mut self, params: &Params) -> Option<Span> {
        self.awaited = self.awaited.saturating_sub(1);
        match params.model {
            Model::Pages => None,
            Model::Readers => (self.left == 0 && self.awaited == 0).then(|| self.draw(params.gap)),
            Model::Slots => Some(params.gap),
        }
    }

    fn draw(&mut self, mean: Span) -> Span {
        Span::from_secs_f64(self.rng.exponential(mean.as_secs_f64()))
    }
}

/// A source at a constant rate.
#[derive(Clone, Debug)]
pub struct ConstantRate {
    params: cbr::Params,
    start: Time,
    stop: Time,
    /// Bits sent since the beginning of the present on-period: packet k leaves at k · bits / rate, without drift.
    sent: u64,
    period: Time,
}

impl ConstantRate {
    /// A source that sends from `start` until `stop`.
    pub fn new(params: cbr::Params, start: Time, stop: Time) -> ConstantRate {
        ConstantRate { params, start, stop, sent: 0, period: start }
    }

    /// When it sends its first packet.
    pub fn first(&self) -> Time {
        if self.start < self.stop { self.start } else { Time::NEVER }
    }

    /// The packet it sends now.
    pub fn packet(&self, flow: u32, hop: u32, id: u32, now: Time) -> Packet {
        let mut packet = Packet::data(flow, 0, self.params.size.0 as u16, Flags::DATAGRAM, now);
        (packet.hop, packet.id) = (hop, id);
        packet
    }

    /// When it sends the packet after this one.
    pub fn next(&mut self) -> Time {
        self.sent += 1;
        let Rate(rate) = self.params.rate;
        let nanos = u128::from(self.sent) * u128::from(self.params.size.0) * 8_000_000_000 / u128::from(rate);
        let since = Span(u64::try_from(nanos).unwrap_or(u64::MAX));
        let cycles = self.params.on > Span::ZERO && self.params.off > Span::ZERO;
        let mut next = self.period + since;
        if cycles && since >= self.params.on {
            self.period = self.period + self.params.on + self.params.off;
            self.sent = 0;
            next = self.period;
        }
        if next < self.stop { next } else { Time::NEVER }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_rate_keeps_its_rate_and_its_schedule() {
        let params = cbr::Params {
            rate: Rate::from_mbit(3),
            on: Span::from_secs(1),
            off: Span::from_secs(2),
            ..cbr::Params::default()
        };
        let mut source = ConstantRate::new(params, Time(5), Time::ZERO + Span::from_secs(10));
        let mut times = vec![source.first()];
        loop {
            match source.next() {
                Time::NEVER => break,
                at => times.push(at),
            }
        }
        // Four on-periods begin before 10 s, each with 375 packets of 8000 bits at 3 Mbit/s.
        assert_eq!(times.len(), 4 * 375);
        assert_eq!(times[1], Time(5 + 2_666_666));
        assert_eq!(times[375], Time(5 + 3_000_000_000));
        assert!(times.is_sorted());
    }

    #[test]
    fn a_reader_asks_again_only_when_the_whole_page_has_arrived() {
        let params = Params { model: Model::Readers, objects: 3, ..Params::default() };
        let mut session = Session::new(0, Rng::stream(1, "session", 0));
        for _ in 0..2 {
            // The first object arrives while the last is still to be asked for.
            assert!(session.wait_after_request(&params).is_some());
            assert!(session.wait_after_request(&params).is_some());
            assert_eq!(session.wait_after_transfer(&params), None);
            assert_eq!(session.wait_after_request(&params), None);
            assert_eq!(session.wait_after_transfer(&params), None);
            assert!(session.wait_after_transfer(&params).is_some());
        }
    }

    #[test]
    fn sizes_are_rounded_up_to_the_multiple() {
        let params = Params { multiple: Bytes(1000), ..Params::default() };
        let mut session = Session::new(0, Rng::stream(1, "session", 0));
        assert!((0..1000).map(|_| session.size(&params).0).all(|size| size >= 1000 && size % 1000 == 0));
    }

    #[test]
    fn objects_have_the_mean_that_clamping_leaves() {
        // Mean 10 kB, shape 1.2, clamped to [1 kB, 2 MB], leaves 7.71 kB.
        let params = Params {
            size: Bytes(10_000),
            least: Bytes(1_000),
            greatest: Bytes(2_000_000),
            ..Params::default()
        };
        let mut session = Session::new(0, Rng::stream(1, "session", 0));
        let sum: u64 = (0..400_000).map(|_| session.size(&params).0).sum();
        let mean = sum as f64 / 400_000.0;
        assert!((mean - 7710.0).abs() < 250.0, "{mean}");
    }
}

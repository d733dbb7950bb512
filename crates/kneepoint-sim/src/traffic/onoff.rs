// SPDX-License-Identifier: Apache-2.0 OR MIT
//! On and off: bursts of data written into one connection.
//!
//! Willinger, Taqqu, Sherman and Wilson, "Self-similarity through high-variability: statistical analysis of Ethernet LAN
//! traffic at the source level", IEEE/ACM Transactions on Networking 5(1), 1997.
//!
//! ```text
//! paced     on for A, off for B, A ~ law(on), B ~ law(off); while on, `chunk` bytes every 8·chunk / rate
//! bursts    `burst` bytes at the beginning of each on-period, whether the last have arrived or not
//! turns     `burst` bytes; when all of them are acknowledged, off for B, and again
//! ```
//!
//! Times in seconds, rates in bit/s of payload. With a Pareto law of shape k < 2 the sum of many members is self-similar
//! with H = (3 − k)/2. The connection stays open from the member's start to its stop, when it is closed; data written
//! until then is still delivered. The first on-period begins at the start.
//! Departures: the paper superposes sources on an idle link; here TCP decides when the data travels.

use super::{Beat, Cue, Demand, Kind, Law, Nature, Request, Site, Source, Streams};
use crate::rng::Rng;
use crate::units::{Bytes, Rate, Span, Time};

crate::choice! {
    /// The times and amounts of writes.
    pub enum Model {
        /// Chunks at a rate during on-periods.
        Paced = "paced",
        /// A burst at the beginning of each on-period: an open loop.
        Bursts = "bursts",
        /// A burst an off-period after the last was delivered: a closed loop.
        Turns = "turns",
    }
}

crate::settings! {
    /// A source of bursts.
    pub struct Params {
        /// The times and amounts of writes.
        model: Model = Model::Paced;
        /// Mean length of an on-period.
        on: Span = Span::from_secs(1), Span::from_micros(1)..=Span::from_secs(1_000_000);
        /// Distribution of on-periods.
        on_law: Law = Law::Exponential;
        /// Mean length of an off-period.
        off: Span = Span::from_secs(1), Span::ZERO..=Span::from_secs(1_000_000);
        /// Distribution of off-periods.
        off_law: Law = Law::Exponential;
        /// Shape of a Pareto law, above 1, or standard deviation of a log-normal law's logarithm.
        shape: f64 = 1.5, 0.01..=100.0;
        /// Rate of writing while it is on.
        rate: Rate = Rate::from_mbit(1), Rate(8)..=Rate::from_mbit(100_000);
        /// Data of a write at that rate.
        chunk: Bytes = Bytes(1000), Bytes(1)..=Bytes(1_000_000_000);
        /// Data of a burst.
        burst: Bytes = Bytes(100_000), Bytes(1)..=Bytes(1_000_000_000);
    } check |params| {
        for (name, law) in [("on_law", params.on_law), ("off_law", params.off_law)] {
            if !law.takes(params.shape) {
                return Err(format!("shape, {}, gives {name}, {law}, no mean: let it be above 1", params.shape));
            }
        }
        Ok(())
    }
}

/// The one connection of a member.
const OWN: u32 = 0;

/// A source of bursts.
#[derive(Clone, Debug)]
pub struct OnOff {
    params: Params,
    stop: Time,
    opened: bool,
    /// The end of the on-period, and its beginning with the chunks written since.
    end: Time,
    period: Time,
    chunks: u64,
    wakeup: Time,
}

impl Source for OnOff {
    type Params = Params;

    fn new(params: Params, site: Site) -> OnOff {
        let wakeup = if site.start < site.stop { site.start } else { Time::NEVER };
        let end = Time::ZERO;
        OnOff { params, stop: site.stop, opened: false, end, period: end, chunks: 0, wakeup }
    }

    fn nature(&self) -> Nature {
        Nature {
            section: "onoff",
            kind: Kind::Streams,
            streams: Streams { starts: "start-onoff", shared: false, draws: "onoff" },
            packet: None,
            pressing: None,
            live: None,
        }
    }

    fn demand(&self) -> Option<Demand> {
        let params = &self.params;
        let (chunk, burst) = (params.chunk.0 as f64, params.burst.0 as f64);
        let cycle = params.on + params.off;
        Some(match params.model {
            // While it is on. Chunks are not transfers of their own.
            Model::Paced => Demand::new(params.rate.as_f64() / (8.0 * chunk), chunk, 1.0),
            Model::Bursts => Demand::new(1.0 / cycle.as_secs_f64(), burst, f64::INFINITY),
            Model::Turns => Demand::new(1.0 / params.off.as_secs_f64().max(1e-9), burst, 1.0),
        })
    }

    fn on(&mut self, cue: Cue, now: Time, rng: &mut Rng, requests: &mut Vec<Request>) {
        match cue {
            Cue::Time if now >= self.stop => {
                self.wakeup = Time::NEVER;
                requests.push(Request::Close { connection: OWN });
            }
            Cue::Time => {
                if !self.opened {
                    self.opened = true;
                    requests.push(Request::Open { connection: OWN, pair: 0, size: None });
                }
                self.write(now, rng, requests);
            }
            Cue::Delivered { .. } if self.params.model == Model::Turns && now < self.stop => {
                self.wake(now + self.off(rng));
            }
            _ => {}
        }
    }

    fn next_wakeup(&self) -> Time {
        self.wakeup
    }
}

impl OnOff {
    /// Writes the data that is due and sets the timer for the next.
    fn write(&mut self, now: Time, rng: &mut Rng, requests: &mut Vec<Request>) {
        let params = &self.params;
        let size = if params.model == Model::Paced { params.chunk } else { params.burst };
        let transfer = (params.model != Model::Paced).then_some(size);
        requests.push(Request::Write { connection: OWN, size, transfer });
        if params.model == Model::Turns {
            return self.wake(self.stop);
        }
        if now >= self.end {
            (self.period, self.chunks) = (now, 0);
            self.end = now + params.on_law.span(params.on, params.shape, rng);
        }
        self.chunks += 1;
        let since = Beat { size: params.chunk, rate: params.rate }.after(self.chunks);
        let next = Time(self.period.0.saturating_add(since.0));
        let goes_on = params.model == Model::Paced && next < self.end;
        self.wake(if goes_on { next } else { self.end + self.off(rng) });
    }

    fn off(&self, rng: &mut Rng) -> Span {
        self.params.off_law.span(self.params.off, self.params.shape, rng)
    }

    fn wake(&mut self, at: Time) {
        self.wakeup = at.min(self.stop);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times and sizes of its writes, until its connection is closed at 100 s.
    fn writes(params: Params) -> Vec<(Time, Bytes)> {
        let stop = Time::ZERO + Span::from_secs(100);
        let mut source = OnOff::new(params, Site { start: Time::ZERO, stop, pairs: 1 });
        let (mut rng, mut requests, mut writes) = (Rng::stream(1, "onoff", 0), Vec::new(), Vec::new());
        while source.next_wakeup() < Time::NEVER {
            let now = source.next_wakeup();
            source.on(Cue::Time, now, &mut rng, &mut requests);
            for request in requests.drain(..) {
                match request {
                    Request::Write { size, .. } => writes.push((now, size)),
                    Request::Open { size, .. } => assert_eq!((now, size), (Time::ZERO, None)),
                    Request::Close { .. } => assert_eq!(now, stop),
                    other => panic!("{other:?}"),
                }
            }
        }
        writes
    }

    #[test]
    fn constant_periods_are_exact() {
        let constant = Params { on_law: Law::Constant, off_law: Law::Constant, ..Params::default() };
        let writes = writes(constant);
        // Fifty on-periods of 125 chunks of 8000 bits.
        assert_eq!(writes.len(), 50 * 125);
        assert_eq!(writes[1].0, Time(8_000_000));
        assert_eq!(writes[125].0, Time::ZERO + Span::from_secs(2));
    }

    #[test]
    fn random_periods_have_their_means() {
        let params = Params {
            on: Span::from_millis(10),
            off: Span::from_millis(30),
            rate: Rate::from_mbit(100),
            off_law: Law::Pareto,
            shape: 2.5,
            ..Params::default()
        };
        let sum: u64 = writes(params).iter().map(|(_, size)| size.0).sum();
        let mean = 8.0 * sum as f64 / 100.0;
        assert!((mean / 25e6 - 1.0).abs() < 0.05, "{mean} bit/s of 25 Mbit/s");
    }

    #[test]
    fn bursts_come_at_the_beginning_of_on_periods_and_turns_wait_for_delivery() {
        let law = Law::Constant;
        let params = Params { model: Model::Bursts, on_law: law, off_law: law, ..Params::default() };
        let bursts = writes(params.clone());
        assert_eq!((bursts.len(), bursts[1]), (50, (Time::ZERO + Span::from_secs(2), Bytes(100_000))));
        assert_eq!(
            writes(Params { model: Model::Turns, ..params.clone() }).len(),
            1,
            "nothing was delivered"
        );
        let site = Site { start: Time::ZERO, stop: Time::NEVER, pairs: 1 };
        let mut source = OnOff::new(Params { model: Model::Turns, ..params }, site);
        let (mut rng, mut requests) = (Rng::stream(1, "onoff", 0), Vec::new());
        source.on(Cue::Time, Time::ZERO, &mut rng, &mut requests);
        assert_eq!(source.next_wakeup(), Time::NEVER);
        let delivered = Cue::Delivered { connection: 0, bytes: Bytes(100_000), at: Time(6) };
        source.on(delivered, Time(7), &mut rng, &mut requests);
        assert_eq!(source.next_wakeup(), Time(1_000_000_007));
    }
}

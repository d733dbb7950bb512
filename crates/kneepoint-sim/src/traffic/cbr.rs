// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Constant bit rate: datagrams on a fixed schedule, without congestion control.
//!
//! The CBR and on/off sources of ns-2 ("The ns Manual", chapter 39, 2011) without their random noise.
//!
//! ```text
//! packet k of an on-period leaves at its beginning + k · 8·size / rate, without drift
//! ```
//!
//! Packets that would leave after an on-period's end wait for the next period.

use super::{Beat, Cue, Kind, Nature, Request, Site, Source, Streams};
use crate::rng::Rng;
use crate::units::{Bytes, Rate, Span, Time};

crate::settings! {
    /// A constant-rate source.
    pub struct Params {
        /// Rate on the wire while it is on.
        rate: Rate = Rate::from_mbit(1), Rate(8)..=Rate::from_mbit(1_000_000);
        /// Size of a packet on the wire.
        size: Bytes = Bytes(1000), Bytes(1)..=Bytes(60_000);
        /// The length of on periods; 0 for always on.
        on: Span = Span::ZERO, Span::ZERO..=Span::from_secs(1_000_000);
        /// The length of off periods.
        off: Span = Span::ZERO, Span::ZERO..=Span::from_secs(1_000_000);
    } check |params| {
        // It sends at least one packet each time it is on: if on for less, more than its rate.
        let packet = params.rate.time_for(params.size);
        if params.on > Span::ZERO && params.on < packet {
            return Err(format!(
                "on, {}, is less than the {packet} that one packet takes: lengthen `on`, raise `rate` or lower `size`",
                params.on
            ));
        }
        Ok(())
    }
}

/// A source at a constant rate.
#[derive(Clone, Debug)]
pub struct Cbr {
    params: Params,
    stop: Time,
    /// Packets sent since the beginning of the present on-period.
    sent: u64,
    period: Time,
    wakeup: Time,
}

impl Source for Cbr {
    type Params = Params;

    fn new(params: Params, site: Site) -> Cbr {
        let wakeup = if site.start < site.stop { site.start } else { Time::NEVER };
        Cbr { params, stop: site.stop, sent: 0, period: site.start, wakeup }
    }

    fn nature(&self) -> Nature {
        Nature {
            section: "cbr",
            kind: Kind::Datagrams,
            streams: Streams { starts: "start-cbr", shared: true, draws: "cbr" },
            packet: Some(self.params.size),
            pressing: Some(self.params.rate),
            live: None,
        }
    }

    fn on(&mut self, _: Cue, _: Time, _: &mut Rng, requests: &mut Vec<Request>) {
        requests.push(Request::Datagram { size: self.params.size });
        self.sent += 1;
        let since = Beat { size: self.params.size, rate: self.params.rate }.after(self.sent);
        let cycles = self.params.on > Span::ZERO && self.params.off > Span::ZERO;
        let mut next = self.period + since;
        if cycles && since >= self.params.on {
            self.period = self.period + self.params.on + self.params.off;
            self.sent = 0;
            next = self.period;
        }
        self.wakeup = if next < self.stop { next } else { Time::NEVER };
    }

    fn next_wakeup(&self) -> Time {
        self.wakeup
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_rate_keeps_its_rate_and_its_schedule() {
        let params = Params {
            rate: Rate::from_mbit(3),
            on: Span::from_secs(1),
            off: Span::from_secs(2),
            ..Params::default()
        };
        let stop = Time::ZERO + Span::from_secs(10);
        let mut source = Cbr::new(params, Site { start: Time(5), stop, pairs: 1 });
        let (mut rng, mut requests, mut times) = (Rng::stream(1, "cbr", 0), Vec::new(), Vec::new());
        while source.next_wakeup() < Time::NEVER {
            times.push(source.next_wakeup());
            source.on(Cue::Time, source.next_wakeup(), &mut rng, &mut requests);
        }
        // Four on-periods begin before 10 s, each with 375 packets of 8000 bits at 3 Mbit/s.
        assert_eq!((times.len(), requests.len()), (4 * 375, 4 * 375));
        assert_eq!(times[1], Time(5 + 2_666_666));
        assert_eq!(times[375], Time(5 + 3_000_000_000));
        assert!(times.is_sorted());
    }
}

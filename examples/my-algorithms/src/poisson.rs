// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Poisson: datagrams of one size, independent of one another and of the network.
//!
//! An example; A. K. Erlang, "Sandsynlighedsregning og Telefonsamtaler", 1909.
//!
//! ```text
//! time to the next packet: exponential, with mean 8·size / rate
//! ```

use kneepoint::rng::Rng;
use kneepoint::settings;
use kneepoint::traffic::{Cue, Kind, Nature, Request, Site, Source, Streams};
use kneepoint::units::{Bytes, Rate, Span, Time};

settings! {
    /// A Poisson source.
    pub struct Params {
        /// Mean rate on the wire.
        rate: Rate = Rate::from_mbit(1), Rate(8)..=Rate::from_mbit(1_000_000);
        /// Size of a packet on the wire.
        size: Bytes = Bytes(1000), Bytes(1)..=Bytes(60_000);
    }
}

/// A source of datagrams at random.
#[derive(Clone, Debug)]
pub struct Poisson {
    params: Params,
    stop: Time,
    wakeup: Time,
}

impl Source for Poisson {
    type Params = Params;

    fn new(params: Params, site: Site) -> Poisson {
        let wakeup = if site.start < site.stop { site.start } else { Time::NEVER };
        Poisson { params, stop: site.stop, wakeup }
    }

    fn nature(&self) -> Nature {
        Nature {
            section: "poisson",
            kind: Kind::Datagrams,
            streams: Streams { starts: "start-poisson", shared: false, draws: "poisson" },
            packet: Some(self.params.size),
            pressing: None,
            live: None,
        }
    }

    fn on(&mut self, _: Cue, now: Time, rng: &mut Rng, requests: &mut Vec<Request>) {
        requests.push(Request::Datagram { size: self.params.size });
        let mean = self.params.rate.time_for(self.params.size).as_secs_f64();
        let next = now + Span::from_secs_f64(rng.exponential(mean));
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
    fn the_mean_rate_is_kept_and_nothing_follows_the_stop() {
        let stop = Time::ZERO + Span::from_secs(100);
        let mut source = Poisson::new(Params::default(), Site { start: Time::ZERO, stop, pairs: 1 });
        let (mut rng, mut requests) = (Rng::stream(1, "poisson", 0), Vec::new());
        while source.next_wakeup() < Time::NEVER {
            let now = source.next_wakeup();
            assert!(now < stop);
            source.on(Cue::Time, now, &mut rng, &mut requests);
        }
        // 12 500 packets of 8000 bits at 1 Mbit/s in 100 s, within three standard deviations.
        assert!(requests.len().abs_diff(12_500) < 336, "{}", requests.len());
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Live video: packets at a constant rate, handed to TCP as they are made.
//!
//! Wang, Kurose, Shenoy and Towsley, "Multimedia streaming via TCP: an analytic performance study", ACM Multimedia 2004
//! (constrained streaming); Wang, Reddy and others, "PERT for video streaming", 2011, §III.
//!
//! ```text
//! packet k is passed on at its member's start + k · 8·size / rate, without drift and never earlier
//! ```
//!
//! The sender buffers everything that TCP cannot send yet. The client plays packet k at start + τ + k · 8·size / rate, where τ is the
//! start-up delay; a packet that is delivered in order after that is late. One run gives the number of late ones for every τ. With
//! `payload = "200b"` in the group's `tcp`, packets of 200 bytes are segments of their own.

use super::{Beat, Cue, Demand, Kind, Nature, Request, Site, Source, Streams};
use crate::rng::Rng;
use crate::units::{Bytes, Rate, Time};

crate::settings! {
    /// A live stream.
    pub struct Params {
        /// Bit rate of the video.
        rate: Rate = Rate(300_000), Rate(8)..=Rate::from_mbit(100_000);
        /// Size of a packet of it.
        size: Bytes = Bytes(1000), Bytes(1)..=Bytes(1_000_000);
    }
}

/// The one connection of a member.
const OWN: u32 = 0;

/// A live stream.
#[derive(Clone, Debug)]
pub struct Video {
    beat: Beat,
    start: Time,
    stop: Time,
    /// Packets passed on.
    made: u64,
    wakeup: Time,
}

impl Source for Video {
    type Params = Params;

    fn new(params: Params, site: Site) -> Video {
        let wakeup = if site.start < site.stop { site.start } else { Time::NEVER };
        let beat = Beat { size: params.size, rate: params.rate };
        Video { beat, start: site.start, stop: site.stop, made: 0, wakeup }
    }

    fn nature(&self) -> Nature {
        Nature {
            section: "video",
            kind: Kind::Streams,
            streams: Streams { starts: "start-video", shared: false, draws: "video" },
            packet: None,
            pressing: None,
            live: Some(self.beat),
        }
    }

    fn demand(&self) -> Option<Demand> {
        let size = self.beat.size.0 as f64;
        Some(Demand::new(self.beat.rate.as_f64() / (8.0 * size), size, f64::INFINITY))
    }

    fn on(&mut self, cue: Cue, now: Time, _: &mut Rng, requests: &mut Vec<Request>) {
        if cue != Cue::Time {
            return;
        }
        if now >= self.stop {
            self.wakeup = Time::NEVER;
            requests.push(Request::Close { connection: OWN });
            return;
        }
        if self.made == 0 {
            requests.push(Request::Open { connection: OWN, pair: 0, size: None });
        }
        let size = self.beat.size;
        requests.push(Request::Write { connection: OWN, size, transfer: Some(size) });
        self.made += 1;
        self.wakeup = (self.start + self.beat.after(self.made)).min(self.stop);
    }

    fn next_wakeup(&self) -> Time {
        self.wakeup
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    #[test]
    fn packets_are_handed_over_at_the_rate_of_the_video_until_it_stops() {
        let stop = Time::ZERO + Span::from_secs(8);
        let mut source = Video::new(Params::default(), Site { start: Time(7), stop, pairs: 1 });
        let (mut rng, mut requests, mut times) = (Rng::stream(1, "video", 0), Vec::new(), Vec::new());
        while source.next_wakeup() < Time::NEVER {
            times.push(source.next_wakeup());
            source.on(Cue::Time, source.next_wakeup(), &mut rng, &mut requests);
        }
        // 37.5 packets of 8000 bits a second for 8 s, less 7 ns: the first at once, then every 26.67 ms; then it closes.
        assert_eq!((times.len(), requests.len()), (301, 302));
        assert_eq!((times[1], times[3], times[300]), (Time(7 + 26_666_666), Time(7 + 80_000_000), stop));
        assert_eq!(requests[0], Request::Open { connection: OWN, pair: 0, size: None });
        assert_eq!(requests[301], Request::Close { connection: OWN });
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Web sessions: short transfers, one after another, each its own connection.
//!
//! Feldmann, Gilbert, Huang and Willinger, "Dynamics of IP traffic: a study of the role of variability and the impact of
//! control", SIGCOMM 1999.
//!
//! *Pages* (Feldmann et al.): a session asks for a page, waits an exponential time from that
//! request, and asks for the next, whether the first has arrived or not.
//! *Readers* (ns-2's PagePool/WebTraf since November 2001): a session asks for a page, waits until all of it has
//! arrived and an exponential time more, and asks for the next. Where pages are slow the load falls.
//! *Slots* (HTTP/1.0 in the PISA thesis): a slot transfers one object, pauses, and transfers the next.
//! Object sizes are Pareto of the second kind, clamped to `least` and `greatest`, rounded up to `multiple`.

use super::{Cue, Demand, Kind, Nature, Request, Site, Source, Streams};
use crate::rng::Rng;
use crate::units::{Bytes, Span, Time};

crate::choice! {
    /// The trigger of the next page.
    pub enum Model {
        /// Time since the request: an open loop.
        Pages = "pages",
        /// An exponential time since the page before arrived: a closed loop.
        Readers = "readers",
        /// A constant time since the transfer before ended: a closed loop.
        Slots = "slots",
    }
}

crate::choice! {
    /// The time from which a pause after a transfer counts.
    pub enum GapFrom {
        /// The last acknowledgement at the server.
        Acknowledged = "acknowledged",
        /// The arrival of the last byte at the client.
        Arrived = "arrived",
    }
}

crate::settings! {
    /// A population of web sessions.
    pub struct Params {
        /// The trigger of the next page.
        model: Model = Model::Pages;
        /// Mean time between a session's pages or of reading one (exponential), or a slot's pause (constant).
        gap: Span = Span::from_secs(15), Span::from_millis(1)..=Span::from_secs(100_000);
        /// The time from which a pause after a transfer counts.
        gap_from: GapFrom = GapFrom::Acknowledged;
        /// Objects in a page.
        objects: u32 = 1, 1..=1000;
        /// Mean time between the requests for a page's objects (exponential).
        object_gap: Span = Span::from_millis(10), Span::ZERO..=Span::from_secs(1000);
        /// Mean size of an object before clamping.
        size: Bytes = Bytes(12_000), Bytes(1)..=Bytes(1_000_000_000);
        /// Shape of the size's Pareto law.
        shape: f64 = 1.2, 1.01..=100.0;
        /// Smallest object.
        least: Bytes = Bytes(1), Bytes(1)..=Bytes(1_000_000_000);
        /// Greatest object.
        greatest: Bytes = Bytes(1_000_000_000), Bytes(1)..=Bytes(1_000_000_000);
        /// Sizes are rounded up to a multiple of this; ns-2 counts them in full packets.
        multiple: Bytes = Bytes(1), Bytes(1)..=Bytes(60_000);
    } check |params| {
        if params.least > params.greatest {
            return Err(format!("least, {}, is above greatest, {}", params.least, params.greatest));
        }
        Ok(())
    }
}

/// A web session.
#[derive(Clone, Debug)]
pub struct Web {
    params: Params,
    site: Site,
    wakeup: Time,
    /// Objects of the page not yet requested.
    left: u32,
    /// Objects requested but not yet complete.
    awaited: u32,
    /// Objects requested.
    asked: u32,
}

impl Source for Web {
    type Params = Params;

    fn new(params: Params, site: Site) -> Web {
        let wakeup = if site.start < site.stop { site.start } else { Time::NEVER };
        Web { params, site, wakeup, left: 0, awaited: 0, asked: 0 }
    }

    fn nature(&self) -> Nature {
        Nature {
            section: "web",
            kind: Kind::Sessions,
            streams: Streams { starts: "start-web", shared: false, draws: "session" },
            packet: None,
            pressing: None,
            live: None,
        }
    }

    fn demand(&self) -> Option<Demand> {
        let params = &self.params;
        let objects = f64::from(params.objects);
        let page = params.gap.as_secs_f64() + (objects - 1.0) * params.object_gap.as_secs_f64();
        let (per_second, at_most) = match params.model {
            Model::Pages => (objects / page, f64::INFINITY),
            Model::Readers => (objects / page, objects),
            Model::Slots => (1.0 / params.gap.as_secs_f64(), 1.0),
        };
        let size = params.size.0.clamp(params.least.0, params.greatest.0) as f64;
        Some(Demand::new(per_second, size, at_most))
    }

    fn on(&mut self, cue: Cue, now: Time, rng: &mut Rng, requests: &mut Vec<Request>) {
        let wait = match cue {
            Cue::Time => {
                self.wakeup = Time::NEVER;
                let size = Some(self.size(rng));
                let pair = rng.below(u64::from(self.site.pairs)) as u32;
                requests.push(Request::Open { connection: self.asked, pair, size });
                self.asked = self.asked.wrapping_add(1);
                self.wait_after_request(rng)
            }
            Cue::Completed { at, .. } => {
                let pause = self.wait_after_transfer(rng);
                match self.params.gap_from {
                    GapFrom::Acknowledged => pause,
                    GapFrom::Arrived => pause.map(|pause| (at + pause).since(now)),
                }
            }
            _ => None,
        };
        if let Some(wait) = wait {
            let next = now + wait;
            self.wakeup = if next < self.site.stop { next } else { Time::NEVER };
        }
    }

    fn next_wakeup(&self) -> Time {
        self.wakeup
    }
}

impl Web {
    /// The size of the next object: Pareto of the second kind, clamped, rounded up.
    fn size(&self, rng: &mut Rng) -> Bytes {
        let params = &self.params;
        let size = rng.lomax(params.size.0 as f64, params.shape).ceil();
        let size = (size as u64).clamp(params.least.0, params.greatest.0);
        Bytes(size.next_multiple_of(params.multiple.0))
    }

    /// The wait between this request and the next; none where the next waits for the end of a transfer.
    fn wait_after_request(&mut self, rng: &mut Rng) -> Option<Span> {
        if self.params.model == Model::Slots {
            return None;
        }
        let first = self.left == 0;
        self.left = if first { self.params.objects - 1 } else { self.left - 1 };
        self.awaited += 1;
        match (self.left > 0, self.params.model) {
            (true, _) => Some(draw(self.params.object_gap, rng)),
            (false, Model::Pages) => Some(draw(self.params.gap, rng)),
            (false, _) => None,
        }
    }

    /// The wait between the end of a transfer and the next request that it triggers.
    fn wait_after_transfer(&mut self, rng: &mut Rng) -> Option<Span> {
        self.awaited = self.awaited.saturating_sub(1);
        match self.params.model {
            Model::Pages => None,
            Model::Readers => (self.left == 0 && self.awaited == 0).then(|| draw(self.params.gap, rng)),
            Model::Slots => Some(self.params.gap),
        }
    }
}

fn draw(mean: Span, rng: &mut Rng) -> Span {
    Span::from_secs_f64(rng.exponential(mean.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(params: Params) -> (Web, Rng) {
        let site = Site { start: Time::ZERO, stop: Time::NEVER, pairs: 3 };
        (Web::new(params, site), Rng::stream(1, "session", 0))
    }

    #[test]
    fn a_reader_asks_again_only_when_the_whole_page_has_arrived() {
        let (mut session, mut rng) =
            session(Params { model: Model::Readers, objects: 3, ..Params::default() });
        let completed = |connection| Cue::Completed { connection, at: Time(900) };
        let mut requests = Vec::new();
        let mut wakes = |one: &mut Web, cue| {
            one.on(cue, Time(1_000), &mut rng, &mut requests);
            one.next_wakeup() < Time::NEVER
        };
        for _ in 0..2 {
            // The first object arrives before the last is requested.
            assert!(wakes(&mut session, Cue::Time));
            assert!(wakes(&mut session, Cue::Time));
            assert!(wakes(&mut session, completed(0)));
            assert!(!wakes(&mut session, Cue::Time));
            assert!(!wakes(&mut session, completed(1)));
            assert!(wakes(&mut session, completed(2)));
        }
        assert_eq!(requests.len(), 6);
    }

    #[test]
    fn a_pause_counts_from_the_acknowledgement_or_from_the_arrival() {
        let (at, gap) = (Time(1_000), Span(300));
        for (gap_from, now, next) in [
            (GapFrom::Acknowledged, Time(1_100), Time(1_400)),
            (GapFrom::Arrived, Time(1_100), Time(1_300)),
            (GapFrom::Arrived, Time(1_500), Time(1_500)),
        ] {
            let (mut slot, mut rng) =
                session(Params { model: Model::Slots, gap, gap_from, ..Params::default() });
            slot.on(Cue::Completed { connection: 0, at }, now, &mut rng, &mut Vec::new());
            assert_eq!(slot.next_wakeup(), next);
        }
    }

    #[test]
    fn sizes_are_rounded_up_to_the_multiple() {
        let (session, mut rng) = session(Params { multiple: Bytes(1000), ..Params::default() });
        assert!((0..1000).map(|_| session.size(&mut rng).0).all(|size| size >= 1000 && size % 1000 == 0));
    }

    #[test]
    fn objects_have_the_mean_that_clamping_leaves() {
        // Mean 10 kB, shape 1.2, clamped to [1 kB, 2 MB], leaves 7.71 kB.
        let (session, mut rng) = session(Params {
            size: Bytes(10_000),
            least: Bytes(1_000),
            greatest: Bytes(2_000_000),
            ..Params::default()
        });
        let sum: u64 = (0..400_000).map(|_| session.size(&mut rng).0).sum();
        let mean = sum as f64 / 400_000.0;
        assert!((mean - 7710.0).abs() < 250.0, "{mean}");
    }
}

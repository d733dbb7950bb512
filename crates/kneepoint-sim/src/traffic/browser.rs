// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Browsers: pages of several objects, over HTTP/1.0, HTTP/1.1 or HTTP/2.
//!
//! RFC 1945 (HTTP/1.0), RFC 9112 §9.3 and §9.4 (persistent and parallel connections), RFC 9113 §5 (streams).
//!
//! A browser asks for a page's container, asks for the page's objects when the whole container has arrived, reads the page when
//! it is complete, and asks for the next.
//!
//! ```text
//! HTTP/1.0   a connection for each object, at most `connections` at a time
//! HTTP/1.1   at most `connections`, each carrying one object after another
//! HTTP/2     one connection; the objects asked for at the same time share it byte by byte, so that of n objects, sorted by
//!            size s₁ ≤ … ≤ sₙ, the j-th ends with byte  s₁ + … + sⱼ₋₁ + (n − j + 1)·(sⱼ − 1) + 1
//! ```
//!
//! The next request of a connection reaches the server when the acknowledgement of the last byte does; a connection that
//! is opened for a request takes a round trip where TCP has a handshake. Sizes of pages are drawn when the page is
//! requested, so that every scheme has the same pages in the same order. Departures: requests are not packets; objects
//! never wait for part of a container, nor for other objects than the container; all objects come from one server; there
//! is no TLS and no server push.

mod loading;
mod pages;

use std::collections::VecDeque;

use super::{Cue, Demand, Kind, Law, Nature, Request, Site, Size, Source, Streams};
use crate::metric::Reports;
use crate::rng::Rng;
use crate::settings::{Auto, FilePath, Inline, Or};
use crate::units::{Bytes, Span, Time};
pub use loading::PAGE;
pub use pages::Pages;

crate::choice! {
    /// The use of connections by objects.
    pub enum Http {
        /// A connection for each object.
        One = "http/1.0",
        /// Persistent connections, one object at a time on each.
        Persistent = "http/1.1",
        /// One connection, whose streams share it.
        Two = "http/2",
    }
}

crate::settings! {
    /// A population of browsers.
    pub struct Params {
        ..sizes: Size;
        /// The use of connections by objects.
        protocol: Http = Http::Two;
        /// Connections that a browser has open at a time, but for HTTP/2, which needs one.
        connections: u32 = 6, 1..=1000;
        /// Objects of a page; the first is its container.
        objects: u32 = 1, 1..=10_000;
        /// The pages to load in turn, each as the sizes of its container and its objects, `"30kb 5kb 12kb"`, or as the text of a
        /// file; `auto` draws them.
        pages: Or<Pages, Auto> = Or::WORD;
        /// The file to take them from: a HAR file as browsers export it, or a CSV file with a column `size_bytes`, `size_kb` or
        /// `size_mb`, which is one page.
        pages_file: Or<FilePath, Inline> = Or::WORD;
        /// Mean time between a complete page and the request for the next.
        gap: Span = Span::from_secs(1), Span::ZERO..=Span::from_secs(100_000);
        /// The distribution of that time; `shape` belongs to a Pareto or log-normal law.
        gap_law: Law = Law::Exponential;
        /// Whether connections stay open for the next page.
        keep_alive: bool = false;
    } check |params| {
        if !params.gap_law.takes(params.sizes.shape) {
            return Err(format!("shape, {}, gives gap_law, {}, no mean: let it be above 1", params.sizes.shape, params.gap_law));
        }
        if params.gap == Span::ZERO && params.gap_law != Law::Constant {
            return Err("gap, 0s, is no mean of a random time: let gap_law be \"constant\"".into());
        }
        Ok(())
    }
}

/// A browser.
#[derive(Clone, Debug)]
pub struct Browser {
    params: Params,
    site: Site,
    wakeup: Time,
    /// Pages requested.
    asked: usize,
    /// Connections opened.
    opened: u32,
    /// Open connections, and the idle ones among them.
    open: Vec<u32>,
    idle: Vec<u32>,
    page: Loading,
}

/// The page that is loaded.
#[derive(Clone, Debug)]
struct Loading {
    pair: u32,
    began: Time,
    /// The arrival of its latest object.
    latest: Time,
    /// Objects not yet requested.
    left: VecDeque<Bytes>,
    /// The container, or the objects, in flight.
    awaited: usize,
}

impl Source for Browser {
    type Params = Params;

    fn new(params: Params, site: Site) -> Browser {
        let wakeup = if site.start < site.stop { site.start } else { Time::NEVER };
        let page = Loading { pair: 0, began: wakeup, latest: wakeup, left: VecDeque::new(), awaited: 0 };
        Browser { params, site, wakeup, asked: 0, opened: 0, open: vec![], idle: vec![], page }
    }

    fn nature(&self) -> Nature {
        Nature {
            section: "browser",
            kind: Kind::Sessions,
            streams: Streams { starts: "start-browser", shared: false, draws: "browser" },
            packet: None,
            pressing: None,
            live: None,
        }
    }

    fn reports(&self) -> Reports {
        loading::REPORTS
    }

    /// Times of objects, or of pages where objects share one connection.
    fn demand(&self) -> Option<Demand> {
        let params = &self.params;
        let (objects, bytes) = match params.pages.get() {
            Some(Pages(pages)) => {
                let all = || pages.iter().flat_map(|page| page.iter());
                let bytes: u64 = all().map(|size| size.0).sum();
                (all().count() as f64 / pages.len() as f64, bytes as f64 / pages.len() as f64)
            }
            None => (f64::from(params.objects), f64::from(params.objects) * params.sizes.mean()),
        };
        let pages = 1.0 / params.gap.as_secs_f64().max(1e-3);
        Some(match params.protocol {
            Http::Two => Demand::new(pages, bytes, 1.0),
            Http::One | Http::Persistent => {
                Demand::new(pages * objects, bytes / objects, objects.min(f64::from(params.connections)))
            }
        })
    }

    fn on(&mut self, cue: Cue, now: Time, rng: &mut Rng, requests: &mut Vec<Request>) {
        match cue {
            Cue::Time => self.begin(now, rng, requests),
            Cue::Delivered { connection, at, .. } if !self.idle.contains(&connection) => {
                self.idle.push(connection);
                // All streams of a connection have ended when nothing is left in it.
                let ended = if self.params.protocol == Http::Two { self.page.awaited } else { 1 };
                self.arrived(ended, at, now, rng, requests);
            }
            Cue::Completed { at, .. } if self.params.protocol == Http::One => {
                self.arrived(1, at, now, rng, requests)
            }
            // The end of a connection that it closed.
            _ => {}
        }
    }

    fn next_wakeup(&self) -> Time {
        self.wakeup
    }
}

impl Browser {
    /// Asks for the container of the next page.
    fn begin(&mut self, now: Time, rng: &mut Rng, requests: &mut Vec<Request>) {
        self.wakeup = Time::NEVER;
        let pair = rng.below(u64::from(self.site.pairs)) as u32;
        let mut left = self.sizes(rng);
        self.asked += 1;
        let container = left.pop_front().into_iter().collect::<Vec<_>>();
        // Another server has other connections.
        if pair != self.page.pair {
            self.close(requests);
        }
        self.page = Loading { pair, began: now, latest: now, left, awaited: 0 };
        self.ask(&container, requests);
    }

    /// The sizes of the next page.
    fn sizes(&self, rng: &mut Rng) -> VecDeque<Bytes> {
        let params = &self.params;
        if let Some(Pages(pages)) = params.pages.get() {
            return pages[self.asked % pages.len()].iter().copied().collect();
        }
        (0..params.objects).map(|_| params.sizes.draw(rng)).collect()
    }

    /// Objects have arrived, which permits further requests or completes the page. After the stop it is abandoned.
    fn arrived(&mut self, ended: usize, at: Time, now: Time, rng: &mut Rng, requests: &mut Vec<Request>) {
        self.page.awaited -= ended;
        self.page.latest = self.page.latest.max(at);
        if now >= self.site.stop {
            if self.page.awaited == 0 {
                self.close(requests);
            }
        } else if !self.page.left.is_empty() {
            let room = match self.params.protocol {
                Http::Two => usize::MAX,
                Http::One | Http::Persistent => self.params.connections as usize - self.page.awaited,
            };
            let next = self.page.left.drain(..room.min(self.page.left.len())).collect::<Vec<_>>();
            self.ask(&next, requests);
        } else if self.page.awaited == 0 {
            self.complete(now, rng, requests);
        }
    }

    /// The page is complete: the next follows after a while.
    fn complete(&mut self, now: Time, rng: &mut Rng, requests: &mut Vec<Request>) {
        let Loading { began, latest, .. } = self.page;
        requests.push(Request::Report(PAGE.took(latest.since(began), latest)));
        let params = &self.params;
        let next = now + params.gap_law.span(params.gap, params.sizes.shape, rng);
        let goes_on = next < self.site.stop;
        self.wakeup = if goes_on { next } else { Time::NEVER };
        if !self.params.keep_alive || !goes_on {
            self.close(requests);
        }
    }

    /// Asks for objects at the same time.
    fn ask(&mut self, sizes: &[Bytes], requests: &mut Vec<Request>) {
        self.page.awaited += sizes.len();
        match self.params.protocol {
            Http::One => {
                for size in sizes {
                    let connection = self.number();
                    requests.push(Request::Open { connection, pair: self.page.pair, size: Some(*size) });
                }
            }
            Http::Persistent => {
                for &size in sizes {
                    let connection = self.connection(requests);
                    requests.push(Request::Write { connection, size, transfer: Some(size) });
                }
            }
            Http::Two => {
                let connection = self.connection(requests);
                let write = |(size, object)| Request::Write { connection, size, transfer: Some(object) };
                requests.extend(interleaved(sizes).into_iter().map(write));
            }
        }
    }

    /// A connection that carries nothing, opened if there is none.
    fn connection(&mut self, requests: &mut Vec<Request>) -> u32 {
        self.idle.pop().unwrap_or_else(|| {
            let connection = self.number();
            self.open.push(connection);
            requests.push(Request::Open { connection, pair: self.page.pair, size: None });
            connection
        })
    }

    fn number(&mut self) -> u32 {
        self.opened = self.opened.wrapping_add(1);
        self.opened
    }

    fn close(&mut self, requests: &mut Vec<Request>) {
        self.idle.clear();
        requests.extend(self.open.drain(..).map(|connection| Request::Close { connection }));
    }
}

/// Objects that share a connection byte by byte, in the order of their ends: the bytes since the end before, and the size.
fn interleaved(sizes: &[Bytes]) -> Vec<(Bytes, Bytes)> {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    let (mut whole, mut before) = (0, 0);
    let part = |(place, size): (usize, Bytes)| {
        let sharing = (sizes.len() - place) as u64;
        let end = whole + sharing * (size.0 - 1) + 1;
        whole += size.0;
        (Bytes(end - std::mem::replace(&mut before, end)), size)
    };
    sorted.into_iter().enumerate().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Raw, Setting, Settings};

    /// The requests for one page of four objects after its container, each answered in turn.
    fn page(http: Http, connections: u32) -> Vec<Request> {
        let pages = Or::is(Pages::read(&Raw::Text("10kb 3kb 1kb 3kb 2kb".into())).unwrap());
        let params = Params { protocol: http, connections, pages, ..Params::default() };
        let site = Site { start: Time::ZERO, stop: Time(1_000), pairs: 1 };
        let (mut browser, mut rng) = (Browser::new(params, site), Rng::stream(1, "browser", 0));
        let (mut all, mut answered, mut now) = (Vec::new(), 0, Time::ZERO);
        browser.on(Cue::Time, now, &mut rng, &mut all);
        while browser.page.awaited > 0 {
            now = Time(now.0 + 10);
            let cue = match all[answered] {
                Request::Open { connection, size: Some(_), .. } => {
                    Cue::Completed { connection, at: Time(now.0 - 5) }
                }
                Request::Write { connection, .. } => {
                    Cue::Delivered { connection, bytes: Bytes(0), at: Time(now.0 - 5) }
                }
                _ => {
                    answered += 1;
                    continue;
                }
            };
            answered += 1;
            browser.on(cue, now, &mut rng, &mut all);
        }
        all
    }

    #[test]
    fn each_version_of_http_uses_its_connections() {
        let count = |requests: &[Request], wanted: fn(&Request) -> bool| {
            requests.iter().filter(|request| wanted(request)).count()
        };
        let opens = |one: &Request| matches!(one, Request::Open { .. });
        let writes = |one: &Request| matches!(one, Request::Write { .. });
        let closes = |one: &Request| matches!(one, Request::Close { .. });
        let loaded = |one: &Request| matches!(one, Request::Report(page) if page.at.0 % 10 == 5 && page.value == page.at.0 as f64);
        for (http, connections, expected) in
            [(Http::One, 2, (5, 0, 0)), (Http::Persistent, 2, (2, 5, 2)), (Http::Two, 2, (1, 5, 1))]
        {
            let all = page(http, connections);
            assert_eq!((count(&all, opens), count(&all, writes), count(&all, closes)), expected, "{http}");
            assert_eq!(count(&all, loaded), 1, "{http}: {all:?}");
        }
        // The container comes alone, followed by as many objects as there may be connections.
        assert!(matches!(
            page(Http::One, 3)[..4],
            [
                Request::Open { size: Some(Bytes(10_000)), .. },
                Request::Open { size: Some(Bytes(3_000)), .. },
                Request::Open { size: Some(Bytes(1_000)), .. },
                Request::Open { size: Some(Bytes(3_000)), .. },
            ]
        ));
    }

    #[test]
    fn streams_end_where_turns_byte_by_byte_end_them() {
        for sizes in [vec![3, 1, 3, 2], vec![1, 1, 1], vec![7], vec![5, 5, 900, 2, 2]] {
            let mut turns: Vec<(u64, u64)> = Vec::new();
            let mut left: Vec<(u64, u64)> = sizes.iter().map(|size| (*size, *size)).collect();
            left.sort_unstable();
            let mut sent = 0;
            while !left.is_empty() {
                for one in &mut left {
                    (sent, one.0) = (sent + 1, one.0 - 1);
                    if one.0 == 0 {
                        turns.push((sent, one.1));
                    }
                }
                left.retain(|one| one.0 > 0);
            }
            let mut end = 0;
            let ends = interleaved(&sizes.iter().map(|size| Bytes(*size)).collect::<Vec<_>>()).into_iter();
            let ends = ends.map(|(part, size)| {
                end += part.0;
                (end, size.0)
            });
            assert_eq!(ends.collect::<Vec<_>>(), turns, "{sizes:?}");
        }
    }

    #[test]
    fn pages_are_read_as_they_are_printed_and_from_files() {
        let mut params = Params::default();
        for (text, shown) in [
            (Raw::Text("30kb 5kb".into()), "30kb 5kb"),
            (Raw::Text("size_kb\n30\n5\n".into()), "30kb 5kb"),
            (Raw::List(vec![Raw::Text("30kb 5kb".into()), Raw::Text("1b".into())]), "[30kb 5kb, 1b]"),
        ] {
            assert_eq!(params.set("pages", &text), Ok(()));
            assert_eq!(params.get("pages").as_deref(), Some(shown));
        }
        for wrong in ["", "soon", "0b"] {
            assert!(params.set("pages", &Raw::Text(wrong.into())).is_err(), "{wrong:?}");
        }
        assert!(params.set("pages", &Raw::List(vec![])).is_err());
    }

    #[test]
    fn nothing_is_asked_for_after_the_stop() {
        let params = Params { objects: 4, ..Params::default() };
        let site = Site { start: Time::ZERO, stop: Time(100), pairs: 1 };
        let (mut browser, mut rng) = (Browser::new(params, site), Rng::stream(1, "browser", 0));
        let mut requests = Vec::new();
        browser.on(Cue::Time, Time::ZERO, &mut rng, &mut requests);
        let delivered = Cue::Delivered { connection: 1, bytes: Bytes(12_000), at: Time(90) };
        browser.on(delivered, Time(100), &mut rng, &mut requests);
        assert!(matches!(
            requests[..],
            [Request::Open { .. }, Request::Write { .. }, Request::Close { connection: 1 }]
        ));
        assert_eq!(browser.next_wakeup(), Time::NEVER);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Trips of packets, assembled from the points of observation, and their fates at queues.
//!
//! ```text
//! host ─ sent ─ arrives ─ leaves ─ … ─ delivered ─ host
//!                  └ did not leave: dropped, on arrival or when the next of its line left, by the discipline
//! ```
//!
//! An instance observes packets until its queues are empty, so a packet that has not left is not waiting.
//!
//! A packet is identified by its key. If two have the same key between the same points, they are matched in order,
//! since lines keep order. The kernel's own count of drops must agree.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read};

use kneepoint::units::Time;

use super::discipline::Acts;
use super::layout::{FAR, Layout, NEAR, Point, Step};
use super::sighting::Sighting;
use crate::emulator::Side;
use crate::frame::{self, Ecn, Headers};

/// A packet in flight.
#[derive(Clone, Debug)]
pub(super) struct Trip {
    pub(super) headers: Headers,
    pub(super) size: u16,
    pub(super) path: usize,
    pub(super) from: Side,
    pub(super) sent: Time,
    /// By step of its path, as far as it got: the time, and whether it was marked by then.
    pub(super) seen: Vec<(Time, bool)>,
    pub(super) delivered: Option<Time>,
    /// Where its headers are among those of all.
    pub(super) bytes: std::ops::Range<usize>,
}

/// The fate of a packet at a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It left.
    Left,
    /// It was dropped at this time.
    Dropped(Time),
}

/// A packet at a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    pub(super) trip: usize,
    /// The step of its arrival.
    pub(super) step: usize,
    pub(super) arrived: Time,
    pub(super) end: End,
}

/// All packets of a run.
#[derive(Debug, Default)]
pub(super) struct Trips {
    pub(super) all: Vec<Trip>,
    /// By observed queue, in the order of arrival.
    pub(super) visits: Vec<Vec<Visit>>,
    /// Headers, as they left their hosts.
    pub(super) headers: Vec<u8>,
}

/// A sighting without its headers.
struct Mark {
    at: Time,
    key: u64,
    point: Point,
    /// The namespace, if it is a host's.
    host: Option<u32>,
    size: u16,
    class: u8,
    /// The position of its headers.
    headers: std::ops::Range<usize>,
}

impl Mark {
    /// The order among events of one instant: a packet leaves its host, arrives, and leaves the queue; then it reaches
    /// the other host.
    fn rank(&self) -> u8 {
        match (self.host, self.point.leaving) {
            (Some(_), true) => 0,
            (None, false) => 1,
            (None, true) => 2,
            (Some(_), false) => 3,
        }
    }
}

/// The bits of congestion notification of a packet with a mark.
const MARKED: u8 = 3;

impl Trips {
    /// Reads the observations of an instance with this layout.
    pub(super) fn read(layout: &Layout, mut from: impl Read) -> io::Result<Trips> {
        let hosts: BTreeMap<u32, u32> = layout
            .points
            .iter()
            .filter(|(namespace, _)| *namespace <= FAR)
            .flat_map(|(namespace, points)| points.iter().map(|point| (point.device, *namespace)))
            .collect();
        let (mut marks, mut bytes) = (Vec::new(), Vec::new());
        while let Some(Sighting { at, key, point, size, class, headers }) = Sighting::read(&mut from)? {
            let begin = bytes.len();
            bytes.extend_from_slice(&headers);
            let host = hosts.get(&point.device).copied();
            marks.push(Mark { at: Time(at), key, point, host, size, class, headers: begin..bytes.len() });
        }
        marks.sort_by_key(|mark| (mark.at, mark.rank()));
        let mut matching = Matching { layout, trips: Vec::new(), expected: BTreeMap::new() };
        for mark in &marks {
            matching.take(mark, &bytes);
        }
        let mut trips = Trips { all: matching.trips, visits: Vec::new(), headers: bytes };
        trips.visits = trips.visit(layout);
        Ok(trips)
    }

    /// Packets that each followed queue dropped.
    pub(super) fn dropped(&self) -> Vec<u64> {
        let is_dropped = |visit: &&Visit| matches!(visit.end, End::Dropped(_));
        self.visits.iter().map(|visits| visits.iter().filter(is_dropped).count() as u64).collect()
    }

    fn visit(&self, layout: &Layout) -> Vec<Vec<Visit>> {
        let mut visits: Vec<Vec<Visit>> = layout.followed.iter().map(|_| Vec::new()).collect();
        for (place, trip) in self.all.iter().enumerate() {
            let way = &layout.ways[trip.path][usize::from(trip.from == Side::Far)];
            for (step, &(at, _)) in trip.seen.iter().enumerate() {
                if let Step::Arrives { queue, .. } = way[step] {
                    let end = if trip.seen.len() > step + 1 { End::Left } else { End::Dropped(at) };
                    visits[queue].push(Visit { trip: place, step, arrived: at, end });
                }
            }
        }
        for (own, queue) in visits.iter_mut().zip(&layout.followed) {
            // Trips are in the order in which packets left their hosts.
            own.sort_by_key(|visit| visit.arrived);
            self.end(own, queue.acts);
        }
        visits
    }

    /// Determines when packets were dropped at the head of their lines: from the last to the first, since the
    /// packets behind them show it. The last of a line is assumed to have been dropped on arrival.
    fn end(&self, visits: &mut [Visit], acts: Acts) {
        if acts == Acts::OnArrival {
            return;
        }
        let mut left_behind: BTreeMap<Option<frame::Tuple>, Time> = BTreeMap::new();
        for visit in visits.iter_mut().rev() {
            let trip = &self.all[visit.trip];
            let line = (acts == Acts::AtHeadOfFlow).then_some(trip.headers.flow);
            match visit.end {
                End::Left => {
                    left_behind.insert(line, trip.seen[visit.step + 1].0);
                }
                End::Dropped(_) => {
                    if let Some(next) = left_behind.get(&line) {
                        visit.end = End::Dropped(*next);
                    }
                }
            }
        }
    }
}

/// Sightings become trips.
struct Matching<'l> {
    layout: &'l Layout,
    trips: Vec<Trip>,
    /// Trips that are expected at a point, by key.
    expected: BTreeMap<(Point, u64), VecDeque<usize>>,
}

/// The point at which all packets to a host are expected.
fn door(host: u32) -> Point {
    Point { device: host, leaving: false }
}

impl Matching<'_> {
    fn take(&mut self, mark: &Mark, bytes: &[u8]) {
        if mark.host.is_some() && mark.point.leaving {
            self.begin(mark, bytes);
            return;
        }
        let point = mark.host.map_or(mark.point, door);
        let Some(waiting) = self.expected.get_mut(&(point, mark.key)) else { return };
        let Some(place) = waiting.pop_front() else { return };
        if waiting.is_empty() {
            self.expected.remove(&(point, mark.key));
        }
        match mark.host {
            Some(_) => self.trips[place].delivered = Some(mark.at),
            None => {
                self.trips[place].seen.push((mark.at, mark.class & MARKED == MARKED));
                self.expect(place, mark.key);
            }
        }
    }

    /// A packet leaves its host. Packets without a path, such as a reset to an unknown connection, are left out.
    fn begin(&mut self, mark: &Mark, bytes: &[u8]) {
        let headers = &bytes[mark.headers.clone()];
        let Some(read) = frame::read(headers) else { return };
        let from = if mark.host == Some(NEAR) { Side::Near } else { Side::Far };
        let own = usize::from(from == Side::Far);
        let path = self
            .layout
            .addresses
            .iter()
            .position(|addresses| read.flow.from == addresses[own] && read.flow.to == addresses[1 - own]);
        let Some(path) = path else { return };
        let payload = u32::from(mark.size).saturating_sub(headers.len() as u32);
        let trip = Trip {
            headers: Headers { payload, ..read },
            size: mark.size,
            path,
            from,
            sent: mark.at,
            seen: Vec::new(),
            delivered: None,
            bytes: mark.headers.clone(),
        };
        self.trips.push(trip);
        self.expect(self.trips.len() - 1, mark.key);
    }

    /// The trip is expected at its next point.
    fn expect(&mut self, place: usize, key: u64) {
        let trip = &mut self.trips[place];
        let way = &self.layout.ways[trip.path][usize::from(trip.from == Side::Far)];
        let point = loop {
            match way.get(trip.seen.len()) {
                // It comes directly from its host.
                Some(Step::Arrives { at: None, .. }) => {
                    trip.seen.push((trip.sent, trip.headers.ecn == Ecn::Marked));
                }
                Some(
                    Step::Arrives { at: Some(at), .. } | Step::Leaves { at, .. } | Step::Crosses { at, .. },
                ) => {
                    break *at;
                }
                None => break door(if trip.from == Side::Near { FAR } else { NEAR }),
            }
        };
        self.expected.entry((point, key)).or_default().push_back(place);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::super::layout::{Followed, address};
    use super::*;

    const OUT: Point = Point { device: 10, leaving: true };
    const QUEUE: Point = Point { device: 20, leaving: true };

    /// One path from the near host through one queue.
    fn layout(acts: Acts) -> Layout {
        let way = vec![Step::Arrives { queue: 0, at: None }, Step::Leaves { queue: 0, at: QUEUE }];
        let into = Point { device: 11, leaving: false };
        let addresses = |path| [address(Side::Near, path), address(Side::Far, path)];
        Layout {
            points: vec![(NEAR, vec![OUT]), (FAR, vec![into]), (2, vec![QUEUE])],
            followed: vec![Followed { link: 0, measured: true, acts, counter: [2, 20, 0x10001] }],
            ways: vec![[way.clone(), Vec::new()], [way, Vec::new()]],
            addresses: vec![addresses(0), addresses(1)],
            ..Layout::default()
        }
    }

    fn headers(path: usize) -> Vec<u8> {
        let mut bytes = vec![0; 40];
        (bytes[0], bytes[9], bytes[32]) = (0x45, 6, 0x50);
        let octets = |address: Ipv4Addr| address.octets();
        bytes[12..16].copy_from_slice(&octets(address(Side::Near, path)));
        bytes[16..20].copy_from_slice(&octets(address(Side::Far, path)));
        bytes
    }

    fn sighting(at: u64, key: u64, point: Point, class: u8, headers: Vec<u8>) -> Sighting {
        Sighting { at, key, point, size: 1500, class, headers }
    }

    fn read(acts: Acts, all: &[Sighting]) -> Trips {
        let mut bytes = Vec::new();
        all.iter().for_each(|one| one.write(&mut bytes));
        Trips::read(&layout(acts), &bytes[..]).unwrap()
    }

    /// Packets 1 to 3 arrive at 100, 200 and 300; 1 and 3 leave at 150 and 400.
    fn second_is_lost(path: usize) -> Vec<Sighting> {
        let mut all: Vec<Sighting> = (1..=3)
            .map(|key| sighting(100 * key, key, OUT, 0, headers(if key == 2 { path } else { 0 })))
            .collect();
        all.extend([(150, 1), (400, 3)].map(|(at, key)| sighting(at, key, QUEUE, 0, Vec::new())));
        all
    }

    #[test]
    fn what_does_not_leave_was_dropped_where_its_discipline_drops() {
        let end = |acts| read(acts, &second_is_lost(0)).visits[0][1].end;
        assert_eq!(end(Acts::OnArrival), End::Dropped(Time(200)));
        assert_eq!(end(Acts::AtHead), End::Dropped(Time(400)), "when the next left");
    }

    #[test]
    fn lines_of_flows_are_told_apart() {
        let visits = &read(Acts::AtHeadOfFlow, &second_is_lost(1)).visits[0];
        assert_eq!(visits[1].end, End::Dropped(Time(200)), "nothing of its own flow left behind it");
        assert_eq!(visits[2].end, End::Left);
    }

    #[test]
    fn a_mark_and_a_delivery_belong_to_the_packet_of_the_same_key() {
        let into = Point { device: 11, leaving: false };
        let all = [
            sighting(100, 7, OUT, 2, headers(1)),
            sighting(100, 7, QUEUE, 3, Vec::new()),
            sighting(900, 7, into, 3, Vec::new()),
            sighting(950, 8, into, 0, Vec::new()),
        ];
        let trips = read(Acts::AtHead, &all);
        let [trip] = &trips.all[..] else { panic!("{:?}", trips.all) };
        assert_eq!((trip.path, trip.delivered), (1, Some(Time(900))));
        assert_eq!(trip.seen, [(Time(100), false), (Time(100), true)]);
        assert_eq!((trip.headers.payload, trips.dropped()), (1460, vec![0]));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The events of a run, derived from the trips of its packets, for the observers of a simulation.
//!
//! Hosts are seen through the same [`Tap`] as in real time, so metrics of groups and flows have the same definitions.
//! Events of one instant are reported in this order: deliveries, departures from hosts, arrivals at queues, drops,
//! departures from queues.

use std::sync::mpsc;

use kneepoint::packet::{Flags, Packet};
use kneepoint::queue::{Backlog, Fate, Limit, Reason};
use kneepoint::spec::Valid;
use kneepoint::trace::{Event, FlowId, LinkId, Observer, View};
use kneepoint::units::{Bytes, Span, Time};

use super::discipline::Acts;
use super::layout::{Followed, Layout, Step};
use super::trips::{End, Trips, Visit};
use crate::emulator::Side;
use crate::tap::{News, Tap};

/// An event of a packet.
#[derive(Clone, Copy, Debug)]
enum What {
    Delivered,
    Sent,
    Arrives {
        queue: usize,
        visit: usize,
    },
    Drops {
        queue: usize,
    },
    Leaves {
        queue: usize,
        step: usize,
    },
    /// The channel lost it.
    Lost {
        queue: usize,
    },
}

/// The time, the order within its instant, and the packet.
type Happening = (Time, u8, usize, What);

/// A queue's state.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    backlog: Backlog,
}

struct Replay<'r, O> {
    valid: &'r Valid,
    layout: &'r Layout,
    trips: &'r Trips,
    packets: Vec<Packet>,
    states: Vec<State>,
    tap: Tap,
    watch: O,
}

/// Passes all events until the end of the run to `watch`, in order.
pub(super) fn replay<O: Observer>(
    valid: &Valid,
    layout: &Layout,
    trips: &Trips,
    tap: Tap,
    mut news: Vec<News>,
    watch: O,
) -> (O, Tap) {
    let end = valid.schedule().duration;
    let (told, heard) = mpsc::channel();
    news.sort_by_key(told_at);
    let mut news = news.into_iter().peekable();
    let mut replay = Replay {
        valid,
        layout,
        trips,
        packets: vec![Packet::default(); trips.all.len()],
        states: vec![State::default(); layout.followed.len()],
        tap: tap.hearing(heard),
        watch,
    };
    let clock = replay.watch.clock();
    let sample = valid.schedule().sample;
    let mut next_sample = sample.map_or(Time::NEVER, |interval| Time::ZERO + interval);
    for (at, _, trip, what) in happenings(layout, trips) {
        if at > end {
            break;
        }
        while next_sample <= at {
            replay.sample(next_sample, clock);
            next_sample += sample.unwrap_or(Span::ZERO);
        }
        while let Some(one) = news.next_if(|one| told_at(one) <= at) {
            // The tap has the other end.
            let _ = told.send(one);
        }
        if clock {
            replay.watch.advance(at);
        }
        replay.happen(at, trip, what);
    }
    while next_sample <= end {
        replay.sample(next_sample, clock);
        next_sample += sample.unwrap_or(Span::ZERO);
    }
    for one in news {
        let _ = told.send(one);
    }
    replay.tap.tell(end, &mut replay.watch);
    (replay.watch, replay.tap)
}

/// The time of a host's report.
fn told_at(news: &News) -> Time {
    match news {
        News::Completed { delivered, .. } => *delivered,
        News::Reported { report, .. } => report.at,
    }
}

/// All events, in order.
fn happenings(layout: &Layout, trips: &Trips) -> Vec<Happening> {
    let mut all = Vec::new();
    for (place, trip) in trips.all.iter().enumerate() {
        all.push((trip.sent, 1, place, What::Sent));
        if let Some(at) = trip.delivered {
            // For a packet without delay, its sending comes first.
            all.push((at, if at == trip.sent { 5 } else { 0 }, place, What::Delivered));
        }
        let way = &layout.ways[trip.path][usize::from(trip.from == Side::Far)];
        for (step, &(at, _)) in trip.seen.iter().enumerate() {
            if let Step::Leaves { queue, .. } = way[step] {
                all.push((at, 4, place, What::Leaves { queue, step }));
                let crosses = matches!(way.get(step + 1), Some(Step::Crosses { .. }));
                if crosses && trip.seen.len() == step + 1 {
                    all.push((at, 5, place, What::Lost { queue }));
                }
            }
        }
    }
    for (queue, visits) in trips.visits.iter().enumerate() {
        for (visit, &Visit { trip, arrived, end, .. }) in visits.iter().enumerate() {
            all.push((arrived, 2, trip, What::Arrives { queue, visit }));
            match end {
                End::Dropped(at) if layout.followed[queue].acts != Acts::OnArrival => {
                    all.push((at, 3, trip, What::Drops { queue }));
                }
                _ => {}
            }
        }
    }
    all.sort_by_key(|(at, rank, ..)| (*at, *rank));
    all
}

impl<O: Observer> Replay<'_, O> {
    fn happen(&mut self, at: Time, trip: usize, what: What) {
        match what {
            What::Sent => self.sent(at, trip),
            What::Delivered => {
                let one = &self.trips.all[trip];
                self.tap.leave(&one.headers, &self.packets[trip], at, &mut self.watch);
            }
            What::Arrives { queue, visit } => self.arrives(at, queue, visit),
            What::Drops { queue } => {
                self.changed(at, queue, trip, false);
                self.fate(at, queue, trip, Fate::Dropped(Reason::Late));
            }
            What::Leaves { queue, step } => self.leaves(at, queue, trip, step),
            What::Lost { queue } => self.fate(at, queue, trip, Fate::Dropped(Reason::Channel)),
        }
    }

    fn sent(&mut self, at: Time, trip: usize) {
        let one = &self.trips.all[trip];
        let mut packet = self.tap.enter(&one.headers, one.size, at, &mut self.watch);
        packet.id = trip as u32;
        self.packets[trip] = packet;
    }

    fn arrives(&mut self, at: Time, queue: usize, visit: usize) {
        let Followed { link, measured, acts, .. } = self.layout.followed[queue];
        let Visit { trip, step, end, .. } = self.trips.visits[queue][visit];
        let seen = &self.trips.all[trip].seen;
        let dropped = acts == Acts::OnArrival && matches!(end, End::Dropped(_));
        let marked = acts == Acts::OnArrival && end == End::Left && seen[step + 1].1 && !seen[step].1;
        let fate = match (dropped, marked) {
            (true, _) => Fate::Dropped(self.reason(queue, link, trip)),
            (_, true) => Fate::Marked,
            _ => Fate::Passed,
        };
        if marked {
            self.mark(trip);
        }
        if measured || dropped {
            let packet = &self.packets[trip];
            self.watch.on(at, &Event::Arrival { link: LinkId(link), packet, fate });
        }
        // Packets sent at once never wait.
        let waits = end != End::Left || seen[step + 1].0 > at;
        if !dropped && waits {
            self.changed(at, queue, trip, true);
        }
    }

    fn leaves(&mut self, at: Time, queue: usize, trip: usize, step: usize) {
        let Followed { link, measured, acts, .. } = self.layout.followed[queue];
        let seen = &self.trips.all[trip].seen;
        let waited = at.since(seen[step - 1].0);
        if waited > Span::ZERO {
            self.changed(at, queue, trip, false);
        }
        if acts != Acts::OnArrival && seen[step].1 && !seen[step - 1].1 {
            self.mark(trip);
            if measured {
                self.fate(at, queue, trip, Fate::Marked);
            }
        }
        if measured {
            let packet = &self.packets[trip];
            self.watch.on(at, &Event::Service { link: LinkId(link), packet, waited });
        }
    }

    fn mark(&mut self, trip: usize) {
        self.packets[trip].flags = self.packets[trip].flags.with(Flags::CE);
    }

    fn fate(&mut self, at: Time, queue: usize, trip: usize, fate: Fate) {
        let link = LinkId(self.layout.followed[queue].link);
        self.watch.on(at, &Event::Fate { link, packet: &self.packets[trip], fate });
    }

    /// The reason why a packet found no room: the limit leaves none, or the discipline dropped it.
    fn reason(&self, queue: usize, link: u32, trip: usize) -> Reason {
        let spec = &self.valid.network().links[link as usize];
        let size = Bytes(u64::from(self.trips.all[trip].size));
        if spec.limit.admits(self.states[queue].backlog, size) && spec.limit != Limit::Unlimited {
            Reason::Early
        } else {
            Reason::Overflow
        }
    }

    /// The packet joined the queue, or left it.
    fn changed(&mut self, at: Time, queue: usize, trip: usize, joined: bool) {
        let Followed { link, measured, .. } = self.layout.followed[queue];
        let size = u64::from(self.trips.all[trip].size);
        let backlog = &mut self.states[queue].backlog;
        *backlog = if joined {
            Backlog { packets: backlog.packets + 1, bytes: Bytes(backlog.bytes.0 + size) }
        } else {
            let bytes = Bytes(backlog.bytes.0.saturating_sub(size));
            Backlog { packets: backlog.packets.saturating_sub(1), bytes }
        };
        if measured {
            let backlog = *backlog;
            self.watch.on(at, &Event::Queue { link: LinkId(link), backlog });
        }
    }

    fn sample(&mut self, at: Time, clock: bool) {
        if clock {
            self.watch.advance(at);
        }
        let look = Look { layout: self.layout, states: &self.states, tap: &self.tap };
        self.watch.on(at, &Event::Sample { view: &look });
    }
}

/// The state at a sampling instant. The state inside controllers and disciplines is unknown.
struct Look<'a> {
    layout: &'a Layout,
    states: &'a [State],
    tap: &'a Tap,
}

impl View for Look<'_> {
    fn backlog(&self, link: LinkId) -> Backlog {
        let place = self.layout.followed.iter().position(|queue| queue.link == link.0);
        place.map_or(Backlog::default(), |place| self.states[place].backlog)
    }
    fn window(&self, flow: FlowId) -> f64 {
        self.tap.window(flow)
    }
    fn controller(&self, _: FlowId) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
    fn discipline(&self, _: LinkId) -> Vec<(&'static str, f64)> {
        Vec::new()
    }
}

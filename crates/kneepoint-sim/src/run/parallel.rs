// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One run on several threads, with the same results to the bit.
//!
//! The caller starts the threads. Each has the whole network and simulates its region of it (`regions.rs`) in windows as long as the lookahead.
//! Packets that leave a region in a window arrive after it, so they are exchanged between windows.
//! Links and flows keep the numbers that they have in the whole network, so that events at one instant happen in the order of an undivided run.

use super::exchange::Exchange;
use super::regions::Regions;
use super::{Cue, Engine, Outcome, Simulation};
use crate::packet::Packet;
use crate::spec::Valid;
use crate::trace::{LinkId, Observer};
use crate::units::Time;

/// An observer whose parts, each of which watched a region of one run, become the observer of all.
pub trait Joined: Observer {
    /// Adds the observations of another region. Events of the links for which `theirs` is true happened there, and so did all other
    /// events that it observed.
    fn join(&mut self, other: Self, theirs: &dyn Fn(LinkId) -> bool);
}

impl Joined for () {
    fn join(&mut self, (): (), _: &dyn Fn(LinkId) -> bool) {}
}

/// A run as regions for several threads.
pub struct Division<'a> {
    valid: &'a Valid,
    regions: Regions,
    exchange: Exchange,
}

impl<'a> Division<'a> {
    /// At most `threads` regions, which by estimate transmit at least `packets` in each window; none if the run cannot be divided so.
    pub fn new(valid: &'a Valid, threads: usize, packets: u64) -> Option<Division<'a>> {
        let regions = Regions::new(valid, threads, packets)?;
        Some(Division { valid, exchange: Exchange::new(regions.count), regions })
    }

    /// The number of regions, at least two.
    pub fn count(&self) -> usize {
        self.regions.count
    }

    /// The regions, each for a thread of its own, because they wait for each other. All have to advance their simulations by the same steps.
    /// If one is dropped before its end, the others handle no more events, and their results are worthless.
    pub fn regions(&mut self) -> Vec<Region<'_>> {
        self.exchange = Exchange::new(self.regions.count);
        let share = |place| Share::new(&self.regions, &self.exchange, place);
        (0..self.regions.count).map(|place| Region { valid: self.valid, share: share(place) }).collect()
    }

    /// The observations of all regions, in their order, as those of one run.
    pub fn join<O: Joined>(&self, parts: impl IntoIterator<Item = (O, Outcome)>) -> Option<(O, Outcome)> {
        let join = |(mut whole, sum): (O, Outcome), (place, (other, more)): (usize, (O, Outcome))| {
            whole.join(other, &|link| self.regions.transmits(place, link));
            (whole, sum + more)
        };
        let mut parts = parts.into_iter().enumerate();
        let (_, first) = parts.next()?;
        Some(parts.fold(first, join))
    }
}

/// A region of a run, on its thread.
pub struct Region<'a> {
    valid: &'a Valid,
    share: Share<'a>,
}

impl<'a> Region<'a> {
    /// Its number, from 0.
    pub fn place(&self) -> usize {
        self.share.place
    }

    /// Waits until all regions are here. False if one of them was dropped.
    pub fn gather(&self) -> bool {
        self.share.exchange.meet()
    }

    /// Its part of the run for a seed, as a simulation of the whole network.
    pub fn simulation<O: Observer>(mut self, seed: u64, watch: O) -> Simulation<'a, O> {
        let mut state = Engine::new(self.valid, seed);
        self.share.common = state.keep(self.share.regions, self.share.place);
        Simulation { state, watch, share: Some(Box::new(self.share)) }
    }
}

/// A simulation's share of a divided run.
pub(super) struct Share<'a> {
    regions: &'a Regions,
    exchange: &'a Exchange,
    place: usize,
    /// The number of the window, and its end.
    window: usize,
    ends: Time,
    /// Whether another region has ended early, so that this one is worth nothing.
    void: bool,
    /// Times of events that every region has.
    common: Vec<Time>,
    /// Packets that came from other regions for events that the whole network does not have.
    further: u64,
    /// The links by which packets leave it.
    cuts: Vec<LinkId>,
    /// Packets for each other region, and from one of them.
    leaving: Vec<Vec<(Packet, Time)>>,
    arriving: Vec<(Packet, Time)>,
}

impl<'a> Share<'a> {
    fn new(regions: &'a Regions, exchange: &'a Exchange, place: usize) -> Share<'a> {
        Share {
            regions,
            exchange,
            place,
            window: 0,
            ends: Time::ZERO + regions.lookahead,
            void: false,
            common: Vec::new(),
            further: 0,
            cuts: regions
                .links()
                .filter(|link| regions.cuts(*link) && regions.transmits(place, *link))
                .collect(),
            leaving: vec![Vec::new(); regions.count],
            arriving: Vec::new(),
        }
    }

    /// Exchanges packets at the end of a window.
    fn turn(&mut self, state: &mut Engine) {
        self.collect(state);
        for (to, packets) in self.leaving.iter_mut().enumerate() {
            self.exchange.swap(self.window, (self.place, to), packets);
        }
        self.void = !self.exchange.meet();
        for from in (0..self.regions.count).filter(|_| !self.void) {
            self.exchange.swap(self.window, (from, self.place), &mut self.arriving);
            for (packet, arrival) in self.arriving.drain(..) {
                self.further += u64::from(state.network.enter(&packet, arrival, &mut state.events));
            }
        }
        self.window += 1;
        self.ends += self.regions.lookahead;
    }

    /// Takes the packets that leave the region.
    fn collect(&mut self, state: &mut Engine) {
        for link in &self.cuts {
            let packets = state.network.leaving(*link, &mut state.events);
            self.leaving[self.regions.behind(*link)].extend(packets);
        }
    }

    /// Events so far that other regions have too, or that the whole network does not have.
    pub(super) fn surplus(&mut self, state: &mut Engine) -> u64 {
        self.collect(state);
        let common = self.common.iter().filter(|at| self.place > 0 && **at <= state.now).count();
        common as u64 + self.further - state.network.awaited() as u64
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.exchange.end();
    }
}

impl<O: Observer> Simulation<'_, O> {
    /// Runs a region until `until`, window by window.
    #[cold]
    #[inline(never)]
    pub(super) fn advance_region(&mut self, until: Time) {
        while let Some(ends) = self.share.as_ref().filter(|share| !share.void).map(|share| share.ends) {
            self.handle_until(until.min(Time(ends.0 - 1)));
            match &mut self.share {
                Some(share) if ends <= until => share.turn(&mut self.state),
                _ => break,
            }
        }
    }
}

impl Engine<'_> {
    /// Leaves to other regions what is theirs. Returns the times of the events that all regions have.
    fn keep(&mut self, regions: &Regions, region: usize) -> Vec<Time> {
        self.network.cut(|link| regions.cuts(link));
        for link in regions.links().filter(|link| !regions.transmits(region, *link)) {
            self.network.idle(link, &mut self.events);
        }
        let senders = regions.senders(self.valid);
        let mut times: Vec<Time> = self.agenda.iter().map(|(at, _)| *at).collect();
        times.dedup();
        for (_, cue) in &mut self.agenda {
            if let Cue::Start(flow) = cue
                && senders[flow.0 as usize] != region
            {
                *cue = Cue::Elsewhere;
            }
        }
        times
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The run's fair rates, given to senders out of band.

use std::collections::VecDeque;

use crate::feedback::OutOfBand;
use crate::feedback::max_min::{self, Class};
use crate::link::{LinkSpec, capacity};
use crate::queue::Facts;
use crate::units::{Bytes, Interval, Rate, Span, Time};

/// A link whose fair share is announced.
#[derive(Clone, Debug)]
struct Told {
    link: u32,
    rate: Rate,
    /// A second copy of a capacity that varies: what it can carry in an interval depends on the seed alone.
    capacity: Option<capacity::Any>,
    out_of_band: OutOfBand,
}

/// The number of open flows of each class since an instant.
#[derive(Clone, Debug)]
struct Population {
    from: Time,
    flows: Vec<u32>,
}

/// All possible signals to senders.
#[derive(Clone, Debug)]
pub struct Oracle {
    told: Vec<Told>,
    /// Flows that cross the same of these links with the same delay.
    classes: Vec<Class>,
    delays: Vec<Span>,
    /// The oldest first; entries that no sender can request are removed.
    history: VecDeque<Population>,
}

impl Oracle {
    /// The oracle of a network in the run seeded with `seed`, if any of its links has one.
    pub fn new(links: &[LinkSpec], packet: Bytes, seed: u64) -> Option<Box<Oracle>> {
        let told = links.iter().enumerate().filter_map(|(place, link)| {
            let rate = link.rate?;
            let facts = Facts { rate, delay: link.delay, limit: link.limit, packet };
            let out_of_band = link.feedback.build(facts).out_of_band()?;
            let capacity = Some(link.transmitter(seed, place)).filter(|capacity| !capacity.constant());
            Some(Told { link: place as u32, rate, capacity, out_of_band })
        });
        let told: Vec<Told> = told.collect();
        let history = VecDeque::from([Population { from: Time::ZERO, flows: Vec::new() }]);
        (!told.is_empty())
            .then(|| Box::new(Oracle { told, classes: Vec::new(), delays: Vec::new(), history }))
    }

    /// The class of flows whose data takes this path and whose base round trip is `rtt`; none if it receives no signal.
    pub fn class(&mut self, path: &[u32], rtt: Span) -> Option<u32> {
        let links: Vec<usize> =
            (0..self.told.len()).filter(|place| path.contains(&self.told[*place].link)).collect();
        let delay = links.iter().map(|place| self.told[*place].out_of_band.delay.unwrap_or(rtt)).max()?;
        let known = self.classes.iter().zip(&self.delays);
        let place = known.into_iter().position(|(class, age)| class.links == links && *age == delay);
        Some(place.unwrap_or_else(|| {
            self.classes.push(Class { links, flows: 0 });
            self.delays.push(delay);
            self.history.iter_mut().for_each(|population| population.flows.push(0));
            self.classes.len() - 1
        }) as u32)
    }

    /// A flow opens.
    pub fn open(&mut self, class: u32, now: Time) {
        self.change(class, now, |flows| flows + 1);
    }

    /// A flow ends.
    pub fn close(&mut self, class: u32, now: Time) {
        self.change(class, now, |flows| flows.saturating_sub(1));
    }

    fn change(&mut self, class: u32, now: Time, to: impl Fn(u32) -> u32) {
        let longest = self.delays.iter().copied().max().unwrap_or(Span::ZERO);
        while self.history.get(1).is_some_and(|next| next.from + longest <= now) {
            self.history.pop_front();
        }
        let Some(last) = self.history.back_mut() else { return };
        let changed = to(last.flows[class as usize]);
        if last.from == now {
            last.flows[class as usize] = changed;
        } else {
            let mut flows = last.flows.clone();
            flows[class as usize] = changed;
            self.history.push_back(Population { from: now, flows });
        }
    }

    /// The rate given to a flow of a class at `now`.
    pub fn rate(&mut self, class: u32, now: Time) -> Rate {
        let at = Time(now.0.saturating_sub(self.delays[class as usize].0));
        let population = self.history.iter().rev().find(|population| population.from <= at);
        let Some(Population { flows, .. }) = population.or(self.history.front()) else {
            return Rate(u64::MAX);
        };
        for (one, count) in self.classes.iter_mut().zip(flows) {
            one.flows = *count;
        }
        let capacities: Vec<f64> = self.told.iter_mut().map(|told| told.at(at)).collect();
        Rate(max_min::rates(&capacities, &self.classes)[class as usize] as u64)
    }
}

impl Told {
    /// The capacity at an instant in bit/s.
    fn at(&mut self, at: Time) -> f64 {
        let Some(capacity) = &mut self.capacity else { return self.rate.as_f64() };
        // A random capacity keeps its path until then, which it would otherwise draw again for each question.
        capacity.ready(at);
        let window = Interval { from: Time(at.0.saturating_sub(self.out_of_band.window.0)), to: at };
        match window.span() {
            Span::ZERO => self.rate.as_f64(),
            span => capacity.bits(window) / span.as_secs_f64(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback;
    use crate::link::NodeId;
    use crate::settings::Or;

    fn oracle(rates: &[u64], delay: Option<Span>) -> Box<Oracle> {
        let told = |rate: &u64| {
            let delay = delay.map_or(Or::WORD, Or::is);
            let params = feedback::oracle::Params { delay, window: Span::from_millis(1) };
            LinkSpec {
                rate: Some(Rate(*rate)),
                feedback: feedback::Config::Oracle(params),
                ..LinkSpec::new(NodeId(0), NodeId(1))
            }
        };
        let links: Vec<LinkSpec> = rates.iter().map(told).collect();
        Oracle::new(&links, Bytes(1000), 1).expect("an oracle")
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn a_flow_learns_of_another_one_delay_after_it_opened() {
        let mut oracle = oracle(&[1000], None);
        let class = oracle.class(&[0], Span::from_millis(100)).expect("a link that is told");
        oracle.open(class, at(0));
        oracle.open(class, at(500));
        let rates = [50, 599, 600, 5000].map(|millis| oracle.rate(class, at(millis)).0);
        assert_eq!(rates, [1000, 1000, 500, 500]);
        oracle.close(class, at(6000));
        assert_eq!([6099, 6100].map(|millis| oracle.rate(class, at(millis)).0), [500, 1000]);
        assert!(oracle.history.len() < 4, "{:?}", oracle.history);
    }

    #[test]
    fn rates_are_max_min_fair_over_several_links() {
        let mut oracle = oracle(&[10_000, 6_000], Some(Span::ZERO));
        let classes = [&[0, 1][..], &[0], &[1]].map(|path| oracle.class(path, Span::ZERO).expect("told"));
        for class in [0, 1, 2, 2] {
            oracle.open(classes[class], at(0));
        }
        assert_eq!(classes.map(|class| oracle.rate(class, at(1)).0), [2_000, 8_000, 2_000]);
        assert_eq!(oracle.class(&[7], Span::ZERO), None);
    }

    #[test]
    fn a_network_without_an_oracle_tells_nothing() {
        let link = LinkSpec { rate: Some(Rate(8)), ..LinkSpec::new(NodeId(0), NodeId(1)) };
        assert!(Oracle::new(&[link], Bytes(1000), 1).is_none());
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The adjustment by the sender's window (`law/sparing.rs`) at a queue, which counts the flows that it follows.

use super::Arrival;
use crate::law::{Adjustment, sparing as law};
use crate::units::{Span, Time};

/// The number of flows that sent a packet with its window in the last full period, or in the current one if that is more.
#[derive(Clone, Debug)]
struct Population {
    period: Span,
    ends: Time,
    /// The period of each flow's last packet, by number; the first is 1.
    seen: Vec<u32>,
    number: u32,
    now: u32,
    before: u32,
}

impl Population {
    fn new(period: Span) -> Population {
        Population { period, ends: Time::ZERO + period, seen: Vec::new(), number: 1, now: 0, before: 0 }
    }

    // Not inlined, for queues that do not follow their flows.
    #[inline(never)]
    fn observe(&mut self, flow: u32, now: Time) {
        if now >= self.ends {
            self.before = if now < self.ends + self.period { self.now } else { 0 };
            self.now = 0;
            self.number += 1;
            // Periods without arrivals leave nothing to count.
            self.ends = now + self.period;
        }
        let flow = flow as usize;
        if self.seen.len() <= flow {
            self.seen.resize(flow + 1, 0);
        }
        if self.seen[flow] != self.number {
            self.seen[flow] = self.number;
            self.now += 1;
        }
    }

    fn flows(&self) -> u32 {
        self.now.max(self.before)
    }
}

/// The adjustment, and the flows if it follows them.
#[derive(Clone, Debug)]
pub struct Sparing {
    law: law::Sparing,
    population: Option<Population>,
}

impl Sparing {
    /// An adjustment before the first arrival.
    pub fn new(params: law::Params) -> Sparing {
        let population = params.follows_flows().then(|| Population::new(params.spare_period));
        Sparing { law: law::Sparing::new(params), population }
    }

    /// Takes in the arrival that is judged next.
    #[inline]
    pub fn observe(&mut self, arrival: &Arrival) {
        self.law.observe(arrival.window());
        // A packet without a window is judged by no gain.
        if let Some(population) = &mut self.population
            && arrival.window().is_some()
        {
            population.observe(arrival.packet.flow, arrival.now);
            self.law.follow(population.flows());
        }
    }

    /// The probability for the arrival where the law yields `probability`.
    #[inline]
    pub fn adjust(&self, probability: f64) -> f64 {
        self.law.adjust(probability)
    }

    /// Its state, to plot; none without a rule.
    pub fn state(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let flows = self.population.as_ref().map(|population| ("flows", f64::from(population.flows())));
        self.law.state().into_iter().chain(flows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{arrival, packet_of};
    use super::*;

    #[test]
    fn flows_count_that_were_seen_in_this_period_or_the_last() {
        let mut population = Population::new(Span::from_secs(1));
        let mut counts = Vec::new();
        for (milli, flow) in [(0, 5), (10, 9), (20, 5), (990, 7), (1000, 5), (1500, 2), (2100, 5), (9000, 5)]
        {
            population.observe(flow, Span::from_millis(milli).after_start());
            counts.push(population.flows());
        }
        // 5, 9 and 7 in the first second; 5 and 2 in the next; then 5 alone, after a silence without company.
        assert_eq!(counts, [1, 2, 2, 3, 3, 3, 2, 1]);
    }

    #[test]
    fn alpha_follows_the_flows_that_arrive() {
        let params =
            law::Params { spare: law::Rule::Proportional, spare_gain_flows: 10.0, ..law::Params::default() };
        let mut sparing = Sparing::new(params);
        let mut packet = packet_of(8.0);
        for flow in 0..20 {
            packet.flow = flow;
            sparing.observe(&arrival(&packet, 0, Time::ZERO));
        }
        // Twice as many flows as ten: 2 · 3 · 0.1 at the average window.
        assert!((sparing.adjust(0.1) - 0.6).abs() < 1e-12);
        assert_eq!(sparing.state().last(), Some(("flows", 20.0)));
    }
}

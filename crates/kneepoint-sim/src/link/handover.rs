// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Handovers: at regular times a link changes to another satellite or base station, with another delay and rate.
//!
//! Starlink reassigns terminals every 15 s (F. Michel et al., "A First Look at Starlink Performance", IMC 2022; N. Mohan et al., "A Multifaceted
//! Look at Starlink Performance", WWW 2024).
//!
//! ```text
//! from k · every on: the k-th delay and the k-th rate, beginning again behind the last; nothing is transmitted in the `outage` before
//! ```
//!
//! They are steps of the delay and of the capacity that repeat: packets in flight are not lost, and never overtake one another.

use super::spec::LinkSpec;
use super::{capacity, capacity::steps};
use crate::settings::{Auto, List, Never, Or, Timed};
use crate::units::{Rate, Span};

const LONGEST: Span = Span::from_secs(1_000_000);

crate::settings! {
    /// Handovers of a link, both directions at the same time.
    pub struct Handover {
        /// The time from one handover to the next.
        every: Or<Span, Never> = Or::WORD, Or::is(Span::from_millis(1))..=Or::is(LONGEST);
        /// The length of the interruption before each.
        outage: Span = Span::ZERO, Span::ZERO..=LONGEST;
        /// One-way delays of the link, one after the other, then again; `auto` is its own.
        delays: Or<List<Span>, Auto> = Or::WORD, Or::is(List::one(Span::ZERO))..=Or::is(List::one(Span::from_secs(500)));
        /// Rates of the link in the direction of most data, one after the other, then again; `auto` is its own.
        rates: Or<List<Rate>, Auto> = Or::WORD, Or::is(List::one(Rate(1)))..=Or::is(List::one(capacity::GREATEST));
        /// The same in the other direction.
        reverse_rates: Or<List<Rate>, Auto> = Or::WORD,
            Or::is(List::one(Rate(1)))..=Or::is(List::one(capacity::GREATEST));
    } check |handover| {
        match handover.every.get() {
            Some(every) if handover.outage >= *every => {
                Err(format!("outage, {}, leaves nothing of every, {every}: let it be shorter", handover.outage))
            }
            _ => Ok(()),
        }
    }
}

impl Handover {
    /// Lets a link have these handovers, in the direction of `rates`. The error names the setting of the link that they would replace.
    pub fn apply(&self, link: &mut LinkSpec, rates: &Or<List<Rate>, Auto>) -> Result<(), String> {
        let Some(&every) = self.every.get() else { return Ok(()) };
        if let Some(delays) = self.delays.get() {
            if !link.delay_steps.is_empty() {
                return Err("the delays of handovers and `delay_steps` both change the delay".into());
            }
            link.delay = delays.values()[0];
            link.delay_steps = timed(delays.values(), every);
            link.delay_period = Some(every * delays.values().len() as u64);
        }
        if rates.get().is_none() && self.outage == Span::ZERO {
            return Ok(());
        }
        if link.capacity != capacity::Config::default() {
            let name = link.capacity.name();
            return Err(format!(
                "rates and outages of handovers and a capacity `{name}` both change the rate"
            ));
        }
        let own = List::one(link.rate.unwrap_or(capacity::GREATEST));
        let rates = rates.get().unwrap_or(&own).values();
        let mut all = Vec::new();
        for step in timed(rates, every) {
            let pause = Timed { at: step.at + every.saturating_sub(self.outage), value: Rate(0) };
            all.push(step);
            all.extend((self.outage > Span::ZERO).then_some(pause));
        }
        let period = Or::is(every * rates.len() as u64);
        link.capacity = capacity::Config::Steps(steps::Params { rates: all.into(), period });
        Ok(())
    }
}

/// Values, each in force from a multiple of `every`.
fn timed<T: Copy>(values: &[T], every: Span) -> Vec<Timed<T>> {
    let each = values.iter().enumerate();
    each.map(|(place, value)| Timed { at: every * place as u64, value: *value }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::NodeId;
    use crate::units::Time;

    fn link() -> LinkSpec {
        LinkSpec { rate: Some(Rate::from_mbit(50)), ..LinkSpec::new(NodeId(0), NodeId(1)) }
    }

    fn starlink() -> Handover {
        Handover {
            every: Or::is(Span::from_secs(15)),
            outage: Span::from_millis(100),
            delays: Or::is([20, 35, 25].map(Span::from_millis).to_vec().into()),
            rates: Or::is([100, 50].map(Rate::from_mbit).to_vec().into()),
            ..Handover::default()
        }
    }

    #[test]
    fn every_handover_brings_the_next_delay_and_rate_behind_an_outage() {
        let (mut moved, handover) = (link(), starlink());
        handover.apply(&mut moved, &handover.rates).expect("a plain link");
        let secs = |secs: f64| Time((secs * 1e9) as u64);
        let delays = [0.0, 14.9, 15.0, 31.0, 45.0, 60.0].map(|at| moved.delay_at(secs(at)).as_millis_f64());
        assert_eq!(delays, [20.0, 20.0, 35.0, 25.0, 20.0, 35.0]);
        let mbits = |from, to| {
            let window = crate::units::Interval { from: secs(from), to: secs(to) };
            moved.capacity_bits(window, 1, 0) / 1e6
        };
        assert!((mbits(0.0, 14.9) - 1490.0).abs() < 1e-6, "100 Mbit/s at first");
        assert_eq!([mbits(14.9, 15.0), mbits(29.9, 30.0), mbits(44.9, 45.0)], [0.0; 3]);
        assert!((mbits(15.0, 16.0) - 50.0).abs() < 1e-6 && (mbits(30.0, 31.0) - 100.0).abs() < 1e-6);
    }

    #[test]
    fn a_packet_of_an_outage_leaves_when_it_ends() {
        let (mut moved, handover) = (link(), starlink());
        handover.apply(&mut moved, &Or::WORD).expect("a plain link");
        let mut transmitter = moved.transmitter(1, 0);
        let (_, end) = transmitter.send(Time(14_950_000_000), 1250);
        // 10,000 bits at the link's own 50 Mbit/s.
        assert_eq!(end, Time(15_000_200_000));
    }

    #[test]
    fn what_changes_delay_or_rate_already_is_refused() {
        let mut stepped = LinkSpec { delay_steps: vec![Timed { at: Span(5), value: Span(7) }], ..link() };
        let handover = starlink();
        assert!(handover.apply(&mut stepped, &handover.rates).unwrap_err().contains("delay_steps"));
        let mut traced = link();
        traced.capacity = capacity::Config::named("shared").expect("a registered name");
        assert!(handover.apply(&mut traced, &handover.rates).unwrap_err().contains("shared"));
        assert_eq!(Handover::default().apply(&mut link(), &Or::WORD), Ok(()));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Steps: the rate changes at given times, once or in every period.
//!
//! A packet in transmission when the rate changes continues at the new rate; at a rate of zero it pauses. The rate before the first
//! step is the link's. Bits are counted in whole bit-nanoseconds, so nothing is lost at a change.

use super::transmitter::Transmitter;
use super::{Capacity, Facts, GREATEST};
use crate::settings::{List, Never, Or, Timed, increasing};
use crate::units::{Interval, Rate, Span, Time};

const LONGEST: Span = Span::from_secs(1_000_000);

crate::settings! {
    /// A capacity that changes in steps. The link's `rate` lies between the least and the greatest of them.
    pub struct Params {
        /// Times and the rate from each of them on, as in `["0s: 10mbit", "5s: 2mbit"]`.
        rates: List<Timed<Rate>> = List::one(Timed { at: Span::ZERO, value: Rate::from_mbit(10) }),
            List::one(Timed { at: Span::ZERO, value: Rate(0) })..=List::one(Timed { at: LONGEST, value: GREATEST });
        /// The period of the steps.
        period: Or<Span, Never> = Or::WORD, Or::is(Span::from_micros(1))..=Or::is(LONGEST);
    } check |params| {
        let rates = params.rates.values();
        increasing("rates", rates)?;
        match (rates.last(), params.period.get()) {
            (Some(last), Some(period)) if last.at >= *period => {
                Err(format!("period, {period}, ends before the last of the rates, at {}: let it be longer", last.at))
            }
            (_, Some(_)) if rates.iter().all(|step| step.value == Rate(0)) => {
                Err("rates are all zero: nothing would ever be transmitted; raise one".into())
            }
            (Some(last), None) if last.value == Rate(0) => {
                Err("rates end with zero: nothing would be transmitted after; add a step or a period".into())
            }
            _ => Ok(()),
        }
    }
}

/// A rate and the instant from which it holds.
#[derive(Clone, Copy, Debug)]
struct Step {
    at: u64,
    rate: u64,
}

/// The rate over time.
#[derive(Clone, Debug)]
struct Course {
    /// In order, the first at zero.
    steps: Vec<Step>,
    /// Nanoseconds; none if the last step lasts.
    period: Option<u64>,
}

/// A link whose rate changes.
#[derive(Clone, Debug)]
pub struct Steps {
    course: Course,
    transmitter: Transmitter,
}

impl Course {
    /// The rate at an instant, and the instant until which it holds.
    fn rate_at(&self, at: u64) -> (u64, u64) {
        let begin = self.period.map_or(0, |period| at - at % period);
        let place = self.steps.partition_point(|step| step.at <= at - begin);
        let end = self.steps.get(place).map(|step| step.at).or(self.period);
        (self.steps[place - 1].rate, end.map_or(u64::MAX, |end| begin + end))
    }

    /// Bit-nanoseconds from the start of the run, or of a period, to an instant in it.
    fn sum(&self, to: u64) -> u128 {
        let ends = self.steps.iter().skip(1).map(|step| step.at).chain([u64::MAX]);
        let part = |(step, end): (&Step, u64)| {
            u128::from(step.rate) * u128::from(end.min(to).saturating_sub(step.at))
        };
        self.steps.iter().zip(ends).map(part).sum()
    }

    fn carried(&self, to: Time) -> u128 {
        match self.period {
            Some(period) => u128::from(to.0 / period) * self.sum(period) + self.sum(to.0 % period),
            None => self.sum(to.0),
        }
    }
}

impl Capacity for Steps {
    type Params = Params;

    fn new(params: Params, facts: Facts) -> Steps {
        let mut steps: Vec<Step> =
            params.rates.values().iter().map(|step| Step { at: step.at.0, rate: step.value.0 }).collect();
        if steps.first().is_none_or(|first| first.at > 0) {
            steps.insert(0, Step { at: 0, rate: facts.rate.unwrap_or(GREATEST).0 });
        }
        let period = params.period.get().map(|period| period.0);
        Steps { course: Course { steps, period }, transmitter: Transmitter::default() }
    }

    fn suits(&self, rate: Rate) -> Result<(), String> {
        let rates = || self.course.steps.iter().map(|step| Rate(step.rate));
        let (least, greatest) = (rates().min().unwrap_or(rate), rates().max().unwrap_or(rate));
        if (least..=greatest).contains(&rate) {
            return Ok(());
        }
        Err(format!(
            "rate, {rate}, is outside the rates of the capacity, {least} to {greatest}: give a rate of that range"
        ))
    }

    fn send(&mut self, at: Time, size: u16) -> (Time, Time) {
        self.transmitter.send(at, size, |now| self.course.rate_at(now))
    }

    fn bits(&self, window: Interval) -> f64 {
        (self.course.carried(window.to) - self.course.carried(window.from)) as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn steps(rates: &[(u64, u64)], period: Option<u64>) -> Steps {
        let timed = |&(ms, kbit): &(u64, u64)| Timed { at: Span::from_millis(ms), value: Rate(kbit * 1000) };
        let rates: Vec<_> = rates.iter().map(timed).collect();
        let period = period.map_or(Or::WORD, |ms| Or::is(Span::from_millis(ms)));
        Steps::new(Params { rates: rates.into(), period }, Facts::new(Some(Rate::from_mbit(1)), 1, 0))
    }

    fn ms(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    #[test]
    fn a_packet_in_transmission_continues_at_the_new_rate() {
        // 1000 bytes are 8000 bits: 4 ms at 1 Mbit/s carry half, 8 ms at 500 kbit/s the rest.
        let mut link = steps(&[(0, 1000), (4, 500)], None);
        assert_eq!(link.send(ms(0), 1000), (ms(0), ms(12)));
        assert_eq!(link.send(ms(5), 1000), (ms(12), ms(28)));
        let window = Interval { from: ms(2), to: ms(10) };
        assert_eq!(link.bits(window), 2000.0 + 3000.0);
    }

    #[test]
    fn an_outage_pauses_a_transmission_and_a_period_repeats_it() {
        // 2 ms on, 8 ms off: 2000 bits in each period.
        let mut link = steps(&[(0, 1000), (2, 0)], Some(10));
        assert_eq!(link.send(ms(0), 500), (ms(0), ms(20)));
        // 4000 bits end exactly with the second period, whose next opportunity is at 20 ms.
        assert_eq!(link.send(ms(25), 125), (ms(25), ms(31)));
        assert_eq!(link.bits(Interval { from: ms(1), to: ms(31) }), 1000.0 + 2.0 * 2000.0 + 1000.0);
    }

    #[test]
    fn the_rate_before_the_first_step_is_the_links() {
        let mut link = steps(&[(8, 2000)], None);
        assert_eq!(link.send(ms(0), 1000), (ms(0), ms(8)));
        assert_eq!(link.send(ms(0), 1000), (ms(8), ms(12)));
    }

    #[test]
    fn one_step_is_a_constant_rate_to_the_nanosecond() {
        let mut rng = Rng::stream(1, "steps", 0);
        let rate = Rate(7_654_321);
        let mut constant = super::super::constant::Constant::at(Some(rate));
        let step = Timed { at: Span::ZERO, value: rate };
        let mut steps =
            Steps::new(Params { rates: List::one(step), period: Or::WORD }, Facts::new(Some(rate), 1, 0));
        let mut now = Time::ZERO;
        for _ in 0..10_000 {
            let size = 40 + rng.below(1461) as u16;
            assert_eq!(steps.send(now, size), constant.send(now, size));
            now = Time(now.0 + rng.below(3_000_000));
        }
    }

    #[test]
    fn steps_that_would_never_transmit_are_refused() {
        use crate::settings::Settings;
        let zero = || List::one(Timed { at: Span::ZERO, value: Rate(0) });
        assert!(Params { rates: zero(), period: Or::WORD }.check().unwrap_err().contains("zero"));
        let period = Or::is(Span::from_secs(1));
        assert!(Params { rates: zero(), period: period.clone() }.check().unwrap_err().contains("all zero"));
        let late = List::one(Timed { at: Span::from_secs(2), value: Rate(1) });
        assert!(Params { rates: late, period }.check().unwrap_err().contains("period"));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A line delays each packet, with jitter, changes of the delay and losses where it has them; it never reorders.

use super::loss;
use crate::rng::Rng;
use crate::settings::Timed;
use crate::units::{Bytes, Span, Time};

/// The path of a packet after its transmission.
#[derive(Clone, Debug)]
pub struct Line {
    delay: Span,
    /// Boxed: most lines have none, and a thousand flows have four thousand lines.
    noise: Option<Box<Noise>>,
}

/// The variations of a line.
#[derive(Clone, Debug)]
struct Noise {
    jitter: Span,
    /// Delays to come, the next last.
    steps: Vec<Timed<Span>>,
    /// Repeating delays.
    again: Option<Again>,
    /// The loss model; none if the line is lossless.
    loss: Option<loss::Any>,
    last: Time,
    rng: Rng,
}

/// Delays of one period, and that before the first step.
#[derive(Clone, Debug)]
struct Again {
    first: Span,
    steps: Box<[Timed<Span>]>,
    period: Span,
    /// The beginning of the next period.
    next: Span,
}

impl Line {
    /// A line of this delay, plus up to `jitter` at random, and this loss. A step's delay applies from its instant;
    /// after a period the delays begin again.
    pub fn new(
        delay: Span,
        jitter: Span,
        (steps, period): (&[Timed<Span>], Option<Span>),
        loss: loss::Any,
        rng: Rng,
    ) -> Line {
        let loss = (!loss.lossless()).then_some(loss);
        let noisy = jitter > Span::ZERO || !steps.is_empty() || loss.is_some();
        let noise = || {
            let again =
                period.map(|period| Again { first: delay, steps: steps.into(), period, next: period });
            let to_come = steps.iter().rev().copied().collect();
            Box::new(Noise { jitter, steps: to_come, again, loss, last: Time::ZERO, rng })
        };
        Line { delay, noise: noisy.then(noise) }
    }

    /// Whether it delays all packets equally and loses none.
    pub fn plain(&self) -> bool {
        self.noise.is_none()
    }

    /// Whether it only delays packets at random.
    pub fn only_noise(&self) -> bool {
        let plain = |noise: &Noise| noise.steps.is_empty() && noise.loss.is_none();
        self.delay == Span::ZERO && self.noise.as_deref().is_some_and(plain)
    }

    /// The arrival of a packet whose transmission ends at `end`, on a plain line.
    pub fn end(&self, end: Time) -> Time {
        end + self.delay
    }

    /// The arrival of a packet whose transmission ends at `end`; never, if the line loses it.
    #[inline]
    pub fn carry(&mut self, end: Time, size: u16) -> Option<Time> {
        match &mut self.noise {
            None => Some(end + self.delay),
            Some(noise) => noise.carry(end, &mut self.delay, size),
        }
    }
}

impl Noise {
    fn carry(&mut self, end: Time, delay: &mut Span, size: u16) -> Option<Time> {
        loop {
            while let Some(step) = self.steps.pop_if(|step| step.at.after_start() <= end) {
                *delay = step.value;
            }
            let Some(again) = &mut self.again else { break };
            if !self.steps.is_empty() || again.next.after_start() > end {
                break;
            }
            self.steps = again.begin(end);
        }
        if let Some(loss) = &mut self.loss
            && loss.loses(end, Bytes(u64::from(size)), &mut self.rng)
        {
            return None;
        }
        let late = if self.jitter == Span::ZERO { Span::ZERO } else { Span(self.rng.below(self.jitter.0)) };
        self.last = self.last.max(end + *delay + late);
        Some(self.last)
    }
}

impl Again {
    /// The steps of the period of `end`, the next last.
    #[cold]
    fn begin(&mut self, end: Time) -> Vec<Timed<Span>> {
        let begins = Span(end.0 - end.0 % self.period.0);
        self.next = begins + self.period;
        let later = |step: &Timed<Span>| Timed { at: begins + step.at, ..*step };
        let first = Timed { at: begins, value: self.first };
        self.steps.iter().rev().map(later).chain([first]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Raw;

    /// A line of 5 ns with a loss by name and settings.
    fn line(name: &str, fields: &[(&str, Raw)]) -> Line {
        let mut loss = loss::Config::named(name).expect("a registered name");
        for (field, value) in fields {
            loss.set(field, value).expect("allowed");
        }
        Line::new(Span(5), Span::ZERO, (&[], None), loss.build(), Rng::stream(3, "line", 0))
    }

    fn lost(name: &str, fields: &[(&str, f64)], packets: u64) -> u64 {
        let fields: Vec<_> = fields.iter().map(|(field, value)| (*field, Raw::Float(*value))).collect();
        let mut line = line(name, &fields);
        (0..packets).filter(|_| line.carry(Time(0), 1000).is_none()).count() as u64
    }

    #[test]
    fn a_channel_loses_what_its_law_says() {
        assert_eq!(lost("none", &[], 1000), 0);
        assert_eq!(lost("uniform", &[("p", 1.0)], 1000), 1000);
        let uniform = lost("uniform", &[("p", 0.01)], 200_000);
        assert!((1850..2150).contains(&uniform), "{uniform}");
        // 1 − (1 − 1e-6)^8000 = 0.0079681
        let bits = lost("bit-error", &[("p", 1e-6)], 200_000);
        assert!((1450..1740).contains(&bits), "{bits}");
        // In the bad state 1/(1 + 4) of the time, where half is lost: 0.1.
        let bursts = [("to_bad", 0.01), ("to_good", 0.04), ("loss_good", 0.0), ("loss_bad", 0.5)];
        let bursts = lost("gilbert-elliott", &bursts, 400_000);
        assert!((38_000..42_000).contains(&bursts), "{bursts}");
    }

    #[test]
    fn a_channel_loses_one_packet_for_each_instant_it_is_given() {
        let instants = ["25ns", "10ns", "25ns", "1us"].map(|text| Raw::Text(text.into())).to_vec();
        let mut line = line("at", &[("times", Raw::List(instants))]);
        let lost = (0..10).map(|i| Time(10 * i)).filter(|at| line.carry(*at, 1000).is_none());
        assert_eq!(lost.collect::<Vec<_>>(), [10, 30, 40].map(Time));
    }

    #[test]
    fn jitter_never_reorders() {
        let none = loss::Config::default().build();
        let mut line = Line::new(Span(1000), Span(500), (&[], None), none, Rng::stream(3, "line", 0));
        let arrivals: Vec<_> = (0..1000).map(|i| line.carry(Time(i * 100), 40).unwrap()).collect();
        assert!(arrivals.is_sorted());
        let lags = arrivals.iter().enumerate().map(|(i, at)| at.0 - i as u64 * 100);
        assert!(lags.clone().min() >= Some(1000) && lags.max() < Some(1500));
    }

    #[test]
    fn a_delay_that_falls_lets_no_packet_overtake_another() {
        let steps = [(20, 9), (40, 2)].map(|(at, value)| Timed { at: Span(at), value: Span(value) });
        let none = loss::Config::default().build();
        let mut line = Line::new(Span(5), Span::ZERO, (&steps, None), none, Rng::stream(3, "line", 0));
        let arrivals = [0, 19, 20, 39, 40, 45, 50].map(|end| line.carry(Time(end), 40).unwrap().0);
        // 40 + 2 would be before 39 + 9.
        assert_eq!(arrivals, [5, 24, 29, 48, 48, 48, 52]);
    }

    #[test]
    fn delays_begin_again_after_their_period() {
        let steps = [(20, 9), (40, 12)].map(|(at, value)| Timed { at: Span(at), value: Span(value) });
        let line = || {
            let none = loss::Config::default().build();
            Line::new(Span(5), Span::ZERO, (&steps, Some(Span(100))), none, Rng::stream(3, "line", 0))
        };
        let mut busy = line();
        let delays = |one: &mut Line, at: u64| one.carry(Time(at), 40).unwrap().0 - at;
        let all: Vec<u64> = (0..40).map(|k| delays(&mut busy, k * 25)).collect();
        assert_eq!(all, [5, 9, 12, 12].repeat(10));
        // A line that was idle for some periods is at the same point as a busy one.
        for at in [825, 850, 999, 5010, 5020] {
            let spec = crate::link::LinkSpec {
                delay: Span(5),
                delay_steps: steps.to_vec(),
                delay_period: Some(Span(100)),
                ..crate::link::LinkSpec::new(crate::link::NodeId(0), crate::link::NodeId(1))
            };
            assert_eq!(delays(&mut line(), at), spec.delay_at(Time(at)).0, "at {at}");
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A line delays each packet, and jitters and loses where it is told to; it never reorders.

use super::{Channel, Loss};
use crate::rng::Rng;
use crate::units::{Bytes, Span, Time};

/// What a packet crosses after its transmission.
#[derive(Clone, Debug)]
pub struct Line {
    delay: Span,
    /// Boxed: most lines have none, and a thousand flows have four thousand lines.
    noise: Option<Box<Noise>>,
}

/// What happens at random on a line.
#[derive(Clone, Debug)]
struct Noise {
    jitter: Span,
    channel: Channel,
    last: Time,
    rng: Rng,
}

impl Line {
    /// A line of this delay, plus up to `jitter` at random, and this loss.
    pub fn new(delay: Span, jitter: Span, loss: Loss, rng: Rng) -> Line {
        let noisy = jitter > Span::ZERO || loss != Loss::None;
        let noise = || Box::new(Noise { jitter, channel: Channel::new(loss), last: Time::ZERO, rng });
        Line { delay, noise: noisy.then(noise) }
    }

    /// When a packet sent at `end` arrives; never, if the line loses it.
    #[inline]
    pub fn carry(&mut self, end: Time, size: u16) -> Option<Time> {
        match &mut self.noise {
            None => Some(end + self.delay),
            Some(noise) => noise.carry(end, self.delay, size),
        }
    }
}

impl Noise {
    fn carry(&mut self, end: Time, delay: Span, size: u16) -> Option<Time> {
        if self.channel.loses(end, Bytes(u64::from(size)), &mut self.rng) {
            return None;
        }
        let late = if self.jitter == Span::ZERO { Span::ZERO } else { Span(self.rng.below(self.jitter.0)) };
        self.last = self.last.max(end + delay + late);
        Some(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(loss: Loss, packets: u64) -> u64 {
        let mut line = Line::new(Span(5), Span::ZERO, loss, Rng::stream(3, "line", 0));
        (0..packets).filter(|_| line.carry(Time(0), 1000).is_none()).count() as u64
    }

    #[test]
    fn a_channel_loses_what_its_law_says() {
        assert_eq!(lost(Loss::None, 1000), 0);
        assert_eq!(lost(Loss::Uniform(1.0), 1000), 1000);
        let uniform = lost(Loss::Uniform(0.01), 200_000);
        assert!((1850..2150).contains(&uniform), "{uniform}");
        // 1 − (1 − 1e-6)^8000 = 0.0079681
        let bits = lost(Loss::BitError(1e-6), 200_000);
        assert!((1450..1740).contains(&bits), "{bits}");
        // In the bad state 1/(1 + 4) of the time, where half is lost: 0.1.
        let bursts = Loss::GilbertElliott { to_bad: 0.01, to_good: 0.04, loss_good: 0.0, loss_bad: 0.5 };
        let bursts = lost(bursts, 400_000);
        assert!((38_000..42_000).contains(&bursts), "{bursts}");
    }

    #[test]
    fn a_channel_loses_one_packet_for_each_instant_it_is_given() {
        let instants = [10, 25, 25, 1000].map(Time).to_vec();
        let mut line = Line::new(Span(5), Span::ZERO, Loss::At(instants), Rng::stream(3, "line", 0));
        let lost = (0..10).map(|i| Time(10 * i)).filter(|at| line.carry(*at, 1000).is_none());
        assert_eq!(lost.collect::<Vec<_>>(), [10, 30, 40].map(Time));
    }

    #[test]
    fn jitter_never_reorders() {
        let mut line = Line::new(Span(1000), Span(500), Loss::None, Rng::stream(3, "line", 0));
        let arrivals: Vec<_> = (0..1000).map(|i| line.carry(Time(i * 100), 40).unwrap()).collect();
        assert!(arrivals.is_sorted());
        let lags = arrivals.iter().enumerate().map(|(i, at)| at.0 - i as u64 * 100);
        assert!(lags.clone().min() >= Some(1000) && lags.max() < Some(1500));
    }
}

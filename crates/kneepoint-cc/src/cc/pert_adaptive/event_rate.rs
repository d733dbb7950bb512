// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rate of rare events per packet, from the packets between the last eight: losses, or early responses.
//!
//! S. Floyd, M. Handley, J. Padhye, C. Bormann, RFC 5348 (TFRC) §5.4; K. Kotla, "Adapting a Delay-based Protocol to
//! Heterogeneous Environments", M.S. thesis, Texas A&M University 2008, chapter IV, which takes it for PERT.
//!
//! ```text
//! mean(a_1 .. a_8) = (a_1 + a_2 + a_3 + a_4 + 0.8 a_5 + 0.6 a_6 + 0.4 a_7 + 0.2 a_8) / 6
//! rate = 1 / max(mean(n_1 .. n_8), mean(n_0 .. n_7))
//! ```
//!
//! `n_1` packets acknowledged between the last two events, `n_2` between the two before, and so on; `n_0` since the
//! last event. The second mean ages the rate: once `n_0` exceeds the mean, it stands in for the oldest interval.
//!
//! Readings: with fewer than eight intervals, the existing ones count, over the sum of their weights, as in TFRC. The
//! packets before the first event are an interval. Events with no packet acknowledged between them are one event.

const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// The packets since the last event, and between earlier events.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRate {
    open: f64,
    /// The newest first.
    closed: [f64; 8],
    count: usize,
    ages: bool,
}

impl EventRate {
    /// Nothing happened yet. Without ageing, only an event changes the rate.
    pub fn new(ages: bool) -> EventRate {
        EventRate { open: 0.0, closed: [0.0; 8], count: 0, ages }
    }

    /// This many packets were acknowledged.
    #[inline]
    pub fn pass(&mut self, packets: u32) {
        self.open += f64::from(packets);
    }

    /// The event.
    pub fn happen(&mut self) {
        if self.open > 0.0 {
            self.closed.rotate_right(1);
            self.closed[0] = self.open;
            self.count = (self.count + 1).min(self.closed.len());
            self.open = 0.0;
        }
    }

    /// The mean number of packets between two events, once there was one.
    pub fn mean(&self) -> Option<f64> {
        let weighted = |intervals: &mut dyn Iterator<Item = f64>| {
            WEIGHTS.iter().zip(intervals).map(|(weight, interval)| weight * interval).sum::<f64>()
        };
        let closed = self.closed[..self.count].iter().copied();
        let settled = weighted(&mut closed.clone());
        let aged = weighted(&mut core::iter::once(self.open).chain(closed).take(self.count));
        let weight: f64 = WEIGHTS[..self.count].iter().sum();
        (self.count > 0).then(|| if self.ages { settled.max(aged) } else { settled } / weight)
    }

    /// Events per packet; zero before the first.
    pub fn rate(&self) -> f64 {
        self.mean().map_or(0.0, |mean| 1.0 / mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(intervals: &[u32], ages: bool) -> EventRate {
        let mut rate = EventRate::new(ages);
        for interval in intervals {
            rate.pass(*interval);
            rate.happen();
        }
        rate
    }

    #[test]
    fn eight_intervals_weigh_1_1_1_1_08_06_04_02() {
        assert_eq!(after(&[100; 8], true).rate(), 0.01);
        // The newest is 800: (800 + 700 + 600 + 500 + 320 + 180 + 80 + 20) / 6, and the ninth is forgotten.
        let rate = after(&[9999, 100, 200, 300, 400, 500, 600, 700, 800], true);
        assert!((rate.mean().unwrap() - 3200.0 / 6.0).abs() < 1e-9, "{rate:?}");
    }

    #[test]
    fn the_open_interval_counts_once_it_raises_the_mean() {
        let mut rate = after(&[100; 8], true);
        rate.pass(100);
        assert_eq!(rate.mean(), Some(100.0));
        rate.pass(600);
        // 700 replaces the oldest: (700 + 300 + 80 + 60 + 40 + 20) / 6.
        assert!((rate.mean().unwrap() - 200.0).abs() < 1e-9, "{rate:?}");
        let mut old = after(&[100; 8], false);
        old.pass(700);
        assert_eq!(old.mean(), Some(100.0));
    }

    #[test]
    fn what_there_is_counts_while_there_are_fewer_than_eight() {
        assert_eq!((EventRate::new(true).mean(), EventRate::new(true).rate()), (None, 0.0));
        assert_eq!(after(&[50], true).mean(), Some(50.0));
        // Newest first: (30 + 20 + 20 + 20 + 0.8 · 100) / 4.8.
        assert!((after(&[100, 20, 20, 20, 30], true).mean().unwrap() - 170.0 / 4.8).abs() < 1e-9);
    }

    #[test]
    fn events_without_a_packet_between_them_are_one() {
        let mut rate = after(&[40, 60], true);
        rate.happen();
        assert_eq!(rate, after(&[40, 60], true));
    }
}

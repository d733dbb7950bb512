// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests whether others fill the queue: hold the window for some round trips, and observe whether the queue fills anyway.
//!
//! Ours. K. Kotla's thesis (Texas A&M 2008) reports in chapter VII.D that PERT keeps competing when TCP has left.
//!
//! ```text
//! while competing, with q the queueing delay of a sample, qm the greatest, and c the fraction where competing begins:
//!   stand still     at a q below a fraction of the lowest of the last N: 0.9 when N have passed since the last
//!                   time, rising to 1 when N' have. Unless q < c qm, the window gives way first, as in an early response
//!   for k srtt      no growth and no early response; q_r <- 7/8 q_r + 1/8 q
//!   then  q_r >= c qm    others fill it: compete on, and N' <- min(2 N', 4 N)
//!         q_r <  c qm    nobody does: stop competing, α <- 1. If compete mode begins again within N', that was wrong:
//!                        α as it was, and N' as above; if it does not, N' <- N
//! ```
//!
//! PERT flows that compete with one another keep the queue long together, so a single yielding flow learns nothing: all
//! must yield at once, without a common clock. But all see one queue. The instant of its fall, because TCP has left or
//! because some responded, is the same for all of them; and the flows that respond then make it fall further, until all
//! have seen it. So waits are not random, since chance would separate what must coincide. The test is to hold the
//! window, not to reduce it: the queue stays constant between windows that do not grow, so another kind of flow must be
//! filling it. Another flow gains the capacity that was released, at most half a window for k round trips in N'.
//!
//! Limits: other flows that are too few to fill half of the queue in k round trips are not noticed, and gain until
//! compete mode begins again. Flows that began to compete at different times need a fall that most of them see;
//! without one they may continue for minutes.

use crate::cc::extreme::Greatest;
use crate::units::{Span, Time};

crate::settings! {
    /// The time to hold.
    pub struct Params {
        /// Beyond the thesis: while competing, stop adapting now and then, at least this long apart, and check
        /// whether others fill the queue; `0s` never does.
        probe: Span = Span::ZERO, Span::ZERO..=Span::from_secs(10_000);
        /// Smoothed round-trip times for which PERT holds.
        probe_rtts: f64 = 10.0, 1.0..=1000.0;
    }
}

/// The greatest N', in multiples of the least.
const PATIENCE: u64 = 4;

/// A fall that is not random, as a fraction of the lowest recent queueing delay.
const FALL: f64 = 0.9;

/// The action on an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// No change.
    GoOn,
    /// Respond once, then hold the window.
    GiveWay,
    /// Stand still.
    Stand,
    /// Stop competing: no other flow filled the queue; with the recent delay.
    Stop(Span),
    /// Stopping was wrong: compete as before, with this growth.
    Resume(f64),
}

/// The state at an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Signs {
    /// When.
    pub now: Time,
    /// The smoothed round-trip time.
    pub srtt: Span,
    /// The queueing delay of this acknowledgement.
    pub sample: Span,
    /// The queueing delay from which PERT competes.
    pub threshold: Span,
    /// Whether it competes.
    pub competing: bool,
    /// Packets per round trip by which its window grows.
    pub alpha: f64,
}

/// The state between probes, and in one.
#[derive(Clone, Debug)]
pub struct Probe {
    params: Params,
    wait: Span,
    /// The time of the last hold, or of the beginning of competition.
    last: Time,
    /// The lowest queueing delay recently: the greatest of its negative.
    lowest: Greatest,
    /// The beginning of the hold, and the delay since.
    standing: Option<(Time, f64)>,
    /// The end of competition, and the growth then.
    stopped: Option<(Time, f64)>,
    count: u64,
}

impl Probe {
    /// Neither competing nor holding; none if `probe` is zero.
    pub fn new(params: &Params) -> Option<Probe> {
        (params.probe > Span::ZERO).then(|| Probe {
            params: params.clone(),
            wait: params.probe,
            last: Time::NEVER,
            lowest: Greatest::default(),
            standing: None,
            stopped: None,
            count: 0,
        })
    }

    /// The number of holds.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether growth is suspended.
    pub fn stands(&self) -> bool {
        self.standing.is_some()
    }

    /// The action for these signs.
    #[inline]
    pub fn look(&mut self, signs: &Signs) -> Order {
        if self.stands() {
            self.stand(signs)
        } else if signs.competing {
            self.compete(signs)
        } else {
            self.rest(signs.now)
        }
    }

    fn stand(&mut self, signs: &Signs) -> Order {
        let Some((began, recent)) = &mut self.standing else { return Order::GoOn };
        *recent += (signs.sample.0 as f64 - *recent) / 8.0;
        if (signs.now.since(*began).0 as f64) < self.params.probe_rtts * signs.srtt.0 as f64 {
            return Order::Stand;
        }
        let recent = Span(*recent as u64);
        self.standing = None;
        self.begin_to_wait(signs.now);
        if recent < signs.threshold {
            self.stopped = Some((signs.now, signs.alpha));
            Order::Stop(recent)
        } else {
            self.back_off();
            Order::GoOn
        }
    }

    fn compete(&mut self, signs: &Signs) -> Order {
        if let Some((_, alpha)) = self.stopped.take() {
            self.back_off();
            self.begin_to_wait(signs.now);
            return Order::Resume(alpha);
        }
        if self.last == Time::NEVER {
            self.begin_to_wait(signs.now);
        }
        let sample = signs.sample.0 as f64;
        let lowest = self.lowest.get().map_or(0.0, |negative| -negative);
        self.lowest.update(signs.now.0, self.params.probe.0, -sample);
        let waited = signs.now.since(self.last);
        if waited < self.params.probe || sample >= self.enough(waited) * lowest {
            return Order::GoOn;
        }
        self.standing = Some((signs.now, sample));
        self.count += 1;
        if signs.sample < signs.threshold { Order::Stand } else { Order::GiveWay }
    }

    /// The fraction of the lowest recent queueing delay at which a fall counts after this wait.
    fn enough(&self, waited: Span) -> f64 {
        let [past, all] = [waited, self.wait].map(|span| span.saturating_sub(self.params.probe).0 as f64);
        if past >= all { 1.0 } else { FALL + (1.0 - FALL) * past / all }
    }

    fn begin_to_wait(&mut self, now: Time) {
        self.last = now;
        self.lowest.clear();
    }

    fn rest(&mut self, now: Time) -> Order {
        if self.stopped.is_some_and(|(at, _)| now.since(at) > self.wait) {
            self.stopped = None;
            self.wait = self.params.probe;
        }
        Order::GoOn
    }

    fn back_off(&mut self) {
        self.wait = Span(self.wait.0 * 2).min(Span(self.params.probe.0 * PATIENCE));
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// A flow at a round trip of 100 ms whose samples come every 10 ms; qm is 60 ms.
    struct Flow {
        probe: Probe,
        now: Time,
        competing: bool,
    }

    impl Flow {
        fn new() -> Flow {
            let params = Params { probe: Span::from_secs(20), ..Params::default() };
            Flow { probe: Probe::new(&params).unwrap(), now: Time::ZERO, competing: true }
        }

        fn sample(&mut self, millis: u64) -> Order {
            self.now += Span::from_millis(10);
            let [srtt, sample, threshold] = [100, millis, 30].map(Span::from_millis);
            let competing = self.competing;
            let order =
                self.probe.look(&Signs { now: self.now, srtt, sample, threshold, competing, alpha: 8.0 });
            self.competing &= !matches!(order, Order::Stop(_));
            order
        }

        /// Samples of this delay for this many seconds; returns the actions other than growing and holding.
        fn see(&mut self, millis: u64, seconds: u64) -> Vec<Order> {
            let orders = (0..seconds * 100).map(|_| self.sample(millis)).collect::<Vec<_>>();
            orders.into_iter().filter(|order| ![Order::GoOn, Order::Stand].contains(order)).collect()
        }
    }

    #[test]
    fn there_is_none_by_default() {
        assert!(Probe::new(&Params::default()).is_none());
    }

    #[test]
    fn a_new_lowest_delay_after_the_wait_makes_it_give_way_and_stand() {
        let mut flow = Flow::new();
        assert_eq!((flow.see(50, 19), flow.sample(40)), (vec![], Order::GoOn));
        assert_eq!(flow.see(50, 10), []);
        assert_eq!(
            (flow.sample(40), flow.sample(39), flow.sample(38)),
            (Order::GoOn, Order::GiveWay, Order::Stand)
        );
        assert!(flow.probe.stands());
        // Ten round trips, and other flows have filled the queue again.
        assert_eq!((flow.see(50, 1), flow.probe.stands(), flow.probe.count()), (vec![], false, 1));
        // Now it waits twice as long, and at first a small fall is not enough.
        assert_eq!(
            (flow.see(50, 21), flow.sample(49), flow.sample(44)),
            (vec![], Order::GoOn, Order::GiveWay)
        );
    }

    #[test]
    fn below_the_threshold_it_stands_without_giving_way_and_stops_if_nobody_fills_the_queue() {
        let mut flow = Flow::new();
        flow.see(50, 21);
        assert_eq!(flow.sample(20), Order::Stand);
        assert_eq!(flow.see(20, 2), [Order::Stop(Span::from_millis(20))]);
    }

    #[test]
    fn having_stopped_wrongly_it_resumes_with_the_growth_it_had_and_waits_longer() {
        let stopped = || {
            let mut flow = Flow::new();
            flow.see(50, 21);
            flow.see(20, 2);
            flow
        };
        let mut wrong = stopped();
        wrong.see(20, 5);
        wrong.competing = true;
        assert_eq!((wrong.sample(40), wrong.probe.wait), (Order::Resume(8.0), Span::from_secs(40)));
        let mut right = stopped();
        right.see(20, 21);
        right.competing = true;
        assert_eq!((right.sample(40), right.probe.wait), (Order::GoOn, Span::from_secs(20)));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One interval (t_k, t_{k+1}): from its first state to the laws of its last one and of a loss.
//!
//! ```text
//! E   = (B + D − W)^+                excess packets: the first E of D acknowledgements send nothing
//! Case 1: D ≤ E    no packet is sent
//! Case 2: 0 < E < D    m = D − E effective acknowledgements
//! Case 3: E = 0    m = D
//! A ~ Binomial(m, 1/W)               the growth, one draw for each effective acknowledgement
//! B_{k+1} = B_k + m + A − S,  D_{k+1} = S
//! ```
//!
//! An effective acknowledgement sends a packet, and another if the window grows; 1/W stays the epoch's throughout.
//! The link serves μΔ/(N_k+1) packets per interval, S in all; a packet that finds B others, the one in service among them, is lost.
//! The paper finds losses by a threshold: with S_i packets served before the i-th effective acknowledgement and
//! b_0 in the buffer at the first, occupancy is b_0 + i + A_i − S_i, so that a loss occurs when A_i exceeds B − b_0 − i + S_i for some i. Here the
//! recursion goes over the acknowledgements and keeps the law of growth and backlog, which is equivalent and needs no
//! case for an idle link. A test compares the two.
//!
//! Time is in units of Δ. Branches less probable than 1e-12 are left out, and the others scaled to one.

use super::params::{AckInstant, AckSpacing, Params, Rounding, Service};

/// Branches less probable than this are left out.
const NEGLIGIBLE: f64 = 1e-12;
/// Instants closer than this are one.
const TIE: f64 = 1e-9;

/// The persistent session at an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Epoch {
    /// Ephemeral sessions in the interval before: they set the spacing of the acknowledgements.
    pub before: u32,
    /// W.
    pub window: f64,
    /// B, with the packet in service.
    pub queue: u32,
    /// D.
    pub flight: u32,
    /// The fraction of the first packet that has been served.
    pub progress: f64,
}

/// The end of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct End {
    pub probability: f64,
    /// W before the rate window limits it.
    pub window: f64,
    pub queue: u32,
    pub flight: u32,
    pub progress: f64,
}

/// A loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lost {
    pub probability: f64,
    /// The window then.
    pub window: f64,
    /// Packets served since the epoch.
    pub served: u32,
}

/// The distribution of the outcome of an interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Law {
    pub ends: Vec<End>,
    pub losses: Vec<Lost>,
}

/// The link within an interval.
#[derive(Clone, Copy, Debug)]
struct Link {
    queue: u32,
    served: u32,
    /// The end of the service of the first packet in the queue.
    done: f64,
    service: f64,
}

impl Link {
    fn advance(&mut self, now: f64) {
        while self.queue > 0 && self.done <= now + TIE {
            self.queue -= 1;
            self.served += 1;
            self.done += self.service;
        }
    }

    fn arrive(&mut self, now: f64) {
        if self.queue == 0 {
            self.done = now + self.service;
        }
        self.queue += 1;
    }

    fn same(&self, other: &Link) -> bool {
        self.queue == other.queue
            && self.served == other.served
            && (self.queue == 0 || (self.done - other.done).abs() < TIE)
    }
}

/// A growth with a state of the link, and their probability.
#[derive(Clone, Copy, Debug)]
struct Branch {
    probability: f64,
    growth: u32,
    link: Link,
}

/// The instants of the acknowledgements.
pub(super) fn instants(params: &Params, from: &Epoch) -> impl Iterator<Item = f64> + use<> {
    let even = 1.0 / f64::from(from.flight.max(1));
    // More packets than this rate carries may be under way after slow start, and must all arrive in the interval.
    let spacing = match params.readings.ack_spacing {
        AckSpacing::Link => (1.0 / params.share(from.before)).min(even),
        AckSpacing::Even => even,
    };
    let offset = match params.readings.ack_instant {
        AckInstant::Start => 1.0,
        AckInstant::Middle => 0.5,
        AckInstant::End => 0.0,
    };
    (1..=from.flight).map(move |i| spacing * (f64::from(i) - offset))
}

/// The whole packets that `window` may have outstanding, with probabilities.
pub(super) fn whole(rounding: Rounding, window: f64) -> [(f64, i64); 2] {
    // A window is a sum of fractions: 3 may be 2.9999999999.
    let (floor, ceiling) = (libm::floor(window + TIE), libm::ceil(window - TIE));
    let up = match rounding {
        Rounding::Floor => 0.0,
        Rounding::Mean => (window - floor).max(0.0),
        Rounding::Ceiling => 1.0,
    };
    [(1.0 - up, floor as i64), (up, ceiling as i64)]
}

/// The law of congestion avoidance from `from` on with `sessions` ephemeral sessions.
pub(super) fn avoidance(params: &Params, from: &Epoch, sessions: u32) -> Law {
    interval(params, from, sessions, |_| 1.0 / from.window)
}

/// The law of an interval in which an effective acknowledgement at a window makes that window grow with a probability.
pub(super) fn interval(params: &Params, from: &Epoch, sessions: u32, grows: impl Fn(f64) -> f64) -> Law {
    let mut law = Law::default();
    for (probability, limit) in whole(params.readings.rounding, from.window) {
        if probability > 0.0 {
            Run { params, from, grows: &grows }.add(&mut law, probability, limit, sessions);
        }
    }
    law.ends.retain(|end| end.probability > NEGLIGIBLE);
    law.losses.retain(|lost| lost.probability > NEGLIGIBLE);
    let ends: f64 = law.ends.iter().map(|end| end.probability).sum();
    let kept = ends + law.losses.iter().map(|lost| lost.probability).sum::<f64>();
    law.ends.iter_mut().for_each(|end| end.probability /= kept);
    law.losses.iter_mut().for_each(|lost| lost.probability /= kept);
    law
}

/// An interval in progress.
struct Run<'a, G> {
    params: &'a Params,
    from: &'a Epoch,
    grows: &'a G,
}

impl<G: Fn(f64) -> f64> Run<'_, G> {
    /// Adds the outcomes where `limit` packets may be outstanding.
    fn add(&self, law: &mut Law, probability: f64, limit: i64, sessions: u32) {
        let service = 1.0 / self.params.share(sessions);
        let start =
            Link { queue: self.from.queue, served: 0, done: (1.0 - self.from.progress) * service, service };
        let mut branches = vec![Branch { probability, growth: 0, link: start }];
        let excess = i64::from(self.from.queue + self.from.flight) - limit;
        // A window that was rounded down before may have room for a packet at once.
        for _ in excess..0 {
            branches = self.send(law, branches, 0.0, 1);
        }
        for (i, now) in instants(self.params, self.from).enumerate() {
            if (i as i64) < excess {
                continue;
            }
            branches.iter_mut().for_each(|branch| branch.link.advance(now));
            let (mut stay, mut grow) = (Vec::new(), Vec::new());
            for branch in branches {
                let p = (self.grows)(self.from.window + f64::from(branch.growth));
                if p < 1.0 {
                    stay.push(Branch { probability: branch.probability * (1.0 - p), ..branch });
                }
                if p > 0.0 {
                    grow.push(Branch {
                        probability: branch.probability * p,
                        growth: branch.growth + 1,
                        ..branch
                    });
                }
            }
            branches = self.send(law, stay, now, 1);
            for branch in self.send(law, grow, now, 2) {
                let same =
                    |other: &&mut Branch| other.growth == branch.growth && other.link.same(&branch.link);
                match branches.iter_mut().find(same) {
                    Some(other) => other.probability += branch.probability,
                    None => branches.push(branch),
                }
            }
            branches.retain(|branch| branch.probability > NEGLIGIBLE * 1e-3);
        }
        for mut end in branches {
            end.link.advance(1.0);
            let link = end.link;
            let carried = self.params.readings.service == Service::Carried && link.queue > 0;
            law.ends.push(End {
                probability: end.probability,
                window: self.from.window + f64::from(end.growth),
                queue: link.queue,
                flight: link.served,
                progress: if carried { (1.0 - (link.done - 1.0) / service).clamp(0.0, 1.0) } else { 0.0 },
            });
        }
    }

    /// The branches in which none of `packets` is lost; the others are added to the law.
    fn send(&self, law: &mut Law, mut branches: Vec<Branch>, now: f64, packets: u32) -> Vec<Branch> {
        branches.retain_mut(|branch| {
            for _ in 0..packets {
                if branch.link.queue >= self.params.buffer {
                    law.losses.push(Lost {
                        probability: branch.probability,
                        window: self.from.window + f64::from(branch.growth),
                        served: branch.link.served,
                    });
                    return false;
                }
                branch.link.arrive(now);
            }
            true
        });
        branches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(A > a) for A ~ Binomial(m, p).
    fn above(m: u32, p: f64, a: u32) -> f64 {
        let choose = |j: u32| (0..j).map(|i| f64::from(m - i) / f64::from(i + 1)).product::<f64>();
        (a + 1..=m)
            .map(|j| choose(j) * libm::pow(p, f64::from(j)) * libm::pow(1.0 - p, f64::from(m - j)))
            .sum()
    }

    fn epoch(window: f64, queue: u32, flight: u32) -> Epoch {
        Epoch { before: 0, window, queue, flight, progress: 0.0 }
    }

    fn loss(law: &Law) -> f64 {
        law.losses.iter().map(|lost| lost.probability).sum()
    }

    #[test]
    fn the_loss_threshold_is_that_of_the_header() {
        let params = Params::default();
        // The i-th of 20 acknowledgements arrives at i/20; with one session the link serves 10 packets, ⌊i/2⌋ by then. With a full pipe and
        // no session 19 are served, one between any two acknowledgements: a full buffer loses the first packet beyond.
        for (window, queue, sessions, excess, threshold) in
            [(45.0, 25, 0, 0, 0), (35.0, 15, 1, 0, 0), (33.0, 13, 1, 0, 2), (30.0, 18, 1, 8, 5)]
        {
            let law = avoidance(&params, &epoch(window, queue, 20), sessions);
            let served = |i: u32| if sessions == 0 { i } else { i / 2 };
            let first = served(excess + 1);
            let (m, b_0) = (20 - excess, queue - first);
            let a_min =
                (1..=m).map(|i| i64::from(25 + served(excess + i) - first) - i64::from(b_0 + i)).min();
            assert_eq!(a_min, Some(i64::from(threshold)));
            let expected = above(m, 1.0 / window, threshold);
            assert!((loss(&law) - expected).abs() < 1e-10, "{}, expected {expected}", loss(&law));
        }
    }

    #[test]
    fn growth_is_binomial_and_every_packet_is_accounted_for() {
        let params = Params::default();
        let from = epoch(22.0, 2, 20);
        let law = avoidance(&params, &from, 0);
        assert_eq!(loss(&law), 0.0);
        for (a, end) in law.ends.iter().enumerate() {
            let p = above(20, 1.0 / 22.0, a as u32);
            let expected = if a == 0 { 1.0 - p } else { above(20, 1.0 / 22.0, a as u32 - 1) - p };
            let found: f64 =
                law.ends.iter().filter(|one| one.window == 22.0 + a as f64).map(|one| one.probability).sum();
            assert!((found - expected).abs() < 1e-10, "A = {a}: {found}, expected {expected}");
            // B + D = W as long as there is no rate window.
            assert_eq!(f64::from(end.queue + end.flight), end.window);
            assert_eq!(end.flight, 20);
        }
    }

    #[test]
    fn an_excess_of_all_acknowledgements_is_an_idle_interval() {
        // E = 15 + 5 − 6 = 14 > 5; with nine sessions the link serves two packets.
        let law = avoidance(&Params::default(), &epoch(6.0, 15, 5), 9);
        let end = End { probability: 1.0, window: 6.0, queue: 13, flight: 2, progress: 0.0 };
        assert_eq!(law, Law { ends: vec![end], losses: Vec::new() });
    }

    #[test]
    fn a_packet_in_service_keeps_its_progress_if_it_is_carried() {
        let mut params = Params::default();
        // Eleven sessions' share of a window that does not fill: 20/11 packets per interval.
        for (service, flight, progress) in [(Service::Whole, 1, 0.0), (Service::Carried, 1, 9.0 / 11.0)] {
            params.readings.service = service;
            let law = avoidance(&params, &epoch(6.0, 6, 0), 10);
            assert_eq!((law.ends[0].flight, law.ends.len()), (flight, 1));
            assert!((law.ends[0].progress - progress).abs() < 1e-9);
        }
    }

    #[test]
    fn a_fractional_window_is_rounded_as_it_is_read() {
        assert_eq!(whole(Rounding::Floor, 2.75), [(1.0, 2), (0.0, 3)]);
        assert_eq!(whole(Rounding::Mean, 2.75), [(0.25, 2), (0.75, 3)]);
        assert_eq!(whole(Rounding::Ceiling, 2.75), [(0.0, 2), (1.0, 3)]);
        assert_eq!(whole(Rounding::Ceiling, 3.0)[1], (1.0, 3));
    }
}

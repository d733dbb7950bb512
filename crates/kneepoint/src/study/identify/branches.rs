// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A suspect that draws is led through a capture in several streams of random numbers at once.
//!
//! ```text
//! every INTERVAL round trips, at most MOST times   score <- score / 2 + error since then;  the worse half gives way to copies of the better one, which draw otherwise from here on
//! ```
//!
//! A draw is known by what follows it (N. J. Gordon, D. J. Salmond, A. F. M. Smith, "Novel approach to nonlinear/non-Gaussian Bayesian state estimation", IEE
//! Proceedings F 140(2), 1993): one stream among thirty-two rarely meets ten draws in a row, and of sixteen some meet the next one.

use std::rc::Rc;

use super::follow::{Moment, Passed, Renewal, Walk};
use super::score::weights_since;
use super::suspects::Suspect;
use crate::capture::Course;
use crate::units::{Span, Time};

/// Streams.
pub const BRANCHES: u64 = 32;
/// Round trips between two choices, of the least round trip.
const INTERVAL: u64 = 2;
/// Choices, at most.
const MOST: u64 = 5000;

/// The moments before the last choice, the latest first.
struct Past {
    moments: Vec<Moment>,
    before: Option<Rc<Past>>,
}

impl Drop for Past {
    /// One after another: as many calls within each other would fill a thread's stack.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(mut past) = next.and_then(|past| Rc::try_unwrap(past).ok()) {
            next = past.before.take();
        }
    }
}

#[derive(Clone)]
struct Branch<'c> {
    walk: Walk<'c>,
    past: Option<Rc<Past>>,
    recent: Vec<Moment>,
    score: f64,
    /// The error so far, times its time.
    total: f64,
    /// The last moment.
    last: Time,
}

impl Branch<'_> {
    /// The moments since the last choice become past ones.
    fn settle(&mut self, base: Span) {
        let recent = std::mem::take(&mut self.recent);
        let weights = weights_since(self.last, &recent, base);
        let error: f64 = recent.iter().zip(weights).map(|(one, weight)| weight * one.error()).sum();
        self.last = recent.last().map_or(self.last, |moment| moment.at);
        self.score = self.score / 2.0 + error;
        self.total += error;
        self.past = Some(Rc::new(Past { moments: recent, before: self.past.take() }));
    }

    fn moments(&self) -> Vec<Moment> {
        let mut parts = Vec::new();
        let mut past = self.past.as_ref();
        while let Some(part) = past {
            parts.push(&part.moments);
            past = part.before.as_ref();
        }
        parts.into_iter().rev().flatten().copied().collect()
    }
}

/// What a suspect expects at every moment, in the stream that fits best.
pub fn follow_branches(
    course: &Course,
    passed: &Passed,
    suspect: &Suspect,
    renewal: Renewal,
    base: Span,
) -> Vec<Moment> {
    let new = |seed| Branch {
        walk: Walk::new(course, passed, suspect, seed, renewal),
        past: None,
        recent: Vec::new(),
        score: 0.0,
        total: 0.0,
        last: Time::ZERO,
    };
    let mut branches: Vec<Branch> = (1..=BRANCHES).map(new).collect();
    let mut seed = BRANCHES;
    let lasted = course.steps.last().map_or(Span::ZERO, |step| step.at.since(Time::ZERO));
    let interval = (base * INTERVAL).max(Span(lasted.0 / MOST));
    let mut due = Time::ZERO + interval;
    for (place, step) in course.steps.iter().enumerate() {
        if step.at >= due {
            due = step.at + interval;
            branches.iter_mut().for_each(|branch| branch.settle(base));
            branches.sort_by(|one, other| one.score.total_cmp(&other.score));
            branches.truncate(BRANCHES as usize / 2);
            let mut others = branches.clone();
            for other in &mut others {
                seed += 1;
                other.walk.reseed(seed);
            }
            branches.append(&mut others);
        }
        for branch in &mut branches {
            branch.recent.extend(branch.walk.step(place, step));
        }
    }
    branches.iter_mut().for_each(|branch| branch.settle(base));
    let best = branches.iter().min_by(|one, other| one.total.total_cmp(&other.total));
    best.map(Branch::moments).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_past_is_dropped_on_a_small_stack() {
        let past = |before, _| Some(Rc::new(Past { moments: Vec::new(), before }));
        let spawned = std::thread::Builder::new().stack_size(1 << 17).spawn(move || {
            let long = (0..200_000).fold(None, past);
            let copy = long.clone();
            drop(long);
            drop(copy);
        });
        spawned.unwrap().join().unwrap();
    }
}

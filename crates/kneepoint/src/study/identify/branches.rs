// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A suspect that draws is led through a capture in several streams of random numbers at once.
//!
//! ```text
//! every INTERVAL round trips   score <- score / 2 + error since then;  the worse half gives way to copies of the better one, which draw otherwise from here on
//! ```
//!
//! A draw is known by what follows it (N. J. Gordon, D. J. Salmond, A. F. M. Smith, "Novel approach to nonlinear/non-Gaussian Bayesian state estimation", IEE
//! Proceedings F 140(2), 1993): one stream among thirty-two rarely meets ten draws in a row, and of sixteen some meet the next one.

use std::rc::Rc;

use super::follow::{Moment, Passed, Renewal, Walk};
use super::score::weights;
use super::suspects::Suspect;
use crate::capture::Course;
use crate::units::{Span, Time};

/// Streams.
pub const BRANCHES: u64 = 32;
/// Round trips between two choices.
const INTERVAL: u64 = 2;

/// The moments before the last choice, the latest first.
struct Past {
    moments: Vec<Moment>,
    before: Option<Rc<Past>>,
}

#[derive(Clone)]
struct Branch<'c> {
    walk: Walk<'c>,
    past: Option<Rc<Past>>,
    recent: Vec<Moment>,
    score: f64,
    /// The error so far, times its time.
    total: f64,
}

impl Branch<'_> {
    /// The moments since the last choice become past ones.
    fn settle(&mut self, base: Span) {
        let recent = std::mem::take(&mut self.recent);
        let error: f64 =
            recent.iter().zip(weights(&recent, base)).map(|(one, weight)| weight * one.error()).sum();
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
    };
    let mut branches: Vec<Branch> = (1..=BRANCHES).map(new).collect();
    let mut seed = BRANCHES;
    let mut due = Time::ZERO + base * INTERVAL;
    for (place, step) in course.steps.iter().enumerate() {
        if step.at >= due {
            due = step.at + base * INTERVAL;
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

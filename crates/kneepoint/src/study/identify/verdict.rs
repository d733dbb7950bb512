// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The verdict on a capture: who sent it, who could have as well, or none of those that are known.
//!
//! ```text
//! class        suspects that expect the same at every moment: nothing in the capture tells one from another
//! likelihood   of a class  ~ exp(-min(n (e - e_best) / s, m/2 ln(1 + t² / (m - 1)))),   s = max(e_best, FINEST)
//! alike        classes with at least a twentieth of the best one's likelihood
//! none         e_best > max(FINEST, own), at most MOST,  and  (e_best > CLOSE  or  e_other < LEAD e_best)
//! ```
//!
//! `e` error of a class; of one that draws, in the best of several streams ([`branches`](super::branches)), and `s ln(streams) / n` more, for the best of those that are led at once is closer by chance.
//! `n` intervals between losses and renewals, which are independent. `t` is the sum of the differences to the best class over the `m` parts of the capture of
//! [`INTERVAL`] round trips, in its own standard errors (after Q. Vuong, Econometrica 57(2), 1989): a difference that one part makes alone tells little,
//! however great it is. `own`, only of a best class that draws, is the greatest of its errors
//! against itself in [`WITNESSES`] simulations of the path that the capture shows: by chance a capture of the class itself is further off than
//! all of them at most once in [`WITNESSES`] + 1 times. [`FINEST`] is a hundredth of the greatest error: all is explained to a packet but a hundredth of
//! the time. `e_other` is the least error of the other controllers, at least [`FIELD`] of them: what is known differs from what is not in that it is far closer to
//! one controller than to any other, even where recovery or a capture that lacks something is not followed to the packet.

use std::collections::BTreeSet;

use super::branches::{BRANCHES, follow_branches};
use super::class::{Class, names, rival};
use super::crew::Crew;
use super::follow::{Moment, Passed, RENEWAL, follow};
use super::path::Path;
use super::score::{WRONG, error, weights};
use super::suspects::Suspect;
use super::witness::witness;
use crate::capture::Course;
use crate::units::{Span, Time};

/// A suspect with no greater error is named, and smaller errors are compared as if the best one were this.
const FINEST: f64 = WRONG / 100.0;
/// Nobody is named with a greater error: a tenth of the greatest that there is.
const MOST: f64 = WRONG / 10.0;
/// A best class with an error up to this, a twentieth of the greatest, is named as well if it leads:
pub const CLOSE: f64 = WRONG / 20.0;
/// its error is so many times less than that of any other controller,
pub const LEAD: f64 = 4.0;
/// and there are at least so many of these.
const FIELD: usize = 4;
/// How many times likelier the best class is than one that is excluded.
pub const EXCLUDES: f64 = 20.0;
/// Simulations in which a suspect that draws is compared with itself.
const WITNESSES: u64 = 9;
/// Round trips of an interval that tells something of its own.
const INTERVAL: u32 = 8;
/// Moments that are said to have decided.
const DECISIVE: usize = 3;

/// A moment at which the best class and the best one of other controllers were most different.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decisive {
    /// When.
    pub at: Time,
    /// Packets in flight.
    pub observed: u32,
    /// What the best class expected, and the best one of other controllers.
    pub expected: (f64, f64),
}

/// Who sent a capture.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The path.
    pub path: Path,
    /// Classes of suspects, the least error first.
    pub classes: Vec<Class>,
    /// The greatest error of the best class against itself in the simulations that were made, if it draws: no more than decide whether it is named.
    pub own_error: f64,
    /// The moments that decided, in order of time.
    pub decisive: Vec<Decisive>,
    /// Whether the sender logged its window, with which candidates are compared in place of packets in flight.
    pub logged: bool,
    /// Parts of the capture of [`INTERVAL`] round trips in which candidates are judged: fewer than two exclude none that is close.
    pub intervals: usize,
}

impl Verdict {
    /// The class that sent it, or one of those [alike](Verdict::alike); none if no suspect is close enough.
    pub fn answer(&self) -> Option<&Class> {
        self.classes.first().filter(|best| best.error <= self.limit() || self.leads())
    }

    /// The least error of controllers that the best class has not, if there are [`FIELD`] of them. Another class may have one of them beside one of the best class.
    pub fn other(&self) -> Option<f64> {
        let best = self.classes.first()?;
        let names: BTreeSet<&str> = self.classes.iter().flat_map(|class| class.beyond(best)).collect();
        rival(&self.classes).filter(|_| names.len() >= FIELD).map(|class| class.error)
    }

    /// Whether the best class is far closer than any other controller.
    fn leads(&self) -> bool {
        let close = self.classes.first().filter(|best| best.error <= CLOSE);
        close.zip(self.other()).is_some_and(|(best, other)| other >= LEAD * best.error)
    }

    /// The names of the best class, and of those that the capture does not exclude.
    pub fn alike(&self) -> Vec<&'static str> {
        names(self.classes.iter().filter(|class| self.is_likely(class)))
    }

    /// The names of the answer; none if no suspect is close enough.
    pub fn possible(&self) -> Vec<&'static str> {
        names(self.classes.iter().filter(|class| self.answers(class)))
    }

    /// Whether a class is in the answer: it is close enough to be named, for which one that draws has the greatest limit, and the capture does not exclude it or
    /// another class of a controller that both have. So Linux's TCP-LP is named with Reno, which it is, although Reno as published may be likelier.
    pub fn answers(&self, class: &Class) -> bool {
        let Some(best) = self.answer() else { return false };
        let limit = |one: &Class| if one.draws { MOST } else { self.limit().max(best.error) };
        let close = |one: &Class| one.error <= limit(one);
        let same = |one: &Class| close(one) && self.is_likely(one) && one.overlaps(class);
        close(class) && self.classes.iter().any(same)
    }

    /// Whether the capture does not exclude a class.
    fn is_likely(&self, class: &Class) -> bool {
        self.classes.first().is_some_and(|best| class.likelihood * EXCLUDES >= best.likelihood)
    }

    /// The greatest error with which a suspect is named wherever the others are.
    pub fn limit(&self) -> f64 {
        self.own_error.clamp(FINEST, MOST)
    }
}

/// What a suspect expects at its best.
struct Best {
    error: f64,
    moments: Vec<Moment>,
    draws: bool,
}

impl Best {
    /// The error, and what the best of so many streams is closer by chance.
    fn corrected(&self, streams: u64, path: &Path) -> f64 {
        let chance = libm::log(streams as f64) / intervals(&self.moments, path);
        self.error + self.error.max(FINEST) * chance
    }
}

/// The moments of a suspect; at its best if it draws.
fn best_of(course: &Course, passed: &Passed, suspect: &Suspect, path: &Path) -> Best {
    let of = |moments: Vec<Moment>, draws| Best { error: error(&moments, path.base), moments, draws };
    let (alone, draws) = follow(course, passed, suspect, 1, RENEWAL);
    if !draws {
        return of(alone, draws);
    }
    let best = of(follow_branches(course, passed, suspect, RENEWAL, path.base), draws);
    Best { error: best.corrected(BRANCHES, path), ..best }
}

/// Intervals that say something of their own.
fn intervals(moments: &[Moment], path: &Path) -> f64 {
    let judged = weights(moments, path.base).iter().sum::<f64>();
    (judged / (path.base.as_secs_f64() * f64::from(INTERVAL))).max(1.0) + f64::from(path.episodes)
}

/// Suspects by what they expect, the least error first.
fn classes(course: &Course, suspects: &[Suspect], path: &Path, crew: &impl Crew) -> Vec<Class> {
    let mut classes: Vec<Class> = Vec::new();
    let Some(passed) = suspects.first().map(|suspect| Passed::of(course, suspect)) else { return classes };
    let best = crew.map(suspects, |suspect| best_of(course, &passed, suspect, path));
    for (suspect, Best { error, moments, draws }) in suspects.iter().zip(best) {
        match classes.iter_mut().find(|class| class.error == error && class.moments == moments) {
            Some(class) => class.suspects.push(suspect.clone()),
            None => classes.push(Class {
                suspects: vec![suspect.clone()],
                error,
                draws,
                likelihood: 0.0,
                moments,
            }),
        }
    }
    let order = |suspect: &Suspect| suspects.iter().position(|one| one.make == suspect.make);
    classes.iter_mut().for_each(|class| class.suspects.sort_by_key(order));
    classes.sort_by(|one, other| one.error.total_cmp(&other.error));
    classes
}

/// The moments of a class, each with its interval of the capture and its weight.
fn judged(class: &Class, base: Span) -> Vec<(u64, f64, &Moment)> {
    let interval = base * u64::from(INTERVAL);
    let weights = weights(&class.moments, base);
    let place = |moment: &Moment| moment.at.0 / interval.0.max(1);
    class.moments.iter().zip(weights).map(|(moment, weight)| (place(moment), weight, moment)).collect()
}

/// The intervals of the capture in which a class is judged.
fn judged_intervals(class: &Class, base: Span) -> usize {
    let judged = judged(class, base).into_iter().filter(|(_, weight, _)| *weight > 0.0);
    judged.map(|(interval, ..)| interval).collect::<BTreeSet<_>>().len()
}

/// How well the intervals tell another class from the best one, as the logarithm of a likelihood ratio: of normal differences whose variance is not known.
/// Without bound where every interval makes the same difference; nothing where there is one.
fn distinction(best: &Class, other: &Class, path: &Path) -> f64 {
    let judged = judged(best, path.base);
    let mut gains: Vec<(u64, f64)> = Vec::new();
    for ((interval, weight, one), two) in
        judged.iter().zip(&other.moments).filter(|((_, weight, _), _)| *weight > 0.0)
    {
        let gain = weight * (two.error() - one.error());
        match gains.last_mut().filter(|(last, _)| last == interval) {
            Some((_, sum)) => *sum += gain,
            None => gains.push((*interval, gain)),
        }
    }
    let count = gains.len() as f64;
    if count < 2.0 {
        return 0.0;
    }
    let mean = gains.iter().map(|(_, gain)| gain).sum::<f64>() / count;
    let variance = gains.iter().map(|(_, gain)| (gain - mean) * (gain - mean)).sum::<f64>() / (count - 1.0);
    // With what the best of many streams is closer by chance.
    let total = (other.error - best.error).max(0.0) * judged.iter().map(|(_, weight, _)| weight).sum::<f64>();
    if variance > 0.0 {
        0.5 * count * libm::log(1.0 + total * total / (count * variance * (count - 1.0)))
    } else {
        f64::INFINITY
    }
}

/// The moments at which two classes differ most in their errors, for as long as they do.
fn decisive(best: &Class, second: &Class, path: &Path) -> Vec<Decisive> {
    let weights = weights(&best.moments, path.base);
    let pairs = best.moments.iter().zip(&second.moments).zip(weights);
    let mut all: Vec<(f64, Decisive)> = pairs
        .map(|((one, other), weight)| {
            let gain = weight * (other.error() - one.error());
            let expected = (one.expected, other.expected);
            (gain, Decisive { at: one.at, observed: one.observed, expected })
        })
        .collect();
    all.sort_by(|one, other| other.0.total_cmp(&one.0));
    // One of each interval: the moments around it tell the same.
    let apart = path.base * u64::from(INTERVAL);
    let mut told: Vec<Decisive> = Vec::new();
    for (_, moment) in all.into_iter().filter(|(gain, _)| *gain > 0.0) {
        let near = |one: &Decisive| one.at.since(moment.at).max(moment.at.since(one.at)) < apart;
        if told.len() < DECISIVE && !told.iter().any(near) {
            told.push(moment);
        }
    }
    told.sort_by_key(|moment| moment.at);
    told
}

/// Says who sent a capture; nothing without a round trip, or without suspects. The verdict does not depend on the crew.
pub fn identify(course: &Course, suspects: &[Suspect], crew: &impl Crew) -> Option<Verdict> {
    let path = Path::of(course)?;
    let mut classes = classes(course, suspects, &path, crew);
    let best = classes.first()?;
    let intervals = intervals(&best.moments, &path);
    let drawn = best.first().filter(|_| best.draws);
    let own_error =
        drawn.and_then(|suspect| own_error(suspect, course, &path, best.error, crew)).unwrap_or_default();
    let (least, spread) = (best.error, best.error.max(FINEST));
    let weigh = |class: &Class| {
        let evidence = intervals * (class.error - least) / spread;
        libm::exp(-evidence.min(distinction(&classes[0], class, &path)))
    };
    let likelihoods: Vec<f64> = classes.iter().map(weigh).collect();
    let all: f64 = likelihoods.iter().sum();
    classes.iter_mut().zip(likelihoods).for_each(|(class, likelihood)| class.likelihood = likelihood / all);
    let decisive = rival(&classes).map(|other| decisive(&classes[0], other, &path)).unwrap_or_default();
    let judged = judged_intervals(&classes[0], path.base);
    Some(Verdict {
        path,
        classes,
        own_error,
        decisive,
        logged: !course.windows.is_empty(),
        intervals: judged,
    })
}

/// The greatest error of a suspect against itself on the path, of simulations up to one that is no closer than the capture, whose error is `error`;
/// of one alone where the name does not depend on it.
fn own_error(suspect: &Suspect, course: &Course, path: &Path, error: f64, crew: &impl Crew) -> Option<f64> {
    let witnesses = if (FINEST..=MOST).contains(&error) { WITNESSES } else { 1 };
    let seeds: Vec<u64> = (1..=witnesses).collect();
    let of_itself = |seed: &u64| {
        let simulated = witness(suspect, course, path, *seed)?;
        let own_path = Path::of(&simulated)?;
        Some(best_of(&simulated, &Passed::of(&simulated, suspect), suspect, &own_path).error)
    };
    let mut greatest: Option<f64> = None;
    // As many at once as there are hands: the first that is no closer is the last one that counts.
    for together in seeds.chunks(crew.hands().max(1)) {
        for own in crew.map(together, of_itself).into_iter().flatten() {
            greatest = Some(greatest.map_or(own, |one| one.max(own)));
            if own >= error {
                return greatest;
            }
        }
    }
    greatest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::identify::suspects;
    use crate::units::PacketRate;

    const BASE: Span = Span::from_millis(100);

    fn path() -> Path {
        Path {
            base: BASE,
            rate: PacketRate(1000.0),
            buffer: None,
            first_flight: 10,
            delays: false,
            resent: 0,
            episodes: 0,
            lasted: Span::from_secs(32),
        }
    }

    /// A class that expects so many of 20 packets in each part of a capture.
    fn class(parts: usize, expected: impl Fn(usize) -> f64) -> Class {
        let moment = |place: usize| Moment {
            at: Time(place as u64 * 100_000_000),
            observed: 20,
            expected: expected(place / 8),
            saved: 0,
            ahead: 0,
            repairs: false,
        };
        let moments: Vec<Moment> = (1..8 * parts).map(moment).collect();
        Class { suspects: Vec::new(), error: error(&moments, BASE), likelihood: 0.0, moments, draws: false }
    }

    #[test]
    fn a_candidate_that_is_far_closer_than_all_others_is_named() {
        let named = |errors: &[(&str, f64)]| {
            let class = |(names, error): &(&str, f64)| Class {
                suspects: suspects(&names.split(' ').map(String::from).collect::<Vec<_>>()).unwrap(),
                error: *error,
                likelihood: 1.0 / error,
                ..class(1, |_| 20.0)
            };
            let classes = errors.iter().map(class).collect();
            let verdict = Verdict {
                path: path(),
                classes,
                own_error: 0.0,
                decisive: Vec::new(),
                logged: false,
                intervals: 9,
            };
            verdict.possible()
        };
        let others = [("cubic", 0.041), ("vegas", 0.06), ("htcp", 0.07), ("illinois", 0.08)];
        let with = |error: f64, rest: &[(&'static str, f64)]| named(&[&[("reno", error)], rest].concat());
        assert_eq!(with(0.01, &others), ["reno"]);
        assert!(with(0.011, &others).is_empty(), "not a quarter of the next one");
        assert!(with(0.01, &others[..3]).is_empty(), "three others are too few to be far closer than any");
        let far = others.map(|(name, error)| (name, 10.0 * error));
        assert_eq!(with(0.015, &far), ["reno"]);
        assert!(with(0.016, &far).is_empty(), "more than a twentieth of the greatest error");
        assert_eq!(with(0.001, &[("reno lp", 0.025)]), ["reno"]);
        assert_eq!(
            with(0.0001, &[("reno lp", 0.0029), ("vegas", 0.0029)]),
            ["reno", "lp"],
            "a version of it is the other"
        );
        let rival: Vec<_> = [("reno bic", 0.02)].into_iter().chain(others).collect();
        assert!(with(0.01, &rival).is_empty(), "a class that shares a name may have another controller");
    }

    #[test]
    fn one_interval_tells_little_however_far_off_a_candidate_is_and_many_tell_much() {
        let path = path();
        let far = |parts: usize, off: usize| {
            let other = class(parts, move |place| if place < off { 5.0 } else { 20.0 });
            distinction(&class(parts, |_| 20.0), &other, &path)
        };
        let excludes = libm::log(EXCLUDES);
        assert!(far(40, 1) < 0.6 && far(40, 5) < excludes, "{} {}", far(40, 1), far(40, 5));
        assert!(far(40, 10) > excludes && far(40, 30) > 10.0, "{} {}", far(40, 10), far(40, 30));
        assert_eq!(far(40, 0), f64::INFINITY, "nothing differs, and the errors are equal");
        assert_eq!(far(1, 1), 0.0);
        assert_eq!([1, 2, 40].map(|parts| judged_intervals(&class(parts, |_| 20.0), BASE)), [1, 2, 40]);
        assert!(far(2, 1) < excludes, "{}", far(2, 1));
        let swings = class(40, |place| if place % 2 == 0 { 16.0 } else { 24.0 });
        let best = class(40, |_| 20.0);
        assert!(distinction(&best, &swings, &path) > excludes);
        assert_eq!(distinction(&swings, &best, &path), 0.0);
    }
}

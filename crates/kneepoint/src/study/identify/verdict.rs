// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The verdict on a capture: who sent it, who could have as well, or none of those that are known.
//!
//! ```text
//! class        suspects that expect the same at every moment: nothing in the capture tells one from another
//! likelihood   of a class  ~ exp(-min(n (e - e_best) / s, z² / 2)),   s = max(e_best, FINEST)
//! alike        classes with at least a twentieth of the best one's likelihood
//! none         e_best > max(FINEST, own),  at most MOST
//! ```
//!
//! `e` error of a class; of one that draws, the least of several streams, and `s ln(streams) / n` more, for the best of many is closer by chance.
//! `n` intervals between losses and renewals, which are independent. `z` is the sum of the differences to the best class, interval by interval, in its
//! own standard errors (Q. Vuong, Econometrica 57(2), 1989): a difference that one interval makes alone tells little, however great it is. `own`, of a best class that draws alone, is the greatest of its errors
//! against itself in [`WITNESSES`] simulations of the path that the capture shows: by chance a capture of the class itself is further off than
//! all of them once in [`WITNESSES`] + 1 times. [`FINEST`] is a hundredth of the greatest error: all is explained to a packet but a hundredth of
//! the time.

use super::follow::{Moment, Passed, RENEWAL, follow};
use super::path::Path;
use super::score::{WRONG, error, weights};
use super::suspects::Suspect;
use super::witness::witness;
use crate::capture::Course;
use crate::units::Time;

/// A suspect with no greater error is named, and smaller errors are compared as if the best one were this.
const FINEST: f64 = WRONG / 100.0;
/// Nobody is named with a greater error: a tenth of the greatest that there is.
const MOST: f64 = WRONG / 10.0;
/// How many times likelier the best class is than one that is excluded.
pub const EXCLUDES: f64 = 20.0;
/// How often a suspect that draws is led through a capture.
const FEW: u64 = 8;
/// The same where that decides. BBR begins its cycle with one of seven phases.
const MANY: u64 = 32;
/// Simulations in which a suspect that draws is compared with itself.
const WITNESSES: u64 = 9;
/// Round trips of an interval that tells something of its own.
const INTERVAL: u32 = 8;
/// Moments that are said to have decided.
const DECISIVE: usize = 3;

/// Suspects that expect the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// The members, by versions in the order of the candidates.
    pub suspects: Vec<Suspect>,
    /// The error.
    pub error: f64,
    /// The likelihood, of one that all classes share.
    pub likelihood: f64,
    /// What they expect.
    pub moments: Vec<Moment>,
    /// Whether they draw random numbers.
    pub draws: bool,
}

impl Class {
    /// The names of its controllers, each once.
    pub fn names(&self) -> Vec<&'static str> {
        let mut names = Vec::new();
        for suspect in &self.suspects {
            if !names.contains(&suspect.name()) {
                names.push(suspect.name());
            }
        }
        names
    }

    /// Whether they have a controller in common, maybe in different versions.
    pub fn overlaps(&self, other: &Class) -> bool {
        self.names().iter().any(|name| other.names().contains(name))
    }

    /// The first of them, which stands for all.
    pub fn first(&self) -> Option<&Suspect> {
        self.suspects.first()
    }
}

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
    /// Classes of suspects, the likeliest first.
    pub classes: Vec<Class>,
    /// The error of the best class against itself, if it draws: the greatest of as many simulations as it took to be no less than the capture's.
    pub own_error: f64,
    /// The moments that decided, in order of time.
    pub decisive: Vec<Decisive>,
    /// Whether the sender logged its window, with which candidates are compared in place of packets in flight.
    pub logged: bool,
}

impl Verdict {
    /// The class that sent it, or one of those [alike](Verdict::alike); none if no suspect is close enough.
    pub fn answer(&self) -> Option<&Class> {
        self.classes.first().filter(|best| best.error <= self.limit())
    }

    /// The names of the best class, and of those that the capture does not exclude.
    pub fn alike(&self) -> Vec<&'static str> {
        let most = self.classes.first().map_or(0.0, |best| best.likelihood);
        let likely = self.classes.iter().take_while(|class| class.likelihood * EXCLUDES >= most);
        let mut names = Vec::new();
        for name in likely.flat_map(Class::names) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The greatest error with which a suspect is named.
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

/// The moments of a suspect at its best, if it draws: of few streams, or of more as long as it may be named and is not close.
fn best_of(course: &Course, passed: &Passed, suspect: &Suspect, path: &Path) -> Best {
    let led = |seed| {
        let (moments, draws) = follow(course, passed, suspect, seed, RENEWAL);
        Best { error: error(&moments, path.base), moments, draws }
    };
    let mut best = led(1);
    if !best.draws {
        return best;
    }
    let mut streams = 1;
    while streams < FEW || (streams < MANY && best.error <= MOST && best.corrected(streams, path) > FINEST) {
        streams += 1;
        let other = led(streams);
        best = if other.error < best.error { other } else { best };
    }
    Best { error: best.corrected(streams, path), ..best }
}

/// Intervals that say something of their own.
fn intervals(moments: &[Moment], path: &Path) -> f64 {
    let judged = weights(moments, path.base).iter().sum::<f64>();
    (judged / (path.base.as_secs_f64() * f64::from(INTERVAL))).max(1.0) + f64::from(path.episodes)
}

/// Suspects by what they expect, the least error first.
fn classes(course: &Course, suspects: &[Suspect], path: &Path) -> Vec<Class> {
    let mut classes: Vec<Class> = Vec::new();
    let Some(passed) = suspects.first().map(|suspect| Passed::of(course, suspect)) else { return classes };
    for suspect in suspects {
        let Best { error, moments, draws } = best_of(course, &passed, suspect, path);
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

/// How much closer the best class is than another one, in standard errors over the intervals; without bound where these do not differ.
fn apart(best: &Class, other: &Class, path: &Path) -> f64 {
    let interval = path.base * u64::from(INTERVAL);
    let mut gains: Vec<(u64, f64)> = Vec::new();
    let pairs = best.moments.iter().zip(&other.moments).zip(weights(&best.moments, path.base));
    for ((one, two), weight) in pairs.filter(|(_, weight)| *weight > 0.0) {
        let (place, gain) = (one.at.0 / interval.0.max(1), weight * (two.error() - one.error()));
        match gains.last_mut().filter(|(last, _)| *last == place) {
            Some((_, sum)) => *sum += gain,
            None => gains.push((place, gain)),
        }
    }
    let count = gains.len() as f64;
    let total: f64 = gains.iter().map(|(_, gain)| gain).sum();
    let off = |(_, gain): &(u64, f64)| (gain - total / count) * (gain - total / count);
    let variance = gains.iter().map(off).sum::<f64>() * count / (count - 1.0);
    if variance > 0.0 { (total / variance.sqrt()).max(0.0) } else { f64::INFINITY }
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

/// Says who sent a capture; nothing without a round trip, or without suspects.
pub fn identify(course: &Course, suspects: &[Suspect]) -> Option<Verdict> {
    let path = Path::of(course)?;
    let mut classes = classes(course, suspects, &path);
    let best = classes.first()?;
    let intervals = intervals(&best.moments, &path);
    let drawn = best.first().filter(|_| best.draws);
    let own_error =
        drawn.and_then(|suspect| own_error(suspect, course, &path, best.error)).unwrap_or_default();
    let (least, spread) = (best.error, best.error.max(FINEST));
    let weigh = |class: &Class| {
        let z = apart(&classes[0], class, &path);
        libm::exp(-(intervals * (class.error - least) / spread).min(0.5 * z * z))
    };
    let likelihoods: Vec<f64> = classes.iter().map(weigh).collect();
    let all: f64 = likelihoods.iter().sum();
    classes.iter_mut().zip(likelihoods).for_each(|(class, likelihood)| class.likelihood = likelihood / all);
    // Those that are excluded stay in the order of their errors.
    let most = classes[0].likelihood;
    let rank = |class: &Class| if class.likelihood * EXCLUDES >= most { class.likelihood } else { 0.0 };
    classes.sort_by(|one, other| rank(other).total_cmp(&rank(one)));
    let other = classes.iter().find(|class| !class.overlaps(&classes[0]));
    let decisive = other.map(|other| decisive(&classes[0], other, &path)).unwrap_or_default();
    Some(Verdict { path, classes, own_error, decisive, logged: !course.windows.is_empty() })
}

/// The greatest error of a suspect against itself on the path: of simulations up to one that is no closer than the capture, whose error is
/// `error`, and of one alone if nobody is named with that error.
fn own_error(suspect: &Suspect, course: &Course, path: &Path, error: f64) -> Option<f64> {
    let witnesses = if error > MOST { 1 } else { WITNESSES };
    let mut greatest: Option<f64> = None;
    for seed in 1..=witnesses {
        let simulated = witness(suspect, course, path, seed)?;
        let own =
            best_of(&simulated, &Passed::of(&simulated, suspect), suspect, &Path::of(&simulated)?).error;
        greatest = Some(greatest.map_or(own, |one| one.max(own)));
        if own >= error {
            break;
        }
    }
    greatest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{PacketRate, Span};

    /// A class that expects so many of 20 packets in each of forty intervals.
    fn class(expected: impl Fn(usize) -> f64) -> Class {
        let moment = |place: usize| Moment {
            at: Time(place as u64 * 100_000_000),
            observed: 20,
            expected: expected(place / 8),
            saved: 0,
            ahead: 0,
            repairs: false,
        };
        let moments: Vec<Moment> = (1..320).map(moment).collect();
        Class { suspects: Vec::new(), error: 0.0, likelihood: 0.0, moments, draws: false }
    }

    #[test]
    fn one_interval_tells_little_however_far_off_a_candidate_is_and_many_tell_much() {
        let path = Path {
            base: Span::from_millis(100),
            rate: PacketRate(1000.0),
            buffer: None,
            first_flight: 10,
            delays: false,
            resent: 0,
            episodes: 0,
            lasted: Span::from_secs(32),
        };
        let best = class(|_| 20.0);
        let far =
            |least: usize| apart(&best, &class(move |place| if place < least { 5.0 } else { 20.0 }), &path);
        assert!((far(1) - 1.0).abs() < 0.05, "{}", far(1));
        assert!(far(10) > 3.0 && far(30) > 8.0, "{} {}", far(10), far(30));
        assert_eq!(far(0), f64::INFINITY, "nothing tells them apart");
        let swings = class(|place| if place % 2 == 0 { 16.0 } else { 24.0 });
        assert!(apart(&best, &swings, &path) > 5.0);
        assert_eq!(apart(&swings, &best, &path), 0.0);
    }
}

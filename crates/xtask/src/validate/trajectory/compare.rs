// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Distance measures between two windows over time.

use kneepoint::table::number::signed;

use super::pair::{LossyLink, STEP};

/// Tolerance.
///
/// Windows of ns-2's Linux agents are whole packets, and a host that recovers one round trip sooner grows one round
/// trip longer: one or two percent at windows of some hundred packets. Errors of a controller are larger: a
/// decrease of 0.7 instead of 0.8 is an eighth.
pub const TOLERANCE: f64 = 0.05;

/// A distance measure.
pub struct Measure {
    /// Key in the explanations.
    pub key: &'static str,
    /// Title in tables.
    pub title: &'static str,
    /// The function.
    pub of: fn(&LossyLink, &[f64], &[f64]) -> Measured,
}

/// Result of a measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Relative distance from ns-2's; signed if the sign is meaningful.
    pub apart: f64,
    /// Time of the largest of several, in seconds.
    pub at: Option<f64>,
}

/// All measures, in the order of tables.
pub const MEASURES: [Measure; 4] = [
    Measure { key: "before", title: "before a loss", of: before },
    Measure { key: "after", title: "after a loss", of: after },
    Measure { key: "mean", title: "mean between losses", of: mean },
    Measure { key: "distance", title: "distance", of: distance },
];

impl Measured {
    /// Whether it needs an explanation.
    pub fn differs(&self) -> bool {
        // NaN differs, too.
        self.apart.is_nan() || self.apart.abs() > TOLERANCE
    }

    /// `+3.1 %`.
    pub fn difference(&self) -> String {
        match self.at {
            Some(_) => signed(100.0 * self.apart, 1) + " %",
            None => format!("{:.1} %", 100.0 * self.apart),
        }
    }

    /// ` at 14 s`.
    pub fn place(&self) -> String {
        self.at.map_or(String::new(), |at| format!(" at {at} s"))
    }
}

/// The sample at or before this time; the first is one step after the start.
fn place(at: f64) -> usize {
    ((at / STEP + 1e-6) as usize).max(1) - 1
}

/// The largest of several distances, each with its time.
fn worst(pairs: impl Iterator<Item = (f64, f64, f64)>) -> Measured {
    let each = pairs.map(|(at, ours, theirs)| Measured { apart: ours / theirs - 1.0, at: Some(at) });
    let most = each.max_by(|one, other| one.apart.abs().total_cmp(&other.apart.abs()));
    most.unwrap_or(Measured { apart: f64::NAN, at: None })
}

/// The last sample before each loss except the first.
fn before(path: &LossyLink, ours: &[f64], theirs: &[f64]) -> Measured {
    worst(path.losses.iter().skip(1).map(|at| (*at, ours[place(*at)], theirs[place(*at)])))
}

/// The first sample after each recovery.
fn after(path: &LossyLink, ours: &[f64], theirs: &[f64]) -> Measured {
    worst(settled(path).into_iter().map(|(at, from, _)| (at, ours[from], theirs[from])))
}

/// The means between losses.
fn mean(path: &LossyLink, ours: &[f64], theirs: &[f64]) -> Measured {
    let of = |windows: &[f64]| windows.iter().sum::<f64>() / windows.len() as f64;
    worst(settled(path).into_iter().map(|(at, from, to)| (at, of(&ours[from..to]), of(&theirs[from..to]))))
}

/// The area between the curves relative to the area below ns-2's.
fn distance(path: &LossyLink, ours: &[f64], theirs: &[f64]) -> Measured {
    let (mut between, mut below) = (0.0, 0.0);
    for (_, from, to) in settled(path) {
        for (one, other) in ours[from..to].iter().zip(&theirs[from..to]) {
            between += (one - other).abs();
            below += other;
        }
    }
    Measured { apart: between / below, at: None }
}

/// The intervals of samples without recovery, from one loss to the next, each with its start time; none if the next
/// loss precedes the end of recovery.
fn settled(path: &LossyLink) -> Vec<(f64, usize, usize)> {
    let begins = path.losses.iter().map(|at| at + path.settle);
    let ends = path.losses.iter().skip(1).chain([&path.duration]);
    let intervals = begins.zip(ends).map(|(begin, end)| (begin, place(begin), place(*end) + 1));
    intervals.filter(|(_, from, to)| from < to).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(losses: &[f64]) -> LossyLink {
        let text =
            format!("rate = 1e9\nrtt = 0.1\nwindow = 9\nduration = 10.0\nsettle = 0.5\nlosses = {losses:?}");
        toml::from_str(&text).expect("a path")
    }

    /// Half of `height` from 6 s on.
    fn saw(height: f64) -> Vec<f64> {
        (1..=100).map(|step| if step <= 60 { height } else { height / 2.0 }).collect()
    }

    #[test]
    fn equal_windows_are_nowhere_apart_and_a_tenth_is_found_by_all() {
        let path = path(&[1.0, 6.0]);
        for measure in &MEASURES {
            assert_eq!((measure.of)(&path, &saw(100.0), &saw(100.0)).apart, 0.0, "{}", measure.key);
            let apart = (measure.of)(&path, &saw(110.0), &saw(100.0));
            assert!((apart.apart - 0.1).abs() < 1e-12 && apart.differs(), "{}", measure.key);
        }
    }

    #[test]
    fn another_decrease_is_seen_after_the_loss_and_not_before() {
        let ours: Vec<f64> =
            saw(100.0).iter().map(|window| if *window < 60.0 { 70.0 } else { *window }).collect();
        let path = path(&[1.0, 6.0]);
        assert_eq!(before(&path, &ours, &saw(100.0)).apart, 0.0);
        let found = after(&path, &ours, &saw(100.0));
        assert!((found.apart - 0.4).abs() < 1e-12 && found.at == Some(6.5), "{found:?}");
    }

    #[test]
    fn what_is_not_a_number_differs() {
        assert!(Measured { apart: f64::NAN, at: None }.differs());
    }

    #[test]
    fn a_loss_before_the_last_is_repaired_has_no_interval_of_its_own() {
        let intervals = settled(&path(&[2.0, 2.3, 5.0]));
        assert_eq!(intervals, [(2.8, 27, 50), (5.5, 54, 100)]);
    }
}

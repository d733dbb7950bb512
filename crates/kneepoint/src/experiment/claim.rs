// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A published claim and its judgement by our runs.
//!
//! The verdict is that of the means over seeds. The margin, the difference of the two sides, shows its reliability: the
//! confidence interval of the margin is computed seed by seed, because schemes run under the same random numbers and
//! their difference varies less than either. A comparison is of the seeds with which all runs that it reads were made.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::expression::{Check, Expression, Reference, Scope, Sign};
use crate::study::Frame;
use crate::table::paired::from_zero;
use crate::table::{Estimate, Labels};

crate::choice! {
    /// The number of points at which a claim must hold.
    pub enum Need {
        /// At every point.
        All = "all",
        /// At more than half of them.
        Most = "most",
        /// At one of them.
        Any = "any",
        /// On the average over all points.
        Mean = "mean",
    }
}

crate::choice! {
    /// The reason why a claim does not hold, or cannot be tested.
    pub enum Cause {
        /// The publication contradicts itself, or the arithmetic.
        Publication = "publication",
        /// It holds under a setting that the publication leaves open.
        Unstated = "unstated",
        /// Our model differs from the measured system in a known way.
        Ours = "ours",
        /// Not known yet.
        Unknown = "unknown",
    }
}

/// A claim of a publication.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Its name within the experiment.
    pub id: String,
    /// The claim in our words.
    pub text: String,
    /// Comparisons, all of which must hold; none if it cannot be tested.
    pub checks: Vec<Check>,
    /// The axes at whose every value the checks are evaluated.
    pub each: Vec<String>,
    /// The number of these points at which they must hold.
    pub need: Need,
    /// The tolerance in the checks, and its origin.
    pub tolerance: String,
    /// Numbers of ours to show next to the published ones, by name.
    pub ours: Vec<(String, Expression)>,
    /// The published numbers.
    pub published: Option<Value>,
    /// The suspected reason that it fails or cannot be tested.
    pub reason: Option<String>,
    /// The kind of that reason, if it is known without the runs under other readings.
    pub cause: Cause,
}

crate::choice! {
    /// The verdict on a claim.
    pub enum Verdict {
        /// Our runs agree.
        Holds = "holds",
        /// They do not.
        Fails = "fails",
        /// They cannot tell.
        Untestable = "untestable",
    }
}

/// The judgement of a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Whether the confidence intervals confirm the verdict.
    pub certain: bool,
    /// Our numbers: the ones that the claim names, or else the ones that it compares.
    pub ours: Vec<(String, Estimate)>,
    /// Every comparison at every point.
    pub points: Vec<CheckResult>,
    /// The missing observation, if one is missing.
    pub missing: Option<String>,
}

/// One comparison at one point.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckResult {
    /// The point: values of the claim's axes.
    pub at: Labels,
    /// As written.
    pub check: String,
    /// The left side, from means over seeds.
    pub left: f64,
    /// The right side.
    pub right: f64,
    /// The margin by which it holds, negative if it fails: from means over seeds, with the interval of the seeds.
    pub margin: Estimate,
    /// Whether it holds.
    pub holds: bool,
    /// Whether the interval of the margin lies on one side of zero. A margin of one seed is certain only where there is no other seed.
    pub certain: bool,
    /// Its relation.
    pub sign: Sign,
    /// The sides of each seed, where both are known.
    pub sides: Vec<Sides>,
}

/// The sides of a comparison in the runs of one seed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sides {
    /// The seed.
    pub seed: u64,
    /// The left side.
    pub left: f64,
    /// The right side.
    pub right: f64,
}

impl CheckResult {
    /// Whether further seeds are not expected to change what it says: [`EARLY`] of a margin's other sign. A number that is the same with every
    /// seed is not random.
    fn decided(&self) -> bool {
        let margins = self.sides.iter().map(|one| self.sign.margin(one.left, one.right));
        from_zero(&margins.collect::<Vec<_>>()).is_some_and(|p| p < EARLY)
    }
}

/// The probability of an error at which a claim is decided before all of its seeds are run. There are three looks at most, so that all of them
/// together err less often than the interval of the last.
const EARLY: f64 = 1e-3;

impl Claim {
    /// The axes at whose values it is judged one by one, or along which it folds.
    pub fn axes(&self) -> BTreeSet<&str> {
        let sides = self.checks.iter().flat_map(|check| [&check.left, &check.right]);
        let folded = sides.flat_map(|side| side.folded()).map(|axis| axis.name.as_str());
        self.each.iter().map(String::as_str).chain(folded).collect()
    }

    /// Judges the claim by the observations.
    pub fn judge(&self, frame: &Frame) -> Judgement {
        let points = points(frame, &self.each);
        let compared = self.compared(frame, &points);
        let ours = self.numbers(frame, &points);
        let untestable = |missing| Judgement {
            verdict: Verdict::Untestable,
            certain: true,
            ours: ours.clone(),
            points: Vec::new(),
            missing,
        };
        match compared {
            Err(missing) => untestable(Some(missing.to_string())),
            Ok(compared) if compared.is_empty() => untestable(None),
            Ok(compared) => {
                let holds = |one: &CheckResult| one.holds;
                let sure = |one: &CheckResult| one.holds && one.certain;
                let maybe = |one: &CheckResult| one.holds || !one.certain;
                let met = self.met(&compared, holds);
                let certain = met == self.met(&compared, sure) && met == self.met(&compared, maybe);
                let verdict = if met { Verdict::Holds } else { Verdict::Fails };
                Judgement { verdict, certain, ours, points: compared, missing: None }
            }
        }
    }

    /// Whether further seeds are not expected to change the verdict. A claim that cannot be tested is decided.
    pub fn decided(&self, frame: &Frame) -> bool {
        let points = points(frame, &self.each);
        self.compared(frame, &points).map_or(true, |compared| {
            let sure = |one: &CheckResult| one.holds && one.decided();
            let maybe = |one: &CheckResult| one.holds || !one.decided();
            self.met(&compared, sure) == self.met(&compared, maybe)
        })
    }

    /// The points of the sweep whose runs leave the verdict within the noise of their seeds, as uncertain comparisons read them; with
    /// the number of seeds of the comparison.
    pub fn doubted<'f>(&self, frame: &'f Frame) -> Vec<(&'f Labels, usize)> {
        let judgement = self.judge(frame);
        if judgement.certain {
            return Vec::new();
        }
        let points = points(frame, &self.each);
        let results = self.comparisons(&points).into_iter().zip(&judgement.points);
        let open = results.filter(|(_, result)| !result.certain).map(|(comparison, _)| comparison);
        let read = |one: Comparison| {
            let seeds = frame.common(|run| one.reads(run)).len();
            frame.points().filter(|run| one.reads(run)).map(|run| (run, seeds)).collect::<Vec<_>>()
        };
        open.flat_map(read).collect()
    }

    /// Whether enough points hold, if `holds` says which comparisons do.
    fn met(&self, compared: &[CheckResult], holds: impl Fn(&CheckResult) -> bool) -> bool {
        // A point holds if all its comparisons do; they stand together.
        let at_points = compared.chunk_by(|a, b| a.at == b.at).map(|point| point.iter().all(&holds));
        let verdicts: Vec<bool> = at_points.collect();
        let good = verdicts.iter().filter(|good| **good).count();
        match self.need {
            Need::All | Need::Mean => good == verdicts.len(),
            Need::Most => 2 * good > verdicts.len(),
            Need::Any => good > 0,
        }
    }

    fn compared(&self, frame: &Frame, points: &[Labels]) -> Result<Vec<CheckResult>, Reference> {
        self.comparisons(points).into_iter().map(|one| one.result(frame)).collect()
    }

    /// Every check at each point, or once over all points.
    fn comparisons<'c>(&'c self, points: &'c [Labels]) -> Vec<Comparison<'c>> {
        let places = match self.need {
            Need::Mean => vec![(None, points)],
            _ => points.iter().map(|point| (Some(point), std::slice::from_ref(point))).collect(),
        };
        let checks = |(at, over)| self.checks.iter().map(move |check| Comparison { check, at, points: over });
        places.into_iter().flat_map(checks).collect()
    }

    /// The numbers to show.
    fn numbers(&self, frame: &Frame, points: &[Labels]) -> Vec<(String, Estimate)> {
        if !self.ours.is_empty() {
            let shown = self.ours.iter().map(|(name, expression)| {
                let estimate = estimate(expression, frame, &Labels::new());
                (name.clone(), estimate)
            });
            return shown.collect();
        }
        let mut numbers: Vec<(String, Estimate)> = Vec::new();
        for comparison in self.comparisons(points) {
            let seeds = &frame.common(|run| comparison.reads(run))[..];
            for labels in comparison.points {
                for reference in comparison.check.references() {
                    let bound = Scope { frame, labels, seeds }.bound(reference);
                    let name = bound.to_string();
                    let of = |seed: &u64| frame.value(&bound.metric, &bound.labels, &[*seed]);
                    let values: Vec<f64> = seeds.iter().filter_map(of).collect();
                    if !values.is_empty() && !numbers.iter().any(|(other, _)| *other == name) {
                        numbers.push((name, Estimate::of(&values)));
                    }
                }
            }
        }
        numbers
    }
}

/// Every combination of the labels of some axes; one without labels if there is no axis.
fn points(frame: &Frame, axes: &[String]) -> Vec<Labels> {
    axes.iter().fold(vec![Labels::new()], |points, axis| {
        let with = |point: &Labels, label: &String| {
            let mut point = point.clone();
            point.insert(axis.clone(), label.clone());
            point
        };
        points
            .iter()
            .flat_map(|point| frame.labels(axis).iter().map(move |label| with(point, label)))
            .collect()
    })
}

/// A check of the means over some points.
#[derive(Clone, Copy, Debug)]
struct Comparison<'c> {
    check: &'c Check,
    /// The point, if it is one.
    at: Option<&'c Labels>,
    points: &'c [Labels],
}

impl Comparison<'_> {
    /// Whether it reads the runs at a point of the sweep.
    fn reads(self, run: &Labels) -> bool {
        self.points.iter().any(|labels| self.check.reads(run, labels))
    }

    fn result(self, frame: &Frame) -> Result<CheckResult, Reference> {
        let Comparison { check, points, .. } = self;
        let at = self.at.cloned().unwrap_or_default();
        let mean = |side: &Expression, seeds: &[u64]| -> Result<f64, Reference> {
            let values = points.iter().map(|labels| side.value(Scope { frame, labels, seeds }));
            let values = values.collect::<Result<Vec<_>, _>>()?;
            Ok(values.iter().sum::<f64>() / values.len() as f64)
        };
        let seeds = frame.common(|run| self.reads(run));
        let (left, right) = (mean(&check.left, &seeds)?, mean(&check.right, &seeds)?);
        if !(left.is_finite() && right.is_finite()) {
            return Err(Reference { metric: format!("a number for `{}`", check.text), labels: at });
        }
        let sides = seeds.iter().filter_map(|seed| {
            let only = [*seed];
            Some(Sides {
                seed: *seed,
                left: mean(&check.left, &only).ok()?,
                right: mean(&check.right, &only).ok()?,
            })
        });
        let sides: Vec<Sides> = sides.collect();
        let margins = sides.iter().map(|one| check.sign.margin(one.left, one.right));
        let spread = Estimate::of(&margins.collect::<Vec<_>>());
        let margin = Estimate { mean: check.sign.margin(left, right), half_width: spread.half_width };
        let alone = frame.seeds().len() < 2;
        Ok(CheckResult {
            at,
            check: check.text.clone(),
            left,
            right,
            margin,
            holds: check.sign.holds(left, right),
            certain: margin.half_width.map_or(alone, |half_width| margin.mean.abs() >= half_width),
            sign: check.sign,
            sides,
        })
    }
}

/// The value of an expression over the seeds; NaN where an observation is missing.
pub(crate) fn estimate(expression: &Expression, frame: &Frame, labels: &Labels) -> Estimate {
    let value = |seed: u64| expression.value(Scope { frame, labels, seeds: &[seed] }).ok();
    let seeds = frame.common(|run| expression.reads(run, labels));
    Estimate::of(&seeds.into_iter().filter_map(value).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Row;

    /// Two schemes at three rates under two seeds: RED's queue is 20, PERT's 10, 18 and 30 and one more each seed.
    fn frame() -> Frame {
        let mut frame = Frame::default();
        for seed in [1, 2] {
            for (scheme, queues) in [("pert", [10.0, 18.0, 30.0]), ("red", [20.0; 3])] {
                for (rate, queue) in ["1mbit", "10mbit", "100mbit"].into_iter().zip(queues) {
                    let point = [("scheme".to_string(), scheme.to_string()), ("rate".into(), rate.into())];
                    let queue = if scheme == "pert" { queue + seed as f64 } else { queue };
                    frame.add(&point, seed, &[Row::new([]).with("queue", queue)]);
                }
            }
        }
        frame
    }

    fn claim(check: &str, need: Need) -> Claim {
        Claim {
            id: "a".into(),
            text: String::new(),
            checks: vec![Check::parse(check).unwrap()],
            each: vec!["rate".into()],
            need,
            tolerance: String::new(),
            ours: Vec::new(),
            published: None,
            reason: None,
            cause: Cause::Unknown,
        }
    }

    #[test]
    fn two_points_of_three_are_most_and_some_but_not_all() {
        let below = "queue[scheme=pert] < queue[scheme=red]";
        for (need, verdict) in [
            (Need::All, Verdict::Fails),
            (Need::Most, Verdict::Holds),
            (Need::Any, Verdict::Holds),
            (Need::Mean, Verdict::Fails),
        ] {
            assert_eq!(claim(below, need).judge(&frame()).verdict, verdict, "{need}");
        }
    }

    #[test]
    fn a_margin_within_its_interval_leaves_doubt() {
        let judged = claim("queue[scheme=pert] < queue[scheme=red]", Need::Most).judge(&frame());
        let margins: Vec<f64> = judged.points.iter().map(|point| point.margin.mean).collect();
        assert_eq!(margins, [8.5, 0.5, -11.5]);
        // 19 and 20 of 20: a half width of 12.7 · 0.707 / 1.414.
        assert!((judged.points[1].margin.half_width.unwrap() - 6.353).abs() < 1e-3);
        assert!(!judged.certain);
        let clear = claim("queue[scheme=pert] < 5 * queue[scheme=red]", Need::All).judge(&frame());
        assert_eq!((clear.verdict, clear.certain), (Verdict::Holds, true));
    }

    #[test]
    fn a_claim_is_decided_by_a_margin_beyond_its_spread_or_by_points_that_are_enough() {
        let decided = |check, need| claim(check, need).decided(&frame());
        // 8.5 ± 0.5, 0.5 ± 0.5 and −11.5 ± 0.5 with two seeds, p = 0.04 and more.
        assert!(!decided("queue[scheme=pert] < queue[scheme=red]", Need::Most));
        assert!(decided("queue[scheme=pert] < 1e6 * queue[scheme=red]", Need::All));
        assert!(decided("queue[scheme=red] < 21", Need::All), "the same with each seed");
        assert!(decided("queue[scheme=vegas] < 1", Need::Any), "cannot be tested");
    }

    #[test]
    fn the_numbers_compared_are_shown_once_each() {
        let judged =
            claim("queue[scheme=pert] < queue[scheme=red] + queue[scheme=pert]", Need::All).judge(&frame());
        let names: Vec<&str> = judged.ours.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.len(), 6);
        assert_eq!(names[0], "queue[rate=1mbit, scheme=pert]");
        assert_eq!(judged.ours[0].1.mean, 11.5);
    }

    #[test]
    fn a_comparison_that_is_left_with_one_of_several_seeds_is_uncertain() {
        let mut frame = frame();
        let point = [("scheme".to_string(), "sack".to_string()), ("rate".into(), "1mbit".into())];
        frame.add(&point, 2, &[Row::new([]).with("queue", 1e6)]);
        let check = "queue[scheme=sack, rate=1mbit] > 2 * queue[scheme=red, rate=1mbit]";
        let least = Claim { each: Vec::new(), ..claim(check, Need::All) };
        let judged = least.judge(&frame);
        assert_eq!((judged.verdict, judged.certain), (Verdict::Holds, false));
        let read = least.doubted(&frame).into_iter().map(|(run, seeds)| (run["scheme"].as_str(), seeds));
        assert_eq!(read.collect::<Vec<_>>(), [("red", 1), ("sack", 1)]);
    }

    #[test]
    fn what_is_divided_by_nothing_cannot_be_tested() {
        let judged = claim("queue[scheme=pert] / 0 > 1", Need::All).judge(&frame());
        assert_eq!(judged.verdict, Verdict::Untestable);
    }

    #[test]
    fn what_was_not_observed_cannot_be_tested() {
        let judged = claim("queue[scheme=vegas] < 1", Need::Any).judge(&frame());
        assert_eq!(judged.verdict, Verdict::Untestable);
        assert_eq!(judged.missing.as_deref(), Some("queue[rate=1mbit, scheme=vegas]"));
        let nothing = Claim { checks: Vec::new(), ..claim("1 < 2", Need::All) };
        assert_eq!(nothing.judge(&frame()).verdict, Verdict::Untestable);
    }
}

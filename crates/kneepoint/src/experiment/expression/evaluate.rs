// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Evaluates expressions, for one seed or for the means over several, and tells the runs that they read.

use super::{Axis, Check, Expression, Operator, Part, Reference};
use crate::study::Frame;
use crate::table::{Labels, quantity};

/// Context of an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'f> {
    /// The observations.
    pub frame: &'f Frame,
    /// Labels that references may omit.
    pub labels: &'f Labels,
    /// The seeds, over which observations are averaged.
    pub seeds: &'f [u64],
}

impl Expression {
    /// The value; the error names the first metric without one.
    pub fn value(&self, scope: Scope) -> Result<f64, Reference> {
        match self {
            Expression::Number(number) => Ok(*number),
            Expression::Observed(reference) => scope.observed(reference),
            Expression::Negative(inner) => Ok(-inner.value(scope)?),
            Expression::Absolute(inner) => Ok(inner.value(scope)?.abs()),
            Expression::Pair(left, operator, right) => {
                let (left, right) = (left.value(scope)?, right.value(scope)?);
                Ok(match operator {
                    Operator::Plus => left + right,
                    Operator::Minus => left - right,
                    Operator::Times => left * right,
                    Operator::Over => left / right,
                })
            }
            Expression::Extreme(fold, several) => {
                let numbers = several.iter().map(|one| one.value(scope)).collect::<Result<Vec<_>, _>>()?;
                Ok(fold.of(&numbers).unwrap_or(f64::NAN))
            }
            Expression::Along(fold, inner, axis) => {
                let numbers = scope.along(inner, axis)?;
                fold.of(&numbers).ok_or_else(|| scope.missing(inner, axis))
            }
        }
    }
}

impl Check {
    /// Whether a side reads the runs at a point of the sweep, where `labels` are those that references may omit.
    pub fn reads(&self, point: &Labels, labels: &Labels) -> bool {
        self.left.reads(point, labels) || self.right.reads(point, labels)
    }
}

impl Expression {
    /// Whether it reads the runs at a point of the sweep, where `labels` are those that references may omit.
    pub fn reads(&self, point: &Labels, labels: &Labels) -> bool {
        match self {
            Expression::Number(_) => false,
            Expression::Observed(reference) => {
                let bound = bound(reference, labels).labels;
                point.iter().all(|(axis, label)| bound.get(axis) == Some(label))
            }
            Expression::Negative(inner) | Expression::Absolute(inner) => inner.reads(point, labels),
            Expression::Pair(left, _, right) => left.reads(point, labels) || right.reads(point, labels),
            Expression::Extreme(_, several) => several.iter().any(|one| one.reads(point, labels)),
            Expression::Along(_, inner, axis) => match point.get(&axis.name) {
                // An axis of rows within each run.
                None => inner.reads(point, labels),
                Some(label) => axis.part.has(label) && inner.reads(point, &under(labels, axis, label)),
            },
        }
    }
}

impl Part {
    fn has(&self, label: &String) -> bool {
        match self {
            Part::All => true,
            Part::Between(from, to) => quantity(label).is_some_and(|at| (*from..=*to).contains(&at)),
            Part::Only(labels) => labels.contains(label),
        }
    }
}

/// A reference completed by the labels it omits.
fn bound(reference: &Reference, labels: &Labels) -> Reference {
    let mut labels = labels.clone();
    labels.extend(reference.labels.clone());
    Reference { metric: reference.metric.clone(), labels }
}

/// Labels with one along an axis.
fn under(labels: &Labels, axis: &Axis, label: &str) -> Labels {
    let mut labels = labels.clone();
    labels.insert(axis.name.clone(), label.to_string());
    labels
}

impl Scope<'_> {
    fn observed(self, reference: &Reference) -> Result<f64, Reference> {
        let bound = self.bound(reference);
        let value = self.frame.value(&bound.metric, &bound.labels, self.seeds);
        value.ok_or(bound)
    }

    /// A reference completed by the labels it omits.
    pub fn bound(self, reference: &Reference) -> Reference {
        bound(reference, self.labels)
    }

    /// The values of `inner` along an axis, where defined; labels listed explicitly must have one.
    fn along(self, inner: &Expression, axis: &Axis) -> Result<Vec<f64>, Reference> {
        let mut numbers = Vec::new();
        let labels: Vec<&String> = match &axis.part {
            Part::Only(labels) => labels.iter().collect(),
            part => self.frame.labels(&axis.name).iter().filter(|label| part.has(label)).collect(),
        };
        for label in labels {
            let bound = under(self.labels, axis, label);
            match inner.value(Scope { labels: &bound, ..self }) {
                Ok(number) => numbers.push(number),
                Err(missing) if matches!(axis.part, Part::Only(_)) => return Err(missing),
                Err(_) => {}
            }
        }
        Ok(numbers)
    }

    /// The error for an axis with too few values.
    fn missing(self, inner: &Expression, axis: &Axis) -> Reference {
        let first = inner.references().first().map(|reference| self.bound(reference));
        let mut missing =
            first.unwrap_or(Reference { metric: "nothing".into(), labels: self.labels.clone() });
        missing.labels.insert(axis.name.clone(), "…".into());
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::parse;
    use crate::study::watch::{Yield, over_time};
    use crate::study::work::Packets;
    use crate::table::Row;
    use crate::units::{Interval, Span, Time};

    fn frame() -> Frame {
        let mut frame = Frame::default();
        for (seed, offset) in [(1, 0.0), (2, 2.0)] {
            for (flows, queue) in [("1", 10.0), ("10", 20.0), ("100", 15.0)] {
                let point = [("flows".to_string(), flows.to_string())];
                frame.add(&point, seed, &[Row::new([]).with("queue", queue + offset)]);
            }
        }
        frame
    }

    fn value(text: &str, seeds: &[u64]) -> Result<f64, Reference> {
        let labels = Labels::new();
        Expression::parse(text).unwrap().value(Scope { frame: &frame(), labels: &labels, seeds })
    }

    #[test]
    fn folds_go_along_an_axis_in_the_order_of_its_labels() {
        assert_eq!(value("mean(queue over flows)", &[1]), Ok(15.0));
        assert_eq!(value("mean(queue over flows)", &[1, 2]), Ok(16.0));
        assert_eq!(value("sum(queue over flows in (1, 100))", &[1]), Ok(25.0));
        assert_eq!(value("max(queue over flows from 50 to 200)", &[2]), Ok(17.0));
        assert_eq!(value("rise(queue over flows)", &[1]), Ok(-5.0));
        assert_eq!(value("fall(queue over flows from 10 to 100)", &[1]), Ok(5.0));
        assert_eq!(value("abs(1 - min(queue[flows=1] / 5, 7)) * -1", &[1]), Ok(-1.0));
    }

    #[test]
    fn an_expression_reads_the_runs_of_its_labels_and_of_the_axes_along_which_it_folds() {
        let labels = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(a, l)| (a.to_string(), l.to_string())).collect::<Labels>()
        };
        let points = ["1", "10", "100"].map(|flows| labels(&[("flows", flows), ("scheme", "pert")]));
        let read = |text: &str, omitted: &[(&str, &str)]| {
            let expression = Expression::parse(text).unwrap();
            points.each_ref().map(|point| expression.reads(point, &labels(omitted)))
        };
        assert_eq!(read("queue[flows=10, scheme=pert]", &[]), [false, true, false]);
        assert_eq!(read("queue[flows=10, scheme=red]", &[]), [false; 3]);
        assert_eq!(read("queue[flows=10]", &[]), [false; 3], "no run has fewer labels");
        assert_eq!(
            read("1 - abs(queue[link=a]) / 2", &[("flows", "1"), ("scheme", "pert")]),
            [true, false, false]
        );
        assert_eq!(read("max(queue[scheme=pert] over flows)", &[]), [true; 3]);
        assert_eq!(read("max(queue over flows from 5 to 100)", &[("scheme", "pert")]), [false, true, true]);
        assert_eq!(read("min(1, sum(queue[scheme=pert] over flows in (1, 100)))", &[]), [true, false, true]);
        let of_rows = "sum(mean(drops[scheme=pert] over time from 0 to 5) over flows in (1, 10))";
        assert_eq!(read(of_rows, &[]), [true, true, false]);
        assert_eq!(read("2", &[("flows", "1"), ("scheme", "pert")]), [false; 3]);
    }

    #[test]
    fn a_missing_observation_is_named() {
        assert_eq!(value("queue", &[1, 2]).unwrap_err().to_string(), "queue");
        assert_eq!(value("drops[flows=1]", &[1, 2]).unwrap_err().to_string(), "drops[flows=1]");
        let missing = value("max(queue[link=a] over flows)", &[1, 2]).unwrap_err();
        assert_eq!(missing.to_string(), "queue[flows=…, link=a]");
        assert!(value("sum(queue over flows in (1, 2))", &[1, 2]).is_err());
    }

    #[test]
    fn the_first_seconds_of_a_link_can_be_asked_for_in_two_ways() {
        let text = "[run]\nduration = '9s'\nmeasure = '6s..9s'\nsample = '1s'\n[topology]\nkind = 'dumbbell'\n\
                    rate = '10mbit'\n[[flows]]\ncc = 'reno'\n";
        let valid = parse(text).unwrap().cases.remove(0).valid;
        let begin = Interval { from: Time::ZERO, to: Span::from_secs(5).after_start() };
        let packets = Packets { windows: vec![("begin".into(), begin)], ..Packets::from(valid) };
        let Yield { mut rows, series, .. } = packets.run(1).0;
        rows.extend(series.iter().flat_map(over_time));
        let mut frame = Frame::default();
        frame.add(&[], 1, &rows);
        let (frame, labels) = (&frame, &Labels::new());
        let asked = |claim: &str| {
            let expression = Expression::parse(claim).unwrap();
            expression.value(Scope { frame, labels, seeds: &[1] }).unwrap()
        };
        let used = asked("utilization[link=r1-r2, window=begin]");
        assert!((0.3..0.99).contains(&used), "slow start takes a while: {used}");
        let sampled = asked("mean(link_throughput_bps[link=r1-r2] over time from 1 to 5) / 10e6");
        assert!((used - sampled).abs() < 1e-6, "{used} and {sampled}");
        // The measurement window differs.
        assert!(asked("utilization[link=r1-r2]") > used);
        assert_eq!(
            asked("drops[link=r1-r2, window=begin]"),
            asked("sum(drops[link=r1-r2] over time from 1 to 5)")
        );
    }
}

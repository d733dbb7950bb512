// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Evaluates expressions, for one seed or for the means over all seeds.

use super::{Axis, Expression, Operator, Part, Reference};
use crate::table::{Frame, Labels, quantity};

/// Context of an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'f> {
    /// The observations.
    pub frame: &'f Frame,
    /// Labels that references may omit.
    pub labels: &'f Labels,
    /// One seed, or the mean over all.
    pub seed: Option<u64>,
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

impl Scope<'_> {
    fn observed(self, reference: &Reference) -> Result<f64, Reference> {
        let bound = self.bound(reference);
        let value = self.frame.value(&bound.metric, &bound.labels, self.seed);
        value.ok_or(bound)
    }

    /// A reference completed by the labels it omits.
    pub fn bound(self, reference: &Reference) -> Reference {
        let mut labels = self.labels.clone();
        labels.extend(reference.labels.clone());
        Reference { metric: reference.metric.clone(), labels }
    }

    /// The values of `inner` along an axis, where defined; labels listed explicitly must have one.
    fn along(self, inner: &Expression, axis: &Axis) -> Result<Vec<f64>, Reference> {
        let mut numbers = Vec::new();
        let known;
        let labels = match &axis.part {
            Part::Only(labels) => labels.as_slice(),
            Part::All => self.frame.labels(&axis.name),
            Part::Between(from, to) => {
                let inside = |label: &&String| quantity(label).is_some_and(|at| (*from..=*to).contains(&at));
                known = self.frame.labels(&axis.name).iter().filter(inside).cloned().collect::<Vec<_>>();
                &known
            }
        };
        for label in labels {
            let mut bound = self.labels.clone();
            bound.insert(axis.name.clone(), label.clone());
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

    fn value(text: &str, seed: Option<u64>) -> Result<f64, Reference> {
        let labels = Labels::new();
        Expression::parse(text).unwrap().value(Scope { frame: &frame(), labels: &labels, seed })
    }

    #[test]
    fn folds_go_along_an_axis_in_the_order_of_its_labels() {
        assert_eq!(value("mean(queue over flows)", Some(1)), Ok(15.0));
        assert_eq!(value("mean(queue over flows)", None), Ok(16.0));
        assert_eq!(value("sum(queue over flows in (1, 100))", Some(1)), Ok(25.0));
        assert_eq!(value("max(queue over flows from 50 to 200)", Some(2)), Ok(17.0));
        assert_eq!(value("rise(queue over flows)", Some(1)), Ok(-5.0));
        assert_eq!(value("fall(queue over flows from 10 to 100)", Some(1)), Ok(5.0));
        assert_eq!(value("abs(1 - min(queue[flows=1] / 5, 7)) * -1", Some(1)), Ok(-1.0));
    }

    #[test]
    fn a_missing_observation_is_named() {
        assert_eq!(value("queue", None).unwrap_err().to_string(), "queue");
        assert_eq!(value("drops[flows=1]", None).unwrap_err().to_string(), "drops[flows=1]");
        let missing = value("max(queue[link=a] over flows)", None).unwrap_err();
        assert_eq!(missing.to_string(), "queue[flows=…, link=a]");
        assert!(value("sum(queue over flows in (1, 2))", None).is_err());
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
            expression.value(Scope { frame, labels, seed: Some(1) }).unwrap()
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

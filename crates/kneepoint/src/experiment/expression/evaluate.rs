// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What an expression amounts to, for one seed or for the means over all.

use super::{Axis, Expression, Operator, Part, Reference};
use crate::table::{Frame, Labels, quantity};

/// Where an expression is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'f> {
    /// What was observed.
    pub frame: &'f Frame,
    /// The labels that need not be written.
    pub labels: &'f Labels,
    /// One seed, or the mean of all.
    pub seed: Option<u64>,
}

impl Expression {
    /// The value; the error is the first metric that has none.
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

    /// A reference with the labels that need not be written; those that are written come first.
    pub fn bound(self, reference: &Reference) -> Reference {
        let mut labels = self.labels.clone();
        labels.extend(reference.labels.clone());
        Reference { metric: reference.metric.clone(), labels }
    }

    /// The values of `inner` along an axis, where it has any; labels written out must have one.
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

    /// What has too few values along an axis.
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
    use crate::table::Row;

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
    fn what_was_not_observed_is_named() {
        assert_eq!(value("queue", None).unwrap_err().to_string(), "queue");
        assert_eq!(value("drops[flows=1]", None).unwrap_err().to_string(), "drops[flows=1]");
        let missing = value("max(queue[link=a] over flows)", None).unwrap_err();
        assert_eq!(missing.to_string(), "queue[flows=…, link=a]");
        assert!(value("sum(queue over flows in (1, 2))", None).is_err());
    }
}

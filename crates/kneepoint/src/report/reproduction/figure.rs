// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The figure of an experiment, with the axes of the published one, and tables of its numbers.

use super::super::document::Block;
use super::super::figure::{self, Observed};
use crate::chart::Drawing;
use crate::experiment::expression::{Expression, Operator, Reference};
use crate::experiment::{Claim, Reproduction};
use crate::study::Work;
use crate::units::Time;
use serde_json::Value;

/// The figure; none if the experiment has none, or nothing was observed.
pub fn render(outcome: &Reproduction) -> Option<Drawing> {
    let experiment = &outcome.experiment;
    let title = format!("{}: {}", experiment.name(), experiment.title);
    with_observed(outcome, |observed| figure::sheet(observed, &title))?
}

/// The tables of the figure.
pub fn tables(outcome: &Reproduction) -> Vec<Block> {
    with_observed(outcome, figure::tables).unwrap_or_default()
}

/// The input of an experiment's figure, if it has one.
fn with_observed<T>(outcome: &Reproduction, draw: impl FnOnce(&Observed) -> T) -> Option<T> {
    let figure = outcome.experiment.figure.as_ref()?;
    let published: Vec<(Reference, f64)> = outcome.experiment.claims.iter().flat_map(published).collect();
    let measured = measured(outcome);
    Some(draw(&Observed {
        figure,
        frame: &outcome.frames[0],
        factors: &[],
        published: &published,
        measured,
        scaled: false,
    }))
}

/// The published numbers of a claim for one metric, in the units of that metric.
fn published(claim: &Claim) -> Vec<(Reference, f64)> {
    let value = |name: &String| match claim.published.as_ref()? {
        Value::Object(numbers) => numbers.get(name)?.as_f64(),
        alone => alone.as_f64().filter(|_| claim.ours.len() == 1),
    };
    let told = claim.ours.iter().filter_map(|(name, ours)| {
        let (reference, factor) = multiple(ours)?;
        Some((reference.clone(), value(name)? / factor))
    });
    told.collect()
}

/// The metric that an expression is a multiple of, and the factor.
fn multiple(expression: &Expression) -> Option<(&Reference, f64)> {
    match expression {
        Expression::Observed(reference) => Some((reference, 1.0)),
        Expression::Pair(left, operator, right) => match (&**left, operator, &**right) {
            (Expression::Number(factor), Operator::Times, of)
            | (of, Operator::Times, Expression::Number(factor)) => {
                multiple(of).map(|(reference, own)| (reference, own * factor))
            }
            (of, Operator::Over, Expression::Number(part)) => {
                multiple(of).map(|(reference, own)| (reference, own / part))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The measurement window of the runs, if all have the same and it is a part of them only.
fn measured(outcome: &Reproduction) -> Option<(f64, f64)> {
    let mut windows = outcome.experiment.variants[0].points.iter().filter_map(|point| match &point.work {
        Work::Packets(packets) => Some(packets.valid.schedule()),
        Work::Computation(_) => None,
    });
    let first = windows.next()?;
    let part = first.measure.span() < first.duration.since(Time::ZERO);
    let same = windows.all(|other| other.measure == first.measure);
    (part && same).then(|| (first.measure.from.as_secs_f64(), first.measure.to.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_numbers_are_in_the_units_of_their_metric() {
        let multiple = |text: &str| {
            let expression = Expression::parse(text).unwrap();
            multiple(&expression).map(|(reference, factor)| (reference.to_string(), factor))
        };
        assert_eq!(multiple("drop_ratio[group=a]"), Some(("drop_ratio[group=a]".into(), 1.0)));
        assert_eq!(multiple("100 * utilization / 1.25"), Some(("utilization".into(), 80.0)));
        assert_eq!(multiple("1 - utilization"), None);
        assert_eq!(multiple("utilization / jain_index"), None);
    }
}

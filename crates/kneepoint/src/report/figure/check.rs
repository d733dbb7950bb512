// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checks before any run whether a figure can be drawn as requested.

use std::collections::BTreeSet;

use super::super::{Comparison, Factor};
use super::choice::{Misfit, settle};
use crate::experiment::expression::{Expression, Reference};
use crate::experiment::observed;
use crate::measure::{Subject, headlines};
use crate::metric::Metric;
use crate::scenario::FigureSpec;
use crate::spec::Valid;
use crate::suggest::{did_you_mean, guess};

/// The names of the parts of runs that metrics can be of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    groups: BTreeSet<String>,
    links: BTreeSet<String>,
}

impl Parts {
    /// The parts that runs of these cases will have.
    pub fn of_cases<'v>(cases: impl Iterator<Item = &'v Valid>) -> Parts {
        let mut parts = Parts::default();
        for case in cases {
            parts.groups.extend(case.groups().iter().map(|group| group.name.clone()));
            let measured = case.network().links.iter().filter(|link| link.measured);
            parts.links.extend(measured.map(|link| link.name.clone()));
        }
        parts
    }

    /// The parts that finished runs have.
    pub fn of_results(comparison: &Comparison) -> Parts {
        let runs = comparison.schemes.iter().flat_map(|scheme| &scheme.runs);
        let rows: Vec<_> = runs.flat_map(|run| &run.rows).collect();
        let of = |subject: Subject, axis: &str| {
            rows.iter().filter(|row| subject.has(row)).map(|row| row.label(axis).to_string()).collect()
        };
        Parts { groups: of(Subject::Group, "group"), links: of(Subject::Link, "link") }
    }

    /// The labels along an axis; none where they are not known.
    fn labels(&self, axis: &str) -> Option<Vec<&str>> {
        let known = match axis {
            "group" => &self.groups,
            "link" => &self.links,
            _ => return None,
        };
        Some(known.iter().map(String::as_str).collect()).filter(|labels: &Vec<&str>| !labels.is_empty())
    }
}

/// Whether the requested figure can be drawn of a study with these factors, whose runs have these parts.
pub fn check(wish: &FigureSpec, factors: &[Factor], parts: &Parts) -> Result<(), Misfit> {
    for (_, text) in wish.shown() {
        let expression = Expression::parse(&quantity_text(text)?);
        let references = expression.iter().flat_map(Expression::references);
        references.into_iter().try_for_each(|reference| labelled(reference, factors, parts))?;
        let composed = expression.iter().filter(|whole| !matches!(whole, Expression::Observed(_)));
        composed.flat_map(outside_folds).try_for_each(|reference| of_a_run(reference, text, wish, parts))?;
    }
    if *wish == FigureSpec::default() { Ok(()) } else { settle(wish, factors).map(|_| ()) }
}

/// The metrics of an expression that no fold gives labels to.
fn outside_folds(expression: &Expression) -> Vec<&Reference> {
    match expression {
        Expression::Along(..) | Expression::Number(_) => Vec::new(),
        Expression::Observed(reference) => vec![reference],
        Expression::Negative(inner) | Expression::Absolute(inner) => outside_folds(inner),
        Expression::Pair(left, _, right) => [outside_folds(left), outside_folds(right)].concat(),
        Expression::Extreme(_, several) => several.iter().flat_map(outside_folds).collect(),
    }
}

/// Whether a metric within an expression is one of the whole run, or names its part: alone it would be drawn of each.
fn of_a_run(reference: &Reference, text: &str, wish: &FigureSpec, parts: &Parts) -> Result<(), Misfit> {
    let has = |subject: &&Subject| subject.metrics().iter().any(|metric| metric.key == reference.metric);
    let is_axis = |axis: &&str| wish.axes().any(|(_, named)| *named == **axis);
    let is_told = !reference.labels.is_empty() || has(&&Subject::Run);
    let subject = Subject::FEW.iter().find(has).filter(|_| !is_told);
    let Some(subject) = subject.filter(|subject| !subject.axes().iter().any(is_axis)) else {
        return Ok(());
    };
    let label = |axis: &&str| {
        let first = parts.labels(axis).and_then(|labels| labels.first().map(ToString::to_string));
        format!("{axis}={}", first.unwrap_or_else(|| "…".into()))
    };
    let labels: Vec<String> = subject.axes().iter().map(label).collect();
    Err(Misfit {
        message: format!("`{text}`: a whole run has no `{}`", reference.metric),
        help: format!("write `{}[{}]`", reference.metric, labels.join(", ")),
    })
}

/// Whether some part of a run has a metric under its labels.
fn labelled(reference: &Reference, factors: &[Factor], parts: &Parts) -> Result<(), Misfit> {
    let observed = observed();
    for (axis, label) in &reference.labels {
        let factor = factors.iter().find(|factor| factor.key == *axis);
        let swept: Option<Vec<&str>> =
            factor.map(|one| one.levels.iter().map(|level| level.text.as_str()).collect());
        if swept.is_none() && !observed.contains(axis.as_str()) {
            let axes: Vec<&str> =
                factors.iter().map(|one| one.key.as_str()).chain(observed.iter().copied()).collect();
            let message = format!("`{reference}`: nothing has a label along `{axis}`");
            return Err(Misfit { message, help: did_you_mean(axis, &axes) });
        }
        let known = swept.or_else(|| parts.labels(axis));
        if let Some(others) = known.filter(|labels| !labels.contains(&label.as_str())) {
            let message = format!("`{reference}`: there is no {axis} `{label}`");
            return Err(Misfit { message, help: did_you_mean(label, &others) });
        }
    }
    let own: Vec<&str> =
        reference.labels.keys().map(String::as_str).filter(|axis| observed.contains(axis)).collect();
    let having: Vec<&Subject> = Subject::ALL
        .iter()
        .filter(|subject| subject.metrics().iter().any(|metric| metric.key == reference.metric))
        .collect();
    if own.is_empty() || having.iter().any(|subject| own.iter().all(|axis| subject.axes().contains(axis))) {
        return Ok(());
    }
    let message = format!("`{reference}`: no {} has `{}`", own.join(" and "), reference.metric);
    let ways = having.iter().map(|subject| match subject.axes() {
        [] => format!("`{}` of the whole run", reference.metric),
        axes => {
            let labels: Vec<String> = axes.iter().map(|axis| format!("{axis}=…")).collect();
            format!("`{}[{}]`", reference.metric, labels.join(", "))
        }
    });
    Err(Misfit { message, help: format!("write {}", ways.collect::<Vec<_>>().join(" or ")) })
}

/// The requested text as an expression of metrics: it is one, or a metric's readable name.
pub(super) fn quantity_text(wanted: &str) -> Result<String, Misfit> {
    let known = |reference: &&Reference| {
        Subject::ALL.iter().flat_map(|subject| subject.metrics()).any(|metric| metric.key == reference.metric)
    };
    let is_called = |metric: &&Metric| {
        [&metric.short, &metric.title].iter().any(|name| name.eq_ignore_ascii_case(wanted.trim()))
    };
    let called =
        || headlines().chain(Subject::Run.metrics()).find(is_called).map(|metric| metric.key.clone());
    match Expression::parse(wanted) {
        Ok(expression) if expression.references().is_empty() => Err(Misfit {
            message: format!("`{wanted}` is not a metric, and there is none in it"),
            help: AS_IN.into(),
        }),
        Ok(expression) => match expression.references().into_iter().find(|reference| !known(reference)) {
            None => Ok(wanted.to_string()),
            Some(unknown) => called().ok_or_else(|| {
                // Metrics of one kind of part are drawn of each of it.
                let parts = Subject::FEW.iter().filter(|subject| subject.axes().len() == 1);
                let subjects = std::iter::once(&Subject::Run).chain(parts);
                let keys: Vec<&str> = subjects
                    .flat_map(|subject| subject.metrics())
                    .map(|metric| metric.key.as_str())
                    .collect();
                let message = format!("no run measures `{}`", unknown.metric);
                Misfit { message, help: guess(&unknown.metric, &keys) + "`knee list metrics` shows all" }
            }),
        },
        Err(wrong) => called()
            .ok_or_else(|| Misfit { message: format!("`{wanted}`: {}", wrong.message), help: AS_IN.into() }),
    }
}

/// The form of a metric.
const AS_IN: &str =
    "write a metric as in `utilization` or `drop_ratio[group=web]`; `knee explain` lists what is measured";

#[cfg(test)]
mod tests {
    use super::super::super::{Factors, example};
    use super::*;
    use crate::scenario::{Names, Words};

    fn wish(metrics: &[&str]) -> FigureSpec {
        let panels = metrics.iter().map(|metric| metric.to_string()).collect();
        FigureSpec { panels: Names(panels), ..FigureSpec::default() }
    }

    fn told(wish: &FigureSpec) -> Result<(), String> {
        let case = |rtt: &str| vec![("topology.rtt".to_string(), rtt.to_string())];
        let factors = Factors::of(&[case("20ms"), case("80ms")]).factors;
        let parts = Parts::of_results(&example::comparison());
        check(wish, &factors, &parts).map_err(|misfit| misfit.message + ": " + &misfit.help)
    }

    #[test]
    fn what_cannot_be_drawn_is_told_before_anything_is_run() {
        assert_eq!(told(&wish(&["utilization", "Jain"])), Ok(()));
        assert!(told(&wish(&["utilisation"])).unwrap_err().contains("did you mean `utilization`"));
        assert!(told(&wish(&["goodput_bp"])).unwrap_err().contains("did you mean `goodput_bps`"));
        assert!(told(&wish(&["nope"])).unwrap_err().ends_with("`knee list metrics` shows all"));
        assert!(told(&wish(&["utilization +"])).is_err());
        let along = FigureSpec { x: Words("rate".into()), ..FigureSpec::default() };
        assert!(told(&along).unwrap_err().contains("nothing varies along `rate`"));
    }

    #[test]
    fn a_metric_of_parts_within_an_expression_says_of_which() {
        assert_eq!(told(&wish(&["goodput_bps"])), Ok(()), "alone it is drawn of each group");
        for known in
            ["goodput_bps[group=forward] / 1e6", "sum(goodput_bps over group) / 1e6", "utilization / 2"]
        {
            assert_eq!(told(&wish(&[known])), Ok(()), "{known}");
        }
        let said = told(&wish(&["goodput_bps/1e6"])).unwrap_err();
        assert_eq!(
            said,
            "`goodput_bps/1e6`: a whole run has no `goodput_bps`: write `goodput_bps[group=forward]`"
        );
        let by_group = FigureSpec { x: Words("group".into()), ..wish(&["goodput_bps/1e6"]) };
        assert!(!told(&by_group).is_err_and(|other| other.contains("whole run")));
    }

    #[test]
    fn a_metric_is_one_that_some_part_of_the_runs_has() {
        for known in ["share[group=noise]", "goodput_bps[group=forward]", "utilization[link=r1-r2]"] {
            assert_eq!(told(&wish(&[known])), Ok(()), "{known}");
        }
        for (wrong, named) in [
            ("1/0", "`1/0` is not a metric"),
            ("7", "write a metric as in `utilization`"),
            ("share[group=nois]", "there is no group `nois`: did you mean `noise`?"),
            ("utilization[link=x]", "there is no link `x`: expected `r1-r2`"),
            ("utilization[topology.rtt=3ms]", "expected one of `20 ms`, `80 ms`"),
            ("utilization[colour=red]", "nothing has a label along `colour`"),
            (
                "utilization[group=noise]",
                "no group has `utilization`: write `utilization` of the whole run or",
            ),
        ] {
            let said = told(&wish(&[wrong])).unwrap_err();
            assert!(said.contains(named), "{wrong}: {said}");
        }
    }
}

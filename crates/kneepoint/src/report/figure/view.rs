// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The axes of a figure with their labels, and the estimates under them.

use super::super::Factor;
use super::super::contest::is_choice;
use super::quantity::Quantity;
use super::{Observed, axis};
use crate::experiment::claim;
use crate::experiment::expression::{Axis, Expression, Fold, Part, Reference};
use crate::table::{Estimate, Labels, quantity};

/// A figure, or one of its facets.
#[derive(Clone)]
pub(super) struct View<'v> {
    pub(super) observed: &'v Observed<'v>,
    /// Labels that everything shown has in common.
    fixed: Labels,
    pub(super) xs: Vec<String>,
    /// The rows of a heat map.
    pub(super) ys: Vec<String>,
    /// A single one without a name if no axis distinguishes series.
    pub(super) series: Vec<Option<String>>,
    /// The axes of small multiples with their labels, columns first.
    facets: Vec<(&'v String, Vec<String>)>,
}

/// A figure as small multiples.
pub(super) struct Multiples<'v> {
    /// In the order of reading.
    pub(super) views: Vec<View<'v>>,
    pub(super) columns: usize,
    pub(super) above: Vec<String>,
    pub(super) beside: Vec<String>,
}

impl Multiples<'_> {
    /// The place of a panel: its column, and its row.
    pub(super) fn told(&self, place: usize) -> Vec<String> {
        match self.beside.is_empty() {
            true => vec![self.above[place].clone()],
            false => {
                vec![self.above[place % self.columns].clone(), self.beside[place / self.columns].clone()]
            }
        }
    }
}

impl<'v> View<'v> {
    /// The figure; none if there is nothing along its axis.
    pub(super) fn of(observed: &'v Observed<'v>) -> Option<View<'v>> {
        let Observed { figure, frame, .. } = observed;
        let series = ascending(observed.factors, figure.series(), frame.labels(figure.series()));
        let facets =
            figure.facet.0.iter().map(|axis| (axis, ascending(observed.factors, axis, frame.labels(axis))));
        let mut view = View {
            observed,
            fixed: Labels::new(),
            xs: ascending(observed.factors, &figure.x.0, frame.labels(&figure.x.0)),
            ys: ascending(observed.factors, &figure.y.0, frame.labels(&figure.y.0)),
            series: series.into_iter().map(Some).collect(),
            facets: facets.collect(),
        };
        figure.only.0.iter().for_each(|only| view.restrict(only));
        view.facets.retain(|(_, labels)| !labels.is_empty());
        if view.series.is_empty() {
            view.series.push(None);
        }
        (!view.xs.is_empty()).then_some(view)
    }

    /// Leaves out everything with other labels than `axis=label|label`.
    fn restrict(&mut self, only: &str) {
        let (axis, labels) = only.split_once('=').unwrap_or((only, ""));
        let Observed { figure, frame, .. } = self.observed;
        let chosen = chosen(frame.labels(axis), labels);
        let wanted = |label: &String| chosen.contains(&label);
        if axis == figure.x.0 {
            self.xs.retain(wanted);
        } else if axis == figure.y.0 {
            self.ys.retain(wanted);
        } else if axis == figure.series() {
            self.series.retain(|label| label.as_ref().is_some_and(wanted));
        } else if let Some((_, of_facet)) = self.facets.iter_mut().find(|(facet, _)| *facet == axis) {
            of_facet.retain(wanted);
        } else {
            let label = chosen.first().map_or(labels, |label| label.as_str());
            self.fixed.insert(axis.to_string(), label.to_string());
        }
    }

    /// The small multiples; none of a figure without facets.
    pub(super) fn multiples(&self) -> Option<Multiples<'v>> {
        let within = |labels: &[(&String, &String)]| {
            let mut view = View { facets: Vec::new(), ..self.clone() };
            view.fixed.extend(labels.iter().map(|(axis, label)| ((*axis).clone(), (*label).clone())));
            view
        };
        let told = |(axis, labels): &(&String, Vec<String>)| -> Vec<String> {
            labels.iter().map(|label| self.told(axis, label)).collect()
        };
        let (across, down) = (self.facets.first()?, self.facets.get(1));
        let row = |below: Option<(&String, &String)>| -> Vec<View<'v>> {
            let labels = |label| [Some((across.0, label)), below].into_iter().flatten().collect::<Vec<_>>();
            across.1.iter().map(|label| within(&labels(label))).collect()
        };
        Some(Multiples {
            columns: down.map_or_else(|| abreast(across.1.len()), |_| across.1.len()),
            above: told(across),
            beside: down.map_or(Vec::new(), told),
            views: match down {
                None => row(None),
                Some((axis, labels)) => labels.iter().flat_map(|label| row(Some((axis, label)))).collect(),
            },
        })
    }

    /// The factor of an axis.
    pub(super) fn factor(&self, axis: &str) -> Option<&'v Factor> {
        self.observed.factors.iter().find(|factor| factor.key == axis)
    }

    /// A label that no axis explains.
    pub(super) fn told(&self, axis: &str, label: &str) -> String {
        let known = self.factor(axis).and_then(|factor| {
            let level = factor.levels.iter().position(|level| level.text == label)?;
            Some(factor.told(level))
        });
        known.unwrap_or_else(|| label.to_string())
    }

    /// The name of a series in the legend.
    pub(super) fn series_name(&self, series: &Option<String>) -> String {
        let axis = self.observed.figure.series();
        series.as_ref().map_or(String::new(), |label| self.told(axis, label))
    }

    /// The place of a series among all of the study, hidden ones included.
    pub(super) fn rank(&self, series: &Option<String>) -> Option<usize> {
        let Observed { figure, frame, factors, .. } = self.observed;
        let all = ascending(factors, figure.series(), frame.labels(figure.series()));
        all.iter().position(|label| Some(label) == series.as_ref())
    }

    /// The levels of an algorithm that the labels of x are, since an algorithm has its colour wherever it is shown; none for other factors.
    pub(super) fn ranks_of_choices(&self) -> Vec<usize> {
        let factor = self.factor(&self.observed.figure.x.0).filter(|factor| is_choice(factor));
        let levels = factor.map_or(&[][..], |factor| &factor.levels);
        let place = |label: &String| levels.iter().position(|level| level.text == *label);
        self.xs.iter().filter_map(place).collect()
    }

    /// The name of the axis of x, or of y.
    pub(super) fn axis_name(&self, axis: &str, wanted: &str) -> String {
        match self.factor(axis) {
            Some(factor) => axis::name(wanted, factor),
            None => wanted.to_string(),
        }
    }

    /// The numbers of the labels of x; none if some are names.
    pub(super) fn numbers(&self) -> Option<Vec<f64>> {
        let figure = self.observed.figure;
        let name = self.axis_name(&figure.x.0, &figure.label.0);
        axis::numbers(&name, &self.xs, self.factor(&figure.x.0))
    }

    /// Published numbers in a panel, each with its indices of `x` and of the series.
    pub(super) fn published(&self, shown: &Quantity) -> Vec<(usize, usize, f64)> {
        let of = |reference: &Reference, x: &String, series: &Option<String>| {
            let Expression::Observed(Reference { metric, labels }) = &shown.expression else { return false };
            let mut here = self.labels(x, series);
            here.extend(labels.clone());
            reference.metric == *metric && reference.labels == here
        };
        let places = self.xs.iter().enumerate().flat_map(|(place, x)| {
            self.series.iter().enumerate().map(move |(series, name)| (place, x, series, name))
        });
        let told = places.filter_map(|(place, x, series, name)| {
            let (_, value) = self.observed.published.iter().find(|(reference, _)| of(reference, x, name))?;
            Some((place, series, *value * shown.drawn))
        });
        told.collect()
    }

    pub(super) fn labels(&self, x: &str, series: &Option<String>) -> Labels {
        let figure = self.observed.figure;
        let mut labels = self.fixed.clone();
        labels.insert(figure.x.0.clone(), x.to_string());
        labels.extend(series.iter().map(|series| (figure.series().to_string(), series.clone())));
        labels
    }

    /// The estimate at a place of x, in the unit of files.
    pub(super) fn estimate(&self, shown: &Quantity, x: &str, series: &Option<String>) -> Estimate {
        self.estimated(shown, &self.labels(x, series))
    }

    /// The estimate of a cell of a heat map, in the unit of files.
    pub(super) fn cell(&self, shown: &Quantity, x: &str, y: &str) -> Estimate {
        let mut labels = self.labels(x, &None);
        labels.insert(self.observed.figure.y.0.clone(), y.to_string());
        self.estimated(shown, &labels)
    }

    pub(super) fn estimated(&self, shown: &Quantity, labels: &Labels) -> Estimate {
        let over = |inner, name: &String| {
            Expression::Along(Fold::Mean, Box::new(inner), Axis { name: name.clone(), part: Part::All })
        };
        let Observed { figure, frame, .. } = self.observed;
        let whole = figure.mean_over.0.iter().fold(shown.expression.clone(), over);
        claim::estimate(&whole, frame, labels)
    }
}

/// The labels of a factor in the order of their numbers, if they have some; in order of appearance otherwise.
fn ascending(factors: &[Factor], axis: &str, labels: &[String]) -> Vec<String> {
    let mut labels = labels.to_vec();
    if let Some(factor) = factors.iter().find(|factor| factor.key == axis && factor.is_numeric()) {
        let number = |label: &String| {
            let level = factor.levels.iter().find(|level| level.text == *label);
            level.and_then(|level| level.number).unwrap_or(f64::NAN)
        };
        labels.sort_by(|one, other| number(one).total_cmp(&number(other)));
    }
    labels
}

/// This many panels side by side.
fn abreast(count: usize) -> usize {
    match count {
        0..=3 => count,
        4 => 2,
        5..=9 => 3,
        _ => 4,
    }
}

/// The labels that `wanted` names, one or several separated by `|`, in any spelling.
fn chosen<'l>(labels: &'l [String], wanted: &str) -> Vec<&'l String> {
    let whole = || [wanted].into_iter().filter(|one| labels.iter().any(|label| label == one));
    let several = || wanted.split('|').map(str::trim).filter(|_| whole().next().is_none());
    let of = |one: &str| -> Vec<&'l String> {
        let exact: Vec<&String> = labels.iter().filter(|label| *label == one).collect();
        if exact.is_empty() { labels.iter().filter(|label| is_same(one, label)).collect() } else { exact }
    };
    whole().chain(several()).flat_map(of).collect()
}

/// Whether two texts denote one label: `20ms` is `20 ms`.
fn is_same(wanted: &str, label: &str) -> bool {
    let bare = |text: &str| text.replace(' ', "").to_lowercase();
    bare(wanted) == bare(label) || quantity(wanted).is_some_and(|number| quantity(label) == Some(number))
}

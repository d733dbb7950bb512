// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checks claims against the sweep and the registry of metrics before anything is run: otherwise a misspelt label or metric
//! would surface only in the verdict.

use std::collections::BTreeSet;

use super::claim::Claim;
use super::expression::{Check, Expression, Part};
use super::{Experiment, Point};
use crate::fault::Faults;
use crate::measure::Subject;
use crate::scenario::tree::Table;
use crate::study::Work;
use crate::suggest::did_you_mean;
use crate::table::Labels;

/// The axes of the rows of a run that are not axes of a sweep; their labels are known only after the run.
pub fn observed() -> BTreeSet<&'static str> {
    let of_subjects = Subject::FEW.iter().flat_map(|subject| subject.axes().iter().copied());
    of_subjects.chain(["predictor", "judge", "time"]).collect()
}

/// A check of an experiment: the tables of its claims, its figure and its bins.
pub(super) type Vet = fn(&Experiment, &[&Table], [Option<&Table>; 2], &mut Faults);

/// Adds a fault for each metric, axis and label of a claim or of the figure that no point of the experiment has.
/// `tables` are the claims', `drawn` is the figure's, `binned` the bins'.
pub(super) fn vet(
    experiment: &Experiment,
    tables: &[&Table],
    [drawn, binned]: [Option<&Table>; 2],
    faults: &mut Faults,
) {
    let mut axes = swept(experiment);
    let metrics = metrics(experiment);
    if let Some((bins, table)) = experiment.bins.as_ref().zip(binned) {
        for reference in bins.of.references() {
            know_metric(&metrics, &reference.metric, table, "of", faults);
        }
        for axis in &bins.pool {
            axes.know(axis, table, "pool", faults);
        }
        axes.0.retain(|(axis, _)| !bins.pool.contains(axis));
        let taken = axes.0.iter().any(|(axis, _)| *axis == bins.name);
        if bins.name.trim().is_empty() || taken {
            let message = match taken {
                true => format!("`{}` is an axis of the sweep", bins.name),
                false => "the bins have no name".to_string(),
            };
            faults.add_with_help(table.place("name"), message, "name what is measured, as in \"T/µ\"");
        }
        axes.0.push((bins.name.clone(), bins.labels()));
    }
    if let Some((figure, table)) = experiment.figure.as_ref().zip(drawn) {
        for (key, axis) in figure.axes() {
            axes.know(axis, table, key, faults);
        }
        for (key, text) in figure.shown() {
            match Expression::parse(text) {
                Ok(expression) => {
                    for reference in expression.references() {
                        know_metric(&metrics, &reference.metric, table, key, faults);
                    }
                    for (axis, labels) in labelled(&expression) {
                        axes.have(&axis, &labels, table, key, faults);
                    }
                }
                Err(wrong) => faults.add_with_help(
                    table.place(key),
                    format!("{key}: `{text}`: {}", wrong.message),
                    "write it as in `drop_ratio[group=web]`",
                ),
            }
        }
    }
    for (place, (claim, table)) in experiment.claims.iter().zip(tables).enumerate() {
        if experiment.claims[..place].iter().any(|earlier| earlier.id == claim.id) {
            let message = format!("two claims are called `{}`", claim.id);
            faults.add_with_help(table.place("id"), message, "give each an `id` of its own");
        }
    }
    for (claim, table) in experiment.claims.iter().zip(tables) {
        for axis in &claim.each {
            axes.know(axis, table, "each", faults);
        }
        for (key, metric) in measured(claim) {
            know_metric(&metrics, metric, table, key, faults);
        }
        for (name, labels) in named(claim) {
            axes.have(&name, &labels, table, if claim.checks.is_empty() { "ours" } else { "check" }, faults);
        }
    }
}

fn know_metric(
    metrics: &Option<BTreeSet<String>>,
    metric: &String,
    table: &Table,
    key: &str,
    faults: &mut Faults,
) {
    if metrics.as_ref().is_none_or(|metrics| metrics.contains(metric)) {
        return;
    }
    let names: Vec<&str> = metrics.iter().flatten().map(String::as_str).collect();
    let message = format!("{key}: no run measures `{metric}`");
    faults.add_with_help(table.place(key), message, did_you_mean(metric, &names));
}

/// The axes of the sweep, and of windows, with their labels.
struct Axes(Vec<(String, Vec<String>)>);

fn swept(experiment: &Experiment) -> Axes {
    let mut axes: Vec<(String, Vec<String>)> = Vec::new();
    let simulated =
        |point: &Point| if let Work::Packets(packets) = &point.work { Some(packets.clone()) } else { None };
    if let Some(packets) = experiment.variants[0].points.iter().find_map(simulated)
        && !packets.windows.is_empty()
    {
        let names = packets.windows.iter().map(|(name, _)| name.clone()).collect();
        axes.push(("window".to_string(), names));
    }
    for (axis, label) in experiment.variants[0].points.iter().flat_map(|point| &point.labels) {
        match axes.iter_mut().find(|(name, _)| name == axis) {
            Some((_, labels)) if labels.contains(label) => {}
            Some((_, labels)) => labels.push(label.clone()),
            None => axes.push((axis.clone(), vec![label.clone()])),
        }
    }
    Axes(axes)
}

impl Axes {
    fn know(&self, axis: &str, table: &Table, key: &str, faults: &mut Faults) -> bool {
        let names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).chain(observed()).collect();
        let known = names.contains(&axis);
        if !known {
            let message = format!("{key}: nothing is observed along `{axis}`");
            faults.add_with_help(table.place(key), message, did_you_mean(axis, &names));
        }
        known
    }

    fn have(&self, axis: &str, wanted: &[String], table: &Table, key: &str, faults: &mut Faults) {
        if !self.know(axis, table, key, faults) {
            return;
        }
        let Some((_, labels)) = self.0.iter().find(|(name, _)| name == axis) else { return };
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        for label in wanted.iter().filter(|label| !labels.contains(&label.as_str())) {
            let message = format!("{key}: no point has {axis}={label}");
            faults.add_with_help(table.place(key), message, did_you_mean(label, &labels));
        }
    }
}

/// The keys of all metrics of the runs; none if some are not known before.
pub(super) fn metrics(experiment: &Experiment) -> Option<BTreeSet<String>> {
    let points = experiment.variants.iter().flat_map(|variant| &variant.points);
    let mut keys = BTreeSet::new();
    for point in points {
        keys.extend(match &point.work {
            Work::Packets(packets) => packets.metrics(),
            Work::Computation(computation) => computation.metrics()?,
        });
    }
    (!keys.is_empty()).then_some(keys)
}

/// Every metric that a claim names, with the key of the claim that does.
fn measured(claim: &Claim) -> BTreeSet<(&'static str, &String)> {
    let sides = claim.checks.iter().flat_map(|Check { left, right, .. }| [left, right]);
    let checked = sides.map(|expression| ("check", expression));
    let shown = claim.ours.iter().map(|(_, expression)| ("ours", expression));
    let named = checked.chain(shown).flat_map(|(key, expression)| {
        expression.references().into_iter().map(move |reference| (key, &reference.metric))
    });
    named.collect()
}

/// Every axis that a claim names, with the labels that it names there.
fn named(claim: &Claim) -> Vec<(String, Vec<String>)> {
    let sides = claim.checks.iter().flat_map(|Check { left, right, .. }| [left, right]);
    let all = sides.chain(claim.ours.iter().map(|(_, expression)| expression));
    let mut found: Vec<_> = all.flat_map(labelled).collect();
    found.sort();
    found.dedup();
    found
}

/// Every axis that an expression names, with the labels that it names there.
fn labelled(expression: &Expression) -> Vec<(String, Vec<String>)> {
    let references = expression.references();
    let labels = references.iter().flat_map(|reference| Labels::iter(&reference.labels));
    let along = expression.folded().into_iter().map(|axis| {
        let only = if let Part::Only(only) = &axis.part { only.clone() } else { Vec::new() };
        (axis.name.clone(), only)
    });
    labels.map(|(axis, label)| (axis.clone(), vec![label.clone()])).chain(along).collect()
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The figure of an experiment, with the axes of the published one: a panel for each metric.

use crate::chart::{self, Axis, Drawing, Group, Groups, Line, Lines};
use crate::experiment::expression::{self, Expression, Fold, Part, Reference};
use crate::experiment::{FigureSpec, Reproduction, Scale, claim};
use crate::measure::headlines;
use crate::table::Estimate;
use crate::table::{Frame, Labels, quantity};

/// The figure; none if the experiment has none, or nothing was observed.
pub fn render(outcome: &Reproduction) -> Option<Drawing> {
    let experiment = &outcome.experiment;
    let figure = experiment.figure.as_ref()?;
    let plan = FigureView::new(figure, &outcome.frames[0])?;
    let panels: Vec<Drawing> = figure.panels.0.iter().map(|metric| plan.panel(metric)).collect();
    let title = format!("{}: {}", experiment.name(), experiment.title);
    Some(chart::sheet(&title, &panels, if panels.len() > 1 { 2 } else { 1 }))
}

/// The axes and series of a figure.
struct FigureView<'o> {
    figure: &'o FigureSpec,
    frame: &'o Frame,
    /// Labels that are the same for everything shown.
    fixed: Labels,
    xs: Vec<String>,
    /// A single one without a name if no axis distinguishes series.
    series: Vec<Option<String>>,
}

impl<'o> FigureView<'o> {
    fn new(figure: &'o FigureSpec, frame: &'o Frame) -> Option<FigureView<'o>> {
        let mut plan = FigureView {
            figure,
            frame,
            fixed: Labels::new(),
            xs: frame.labels(&figure.x.0).to_vec(),
            series: frame.labels(&figure.series.0).iter().cloned().map(Some).collect(),
        };
        for only in &figure.only.0 {
            let (axis, labels) = only.split_once('=').unwrap_or((only, ""));
            let wanted = |label: &String| labels.split('|').any(|one| one.trim() == label);
            if axis == figure.x.0 {
                plan.xs.retain(wanted);
            } else if axis == figure.series.0 {
                plan.series.retain(|label| label.as_ref().is_some_and(wanted));
            } else {
                plan.fixed.insert(axis.to_string(), labels.to_string());
            }
        }
        if plan.series.is_empty() {
            plan.series.push(None);
        }
        (!plan.xs.is_empty()).then_some(plan)
    }

    fn panel(&self, metric: &str) -> Drawing {
        let numbers: Option<Vec<f64>> = self.xs.iter().map(|label| quantity(label)).collect();
        let (title, y) = (title(metric), self.y(metric));
        match numbers {
            Some(numbers) => chart::lines(&Lines {
                title,
                x: axis(&self.figure.label.0, self.figure.scale),
                y,
                series: self.series.iter().map(|series| self.line(metric, series, &numbers)).collect(),
                marks: Vec::new(),
            }),
            None => chart::groups(&Groups {
                title,
                y,
                series: self.series.iter().map(|name| name.clone().unwrap_or_default()).collect(),
                groups: self.xs.iter().map(|x| self.group(metric, x)).collect(),
                marks: Vec::new(),
            }),
        }
    }

    fn y(&self, metric: &str) -> Axis {
        let log = self.figure.log_panels.0.iter().any(|one| one == metric);
        axis(unit(metric), if log { Scale::Log } else { Scale::Linear })
    }

    fn line(&self, metric: &str, series: &Option<String>, numbers: &[f64]) -> Line {
        let points =
            self.xs.iter().zip(numbers).map(|(x, number)| (*number, self.estimate(metric, x, series)));
        // A series that was sampled at other instants has no gap at these.
        let points = points.filter(|(_, estimate)| estimate.mean.is_finite());
        Line { name: series.clone().unwrap_or_default(), points: points.collect() }
    }

    fn group(&self, metric: &str, x: &str) -> Group {
        let bars = self.series.iter().map(|series| self.estimate(metric, x, series)).collect();
        Group { name: x.to_string(), bars }
    }

    fn estimate(&self, metric: &str, x: &str, series: &Option<String>) -> Estimate {
        let mut labels = self.fixed.clone();
        labels.insert(self.figure.x.0.clone(), x.to_string());
        labels.extend(series.iter().map(|series| (self.figure.series.0.clone(), series.clone())));
        let reference = Reference { metric: metric.to_string(), labels };
        let over = |inner, name: &String| {
            Expression::Along(
                Fold::Mean,
                Box::new(inner),
                expression::Axis { name: name.clone(), part: Part::All },
            )
        };
        let whole = self.figure.mean_over.0.iter().fold(Expression::Observed(reference), over);
        claim::estimate(&whole, self.frame, &Labels::new())
    }
}

fn axis(label: &str, scale: Scale) -> Axis {
    match scale {
        Scale::Linear => Axis::linear(label),
        Scale::Log => Axis::log(label),
    }
}

/// Units at the end of a metric's name, and how they read.
const UNITS: [(&str, &str); 4] = [("_packets", "packets"), ("_bps", "bit/s"), ("_ms", "ms"), ("_s", "s")];

/// What people call a metric.
fn title(metric: &str) -> String {
    if let Some(known) = headlines().find(|known| known.key == metric) {
        return known.title.to_string();
    }
    let words = name_and_unit(metric).0.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// What people read a metric in.
fn unit(metric: &str) -> &'static str {
    match headlines().find(|known| known.key == metric).map(|known| known.unit) {
        // Charts show the number of the file, not the percentage that tables make of it.
        Some("%") => "fraction",
        Some("") => "",
        _ => name_and_unit(metric).1,
    }
}

fn name_and_unit(metric: &str) -> (&str, &'static str) {
    let split = |(end, unit): (&str, &'static str)| metric.strip_suffix(end).map(|name| (name, unit));
    UNITS.into_iter().find_map(split).unwrap_or((metric, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_reads_as_words_with_the_unit_apart() {
        assert_eq!((title("queueing_delay_s").as_str(), unit("queueing_delay_s")), ("Queueing delay", "s"));
        assert_eq!((title("throughput_bps").as_str(), unit("throughput_bps")), ("Throughput", "bit/s"));
        assert_eq!((title("false_positives").as_str(), unit("false_positives")), ("False positives", ""));
        assert_eq!((title("utilization").as_str(), unit("utilization")), ("Utilization", "fraction"));
        assert_eq!(unit("queueing_delay_mean_ms"), "ms");
    }
}

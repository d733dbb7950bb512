// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The figure of an experiment, with the axes of the published one: a panel for each metric, and tables of its numbers.

use super::super::document::{Block, Column, Shown, Table, TableLine};
use crate::chart::{self, Axis, Dot, Drawing, Group, Groups, Line, Lines, scatter, scheme_class};
use crate::experiment::expression::{self, Expression, Fold, Operator, Part, Reference};
use crate::experiment::{Claim, FigureSpec, Reproduction, Scale, claim};
use crate::measure::{Metric, Subject, headlines};
use crate::study::Work;
use crate::table::Estimate;
use crate::table::{Frame, Labels, quantity};
use crate::units::Time;
use serde_json::Value;

/// The figure; none if the experiment has none, or nothing was observed.
pub fn render(outcome: &Reproduction) -> Option<Drawing> {
    let view = FigureView::of(outcome)?;
    let mut panels: Vec<Drawing> =
        quantities(&view.figure.panels.0).map(|shown| view.panel(&shown)).collect();
    let plane: Vec<Quantity> = quantities(&view.figure.plane.0).collect();
    if let [across, up] = plane.as_slice() {
        panels.extend((0..view.series.len()).map(|series| view.plane(across, up, series)));
    }
    let experiment = &outcome.experiment;
    let title = format!("{}: {}", experiment.name(), experiment.title);
    Some(chart::sheet(&title, &panels, if panels.len() > 1 { 2 } else { 1 }))
}

/// The tables of the figure: one of all quantities where there is a single series, else one of each.
pub fn tables(outcome: &Reproduction) -> Vec<Block> {
    let Some(view) = FigureView::of(outcome) else { return Vec::new() };
    let shown: Vec<Quantity> = quantities(&view.figure.tables.0).collect();
    match view.series.as_slice() {
        _ if shown.is_empty() => Vec::new(),
        [single] => {
            let columns = shown.iter().map(|one| one.column(one.short.clone()));
            let cells = |x: &String| shown.iter().map(|one| view.cell(one, x, single)).collect();
            vec![view.table(columns.collect(), cells)]
        }
        several => {
            let table = |one: &Quantity| {
                let columns = several.iter().flatten().map(|name| one.column(name.clone()));
                let cells = |x: &String| several.iter().map(|series| view.cell(one, x, series)).collect();
                [Block::prose(format!("{}:", one.title)), view.table(columns.collect(), cells)]
            };
            shown.iter().flat_map(table).collect()
        }
    }
}

/// A metric, or an expression of several, and what people call it.
struct Quantity {
    expression: Expression,
    /// The heading of its panel.
    heading: String,
    /// What the axis of its panel counts.
    axis: &'static str,
    title: String,
    short: String,
    unit: &'static str,
    /// From the unit in files to that for people.
    scale: f64,
    text: String,
}

fn quantities(texts: &[String]) -> impl Iterator<Item = Quantity> {
    texts.iter().filter_map(|text| Some(Quantity::new(text, Expression::parse(text).ok()?)))
}

impl Quantity {
    fn new(text: &str, expression: Expression) -> Quantity {
        let plain = |words: String, axis| Quantity {
            heading: words.clone(),
            axis,
            title: words.clone(),
            short: words,
            unit: axis,
            scale: 1.0,
            text: text.into(),
            expression: expression.clone(),
        };
        let Expression::Observed(Reference { metric, labels }) = &expression else {
            return plain(text.into(), "");
        };
        let labelled = |words: &str| {
            let words = [words].into_iter().chain(labels.values().map(String::as_str));
            words.collect::<Vec<_>>().join(", ")
        };
        let Some(Metric { title, short, unit, scale, .. }) = registered(metric, labels) else {
            return plain(labelled(&heading(metric)), axis_unit(metric));
        };
        let named =
            plain(if labels.is_empty() { heading(metric) } else { labelled(title) }, axis_unit(metric));
        Quantity { title: labelled(title), short: labelled(short), unit, scale: *scale, ..named }
    }

    fn column(&self, title: String) -> Column {
        Column { about: self.title.clone(), ..Column::number(title, self.unit) }
    }

    fn axis(&self) -> String {
        if self.unit.is_empty() { self.title.clone() } else { format!("{}, {}", self.title, self.unit) }
    }
}

/// The axes and series of a figure.
struct FigureView<'o> {
    figure: &'o FigureSpec,
    frame: &'o Frame,
    /// Published numbers of claims, with what they are numbers of.
    told: Vec<(Reference, f64)>,
    /// The interval of the run that is measured, in seconds.
    measured: Option<(f64, f64)>,
    /// Labels that are the same for everything shown.
    fixed: Labels,
    xs: Vec<String>,
    /// A single one without a name if no axis distinguishes series.
    series: Vec<Option<String>>,
}

impl<'o> FigureView<'o> {
    fn of(outcome: &'o Reproduction) -> Option<FigureView<'o>> {
        let view = FigureView::new(outcome.experiment.figure.as_ref()?, &outcome.frames[0])?;
        let told = outcome.experiment.claims.iter().flat_map(published).collect();
        Some(FigureView { told, measured: measured(outcome), ..view })
    }

    fn new(figure: &'o FigureSpec, frame: &'o Frame) -> Option<FigureView<'o>> {
        let mut plan = FigureView {
            figure,
            frame,
            told: Vec::new(),
            measured: None,
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

    fn panel(&self, shown: &Quantity) -> Drawing {
        let numbers: Option<Vec<f64>> = self.xs.iter().map(|label| quantity(label)).collect();
        let (title, y) = (shown.heading.clone(), self.y(shown));
        match numbers {
            Some(numbers) => chart::lines(&Lines {
                title,
                x: axis(&self.figure.label.0, self.figure.scale),
                y,
                series: self.series.iter().map(|series| self.line(shown, series, &numbers)).collect(),
                marks: Vec::new(),
                published: self
                    .published(shown)
                    .map(|(x, series, value)| (series, (numbers[x], value)))
                    .collect(),
                measured: self.measured.filter(|_| self.figure.x.0 == "time"),
            }),
            None => chart::groups(&Groups {
                title,
                y,
                series: self.series.iter().map(|name| name.clone().unwrap_or_default()).collect(),
                groups: self.xs.iter().map(|x| self.group(shown, x)).collect(),
                marks: Vec::new(),
                published: self.published(shown).map(|(x, series, value)| ((x, series), value)).collect(),
            }),
        }
    }

    /// Published numbers in a panel: the places of `x` and of the series that each is about.
    fn published(&self, shown: &Quantity) -> impl Iterator<Item = (usize, usize, f64)> {
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
            let (_, value) = self.told.iter().find(|(reference, _)| of(reference, x, name))?;
            Some((place, series, *value))
        });
        told.collect::<Vec<_>>().into_iter()
    }

    fn y(&self, shown: &Quantity) -> Axis {
        let log = self.figure.log_panels.0.contains(&shown.text);
        axis(shown.axis, if log { Scale::Log } else { Scale::Linear })
    }

    fn line(&self, shown: &Quantity, series: &Option<String>, numbers: &[f64]) -> Line {
        let points =
            self.xs.iter().zip(numbers).map(|(x, number)| (*number, self.estimate(shown, x, series)));
        // A series that was sampled at other instants has no gap at these.
        let points = points.filter(|(_, estimate)| estimate.mean.is_finite());
        Line { name: series.clone().unwrap_or_default(), points: points.collect() }
    }

    fn group(&self, shown: &Quantity, x: &str) -> Group {
        let bars = self.series.iter().map(|series| self.estimate(shown, x, series)).collect();
        Group { name: x.to_string(), bars }
    }

    /// A dot for each label of `x`, in the colour of the series.
    fn plane(&self, across: &Quantity, up: &Quantity, place: usize) -> Drawing {
        let series = &self.series[place];
        let scaled = |shown: &Quantity, x: &String| self.estimate(shown, x, series).times(shown.scale);
        let dot =
            |label: &String| Dot::of(scheme_class(place), label, &scaled(across, label), &scaled(up, label));
        let dots: Vec<Dot> = self.xs.iter().filter_map(dot).collect();
        let of = series.iter().map(|series| format!(": {series}")).collect::<String>();
        let title = format!("{} against {}{of}", up.heading, across.heading.to_lowercase());
        scatter(&title, (&across.axis(), &up.axis()), &dots)
    }

    fn table(&self, columns: Vec<Column>, cells: impl Fn(&String) -> Vec<Shown>) -> Block {
        let lines = self.xs.iter().map(|x| TableLine::new(x.clone(), cells(x)));
        Block::Table(Table {
            corner: self.figure.label.0.clone(),
            columns,
            lines: lines.collect(),
            linked: false,
        })
    }

    fn cell(&self, shown: &Quantity, x: &str, series: &Option<String>) -> Shown {
        Shown::of(&self.estimate(shown, x, series), shown.scale)
    }

    fn labels(&self, x: &str, series: &Option<String>) -> Labels {
        let mut labels = self.fixed.clone();
        labels.insert(self.figure.x.0.clone(), x.to_string());
        labels.extend(series.iter().map(|series| (self.figure.series.0.clone(), series.clone())));
        labels
    }

    fn estimate(&self, shown: &Quantity, x: &str, series: &Option<String>) -> Estimate {
        let labels = self.labels(x, series);
        let over = |inner, name: &String| {
            Expression::Along(
                Fold::Mean,
                Box::new(inner),
                expression::Axis { name: name.clone(), part: Part::All },
            )
        };
        let whole = self.figure.mean_over.0.iter().fold(shown.expression.clone(), over);
        claim::estimate(&whole, self.frame, &labels)
    }
}

/// The published numbers of a claim that are numbers of one metric, in the units of that metric.
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

/// A metric of the subject that has these labels; without any, of the run, or else of the first that has the metric.
fn registered(metric: &str, labels: &Labels) -> Option<&'static Metric> {
    let named = |subject: &&Subject| {
        let axes = subject.axes();
        axes.len() == labels.len() && axes.iter().all(|axis| labels.contains_key(*axis))
    };
    let own = Subject::ALL.iter().filter(named).chain(Subject::ALL);
    own.flat_map(|subject| subject.metrics()).find(|known| known.key == metric)
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
fn heading(metric: &str) -> String {
    if let Some(known) = headlines().find(|known| known.key == metric) {
        return known.title.to_string();
    }
    let words = name_and_unit(metric).0.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// What people read a metric in.
fn axis_unit(metric: &str) -> &'static str {
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

    #[test]
    fn a_metric_reads_as_words_with_the_unit_apart() {
        assert_eq!(
            (heading("queueing_delay_s").as_str(), axis_unit("queueing_delay_s")),
            ("Queueing delay", "s")
        );
        assert_eq!(
            (heading("throughput_bps").as_str(), axis_unit("throughput_bps")),
            ("Throughput", "bit/s")
        );
        assert_eq!(
            (heading("false_positives").as_str(), axis_unit("false_positives")),
            ("False positives", "")
        );
        assert_eq!((heading("utilization").as_str(), axis_unit("utilization")), ("Utilization", "fraction"));
        assert_eq!(axis_unit("queueing_delay_mean_ms"), "ms");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a panel shows: a metric or an expression of several, with its names and its unit.

use super::super::document::Column;
use crate::experiment::expression::{Expression, Reference};
use crate::measure::{Subject, headlines};
use crate::metric::Metric;
use crate::table::Labels;

/// A metric, or an expression of several, with its readable name.
#[derive(Clone)]
pub(super) struct Quantity {
    pub(super) expression: Expression,
    /// The heading of its panel.
    pub(super) heading: String,
    /// The quantity on the axis of its panel.
    pub(super) axis: String,
    pub(super) title: String,
    pub(super) short: String,
    pub(super) unit: &'static str,
    /// From the unit in files to the unit of tables.
    pub(super) scale: f64,
    /// The same for its panel.
    pub(super) drawn: f64,
    /// The least and the greatest that it can be, in the unit of its panel.
    pub(super) bounds: (f64, f64),
    pub(super) text: String,
}

const UNBOUNDED: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

/// The quantities in texts; a text that is not an expression is left out.
pub(super) fn quantities<'t>(
    texts: &'t [String],
    of: impl Fn(&str) -> Option<Quantity> + 't,
) -> impl Iterator<Item = Quantity> + 't {
    texts.iter().filter_map(move |text| of(text))
}

impl Quantity {
    /// The quantity of a text; panels are in the units of tables if `scaled`, else in those of files.
    pub(super) fn of(text: &str, scaled: bool) -> Option<Quantity> {
        let in_files = Quantity::new(text, Expression::parse(text).ok()?);
        let Quantity { title, unit, scale, .. } = &in_files;
        Some(match scaled {
            true => Quantity {
                heading: title.clone(),
                axis: with_unit(title, unit),
                drawn: *scale,
                bounds: (in_files.bounds.0 * scale, in_files.bounds.1 * scale),
                ..in_files
            },
            false => in_files,
        })
    }

    fn new(text: &str, expression: Expression) -> Quantity {
        let plain = |words: String, axis: &'static str| Quantity {
            heading: words.clone(),
            axis: axis.into(),
            title: words.clone(),
            short: words,
            unit: axis,
            scale: 1.0,
            drawn: 1.0,
            bounds: UNBOUNDED,
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
        let Some(Metric { title, short, unit, scale, bounds, .. }) = registered(metric, labels) else {
            return plain(labelled(&heading(metric)), axis_unit(metric));
        };
        let named =
            plain(if labels.is_empty() { heading(metric) } else { labelled(title) }, axis_unit(metric));
        Quantity {
            title: labelled(title),
            short: labelled(short),
            unit,
            scale: *scale,
            bounds: (bounds.least, bounds.most),
            ..named
        }
    }

    /// A column of a table.
    pub(super) fn column(&self, title: String) -> Column {
        Column { about: self.title.clone(), ..Column::number(title, self.unit) }
    }

    /// The title with its unit.
    pub(super) fn titled(&self) -> String {
        with_unit(&self.title, self.unit)
    }
}

fn with_unit(title: &str, unit: &str) -> String {
    if unit.is_empty() { title.into() } else { format!("{title}, {unit}") }
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

/// Units at the end of a metric's name, and how they read.
const UNITS: [(&str, &str); 4] = [("_packets", "packets"), ("_bps", "bit/s"), ("_ms", "ms"), ("_s", "s")];

/// The readable name of a metric.
fn heading(metric: &str) -> String {
    if let Some(known) = headlines().find(|known| known.key == metric) {
        return known.title.to_string();
    }
    let words = name_and_unit(metric).0.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The unit of a metric for people.
fn axis_unit(metric: &str) -> &'static str {
    match headlines().find(|known| known.key == metric).map(|known| known.unit) {
        // These charts show the number of the file, not the percentage of tables.
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

    #[test]
    fn the_axis_of_a_panel_counts_what_its_numbers_are_in() {
        let axis = |scaled| Quantity::of("utilization", scaled).map(|one| (one.axis, one.drawn)).unwrap();
        assert_eq!([axis(false), axis(true)], [("fraction".into(), 1.0), ("Utilization, %".into(), 100.0)]);
        assert!(Quantity::of("utilization +", true).is_none());
    }

    #[test]
    fn an_interval_ends_where_the_quantity_does_in_published_figures_too() {
        let bounds = |text, scaled| Quantity::of(text, scaled).map(|one| one.bounds);
        assert_eq!(bounds("jain_index", false), Some((0.0, 1.0)));
        assert_eq!(
            [false, true].map(|scaled| bounds("utilization", scaled)),
            [Some((0.0, 1.0)), Some((0.0, 100.0))]
        );
    }
}

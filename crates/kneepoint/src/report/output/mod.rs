// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Every key and column that `knee` prints or writes for programs, with unit and definition.
//!
//! A table per document ([`DOCUMENTS`]) and per file of columns ([`TABLES`]); metrics and columns of the series come from
//! their registries. `docs/output.md` is written from these tables, Parquet files carry them, and a test of the binary
//! compares them with what its verbs print: a key without a definition fails, and so does a definition without a key.

mod documents;
mod finding;
mod machine;
mod models;
mod tables;

use crate::keys::{Field, Shape};
use crate::measure::{Subject, headlines};
use crate::metric::Metric;
pub use finding::{beside_factors, writer};
pub use tables::{COEXISTENCE, DIFFERENCES, ESTIMATES, RECORDS, SERIES, TABLES};

/// One document, or one file of columns.
pub struct Output {
    /// Its title.
    pub name: &'static str,
    /// The verb that prints it, and the files that have it.
    pub from: &'static [&'static str],
    /// Its content, where that needs a sentence.
    pub about: &'static str,
    /// Its keys.
    pub parts: &'static [Part],
}

/// Keys of an output. A path has dots between the keys of objects and `[]` after that of a list; a name between `<` and `>`
/// represents one that differs.
pub enum Part {
    /// A key and its definition.
    Key(&'static str, &'static str),
    /// The headline metrics, each an estimate, in this object.
    Headlines(&'static str),
    /// The same as columns: the mean, and the half width.
    HeadlineColumns,
    /// The labels of a subject and its metrics as columns.
    Columns(Subject),
    /// Lists of estimates in this object: one for each of [`PARTS`](super::PARTS).
    Subjects(&'static str),
    /// Keys that several outputs have, in this object.
    In(&'static str, &'static [Part]),
    /// The keys of a serialised value, in this object.
    Of(&'static str, Shape),
    /// The columns of the series.
    Series,
}

use Part::{In, Key};

/// A key or a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Its path.
    pub path: String,
    /// Its unit; empty for texts, counts and ratios.
    pub unit: &'static str,
    /// Its description.
    pub about: String,
}

/// Every document: JSON objects, each with `schema_version`.
pub fn documents() -> impl Iterator<Item = &'static Output> {
    [documents::ALL, models::ALL, machine::ALL].into_iter().flatten()
}

/// The document of this name.
pub fn document(name: &str) -> Option<&'static Output> {
    documents().find(|one| one.name == name)
}

/// The table of this name.
pub fn table(name: &str) -> Option<&'static Output> {
    TABLES.iter().find(|one| one.name == name)
}

impl Output {
    /// Every key, in order.
    pub fn definitions(&self) -> Vec<Definition> {
        self.parts.iter().flat_map(|part| part.definitions("")).collect()
    }

    /// The definition of a column.
    pub fn column(&self, name: &str) -> Option<Definition> {
        self.columns(&[name]).pop().flatten()
    }

    /// The definition of each column; none where this output does not have it.
    pub fn columns(&self, names: &[impl AsRef<str>]) -> Vec<Option<Definition>> {
        let definitions = self.definitions();
        let column = |name: &str| {
            let found = definitions.iter().find(|definition| definition.fits(&[name]))?;
            // A pattern such as `<variable>[<group>]` leaves the unit to the name.
            Some(Definition { unit: unit(name), ..found.clone() })
        };
        names.iter().map(|name| column(name.as_ref())).collect()
    }
}

/// The unit that ends a key.
pub fn unit(key: &str) -> &'static str {
    let bare = key.trim_end_matches("[]");
    let bare = bare.split_once('[').map_or(bare, |(quantity, _)| quantity);
    let bare = ["_half_width", "_low", "_high", "_max", "_min"]
        .iter()
        .fold(bare, |rest, ending| rest.trim_end_matches(ending));
    let known = UNITS.iter().find(|(ending, ..)| {
        bare.strip_suffix(ending).is_some_and(|rest| rest.is_empty() || rest.ends_with('_'))
    });
    known.map_or("", |(_, unit, _)| unit)
}

/// Endings of keys, the units that they stand for, and these units in words. The longer of two candidates comes first.
pub const UNITS: &[(&str, &str, &str)] = &[
    ("packets_per_s", "packets/s", "packets per second"),
    ("packets_per_rtt", "packets/RTT", "packets per round trip"),
    ("ns_per_packet", "ns/packet", "nanoseconds per packet"),
    ("rad_s", "rad/s", "radians per second"),
    ("per_s", "1/s", "per second"),
    ("bps", "bit/s", "bits per second"),
    ("mbps", "Mbit/s", "millions of bits per second"),
    ("pps", "packets/s", "packets per second"),
    ("packets", "packets", "packets"),
    ("bdp", "BDP", "bandwidth-delay products"),
    ("bytes", "bytes", "bytes"),
    ("kb", "kB", "1000 bytes"),
    ("mib", "MiB", "1048576 bytes"),
    ("degrees", "degrees", "degrees"),
    ("seconds", "s", "seconds"),
    ("s", "s", "seconds"),
    ("ms", "ms", "milliseconds"),
    ("us", "us", "microseconds"),
];

/// Labels of rows.
const AXES: &[(&str, &str)] = &[
    ("link", "The link, as `r1-r2`."),
    ("group", "The group of traffic."),
    ("bin", "The bin, by its first value."),
    ("class", "The class of sizes, by the least of them."),
    ("within", "A time, with its unit."),
    ("startup", "A start-up delay, with its unit."),
    ("cwnd", "A congestion window, in packets."),
    ("flow", "The flow's place in its group, from 0."),
];

fn axis(name: &str) -> &'static str {
    AXES.iter().find(|(axis, _)| *axis == name).map_or("", |(_, about)| about)
}

/// The definition of a mean over runs and its precision.
const HALF_WIDTH: &str = "half the width of its 95 % confidence interval over the runs; null with one run, or where all are the same";

fn joined(object: &str, key: &str) -> String {
    match (object, key) {
        ("", key) => key.to_string(),
        (object, "") => object.to_string(),
        (object, key) => format!("{object}.{key}"),
    }
}

/// The sentence on a metric: its title, the unit that files leave to the reader, and the subject.
pub fn of_metric(metric: &Metric) -> String {
    let ratio = if metric.unit == "%" { ", as a fraction" } else { "" };
    format!("{}{ratio}.", metric.title)
}

impl Part {
    /// Its keys, in an object.
    pub fn definitions(&self, object: &str) -> Vec<Definition> {
        let one = |path: String, about: String| {
            let last = path.rsplit('.').next().unwrap_or_default();
            Definition { unit: unit(last), path, about }
        };
        let estimate = |path: String, about: &str| {
            let last = path.rsplit('.').next().unwrap_or_default();
            let unit = unit(last);
            let (mean, width) = (joined(&path, "mean"), joined(&path, "half_width"));
            let whole = Definition { path: path.clone(), unit, about: about.to_string() };
            let part = |key, meaning: &str| Definition { path: key, unit, about: meaning.to_string() };
            let parts =
                [part(mean, "The mean over the runs; null where it is undefined."), part(width, HALF_WIDTH)];
            std::iter::once(whole).chain(parts).collect::<Vec<_>>()
        };
        match self {
            Key(path, about) => vec![one(joined(object, path), (*about).to_string())],
            In(inner, parts) => {
                let inner = joined(object, inner);
                parts.iter().flat_map(|part| part.definitions(&inner)).collect()
            }
            Part::Headlines(inner) => {
                let inner = joined(object, inner);
                headlines()
                    .flat_map(|metric| estimate(joined(&inner, &metric.key), &of_metric(metric)))
                    .collect()
            }
            Part::HeadlineColumns => headlines()
                .flat_map(|metric| {
                    let width = format!("{}_half_width", metric.key);
                    [one(metric.key.clone(), of_metric(metric)), one(width, format!("Of it: {HALF_WIDTH}."))]
                })
                .collect(),
            Part::Columns(subject) => {
                let labels =
                    subject.axes().iter().map(|name| one((*name).to_string(), axis(name).to_string()));
                labels
                    .chain(subject.metrics().iter().map(|metric| one(metric.key.clone(), of_metric(metric))))
                    .collect()
            }
            Part::Subjects(inner) => super::PARTS
                .iter()
                .flat_map(|(name, subject)| {
                    let list = joined(&joined(object, inner), &format!("{name}[]"));
                    let head = one(list.clone(), subject.about().to_string());
                    let labels =
                        subject.axes().iter().map(|label| one(joined(&list, label), axis(label).to_string()));
                    let metrics = subject.metrics().iter();
                    let metrics =
                        metrics.flat_map(|metric| estimate(joined(&list, &metric.key), &of_metric(metric)));
                    std::iter::once(head).chain(labels).chain(metrics).collect::<Vec<_>>()
                })
                .collect(),
            Part::Series => tables::series(),
            Part::Of(inner, shape) => {
                let keys = keys(&joined(object, inner), *shape).into_iter();
                let define = |key: Written| match key.estimate {
                    true => estimate(key.path, key.about),
                    false => vec![one(key.path, key.about.to_string())],
                };
                keys.flat_map(define).collect()
            }
        }
    }
}

/// A key as a document has it.
pub struct Written {
    /// Its path.
    pub path: String,
    /// Its definition.
    pub about: &'static str,
    /// Whether it is an estimate.
    pub estimate: bool,
}

/// The keys of a serialised value in an object, in the order in which they are written.
pub fn keys(object: &str, shape: Shape) -> Vec<Written> {
    let of_field = |field: &Field| match *field {
        Field::Key { name, about, shape: inner } => of_key(joined(object, name), about, inner),
        Field::Flattened(inner) => keys(object, inner),
        Field::Skipped => Vec::new(),
    };
    match shape {
        Shape::Value | Shape::Estimate => Vec::new(),
        Shape::List(inner) => keys(&format!("{object}[]"), *inner),
        Shape::Object(fields) => fields.iter().flat_map(of_field).collect(),
        Shape::Each(name, about) => of_key(joined(object, name), about, Shape::Value),
    }
}

/// A key, and its value's keys.
fn of_key(path: String, about: &'static str, shape: Shape) -> Vec<Written> {
    let (mut path, mut shape) = (path, shape);
    while let Shape::List(inner) = shape {
        (path, shape) = (path + "[]", *inner);
    }
    let inner = keys(&path, shape);
    let own = Written { path, about, estimate: matches!(shape, Shape::Estimate) };
    std::iter::once(own).chain(inner).collect()
}

impl Definition {
    /// Whether it defines the key at this path.
    pub fn fits(&self, path: &[&str]) -> bool {
        let mut own = self.path.split('.');
        let each = path.iter().enumerate().all(|(place, given)| {
            // Whether the last is a list is not compared, because an empty list does not show the type of its elements.
            let bare = |key: &str| if place + 1 == path.len() { list_free(key).len() } else { key.len() };
            own.next().is_some_and(|own| same(&own[..bare(own)], &given[..bare(given)]))
        });
        each && own.next().is_none()
    }
}

fn list_free(key: &str) -> &str {
    key.trim_end_matches("[]")
}

/// Whether a name matches a pattern, in which `<…>` represents one character or more: `queue_packets[<link>]`.
fn same(pattern: &str, name: &str) -> bool {
    let Some((before, rest)) = pattern.split_once('<') else { return pattern == name };
    let Some(rest) = rest.split_once('>').map(|(_, rest)| rest) else { return false };
    let Some(inner) = name.strip_prefix(before) else { return false };
    inner
        .char_indices()
        .skip(1)
        .map(|(place, _)| place)
        .chain([inner.len()])
        .any(|end| end > 0 && same(rest, &inner[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::COLUMNS;

    #[test]
    fn every_label_and_every_key_has_a_definition_and_no_key_has_two() {
        for subject in Subject::ALL {
            for label in subject.axes() {
                assert_ne!(axis(label), "", "{label}");
            }
        }
        for output in documents().chain(TABLES) {
            let definitions = output.definitions();
            for (place, one) in definitions.iter().enumerate() {
                assert!(one.about.len() > 1, "{}: {}", output.name, one.path);
                let twice = definitions[..place].iter().any(|other| other.path == one.path);
                assert!(!twice, "{}: {} is defined twice", output.name, one.path);
            }
        }
    }

    #[test]
    fn the_unit_of_a_metric_is_the_one_that_its_key_ends_with() {
        for metric in Subject::ALL.iter().flat_map(|subject| subject.metrics()) {
            let expected = match metric.unit {
                "%" => "",
                "kbit/s" | "Mbit/s" => "bit/s",
                other => other,
            };
            assert_eq!(unit(&metric.key), expected, "{}", metric.key);
        }
        for (key, expected) in [
            ("queue_packets[r1-r2]", "packets"),
            ("goodput_bps_half_width", "bit/s"),
            ("late_us[]", "us"),
            ("rate_packets_per_s", "packets/s"),
            ("mode_real_per_s", "1/s"),
            ("runs", ""),
            ("status", ""),
            ("classes", ""),
        ] {
            assert_eq!(unit(key), expected, "{key}");
        }
    }

    #[test]
    fn a_pattern_fits_the_names_that_it_stands_for() {
        let definition = |path: &str| Definition { path: path.into(), unit: "", about: String::new() };
        assert!(definition("a[].b.<name>").fits(&["a[]", "b", "x.y"]));
        assert!(!definition("a[].b").fits(&["a[]", "c"]) && !definition("a").fits(&["a", "b"]));
        assert!(definition("a[][]").fits(&["a[]"]) && definition("a[]").fits(&["a"]));
        assert!(definition("boundary_<parameter>").fits(&["boundary_rtt_ms"]));
        for column in COLUMNS {
            assert!(table("series").unwrap().column(&column.pattern()).is_some(), "{}", column.name);
        }
        let queue = table("series").unwrap().column("queue_packets[r1-r2]").unwrap();
        assert_eq!(
            (queue.unit, queue.about.as_str()),
            ("packets", "Packets that wait, without the one in transmission.")
        );
        let state = table("series").unwrap().column("base_rtt_ms[long]").unwrap();
        assert!(state.about.contains("controllers") && state.unit == "ms", "{state:?}");
    }
}

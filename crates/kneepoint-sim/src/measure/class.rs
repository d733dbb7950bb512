// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Class: the completed transfers of a group by decade of size.
//!
//! A class is labelled with its smallest size: `10kB` are transfers of at least 10 kB and less than 100 kB.

use super::slowdown::Alone;
use crate::metric::{BYTES, Entry, PLAIN, Recorder, number, ratios, times};
use crate::units::{Bytes, Span};

/// The classes of a group.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    /// The path of its transfers without other traffic.
    alone: Alone,
    /// Classes by the power of ten of their sizes.
    by_decade: Vec<Class>,
}

/// The counters of a class.
#[derive(Clone, Debug, Default)]
pub(super) struct Class {
    bytes: u64,
    completion_times: Recorder,
    /// In thousandths.
    slowdowns: Recorder,
}

/// The decade of a size.
fn decade(size: Bytes) -> usize {
    size.0.max(1).ilog10() as usize
}

/// The label of a decade: `1B`, `10B`, … `1kB`, … `1MB`, …
fn label(decade: usize) -> String {
    let unit = ["B", "kB", "MB", "GB"][(decade / 3).min(3)];
    format!("{}{unit}", 10u64.pow((decade - 3 * (decade / 3).min(3)) as u32))
}

impl Classes {
    pub(super) fn new(alone: Alone) -> Classes {
        Classes { alone, by_decade: Vec::new() }
    }

    /// A transfer of this size completed.
    pub(super) fn completed(&mut self, took: Span, size: Bytes) {
        let decade = decade(size);
        if decade >= self.by_decade.len() {
            self.by_decade.resize_with(decade + 1, Class::default);
        }
        let class = &mut self.by_decade[decade];
        class.bytes += size.0;
        class.completion_times.record(took);
        if let Some(slowdown) = self.alone.slowdown(took, size) {
            class.slowdowns.add(slowdown);
        }
    }

    /// The classes with a completed transfer, each with its label.
    pub(super) fn seen(&self) -> impl Iterator<Item = (String, &Class)> {
        let seen = self.by_decade.iter().enumerate();
        let seen = seen.filter(|(_, class)| class.completion_times.count() > 0);
        seen.map(|(decade, class)| (label(decade), class))
    }
}

/// The metrics of a class.
pub(super) const METRICS: &[Entry<Class>] = &[
    number("completions", "Completed transfers", "completed", PLAIN, |class: &Class| {
        class.completion_times.count() as f64
    })
    .tally(),
    number("completed_bytes", "Bytes of completed transfers", "completed", BYTES, |class: &Class| {
        class.bytes as f64
    })
    .tally()
    .detail(),
    times("completion_time", "Completion time", "completion", |class: &Class| &class.completion_times),
    ratios("slowdown", "Slowdown", "slowdown", |class: &Class| &class.slowdowns),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::quantity;

    #[test]
    fn labels_are_the_smallest_sizes_of_their_decades() {
        for (size, expected) in
            [(1, "1B"), (999, "100B"), (1000, "1kB"), (12_345, "10kB"), (1_000_000, "1MB")]
        {
            assert_eq!(label(decade(Bytes(size))), expected);
            assert!(
                quantity(expected).is_some_and(|least| least <= size as f64 && size as f64 <= 10.0 * least)
            );
        }
        assert_eq!(
            (label(decade(Bytes(0))), label(decade(Bytes(u64::MAX)))),
            ("1B".into(), "10000000000GB".into())
        );
    }

    #[test]
    fn transfers_count_in_the_class_of_their_size() {
        let mut classes = Classes::default();
        for (millis, size) in [(10, 7000), (30, 9999), (50, 10_000)] {
            classes.completed(Span::from_millis(millis), Bytes(size));
        }
        let seen: Vec<(String, u64)> =
            classes.seen().map(|(label, class)| (label, class.completion_times.count())).collect();
        assert_eq!(seen, [("1kB".into(), 2), ("10kB".into(), 1)]);
    }
}

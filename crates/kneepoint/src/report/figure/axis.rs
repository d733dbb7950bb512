// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The axis of x: its name, and the numbers of its labels in the unit at the end of the name.

use super::super::Factor;
use crate::table::quantity;
use crate::units::{Rate, Span};

/// Kinds of numbers that have several units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Time,
    Rate,
    Data,
}

/// Units as they are read, and their size in the base unit of their kind: seconds, bits per second, bytes.
const UNITS: [(&str, Kind, f64); 14] = [
    ("s", Kind::Time, 1.0),
    ("ms", Kind::Time, 1e-3),
    ("µs", Kind::Time, 1e-6),
    ("us", Kind::Time, 1e-6),
    ("ns", Kind::Time, 1e-9),
    ("bit/s", Kind::Rate, 1.0),
    ("kbit/s", Kind::Rate, 1e3),
    ("Mbit/s", Kind::Rate, 1e6),
    ("Gbit/s", Kind::Rate, 1e9),
    ("B", Kind::Data, 1.0),
    ("bytes", Kind::Data, 1.0),
    ("kB", Kind::Data, 1e3),
    ("MB", Kind::Data, 1e6),
    ("GB", Kind::Data, 1e9),
];

/// Units that have no multiples.
const COUNTS: [&str; 2] = ["bdp", "pkt"];

fn unit(text: &str) -> Option<(Kind, f64)> {
    UNITS.iter().find(|(name, ..)| *name == text).map(|(_, kind, scale)| (*kind, *scale))
}

/// The unit at the end of a name: `RTT (ms)`, `RTT, ms`.
fn unit_of(name: &str) -> Option<&str> {
    let name = name.trim_end();
    let within = name.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')).map(|(_, unit)| unit);
    within.or_else(|| name.rsplit_once(", ").map(|(_, unit)| unit)).map(str::trim)
}

/// The number of a label in the base unit of its kind, and its kind if it has one.
fn base(label: &str, factor: Option<&Factor>) -> Option<(Option<Kind>, f64)> {
    if let Some(factor) = factor {
        let number = factor.levels.iter().find(|level| level.text == label)?.number?;
        return Some(unit(factor.unit).map_or((None, number), |(kind, scale)| (Some(kind), number * scale)));
    }
    if let Some(number) = COUNTS.iter().find_map(|unit| label.strip_suffix(unit)) {
        return Some((None, number.trim().parse().ok()?));
    }
    let reads = [
        (None, label.parse::<f64>().is_ok()),
        (Some(Kind::Time), label.parse::<Span>().is_ok()),
        (Some(Kind::Rate), label.parse::<Rate>().is_ok()),
        (Some(Kind::Data), true),
    ];
    let (kind, _) = reads.into_iter().find(|(_, is_read)| *is_read)?;
    Some((kind, quantity(label)?))
}

/// The numbers of labels as an axis of this name counts them; none where some of them are names. A name without a unit counts seconds,
/// bits per second and bytes, or else in the unit of the factor.
pub(super) fn numbers(name: &str, labels: &[String], factor: Option<&Factor>) -> Option<Vec<f64>> {
    let named = unit_of(name).and_then(unit).or_else(|| factor.and_then(|factor| unit(factor.unit)));
    let number = |label: &String| {
        let (kind, number) = base(label, factor)?;
        let scale = named.filter(|(of, _)| Some(*of) == kind).map_or(1.0, |(_, scale)| scale);
        // 60 ms are 60, and not the nearest number to 0.06 / 0.001.
        Some(if scale < 1.0 { (number / scale * 1e9).round() / 1e9 } else { number / scale })
    };
    labels.iter().map(number).collect()
}

/// The name of a factor's axis: the requested one, with the unit if it has none.
pub(super) fn name(wanted: &str, factor: &Factor) -> String {
    let name = if wanted.is_empty() { factor.name.as_str() } else { wanted };
    let bare = factor.unit.is_empty() || unit_of(name).is_some() || name.ends_with(factor.unit);
    if bare { name.to_string() } else { format!("{name}, {}", factor.unit) }
}

#[cfg(test)]
mod tests {
    use super::super::super::Factors;
    use super::*;

    fn along(name: &str, labels: &[&str]) -> Option<Vec<f64>> {
        numbers(name, &labels.iter().map(|label| label.to_string()).collect::<Vec<_>>(), None)
    }

    #[test]
    fn ticks_count_what_the_name_of_the_axis_says() {
        assert_eq!(along("RTT (ms)", &["20ms", "120ms"]), Some(vec![20.0, 120.0]));
        assert_eq!(along("RTT, s", &["20ms", "1s"]), Some(vec![0.02, 1.0]));
        assert_eq!(along("bandwidth, bit/s", &["1mbit", "1gbit"]), Some(vec![1e6, 1e9]));
        assert_eq!(along("rate (Mbit/s)", &["1mbit", "1gbit"]), Some(vec![1.0, 1000.0]));
        assert_eq!(along("window (packets)", &["5", "10"]), Some(vec![5.0, 10.0]));
        assert_eq!(along("share (ms)", &["5", "10"]), Some(vec![5.0, 10.0]), "a number without a unit");
        assert_eq!(along("buffer, BDP", &["0.5bdp", "1bdp"]), Some(vec![0.5, 1.0]));
        assert_eq!(along("scheme", &["pert", "sack"]), None);
    }

    #[test]
    fn a_factor_has_its_unit_unless_a_name_with_another_is_wanted() {
        let case = |rtt: &str| vec![("topology.rtt".to_string(), rtt.to_string())];
        let factors = Factors::of(&[case("20ms"), case("80ms")]).factors;
        let labels: Vec<String> = factors[0].levels.iter().map(|level| level.text.clone()).collect();
        let counted = |wanted: &str| {
            let name = name(wanted, &factors[0]);
            (numbers(&name, &labels, Some(&factors[0])).unwrap(), name)
        };
        assert_eq!(counted(""), (vec![20.0, 80.0], "RTT, ms".into()));
        assert_eq!(counted("base RTT"), (vec![20.0, 80.0], "base RTT, ms".into()));
        assert_eq!(counted("RTT (s)"), (vec![0.02, 0.08], "RTT (s)".into()));
    }
}

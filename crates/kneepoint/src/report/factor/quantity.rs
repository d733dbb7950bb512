// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Numbers with units, as scenarios have them, for people and in one unit for files.

use crate::units::{Bytes, Rate, Span, number_and_unit};

/// A number of one kind, in the base unit of that kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quantity {
    kind: Kind,
    base: f64,
}

/// Kinds of numbers with the units that people read, the largest first, and how many of the base unit each of them is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Percent,
    Bdp,
    Packets,
    Time,
    Rate,
    Data,
}

impl Kind {
    fn units(self) -> &'static [(&'static str, f64)] {
        match self {
            Kind::Plain => &[("", 1.0)],
            Kind::Percent => &[("%", 1.0)],
            Kind::Bdp => &[("BDP", 1.0)],
            Kind::Packets => &[("packets", 1.0)],
            Kind::Time => &[("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)],
            Kind::Rate => &[("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3), ("bit/s", 1.0)],
            Kind::Data => &[("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)],
        }
    }
}

/// Units that files have, with the ends of their columns. One of each kind, except for time, which has two.
const COLUMNS: [(Kind, &str, &str); 8] = [
    (Kind::Plain, "", ""),
    (Kind::Percent, "%", "_percent"),
    (Kind::Bdp, "BDP", "_bdp"),
    (Kind::Packets, "packets", "_packets"),
    (Kind::Time, "ms", "_ms"),
    (Kind::Time, "s", "_s"),
    (Kind::Rate, "Mbit/s", "_mbps"),
    (Kind::Data, "kB", "_kb"),
];

/// The end of a column of numbers in a unit.
pub(super) fn ending(unit: &str) -> &'static str {
    COLUMNS.iter().find(|(_, known, _)| *known == unit).map_or("", |(.., ending)| ending)
}

/// The unit of this name.
pub(super) fn unit_named(name: &str) -> Option<&'static str> {
    COLUMNS.iter().map(|(_, unit, _)| *unit).find(|unit| *unit == name)
}

/// The unit of a field's numbers in files. Round trips are always in milliseconds, so that their column is always the
/// same; other times are in seconds where all are at least one second.
pub(super) fn unit(key: &str, quantities: &[Quantity]) -> &'static str {
    let long = !key.ends_with("rtt") && quantities.iter().all(|one| one.base >= 1e9);
    let Some(Quantity { kind, .. }) = quantities.first() else { return "" };
    let of_kind =
        |(of, unit, _): &&(Kind, &str, &str)| of == kind && (*of != Kind::Time || (*unit == "s") == long);
    COLUMNS.iter().find(of_kind).map_or("", |(_, unit, _)| unit)
}

impl Quantity {
    /// Labels that are all numbers of one kind.
    pub(super) fn all(labels: &[&str]) -> Option<Vec<Quantity>> {
        let read: Vec<Quantity> = labels.iter().map(|label| Quantity::read(label)).collect::<Option<_>>()?;
        read.windows(2).all(|pair| pair[0].kind == pair[1].kind).then_some(read)
    }

    fn read(label: &str) -> Option<Quantity> {
        let of = |kind, base| Some(Quantity { kind, base });
        let plain = label.parse().ok().filter(|number: &f64| number.is_finite());
        let counted = |unit: &str| {
            let (number, written) = number_and_unit(label)?;
            written.eq_ignore_ascii_case(unit).then_some(number)
        };
        let time = || label.parse().ok().map(|Span(nanoseconds)| nanoseconds as f64);
        let rate = || label.parse().ok().map(|rate: Rate| rate.as_f64());
        let data = || label.parse().ok().map(|Bytes(bytes)| bytes as f64);
        let kinds: [(Kind, &dyn Fn() -> Option<f64>); 7] = [
            (Kind::Plain, &|| plain),
            (Kind::Percent, &|| counted("%")),
            (Kind::Bdp, &|| counted("bdp")),
            (Kind::Packets, &|| ["pkt", "packet", "packets"].into_iter().find_map(counted)),
            (Kind::Time, &time),
            (Kind::Rate, &rate),
            (Kind::Data, &data),
        ];
        kinds.into_iter().find_map(|(kind, number)| of(kind, number()?))
    }

    /// In a unit of its kind.
    pub(super) fn number(&self, unit: &str) -> f64 {
        let scale = self.kind.units().iter().find(|(name, _)| *name == unit).map_or(1.0, |(_, scale)| *scale);
        self.base / scale
    }

    /// For people, in the largest unit in which it is at least one.
    pub(super) fn text(&self) -> String {
        let units = self.kind.units();
        let fits = |(_, scale): &&(&str, f64)| self.base.abs() >= *scale;
        let Some((unit, scale)) = units.iter().find(fits).or(units.last()) else { return String::new() };
        let number = self.base / scale;
        match *unit {
            "" => number.to_string(),
            "packets" if number == 1.0 => "1 packet".into(),
            unit => format!("{number} {unit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(labels: &[&str]) -> Vec<String> {
        Quantity::all(labels).expect("numbers of one kind").iter().map(Quantity::text).collect()
    }

    #[test]
    fn people_read_real_units_and_files_have_numbers_in_one() {
        assert_eq!(texts(&["500us", "20ms", "1.5s"]), ["500 µs", "20 ms", "1.5 s"]);
        assert_eq!(texts(&["256kbit", "20mbit", "1gbit"]), ["256 kbit/s", "20 Mbit/s", "1 Gbit/s"]);
        assert_eq!(texts(&["0.5bdp", "1BDP"]), ["0.5 BDP", "1 BDP"]);
        assert_eq!(texts(&["1pkt", "750pkt"]), ["1 packet", "750 packets"]);
        assert_eq!(texts(&["64kb"]), ["64 kB"]);
        assert_eq!(texts(&["0.5%", "2 %"]), ["0.5 %", "2 %"]);
        assert_eq!(texts(&["1", "0.05", "0"]), ["1", "0.05", "0"]);
        let numbers = |key: &str, labels: &[&str]| {
            let read = Quantity::all(labels).expect("numbers of one kind");
            let unit = unit(key, &read);
            (unit, read.iter().map(|one| one.number(unit)).collect::<Vec<_>>())
        };
        assert_eq!(numbers("topology.rtt", &["1s", "2s"]), ("ms", vec![1000.0, 2000.0]));
        assert_eq!(numbers("run.duration", &["20s", "1min"]), ("s", vec![20.0, 60.0]));
        assert_eq!(numbers("queue.target", &["5ms", "1s"]), ("ms", vec![5.0, 1000.0]));
        assert_eq!(numbers("topology.rate", &["256kbit", "1gbit"]), ("Mbit/s", vec![0.256, 1000.0]));
        assert_eq!(numbers("topology.loss", &["0.5%", "2%"]), ("%", vec![0.5, 2.0]));
    }

    #[test]
    fn numbers_of_several_kinds_are_names() {
        assert_eq!(Quantity::all(&["1bdp", "100pkt"]), None);
        assert_eq!(Quantity::all(&["cubic", "5"]), None);
        assert_eq!(Quantity::all(&["10s..20s"]), None);
    }
}

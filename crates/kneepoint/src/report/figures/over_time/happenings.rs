// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The events of a run, as its series shows them: an event occurred between the instant that shows it and the previous
//! one.

use super::{Points, column_curves};
use crate::chart::{Happening, Kind};
use crate::table::Table;

/// A change of the capacity by less than this part is no step.
const STEP: f64 = 0.05;
/// A capacity with more steps than this is a curve.
const MOST_STEPS: usize = 24;

/// The events in order. `class` is the class of a group's colour.
pub(super) fn of(series: &Table, class: impl Fn(&str) -> String) -> Vec<Happening> {
    let mut all = Vec::new();
    for (group, points) in column_curves(series, "active_flows") {
        all.extend(changes(&points, &class(group), group));
    }
    for (group, points) in column_curves(series, "timeouts") {
        let expired = points.iter().filter(|point| point.1 > 0.0);
        all.extend(expired.map(|(at, count)| Happening {
            at: *at,
            kind: Kind::Timeout,
            class: class(group),
            name: counted(*count, "timeout of", "timeouts of", group),
        }));
    }
    // The first link is the bottleneck.
    if let Some((_, points)) = column_curves(series, "delay_ms").first() {
        let moved = points.windows(2).filter(|pair| pair[0].1 != pair[1].1);
        all.extend(
            moved.map(|pair| of_link(pair[1].0, Kind::Delay, format!("delay {} ms", rounded(pair[1].1)))),
        );
    }
    if let Some((_, points)) = column_curves(series, "capacity_bps").first() {
        all.extend(steps(points));
    }
    all.sort_by(|one, other| one.at.total_cmp(&other.at));
    all
}

/// Flows that start, and flows that end.
fn changes(points: &Points, class: &str, group: &str) -> Vec<Happening> {
    // Before the first sample nothing is active; flows in the first sample began with the run.
    let before = std::iter::once(&(0.0, 0.0)).chain(points);
    let happening = |((since, was), (at, is)): (&(f64, f64), &(f64, f64))| {
        let (kind, name) = match is - was {
            more if more > 0.0 => (Kind::Start, counted(more, "flow starts:", "flows start:", group)),
            less if less < 0.0 => (Kind::End, counted(-less, "flow ends:", "flows end:", group)),
            _ => return None,
        };
        let first = *since == 0.0 && *was == 0.0;
        Some(Happening { at: if first { 0.0 } else { *at }, kind, class: class.into(), name })
    };
    before.zip(points).filter_map(happening).collect()
}

/// Steps of the capacity, if it has few. One inside an interval shows in two of them.
fn steps(points: &Points) -> Vec<Happening> {
    let known: Vec<(f64, f64)> = points.iter().copied().filter(|point| point.1.is_finite()).collect();
    let differ = |one: f64, other: f64| (one - other).abs() > STEP * one.abs().max(other.abs());
    let changed = |place: &usize| differ(known[*place - 1].1, known[*place].1);
    let places: Vec<usize> = (1..known.len()).filter(changed).collect();
    let lasts = |place: &usize| !places.contains(&(place + 1));
    let last: Vec<usize> = places.iter().copied().filter(lasts).collect();
    if last.len() > MOST_STEPS {
        return Vec::new();
    }
    let step = |place: usize| {
        // The interval before has the step, or ends with it.
        let at = known[place - 1].0;
        of_link(at, Kind::Capacity, format!("{} Mbit/s", rounded(1e-6 * known[place].1)))
    };
    last.into_iter().map(step).collect()
}

fn of_link(at: f64, kind: Kind, name: String) -> Happening {
    Happening { at, kind, class: String::new(), name }
}

fn counted(count: f64, one: &str, several: &str, group: &str) -> String {
    if count == 1.0 { format!("1 {one} {group}") } else { format!("{count} {several} {group}") }
}

/// Three digits, without zeros at the end.
fn rounded(value: f64) -> String {
    let digits = 2 - libm::floor(libm::log10(value.abs().max(1e-9))) as i32;
    let scale = libm::pow(10.0, f64::from(digits));
    format!("{}", (value * scale).round() / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(columns: &[&str], rows: &[&[f64]]) -> Table {
        Table {
            columns: columns.iter().map(ToString::to_string).collect(),
            rows: rows.iter().map(|row| row.to_vec()).collect(),
        }
    }

    #[test]
    fn starts_ends_timeouts_handovers_and_steps_are_events() {
        let columns = ["time_s", "capacity_bps[l]", "delay_ms[l]", "active_flows[g]", "timeouts[g]"];
        let table = series(
            &columns,
            &[
                &[1.0, 2e7, 20.0, 1.0, 0.0],
                &[2.0, 2e7, 20.0, 3.0, 0.0],
                &[3.0, 9e6, 50.0, 3.0, 2.0],
                &[4.0, 5e6, 50.0, 0.0, 0.0],
            ],
        );
        let told: Vec<(f64, Kind, String)> =
            of(&table, |_| "s0".into()).into_iter().map(|one| (one.at, one.kind, one.name)).collect();
        let expected = [
            (0.0, Kind::Start, "1 flow starts: g"),
            (2.0, Kind::Start, "2 flows start: g"),
            (3.0, Kind::Timeout, "2 timeouts of g"),
            (3.0, Kind::Delay, "delay 50 ms"),
            (3.0, Kind::Capacity, "5 Mbit/s"),
            (4.0, Kind::End, "3 flows end: g"),
        ];
        assert_eq!(told, expected.map(|(at, kind, name)| (at, kind, name.to_string())));
    }

    #[test]
    fn a_capacity_that_never_rests_is_no_row_of_steps() {
        let rows: Vec<Vec<f64>> =
            (0..100).map(|step| vec![f64::from(step), if step / 2 % 2 == 0 { 1e6 } else { 2e6 }]).collect();
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        assert!(of(&series(&["time_s", "capacity_bps[l]"], &rows), |_| String::new()).is_empty());
    }

    #[test]
    fn rates_have_three_digits_at_most() {
        assert_eq!([5.0, 12.345, 0.12345, 1000.0].map(rounded), ["5", "12.3", "0.123", "1000"]);
    }
}

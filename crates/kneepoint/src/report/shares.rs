// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Throughput shares of the groups at the bottleneck, as figures.

use super::document::Figure;
use super::grid::{Measured, measured};
use super::{Comparison, SchemeResult, names};
use crate::chart::{Curve, Panel, Stack, scheme_class, stacks};
use crate::measure::Subject;

/// A bar for each scheme, divided into the shares of its groups.
pub(super) fn cut(comparison: &Comparison) -> Option<Figure> {
    let row = |scheme: &SchemeResult| {
        let groups = measured(scheme, Subject::Group);
        let part = |group: &Measured| {
            let share = group.estimate("share")?.mean;
            share.is_finite().then(|| (group.name(scheme), share))
        };
        let parts: Vec<_> = groups.iter().filter_map(part).collect();
        (!parts.is_empty()).then(|| Stack { name: scheme.scheme.clone(), parts })
    };
    let rows: Vec<Stack> = comparison.schemes.iter().filter_map(row).collect();
    let title = "Share of the bottleneck";
    (!rows.is_empty()).then(|| Figure {
        name: "shares".into(),
        title: title.into(),
        note: "Bytes served, data and acknowledgements alike; means over the runs.",
        class: None,
        drawing: stacks(title, &rows),
    })
}

const PANEL: (f64, f64) = (520.0, 260.0);

/// The queue that the packets of each group found on arrival: a panel per scheme, all on one scale.
pub(super) fn positions(comparison: &Comparison) -> Vec<Figure> {
    let all: Vec<Vec<Vec<(f64, f64)>>> = comparison.schemes.iter().map(mean_positions).collect();
    let highest = all.iter().flatten().flatten().map(|point| point.1).fold(0.0, f64::max);
    let schemes: Vec<&str> = comparison.schemes.iter().map(|one| one.scheme.as_str()).collect();
    let panel = |(rank, groups): (usize, &Vec<Vec<(f64, f64)>>)| {
        let scheme = &comparison.schemes[rank].scheme;
        let title = match comparison.schemes.len() {
            1 => "Occupancy on arrival".to_string(),
            _ => format!("Occupancy on arrival, {scheme}"),
        };
        let names = ("queue on arrival, of the buffer", "share of the group's packets, per twentieth");
        let mut panel = Panel::new(&title, PANEL, (1.0, highest), names);
        for (place, points) in groups.iter().enumerate() {
            panel.line(&scheme_class(place), &Curve::new(points.clone()));
        }
        (!groups.is_empty()).then(|| Figure {
            name: names::figure("positions", &schemes, rank),
            title,
            note: "A curve further to the left is a group whose packets found a shorter queue.",
            class: None,
            drawing: panel.finish(),
        })
    };
    all.iter().enumerate().filter_map(panel).collect()
}

/// The distribution of positions of each group, as the mean over the runs that have one.
fn mean_positions(scheme: &SchemeResult) -> Vec<Vec<(f64, f64)>> {
    let positions = measured(scheme, Subject::Position);
    let group = |one: &Measured| {
        let points = positions.iter().filter(|bin| bin.labels.get("group") == one.labels.get("group"));
        let point = |bin: &Measured| {
            Some((bin.labels.get("bin")?.parse().ok()?, bin.estimate("queue_position_share")?.mean))
        };
        points.filter_map(point).collect()
    };
    let all: Vec<Vec<_>> = measured(scheme, Subject::Group).iter().map(group).collect();
    if all.iter().all(Vec::is_empty) { Vec::new() } else { all }
}

#[cfg(test)]
mod tests {
    use super::super::comparison::document;
    use super::super::example;
    use super::*;

    #[test]
    fn without_shares_there_is_no_figure_of_them() {
        let mut comparison = example::comparison();
        for run in comparison.schemes.iter_mut().flat_map(|scheme| &mut scheme.runs) {
            run.rows.retain(|row| !Subject::Position.has(row));
            for row in &mut run.rows {
                row.values.remove("share");
            }
        }
        assert!(cut(&comparison).is_none() && positions(&comparison).is_empty());
        assert!(!super::super::format::text::render(&document(&comparison)).contains("share"));
    }

    #[test]
    fn every_format_has_the_same_shares() {
        let comparison = example::comparison();
        let text = super::super::format::text::render(&document(&comparison));
        assert!(
            text.contains("share, %") && text.contains("20") && text.contains("forward (reno)"),
            "{text}"
        );
        let json = super::super::json::render(&comparison);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let second = &json["schemes"][0]["groups"][1];
        assert_eq!(second["group"], "noise");
        assert!(second["share"]["mean"].as_f64().is_some_and(|mean| (mean - 0.2).abs() < 1e-12));
        let page = super::super::format::html::render(&document(&comparison));
        assert!(page.contains(">Throughput shares</h2>") && page.contains("noise: 20 %"));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Throughput shares of the groups at the bottleneck, as figures.

use super::document::Figure;
use super::grid::{Measured, measured};
use super::{Comparison, SchemeResult, names};
use crate::chart::{Axis, Line, Lines, Stack, lines, stacks};
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

/// The queue that the packets of each group found on arrival: a chart per scheme, all on one scale.
pub(super) fn positions(comparison: &Comparison) -> Vec<Figure> {
    let all: Vec<Vec<Line>> = comparison.schemes.iter().map(mean_positions).collect();
    let shares = all.iter().flatten().flat_map(|group| &group.points).map(|(_, share)| share.mean);
    let highest = shares.fold(0.0, f64::max);
    let schemes: Vec<&str> = comparison.schemes.iter().map(|one| one.scheme.as_str()).collect();
    let figure = |(rank, groups): (usize, &Vec<Line>)| {
        let scheme = &comparison.schemes[rank].scheme;
        let title = match comparison.schemes.len() {
            1 => "Occupancy on arrival".to_string(),
            _ => format!("Occupancy on arrival, {scheme}"),
        };
        let chart = Lines {
            title: title.clone(),
            x: Axis::linear("queue on arrival, of the buffer").holding(0.0, 1.0),
            y: Axis::linear("share of the group's packets, per twentieth").holding(0.0, highest),
            series: groups.clone(),
            marks: Vec::new(),
            published: Vec::new(),
            measured: None,
        };
        (!groups.is_empty()).then(|| Figure {
            name: names::figure("positions", &schemes, rank),
            title,
            note: "A group whose curve is higher at the left found a short queue more often.",
            class: None,
            drawing: lines(&chart),
        })
    };
    all.iter().enumerate().filter_map(figure).collect()
}

/// The distribution of positions of each group, as the mean over the runs that have one.
fn mean_positions(scheme: &SchemeResult) -> Vec<Line> {
    let positions = measured(scheme, Subject::Position);
    let group = |one: &Measured| {
        let points = positions.iter().filter(|bin| bin.labels.get("group") == one.labels.get("group"));
        let point = |bin: &Measured| {
            Some((bin.labels.get("bin")?.parse().ok()?, bin.estimate("queue_position_share")?.mean))
        };
        Line::exact(one.name(scheme), points.filter_map(point))
    };
    let all: Vec<Line> = measured(scheme, Subject::Group).iter().map(group).collect();
    if all.iter().all(|line| line.points.is_empty()) { Vec::new() } else { all }
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
    fn curves_of_groups_have_the_names_of_groups_on_the_page_and_in_the_file() {
        let comparison = example::comparison();
        let document = document(&comparison);
        let schemes: Vec<&str> = comparison.schemes.iter().map(|one| one.scheme.as_str()).collect();
        let pictures = document.pictures();
        let file = pictures.iter().find(|one| one.name == names::figure("positions", &schemes, 0)).unwrap();
        let (file, page) = (file.drawing.standalone(), positions(&comparison)[0].drawing.inline("one"));
        for (curve, name) in [("s0", "forward (reno)"), ("s1", "noise")] {
            for svg in [&file, &page] {
                assert_eq!(svg.matches(&format!("class=\"line {curve}\"")).count(), 2, "curve and legend");
                assert_eq!(svg.matches(&format!(">{name}</text>")).count(), 1, "{name}");
            }
        }
        assert!(schemes.iter().all(|scheme| !file.contains(&format!(">{scheme}</text>"))), "{file}");
        let columns = &positions(&comparison)[0].drawing.data()[0].columns;
        assert_eq!(columns[1..], ["forward (reno)", "noise"]);
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

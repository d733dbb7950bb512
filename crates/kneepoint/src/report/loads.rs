// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Several measured links: how busy each was, and who crossed it.

use super::document::{Block, Column, Figure, Layout, Section, Shown, Table, TableLine};
use super::grid::{Measured, measured};
use super::{Comparison, SchemeResult, names};
use crate::chart::{Crossings, crossings};
use crate::measure::Subject;
use crate::metric::Metric;

/// More links than this have no room side by side.
const MOST_LINKS: usize = 12;

/// A table of the links and one of the groups on them, with pictures; none with a single measured link.
pub(super) fn sections(comparison: &Comparison) -> Vec<Section> {
    let several = comparison.schemes.iter().any(|scheme| measured(scheme, Subject::Link).len() > 1);
    if !several {
        return Vec::new();
    }
    let schemes: Vec<&str> = comparison.schemes.iter().map(|one| one.scheme.as_str()).collect();
    let named = |(rank, one)| figure(names::figure("loads", &schemes, rank), one);
    let figures: Vec<Figure> = (0..).zip(&comparison.schemes).filter_map(named).collect();
    let pictures = Block::pages(vec![Block::Figures(Layout::Halves, figures)]);
    let links = lines(comparison, Subject::Link, "link");
    let crossings = lines(comparison, Subject::Crossing, "group and link");
    let mut sections = vec![Section::new("Measured links", vec![pictures, Block::Table(links)])];
    if !crossings.lines.is_empty() {
        sections.push(Section::new("Groups on each link", vec![Block::Table(crossings)]));
    }
    sections
}

/// A line for each link, or group on a link, of each scheme; the brief metrics as columns.
fn lines(comparison: &Comparison, subject: Subject, corner: &str) -> Table {
    let all: Vec<(usize, &SchemeResult, Measured)> = (0..)
        .zip(&comparison.schemes)
        .flat_map(|(rank, scheme)| measured(scheme, subject).into_iter().map(move |one| (rank, scheme, one)))
        .collect();
    let told = |metric: &&Metric| {
        let known = |(_, _, one): &(usize, &SchemeResult, Measured)| {
            one.estimate(&metric.key).is_some_and(|estimate| estimate.mean.is_finite())
        };
        metric.brief && all.iter().any(known)
    };
    let metrics: Vec<&Metric> = subject.metrics().iter().filter(told).collect();
    let column = |metric: &&Metric| Column {
        about: metric.title.clone(),
        ..Column::number(&metric.short, metric.unit)
    };
    let line = |(rank, scheme, one): &(usize, &SchemeResult, Measured)| {
        let name = match comparison.schemes.len() {
            1 => one.name(scheme),
            _ => format!("{}: {}", scheme.scheme, one.name(scheme)),
        };
        let cell = |metric: &&Metric| {
            one.estimate(&metric.key).map_or("–".into(), |estimate| Shown::metric(&estimate, metric))
        };
        let class = comparison.class_of_row(*rank).filter(|_| comparison.schemes.len() > 1);
        TableLine { class, ..TableLine::new(name, metrics.iter().map(cell).collect()) }
    };
    Table {
        corner: corner.into(),
        columns: metrics.iter().map(column).collect(),
        lines: all.iter().map(line).collect(),
        linked: false,
    }
}

/// The links of a scheme in a line, with the groups that cross them.
fn figure(name: String, scheme: &SchemeResult) -> Option<Figure> {
    let links = measured(scheme, Subject::Link);
    let at = measured(scheme, Subject::Crossing);
    let mean = |one: &Measured, key: &str| one.estimate(key).map_or(f64::NAN, |estimate| estimate.mean);
    let group = |group: Measured| {
        let on = |link: &Measured| {
            let here = at.iter().find(|one| {
                one.labels.get("group") == group.labels.get("group")
                    && one.labels.get("link") == link.labels.get("link")
            });
            here.map(|one| mean(one, "share"))
        };
        (group.name(scheme), links.iter().map(on).collect::<Vec<_>>())
    };
    let groups = measured(scheme, Subject::Group).into_iter().map(group);
    let chart = Crossings {
        groups: groups.filter(|(_, shares)| shares.iter().any(Option::is_some)).collect(),
        links: links.iter().map(|link| (link.name(scheme), mean(link, "utilization"))).collect(),
    };
    let title = format!("Loads, {}", scheme.scheme);
    (chart.links.len() <= MOST_LINKS).then(|| Figure {
        name,
        drawing: crossings(&title, &chart),
        title,
        note: "Above: how busy each measured link was. Below: each group's share of the bytes that it served.",
        class: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;
    use crate::table::Row;

    #[test]
    fn two_links_have_a_line_each_and_so_do_the_groups_that_cross_them() {
        let mut comparison = example::comparison();
        assert!(sections(&comparison).is_empty());
        for run in comparison.schemes.iter_mut().flat_map(|scheme| &mut scheme.runs) {
            run.rows.push(Row::new([("link", "r2-r3".into())]).with("utilization", 0.5));
            for link in ["r1-r2", "r2-r3"] {
                let labels = [("group", "forward".into()), ("link", link.into())];
                run.rows.push(Row::new(labels).with("share", 0.75));
            }
        }
        let sections = sections(&comparison);
        let [links, groups] = &sections[..] else { panic!("{} sections", sections.len()) };
        let [Block::Pages { blocks, .. }, Block::Table(table)] = &links.blocks[..] else { panic!() };
        let [Block::Figures(_, figures)] = &blocks[..] else { panic!() };
        assert_eq!((figures.len(), table.lines.len()), (2, 4));
        let [Block::Table(crossings)] = &groups.blocks[..] else { panic!() };
        assert_eq!(crossings.lines[3].name, "prert/pi: forward (reno) on r2-r3");
        assert_eq!(crossings.lines[3].cells[0].text(), "75");
    }
}

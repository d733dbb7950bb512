// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Links one after the other, and the groups of traffic that cross them: a network with its loads.

use super::data::Data;
use super::paper::{Chart, Paper};
use super::{Anchor, Drawing, scheme_class, space};
use crate::table::number;

/// The links and groups to draw.
#[derive(Clone)]
pub(in super::super) struct Crossings {
    /// Names of the links and how busy they were, as a share of their capacity; NaN is not shown.
    pub(in super::super) links: Vec<(String, f64)>,
    /// Names of the groups, and the share of each link that they had; none of links that they do not cross.
    pub(in super::super) groups: Vec<(String, Vec<Option<f64>>)>,
}

const WIDTH: f64 = 520.0;
const ROW: f64 = 34.0;
const BAR: f64 = 9.0;
const GAP: f64 = 10.0;
const ROUTER: f64 = 4.5;

/// Draws the links in a row, filled by their load, and below them a line for each group with its share of each link.
pub(in super::super) fn crossings(label: &str, chart: &Crossings) -> Drawing {
    Drawing::of(Labelled { label: label.into(), chart: chart.clone() })
}

struct Labelled {
    label: String,
    chart: Crossings,
}

impl Chart for Labelled {
    fn draw(&self, paper: &Paper) -> Drawing {
        drawn(self, paper.width(WIDTH))
    }

    fn data(&self) -> Vec<Data> {
        let Crossings { links, groups } = &self.chart;
        let shown = |share: f64| if share.is_finite() { percent(share) } else { number::NONE.into() };
        let link = |(place, (name, busy)): (usize, &(String, f64))| {
            let shares = groups.iter().map(|(_, shares)| shares.get(place).copied().flatten());
            let shares = shares.map(|share| share.map_or(number::NONE.into(), shown));
            [name.clone(), shown(*busy)].into_iter().chain(shares).collect()
        };
        let names = groups.iter().map(|(name, _)| name.as_str());
        let columns: Vec<&str> = ["link", "busy"].into_iter().chain(names).collect();
        let about = "How busy each link was, and the share of it that each group had.".to_string();
        vec![Data::new(about, &columns, links.iter().enumerate().map(link).collect())]
    }
}

fn drawn(Labelled { label, chart }: &Labelled, width: f64) -> Drawing {
    let mut drawing = Drawing::new(width, ROW * (1 + chart.groups.len()) as f64 + 6.0, label);
    let column = width / chart.links.len().max(1) as f64;
    let left = |place: usize| column * place as f64 + GAP / 2.0;
    let long = column - GAP;
    for (place, (name, busy)) in chart.links.iter().enumerate() {
        let at = left(place);
        let shown = percent(*busy);
        drawing.text("name", Anchor::Middle, (at + long / 2.0, 12.0), &space::fitted(name, long - 4.0, 12.5));
        drawing.with_tip(&format!("{name}: {shown} busy"), |drawing| {
            drawing.rect("track", (at, 18.0), (long, BAR), 2.0);
            if busy.is_finite() {
                drawing.rect("busy", (at, 18.0), (long * busy.clamp(0.0, 1.0), BAR), 2.0);
            }
        });
        for end in [at - GAP / 2.0, at + long + GAP / 2.0] {
            drawing.circle("router", (end.clamp(ROUTER, width - ROUTER), 18.0 + BAR / 2.0), ROUTER);
        }
    }
    for (rank, (name, shares)) in chart.groups.iter().enumerate() {
        let top = ROW * (rank + 1) as f64;
        let first = shares.iter().position(Option::is_some).unwrap_or(0);
        let last = shares.iter().rposition(Option::is_some).unwrap_or(0);
        let class = scheme_class(rank);
        let (from, to) = (left(first), left(last) + long);
        drawing.line(&format!("way {class}"), (from, top + 22.0), (to, top + 22.0));
        // The name begins above the group's first link, or ends above its last where there is too little room.
        let shown_name = space::fitted(name, width, 12.0);
        let at = from.min((width - space::length(&shown_name, 12.0)).max(0.0));
        drawing.text("entry", Anchor::Start, (at, top + 13.0), &shown_name);
        for (place, share) in shares.iter().enumerate() {
            let Some(share) = share.filter(|share| share.is_finite()) else { continue };
            let shown = percent(share);
            let link = &chart.links[place].0;
            drawing.with_tip(&format!("{name}: {shown} of {link}"), |drawing| {
                let size = (long * share.clamp(0.0, 1.0), BAR);
                drawing.rect(&format!("fill {class}"), (left(place), top + 18.0), size, 2.0);
            });
            // To the right of the bar, where there is room for it.
            let beyond = left(place) + long * share + 4.0;
            if beyond + space::length(&shown, 11.0) < left(place) + long {
                drawing.text("note", Anchor::Start, (beyond, top + 19.0 + BAR - 1.0), &shown);
            }
        }
    }
    drawing
}

fn percent(share: f64) -> String {
    format!("{} %", number::significant(100.0 * share, 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_a_bar_on_each_link_that_it_crosses_and_none_on_others() {
        let chart = Crossings {
            links: vec![("r1-r2".into(), 0.5), ("r2-r3".into(), f64::NAN)],
            groups: vec![
                ("all".into(), vec![Some(0.25), Some(1.0)]),
                ("one".into(), vec![None, Some(f64::NAN)]),
            ],
        };
        let body = crossings("", &chart).body;
        assert!(body.contains("<title>all: 25.0 % of r1-r2</title>"), "{body}");
        assert_eq!(body.matches("\"fill s0\"").count(), 2);
        assert_eq!(body.matches("\"fill s1\"").count(), 0);
        assert!(body.contains("<title>r1-r2: 50.0 % busy</title>") && !body.contains("NaN"));
    }
}

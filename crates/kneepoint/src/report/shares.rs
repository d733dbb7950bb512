// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Who got what of the bottleneck, for every format that shows it to people.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::figures::Figure;
use super::{Comparison, SchemeResult, number};
use crate::chart::{Curve, Panel, Stack, scheme_class, stacks};
use crate::measure::{ShareSummary, Summary};
use crate::table::Estimate;

/// One thing that is said of a group.
pub(super) struct Measure {
    /// Its name in files, with its unit.
    pub(super) key: &'static str,
    /// What people call it at the head of a column.
    pub(super) short: &'static str,
    /// What people read it in.
    pub(super) unit: &'static str,
    /// What makes the file's number the one in `unit`.
    scale: f64,
    /// The number of one run, as in files; not a number where it is undefined.
    of: fn(&ShareSummary) -> f64,
}

/// In the order of reports.
pub(super) const MEASURES: [Measure; 6] = [
    Measure { key: "share", short: "share", unit: "% of bytes", scale: 100.0, of: |share| share.share },
    Measure {
        key: "drop_ratio",
        short: "dropped",
        unit: "% of its packets",
        scale: 100.0,
        of: ShareSummary::drop_ratio,
    },
    Measure {
        key: "throughput_variance_to_mean_bps",
        short: "variance to mean",
        unit: "kbit/s, of 1 s",
        scale: 1e-3,
        of: |share| share.throughput_variance_to_mean_bps,
    },
    Measure {
        key: "queue_position_mean",
        short: "mean position",
        unit: "% of buffer",
        scale: 100.0,
        of: |share| share.position.mean,
    },
    Measure {
        key: "queue_position_median",
        short: "median position",
        unit: "% of buffer",
        scale: 100.0,
        of: |share| share.position.median,
    },
    Measure {
        key: "queue_position_entropy",
        short: "entropy",
        unit: "of positions",
        scale: 1.0,
        of: |share| share.position.entropy,
    },
];

/// What one group of a scheme got, over its runs.
pub(super) struct Got {
    /// As the scenario calls it.
    pub(super) group: String,
    /// With its congestion control.
    pub(super) label: String,
    /// In the order of [`MEASURES`].
    pub(super) measures: [Estimate; MEASURES.len()],
}

impl Got {
    pub(super) fn cells(&self) -> impl Iterator<Item = (String, Option<String>)> {
        MEASURES.iter().zip(&self.measures).map(|(measure, got)| number::estimate(got, measure.scale))
    }
}

/// By the measures' keys.
impl Serialize for Got {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1 + MEASURES.len()))?;
        map.serialize_entry("group", &self.group)?;
        for (measure, got) in MEASURES.iter().zip(&self.measures) {
            map.serialize_entry(measure.key, got)?;
        }
        map.end()
    }
}

/// What each group of a scheme got; nothing if there is one alone.
pub(super) fn of(scheme: &SchemeResult) -> Vec<Got> {
    let runs: Vec<&[ShareSummary]> = scheme.runs.iter().map(|run| &run.summary.shares[..]).collect();
    let groups = runs.iter().map(|shares| shares.len()).min().unwrap_or(0);
    let got = |place: usize| Got {
        group: runs[0][place].name.clone(),
        label: label(&scheme.runs[0].summary, place),
        measures: MEASURES.each_ref().map(|measure| {
            Estimate::of(&runs.iter().map(|shares| (measure.of)(&shares[place])).collect::<Vec<_>>())
        }),
    };
    (0..groups).map(got).collect()
}

/// What people call the group of a share: with its congestion control where it has one.
fn label(summary: &Summary, place: usize) -> String {
    let flows = summary.groups.iter().map(|group| format!("{} ({})", group.name, group.cc));
    let web = summary.web.iter().map(|web| format!("{} ({}, objects)", web.name, web.cc));
    let cbr = summary.cbr.iter().map(|cbr| cbr.name.clone());
    flows.chain(web).chain(cbr).nth(place).unwrap_or_default()
}

/// A bar for each scheme, cut into what its groups got.
pub(super) fn cut(comparison: &Comparison) -> Option<Figure> {
    let row = |scheme: &SchemeResult| {
        let part = |got: Got| (got.label, got.measures[0].mean);
        let parts: Vec<_> = of(scheme).into_iter().map(part).collect();
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

/// Where in the queue the packets of each group found themselves: a panel per scheme, all on one scale.
pub(super) fn positions(comparison: &Comparison) -> Vec<Figure> {
    let all: Vec<Vec<Vec<(f64, f64)>>> = comparison.schemes.iter().map(mean_positions).collect();
    let highest = all.iter().flatten().flatten().map(|point| point.1).fold(0.0, f64::max);
    let panel = |(rank, groups): (usize, &Vec<Vec<(f64, f64)>>)| {
        let scheme = &comparison.schemes[rank].scheme;
        let title = match comparison.schemes.len() {
            1 => "Queue met by packets".to_string(),
            _ => format!("Queue met by packets, {scheme}"),
        };
        let names = ("queue met, of the buffer", "share of the group's packets, a twentieth each");
        let mut panel = Panel::new(&title, PANEL, (1.0, highest), names);
        for (place, points) in groups.iter().enumerate() {
            panel.line(&scheme_class(place), &Curve::new(points.clone()));
        }
        (!groups.is_empty()).then(|| Figure {
            name: format!("positions_{}", rank + 1),
            title,
            note: "A curve further to the left is a group whose packets met a shorter queue.",
            class: None,
            drawing: panel.finish(),
        })
    };
    all.iter().enumerate().filter_map(panel).collect()
}

/// The distribution of positions of each group, as the mean over the runs that have one.
fn mean_positions(scheme: &SchemeResult) -> Vec<Vec<(f64, f64)>> {
    let groups = scheme.runs.iter().map(|run| run.summary.shares.len()).min().unwrap_or(0);
    let group = |place: usize| -> Vec<(f64, f64)> {
        let known = scheme.runs.iter().map(|run| &run.summary.shares[place].position);
        let known: Vec<_> = known.filter(|position| !position.shares.is_empty()).collect();
        let Some(first) = known.first() else { return Vec::new() };
        let mean = |(bin, (middle, _)): (usize, (f64, f64))| {
            let sum: f64 = known.iter().map(|position| position.shares[bin]).sum();
            (middle, sum / known.len() as f64)
        };
        first.bins().enumerate().map(mean).collect()
    };
    let all: Vec<_> = (0..groups).map(group).collect();
    if all.iter().all(Vec::is_empty) { Vec::new() } else { all }
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn a_group_alone_has_no_section() {
        let mut comparison = example::comparison();
        for run in comparison.schemes.iter_mut().flat_map(|scheme| &mut scheme.runs) {
            run.summary.shares.clear();
        }
        assert!(cut(&comparison).is_none() && positions(&comparison).is_empty());
        assert!(!super::super::text::render(&comparison).contains("share"));
    }

    #[test]
    fn every_format_tells_the_same_shares() {
        let comparison = example::comparison();
        let got = of(&comparison.schemes[0]);
        assert_eq!(got.iter().map(|got| got.label.as_str()).collect::<Vec<_>>(), ["forward (reno)", "noise"]);
        let (share, half_width) = got[1].cells().next().unwrap();
        assert_eq!((share.as_str(), half_width.as_deref()), ("20.00", Some("0")));
        let text = super::super::text::render(&comparison);
        assert!(text.contains("20.00 ± 0"), "{text}");
        let json = super::super::json::render(&comparison);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let second = &json["schemes"][0]["shares"][1];
        assert_eq!(second["group"], "noise");
        assert!(second["share"]["mean"].as_f64().is_some_and(|mean| (mean - 0.2).abs() < 1e-12));
        let page = super::super::html::render(&comparison);
        assert!(page.contains("<h2>Who got what</h2>") && page.contains("noise: 20.00 %"));
    }
}

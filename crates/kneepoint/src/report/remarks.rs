// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Remarks on the headline metrics that follow from the rows: effects of links without their own column, ECN that
//! some rivals have and others lack, and a goodput above the capacity.

use std::collections::BTreeMap;

use super::figures::bottleneck;
use super::verdict::named;
use super::{Comparison, RunResult};
use crate::measure::{Subject, ends_at_proxy};
use crate::table::{number, value};

/// The counters of effects of links, and their sentences.
const EFFECTS: [(&str, &str, &str); 2] =
    [("duplicated", "duplicated", ""), ("corrupted", "corrupted", ", which their receivers dropped")];

/// All remarks on a comparison: the limits of its runs, notes on them, and conclusions from the rows.
pub(super) fn of(comparison: &Comparison) -> Vec<String> {
    let cautions = comparison.cautions.iter().map(|caution| caution.text.clone());
    let noted = cautions.chain(comparison.manifest.notes.iter().cloned());
    let runs = || comparison.schemes.iter().flat_map(|scheme| &scheme.runs);
    let effects = EFFECTS.iter().flat_map(|effect| shares(runs(), effect));
    noted.chain(effects).chain(marking(comparison)).chain(beyond_capacity(runs())).collect()
}

/// The rivals whose packets are marked, where those of others are dropped: part of a difference in delay or loss may come from it.
fn marking(comparison: &Comparison) -> Option<String> {
    let mean = |rank: usize, key| comparison.schemes[rank].estimate(key).mean;
    let mut marked: BTreeMap<String, bool> = BTreeMap::new();
    for rank in comparison.contests().iter().flat_map(|contest| contest.rivals.iter().copied()) {
        let marks = mean(rank, "mark_ratio") > 0.0;
        if marks || mean(rank, "drop_ratio") > 0.0 {
            *marked.entry(comparison.rival(rank)).or_default() |= marks;
        }
    }
    let [with, without] = [true, false].map(|marks| {
        let names = marked.iter().filter(|(_, own)| **own == marks).map(|(name, _)| name.clone());
        named(&names.collect::<Vec<_>>())
    });
    (!with.is_empty() && !without.is_empty())
        .then(|| format!("Packets are marked (ECN) with {with}, and only dropped with {without}."))
}

/// The least and the greatest share of packets in any run, for each link with an effect.
fn shares<'r>(
    runs: impl Iterator<Item = &'r RunResult>,
    (key, did, then): &'r (&'r str, &'r str, &'r str),
) -> impl Iterator<Item = String> + 'r {
    let mut links: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for row in runs.flat_map(|run| &run.rows).filter(|row| Subject::Link.has(row)) {
        let share = row.value(key) / row.value("served_packets");
        if share.is_finite() {
            let (least, most) = links.entry(row.label("link").to_string()).or_insert((share, share));
            (*least, *most) = (least.min(share), most.max(share));
        }
    }
    let happened = links.into_iter().filter(|(_, (_, most))| *most > 0.0);
    happened.map(move |(link, (least, most))| {
        let [least, most] = [least, most].map(|share| number::plain(100.0 * share));
        let range = if least == most { most } else { format!("{least} to {most}") };
        format!("{link} {did} {range} % of the packets that it sent{then}.")
    })
}

/// Whether flows delivered more inside the window than their link can carry in it.
fn beyond_capacity<'r>(runs: impl Iterator<Item = &'r RunResult>) -> Option<String> {
    let (mut all, mut beyond, mut most) = (0, 0, 0.0_f64);
    for excess in runs.map(excess) {
        all += 1;
        if let Some(excess) = excess.filter(|excess| *excess > 0.0) {
            beyond += 1;
            most = most.max(excess);
        }
    }
    (beyond > 0).then(|| {
        let which = if (beyond, all) == (1, 1) { String::new() } else { format!(" of {beyond} of {all} runs") };
        format!(
            "The goodput{which} is up to {} % above the capacity of the link: it counts payload when it is acknowledged in \
             order, and part of that crossed the link before the window. A longer window has less of it.",
            number::plain(100.0 * most)
        )
    })
}

/// The part of the bottleneck's capacity by which the goodput of all flows exceeds it, where all of them cross it and none ends at a proxy.
fn excess(run: &RunResult) -> Option<f64> {
    let capacity = bottleneck(run)?.value("capacity_bps");
    let groups = || run.rows.iter().filter(|row| Subject::Group.has(row));
    if groups().any(ends_at_proxy) {
        return None;
    }
    let listed = groups().map(|row| (row.value("flows"), row.value("goodput_bps")));
    let (flows, goodput) = listed
        .filter(|(flows, goodput)| flows.is_finite() && goodput.is_finite())
        .fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    // The mean of the run is over the flows that cross the bottleneck.
    let crossing = flows * value(&run.rows, "flow_goodput_bps", &[]);
    let together = (crossing - goodput).abs() <= 1e-9 * goodput;
    Some(goodput / capacity - 1.0).filter(|excess| together && excess.is_finite())
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    /// The example, with this count of the 1000 packets of each link.
    fn with(key: &str, count: f64) -> Comparison {
        let mut comparison = example::comparison();
        let rows =
            comparison.schemes.iter_mut().flat_map(|scheme| &mut scheme.runs).flat_map(|run| &mut run.rows);
        for row in rows.filter(|row| Subject::Link.has(row)) {
            row.values.insert(key.to_string(), Some(count));
            row.values.insert("served_packets".into(), Some(1000.0));
        }
        comparison
    }

    #[test]
    fn what_a_link_duplicates_or_corrupts_is_told_and_nothing_else() {
        let told = |comparison: &Comparison| -> Vec<String> {
            let runs = || comparison.schemes.iter().flat_map(|scheme| &scheme.runs);
            EFFECTS.iter().flat_map(|effect| shares(runs(), effect)).collect()
        };
        assert_eq!(told(&example::comparison()), Vec::<String>::new());
        assert_eq!(told(&with("duplicated", 0.0)), Vec::<String>::new());
        let all = told(&with("corrupted", 5.0));
        let said = "r1-r2 corrupted 0.5000 % of the packets that it sent, which their receivers dropped.";
        assert_eq!(all, [said]);
    }

    #[test]
    fn schemes_that_mark_are_named_where_others_drop() {
        let mut comparison = example::comparison();
        let mut set = |scheme: usize, key: &str, ratio: f64| {
            for run in &mut comparison.schemes[scheme].runs {
                let row = run.rows.iter_mut().find(|row| row.labels.is_empty()).unwrap();
                row.values.insert(key.into(), Some(ratio));
            }
            marking(&comparison)
        };
        for (scheme, key, ratio) in [(1, "mark_ratio", 0.0), (0, "mark_ratio", 0.0), (0, "drop_ratio", 0.01)]
        {
            assert_eq!(set(scheme, key, ratio), None);
        }
        let said = set(1, "mark_ratio", 0.02).unwrap_or_default();
        assert_eq!(said, "Packets are marked (ECN) with prert/pi, and only dropped with reno/droptail.");
        assert_eq!(set(0, "mark_ratio", 0.01), None);
    }

    #[test]
    fn a_goodput_above_the_capacity_is_explained() {
        let told = |run: &mut RunResult, goodput: f64, capacity: f64| {
            for row in &mut run.rows {
                if Subject::Link.has(row) {
                    row.values.insert("capacity_bps".into(), Some(capacity));
                } else if Subject::Group.has(row) {
                    row.values.insert("flows".into(), Some(2.0));
                    row.values.insert("goodput_bps".into(), Some(goodput));
                } else if row.labels.is_empty() {
                    row.values.insert("flow_goodput_bps".into(), Some(goodput / 2.0));
                }
            }
            beyond_capacity(std::iter::once(&*run))
        };
        let mut run = example::comparison().schemes[0].runs[0].clone();
        let groups = run.rows.iter().filter(|row| Subject::Group.has(row)).count() as f64;
        assert_eq!(told(&mut run, 4e6, 4e6 * groups), None);
        let said = told(&mut run, 4e6, 3.2e6 * groups).unwrap_or_default();
        assert!(said.starts_with("The goodput is up to 25 % above the capacity"), "{said}");
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What each group of each scheme's traffic got, as means over the runs.

use std::fmt::{self, Write};

use super::super::{Comparison, SchemeResult, number};
use crate::chart::{Escaped, scheme_class};
use crate::measure::{Distribution, Summary};

/// What one group got in one run.
struct Share {
    /// What people call it.
    name: String,
    transfers: f64,
    goodput_bps: f64,
    rtt: Distribution,
    repairs: f64,
    timeouts: f64,
    completions: Distribution,
}

/// What a column says of a share, and how its mean is shown.
struct Column {
    name: &'static str,
    unit: &'static str,
    of: fn(&Share) -> f64,
    shown: fn(f64) -> String,
}

fn digits(value: f64) -> String {
    number::significant(value, 4)
}

const COLUMNS: [Column; 8] = [
    Column { name: "transfers", unit: "per run", of: |share| share.transfers, shown: number::count },
    Column { name: "goodput", unit: "Mbit/s in all", of: |share| share.goodput_bps / 1e6, shown: digits },
    Column { name: "median RTT", unit: "ms", of: |share| share.rtt.p50 * 1e3, shown: digits },
    Column { name: "p99 RTT", unit: "ms", of: |share| share.rtt.p99 * 1e3, shown: digits },
    Column { name: "repairs", unit: "per run", of: |share| share.repairs, shown: number::count },
    Column { name: "timeouts", unit: "per run", of: |share| share.timeouts, shown: number::count },
    Column { name: "median completion", unit: "s", of: |share| share.completions.p50, shown: digits },
    Column { name: "p95 completion", unit: "s", of: |share| share.completions.p95, shown: digits },
];

/// A line of the table: a group's name and its cells.
type Line = (String, Vec<String>);

pub(super) fn write(page: &mut String, comparison: &Comparison) -> fmt::Result {
    let schemes: Vec<Vec<Line>> = comparison.schemes.iter().map(lines).collect();
    let told = |column: &usize| schemes.iter().flatten().any(|(_, cells)| cells[*column] != number::NONE);
    let columns: Vec<usize> = (0..COLUMNS.len()).filter(told).collect();
    page.push_str(
        "<section>\n<h2>Traffic</h2>\n<div class=\"scroll\"><table class=\"traffic\">\n<thead><tr>",
    );
    page.push_str("<th>scheme</th><th>group</th>");
    for Column { name, unit, .. } in columns.iter().map(|column| &COLUMNS[*column]) {
        write!(page, "<th>{name}<small>{unit}</small></th>")?;
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for (rank, (scheme, lines)) in comparison.schemes.iter().zip(&schemes).enumerate() {
        for (place, (group, cells)) in lines.iter().enumerate() {
            // The scheme's name stands at its first group only.
            let name = if place == 0 { format!("<i></i>{}", Escaped(&scheme.scheme)) } else { String::new() };
            write!(page, "<tr><th class=\"{}\">{name}</th><th>{}</th>", scheme_class(rank), Escaped(group))?;
            for column in &columns {
                write!(page, "<td>{}</td>", cells[*column])?;
            }
            page.push_str("</tr>\n");
        }
    }
    page.push_str("</tbody></table></div>\n</section>\n");
    Ok(())
}

/// The groups of a scheme, over those runs in which they have a number.
fn lines(scheme: &SchemeResult) -> Vec<Line> {
    let runs: Vec<Vec<Share>> = scheme.runs.iter().map(|run| shares(&run.summary)).collect();
    let groups = runs.iter().map(Vec::len).min().unwrap_or(0);
    let line = |group: usize| {
        let cell = |column: &Column| {
            let values: Vec<f64> =
                runs.iter().map(|run| (column.of)(&run[group])).filter(|value| !value.is_nan()).collect();
            (column.shown)(values.iter().sum::<f64>() / values.len() as f64)
        };
        (runs[0][group].name.clone(), COLUMNS.iter().map(cell).collect())
    };
    (0..groups).map(line).collect()
}

/// What each group and each web population got in a run.
fn shares(summary: &Summary) -> Vec<Share> {
    let groups = summary.groups.iter().map(|group| Share {
        name: format!("{} ({})", group.name, group.cc),
        transfers: group.goodput_bps.len() as f64,
        goodput_bps: group.goodput_bps.iter().sum(),
        rtt: group.rtt,
        repairs: group.repairs as f64,
        timeouts: group.timeouts as f64,
        completions: group.completions,
    });
    let web = summary.web.iter().map(|web| Share {
        name: format!("{} ({}, objects)", web.name, web.cc),
        transfers: web.completed as f64,
        goodput_bps: web.goodput_bps,
        rtt: web.rtt,
        repairs: web.repairs as f64,
        timeouts: web.timeouts as f64,
        completions: web.completions,
    });
    groups.chain(web).collect()
}

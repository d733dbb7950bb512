// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The section about trajectories and its charts.

use std::fmt::Write;

use kneepoint::chart::{Axis, Drawing, Line, Lines, Mark, lines, sheet};

use super::compare::{MEASURES, TOLERANCE};
use super::pair::STEP;
use super::{GROUP, PairedWindows};

const TEXT: &str = "\
One flow, one link, and one packet lost at each of the given times; the window every 100 ms, ours over ns-2's.
[`validation/trajectories.toml`](../validation/trajectories.toml) says who ran against whom and over which path, and
[`validation/ns2/trajectories.jsonl`](../validation/ns2/trajectories.jsonl) what ns-2 did. On the paths `idle` and
`brief` nothing ever waits and the round-trip time is constant; on `queue`, `delay` and `calm` what a window has beyond
the link's 360 packets waits, and no queue overflows. No flow begins with a slow start.

Compared are the window before each loss and once it is repaired, and the mean between losses, from the first loss on:
the worst is shown, and when it was. The distance is the area between the two lines over the area below ns-2's. What
hosts do while they repair is left out: it is not the controllers'. Windows of ns-2's Linux are whole packets, and its
hosts repair a round trip sooner or later than ours: one or two in a hundred at these windows. A wrong constant is
more: a decrease of 0.7 instead of 0.8 is an eighth.
";

/// The section.
pub fn section(rows: &[PairedWindows]) -> String {
    let mut page = format!("\n## {GROUP}. Window trajectories\n\n{TEXT}");
    let agree = rows.iter().filter(|row| !row.measured.iter().any(|measured| measured.differs())).count();
    let _ = write!(
        page,
        "\n{agree} of {} trajectories agree within {} % in everything.\n\n| path | ours | ns-2's |",
        rows.len(),
        100.0 * TOLERANCE
    );
    for measure in &MEASURES {
        let _ = write!(page, " {} |", measure.title);
    }
    let _ = writeln!(page, "\n|---|---|---|{}", "---|".repeat(MEASURES.len()));
    for row in rows {
        let _ = write!(page, "| {} | `{}` | {} |", row.pair.place, row.pair.ours, row.pair.theirs());
        for (measured, because) in row.measured.iter().zip(row.because) {
            let number = format!("{}{}", measured.difference(), measured.place());
            let _ = match (measured.differs(), because) {
                (false, _) => write!(page, " {number} |"),
                (true, Some(reason)) => {
                    write!(page, " **{number}** [{}](#reason-{}) |", reason + 1, reason + 1)
                }
                (true, None) => write!(page, " **{number}** (unexplained) |"),
            };
        }
        page.push('\n');
    }
    for place in places(rows) {
        let _ = write!(page, "\n![windows on the path {place}]({})\n", file(place));
    }
    page
}

fn places(rows: &[PairedWindows]) -> Vec<&str> {
    let mut places: Vec<&str> = rows.iter().map(|row| row.pair.place.as_str()).collect();
    places.dedup();
    places
}

fn file(place: &str) -> String {
    format!("validation-{GROUP}-{place}.svg")
}

/// A chart per path, with its file name.
pub fn figures(rows: &[PairedWindows]) -> Vec<(String, String)> {
    let figure = |place: &str| {
        let panels: Vec<Drawing> = rows.iter().filter(|row| row.pair.place == place).map(panel).collect();
        (file(place), sheet(&format!("Windows on the path {place}"), &panels, 2).standalone())
    };
    places(rows).into_iter().map(figure).collect()
}

/// Draws ns-2's curve below ours, and the times of loss.
fn panel(row: &PairedWindows) -> Drawing {
    let points = |windows: &[f64]| -> Vec<(f64, f64)> {
        windows.iter().enumerate().map(|(place, window)| ((place + 1) as f64 * STEP, *window)).collect()
    };
    lines(&Lines {
        title: format!("{} and ns-2's {}", row.pair.ours, row.pair.theirs()),
        x: Axis::linear("time, s").holding(0.0, row.pair.path.duration),
        y: Axis::linear("window, packets").holding(0.0, 0.0),
        series: vec![Line::exact("ns-2", points(&row.theirs)), Line::exact("ours", points(&row.ours))],
        marks: row.pair.path.losses.iter().map(|at| Mark::x(*at, "")).collect(),
        published: Vec::new(),
        measured: None,
    })
}

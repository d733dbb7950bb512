// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One chart per group: our queue and fairness against the other simulator's, one dot per point.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::table::MetricPairs;

/// Size of a panel and its margins, in pixels.
const SIDE: f64 = 260.0;
const ROOM: f64 = 44.0;

/// Colours of schemes: Okabe and Ito, distinguishable by colour-blind readers.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#808080", "#b8a000"];

/// Schemes in a line of the legend, and the height of one.
const ACROSS: usize = 4;
const LINE: f64 = 18.0;

/// Indices of the metrics drawn.
const PANELS: [(usize, &str); 2] = [(0, "queue / buffer"), (5, "Jain index")];

/// The chart of each group.
pub fn charts(rows: &[&MetricPairs]) -> BTreeMap<String, String> {
    let mut groups: BTreeMap<String, Vec<&MetricPairs>> = BTreeMap::new();
    for row in rows {
        groups.entry(row.group.clone()).or_default().push(row);
    }
    groups.into_iter().map(|(group, own)| (group, chart(&own))).collect()
}

fn chart(rows: &[&MetricPairs]) -> String {
    let mut schemes: Vec<&str> = rows.iter().map(|row| row.scheme.as_str()).collect();
    schemes.sort_unstable();
    schemes.dedup();
    let more_lines = (schemes.len().max(1) - 1) / ACROSS;
    let legend = SIDE + 2.0 * ROOM - 8.0;
    let (width, height) = (2.0 * (SIDE + ROOM) + 10.0, legend + 8.0 + LINE * more_lines as f64);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\" role=\"img\" aria-label=\"Ours against the other simulator's\">\n\
         <style>text{{fill:#333}}.axis{{stroke:#888;fill:none}}.band{{fill:#8882}}\
         @media(prefers-color-scheme:dark){{text{{fill:#ddd}}}}</style>\n"
    );
    for (place, (metric, title)) in PANELS.iter().enumerate() {
        panel(&mut svg, ROOM + place as f64 * (SIDE + ROOM), *metric, title, rows, &schemes);
    }
    for (place, scheme) in schemes.iter().enumerate() {
        let (x, y) = (ROOM + 150.0 * (place % ACROSS) as f64, legend + LINE * (place / ACROSS) as f64);
        let colour = COLOURS[place % COLOURS.len()];
        let _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"{:.1}\" r=\"4\" fill=\"{colour}\"/>", y - 4.0);
        let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{y}\">{scheme}</text>", x + 8.0);
    }
    svg + "</svg>\n"
}

fn panel(svg: &mut String, left: f64, metric: usize, title: &str, rows: &[&MetricPairs], schemes: &[&str]) {
    let (top, bottom) = (24.0, 24.0 + SIDE);
    // Both axes from 0 to 1.
    let at = |theirs: f64, ours: f64| (left + theirs.min(1.0) * SIDE, bottom - ours.min(1.0) * SIDE);
    let corner = |theirs, ours| {
        let (x, y) = at(theirs, ours);
        format!("{x:.1},{y:.1}")
    };
    let band = [corner(0.0, 0.0), corner(1.0 / 1.1, 1.0), corner(1.0, 1.0), corner(1.0, 0.9)].join(" ");
    let _ = writeln!(svg, "<polygon class=\"band\" points=\"{band}\"/>");
    let _ =
        writeln!(svg, "<rect class=\"axis\" x=\"{left}\" y=\"{top}\" width=\"{SIDE}\" height=\"{SIDE}\"/>");
    let _ = writeln!(
        svg,
        "<text x=\"{left}\" y=\"16\">{title}: ours up, the other simulator's across; band of 10 %</text>"
    );
    for tick in ["0", "0.5", "1"] {
        let value: f64 = tick.parse().unwrap_or_default();
        let ((x, _), (_, y)) = (at(value, 0.0), at(0.0, value));
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{tick}</text>",
            bottom + 14.0
        );
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{tick}</text>",
            left - 5.0,
            y + 4.0
        );
    }
    for row in rows {
        let pair = row.pairs[metric];
        if pair.ours.is_nan() || pair.theirs.is_nan() {
            continue;
        }
        let colour = schemes.iter().position(|scheme| *scheme == row.scheme).unwrap_or(0) % COLOURS.len();
        let (x, y) = at(pair.theirs, pair.ours);
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{}\" fill-opacity=\"0.75\"><title>{} {}: {:.3}, the other {:.3}</title></circle>",
            COLOURS[colour], row.name, row.place, pair.ours, pair.theirs
        );
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Steps as CSV.

use super::{COLUMNS, Signal, Step, USUAL};

/// The trace as CSV.
pub fn write(steps: &[Step]) -> String {
    let more =
        steps.iter().flat_map(|step| step.signal.cells()).any(|(name, _)| !COLUMNS[..USUAL].contains(&name));
    let columns = &COLUMNS[..if more { COLUMNS.len() } else { USUAL }];
    let mut text = columns.join(",") + "\n";
    for step in steps {
        let cells = step.signal.cells();
        text += &micros(step.at.0);
        for column in &columns[1..] {
            text.push(',');
            text += cells.iter().find(|(name, _)| name == column).map_or("", |(_, cell)| cell);
        }
        text.push('\n');
    }
    text
}

impl Signal {
    /// The contents of its columns.
    fn cells(&self) -> Vec<(&'static str, String)> {
        let flag = |set: bool| u8::from(set).to_string();
        let kind = |name: &str| ("kind", name.to_string());
        let packets = |count: f64| ("packets", count.to_string());
        match *self {
            Signal::Open { window } => vec![kind("open"), packets(window)],
            Signal::Ack(heard) => {
                let mut cells = vec![
                    kind("ack"),
                    ("acked", heard.acked.to_string()),
                    ("credit", heard.credit.to_string()),
                    ("una", heard.una.to_string()),
                    ("next", heard.next.to_string()),
                    ("in_flight", heard.in_flight.to_string()),
                    ("recovering", flag(heard.recovering)),
                    ("draw", heard.draw.to_string()),
                ];
                cells.extend(heard.rtt.map(|rtt| ("rtt_us", micros(rtt.0))));
                let arrived =
                    (heard.delivered != heard.una).then(|| ("delivered", heard.delivered.to_string()));
                cells.extend(arrived);
                cells.extend((heard.resent > 0).then(|| ("resent", heard.resent.to_string())));
                cells.extend(heard.limited.then(|| ("limited", flag(true))));
                cells
            }
            Signal::Loss { flight, una, next } => {
                vec![kind("loss"), packets(flight), ("una", una.to_string()), ("next", next.to_string())]
            }
            Signal::Timeout { flight, next, reported } => {
                let (next, reported) = (("next", next.to_string()), ("reported", flag(reported)));
                vec![kind("timeout"), packets(flight), next, reported]
            }
            Signal::Mark { flight, next } => vec![kind("mark"), packets(flight), ("next", next.to_string())],
            Signal::Resume { idle } => vec![kind("resume"), ("idle_us", micros(idle.0))],
            Signal::Resize { window, threshold } => {
                vec![kind("resize"), packets(window), ("threshold", threshold.to_string())]
            }
            Signal::Advice { rate } => vec![kind("advice"), ("rate", rate.to_string())],
        }
    }
}

pub(super) fn micros(nanos: u64) -> String {
    let text = format!("{}.{:03}", nanos / 1000, nanos % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

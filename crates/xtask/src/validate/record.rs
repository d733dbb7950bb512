// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Recorded results of ns-2 and ns-3, grouped into points.
//!
//! A row is one run; rows that differ only in the seed form a point.

use std::collections::BTreeMap;

use serde_json::Value;

use super::figures::{Figures, Location};
use crate::setting::Setup;

/// A point: rows that differ only in their seed.
#[derive(Clone, Debug)]
pub struct Point {
    /// Letter of its sweep.
    pub group: String,
    /// Label of the varied parameter in tables: `150 Mbit/s`.
    pub label: String,
    /// Settings of the runs.
    pub setup: Setup,
    /// Results of the other simulator, one per seed.
    pub measured: Vec<BTreeMap<Location, Figures>>,
}

impl Point {
    /// Name in the explanations: `A/150mbit/sack-droptail`.
    pub fn name(&self) -> String {
        format!("{}/{}/{}", self.group, self.label, self.setup.text("scheme", ""))
    }
}

/// Parses rows, one JSON object per line.
pub fn read(text: &str) -> Result<Vec<Point>, String> {
    let mut points: Vec<Point> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let wrong = |what: &str| format!("line {}: {what}", number + 1);
        let row: Value = serde_json::from_str(line).map_err(|error| wrong(&error.to_string()))?;
        let group = row["group"].as_str().ok_or_else(|| wrong("no group"))?.to_string();
        let script = row["script"].as_str().ok_or_else(|| wrong("no script"))?;
        let mut args = row["args"].as_object().ok_or_else(|| wrong("no args"))?.clone();
        args.shift_remove("seed");
        let setup = Setup::new(script, args);
        let measured = Figures::recorded(&row, &setup);
        match points.iter_mut().find(|point| point.group == group && point.setup == setup) {
            Some(point) => point.measured.push(measured),
            None => {
                let label = label(&group, &setup);
                points.push(Point { group, label, setup, measured: vec![measured] });
            }
        }
    }
    Ok(points)
}

/// Short description of the parameter varied by a sweep.
fn label(group: &str, setup: &Setup) -> String {
    let tag = setup.text("tag", "");
    let millis = |key, default| (setup.number(key, default) * 1e3).round();
    match group {
        "A" => format!("{}mbit", setup.number("bw", 0.0) / 1e6),
        "B" => format!("{}ms", millis("rtt", 0.06)),
        "C" => format!("{} flows", setup.count("nflows", 0)),
        "D" => format!("{} sessions, {} s", setup.count("nweb", 0), setup.number("webpage", 1.0)),
        "E" => {
            let stamps = if setup.count("ts", 0) == 1 { "" } else { ", no timestamps" };
            format!("{}pkt, {} s{stamps}", setup.count("buffer", 0), setup.number("webpage", 1.0))
        }
        "F" => format!("{}pkt", setup.count("buffer", 563)),
        _ if tag.is_empty() => format!("{} flows", setup.count("nflows", 0)),
        _ => tag.into(),
    }
}

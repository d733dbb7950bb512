// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Short live runs of ns-2 and ns-3, with settings that the recorded runs lack.

use std::path::Path;

use serde_json::{Value, json};

use super::figures::Figures;
use super::record::Point;
use crate::setting::Setup;
use crate::{ns2, ns3};

/// Group of these points.
pub const GROUP: &str = "live";

/// Seeds of the other simulator per point.
const SEEDS: u64 = 2;

/// Runs the requested ones of a handful of points; points whose simulator is not installed are left out, with a note.
pub fn points(python: &Path, wanted: impl Fn(&Point) -> bool) -> Result<Vec<Point>, String> {
    let mut points: Vec<Point> = settings().into_iter().map(point).filter(wanted).collect();
    if !ns2::installed() {
        eprintln!("{}", ns2::missing("NO NS-2 RUNS LIVE"));
        points.retain(|point| point.setup.ns3());
    }
    if points.iter().any(|point| point.setup.ns3()) && !ns3::installed(python) {
        eprintln!("{}", ns3::missing(python));
        points.retain(|point| !point.setup.ns3());
    }
    eprintln!("{} points of ns-2 and ns-3 run first, for a minute or two", points.len());
    for point in &mut points {
        let run = |seed| {
            let row = match point.setup.ns3() {
                true => ns3::run(python, &point.setup, seed)?,
                false => ns2::run(&point.setup, seed)?.row,
            };
            Ok(Figures::recorded(&row, &point.setup))
        };
        point.measured = (1..=SEEDS).map(run).collect::<Result<_, String>>()?;
    }
    Ok(points)
}

/// The points, a minute or two of simulated time each.
fn settings() -> Vec<(&'static str, &'static str, Value)> {
    let dumbbell = |scheme: &str, more: Value| {
        let mut args = json!({ "scheme": scheme, "t0": 30, "t1": 120, "startspan": 10 });
        merge(&mut args, &more);
        ("", "dumbbell.tcl", args)
    };
    let narrow = json!({ "bw": 10e6, "nflows": 15, "rtt": 0.15 });
    let small = json!({ "bw": 20e6, "nflows": 10, "rtt": 0.04 });
    let bulk = |scheme: &str| {
        let mut args = json!({ "scheme": scheme, "t0": 30, "t1": 120, "startspan": 10 });
        merge(&mut args, &narrow);
        ("ns-3", "dumbbell.py", args)
    };
    let named = |label, (_, script, args)| (label, script, args);
    vec![
        named("20mbit", dumbbell("sack-droptail", small.clone())),
        named("20mbit", dumbbell("sack-redecn", small.clone())),
        named("20mbit", dumbbell("newreno-droptail", small.clone())),
        named("20mbit", dumbbell("vegas-droptail", small)),
        named("5mbit", dumbbell("sack-red", json!({ "bw": 5e6, "nflows": 4, "rtt": 0.1 }))),
        named("20mbit", dumbbell("sack-piecn", json!({ "bw": 20e6, "nflows": 10, "rtt": 0.04, "qref": 30 }))),
        named("half a buffer", dumbbell("sack-droptail", json!({ "bw": 30e6, "nflows": 8, "buffer": 112 }))),
        named("15 flows", dumbbell("sack-pi", narrow.clone())),
        named("15 flows", dumbbell("sack-remecn", narrow.clone())),
        named("15 flows", dumbbell("sack-rem", narrow.clone())),
        named("15 flows", dumbbell("sack-avqecn", narrow.clone())),
        named("15 flows", dumbbell("sack-avq", narrow.clone())),
        named("15 flows", dumbbell("sack-rio", narrow.clone())),
        bulk("newreno-fifo"),
        bulk("newreno-codel"),
        bulk("newreno-fqcodel"),
        bulk("newreno-pie"),
        named("20 sessions", dumbbell("sack-droptail", json!({ "bw": 20e6, "nflows": 5, "nweb": 20 }))),
    ]
}

fn merge(args: &mut Value, more: &Value) {
    for (key, value) in more.as_object().into_iter().flatten() {
        args[key] = value.clone();
    }
}

fn point((label, script, args): (&str, &str, Value)) -> Point {
    let setup = Setup::new(script, args.as_object().cloned().unwrap_or_default());
    Point { group: GROUP.into(), label: label.into(), setup, measured: vec![] }
}

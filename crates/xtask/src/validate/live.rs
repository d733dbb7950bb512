// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Short live runs of ns-2, with settings that the recorded runs lack.

use serde_json::{Value, json};

use super::figures::Figures;
use super::record::Point;
use crate::ns2;
use crate::setting::Setup;

/// Group of these points.
pub const GROUP: &str = "live";

/// Seeds of ns-2 per point.
const SEEDS: u64 = 2;

/// Runs ns-2 for a handful of points; prints a note and runs none if it is not installed.
pub fn points() -> Result<Vec<Point>, String> {
    if !ns2::installed() {
        eprintln!("{}", ns2::missing("NOTHING RUNS LIVE"));
        return Ok(Vec::new());
    }
    eprintln!("ns-2 runs first, for a minute or two");
    settings().into_iter().map(|(label, script, args)| point(label, script, &args)).collect()
}

/// The points, a minute or two of simulated time each.
fn settings() -> Vec<(&'static str, &'static str, Value)> {
    let dumbbell = |scheme: &str, more: Value| {
        let mut args = json!({ "scheme": scheme, "t0": 30, "t1": 120, "startspan": 10 });
        merge(&mut args, &more);
        ("", "dumbbell.tcl", args)
    };
    let small = json!({ "bw": 20e6, "nflows": 10, "rtt": 0.04 });
    let named = |label, (_, script, args)| (label, script, args);
    vec![
        named("20mbit", dumbbell("sack-droptail", small.clone())),
        named("20mbit", dumbbell("sack-redecn", small.clone())),
        named("20mbit", dumbbell("newreno-droptail", small.clone())),
        named("20mbit", dumbbell("vegas-droptail", small)),
        named("5mbit", dumbbell("sack-red", json!({ "bw": 5e6, "nflows": 4, "rtt": 0.1 }))),
        named("20mbit", dumbbell("sack-piecn", json!({ "bw": 20e6, "nflows": 10, "rtt": 0.04, "qref": 30 }))),
        named("half a buffer", dumbbell("sack-droptail", json!({ "bw": 30e6, "nflows": 8, "buffer": 112 }))),
        named("20 sessions", dumbbell("sack-droptail", json!({ "bw": 20e6, "nflows": 5, "nweb": 20 }))),
    ]
}

fn merge(args: &mut Value, more: &Value) {
    for (key, value) in more.as_object().into_iter().flatten() {
        args[key] = value.clone();
    }
}

fn point(label: &str, script: &str, args: &Value) -> Result<Point, String> {
    let setup = Setup::new(script, args.as_object().cloned().unwrap_or_default());
    let run = |seed| ns2::run(&setup, seed).map(|run| Figures::recorded(&run.row, &setup));
    let measured = (1..=SEEDS).map(run).collect::<Result<_, _>>()?;
    Ok(Point { group: GROUP.into(), label: label.into(), setup, measured })
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares our scenarios with results of ns-2 and ns-3.
//!
//! ```text
//! results.jsonl ─record→ points ─setting→ scenarios ─runs→ summaries ─figures→ table ─page→ docs/validation.md
//!                                                        explanations.toml ─────╯
//! ```
//!
//! Windows over time are compared separately: [`trajectory`].
//!
//! A difference without an explanation makes the task fail.

mod chart;
mod compare;
mod figures;
mod live;
mod page;
mod record;
mod runs;
mod table;
mod trajectory;

use std::path::{Path, PathBuf};

use crate::explanations::Explanations;
use clap::Args;

use crate::setting;
use compare::METRICS;

use record::Point;
use table::MetricPairs;

const RESULTS: [&str; 3] = [
    include_str!("../../../../validation/ns2/results.jsonl"),
    include_str!("../../../../validation/ns2/pert.jsonl"),
    include_str!("../../../../validation/ns3/results.jsonl"),
];
const FILE: &str = "validation/explanations.toml";
const EXPLANATIONS: &str = include_str!("../../../../validation/explanations.toml");

/// Points of a quick validation: one of each kind, all short.
const QUICK: [&str; 7] = [
    "A/10mbit/sack-droptail",
    "A/10mbit/sack-redecn",
    "A/10mbit/vegas-droptail",
    "A/50mbit/sack-droptail",
    "E/225pkt, 15 s/sack-droptail",
    "H/kotla_tableIV_red5_15/sack-red",
    "C/400 flows/sack-droptail",
];

/// Arguments of `xtask validate`.
#[derive(Args)]
pub struct Arguments {
    /// Run a few points with one seed, in less than a minute; write no page.
    #[arg(long)]
    quick: bool,
    /// Also run ns-2 and ns-3 live, with settings that were not recorded
    #[arg(long)]
    live: bool,
    /// Python with the package ns3
    #[arg(long, value_name = "PATH", default_value = "python3")]
    ns3_python: PathBuf,
    /// Only run and record ns-2's window trajectories
    #[arg(long)]
    record: bool,
    /// Run only points whose name contains this; write no page.
    #[arg(long)]
    only: Option<String>,
    /// Seeds for each point.
    #[arg(long, default_value_t = 3)]
    seeds: u64,
    /// Parallel runs; all processors by default
    #[arg(long)]
    jobs: Option<usize>,
    /// Print our scenarios and exit
    #[arg(long)]
    scenarios: bool,
}

/// Validates; returns whether every difference is explained.
pub fn run(arguments: &Arguments) -> Result<bool, String> {
    let explanations = Explanations::read(FILE, EXPLANATIONS)?;
    if arguments.record {
        return trajectory::record();
    }
    let points = points(arguments)?;
    if arguments.scenarios {
        for point in &points {
            println!("{}\n", setting::scenario(&point.name(), &point.setup, arguments.seeds));
        }
        for scenario in trajectory::scenarios(arguments.only.as_deref())? {
            println!("{scenario}");
        }
        return Ok(true);
    }
    let seeds = if arguments.quick { 1 } else { arguments.seeds };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(arguments.jobs.unwrap_or(0));
    let pool = pool.build().map_err(|error| error.to_string())?;
    let only = arguments.only.as_deref();
    let trajectories = pool.install(|| trajectory::run(only, arguments.live, &explanations))?;
    if points.is_empty() && trajectories.is_empty() {
        return Err("no point matches; --scenarios lists all".into());
    }
    trajectory::print(&trajectories);
    let measured = pool.install(|| runs::run(&points, seeds))?;
    let rows = table::rows(&points, &measured, &explanations);
    print(&rows);
    if !arguments.quick && arguments.only.is_none() {
        let recorded: Vec<&MetricPairs> = rows.iter().filter(|row| row.group != live::GROUP).collect();
        write(&recorded, &trajectories, &explanations, seeds)?;
        warn_of_stale(&recorded, &trajectories, &explanations);
    }
    let explained = [report(&rows), trajectory::report(&trajectories)] == [true; 2];
    if !explained {
        println!("explain them in {}; do not tune", FILE);
    }
    Ok(explained)
}

fn points(arguments: &Arguments) -> Result<Vec<Point>, String> {
    let mut points = Vec::new();
    for results in RESULTS {
        points.extend(record::read(results)?);
    }
    let wanted = |point: &Point| {
        arguments.only.as_ref().is_none_or(|only| point.name().contains(only))
            && (!arguments.quick || QUICK.contains(&point.name().as_str()))
    };
    points.retain(wanted);
    if arguments.live {
        points.extend(live::points(&arguments.ns3_python, wanted)?);
    }
    Ok(points)
}

/// Prints a line per place.
fn print(rows: &[MetricPairs]) {
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    for row in rows {
        print!("{:width$}  {:10}", row.name, row.place);
        for ((metric, pair), because) in METRICS.iter().zip(&row.pairs).zip(row.because) {
            let mark = match (pair.verdict, because) {
                (compare::Agreement::Differs, Some(reason)) => format!("[{}]", reason + 1),
                (compare::Agreement::Differs, None) => "!".into(),
                _ => String::new(),
            };
            if pair.verdict != compare::Agreement::Silent {
                print!("  {} {:.3e} {}{mark}", metric.key, pair.ours, pair.difference());
            }
        }
        println!();
    }
}

fn write(
    rows: &[&MetricPairs],
    trajectories: &[trajectory::PairedWindows],
    explanations: &Explanations,
    seeds: u64,
) -> Result<(), String> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let put = |name: String, text: String| {
        std::fs::write(docs.join(&name), text).map_err(|error| format!("docs/{name}: {error}"))
    };
    std::fs::create_dir_all(&docs).map_err(|error| format!("docs: {error}"))?;
    put("validation.md".into(), page::page(rows, trajectories, explanations, seeds))?;
    put("validation-in-full.md".into(), page::whole(rows))?;
    for (group, drawing) in chart::charts(rows) {
        put(format!("validation-{group}.svg"), drawing)?;
    }
    for (file, drawing) in trajectory::figures(trajectories) {
        put(file, drawing)?;
    }
    println!("\nwrote docs/validation.md and docs/validation-in-full.md");
    Ok(())
}

/// Reports explanations of differences that no longer exist.
fn warn_of_stale(
    rows: &[&MetricPairs],
    trajectories: &[trajectory::PairedWindows],
    explanations: &Explanations,
) {
    for number in 0..explanations.len() {
        let used = rows.iter().any(|row| row.because.contains(&Some(number)))
            || trajectories.iter().any(|row| row.because.contains(&Some(number)));
        if !used {
            println!("{}: {} explains no difference", FILE, explanations.patterns(number));
        }
    }
}

/// Reports unexplained differences; returns whether there are none.
fn report(rows: &[MetricPairs]) -> bool {
    for (place, metric) in METRICS.iter().enumerate() {
        let (agree, all) = table::agreement(rows.iter(), place);
        println!("{:22} {agree:3} of {all:3} within tolerance", metric.title);
    }
    let mut explained = true;
    for row in rows {
        for (metric, pair) in row.unexplained() {
            explained = false;
            println!(
                "unexplained: {} at {}: {metric} is {:.4e}, ns-2's {:.4e} ({})",
                row.name,
                row.place,
                pair.ours,
                pair.theirs,
                pair.difference()
            );
        }
    }
    explained
}

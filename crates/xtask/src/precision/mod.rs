// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `xtask precision`: intervals and cautions of random scenarios compared with runs of fifty times the length.
//!
//! ```text
//! error      of a metric: (mean of 30 short runs − mean of the long ones) / the latter, 1 packet or 1 ms at least
//! too short  an error of more than 10 %, beyond twice its standard error
//! long       every error within 5 %, by seeds that nothing else uses
//! coverage   the part of 95 % intervals of ten other seeds that hold the mean of the judging ones, or of the long runs, of long scenarios
//! cautions   of three of those seeds, as many as `knee compare` runs
//! right      a drift of a metric whose mean over 30 short runs differs from that of the long ones by 2 % at least, beyond twice its standard error
//! ```
//!
//! The rest is neither: by this measure it depends on the seeds on which side it falls.

mod draw;

use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use indicatif::ProgressBar;
use kneepoint::measure::Meter;
use kneepoint::study::caution::{self, Case, Caution, Doubt};
use kneepoint::study::{Packets, Record};
use kneepoint::table::{Estimate, Row, value};
use kneepoint::units::{Interval, Span};
use kneepoint::{run, scenario};
use rayon::prelude::*;

/// Arguments of `xtask precision`.
#[derive(Args)]
pub struct Arguments {
    /// Scenarios that are long enough, at least
    #[arg(long, default_value_t = 500)]
    long: usize,
    /// Scenarios that are too short, at least
    #[arg(long, default_value_t = 200)]
    short: usize,
    /// The first scenario
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Print each scenario
    #[arg(long)]
    each: bool,
}

/// The metrics that are judged, and the least number by which an error is divided.
const JUDGED: [(&str, f64); 4] = [
    ("queue_mean_packets", 1.0),
    ("queueing_delay_mean_ms", 1.0),
    ("utilization", 0.01),
    ("flow_goodput_bps", 1.0),
];
/// The length of a long run in windows of the short one.
const TIMES: u64 = 50;
/// Seeds of the long runs, of the runs that judge, and of those that are judged.
const TRUTH: [u64; 2] = [1001, 1002];
const JUDGES: std::ops::Range<u64> = 101..131;
const OURS: std::ops::Range<u64> = 1..11;
/// A smaller error is no reason for a caution, as in the laboratory.
const WORTH: f64 = 0.02;
/// Seeds that cautions are about.
const FEW: usize = 3;

/// The truth about a scenario, from its long runs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Length {
    Short,
    Long,
    Neither,
}

/// A scenario that was judged.
struct Judged {
    place: u64,
    length: Length,
    /// The error of the metric that is farthest off.
    error: f64,
    /// By metric: whether the interval of ten seeds holds the mean of thirty others, and that of the long runs.
    held: Vec<[bool; 2]>,
    cautions: Vec<Caution>,
    /// Whether a metric that drifts, if one does, is wrong.
    right: bool,
    about: String,
}

/// Draws scenarios until there are enough of both kinds, and prints the rates.
pub fn run(arguments: &Arguments) -> Result<bool, String> {
    let bar = ProgressBar::new((arguments.long + arguments.short) as u64);
    let (long, short) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let all = Mutex::new(Vec::new());
    // In blocks, so that the same scenarios are drawn in any order of runs.
    for block in 0.. {
        if long.load(Ordering::Relaxed) >= arguments.long && short.load(Ordering::Relaxed) >= arguments.short
        {
            break;
        }
        let from = arguments.from + 50 * block;
        (from..from + 50).into_par_iter().try_for_each(|place| -> Result<(), String> {
            let judged = judge(place)?;
            match judged.length {
                Length::Long => long.fetch_add(1, Ordering::Relaxed),
                Length::Short => short.fetch_add(1, Ordering::Relaxed),
                Length::Neither => 0,
            };
            bar.set_position(
                (long.load(Ordering::Relaxed).min(arguments.long)
                    + short.load(Ordering::Relaxed).min(arguments.short)) as u64,
            );
            all.lock().map_err(|error| error.to_string())?.push(judged);
            Ok(())
        })?;
    }
    bar.finish_and_clear();
    let mut all = all.into_inner().map_err(|error| error.to_string())?;
    all.sort_by_key(|judged| judged.place);
    if arguments.each {
        for Judged { place, length, error, cautions, right, about, .. } in &all {
            let kinds: Vec<String> =
                cautions.iter().map(|one| format!("{} {} {:.3}", one.kind, one.subject, one.found)).collect();
            println!("{place} {length:?} {error:.3} {right} {kinds:?} {about}");
        }
    }
    print!("{}", table(&all));
    Ok(true)
}

/// The rates as a table of the page docs/precision.md.
fn table(all: &[Judged]) -> String {
    let mut text = "| scenarios | number | with a caution | and without spurious ones | rightly unsteady | unsteady | brief | epochs | tail | percentile | seeds | spurious |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n".to_string();
    for (name, length) in
        [("long enough", Length::Long), ("too short", Length::Short), ("neither", Length::Neither)]
    {
        let of: Vec<&Judged> = all.iter().filter(|judged| judged.length == length).collect();
        let share = |count: usize| format!("{:.1} %", 100.0 * count as f64 / of.len().max(1) as f64);
        let any = of.iter().filter(|judged| !judged.cautions.is_empty()).count();
        let short = |one: &Caution| one.kind != Doubt::Spurious.name();
        let window = of.iter().filter(|judged| judged.cautions.iter().any(short)).count();
        let right = of.iter().filter(|judged| judged.right).count();
        let kind = |doubt: &Doubt| {
            share(
                of.iter().filter(|judged| judged.cautions.iter().any(|one| one.kind == doubt.name())).count(),
            )
        };
        let kinds = Doubt::ALL.iter().map(kind).collect::<Vec<_>>().join(" | ");
        // Writing to a string cannot fail.
        let [any, window, right] = [any, window, right].map(share);
        let _ = writeln!(text, "| {name} | {} | {any} | {window} | {right} | {kinds} |", of.len());
    }
    let _ = writeln!(
        text,
        "\n| metric, of scenarios that are long enough | intervals | hold the mean of thirty other seeds | hold that of the long runs |\n|---|---:|---:|---:|"
    );
    for (place, (key, _)) in JUDGED.iter().enumerate() {
        let held: Vec<[bool; 2]> =
            all.iter().filter(|one| one.length == Length::Long).map(|one| one.held[place]).collect();
        let share = |which: usize| {
            100.0 * held.iter().filter(|held| held[which]).count() as f64 / held.len().max(1) as f64
        };
        let _ = writeln!(text, "| `{key}` | {} | {:.1} % | {:.1} % |", held.len(), share(0), share(1));
    }
    text
}

/// Fairness over a window is another quantity than over fifty windows, so it is not judged.
fn without_fairness(record: &mut Record) {
    let Some(parts) = &mut record.parts else { return };
    for column in parts.columns_of("jain_index") {
        parts.rows.iter_mut().for_each(|row| row[column] = 1.0);
    }
}

/// Runs a scenario short and long.
fn judge(place: u64) -> Result<Judged, String> {
    let text = draw::scenario(place);
    let mut plan = scenario::parse(&text).map_err(|faults| format!("{faults:?}\n{text}"))?;
    let valid = plan.cases.remove(0).valid;
    let record = |seed: u64| {
        let packets = Packets { shown: true, ..Packets::from(valid.clone()) };
        let (seen, outcome) = packets.run(seed);
        Record::simulated(seed, 0.0, outcome, seen)
    };
    let mut ours: Vec<Record> = OURS.map(record).collect();
    ours.iter_mut().for_each(without_fairness);
    let judges: Vec<Record> = JUDGES.map(record).collect();
    let schedule = valid.schedule();
    let (begins, window) = (schedule.measure.to, schedule.measure.span());
    let mut builder = valid.clone().into_builder();
    builder.schedule.measure = Interval { from: begins, to: begins + Span(TIMES * window.0) };
    builder.schedule.duration = builder.schedule.measure.to;
    let longer = builder.build().map_err(|invalid| invalid.message)?;
    let truth: Vec<_> =
        TRUTH.map(|seed| run::run(&longer, seed, Meter::new(&longer, seed)).0.finish()).into();
    let (mut short, mut far, mut error, mut held) = (false, false, 0.0_f64, Vec::new());
    for (key, least) in JUDGED {
        let numbers = |records: &[Record]| -> Vec<f64> {
            records.iter().map(|one| value(&one.rows, key, &[])).collect()
        };
        let mean = truth.iter().map(|rows| value(rows, key, &[])).sum::<f64>() / truth.len() as f64;
        let (judged, own) = (Estimate::of(&numbers(&judges)), Estimate::of(&numbers(&ours)));
        let scale = mean.abs().max(least);
        let off = (judged.mean - mean).abs() / scale;
        let noise = judged.half_width.unwrap_or(f64::INFINITY) / scale;
        error = error.max(off);
        short |= off > 0.1 && off > noise;
        far |= off > 0.05;
        let (low, high) = own.interval();
        // The mean of the others has noise of its own.
        let both = judged.half_width.zip(own.half_width).map_or(f64::NAN, |(one, two)| one.hypot(two));
        held.push([(own.mean - judged.mean).abs() <= both, low <= mean && mean <= high]);
    }
    let length = match (short, far) {
        (true, _) => Length::Short,
        (false, false) => Length::Long,
        (false, true) => Length::Neither,
    };
    let case = Case { name: "the scenario", valid: &valid, runs: &ours[..FEW] };
    let cautions = caution::of(&[case]);
    let drifts = |one: &&Caution| one.kind == Doubt::Unsteady.name();
    let right = cautions.iter().find(drifts).is_some_and(|one| is_off(&one.subject, &judges, &truth));
    Ok(Judged { place, length, error, held, cautions, right, about: draw::about(&text) })
}

/// Whether the mean of a metric, as a caution names it, over short runs is not that of the long ones.
fn is_off(subject: &str, judges: &[Record], truth: &[Vec<Row>]) -> bool {
    let key = subject.split('[').next().unwrap_or_default();
    // A link's throughput is a part of its capacity.
    let key = if key == "throughput_bps" { "utilization" } else { key };
    let short: Vec<f64> = judges.iter().map(|one| value(&one.rows, key, &[])).collect();
    let judged = Estimate::of(&short);
    let mean = truth.iter().map(|rows| value(rows, key, &[])).sum::<f64>() / truth.len() as f64;
    let off = (judged.mean - mean).abs();
    off > WORTH * mean.abs() && off > judged.half_width.unwrap_or(f64::INFINITY)
}

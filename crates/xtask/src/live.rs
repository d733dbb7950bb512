// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The live experiments on one machine, kept in `validation/live` and shown in docs/live.md.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use kneepoint::table::number::signed;
use serde_json::Value;

const PAGE: &str = "docs/live.md";
/// The order of the page.
const EXPERIMENTS: [&str; 8] =
    ["controllers", "mixes", "paths", "srtt", "cpu", "web", "ratcp-losses", "ratcp-steps"];
/// The metrics of the page, with the divisors of their numbers.
const SHOWN: [(&str, &str, f64); 5] = [
    ("queue_mean_packets", "queue, packets", 1.0),
    ("goodput_bps", "Mbit/s", 1e6),
    ("retransmissions", "retransmitted", 1.0),
    ("completion_time_mean_ms", "completion, ms", 1.0),
    ("completions", "completed", 1.0),
];

/// The kind of time of the hosts, by which reports are kept apart.
#[derive(Clone, Copy)]
enum Clock {
    /// The machine's.
    Real,
    /// A kernel's own.
    Virtual,
}

impl Clock {
    /// In the order of the page.
    const ALL: [Clock; 2] = [Clock::Real, Clock::Virtual];

    /// The clock of a new report.
    fn of(report: &Value) -> Result<Clock, String> {
        match report["virtual_time"].as_bool() {
            Some(false) => Ok(Clock::Real),
            Some(true) => Ok(Clock::Virtual),
            None => Err("no `virtual_time`: make the report with this version of `knee live`".into()),
        }
    }

    /// The folder of its reports.
    const fn folder(self) -> &'static str {
        match self {
            Clock::Real => "validation/live",
            Clock::Virtual => "validation/live/virtual",
        }
    }
}

/// Arguments of `xtask live`.
#[derive(Args)]
pub struct Arguments {
    /// Reports of `knee live --json`, to be kept under their names.
    reports: Vec<PathBuf>,
}

/// Keeps reports without their single runs, and writes the page.
pub fn run(arguments: &Arguments) -> Result<(), String> {
    for report in &arguments.reports {
        let name = report.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let kept = without_runs(read(report)?);
        let text = serde_json::to_string_pretty(&kept).map_err(|error| error.to_string())? + "\n";
        let clock = Clock::of(&kept).map_err(|error| format!("{}: {error}", report.display()))?;
        put(&root(clock.folder()).join(format!("{name}.json")), &text)?;
    }
    let page = root(PAGE);
    let old = fs::read_to_string(&page).map_err(|error| format!("{PAGE}: {error}"))?;
    put(&page, &replace(&old, &sections()?)?)
}

/// A report of which the means remain.
fn without_runs(mut report: Value) -> Value {
    for case in report["cases"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        case.remove("measured");
        case.remove("predicted");
    }
    report
}

fn sections() -> Result<String, String> {
    let mut text = String::new();
    for name in EXPERIMENTS {
        for clock in Clock::ALL {
            let path = root(clock.folder()).join(format!("{name}.json"));
            if path.exists() {
                section(&mut text, name, clock, &read(&path)?);
            }
        }
    }
    Ok(text)
}

/// An experiment: its claims, and a line for each case.
fn section(text: &mut String, name: &str, clock: Clock, report: &Value) {
    let cases: &[Value] = report["cases"].as_array().map_or(&[], Vec::as_slice);
    let repetitions = || cases.iter().flat_map(|case| case["repetitions"].as_array().into_iter().flatten());
    let spoiled = repetitions().filter(|one| !one["spoiled"].is_null()).count();
    let late = repetitions().filter_map(|one| one["late_us"][1].as_f64()).fold(0.0, f64::max);
    let runs = repetitions().count();
    let text_of = |key: &str| report[key].as_str().unwrap_or_default();
    let (heading, about) = match clock {
        Clock::Real => (
            format!("### `knee live live.{name}`: {}", text_of("title")),
            format!(
                "{runs} runs of the kernel, {spoiled} of them spoiled and left out; at most {late:.0} µs late in 99 of 100 packets"
            ),
        ),
        Clock::Virtual => (
            format!("#### The same in virtual time: `knee live live.{name} --on uml`"),
            format!("{}; {runs} runs, {spoiled} of them spoiled and left out", text_of("hosts")),
        ),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\n{heading}\n\n{about}.\n");
    for note in report["manifest"]["notes"].as_array().into_iter().flatten() {
        let _ = writeln!(text, "Note: {}.\n", plain(note));
    }
    for claim in report["claims"].as_array().into_iter().flatten() {
        let side = |side: &str| {
            let noisy = if claim[side]["certain"] == true { "" } else { " (within the noise)" };
            format!("{}{noisy}, {}", plain(&claim[side]["verdict"]), plain(&claim[side]["ours"]))
        };
        let _ = writeln!(
            text,
            "* **{}** {} Kernel: {}. Simulator: {}.{}",
            plain(&claim["claim"]),
            plain(&claim["text"]),
            side("kernel"),
            side("simulator"),
            claim["reason"].as_str().map_or(String::new(), |reason| format!(" *{reason}*")),
        );
    }
    let keys = columns(cases);
    let names: Vec<String> = keys.iter().map(|(of, (_, unit, _))| format!("{of}: {unit}")).collect();
    let _ = writeln!(text, "\n| case, kernel / simulator | {} |", names.join(" | "));
    let _ = writeln!(text, "| --- |{}", " ---: |".repeat(keys.len()));
    for case in cases {
        let cells: Vec<String> = keys.iter().map(|key| cell(case, key)).collect();
        let _ = writeln!(text, "| {} | {} |", plain(&case["case"]), cells.join(" | "));
    }
    processor(text, cases);
}

/// The links and groups with the metrics that some case has of them.
fn columns(cases: &[Value]) -> Vec<(String, (&'static str, &'static str, f64))> {
    let mut keys = Vec::new();
    for pair in cases.iter().flat_map(|case| case["metrics"].as_array().into_iter().flatten()) {
        let shown = SHOWN.iter().find(|(metric, ..)| pair["metric"] == *metric);
        let key = shown.map(|shown| (plain(&pair["of"]), *shown));
        keys.extend(key.filter(|key| !keys.contains(key)).into_iter().collect::<Vec<_>>());
    }
    keys
}

/// `86.2 ± 3.1 / 89.0 ± 2.0, +3 %`
fn cell(case: &Value, (of, (metric, _, unit)): &(String, (&str, &str, f64))) -> String {
    let mut pairs = case["metrics"].as_array().into_iter().flatten();
    let Some(pair) = pairs.find(|pair| pair["of"] == **of && pair["metric"] == *metric) else {
        return String::new();
    };
    let error =
        pair["error"].as_f64().map_or(String::new(), |error| format!(", {} %", signed(100.0 * error, 0)));
    format!("{} / {}{error}", estimate(&pair["measured"], *unit), estimate(&pair["predicted"], *unit))
}

fn estimate(estimate: &Value, unit: f64) -> String {
    let number = |value: &Value| value.as_f64().map(|value| number(value / unit));
    let Some(mean) = number(&estimate["mean"]) else { return "–".into() };
    number(&estimate["half_width"]).map_or(mean.clone(), |half| format!("{mean} ± {half}"))
}

fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Processor time of receiving, where every case has one congestion control.
fn processor(text: &mut String, cases: &[Value]) {
    let lines: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let all = case["processor"].as_array()?;
            let own = all.iter().find(|one| one["group"].is_null() && one["relative"].is_number())?;
            let relative = own["relative"].as_f64()?;
            Some(format!(
                "| {} | {} | {relative:.2} |",
                plain(&own["control"]),
                estimate(&own["ns_per_packet"], 1.0)
            ))
        })
        .collect();
    if !lines.is_empty() {
        let _ = writeln!(
            text,
            "\n| receiving | ns per packet | relative to Reno |\n| --- | ---: | ---: |\n{}",
            lines.join("\n")
        );
    }
}

/// A text without quotation marks.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}

fn replace(page: &str, text: &str) -> Result<String, String> {
    let (open, close) = ("<!-- live experiments -->\n", "<!-- end of live experiments -->");
    let missing = || format!("{PAGE} has no section of live experiments");
    let (before, rest) = page.split_once(open).ok_or_else(missing)?;
    let (_, after) = rest.split_once(close).ok_or_else(missing)?;
    Ok(format!("{before}{open}{text}\n{close}{after}"))
}

fn read(path: &Path) -> Result<Value, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

fn put(path: &Path, text: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    path.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
    fs::write(path, text).map_err(failed)
}

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

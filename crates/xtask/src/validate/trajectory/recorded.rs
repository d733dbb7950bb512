// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Windows of ns-2, recorded or live.

use std::path::PathBuf;

use rayon::prelude::*;
use serde_json::{Value, json};

use super::Windows;
use super::pair::Pair;
use crate::ns2;

const FILE: &str = "validation/ns2/trajectories.jsonl";
const RECORDED: &str = include_str!("../../../../../validation/ns2/trajectories.jsonl");

/// The windows of each pair; live ones with `live`, if ns-2 is installed.
pub fn theirs(pairs: &[Pair], live: bool) -> Result<Vec<Windows>, String> {
    let rows =
        RECORDED.lines().map(|line| serde_json::from_str(line).map_err(|error| format!("{FILE}: {error}")));
    let rows = rows.collect::<Result<Vec<Value>, _>>()?;
    let kept = |pair: &Pair| rows.iter().find(|row| row["args"] == args(pair));
    if !live || !ns2::installed() {
        let missing = |pair: &Pair| {
            format!("{}: ns-2 was not recorded with these settings: run `validate --record`", pair.name())
        };
        return pairs.iter().map(|pair| kept(pair).ok_or_else(|| missing(pair)).and_then(windows)).collect();
    }
    let fresh = pairs.par_iter().map(run).collect::<Result<Vec<_>, _>>()?;
    for (pair, _) in pairs.iter().zip(&fresh).filter(|(pair, row)| kept(pair) != Some(row)) {
        println!(
            "{}: ns-2 does otherwise than {FILE} says, or was not recorded; --record keeps it",
            pair.name()
        );
    }
    fresh.iter().map(windows).collect()
}

/// Runs ns-2 for each pair and writes the file; returns whether ns-2 is installed.
pub fn keep(pairs: &[Pair]) -> Result<bool, String> {
    if !ns2::installed() {
        eprintln!("{}", ns2::missing("NOTHING IS RECORDED"));
        return Ok(false);
    }
    let rows = pairs.par_iter().map(run).collect::<Result<Vec<_>, _>>()?;
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    std::fs::write(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(FILE), text)
        .map_err(|error| format!("{FILE}: {error}"))?;
    println!("wrote {FILE}, which the next build carries");
    Ok(true)
}

fn args(pair: &Pair) -> Value {
    Value::Object(pair.setup().args().clone())
}

fn run(pair: &Pair) -> Result<Value, String> {
    let run = ns2::run(&pair.setup(), 1)?;
    let mut row = json!({ "args": args(pair) });
    for (key, value) in run.row.as_object().into_iter().flatten() {
        row[key] = value.clone();
    }
    Ok(row)
}

fn windows(row: &Value) -> Result<Windows, String> {
    let wrong = || format!("{FILE}: a row without windows");
    let windows = row["window"].as_array().ok_or_else(wrong)?;
    windows.iter().map(|window| window.as_f64().ok_or_else(wrong)).collect()
}

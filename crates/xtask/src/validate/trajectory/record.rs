// SPDX-License-Identifier: Apache-2.0 OR MIT
//! ns-2's windows: recorded, or run here and now.

use std::path::PathBuf;

use rayon::prelude::*;
use serde_json::{Value, json};

use super::pair::Pair;
use super::{Windows, Wish};
use crate::ns2;

const FILE: &str = "validation/ns2/trajectories.jsonl";
const RECORDED: &str = include_str!("../../../../../validation/ns2/trajectories.jsonl");

/// The windows of each pair.
pub fn theirs(pairs: &[Pair], wish: &Wish) -> Result<Vec<Windows>, String> {
    let recorded =
        RECORDED.lines().map(|line| serde_json::from_str(line).map_err(|error| format!("{FILE}: {error}")));
    let recorded = recorded.collect::<Result<Vec<Value>, _>>()?;
    let kept = |pair: &Pair| recorded.iter().find(|row| row["args"] == args(pair));
    if (wish.live || wish.record) && ns2::installed() {
        let rows = pairs.par_iter().map(run).collect::<Result<Vec<_>, _>>()?;
        for (pair, row) in pairs.iter().zip(&rows) {
            if kept(pair) != Some(row) && !wish.record {
                println!(
                    "{}: ns-2 does otherwise than {FILE} says, or was not recorded; --record keeps it",
                    pair.name()
                );
            }
        }
        if wish.record {
            keep(&rows)?;
        }
        return rows.iter().map(windows).collect();
    }
    let missing = |pair: &Pair| {
        format!("{}: ns-2 was not recorded with these settings: run `validate --record`", pair.name())
    };
    pairs.iter().map(|pair| kept(pair).ok_or_else(|| missing(pair)).and_then(windows)).collect()
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

fn keep(rows: &[Value]) -> Result<(), String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(FILE);
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    std::fs::write(path, text).map_err(|error| format!("{FILE}: {error}"))
}

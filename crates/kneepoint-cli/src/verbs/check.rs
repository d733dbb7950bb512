// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee check`: whether a scenario is valid, without running it.

use std::path::PathBuf;

use clap::Args;
use kneepoint::scenario::{self, Fault, Plan};
use serde_json::{Value, json};

use crate::failure::{Failure, line_and_column};
use crate::files;

/// What to check.
#[derive(Args)]
pub struct Arguments {
    /// A scenario; `-` for standard input
    file: PathBuf,
}

/// Checks.
pub fn check(arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let text = files::read_text(&arguments.file)?;
    let origin = arguments.file.display().to_string();
    match scenario::parse(&text) {
        Ok(plan) if as_json => files::print_json(&json!({
            "valid": true,
            "name": plan.name,
            "cases": plan.cases.len(),
            "seeds": plan.seeds,
            "faults": [],
        })),
        Ok(plan) => files::print(format!("{origin}: valid, {}", extent(&plan))),
        Err(faults) if as_json => {
            let faults = faults.iter().map(|fault| fault_json(&text, fault)).collect::<Vec<_>>();
            files::print_json(&json!({"valid": false, "faults": faults}))?;
            Err(Failure::Said(2))
        }
        Err(faults) => Err(Failure::Scenario { origin, text, faults }),
    }
}

fn extent(plan: &Plan) -> String {
    let (cases, seeds) = (plan.cases.len(), plan.seeds.len());
    let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    format!("{} with {}: {}", counted(cases, "case"), counted(seeds, "seed"), counted(cases * seeds, "run"))
}

fn fault_json(text: &str, fault: &Fault) -> Value {
    let (line, column) = line_and_column(text, fault.span.start);
    json!({"line": line, "column": column, "message": fault.message, "help": fault.help})
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The vocabularies of the command line, from which signatures, documentation and stubs are made, and of scenarios.

use std::any::TypeId;
use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::ValueRange;
use clap::{Arg, ArgAction, Command, CommandFactory};
use kneepoint::scenario;
use kneepoint_bench::failure::Failure;
use kneepoint_cli::Knee;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::algorithms::{self, Algorithm, Raised};
use crate::errors;

/// Options about printing, and options of every command.
const OF_THE_TERMINAL: [&str; 6] = ["json", "help", "version", "list", "csv", "dry_run"];

/// The verbs with their options as JSON: names, types, defaults, documentation.
#[pyfunction]
pub fn verbs() -> String {
    let mut command = Knee::command();
    command.build();
    let verbs = command.get_subcommands().filter(|verb| Knee::has_rows(verb.get_name()));
    json!(verbs.map(described).collect::<Vec<_>>()).to_string()
}

/// The JSON Schema of scenarios.
#[pyfunction]
pub fn schema() -> String {
    scenario::schema().to_string()
}

/// Raises the faults of a scenario, which may name the algorithms.
#[pyfunction]
#[pyo3(signature = (text, origin, algorithms = Vec::new()))]
pub fn check(py: Python<'_>, text: String, origin: String, algorithms: Vec<Algorithm>) -> PyResult<usize> {
    let raised = Arc::new(Raised::default());
    let parsed = algorithms::extensions(py, algorithms, &raised)?.parse(&text);
    raised.check()?;
    match parsed {
        Ok(plan) => Ok(plan.cases.len()),
        Err(faults) => Err(errors::of_failure(py, Failure::Scenario { origin, text, faults })),
    }
}

fn described(command: &Command) -> Value {
    let shown = |arg: &&Arg| !OF_THE_TERMINAL.contains(&arg.get_id().as_str()) && !arg.is_hide_set();
    let inner: Vec<Value> =
        command.get_subcommands().filter(|one| one.get_name() != "help").map(described).collect();
    json!({
        "name": command.get_name(),
        "about": command.get_about().map(ToString::to_string),
        "verbs": inner,
        "options": command.get_arguments().filter(shown).map(option).collect::<Vec<_>>(),
    })
}

fn option(arg: &Arg) -> Value {
    let choices = arg.get_possible_values().into_iter().map(|value| value.get_name().to_string());
    let many = matches!(arg.get_action(), ArgAction::Append) || arg.get_value_delimiter().is_some();
    let defaults = arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned());
    json!({
        "name": arg.get_id().as_str().replace('-', "_"),
        "flag": arg.get_long(),
        "type": kind(arg),
        "choices": choices.collect::<Vec<_>>(),
        "many": many,
        "separator": arg.get_value_delimiter(),
        "optional_value": arg.get_num_args().is_some_and(|count| count == ValueRange::from(0..=1))
            && arg.get_action().takes_values(),
        "required": arg.is_required_set(),
        "default": defaults.collect::<Vec<_>>(),
        "about": arg.get_long_help().or(arg.get_help()).map(ToString::to_string),
    })
}

/// The type of an option's values in Python.
fn kind(arg: &Arg) -> &'static str {
    let types: [(TypeId, &str); 6] = [
        (TypeId::of::<u16>(), "int"),
        (TypeId::of::<u32>(), "int"),
        (TypeId::of::<u64>(), "int"),
        (TypeId::of::<f64>(), "float"),
        (TypeId::of::<bool>(), "bool"),
        (TypeId::of::<PathBuf>(), "path"),
    ];
    if !arg.get_action().takes_values() {
        return "bool";
    }
    let id = arg.get_value_parser().type_id();
    types.iter().find(|(known, _)| id == *known).map_or("str", |(_, name)| name)
}

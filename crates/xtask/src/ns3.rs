// SPDX-License-Identifier: Apache-2.0 OR MIT
//! ns-3 on this machine, with its Python bindings: availability and output of a run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::ns2;
use crate::setting::Setup;

/// Printed if the interpreter cannot import ns-3.
pub fn missing(python: &Path) -> String {
    let line = "=".repeat(70);
    format!(
        "{line}\nNS-3 DOES NOT RUN: `{} -c 'from ns import ns'` fails.\nIn a virtual environment: pip install ns3; then --ns3-python ENVIRONMENT/bin/python\n{line}",
        python.display()
    )
}

/// Whether the interpreter imports ns-3.
pub fn installed(python: &Path) -> bool {
    let mut test = Command::new(python);
    test.args(["-c", "from ns import ns"]).stdout(Stdio::null()).stderr(Stdio::null());
    test.status().is_ok_and(|status| status.success())
}

/// Runs a script of `validation/ns3`; returns the row that it prints.
pub fn run(python: &Path, setup: &Setup, seed: u64) -> Result<Value, String> {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../validation/ns3").join(&setup.script);
    let mut setting = setup.args().clone();
    setting.insert("seed".into(), seed.into());
    let output = Command::new(python).arg(script).arg(Value::from(setting).to_string()).output();
    ns2::row("ns-3", &output.map_err(|error| format!("{}: {error}", python.display()))?)
}

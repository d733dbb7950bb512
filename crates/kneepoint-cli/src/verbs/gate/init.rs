// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee gate init`: a `gate.toml`, and a workflow that runs it.

use std::path::PathBuf;

use clap::Args;
use kneepoint::experiment::gate::suites;
use kneepoint_bench::files;
use kneepoint_bench::session::Session;
use serde_json::json;

use super::super::compare::read_scheme;
use super::asked::{GATE, SUITES};
use super::workflow;
use crate::completion;
use crate::failure::Failure;

#[derive(Args)]
pub struct Arguments {
    /// The folder of the repository
    #[arg(default_value = ".", value_name = "DIR")]
    folder: PathBuf,
    /// The scheme to test
    #[arg(long, default_value = "cubic", value_name = "SCHEME", add = completion::scheme())]
    subject: String,
    /// The suites
    #[arg(long, value_delimiter = ',', value_name = "SUITE,…", default_values = SUITES)]
    suite: Vec<String>,
}

/// The place of the workflow in a repository.
const WORKFLOW: &str = ".github/workflows/gate.yml";

/// Writes both files, or none if either exists.
pub fn init(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let subject = read_scheme(session, &arguments.subject, &[])?;
    for suite in arguments.suite.iter().filter(|suite| !suite.ends_with(".toml")) {
        suites::cases(suite).map_err(|why| Failure::usage(why, "leave `--suite` out for the usual ones"))?;
    }
    let (gate, runner) = (arguments.folder.join(GATE), arguments.folder.join(WORKFLOW));
    for file in [&gate, &runner] {
        if file.symlink_metadata().is_ok() {
            let message = format!("`{}` exists already and was not changed", file.display());
            return Err(Failure::run(message, "edit it, or remove it first"));
        }
    }
    if let Some(folder) = runner.parent() {
        files::make_directory(folder)?;
    }
    files::write(&gate, text(arguments))?;
    files::write(&runner, workflow::of(session, &subject.cc))?;
    if as_json {
        return session.print_json(&json!({"gate": gate, "workflow": runner}));
    }
    session.print(format!(
        "wrote {} and {}\nnext: knee gate run --quick, and knee gate accept once the outcome is as it should be; KNEE_URL in the workflow \
         says which release it installs",
        gate.display(),
        runner.display()
    ))
}

/// The text of `gate.toml`, with every suite. A string in JSON is one in TOML.
fn text(arguments: &Arguments) -> String {
    let list =
        |names: &[String]| names.iter().map(|name| json!(name).to_string()).collect::<Vec<_>>().join(", ");
    let about: String = suites::suites().map(|(name, about)| format!("#   {name:<12} {about}\n")).collect();
    format!(
        "# The suites that `knee gate run` tests. docs/gate.md of Kneepoint describes the judgement of cases.\n\
         subject = {}\n\n# Suites:\n{about}# Files of cases of your own end in .toml.\nsuites = [{}]\n\n\
         # The accepted outcome, written by `knee gate accept`, and how far a number may move from it.\n\
         baseline = \"gate.json\"\ntolerance = 0.02\n\n\
         # Another scheme that the subject must not be worse than, and by how much less a claim may be met.\n\
         #against = \"reno\"\n#margin = 0.05\n\n\
         # A threshold of your own, instead of a claim's.\n\
         #[[threshold]]\n#case = \"rfc9743-wired\"\n#claim = \"used\"\n#check = \"utilization >= 0.95\"\n",
        json!(arguments.subject),
        list(&arguments.suite),
    )
}

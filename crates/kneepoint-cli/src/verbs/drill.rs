// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee drill`: scripts of packetdrill against the simulated host.

use std::path::{Path, PathBuf};

use clap::Args;
use kneepoint::cc::Config;
use kneepoint::scenario::Fault;
use kneepoint::settings::{Assign, Raw, Settings};
use kneepoint::tcp::script::{self, Outcome, Script};
use kneepoint::tcp::{self, Host};
use kneepoint_bench::files;
use kneepoint_bench::session::Session;
use serde_json::{Value, json};

use super::Verb;
use super::compare::tcp_options;
use crate::completion;
use crate::failure::{self, Failure};

/// Test the simulated TCP host with scripts of packetdrill
#[derive(Args)]
#[command(after_help = "\
A script says what arrives at a TCP host, what it must send and when, and its state. The host of `knee drill` is the simulator's, with the settings that the \
script makes; nothing of the script is executed. docs/drill.md has the language, a subset of packetdrill's: a script outside it is refused by name.

Exit status:
  0  every script passed
  1  a script failed, or could not be read from disk
  2  a script is outside the subset, and none failed

Examples:
  knee drill crates/kneepoint/tests/scripts
  knee drill fast-retransmit.pkt --tcp recovery=sack
  knee drill scripts/ --cc reno --json | jq '.scripts[] | select(.verdict == \"failed\")'")]
pub struct Arguments {
    /// Scripts, or directories with scripts (*.pkt); `-` for standard input
    #[arg(required = true, value_name = "SCRIPT")]
    scripts: Vec<PathBuf>,
    /// Controller instead of the script's, with settings after a colon
    #[arg(long, value_name = "NAME[:KEY=VALUE,…]", add = completion::controller())]
    cc: Option<String>,
    /// Options of the host instead of the script's, as `knee explain tcp` lists them (repeatable, or with commas)
    #[arg(long, value_name = "KEY=VALUE", value_delimiter = ',', add = completion::tcp())]
    tcp: Vec<String>,
}

pub const VERB: Verb<Arguments> = Verb { act, answer: None };

/// Runs every script.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    let changes = Changes::of(session, arguments)?;
    let (mut drills, mut unread) = (Vec::new(), false);
    for named in &arguments.scripts {
        let found = found(named)?;
        let alone = found == [named.clone()];
        for file in found {
            let drill = match Drill::run(session, &file, &changes) {
                Ok(drill) => drill,
                Err(failure) => {
                    unread = true;
                    failure::report(&failure, as_json);
                    continue;
                }
            };
            if !as_json {
                drill.print(session, alone)?;
            }
            drills.push(drill);
        }
    }
    let count = |verdict: &str| drills.iter().filter(|drill| drill.verdict() == verdict).count();
    let [passed, failed, refused] = ["passed", "failed", "refused"].map(count);
    if as_json && !drills.is_empty() {
        let scripts: Vec<Value> = drills.iter().map(Drill::json).collect();
        session.print_json(
            &json!({"scripts": scripts, "passed": passed, "failed": failed, "refused": refused}),
        )?;
    } else if drills.len() > 1 {
        session.print(format!(
            "{} scripts: {passed} passed, {failed} failed, {refused} refused\n",
            drills.len()
        ))?;
    }
    match (failed > 0 || unread, refused > 0) {
        (true, _) => Err(Failure::Said(1)),
        (false, true) => Err(Failure::Said(2)),
        (false, false) => Ok(()),
    }
}

/// Settings of a script's host from the command line.
struct Changes {
    cc: Option<Config>,
    tcp: Vec<(String, Raw)>,
}

impl Changes {
    fn of(session: &Session, arguments: &Arguments) -> Result<Changes, Failure> {
        let mut tcp = tcp_options(&arguments.tcp)?;
        if let Some((name, _)) =
            tcp.iter().find(|(name, _)| ["payload", "handshake"].contains(&name.as_str()))
        {
            return Err(Failure::usage(
                format!("--tcp {name}: the handshake of a script decides that"),
                "change the script",
            ));
        }
        let Some(text) = &arguments.cc else { return Ok(Changes { cc: None, tcp }) };
        let remedy = "`knee list controllers` shows the names, `knee explain NAME` their settings";
        let wrong = |message: String| Failure::usage(format!("--cc: {message}"), remedy);
        let scheme = session.extensions().scheme(text).map_err(wrong)?;
        scheme.cc.agree().map_err(wrong)?;
        if let Some(recovery) = scheme.recovery {
            tcp.insert(0, ("recovery".to_string(), Raw::Text(recovery.to_string())));
        }
        Ok(Changes { cc: Some(scheme.cc), tcp })
    }

    fn run(&self, script: &Script) -> Outcome {
        let own = script.options();
        let preset = self.tcp.iter().find(|(name, _)| name == "preset");
        let preset = preset.and_then(|(_, value)| Host::named(&value.to_string().replace('"', "")));
        let mut options = match preset {
            Some(host) => tcp::Options { timestamps: own.timestamps, ecn: own.ecn, ..tcp::Options::of(host) },
            None => own,
        };
        for (name, value) in &self.tcp {
            // They were read once already.
            let _ = options.set(name, value);
        }
        script.run_on(options, self.cc.as_ref().unwrap_or(script.controller()))
    }
}

/// A script and its result.
struct Drill {
    file: String,
    text: String,
    outcome: Result<Outcome, Vec<Fault>>,
}

impl Drill {
    fn run(session: &Session, file: &Path, changes: &Changes) -> Result<Drill, Failure> {
        let text = files::read_text_of(
            session,
            "a script of packetdrill",
            file,
            "check the path; docs/drill.md shows a script",
        )?;
        let outcome = script::parse(&text).map(|script| changes.run(&script));
        Ok(Drill { file: file.display().to_string(), text, outcome })
    }

    fn verdict(&self) -> &'static str {
        match &self.outcome {
            Ok(outcome) if outcome.passed => "passed",
            Ok(_) => "failed",
            Err(_) => "refused",
        }
    }

    /// A line, and for a failure what differs; every fault if the script was named `alone`.
    fn print(&self, session: &Session, alone: bool) -> Result<(), Failure> {
        let Drill { file, text, outcome } = self;
        match outcome {
            Ok(Outcome { difference: None, .. }) => session.print(format!("pass     {file}\n")),
            Ok(Outcome { difference: Some(difference), .. }) => {
                session.print(format!("fail     {file}, {difference}\n"))
            }
            Err(faults) => {
                let (line, column) = failure::line_and_column(text, faults[0].span.start);
                let more = match faults.len() {
                    1 => String::new(),
                    count => format!("; and {} more", count - 1),
                };
                session.print(format!(
                    "refused  {file}, line {line}, column {column}: {}{more}\n",
                    faults[0].message
                ))?;
                if alone {
                    session.tell_styled(&failure::render_faults(file, text, faults));
                }
                Ok(())
            }
        }
    }

    fn json(&self) -> Value {
        let Drill { file, text, outcome } = self;
        let (events, difference, faults) = match outcome {
            Ok(outcome) => (Some(outcome.steps.len()), outcome.difference.as_ref(), Vec::new()),
            Err(faults) => (None, None, failure::faults(file, text, faults)),
        };
        json!({
            "file": file,
            "verdict": self.verdict(),
            "events": events,
            "difference": difference,
            "faults": faults,
        })
    }
}

/// The script itself, or all scripts in and below a directory, sorted.
fn found(named: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !named.is_dir() {
        return Ok(vec![named.to_path_buf()]);
    }
    let (mut scripts, mut folders) = (Vec::new(), vec![named.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|error| Failure::io("read", &folder, &error))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            // A link to a folder may lead round in a circle.
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "pkt") {
                scripts.push(path);
            }
        }
    }
    if scripts.is_empty() {
        let message = format!("no script is in `{}`", named.display());
        return Err(Failure::run(message, "name a directory with files that end in `.pkt`"));
    }
    scripts.sort();
    Ok(scripts)
}

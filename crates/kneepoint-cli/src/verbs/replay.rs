// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `knee replay`: one trace of acknowledgements to several controllers, and where their windows part.

#[cfg(feature = "quic")]
mod quic;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use kneepoint::scenario;
use kneepoint::spec::Valid;
use kneepoint::suggest::did_you_mean;
use kneepoint::trace::FlowId;
use kneepoint_bench::files;
use kneepoint_bench::session::Session;
use kneepoint_linux::native::recording::Recorder;
use kneepoint_linux::native::replay::{
    MACHINES, Machine, Make, Verdict, compare, describe, difference, play,
};
use kneepoint_linux::native::trace::{self, Step};
use serde_json::{Value, json};

use super::Verb;
use crate::controller::controller;
use crate::failure::Failure;
use crate::flow::tagged;
use crate::values::of_range;

/// Play a trace of acknowledgements to a controller of the laboratory and to the kernel's
#[derive(Args)]
#[command(after_help = "\
A trace is CSV. Its first line names columns: at_us, kind (open, ack, loss, timeout, advice, mark, resume, resize), packets, rtt_us, acked, credit, una, next, in_flight, recovering, draw, \
reported, rate, delivered, resent, limited, idle_us, threshold. `sim` is the laboratory's controller, `native-bpf` the C that runs in the kernel, compiled for this process. \
Windows agree that differ by no more than one in a million. The exit status is 1 if they do not.

Examples:
  knee init my.toml && knee replay --record my.toml > trace.csv
  knee replay --record my.toml --host noq > quic.csv
  knee replay trace.csv --cc pert
  knee replay trace.csv --cc pert-pi:target=5ms --on sim,native-bpf --json")]
pub struct Arguments {
    /// A trace; `-` for standard input
    #[arg(required_unless_present = "record", conflicts_with = "record")]
    trace: Option<PathBuf>,
    /// The controller, with settings after a colon
    #[arg(long, value_name = "NAME[:KEY=VALUE,…]", required_unless_present = "record")]
    cc: Option<String>,
    /// The implementations to compare, each with the first
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "sim,native-bpf")]
    on: Vec<String>,
    /// Steps to show before and after the one at which the windows part
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = of_range::<u32>(0..=1_000_000))]
    context: u32,
    /// Run the first case of a scenario and print the trace of one of its flows
    #[arg(long, value_name = "SCENARIO")]
    record: Option<PathBuf>,
    /// The flow to record: GROUP/PLACE, its place from 0 [default: the first]
    #[arg(long, requires = "record")]
    flow: Option<String>,
    /// Hosts of the recorded run: the simulator's, or a QUIC stack's in virtual time, in a build with the feature `quic`
    #[arg(long, value_enum, default_value_t, ignore_case = true, requires = "record")]
    host: Host,
    /// The seed of the recorded run, instead of the scenario's first
    #[arg(long, value_name = "SEED", value_parser = scenario::seed, requires = "record")]
    seed: Option<u64>,
}

/// The hosts of a recorded run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Host {
    /// TCP of the simulator
    #[default]
    Sim,
    /// noq: every signal to its controller, and the number that it may draw
    Noq,
    /// quinn: the same
    Quinn,
}

impl Host {
    /// The name of the QUIC stack, if it is one.
    fn stack(self) -> Option<&'static str> {
        match self {
            Host::Sim => None,
            Host::Noq => Some("noq"),
            Host::Quinn => Some("quinn"),
        }
    }
}

pub const VERB: Verb<Arguments> = Verb { act, answer: None };

/// Plays a trace, or records one.
fn act(session: &Session, arguments: &Arguments, as_json: bool) -> Result<(), Failure> {
    match (&arguments.record, &arguments.trace, &arguments.cc) {
        (Some(scenario), ..) => record(session, scenario, arguments),
        (None, Some(trace), Some(cc)) => play_back(session, trace, cc, arguments, as_json),
        _ => Err(Failure::usage("no trace is given", "name one, or make one with --record SCENARIO")),
    }
}

fn record(session: &Session, file: &Path, arguments: &Arguments) -> Result<(), Failure> {
    let text = files::read_text(session, file)?;
    let plan = match session.extensions().parse_with(&text, &|named| files::beside(file, named)) {
        Ok(plan) => plan,
        Err(faults) => return Err(Failure::Scenario { origin: file.display().to_string(), text, faults }),
    };
    let valid = &plan.cases[0].valid;
    let (flow, name) = tagged(valid, "--flow", arguments.flow.as_deref())?;
    let seed = arguments.seed.or(plan.seeds.first().copied()).unwrap_or(1);
    if let Some(stack) = arguments.host.stack() {
        let steps = in_stack(stack, valid, flow, seed)?;
        return session.print(format!(
            "# {}, flow {name}, seed {seed}, hosts of {stack}\n{}",
            file.display(),
            trace::write(&steps)
        ));
    }
    let controllers = valid.groups().iter().filter_map(|group| group.cc.as_ref());
    session.simulated(controllers, "a record without `--host`")?;
    let recorder = Recorder::new(valid, flow).ok_or_else(|| {
        Failure::usage(format!("--flow: `{name}` has no connection"), "choose a flow of a group with `cc`")
    })?;
    let (recorder, _) = kneepoint::run::run(valid, seed, recorder);
    session.print(format!(
        "# {}, flow {name}, seed {seed}\n{}",
        file.display(),
        trace::write(&recorder.finish())
    ))
}

/// The signals from a QUIC stack to the controller of a flow.
#[cfg(feature = "quic")]
fn in_stack(stack: &str, valid: &Valid, flow: FlowId, seed: u64) -> Result<Vec<Step>, Failure> {
    quic::recorded(stack, valid, flow, seed)
        .map_err(|why| Failure::run(why, format!("leave out `--host {stack}`")))
}

#[cfg(not(feature = "quic"))]
fn in_stack(_: &str, _: &Valid, _: FlowId, _: u64) -> Result<Vec<Step>, Failure> {
    Err(Failure::usage(
        "this build has no QUIC stack",
        "cargo build --release -p kneepoint-cli --features quic",
    ))
}

/// The machines that `--on` names.
fn machines(names: &[String]) -> Result<Vec<(&'static str, Make)>, Failure> {
    let known = MACHINES.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    let find = |name: &String| {
        let machine = MACHINES.iter().find(|(one, _)| one == name).copied();
        machine.ok_or_else(|| {
            Failure::usage(format!("--on: nothing is named `{name}`"), did_you_mean(name, &known))
        })
    };
    names.iter().map(find).collect()
}

fn play_back(
    session: &Session,
    file: &Path,
    cc: &str,
    arguments: &Arguments,
    as_json: bool,
) -> Result<(), Failure> {
    let config = controller(session, cc)?;
    let chosen = machines(&arguments.on)?;
    let text = files::read_text_of(
        session,
        "a trace of acknowledgements",
        file,
        "check the path; `knee replay --record SCENARIO` prints a trace",
    )?;
    let steps = match trace::read(&text) {
        Ok(steps) => steps,
        Err(faults) => return Err(Failure::Scenario { origin: file.display().to_string(), text, faults }),
    };
    let fresh = || chosen.iter().map(|(_, make)| make(&config)).collect::<Result<Vec<_>, _>>();
    let make = || {
        fresh().map_err(|message| {
            Failure::usage(message, "choose another controller, or compare `--on sim` alone")
        })
    };
    let verdict = compare(&config, &mut make()?, &steps);
    let view = View { names: chosen.iter().map(|(name, _)| *name).collect(), steps: &steps, verdict };
    let shown = view.shown(arguments.context as usize, &mut make()?);
    if as_json {
        session.print_json(&view.json(cc, &shown))?;
    } else {
        session.print(view.text(&shown))?;
    }
    match verdict {
        Verdict::Part(_) => Err(Failure::Said(1)),
        Verdict::Agree(_) | Verdict::Undecided(_) => Ok(()),
    }
}

struct View<'a> {
    names: Vec<&'static str>,
    steps: &'a [Step],
    verdict: Verdict,
}

/// A step and the windows after it.
type Shown = (usize, Vec<f64>);

impl View<'_> {
    /// The steps around the one at which the windows part.
    fn shown(&self, context: usize, machines: &mut [Box<dyn Machine>]) -> Vec<Shown> {
        let (Verdict::Part(place) | Verdict::Undecided(place)) = self.verdict else { return Vec::new() };
        let end = (place + context + 1).min(self.steps.len());
        let windows = play(machines, &self.steps[..end]).into_iter().enumerate();
        windows.skip(place.saturating_sub(context)).collect()
    }

    fn text(&self, shown: &[Shown]) -> String {
        let count = self.steps.len();
        let (place, why) = match self.verdict {
            Verdict::Agree(greatest) => {
                return format!(
                    "no divergence in {count} steps, greatest difference {greatest:.1e} of the window\n"
                );
            }
            Verdict::Part(place) => (place, ""),
            Verdict::Undecided(place) => {
                (place, ", where rounding decides: a draw or a delay is within its error of a threshold")
            }
        };
        let mut text = format!("the windows part at step {} of {count}{why}\n\n", place + 1);
        text += &format!("  {:>8}", "step");
        text += &self.names.iter().map(|name| format!("  {name:>16}")).collect::<String>();
        text += "  heard\n";
        for (step, windows) in shown {
            let mark = if *step == place { '>' } else { ' ' };
            let windows = windows.iter().map(|window| format!("  {window:>16.9}")).collect::<String>();
            text += &format!("{mark} {:>8}{windows}  {}\n", step + 1, describe(&self.steps[*step]));
        }
        text
    }

    fn json(&self, cc: &str, shown: &[Shown]) -> Value {
        let (verdict, place, greatest) = match self.verdict {
            Verdict::Agree(greatest) => ("agree", None, Some(greatest)),
            Verdict::Part(place) => ("part", Some(place + 1), None),
            Verdict::Undecided(place) => ("undecided", Some(place + 1), None),
        };
        let row = |(step, windows): &Shown| {
            let named =
                self.names.iter().zip(windows).map(|(name, window)| ((*name).to_string(), json!(window)));
            json!({
                "step": step + 1,
                "at_us": self.steps[*step].at.0 as f64 / 1e3,
                "heard": describe(&self.steps[*step]),
                "windows": Value::Object(named.collect()),
                "difference": difference(windows),
            })
        };
        json!({
            "cc": cc,
            "on": self.names,
            "steps": self.steps.len(),
            "verdict": verdict,
            "step": place,
            "greatest_difference": greatest,
            "shown": shown.iter().map(row).collect::<Vec<_>>(),
        })
    }
}

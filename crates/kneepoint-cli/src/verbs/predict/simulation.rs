// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Predictors that watch a flow of a simulation.

use std::path::{Path, PathBuf};

use kneepoint::predict::Judge;
use kneepoint::report::Factors;
use kneepoint::report::predictions::{Predictions, WatchedFlow, WatchedRun};
use kneepoint::scenario::{Plan, Settings};
use kneepoint::study::predict::Predict;
use kneepoint_bench::conductor;
use kneepoint_bench::files;
use kneepoint_bench::session::Session;

use super::Arguments;
use crate::failure::Failure;
use crate::flow::tagged;
use crate::library;
use crate::means::Sweep;

/// The PERT paper's tagged flow, §2.2, in less time. The paper leaves the other flows' round trips open.
const TAGGED: &str = r#"
name = "the PERT paper's tagged flow"
queue = "droptail"

[run]
duration = "100s"
measure = "20s..100s"

[topology]
kind = "dumbbell"
rate = "100mbit"
rtt = "60ms"
delay = "20ms"
buffer = "750pkt"
access_rate = "500mbit"

[tcp]
recovery = "sack"

[[flows]]
name = "tagged"
count = 1
cc = "reno"
rtt = "60ms"
start = "0s..10s"

[[flows]]
name = "long"
count = 49
cc = "reno"
rtt = ["44ms", "60ms", "80ms", "100ms", "120ms"]
start = "0s..10s"

[[flows]]
name = "back"
direction = "reverse"
count = 50
cc = "reno"
rtt = ["44ms", "60ms", "80ms", "100ms", "120ms"]
start = "0s..10s"

[[web]]
name = "web"
sessions = 100
cc = "reno"
start = "0s..10s"

[[web]]
name = "web-back"
direction = "reverse"
sessions = 100
cc = "reno"
start = "0s..10s"
"#;

const ABOUT_TAGGED: &str = "This is the setting of the PERT paper's Figures 2 to 4, first case, in 100 s instead of 1000: 100 Mbit/s, \
     20 ms, 750 packets, 50 SACK flows and 100 web sessions each way; the round trips of the other flows, 44 to 120 ms, \
     are ours. `knee predict FILE.toml` watches a flow of yours.";

/// Runs every case of the scenario with every seed.
pub(super) fn watch(
    session: &Session,
    file: Option<&PathBuf>,
    arguments: &Arguments,
) -> Result<Predictions, Failure> {
    let (origin, text) = match file {
        Some(file) => (file.display().to_string(), library::scenario(session, file)?),
        None => ("the tagged flow".to_string(), TAGGED.to_string()),
    };
    let open = |name: &str| files::beside(file.map_or(Path::new(""), PathBuf::as_path), name);
    let plan = match session.extensions().parse_with(&text, &open) {
        Ok(plan) => plan,
        Err(faults) => return Err(Failure::Scenario { origin, text, faults }),
    };
    let notes = if file.is_none() { vec![ABOUT_TAGGED.to_string()] } else { Vec::new() };
    let configs = arguments.configs()?;
    let seeds = seeds(arguments, &plan);
    let tagged = plan.cases.iter().map(|case| tagged(&case.valid, "--flow", arguments.flow.as_deref()));
    let tagged = tagged.collect::<Result<Vec<_>, _>>()?;
    let flows = plan.cases.iter().zip(&tagged).map(|(case, (flow, _))| (case.valid.clone(), *flow));
    let mut study = Predict::new(flows, &configs, arguments.hold_off, seeds)
        .map_err(|message| Failure::usage(message, "choose another flow with --flow GROUP/PLACE"))?;
    let conducted = conductor::conduct(session, &mut study, &Sweep::from(&arguments.means), &())?;
    let (done, planned) = (conducted.records.len(), conducted.planned);
    if done < planned {
        let message =
            format!("stopped: {done} of {planned} runs finished and are kept; the same command continues");
        return Err(Failure::Interrupted(message));
    }
    let settings: Vec<Settings> = plan.cases.into_iter().map(|case| case.settings).collect();
    let factors = Factors::of(&settings);
    let cases = tagged.into_iter().zip(conducted.outcome).enumerate();
    let cases = cases.map(|(case, ((_, flow), runs))| WatchedFlow {
        case: factors.name(case, ""),
        levels: factors.levels[case].clone(),
        flow,
        judges: Judge::ALL.to_vec(),
        runs: runs.into_iter().map(|(seed, scores)| WatchedRun { seed: Some(seed), scores }).collect(),
        chance: Vec::new(),
        course: None,
    });
    let cases = cases.collect();
    Ok(Predictions { title: plan.name, factors: factors.factors, cases, notes })
}

/// The requested seeds, or the scenario's.
fn seeds(arguments: &Arguments, plan: &Plan) -> Vec<u64> {
    let first = arguments.seed.or(plan.seeds.first().copied()).unwrap_or(1);
    let count = arguments.seeds.map_or(plan.seeds.len() as u64, u64::from);
    (0..count).map(|place| first.saturating_add(place)).collect()
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The native side of the comparison of replays with the page.
//!
//! `replays record NAME SEED` prints the signals to a TCP sender with this controller. Without arguments it reads one
//! question per line, as [`Replay`] has it, plays it, and prints hash and steps.

use std::error::Error;
use std::io::{Write, stdin, stdout};

use kneepoint::replay::recording::Recorder;
use kneepoint::replay::trace;
use kneepoint::trace::FlowId;
use kneepoint::{run, scenario};
use kneepoint_web::replayed::Replay;

/// Two flows that share a lossy link with short transfers.
const SCENARIO: &str = "[run]\nduration = '30s'\n[topology]\nkind = 'dumbbell'\nrate = '40mbit'\nrtt = '40ms'\n\
    [loss]\nkind = 'uniform'\np = 0.0003\n[[flows]]\nname = 'long'\ncount = 2\ncc = 'NAME'\n[[web]]\nsessions = 5\ncc = 'cubic'\n";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["record", name, seed] => Ok(stdout().write_all(recorded(name, seed.parse()?)?.as_bytes())?),
        [] => {
            for line in stdin().lines() {
                let question: Replay = serde_json::from_str(&line?)?;
                match question.play() {
                    Ok(played) => writeln!(stdout(), "{} {}", played.hash, played.steps)?,
                    Err(problems) => writeln!(stdout(), "refused {}", problems.len())?,
                }
            }
            Ok(())
        }
        _ => Err("replays [record NAME SEED]".into()),
    }
}

/// The signals to the first flow. A controller that needs the network receives the signals of a Reno flow.
fn recorded(name: &str, seed: u64) -> Result<String, Box<dyn Error>> {
    let parsed = |cc: &str| scenario::parse(&SCENARIO.replace("NAME", cc));
    let plan = parsed(name).or_else(|_| parsed("reno")).map_err(|faults| faults[0].message.clone())?;
    let valid = &plan.cases[0].valid;
    let recorder = Recorder::new(valid, FlowId(0)).ok_or("the flow has no connection")?;
    let (recorder, _) = run::run(valid, seed, recorder);
    Ok(trace::write(&recorder.finish()))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A trace of signals to a controller, and the hash of its windows: two machines that agree in it computed the same numbers, to the bit.

use kneepoint::cc::Config;
use kneepoint::replay::{self, trace};
use serde::{Deserialize, Serialize};

use crate::question::Problem;

/// The question.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Replay {
    /// The name of a controller.
    pub cc: String,
    /// Signals as `knee replay --record` prints them.
    pub trace: String,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Replayed {
    /// The hash of the window after each step.
    pub hash: String,
    /// Steps.
    pub steps: usize,
}

impl Replay {
    /// Plays the trace. Fails if no controller has this name, or the trace cannot be read.
    pub fn play(&self) -> Result<Replayed, Vec<Problem>> {
        let problem = |line, message| vec![Problem { line, column: 1, set: None, message, help: None }];
        let config = Config::named(&self.cc);
        let config = config.ok_or_else(|| problem(1, format!("no controller is named `{}`", self.cc)))?;
        let steps = trace::read(&self.trace).map_err(|faults| {
            let first = faults.into_iter().next();
            let (place, message) =
                first.map_or((0, String::new()), |fault| (fault.span.start, fault.message));
            problem(1 + self.trace[..place].matches('\n').count(), message)
        })?;
        Ok(Replayed { hash: format!("{:016x}", replay::hash(&config, &steps)), steps: steps.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str =
        "at_us,kind,packets,rtt_us,acked,una,next,in_flight\n0,open,10,,,,,\n60000,ack,,60000,2,2,12,10\n";

    #[test]
    fn windows_decide_the_hash() {
        let play = |cc: &str, trace: &str| Replay { cc: cc.into(), trace: trace.into() }.play();
        let reno = play("reno", TRACE).expect("played");
        assert_eq!((reno.steps, &play("reno", TRACE).expect("played")), (2, &reno));
        let other = play("reno", &TRACE.replace(",2,2,12", ",1,2,12")).expect("played");
        assert_ne!(other.hash, reno.hash);
        assert_eq!(play("ren", TRACE).expect_err("no such").len(), 1);
        let problems = play("reno", &TRACE.replace(",ack,", ",akc,")).expect_err("no such step");
        assert!(problems[0].line == 3 && problems[0].message.contains("akc"), "{problems:?}");
    }
}

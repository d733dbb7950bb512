// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Pairs from `validation/trajectories.toml`, as our scenario and as arguments of ns-2's script.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::setting::Setup;

/// Name of the file in error messages.
const FILE: &str = "validation/trajectories.toml";

/// Sampling interval of the window, in seconds.
pub const STEP: f64 = 0.1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    path: BTreeMap<String, LossyLink>,
    pair: Vec<Line>,
}

/// A link with its times of loss.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct LossyLink {
    rate: f64,
    rtt: f64,
    /// Initial window; there is no slow start.
    window: u32,
    /// End, in seconds.
    pub duration: f64,
    /// Seconds from a loss until both hosts have recovered.
    pub settle: f64,
    /// Times of single losses, in seconds.
    pub losses: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    path: String,
    ours: String,
    theirs: Map<String, Value>,
}

/// Our controller and ns-2's on the same path.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Name of the path.
    pub place: String,
    /// The path.
    pub path: LossyLink,
    /// Our controller with its parameters, as on the command line.
    pub ours: String,
    theirs: Map<String, Value>,
}

/// Defaults of the arguments of ns-2's script.
const AGENT: &str = "Linux";

/// Options that make our host behave like ns-2's agents: Linux agents send timestamps and data at once, FAST times
/// every packet, as does Vegas, which sends packets without a header.
const HOSTS: [(&str, &str); 4] = [
    ("Linux", "payload = \"1000b\"\nheader = \"50b\"\ntimestamps = true\n"),
    ("Sack1", "payload = \"1000b\"\nheader = \"40b\"\nhandshake = true\n"),
    ("Fast", "payload = \"1000b\"\nheader = \"40b\"\nhandshake = true\ntimestamps = true\n"),
    (
        "Vegas",
        "payload = \"960b\"\nheader = \"40b\"\nhandshake = true\ntimestamps = true\nrecovery = \"newreno\"\n",
    ),
];

/// Habits of ns-2; see [`crate::setting`].
const HABITS: &str = "initial_ssthresh = 2\nmax_window = 100000\nrto_min = \"200ms\"\nrto_initial = \"3s\"\n\
    rto_granularity = \"10ms\"\nwindow_validation = false\n";

/// An ACK for two packets counts twice.
const DELAYED: &str = "delayed_ack = true\ngrowth_per_ack = 2\n";

/// Reads the file.
pub fn read(text: &str) -> Result<Vec<Pair>, String> {
    let plan: Plan = toml::from_str(text).map_err(|error| format!("{FILE}: {error}"))?;
    let pair = |line: Line| {
        let unknown = || format!("{FILE}: `{}` has no path `{}`", line.ours, line.path);
        let path = plan.path.get(&line.path).ok_or_else(unknown)?.clone();
        Ok(Pair { place: line.path, path, ours: line.ours, theirs: line.theirs })
    };
    plan.pair.into_iter().map(pair).collect()
}

impl Pair {
    /// Name in the explanations: `K/idle/reno/Sack1`.
    pub fn name(&self) -> String {
        format!("{}/{}/{}/{}", super::GROUP, self.place, self.ours, self.theirs())
    }

    /// Number of samples of a run.
    #[cfg(test)]
    pub fn samples(&self) -> usize {
        (self.path.duration / STEP).round() as usize
    }

    fn word(&self, key: &str) -> Option<&str> {
        self.theirs.get(key).and_then(Value::as_str)
    }

    /// Whether the receiver acknowledges every second packet.
    fn delayed(&self) -> bool {
        self.theirs.get("delack").and_then(Value::as_u64) == Some(1)
    }

    fn agent(&self) -> &str {
        self.word("agent").unwrap_or(AGENT)
    }

    /// Name of ns-2's agent in tables: `Sack1`, `Linux cubic`.
    pub fn theirs(&self) -> String {
        let delayed = self.delayed().then_some("with delayed acknowledgements");
        [Some(self.agent()), self.word("ca"), self.word("params"), delayed]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The settings of ns-2's run.
    pub fn setup(&self) -> Setup {
        let LossyLink { rate, rtt, window, duration, losses, .. } = &self.path;
        let losses: Vec<String> = losses.iter().map(f64::to_string).collect();
        let mut args = self.theirs.clone();
        let given = json!({
            "bw": rate, "rtt": rtt, "start": window, "end": duration, "step": STEP, "losses": losses.join(" "),
        });
        args.extend(given.as_object().cloned().unwrap_or_default());
        Setup::new("trajectory.tcl", args)
    }

    /// Our scenario.
    pub fn scenario(&self) -> Result<String, String> {
        let LossyLink { rate, rtt, window, duration, losses, .. } = &self.path;
        let (name, ours) = (self.name(), &self.ours);
        let host = HOSTS.iter().find(|(agent, _)| *agent == self.agent());
        let (_, host) = host.ok_or_else(|| format!("{FILE}: no host is like {}", self.agent()))?;
        let delayed = if self.delayed() { DELAYED } else { "" };
        let losses: Vec<String> = losses.iter().map(|at| format!("\"{at}s\"")).collect();
        let losses = losses.join(", ");
        let delay = (rtt / 2.0 * 1e9).round();
        Ok(format!(
            "name = \"{name}\"\n\n[run]\nduration = \"{duration}s\"\nsample = \"{STEP}s\"\n\n\
             [topology]\nkind = \"chain\"\nrate = \"{rate}bit\"\nhop_delay = \"{delay}ns\"\nbuffer = \"100000pkt\"\n\n\
             [loss]\nkind = \"at\"\ntimes = [{losses}]\n\n\
             [tcp]\ninitial_window = {window}\n{HABITS}{delayed}{host}\n\
             [[flows]]\ncc = \"{ours}\"\n"
        ))
    }
}

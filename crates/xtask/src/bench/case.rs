// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The cases: scenarios with the settings of ns-2's script, so that both simulators can run them.

use kneepoint::scenario;
use kneepoint::spec::Valid;
use serde_json::json;

use crate::setting::{self, Setup};

/// A scenario to time.
pub struct Benchmark {
    /// Its name in tables.
    pub name: &'static str,
    /// Its description.
    pub about: &'static str,
    /// Rate of the bottleneck in bit/s.
    pub rate: f64,
    /// Long flows.
    pub flows: u32,
    /// Web sessions.
    pub sessions: u32,
    /// Only the links that the round trips need.
    pub minimal: bool,
    /// A meter observes the run.
    pub watched: bool,
    /// Hosts send without jitter.
    pub quiet: bool,
    /// Hosts are Linux's.
    pub linux: bool,
    /// Further sections of the scenario.
    pub sections: &'static str,
    /// Seconds that ns-2 simulates; none where the run would repeat another case.
    pub ns2_seconds: Option<u32>,
    /// Seconds that the shorter and the longer run under valgrind simulate.
    pub counted: (u32, u32),
    /// The goal in nanoseconds per packet, on an idle processor of 3 GHz.
    pub goal: Option<f64>,
}

/// Seconds that a timed run simulates.
pub const SECONDS: u32 = 100;

/// Flows start in the first this many seconds.
const START: u32 = 5;

const D100: Benchmark = Benchmark {
    name: "d100",
    about: "100 SACK flows over 150 Mbit/s and 60 ms, every link serialised, with a meter",
    rate: 150e6,
    flows: 100,
    sessions: 0,
    minimal: false,
    watched: true,
    quiet: false,
    linux: false,
    sections: "",
    ns2_seconds: Some(SECONDS),
    counted: (8, 12),
    goal: Some(220.0),
};

/// Every case, in the order of tables.
pub const BENCHMARKS: [Benchmark; 8] = [
    D100,
    Benchmark {
        name: "d100-unwatched",
        about: "`d100` without a meter",
        watched: false,
        ns2_seconds: None,
        goal: None,
        ..D100
    },
    Benchmark {
        name: "d100-minimal",
        about: "the round trips of `d100` with the fewest links and no meter",
        minimal: true,
        watched: false,
        ns2_seconds: None,
        quiet: true,
        goal: Some(80.0),
        ..D100
    },
    Benchmark {
        name: "d100-linux",
        about: "`d100` with Linux's hosts: RACK-TLP, PRR, delayed acknowledgements, packets of 1500 bytes",
        linux: true,
        ns2_seconds: None,
        goal: None,
        ..D100
    },
    Benchmark {
        name: "d1000",
        about: "1000 SACK flows over 1 Gbit/s and 60 ms, every link serialised, with a meter",
        rate: 1e9,
        flows: 1000,
        ns2_seconds: Some(20),
        counted: (7, 8),
        goal: Some(260.0),
        ..D100
    },
    Benchmark {
        name: "d1000-quiet",
        about: "`d1000` without the jitter of hosts: flows of equal round trips lock their phases",
        rate: 1e9,
        flows: 1000,
        quiet: true,
        ns2_seconds: None,
        counted: (7, 8),
        goal: None,
        ..D100
    },
    Benchmark {
        name: "d1000-minimal",
        about: "1000 flows with the fewest links and no meter",
        rate: 1e9,
        flows: 1000,
        minimal: true,
        watched: false,
        quiet: true,
        ns2_seconds: None,
        counted: (7, 8),
        goal: None,
        ..D100
    },
    Benchmark {
        name: "web1000",
        about: "50 SACK flows and 1000 web sessions with a page gap of 1 s over 150 Mbit/s and 60 ms",
        flows: 50,
        sessions: 1000,
        ns2_seconds: Some(30),
        counted: (8, 12),
        goal: Some(500.0),
        ..D100
    },
];

/// [`D100`] with this many flows, each with its part of the link, for runs of this many seconds.
const fn flows(name: &'static str, flows: u32, counted: (u32, u32), ns2_seconds: Option<u32>) -> Benchmark {
    Benchmark { name, flows, rate: 1.5e6 * flows as f64, counted, ns2_seconds, goal: None, ..D100 }
}

/// The curve of cost against the number of flows.
pub const SCALE: [Benchmark; 5] = [
    flows("flows-10", 10, (50, 100), Some(SECONDS)),
    flows("flows-100", 100, (20, 40), Some(SECONDS)),
    flows("flows-1000", 1000, (8, 12), Some(15)),
    flows("flows-10000", 10_000, (6, 7), None),
    flows("flows-100000", 100_000, (6, 7), None),
];

/// [`D100`] whose bottleneck has an effect.
const fn effect(name: &'static str, about: &'static str, sections: &'static str) -> Benchmark {
    Benchmark { name, about, sections, ns2_seconds: None, goal: None, ..D100 }
}

/// Links that do more than queue, delay and lose.
pub const EFFECTS: [Benchmark; 8] = [
    effect("d100-policed", "a policer", "[policer]\nrate = \"140mbit\"\nburst = \"500kb\"\n"),
    effect("d100-shaped", "a token-bucket shaper", "[capacity]\nkind = \"token-bucket\"\n"),
    effect("d100-granted", "grants for acknowledgements", "[reverse]\ncapacity = \"grants\"\n"),
    effect("d100-reordered", "reordering by time", "[reordering]\np = 0.01\ndelay = \"1ms\"\n"),
    effect("d100-overtaken", "reordering by distance", "[reordering]\np = 0.01\npackets = 2\n"),
    effect("d100-doubled", "duplication", "[duplication]\np = 0.01\n"),
    effect("d100-corrupted", "corruption", "[corruption]\np = 0.0001\n"),
    effect(
        "d100-handed-over",
        "handovers every second, of delay and rate",
        "[handover]\nevery = \"1s\"\ndelays = [\"20ms\", \"21ms\"]\nrates = [\"150mbit\", \"140mbit\"]\n",
    ),
];

impl Benchmark {
    /// The case of this name.
    pub fn named(name: &str) -> Option<&'static Benchmark> {
        BENCHMARKS.iter().chain(&SCALE).chain(&EFFECTS).find(|case| case.name == name)
    }

    /// The settings for a run of `seconds`, as the script takes them.
    pub fn setup(&self, seconds: u32) -> Setup {
        let mut args = json!({
            "scheme": "sack-droptail",
            "bw": self.rate,
            "rtt": 0.06,
            "nflows": self.flows,
            "nweb": self.sessions,
            "t0": START,
            "t1": seconds,
            "startspan": START,
        });
        if self.quiet {
            args["overhead"] = json!(0);
        }
        Setup::new("dumbbell.tcl", args.as_object().cloned().unwrap_or_default())
    }

    /// Our scenario.
    pub fn scenario(&self, seconds: u32) -> Result<Valid, String> {
        let mut text = setting::scenario(self.name, &self.setup(seconds), 1);
        if self.minimal {
            let full = text.lines().filter(|line| !line.starts_with("access_rate"));
            text =
                full.collect::<Vec<_>>().join("\n").replace("[topology]", "[topology]\naccess = \"minimal\"");
        }
        if self.linux {
            text = on_linux(&text);
        }
        text = format!("{text}\n{}", self.sections);
        let plan =
            scenario::parse(&text).map_err(|faults| format!("{}: {}", self.name, faults[0].message))?;
        plan.cases.into_iter().next().map(|case| case.valid).ok_or_else(|| "a plan without a case".into())
    }
}

/// The same scenario with Linux hosts, which keep nothing of `[tcp]` but their jitter.
fn on_linux(text: &str) -> String {
    let mut options = false;
    let kept = text.lines().filter(|line| {
        options = if line.starts_with('[') { *line == "[tcp]" } else { options };
        !options || line.is_empty() || line.starts_with('[') || line.starts_with("jitter")
    });
    let left = kept.collect::<Vec<_>>().join("\n");
    left.replace("[tcp]", "[tcp]\npreset = \"linux\"").replace("recovery = \"sack\"", "recovery = \"rack\"")
}

#[cfg(test)]
mod tests {
    use kneepoint::tcp::Recovery;

    use super::*;

    #[test]
    fn every_case_is_a_scenario() {
        for case in BENCHMARKS.iter().chain(&SCALE).chain(&EFFECTS) {
            let valid = case.scenario(SECONDS).unwrap();
            let flows: usize = valid
                .groups()
                .iter()
                .filter(|group| group.kind().listed())
                .map(|group| group.members.len())
                .sum();
            assert_eq!(flows, case.flows as usize, "{}", case.name);
            let options = valid.groups()[0].tcp.as_ref().unwrap();
            let expected = if case.linux { Recovery::Rack } else { Recovery::Sack };
            assert_eq!(options.recovery, expected, "{}", case.name);
        }
    }
}

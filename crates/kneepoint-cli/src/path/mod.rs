// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The vocabulary of paths that verbs about one bottleneck share, and its translation to fields of a scenario.
//!
//! A simulation distinguishes the direction of most data, *down*, and of acknowledgements, *up*: the client receives.
//! An option without a direction applies to the direction of most data, or to both where a dumbbell has them in
//! common. `knee emulate`, which cannot identify data, applies it to both directions; up is from the program.

mod fields;
mod link;
mod notes;
mod presets;
mod property;
mod several;
mod table;

use std::path::{Path, PathBuf};

use clap::Args;
use kneepoint::suggest::guess;
use kneepoint_bench::session::Session;

use crate::completion;
use crate::failure::Failure;
use crate::traced;
use crate::values::{OneOf, distinct};
pub use fields::{Fields, of_preset};
use link::LinkFields;
use presets::Preset;
use property::{PROPERTIES, Property, named};
use table::quoted;

/// Properties of the path between the ends of flows.
#[derive(Args)]
pub struct PathOptions {
    /// A path by its name; other options override its properties
    #[arg(long, value_name = "NAME", value_parser = presets::names(), ignore_case = true, help_heading = PATH)]
    path: Option<String>,
    /// Let the bottleneck follow a trace, or each of several, in any form that `knee trace` reads, at its mean rate
    #[arg(long, value_name = "FILE,…", conflicts_with = "rate", help_heading = PATH)]
    trace: Option<PathBuf>,
    /// Loss: a share as 1% or 0.01, several of them, or a model as gilbert-elliott:to_bad=0.001 or at:times=5s
    #[arg(long, value_name = "SHARE,…|MODEL", help_heading = PATH)]
    loss: Option<String>,
    /// Random additional delay of packets, up to this much and without reordering, in both directions
    #[arg(long, value_name = "TIME,…", help_heading = PATH)]
    jitter: Option<String>,
    /// Rate of the reverse path, which acknowledgements take
    #[arg(long, value_name = "RATE,…", help_heading = PATH)]
    reverse_rate: Option<String>,
    /// Play delays from a file: a time and a delay a line, or CSV with a column of delays
    #[arg(long, value_name = "FILE", help_heading = PATH)]
    delays: Option<String>,
    /// Shape by a token bucket of this burst, as tc-tbf does: 64kb, 64kb:peak=100mbit
    #[arg(long, value_name = "BURST", conflicts_with = "trace", help_heading = PATH)]
    shaper: Option<String>,
    /// Send only at grants, all waiting packets together, as DOCSIS and Wi-Fi do: 2ms
    #[arg(long, value_name = "PERIOD", conflicts_with_all = ["trace", "shaper"], help_heading = PATH)]
    grants: Option<String>,
    /// Police: drop what exceeds a rate and a burst, 10mbit or 10mbit:burst=64kb
    #[arg(long, value_name = "RATE,…", help_heading = PATH)]
    policer: Option<String>,
    /// Reorder a share of the packets: 1%, 1%:delay=5ms, 1%:packets=3
    #[arg(long, value_name = "SHARE,…", help_heading = PATH)]
    reorder: Option<String>,
    /// Duplicate a share of the packets
    #[arg(long, value_name = "SHARE,…", help_heading = PATH)]
    duplicate: Option<String>,
    /// Corrupt a share of the packets, which their receiver drops
    #[arg(long, value_name = "SHARE,…", help_heading = PATH)]
    corrupt: Option<String>,
    /// Hand over periodically: 15s, 15s:outage=100ms,delays=20ms,35ms,rates=50mbit,20mbit
    #[arg(long, value_name = "PERIOD", help_heading = PATH)]
    handover: Option<String>,
    /// Split connections at nodes, as performance-enhancing proxies do: r1, r1,r2, r1:buffer=1MB
    #[arg(long, value_name = "NODE,…", help_heading = PATH)]
    proxy: Option<String>,
    /// Filter acknowledgements on the reverse path, as CAKE does
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "conservative", value_parser = OneOf::of(["conservative", "aggressive"]), help_heading = PATH)]
    ack_filter: Option<String>,
    /// Other properties of the uplink, from the client: rate=2mbit,queue=codel,trace=FILE; in a simulation acknowledgements take it
    #[arg(long, value_name = "KEY=VALUE,…", value_delimiter = ',', help_heading = PATH)]
    up: Vec<String>,
    /// Other properties of the downlink, to the client; in a simulation data takes it
    #[arg(long, value_name = "KEY=VALUE,…", value_delimiter = ',', help_heading = PATH)]
    down: Vec<String>,
    /// Set a field of the scenario by its path in `[sweep]`, as in topology.rtt=20ms or flows.*.count=5 (repeatable)
    #[arg(long, value_name = "PATH=VALUE", add = completion::path())]
    pub set: Vec<String>,
}

const PATH: &str = "Path";

/// A way of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// From the client; in a simulation the direction of acknowledgements.
    Up,
    /// To the client; in a simulation the direction of most data.
    Down,
}

/// Properties that verbs have as options of their own, with defaults of their own.
const WHOLE: [&str; 3] = ["rate", "rtt", "buffer"];

/// A property as written.
struct Given {
    property: &'static Property,
    value: String,
    /// Its direction, where it has one.
    way: Option<Way>,
    /// The option with it: `--up rate=2mbit`.
    option: String,
}

impl PathOptions {
    /// The options as written, general ones before the ones with a direction.
    fn given(&self) -> Result<Vec<Given>, Failure> {
        let trace = self.trace.as_ref().map(|file| file.display().to_string());
        let plain = [
            ("trace", &trace),
            ("loss", &self.loss),
            ("jitter", &self.jitter),
            ("delays", &self.delays),
            ("shaper", &self.shaper),
            ("grants", &self.grants),
            ("policer", &self.policer),
            ("reorder", &self.reorder),
            ("duplicate", &self.duplicate),
            ("corrupt", &self.corrupt),
            ("handover", &self.handover),
            ("proxy", &self.proxy),
        ];
        let mut given = Vec::new();
        let mut add = |word: &str, value: &str, way, option| {
            let property = named(word).expect("every option is in the table");
            given.push(Given { property, value: value.to_string(), way, option });
        };
        let known = self.preset().map_or(&[][..], |preset| preset.properties);
        for (way, word, value) in known.iter().filter(|(way, word, _)| way.is_some() || !WHOLE.contains(word))
        {
            add(word, value, *way, format!("--path {}", self.path.as_deref().unwrap_or_default()));
        }
        for (word, value) in plain {
            if let Some(value) = value {
                add(word, value, None, format!("--{word} {value}"));
            }
        }
        if let Some(how) = &self.ack_filter {
            add("ack-filter", how, Some(Way::Up), format!("--ack-filter {how}"));
        }
        if let Some(rate) = &self.reverse_rate {
            add("rate", rate, Some(Way::Up), format!("--reverse-rate {rate}"));
        }
        for (option, words, way) in [("--up", &self.up, Way::Up), ("--down", &self.down, Way::Down)] {
            for (word, value) in pairs(option, words)? {
                add(&word, &value, Some(way), format!("{option} {word}={value}"));
            }
        }
        self.outages_leave_room(&given)?;
        Ok(given)
    }

    /// Refuses a capacity together with the handovers of a preset, whose outages are a capacity, too.
    fn outages_leave_room(&self, given: &[Given]) -> Result<(), Failure> {
        let Some((name, handover)) =
            self.path.as_deref().zip(self.preset().and_then(|one| one.get("handover")))
        else {
            return Ok(());
        };
        let capacity = |one: &&Given| one.property.forward == Some("capacity") && one.way != Some(Way::Up);
        let Some(other) = given.iter().find(capacity).filter(|_| self.handover.is_none()) else {
            return Ok(());
        };
        let (every, rest) = handover.split_once(':').unwrap_or((handover, ""));
        let without: Vec<&str> = rest.split(',').filter(|word| !word.starts_with("outage=")).collect();
        Err(Failure::usage(
            format!("--path {name} and {} both change the rate: its handovers have outages", other.option),
            format!(
                "`--handover {every}:{}` keeps the delays of the handovers and leaves the outages out",
                without.join(",")
            ),
        ))
    }

    /// The path that is named.
    pub fn preset(&self) -> Option<&'static Preset> {
        self.path.as_deref().and_then(presets::named)
    }

    /// Whether the bottleneck follows a trace, which has its own rate.
    pub fn has_trace(&self) -> bool {
        self.trace.is_some()
    }

    /// A property of the whole path from the path's name, or else the usual one.
    pub fn usual(&self, word: &str, usual: &str) -> String {
        self.preset().and_then(|preset| preset.get(word)).unwrap_or(usual).to_string()
    }

    /// The option that names the path, and a property of it as a whole.
    pub fn usual_of(&self, word: &str) -> Option<(String, &'static str)> {
        let value = self.preset().and_then(|preset| preset.get(word))?;
        Some((format!("--path {}", self.path.as_deref().unwrap_or_default()), value))
    }

    /// As fields of a scenario with one bottleneck. They go after the verb's own fields and before `--set`.
    pub fn fields(&self, session: &Session, own: Fields) -> Result<Fields, Failure> {
        let mut fields = Fields::default();
        let given = self.given()?;
        let with_delays = given.iter().any(|one| one.property.word == DELAYS);
        for Given { property, value, way, option } in given {
            fields.both_ways |= way == Some(Way::Up) || property.reverse.is_none();
            let field = property.of(way).ok_or_else(|| not_of_one_way(property, &option, &value))?;
            let several = property.several(&option, &value)?;
            if property.is_trace() {
                let files = several.as_ref().map_or(vec![&value[..]], |several| several.values.clone());
                let mean_of = |file: &&str| {
                    Ok(traced::played(session, Path::new(file), with_delays)?.recording.mean().to_string())
                };
                let means = files.iter().map(mean_of).collect::<Result<Vec<_>, Failure>>()?;
                let rate = if way == Some(Way::Up) { "topology.reverse_rate" } else { "topology.rate" };
                // Of several traces the scenario takes the mean of each.
                let said = if let [mean] = &means[..] { mean } else { "auto" };
                fields.put(rate, &option, quoted(said))?;
            }
            if let Some(several) = several {
                if let Some(whole) = &several.whole {
                    fields.put(field, &option, whole.clone())?;
                }
                fields.add(&option, several.axis(field));
                continue;
            }
            fields.put(field, &option, property.toml(&value)?)?;
            let told = option.trim_start_matches("--").to_string();
            if !fields.told.contains(&told) {
                fields.told.push(told);
            }
        }
        self.set().after(fields.after(own)).once()
    }

    /// The fields of `--set` alone.
    pub fn set(&self) -> Fields {
        Fields::of_set(&self.set)
    }

    /// The properties of one direction of an emulated path, the general ones before its own: keys of a `[[link]]` and values in TOML.
    pub fn of_link(
        &self,
        session: &Session,
        way: Way,
        general: &[(&'static str, String)],
    ) -> Result<Vec<(&'static str, String)>, Failure> {
        let mut fields = LinkFields::of(general);
        let given: Vec<Given> =
            self.given()?.into_iter().filter(|one| one.way.is_none_or(|own| own == way)).collect();
        let with_delays = given.iter().any(|one| one.property.word == DELAYS);
        for Given { property, value, way: own, option } in given {
            if property.several(&option, &value)?.is_some() {
                return Err(Failure::usage(format!("{option}: an emulation has one path"), "give one value"));
            }
            if property.link.is_empty() {
                let message = format!("{option}: an emulated link has no `{}`", property.word);
                return Err(Failure::usage(message, "leave it out"));
            }
            if property.is_trace() {
                let known = traced::played(session, Path::new(&value), with_delays)?;
                fields.put("rate", quoted(&known.recording.mean().to_string()), (&option, own))?;
            }
            fields.put(property.link, property.toml(&value)?, (&option, own))?;
        }
        Ok(fields.pairs())
    }
}

/// The property for which traces have columns, too.
const DELAYS: &str = "delays";

/// The reason why a property has no field for one direction.
fn not_of_one_way(property: &Property, option: &str, value: &str) -> Failure {
    let remedy = match property.word {
        "delay" => "give the round-trip time with `--rtt`".to_string(),
        word => format!(
            "leave it out of {}, and write `--{word} {value}`",
            option.split(' ').next().unwrap_or("")
        ),
    };
    Failure::usage(format!("{option}: a simulation has no `{}` of one way", property.word), remedy)
}

/// The properties that `--up` or `--down` lists. Values may have commas of their own: a part without a key belongs to the value
/// before, and so does one with a key after a colon, as in `handover=15s:outage=1ms,rates=5mbit`.
fn pairs(option: &str, words: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let mut given: Vec<(String, String)> = Vec::new();
    for word in words {
        let pair = word.split_once('=');
        match (pair.filter(|(key, _)| of_one_way(key)), given.last_mut()) {
            (Some((key, value)), _) => given.push((key.to_string(), value.to_string())),
            (None, Some((_, value))) if pair.is_none() || value.contains(':') => {
                *value += &format!(",{word}");
            }
            _ => {
                let known: Vec<&str> =
                    PROPERTIES.iter().map(|one| one.word).filter(|one| of_one_way(one)).collect();
                let meant = pair.map_or(String::new(), |(key, _)| guess(key, &known));
                return Err(Failure::usage(
                    format!("{option}: `{word}` is not a property of a link"),
                    format!("{meant}write KEY=VALUE with one of {}", known.join(", ")),
                ));
            }
        }
    }
    let keys: Vec<&str> = given.iter().map(|(key, _)| key.as_str()).collect();
    distinct(&format!("{option}:"), &keys, |key| *key)?;
    Ok(given)
}

/// Whether a word is a property that a single direction may have.
fn of_one_way(word: &str) -> bool {
    named(word).is_some_and(|property| !property.link.is_empty())
}

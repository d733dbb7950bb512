// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The vocabulary of paths that verbs about one bottleneck share, and its translation to fields of a scenario.
//!
//! A simulation knows the way of most data, *down*, and that of acknowledgements, *up*: the client receives. An option without a direction
//! is about the way of most data, or about both where a dumbbell has them in common. `knee emulate`, which knows no data, gives it to both
//! ways, and up is from the program.

mod fields;
mod presets;
mod property;

use std::path::{Path, PathBuf};

use clap::Args;
use kneepoint_bench::session::Session;

use crate::completion;
use crate::failure::Failure;
use crate::traced;
use crate::values::{OneOf, distinct};
pub use fields::Fields;
use presets::Preset;
use property::{PROPERTIES, Property, named, quoted};

/// Properties of the path between the ends of flows.
#[derive(Args)]
pub struct PathOptions {
    /// A path by its name; other options override its properties
    #[arg(long, value_name = "NAME", value_parser = presets::names(), ignore_case = true, help_heading = PATH)]
    path: Option<String>,
    /// Let the bottleneck follow a trace, in any form that `knee trace` knows, at the mean rate of that
    #[arg(long, value_name = "FILE", conflicts_with = "rate", help_heading = PATH)]
    trace: Option<PathBuf>,
    /// Loss: a share as 1% or 0.01, or a model as gilbert-elliott:to_bad=0.001 or at:times=5s
    #[arg(long, value_name = "SHARE|MODEL", help_heading = PATH)]
    loss: Option<String>,
    /// By how much more packets may be delayed, at random and without reordering, both ways
    #[arg(long, value_name = "TIME", help_heading = PATH)]
    jitter: Option<String>,
    /// Rate of the way back, which acknowledgements take
    #[arg(long, value_name = "RATE", help_heading = PATH)]
    reverse_rate: Option<String>,
    /// Play delays from a file: a time and a delay a line, or CSV with a column of delays
    #[arg(long, value_name = "FILE", help_heading = PATH)]
    delays: Option<String>,
    /// Shape by a token bucket of this burst, as tc-tbf does: 64kb, 64kb:peak=100mbit
    #[arg(long, value_name = "BURST", conflicts_with = "trace", help_heading = PATH)]
    shaper: Option<String>,
    /// Send only when a grant comes, all that waits together, as DOCSIS and Wi-Fi do: 2ms
    #[arg(long, value_name = "PERIOD", conflicts_with_all = ["trace", "shaper"], help_heading = PATH)]
    grants: Option<String>,
    /// Police: drop what exceeds a rate and a burst, 10mbit or 10mbit:burst=64kb
    #[arg(long, value_name = "RATE", help_heading = PATH)]
    policer: Option<String>,
    /// Reorder a share of the packets: 1%, 1%:delay=5ms, 1%:packets=3
    #[arg(long, value_name = "SHARE", help_heading = PATH)]
    reorder: Option<String>,
    /// Duplicate a share of the packets
    #[arg(long, value_name = "SHARE", help_heading = PATH)]
    duplicate: Option<String>,
    /// Corrupt a share of the packets, which their receiver drops
    #[arg(long, value_name = "SHARE", help_heading = PATH)]
    corrupt: Option<String>,
    /// Hand over periodically: 15s, 15s:outage=100ms,delays=20ms,35ms,rates=50mbit,20mbit
    #[arg(long, value_name = "PERIOD", help_heading = PATH)]
    handover: Option<String>,
    /// Filter acknowledgements on the way back, as CAKE does
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "conservative", value_parser = OneOf::of(["conservative", "aggressive"]), help_heading = PATH)]
    ack_filter: Option<String>,
    /// Other properties of the way up, from the client: rate=2mbit,queue=codel,trace=FILE; in a simulation acknowledgements take it
    #[arg(long, value_name = "KEY=VALUE,…", value_delimiter = ',', help_heading = PATH)]
    up: Vec<String>,
    /// Other properties of the way down, to the client; in a simulation data takes it
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
    /// From the client; in a simulation the way of acknowledgements.
    Up,
    /// To the client; in a simulation that of most data.
    Down,
}

/// Properties that verbs have as options of their own, with defaults of their own.
const WHOLE: [&str; 3] = ["rate", "rtt", "buffer"];

/// A property as it was written.
struct Given {
    property: &'static Property,
    value: String,
    /// The way that it is of, where it is of one.
    way: Option<Way>,
    /// The option that says it: `--up rate=2mbit`.
    option: String,
}

impl PathOptions {
    /// What is written, the general before what is of one way.
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
        Ok(given)
    }

    /// The path that is named.
    pub fn preset(&self) -> Option<&'static Preset> {
        self.path.as_deref().and_then(presets::named)
    }

    /// Whether the bottleneck follows a trace, which has a rate of its own.
    pub fn has_trace(&self) -> bool {
        self.trace.is_some()
    }

    /// A property of the whole path as the path's name has it, or else the usual one.
    pub fn usual(&self, word: &str, usual: &str) -> String {
        self.preset().and_then(|preset| preset.get(word)).unwrap_or(usual).to_string()
    }

    /// As fields of a scenario with one bottleneck, those of `--set` last.
    pub fn fields(&self, session: &Session) -> Result<Fields, Failure> {
        let mut fields = Fields::default();
        for Given { property, value, way, option } in self.given()? {
            fields.both_ways |= way == Some(Way::Up) || property.reverse.is_none();
            let field = match way {
                Some(Way::Up) => property.reverse,
                Some(Way::Down) => property.reverse.and(property.forward),
                None => property.forward,
            };
            let Some(field) = field else {
                let one = format!("a simulation has no `{}` of one way", property.word);
                let remedy = match property.word {
                    "delay" => "give the round-trip time with `--rtt`".to_string(),
                    word => format!(
                        "leave it out of {}, and write `--{word} {value}`",
                        option.split(' ').next().unwrap_or("")
                    ),
                };
                return Err(Failure::usage(format!("{option}: {one}"), remedy));
            };
            if property.is_trace() {
                let mean = traced::played(session, Path::new(&value))?.recording.mean();
                let rate = if way == Some(Way::Up) { "topology.reverse_rate" } else { "topology.rate" };
                fields.put(rate, &option, quoted(&mean.to_string()));
            }
            fields.put(field, &option, property.toml(&value)?);
            let told = option.trim_start_matches("--").to_string();
            if !fields.told.contains(&told) {
                fields.told.push(told);
            }
        }
        if let Some(name) = &self.path {
            fields.forget(&format!("--path {name}"), &self.set);
        }
        Ok(self.set().after(fields))
    }

    /// The fields of `--set` alone.
    pub fn set(&self) -> Fields {
        Fields::of_set(&self.set)
    }

    /// The properties of a way of an emulated path, the general ones before its own: keys of a `[[link]]` and values in TOML.
    pub fn of_link(
        &self,
        session: &Session,
        way: Way,
        general: &[(&'static str, String)],
    ) -> Result<Vec<(&'static str, String)>, Failure> {
        let mut fields: Vec<(&'static str, String)> = Vec::new();
        let mut put =
            |key: &'static str, value: String| match fields.iter_mut().find(|(known, _)| *known == key) {
                Some((_, old)) => *old = value,
                None => fields.push((key, value)),
            };
        for (word, value) in general {
            put(word, quoted(value));
        }
        for Given { property, value, .. } in
            self.given()?.into_iter().filter(|one| one.way.is_none_or(|own| own == way))
        {
            if property.is_trace() {
                let known = traced::played(session, Path::new(&value))?;
                put("rate", quoted(&known.recording.mean().to_string()));
            }
            put(property.link, property.toml(&value)?);
        }
        Ok(fields)
    }
}

/// The properties that `--up` or `--down` lists. Values may have commas of their own: what has no known key belongs to the value before.
fn pairs(option: &str, words: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let mut given: Vec<(String, String)> = Vec::new();
    for word in words {
        match (word.split_once('=').filter(|(key, _)| of_one_way(key)), given.last_mut()) {
            (Some((key, value)), _) => given.push((key.to_string(), value.to_string())),
            (None, Some((_, value))) => *value += &format!(",{word}"),
            (None, None) => {
                let known: Vec<&str> =
                    PROPERTIES.iter().map(|one| one.word).filter(|one| of_one_way(one)).collect();
                return Err(Failure::usage(
                    format!("{option}: `{word}` is not a property of a link"),
                    format!("write KEY=VALUE with one of {}", known.join(", ")),
                ));
            }
        }
    }
    let keys: Vec<&str> = given.iter().map(|(key, _)| key.as_str()).collect();
    distinct(&format!("{option}:"), &keys, |key| *key)?;
    Ok(given)
}

/// Whether a word is a property that a way may have for itself.
fn of_one_way(word: &str) -> bool {
    named(word).is_some_and(|property| !property.link.is_empty())
}

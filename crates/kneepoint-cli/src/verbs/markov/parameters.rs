// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The parameters and the readings of the analysis as arguments: one option for each that is declared.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use kneepoint::markov::{PRESETS, Params, Preset, Readings};
use kneepoint::settings::{Field, Raw, Refusal, Settings};

use crate::failure::Failure;
use crate::values::OneOf;

/// The preset of readings, and the parameters given.
pub struct Chosen {
    preset: &'static Preset,
    given: Vec<(&'static str, String)>,
}

/// Kinds with their own lists: `--protocols` and `--backlogs`.
const LISTED: [&str; 2] = ["protocol", "backlog"];

fn declared() -> impl Iterator<Item = &'static Field> {
    Params::fields().iter().filter(|field| !LISTED.contains(&field.name))
}

fn option(field: &'static Field) -> Arg {
    let is_reading = Readings::fields().iter().any(|reading| reading.name == field.name);
    let names = field.choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let names = if names.is_empty() { names } else { format!(": {names}") };
    let doc = field.doc.trim_end_matches('.').replace('\n', " ");
    Arg::new(field.name)
        .long(field.name.replace('_', "-"))
        .alias(field.name)
        .value_name("VALUE")
        .allow_hyphen_values(true)
        .help(format!("{doc}{names} [default: {}]", field.default()))
        .help_heading(if is_reading { "Readings of the paper" } else { "Link and sessions" })
}

impl Args for Chosen {
    fn augment_args(command: Command) -> Command {
        let presets = Arg::new("readings")
            .long("readings")
            .value_name("PRESET")
            .value_parser(OneOf::of(PRESETS.iter().map(|preset| preset.name)))
            .default_value(PRESETS[0].name)
            .help("Readings of the paper, all at once; single ones on top of it")
            .help_heading("Readings of the paper");
        command.arg(presets).args(declared().map(option))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Chosen::augment_args(command)
    }
}

impl FromArgMatches for Chosen {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Chosen, clap::Error> {
        let named = matches.get_one::<String>("readings");
        let preset = PRESETS.iter().find(|preset| named.is_some_and(|name| preset.name == name));
        let given = declared()
            .filter_map(|field| Some((field.name, matches.get_one::<String>(field.name)?.clone())))
            .collect();
        Ok(Chosen { preset: preset.unwrap_or(&PRESETS[0]), given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Chosen::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Chosen {
    /// Whether this parameter was given.
    pub fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(given, _)| *given == name)
    }

    /// The parameters, each within its range.
    pub fn params(&self) -> Result<Params, Failure> {
        let mut params = Params::default().with(self.preset);
        for (name, value) in &self.given {
            set(&mut params, name, value)?;
        }
        Ok(params)
    }
}

/// Sets a parameter; the failure names its option, the value and the allowed range.
pub fn set(params: &mut Params, name: &str, value: &str) -> Result<(), Failure> {
    let why = match params.set(name, &Raw::guess(value)) {
        Ok(()) => return Ok(()),
        Err(Refusal::Value(why)) => why,
        Err(Refusal::Unknown) => "there is no such parameter".into(),
    };
    let option = if LISTED.contains(&name) { format!("{name}s") } else { name.replace('_', "-") };
    Err(Failure::usage(
        format!("--{option}: {why}"),
        "`knee markov --help` shows every option with its default",
    ))
}

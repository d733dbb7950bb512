// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A model and its parameters as arguments: one option per parameter declared by any model.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use kneepoint::fluid::{Config, REGISTRY};
use kneepoint::settings::{Field, Raw, Refusal};
use kneepoint::study::fluid::{GivenModel, Named};
use kneepoint::suggest::did_you_mean;

use crate::failure::Failure;
use crate::values::OneOf;

/// The chosen model and the parameters given.
pub struct Chosen {
    model: String,
    given: Vec<(&'static str, String)>,
}

/// All parameters, with the models that declare them.
fn parameters() -> Vec<(&'static str, Vec<(&'static str, &'static Field)>)> {
    let mut found: Vec<(&str, Vec<_>)> = Vec::new();
    for entry in REGISTRY {
        for field in entry.fields {
            match found.iter_mut().find(|(name, _)| *name == field.name) {
                Some((_, models)) => models.push((entry.name, field)),
                None => found.push((field.name, vec![(entry.name, field)])),
            }
        }
    }
    found
}

/// Documentation of a parameter, with its default in each model.
fn help(models: &[(&str, &Field)]) -> String {
    let defaults = models.iter().map(|(model, field)| format!("{model}: {}", field.default()));
    let sentence = models.first().map_or("", |(_, field)| field.doc.trim_end_matches('.'));
    format!("{} [{}]", sentence.replace('\n', " "), defaults.collect::<Vec<_>>().join(", "))
}

impl Args for Chosen {
    fn augment_args(command: Command) -> Command {
        let model = Arg::new("model")
            .value_name("MODEL")
            .required(true)
            .value_parser(OneOf::of(REGISTRY.iter().map(|entry| entry.name)))
            .help("A model listed by `knee list models`");
        let option = |(name, models): (&'static str, Vec<(&'static str, &'static Field)>)| {
            Arg::new(name)
                .long(name.replace('_', "-"))
                .alias(name)
                .value_name("VALUE")
                .help(help(&models))
                .help_heading("Model parameters with their defaults")
        };
        command.arg(model).args(parameters().into_iter().map(option))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Chosen::augment_args(command)
    }
}

impl FromArgMatches for Chosen {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Chosen, clap::Error> {
        let given = parameters()
            .into_iter()
            .filter_map(|(name, _)| Some((name, matches.get_one::<String>(name)?.clone())))
            .collect();
        Ok(Chosen { model: matches.get_one::<String>("model").cloned().unwrap_or_default(), given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Chosen::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Chosen {
    /// The model with the parameters given.
    pub fn subject(&self) -> Result<GivenModel, Failure> {
        let config = self.config()?;
        Ok(GivenModel { model: config.name(), parameters: Named(self.given.clone()), config })
    }

    fn config(&self) -> Result<Config, Failure> {
        let entry = REGISTRY.iter().find(|entry| entry.name == self.model);
        let explain = format!("`knee explain {}` shows every parameter with its range", self.model);
        let Some((mut config, entry)) = Config::named(&self.model).zip(entry) else {
            return Err(Failure::usage(
                format!("unknown model `{}`", self.model),
                "`knee list models` shows them",
            ));
        };
        for (name, value) in &self.given {
            let option = name.replace('_', "-");
            match config.set(name, &Raw::guess(value)) {
                Ok(()) => {}
                Err(Refusal::Value(why)) => {
                    return Err(Failure::usage(format!("--{option}: {why}"), explain));
                }
                Err(Refusal::Unknown) => {
                    let fields = entry.fields;
                    let names = fields
                        .iter()
                        .map(|field| format!("--{}", field.name.replace('_', "-")))
                        .collect::<Vec<_>>();
                    let names = names.iter().map(String::as_str).collect::<Vec<_>>();
                    return Err(Failure::usage(
                        format!("--{option}: the model `{}` has no such parameter", self.model),
                        format!("{}; {explain}", did_you_mean(&format!("--{option}"), &names)),
                    ));
                }
            }
        }
        config.check().map_err(|why| Failure::usage(why, explain))?;
        Ok(config)
    }
}

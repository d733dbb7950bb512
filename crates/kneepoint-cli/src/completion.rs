// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The suggestions of a shell for arguments that name something in the laboratory: names of the registries, with their summaries.

use std::ffi::OsStr;

use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use kneepoint::scenario;
use kneepoint::settings::Settings;
use kneepoint::tcp::{self, Host};

use crate::catalogue::{self, Item, Kind};
use crate::library;

/// Suggestions for one argument, from the text before the cursor.
fn completer(suggest: fn(&str) -> Vec<CompletionCandidate>) -> ArgValueCompleter {
    ArgValueCompleter::new(move |current: &OsStr| current.to_str().map(suggest).unwrap_or_default())
}

/// Schemes: a controller, and after slashes a queue and a feedback, each with settings after a colon.
pub fn scheme() -> ArgValueCompleter {
    completer(|current| {
        let (before, part) = current.split_at(current.rfind('/').map_or(0, |slash| slash + 1));
        match before.matches('/').count() {
            0 => chosen(before, part, Kind::Controllers),
            1 => chosen(before, part, Kind::Queues),
            _ => chosen(before, part, Kind::Feedback),
        }
    })
}

/// Controllers with settings.
pub fn controller() -> ArgValueCompleter {
    completer(|current| chosen("", current, Kind::Controllers))
}

/// Queue disciplines with settings.
pub fn queue() -> ArgValueCompleter {
    completer(|current| chosen("", current, Kind::Queues))
}

/// Predictors, several with commas between.
pub fn predictors() -> ArgValueCompleter {
    completer(|current| {
        let (before, part) = current.split_at(current.rfind(',').map_or(0, |comma| comma + 1));
        chosen(before, part, Kind::Predictors)
    })
}

/// Everything that can be explained.
pub fn name() -> ArgValueCompleter {
    completer(|current| named("", current, &catalogue::items(&Kind::ALL)))
}

/// Published experiments.
pub fn experiment() -> ArgValueCompleter {
    completer(|current| {
        let mut names: Vec<String> = library::names().collect();
        names.extend(library::publications());
        starting(current, names.into_iter().map(|name| (name, String::new())))
    })
}

/// Options of TCP, and the hosts with their own defaults.
pub fn tcp() -> ArgValueCompleter {
    completer(|current| {
        let fields = tcp::Options::fields().iter();
        let fields = fields.map(|field| (format!("{}=", field.name), field.doc.to_string()));
        starting(current, Host::ALL.iter().map(|host| (host.to_string(), String::new())).chain(fields))
    })
}

/// Paths of a scenario's fields.
pub fn path() -> ArgValueCompleter {
    completer(|current| {
        starting(current, scenario::paths().into_iter().map(|(path, about)| (format!("{path}="), about)))
    })
}

/// A member of a family or a preset for one; after a colon, its parameters.
fn chosen(before: &str, part: &str, kind: Kind) -> Vec<CompletionCandidate> {
    let items = catalogue::choices(kind);
    let Some((name, settings)) = part.split_once(':') else { return named(before, part, &items) };
    let Some(item) = items.iter().find(|item| item.is_called(name)) else { return Vec::new() };
    let begun = settings.rfind(',').map_or(0, |comma| comma + 1);
    let whole = part.len() - settings.len() + begun;
    let prefix = format!("{before}{}", &part[..whole]);
    let fields = item.fields.iter();
    let fields = fields.map(|field| (format!("{prefix}{}=", field.name), field.doc.to_string()));
    starting(&format!("{before}{part}"), fields)
}

fn named(before: &str, part: &str, items: &[Item]) -> Vec<CompletionCandidate> {
    let names = items.iter().map(|item| (format!("{before}{}", item.name), item.summary.clone()));
    starting(&format!("{before}{part}"), names)
}

/// The texts with this beginning, each with a line about it.
fn starting(begun: &str, all: impl Iterator<Item = (String, String)>) -> Vec<CompletionCandidate> {
    let folded = begun.to_ascii_lowercase();
    let one = |(text, about): (String, String)| {
        let about = about.lines().next().filter(|line| !line.is_empty()).map(|line| line.to_string().into());
        CompletionCandidate::new(text).help(about)
    };
    all.filter(|(text, _)| text.to_ascii_lowercase().starts_with(&folded)).map(one).collect()
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Arguments that were refused, or that are needed before they are parsed.

use std::ffi::OsString;

use clap::error::{ContextKind, ErrorKind};
use clap::{Arg, Command, CommandFactory, Error, Parser};

use crate::verbs::Knee;

/// Whether `--json` is among the arguments, which need not be valid; those after `--` are a program's.
pub fn want_json(arguments: impl Iterator<Item = OsString>) -> bool {
    arguments.take_while(|argument| argument != "--").any(|argument| argument == "--json")
}

/// The refusal of a negative value that stands apart from its option, where it looks like options of one letter: the option's own, or how to write
/// the value where the option takes it.
pub fn below_zero(refusal: Error) -> Error {
    let letters = refusal.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
    let is_number =
        letters.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if refusal.kind() != ErrorKind::UnknownArgument || !is_number {
        return refusal;
    }
    let mut words: Vec<_> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let command = Knee::command();
    let takes = |word: &str| word.strip_prefix("--").is_some_and(|long| takes_value(&command, long));
    let Some(place) = words.windows(2).position(|two| takes(&two[0]) && two[1].starts_with(&letters)) else {
        return refusal;
    };
    let value = words.remove(place + 1);
    words[place] += &format!("={value}");
    let message =
        format!("`{value}` is not an option\n\n  tip: write a value below zero as in `{}`", words[place]);
    Knee::try_parse_from(&words)
        .err()
        .unwrap_or_else(|| Knee::command().error(ErrorKind::UnknownArgument, message))
}

/// Whether a command or a subcommand has an option of this name that takes a value.
fn takes_value(command: &Command, long: &str) -> bool {
    let takes = |one: &Arg| one.get_long() == Some(long) && one.get_action().takes_values();
    command.get_arguments().any(takes) || command.get_subcommands().any(|below| takes_value(below, long))
}

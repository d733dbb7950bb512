// SPDX-License-Identifier: Apache-2.0 OR MIT
//! All verbs and their options as one page in Markdown: `docs/reference/command-line.md`.

use std::fmt::Write;

use clap::{Arg, Command};

const PREFACE: &str = "\
# Command line

*Generated from the verbs by `knee man --markdown`; do not edit.*

`knee VERB --help` prints the same in a terminal, and `knee man --out DIR` writes manual pages. Every verb has `--json`, which prints JSON on standard
output, and errors as JSON on standard error: [output.md](../output.md). Rates, times and sizes are written as in [scenarios](scenario.md#how-values-are-written),
and [sentences about paths](../paths.md) has examples. A verb may be shortened to an unambiguous beginning.

| verb | |
|---|---|
";

/// The page of a command that was built.
pub fn page(knee: &Command) -> String {
    let mut text = PREFACE.to_string();
    for verb in knee.get_subcommands() {
        let name = verb.get_name();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| [`{name}`](#knee-{name}) | {} |", about(verb));
    }
    notes(&mut text, knee);
    for verb in knee.get_subcommands() {
        section(&mut text, verb, &format!("knee {}", verb.get_name()), 2);
    }
    text
}

fn about(command: &Command) -> String {
    cell(&command.get_about().map(ToString::to_string).unwrap_or_default())
}

fn section(text: &mut String, command: &Command, name: &str, level: usize) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let _ = write!(text, "\n{} {name}\n\n{}.\n\n```text\n{usage}\n```\n", "#".repeat(level), about(command));
    let own = |argument: &&Arg| {
        !argument.is_hide_set() && !["help", "version", "json"].contains(&argument.get_id().as_str())
    };
    let mut arguments = command.get_arguments().filter(own).peekable();
    if arguments.peek().is_some() {
        text.push_str("\n| argument | meaning |\n|---|---|\n");
    }
    for argument in arguments {
        let _ = writeln!(text, "| {} | {} |", called(argument), meaning(argument));
    }
    notes(text, command);
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        section(text, below, &format!("{name} {}", below.get_name()), level + 1);
    }
}

/// An argument in its usual form: `--rate <RATE>`, `[SCHEME]...`.
fn called(argument: &Arg) -> String {
    let names: Vec<String> =
        argument.get_value_names().unwrap_or_default().iter().map(|name| format!("<{name}>")).collect();
    let values = if argument.get_action().takes_values() { names.join(" ") } else { String::new() };
    let short = argument.get_short().map(|letter| format!("-{letter}, ")).unwrap_or_default();
    match argument.get_long() {
        Some(long) => format!("`{}`", cell(format!("{short}--{long} {values}").trim_end())),
        None => format!("`{}`", cell(&values)),
    }
}

fn meaning(argument: &Arg) -> String {
    let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string).unwrap_or_default();
    // The summary has no full stop of its own.
    let mut text = cell(&help.replacen("\n\n", ". ", 1));
    let words: Vec<String> =
        argument.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
    if argument.get_action().takes_values() && !words.is_empty() {
        let _ = write!(text, " [one of {}]", words.join(", "));
    }
    let defaults: Vec<String> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if argument.get_action().takes_values() && !defaults.is_empty() {
        let _ = write!(text, " [default: {}]", defaults.join(" "));
    }
    text
}

/// Text after the options: examples as a list, everything else unchanged.
fn notes(text: &mut String, command: &Command) {
    let after = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string);
    for paragraph in after.unwrap_or_default().split("\n\n") {
        let verbatim = paragraph.contains("\n  ");
        let _ = match paragraph.split_once('\n').filter(|_| verbatim) {
            Some((head, rest)) => write!(text, "\n{head}\n\n```text\n{rest}\n```\n"),
            None if paragraph.is_empty() => Ok(()),
            None => write!(text, "\n{}\n", paragraph.replace('\n', " ")),
        };
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").split_whitespace().collect::<Vec<_>>().join(" ")
}

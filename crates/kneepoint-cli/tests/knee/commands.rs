// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Every command that the book, the help texts and the messages name is one: verbs, options, names and files exist.
//!
//! Commands are parsed; sweeps are counted by `--dry-run`, and nothing is simulated. Words in capitals are placeholders.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use kneepoint_cli::Knee;

use super::*;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files below a folder with this extension.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut all = Vec::new();
    for path in entries {
        if path.is_dir() && !path.ends_with("tests") {
            all.extend(files(&path, end));
        } else if path.extension().is_some_and(|own| own == end) {
            all.push(path);
        }
    }
    all.sort();
    all
}

/// The place of a command, and its words.
struct Found {
    place: String,
    words: Vec<String>,
}

/// The words of a shell's line, without quotes.
fn words(line: &str) -> Vec<String> {
    let (mut all, mut quote) = (vec![String::new()], None);
    for c in line.chars() {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (' ', None) => all.push(String::new()),
            _ => all.last_mut().expect("a word").push(c),
        }
    }
    all.retain(|word| !word.is_empty());
    all
}

/// The commands of `knee` in a line of a shell: before a remark, between `&&`, `|` and `;`.
fn of_line(line: &str) -> Vec<Vec<String>> {
    let line = line.split(" #").next().unwrap_or_default().replace("$(", ";").replace("<(", ";");
    let parts = line.split("&&").flat_map(|part| part.split(['|', ';', '&', '>']));
    let commands = parts.filter_map(|part| {
        let words = words(part.trim().trim_start_matches("sudo ").trim_end_matches(')'));
        (words.first().map(String::as_str) == Some("knee")).then_some(words)
    });
    commands.collect()
}

/// The commands of a page: in blocks of code, and in running text between backticks.
fn of_page(path: &Path) -> Vec<Found> {
    // A line that ends with a backslash continues in the next.
    let text = fs::read_to_string(path).expect("a page").replace("\\\n", " ");
    let mut code = false;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let place = format!("{}:{}", path.display(), number + 1);
        if line.trim_start().starts_with("```") {
            code = !code;
            continue;
        }
        let spans: Vec<&str> = match code || line.starts_with("    knee ") {
            true => vec![line.trim()],
            false => line.split('`').skip(1).step_by(2).collect(),
        };
        let commands = spans.into_iter().flat_map(of_line);
        found.extend(commands.map(|words| Found { place: place.clone(), words }));
    }
    found
}

/// The commands in the examples of a verb's help.
fn of_help(verb: &clap::Command, path: &str) -> Vec<Found> {
    // Examples keep their lines.
    let mut verb = verb.clone().term_width(0);
    let help = verb.render_long_help().to_string();
    let examples = help.lines().skip_while(|line| !line.starts_with("Example"));
    let lines = examples.filter_map(|line| line.strip_prefix("  "));
    let commands = lines.filter_map(|line| line.split("   ").next()).flat_map(of_line);
    let mut found: Vec<Found> =
        commands.map(|words| Found { place: format!("{path} --help"), words }).collect();
    for inner in verb.get_subcommands() {
        found.extend(of_help(inner, &format!("{path} {}", inner.get_name())));
    }
    found
}

/// Whether a word is a placeholder for one, as in `knee explain NAME` and `knee live live.NAME`, or for many.
fn is_placeholder(word: &str) -> bool {
    let capitals = |part: &str| {
        let mut letters = part.chars().filter(|c| c.is_alphabetic()).peekable();
        letters.peek().is_some() && letters.all(char::is_uppercase)
    };
    !word.contains('=')
        && (word.split('.').any(capitals) || word.contains(['…', '*']) || word.starts_with('<'))
}

/// The fault of a command, if any.
fn wrong(words: &[String], here: &Path) -> Option<String> {
    match Knee::try_parse_from(words) {
        Ok(_) => {}
        // A page that speaks of a verb leaves its arguments out.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::MissingRequiredArgument
                    | ErrorKind::MissingSubcommand
                    | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                    | ErrorKind::DisplayHelp
                    | ErrorKind::DisplayVersion
            ) =>
        {
            return None;
        }
        Err(_) if words.iter().any(|word| is_placeholder(word)) => return None,
        Err(error) => return Some(error.to_string()),
    }
    if words.iter().any(|word| is_placeholder(word)) {
        return None;
    }
    let asked = asked(words)?;
    let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    let output = knee(here, &asked);
    (!output.status.success()).then(|| stderr(&output))
}

/// The command that checks the names in another without executing it.
fn asked(words: &[String]) -> Option<Vec<String>> {
    let bare = words.iter().skip(2).filter(|word| !word.starts_with('-')).cloned().collect::<Vec<_>>();
    let verb = words.get(1)?.as_str();
    let own = words[1..].to_vec();
    let and = |begin: &[&str], rest: Vec<String>| {
        Some(begin.iter().map(|word| word.to_string()).chain(rest).collect::<Vec<_>>())
    };
    match (verb, bare.first().map(String::as_str)) {
        ("compare" | "coexist" | "run", _) if verb != "run" || !bare.is_empty() => and(&[], dry(own)),
        ("reproduce", Some(_)) => and(&["reproduce", "--list"], names(verb, &words[2..])),
        ("live", Some(name)) if name != "video" => and(
            if name.ends_with(".toml") { &["check"] } else { &["reproduce", "--list"] },
            vec![name.to_string()],
        ),
        ("explain" | "list" | "check", Some(_)) => and(&[], own),
        ("kernel", Some("load" | "unload" | "status" | "default")) => {
            bare.get(1).and_then(|name| and(&["explain"], vec![name.clone()]))
        }
        _ => None,
    }
}

/// The words that are neither options of a verb nor values of one.
fn names(verb: &str, words: &[String]) -> Vec<String> {
    let command = Knee::command();
    let verb = command.find_subcommand(verb).expect("a verb");
    let takes = |word: &str| {
        let name = word.strip_prefix("--").filter(|name| !name.contains('='));
        let option = verb.get_arguments().find(|option| option.get_long() == name && name.is_some());
        option.is_some_and(|option| option.get_action().takes_values())
    };
    let before = std::iter::once("").chain(words.iter().map(String::as_str));
    let bare = words.iter().zip(before).filter(|(word, last)| !word.starts_with('-') && !takes(last));
    bare.map(|(word, _)| word.clone()).collect()
}

/// A sweep that is only counted, by this machine.
fn dry(words: Vec<String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut rest = words.into_iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--on" | "--store" | "--shard" => _ = rest.next(),
            // They write files of each run, which are not counted.
            "--json" | "--dry-run" => {}
            _ => kept.push(word),
        }
    }
    kept.push("--dry-run".into());
    kept
}

/// A folder with the files that commands name.
pub fn workplace() -> tempfile::TempDir {
    let here = tempfile::tempdir().expect("a folder");
    let copy = |from: &str, to: &str| {
        let to = here.path().join(to);
        fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        fs::copy(root().join(from), to).expect("a copy");
    };
    for path in
        files(&root().join("scenarios"), "toml").iter().chain(&files(&root().join("scenarios"), "csv"))
    {
        let name = path.strip_prefix(root()).expect("within").display().to_string();
        copy(&name, &name);
    }
    copy("scenarios/sizes.csv", "sizes.csv");
    copy("scenarios/modem.csv", "modem.csv");
    copy("experiments/beyond/channel.toml", "my-figure.toml");
    copy("scripts/pages/grid.toml", "grid.toml");
    copy("validation/hunt/bbr-use-2.toml", "out/hunt/findings/bbr-use-1.toml");
    for (name, text) in super::paths::FILES {
        fs::write(here.path().join(name), text).expect("a file");
    }
    for name in ["my.toml", "mine.toml", "yours.toml"] {
        assert!(knee(here.path(), &["init", name]).status.success());
    }
    for (name, text) in super::book::pages().iter().flat_map(|(_, page)| super::book::documents(page)) {
        fs::write(here.path().join(name), text).expect("a file");
    }
    fs::write(here.path().join("my-site.har"), r#"{"log": {"entries": [{"response": {"bodySize": 9000}}]}}"#)
        .expect("a page");
    here
}

#[test]
fn every_command_of_the_book_and_of_the_help_exists_with_its_names_and_files() {
    let pages = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"].map(|page| root().join(page));
    // `documented.rs` runs what output.md lists, with the arguments that it leaves out, and the page of the command line is made of
    // the help, which is checked below.
    let generated = ["docs/output.md", "docs/reference/command-line.md"];
    let book = files(&root().join("docs"), "md")
        .into_iter()
        .filter(|page| !generated.iter().any(|name| page.ends_with(name)));
    let mut found: Vec<Found> = pages.into_iter().chain(book).flat_map(|page| of_page(&page)).collect();
    found.extend(of_help(&Knee::command(), "knee"));
    assert!(found.len() > 150, "{}", found.len());
    let here = workplace();
    // QUIC stacks' own controllers are names in a build that has the stacks.
    let named = |word: &String| ["noq-", "quinn-"].iter().any(|stack| word.starts_with(stack));
    let elsewhere = |words: &[String]| cfg!(not(feature = "quic")) && words.iter().any(named);
    let mut known = BTreeSet::new();
    let mut faults = Vec::new();
    for Found { place, words } in found.into_iter().filter(|found| !elsewhere(&found.words)) {
        if known.insert(words.clone())
            && let Some(why) = wrong(&words, here.path())
        {
            faults.push(format!("{place}: {}\n{why}", words.join(" ")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_verb_that_a_message_names_exists() {
    let command = Knee::command();
    let mut faults = Vec::new();
    for path in files(&root().join("crates"), "rs") {
        let text = fs::read_to_string(&path).expect("a source");
        for code in text.split("`knee ").skip(1) {
            let mut words = code.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
            let plain = |word: &&str| word.chars().next().is_some_and(|c| c.is_ascii_lowercase());
            let Some(verb) = words.next().filter(plain) else { continue };
            let Some(known) = command.find_subcommand(verb).or((verb == "help").then_some(&command)) else {
                faults.push(format!("{}: knee {verb}", path.display()));
                continue;
            };
            let begin = code[verb.len()..].strip_prefix(' ').unwrap_or_default();
            let next = begin.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).next();
            let nested = verb == "kernel" || verb == "fluid";
            if let Some(next) = next.filter(plain).filter(|_| nested)
                && known.find_subcommand(next).is_none()
            {
                faults.push(format!("{}: knee {verb} {next}", path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_published_experiment_answers_to_its_id_with_a_dot_or_a_hyphen() {
    let here = tempfile::tempdir().unwrap();
    for name in ["adaptive-pert.fig13-14", "kotla.fig13-14", "kotla-fig13-14", "Kotla.Fig13-14"] {
        let listed = json(&knee(here.path(), &["reproduce", "--list", "--json", name]));
        let all = listed["experiments"].as_array().unwrap();
        assert_eq!((all.len(), &all[0]["id"]), (1, &"kotla-fig13-14".into()), "{name}");
    }
    assert_refuses(&knee(here.path(), &["reproduce", "--list", "kotla.fig99"]), 2, &["unknown experiment"]);
}

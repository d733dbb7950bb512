// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Shell commands of a script, between backticks: the settings that they make. Nothing is executed.

use std::ops::Range;

use super::settings::{Settings, apply, apply_defaults};
use crate::fault::Fault;
use crate::fault::Faults;

/// The effect of a command on the simulated host.
enum Known {
    /// Settings, each `NAME=VALUE`.
    Assigns,
    /// The settings of `defaults.sh`.
    Defaults,
    /// A value for a file.
    Writes,
    /// The queue of the device.
    Queue,
    /// Nothing.
    Ignored,
}

/// Commands by how their name ends.
const COMMANDS: [(&str, Known); 10] = [
    ("sysctl", Known::Assigns),
    ("set_sysctls.py", Known::Assigns),
    ("defaults.sh", Known::Defaults),
    ("echo", Known::Writes),
    ("tc", Known::Queue),
    // Scripts that restore settings.
    ("sysctl_restore_${PPID}.sh", Known::Ignored),
    ("sleep", Known::Ignored),
    ("true", Known::Ignored),
    (":", Known::Ignored),
    ("ethtool", Known::Ignored),
];

/// Parameters of modules that have one value here.
const PARAMETERS: [(&str, &str); 4] = [
    ("/sys/module/tcp_cubic/parameters/hystart", "1"),
    ("/sys/module/tcp_cubic/parameters/hystart_detect", "3"),
    ("/sys/module/tcp_cubic/parameters/hystart_low_window", "16"),
    ("/sys/module/tcp_cubic/parameters/fast_convergence", "1"),
];

/// Applies the commands of a block, whose text is at `place`.
pub(super) fn apply_block(text: &str, place: Range<usize>, settings: &mut Settings, faults: &mut Faults) {
    for (words, span) in commands(text, place) {
        if let Err(fault) = command(&words, span, settings) {
            faults.take(fault);
        }
    }
}

fn command(words: &[String], span: Range<usize>, settings: &mut Settings) -> Result<(), Fault> {
    let Some(first) = words.first() else { return Ok(()) };
    let refused = |(message, help): (String, String)| Fault::at(span.clone(), message, help);
    let metrics = first == "ip" && words.get(1).is_some_and(|word| word == "tcp_metrics");
    let known = COMMANDS.iter().find(|(known, _)| first == known || first.ends_with(&format!("/{known}")));
    match known {
        _ if metrics => Ok(()),
        Some((_, Known::Ignored)) => Ok(()),
        Some((_, Known::Defaults)) => apply_defaults(settings).map_err(refused),
        Some((_, Known::Assigns)) => assign(words, settings).map_err(refused),
        Some((_, Known::Writes)) => write(words).map_err(refused),
        Some((_, Known::Queue)) => judge_queue(words).map_err(refused),
        None => {
            let help = "the subset has `sysctl -q NAME=VALUE …`, `set_sysctls.py`, `defaults.sh` and `tc qdisc`; \
                        nothing is executed";
            Err(refused((format!("the command `{first}` is outside the subset"), help.to_string())))
        }
    }
}

fn assign(words: &[String], settings: &mut Settings) -> Result<(), (String, String)> {
    for word in words[1..].iter().filter(|word| !word.starts_with('-')) {
        let Some((name, value)) = word.split_once('=') else {
            return Err((format!("`{word}` sets nothing"), "write NAME=VALUE without spaces".to_string()));
        };
        apply(settings, name, value)?;
    }
    Ok(())
}

/// `echo VALUE > FILE`.
fn write(words: &[String]) -> Result<(), (String, String)> {
    let Some(arrow) = words.iter().position(|word| word == ">") else { return Ok(()) };
    let (value, file) = (words[1..arrow].join(" "), words.get(arrow + 1).cloned().unwrap_or_default());
    match PARAMETERS.iter().find(|(known, _)| *known == file) {
        Some((_, only)) if *only == value => Ok(()),
        Some((_, only)) => Err((
            format!("`{file}` is set to `{value}`"),
            format!("the simulated host has it at {only} only"),
        )),
        None => Err((
            format!("writing to `{file}` is outside the subset"),
            "leave it out; nothing is executed".to_string(),
        )),
    }
}

/// The device sends at once with any queue, unless it drops.
fn judge_queue(words: &[String]) -> Result<(), (String, String)> {
    let named = |name: &str| words.iter().any(|word| word == name);
    if named("netem") || named("limit") || named("tbf") || named("fq") {
        let kind = ["netem", "limit", "tbf", "fq"].into_iter().find(|kind| named(kind)).unwrap_or_default();
        let why = match kind {
            "fq" => {
                "it paces segments of every controller; the simulated host paces where the controller says so"
            }
            _ => "the simulated host's device neither drops nor delays",
        };
        return Err((format!("a queue with `{kind}` is outside the subset"), why.to_string()));
    }
    Ok(())
}

/// The commands of a text with their places: words without quotes and redirections of output to nowhere.
fn commands(text: &str, place: Range<usize>) -> Vec<(Vec<String>, Range<usize>)> {
    let mut reader = Words { commands: Vec::new(), words: Vec::new(), word: None, began: None };
    let inside = &text[place.clone()];
    let (mut quote, mut comment, mut escaped) = (None, false, false);
    for (at, c) in inside.char_indices() {
        let at = place.start + at;
        match c {
            _ if std::mem::take(&mut escaped) => {
                if c != '\n' {
                    reader.push(c, at);
                }
            }
            '\n' if quote.is_none() => {
                comment = false;
                reader.end_command(at);
            }
            _ if comment => {}
            '\\' if quote != Some('\'') => escaped = true,
            _ if quote == Some(c) => quote = None,
            _ if quote.is_some() => reader.push(c, at),
            '"' | '\'' => {
                quote = Some(c);
                reader.open(at);
            }
            '#' if reader.word.is_none() => comment = true,
            ';' | '&' | '|' if !reader.is_redirected() => reader.end_command(at),
            c if c.is_whitespace() => reader.end_word(),
            c => reader.push(c, at),
        }
    }
    reader.end_command(place.end);
    reader.commands
}

struct Words {
    commands: Vec<(Vec<String>, Range<usize>)>,
    words: Vec<String>,
    word: Option<String>,
    began: Option<usize>,
}

impl Words {
    fn open(&mut self, at: usize) {
        self.began.get_or_insert(at);
        self.word.get_or_insert_default();
    }

    fn push(&mut self, c: char, at: usize) {
        self.open(at);
        self.word.get_or_insert_default().push(c);
    }

    /// Whether `&` continues a word such as `2>&1`.
    fn is_redirected(&self) -> bool {
        self.word.as_ref().is_some_and(|word| word.ends_with('>'))
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if word == "2>&1" || word == "2>/dev/null" {
            return;
        }
        // `> /dev/null` in two words.
        if word == "/dev/null" && self.words.last().is_some_and(|last| last.ends_with('>')) {
            self.words.pop();
            return;
        }
        self.words.push(word);
    }

    fn end_command(&mut self, at: usize) {
        self.end_word();
        let words = std::mem::take(&mut self.words);
        if let Some(began) = self.began.take().filter(|_| !words.is_empty()) {
            self.commands.push((words, began..at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(text: &str) -> (Settings, Vec<Fault>) {
        let (mut settings, mut faults) = (Settings::default(), Faults::default());
        apply_block(text, 0..text.len(), &mut settings, &mut faults);
        (settings, faults.finish(text))
    }

    #[test]
    fn a_block_of_commands_makes_the_settings_that_it_names() {
        let (settings, faults) = applied(
            "../common/defaults.sh\n# a remark; with a semicolon\nsysctl -q net.ipv4.tcp_early_retrans=0 \
             net.ipv4.tcp_sack=0 > /dev/null 2>&1\n../common/set_sysctls.py /proc/sys/net/ipv4/tcp_reordering=7 \\\n \
             /proc/sys/net/ipv4/tcp_min_tso_segs=10; sysctl -q net.ipv4.tcp_rmem=\"4096 540000 $((15*1024))\"\n\
             echo 3 > /sys/module/tcp_cubic/parameters/hystart_detect && tc qdisc add dev tun0 root pfifo",
        );
        assert_eq!(faults, []);
        assert_eq!((settings.options.probes, settings.sack, settings.options.dupthresh), (false, false, 7));
    }

    #[test]
    fn a_command_or_a_setting_outside_the_subset_is_refused_at_its_own_place() {
        let text =
            "true\nrm -rf x\ntc qdisc add dev tun0 root pfifo limit 0; sysctl -q net.ipv4.tcp_nothing=1";
        let (_, faults) = applied(text);
        let places: Vec<&str> = faults.iter().map(|fault| &text[fault.span.clone()]).collect();
        assert_eq!(
            places,
            ["rm -rf x", "tc qdisc add dev tun0 root pfifo limit 0", "sysctl -q net.ipv4.tcp_nothing=1"]
        );
        let (_, other) = applied("echo 1 > /sys/module/tcp_cubic/parameters/hystart_detect");
        assert!(other[0].help.as_ref().unwrap().contains("at 3 only"), "{other:?}");
    }
}

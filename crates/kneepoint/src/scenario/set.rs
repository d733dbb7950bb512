// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Fields of a scenario that are set from outside, each written `PATH=VALUE` with the paths of `[sweep]`.
//!
//! A value is TOML, or text without quotes: `topology.rate=10mbit`. A swept path is removed from the sweep; one that
//! starts with `sweep.` replaces the values of an axis.

use super::extensions::Extensions;
use super::outline::spelled;
use super::sweep::{assign, write};
use super::text::read;
use super::tree::{Key, Node, Table, Value};
use crate::fault::Faults;
use crate::settings::Raw;

/// The text of a scenario, and the fields set from outside on lines of their own. Spans of faults refer to it.
pub(super) fn joined(text: &str, set: &[String]) -> String {
    format!("{text}\n{}", set.join("\n"))
}

/// Sets the fields. Their lines begin at byte `at`.
pub(super) fn apply(
    root: &mut Table,
    set: &[String],
    mut at: usize,
    extensions: &Extensions,
    faults: &mut Faults,
) {
    let mut before: Vec<(String, &str)> = Vec::new();
    for line in set {
        let span = at..at + line.len();
        at = span.end + 1;
        let Some((path, value)) = line.split_once('=').filter(|(path, _)| !path.trim().is_empty()) else {
            let help = "write it as in `topology.rate=10mbit`, with the paths of `[sweep]`";
            faults.add_with_help(&span, format!("`{line}` sets nothing"), help);
            continue;
        };
        let value = self::value(value.trim(), span.end - value.trim_start().len()..span.end);
        let path = Key { span: span.start..span.start + path.len(), text: spelled(path.trim(), extensions) };
        if let Some((_, other)) = before.iter().find(|(other, _)| *other == path.text) {
            let message = format!("`{}` is set twice, by `{other}` and `{line}`", path.text);
            faults.add_with_help(&path.span, message, "leave one of them out; `[sweep]` runs several values");
            continue;
        }
        before.push((path.text.clone(), line));
        match path.text.split_once('.') {
            // Axes, seeds and the figure are of the whole scenario: no sweep may set them.
            Some((section @ ("sweep" | "run" | "figure"), field)) => {
                assign(root, &[section, field], &path, &value, faults)
            }
            _ => {
                if let Some(Value::Table(sweep)) = root.get_mut("sweep").map(|node| &mut node.value) {
                    forget("", sweep, &path.text);
                }
                write(root, &path, &value, extensions, faults);
            }
        }
    }
}

/// A value in TOML, or else as text.
fn value(text: &str, span: std::ops::Range<usize>) -> Node {
    let mut faults = Faults::default();
    let mut entries = read(&format!("value = {text}"), &mut faults).entries;
    let value = match (entries.pop(), faults.is_empty() && entries.is_empty()) {
        (Some((_, node)), true) => node.at(&span).value,
        _ => Value::Scalar(Raw::Text(text.into())),
    };
    Node { span, swept: true, value }
}

/// Removes an axis from a sweep, whose path may be one quoted key or dotted keys.
fn forget(prefix: &str, sweep: &mut Table, path: &str) {
    sweep.entries.retain_mut(|(key, node)| {
        let own = format!("{prefix}{}", key.text);
        if let Value::Table(inner) = &mut node.value {
            forget(&format!("{own}."), inner, path);
        }
        own != path
    });
}

#[cfg(test)]
mod tests {
    use crate::scenario::{Plan, parse, parse_set};
    use crate::settings::Raw;

    const TEXT: &str = "[run]\nduration = '8s'\n[topology]\nkind = 'dumbbell'\nrate = '10mbit'\n\
                        [[flows]]\nname = 'long'\ncount = 2\ncc = 'reno'\n\
                        [sweep]\n'topology.rtt' = ['20ms', '40ms']\nqueue.kind = ['red', 'pie']\n";

    fn set(fields: &[&str]) -> Result<(Plan, String), Vec<crate::scenario::Fault>> {
        let fields: Vec<String> = fields.iter().map(|field| field.to_string()).collect();
        parse_set(TEXT, &fields, &crate::scenario::files::none, &crate::scenario::files::none)
    }

    #[test]
    fn a_field_that_is_set_is_as_if_it_were_written_and_the_text_says_so() {
        let fields = [
            "topology.rate=2mbit",
            "flows.long.cc=PERT:t1=3ms",
            "run.seeds=3",
            "queue.kind = codel",
            "tcp.handshake=true",
        ];
        let (plan, text) = set(&fields).unwrap();
        assert_eq!((plan.seeds.len(), plan.cases.len()), (3, 2), "the queue is no longer swept");
        let valid = &plan.cases[0].valid;
        let cc = valid.groups()[0].cc.as_ref().unwrap();
        assert_eq!((cc.name(), cc.get("t1").as_deref()), ("pert", Some("3ms")));
        assert_eq!(valid.network().links.iter().find(|link| link.measured).unwrap().queue.name(), "codel");
        assert_eq!(parse(&text), Ok(plan), "{text}");
    }

    #[test]
    fn a_wrong_field_is_refused_as_in_the_text_at_its_own_place() {
        for (field, place, message) in [
            ("topology.rate=fast", "fast", "rate: `fast`"),
            ("topology.rat=1mbit", "topology.rat", "no field `rat`"),
            ("flows.short.count=1", "flows.short.count", "no group of [[flows]] is named `short`"),
            ("flows.count=1", "flows.count", "several groups"),
            ("run.measure=2s..9s", "2s..9s", "reaches beyond duration"),
            ("run.seed=-1", "-1", "from 0 up"),
            ("rate", "rate", "sets nothing"),
        ] {
            let faults = set(&["run.duration=8s", field]).unwrap_err();
            let at = TEXT.len() + 1 + "run.duration=8s\n".len();
            let span = faults[0].span.start - at..faults[0].span.end - at;
            assert_eq!(&field[span], place, "{faults:?}");
            assert!(faults[0].message.contains(message), "{faults:?}");
        }
    }

    #[test]
    fn a_path_is_read_in_any_spelling_and_written_as_it_is_declared() {
        let fields = [
            "Topology.RTT=30ms",
            "FLOWS.long.Count=3",
            "tcp.Initial-Window=4",
            "Queue.Kind=pie",
            "flows.long.TCP.RTO-Min=1s",
            "flows.long.CC.kind=pert",
            "flows.long.cc.T1=3ms",
        ];
        let (plan, text) = set(&fields).unwrap();
        assert_eq!(plan.cases.len(), 1, "nothing is swept any more");
        assert_eq!(parse(&text), Ok(plan.clone()), "{text}");
        for line in ["rtt = \"30ms\"", "count = 3", "initial_window = 4", "rto_min = \"1s\"", "t1 = \"3ms\""]
        {
            assert!(text.contains(line), "{line} is missing from {text}");
        }
    }

    #[test]
    fn a_field_that_is_set_twice_is_refused_with_both() {
        let faults = set(&["topology.rate=1mbit", "Topology.Rate=2mbit"]).unwrap_err();
        let said = "`topology.rate` is set twice, by `topology.rate=1mbit` and `Topology.Rate=2mbit`";
        assert_eq!(faults[0].message, said);
    }

    #[test]
    fn a_value_without_quotes_is_text_unless_it_is_toml() {
        let value = |text| super::value(text, 0..1).raw();
        assert_eq!(value("10mbit"), Some(Raw::Text("10mbit".into())));
        assert_eq!(value("\"10mbit\""), Some(Raw::Text("10mbit".into())));
        assert_eq!(value("0.5"), Some(Raw::Float(0.5)));
        assert_eq!(value("[1, 2]"), Some(Raw::List(vec![Raw::Integer(1), Raw::Integer(2)])));
        assert_eq!(value("1\nb = 2"), Some(Raw::Text("1\nb = 2".into())));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The scheme under test, instead of `subject`.
//!
//! A case of a gate leaves one sender open: `cc = "subject"`. The scheme's controller takes that place, with the recovery that its name
//! implies. Its queue and its feedback go to the bottleneck, unless the case is about a queue and names one.

use super::Experiment;
use super::expression::Check;
use super::vet::{Vet, metrics};
use crate::cc;
use crate::scenario::scheme::Scheme;
use crate::scenario::tree::{Node, Table, Value};
use crate::scenario::{Extensions, Files};
use crate::tcp::Host;

/// The inputs of an experiment besides its text.
#[derive(Clone, Copy)]
pub(super) struct Around<'e> {
    /// The files that it names.
    pub files: Files<'e>,
    /// External algorithms that it may name.
    pub extensions: &'e Extensions,
    /// The scheme that replaces `subject`.
    pub subject: Option<&'e Scheme>,
    /// Checks its claims and figure against its runs.
    pub vet: Vet,
}

/// The name that is open.
const SUBJECT: &str = "subject";

/// Puts a scheme into every place that is open. Under a host other than the papers' the name of an algorithm implies no recovery.
pub(super) fn seat(root: &mut Table, scheme: &Scheme) {
    let tcp = root
        .get("tcp")
        .and_then(|node| if let Value::Table(tcp) = &node.value { tcp.get("preset") } else { None });
    let host = tcp.and_then(Node::as_text).and_then(Host::named).unwrap_or(Host::Paper);
    let scheme = &scheme.clone().on(host);
    for (_, node) in &mut root.entries {
        let Value::List(nodes) = &mut node.value else { continue };
        for one in nodes {
            if let Value::Table(group) = &mut one.value {
                sit(group, scheme);
            }
        }
    }
    // A graph has its queues in its links, and a case without a network has none.
    let alike = root.get("topology").is_some() && root.get("link").is_none();
    for (key, node) in scheme.bottleneck().entries.into_iter().filter(|_| alike) {
        if root.get(&key.text).is_none() {
            root.entries.push((key, node));
        }
    }
}

fn sit(group: &mut Table, scheme: &Scheme) {
    let Some(place) = group.get("cc").filter(|node| node.as_text() == Some(SUBJECT)) else { return };
    let place = place.span.clone();
    group.entries.retain(|(key, _)| key.text != "cc");
    for (key, node) in scheme.sender().entries {
        let node = node.at(&place);
        match (group.get_mut(&key.text).map(|own| &mut own.value), node.value) {
            // The case's own TCP settings stay.
            (Some(Value::Table(own)), Value::Table(further)) => {
                for (inner, value) in further.entries {
                    if own.get(&inner.text).is_none() {
                        own.entries.push((inner, value));
                    }
                }
            }
            (Some(_), _) => {}
            (None, value) => group.entries.push((key, Node { span: place.clone(), swept: false, value })),
        }
    }
}

/// Removes the checks of claims about a variable that only other controllers report, with a note. A name that no controller reports is
/// kept: it is misspelt, and is refused like any unknown metric.
pub(super) fn mute(experiment: &mut Experiment, scheme: &Scheme) {
    let Some(known) = metrics(experiment) else { return };
    for claim in &mut experiment.claims {
        let references = claim.checks.iter().flat_map(Check::references);
        let unknown = references
            .map(|one| one.metric.clone())
            .find(|metric| !known.contains(metric) && is_state(metric));
        if let Some(unknown) = unknown {
            claim.checks.clear();
            claim.ours.clear();
            claim.reason = Some(format!("`{}` does not report `{unknown}`", scheme.name));
        }
    }
}

/// Whether a registered controller reports a variable of its state by this name.
fn is_state(metric: &str) -> bool {
    let mut configs = cc::REGISTRY.iter().filter_map(|entry| cc::Config::named(entry.name));
    configs.any(|config| config.build(cc::Start::new(2.0)).state().iter().any(|(name, _)| *name == metric))
}

#[cfg(test)]
mod tests {
    use crate::cc;
    use crate::experiment::{Pace, parse_for};
    use crate::scenario::{Extensions, files, scheme};
    use crate::study::Work;

    const CASE: &str = r#"
[experiment]
id = "a-b"
title = "c"
source = "d"

[run]
duration = "2s"
sample = "100ms"

[topology]
kind = "dumbbell"
rate = "1mbit"

[[flows]]
name = "subject"
cc = "subject"

[[flows]]
name = "rival"
cc = "cubic"

[[claim]]
id = "gain"
text = "It paces."
check = "max(pacing_gain[group=subject] over time) > 1"

[[claim]]
id = "used"
text = "It sends."
check = "utilization > 0.1"
"#;

    #[test]
    fn the_subject_sits_where_the_case_leaves_its_place_and_brings_its_queue() {
        let read = |name: &str, text: &str| {
            let subject = scheme::parse(name).unwrap();
            let read = parse_for(&subject, &Extensions::NONE, text, Pace::Full, &files::none).unwrap();
            let Work::Packets(packets) = &read.variants[0].points[0].work else { panic!("packets") };
            let valid = packets.valid.clone();
            let controls: Vec<_> =
                valid.groups().iter().map(|group| group.cc.as_ref().map(cc::Config::name)).collect();
            let queue = valid.network().links.iter().find(|link| link.measured).map(|link| link.queue.name());
            (controls, queue, read.claims)
        };
        let (controls, queue, claims) = read("bbr3/fq-codel", CASE);
        assert_eq!((controls, queue), (vec![Some("bbr3"), Some("cubic")], Some("fq-codel")));
        assert!(claims.iter().all(|claim| !claim.checks.is_empty()));
        // A case about a queue keeps its own.
        let (_, own, _) = read("bbr3/fq-codel", &format!("queue = \"pie\"\n{CASE}"));
        assert_eq!(own, Some("pie"));
        let (_, _, few) = read("reno", CASE);
        assert_eq!(few[0].reason.as_deref(), Some("`reno` does not report `pacing_gain`"));
        assert!(few[0].checks.is_empty() && few[1].checks.len() == 1);
        let misspelt = CASE.replace("pacing_gain", "pacing_gian");
        let subject = scheme::parse("reno").unwrap();
        let faults = parse_for(&subject, &Extensions::NONE, &misspelt, Pace::Full, &files::none).unwrap_err();
        assert!(faults[0].message.contains("pacing_gian"), "{faults:?}");
    }
}

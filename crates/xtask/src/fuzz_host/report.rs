// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Counts of scripts by feature and controller, and first differences by kind.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::judge::Verdict;

/// A script with its result.
pub struct Entry {
    /// Its name: seed, controller, features, and whether there are timestamps.
    pub name: String,
    pub verdict: Verdict,
}

/// Names of one kind that are printed.
const EXAMPLES: usize = 3;

#[derive(Default)]
struct Count {
    identical: usize,
    different: usize,
    spoiled: usize,
}

impl Count {
    fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Identical => self.identical += 1,
            Verdict::Different(_) => self.different += 1,
            Verdict::Spoiled(_) => self.spoiled += 1,
        }
    }

    /// The share of identical scripts among the reliable ones.
    fn share(&self) -> f64 {
        self.identical as f64 / (self.identical + self.different) as f64
    }

    fn json(&self) -> Value {
        let Count { identical, different, spoiled } = self;
        json!({ "identical": identical, "different": different, "spoiled": spoiled, "identical_share": self.share() })
    }
}

/// The headings under which a script is counted: itself, its controller, its switch, each feature, and the only
/// feature.
fn groups(name: &str) -> Vec<String> {
    let mut groups = vec!["all".to_string()];
    let Some((front, stamps)) = name.rsplit_once('-') else { return groups };
    let parts: Vec<&str> = front.splitn(3, '-').collect();
    groups.push(stamps.to_string());
    groups.extend(parts.get(1).map(|controller| controller.to_string()));
    let features: Vec<&str> = parts.get(2).map_or(Vec::new(), |features| features.split('+').collect());
    groups.extend(features.iter().map(|feature| format!("with {feature}")));
    if let [only] = features[..] {
        groups.push(format!("only {only}"));
    }
    groups
}

fn counts(entries: &[Entry]) -> BTreeMap<String, Count> {
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    for entry in entries {
        for group in groups(&entry.name) {
            counts.entry(group).or_default().add(&entry.verdict);
        }
    }
    counts
}

/// First differences by kind, the most frequent first, with the names of their scripts.
fn kinds(entries: &[Entry]) -> Vec<(&str, Vec<&str>)> {
    let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for entry in entries {
        match &entry.verdict {
            Verdict::Different(first) => kinds.entry(&first.kind).or_default().push(&entry.name),
            Verdict::Spoiled(why) => kinds.entry(why).or_default().push(&entry.name),
            Verdict::Identical => {}
        }
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(kind, names)| (std::cmp::Reverse(names.len()), *kind));
    kinds
}

/// The report in words.
pub fn text(entries: &[Entry]) -> String {
    let mut text = format!(
        "{:<22}{:>10}{:>10}{:>9}{:>11}\n",
        "scripts", "identical", "different", "spoiled", "identical"
    );
    for (group, count) in counts(entries) {
        let Count { identical, different, spoiled } = count;
        let share = 100.0 * count.share();
        let _ = writeln!(text, "{group:<22}{identical:>10}{different:>10}{spoiled:>9}{share:>9.1} %");
    }
    text.push_str("\nFirst differences:\n");
    for (kind, names) in kinds(entries) {
        let _ = writeln!(
            text,
            "{:>6}  {kind}\n        {}",
            names.len(),
            names[..names.len().min(EXAMPLES)].join(" ")
        );
    }
    text
}

/// The report for programs.
pub fn json(entries: &[Entry]) -> Value {
    let groups: serde_json::Map<String, Value> =
        counts(entries).into_iter().map(|(group, count)| (group, count.json())).collect();
    let kinds: Vec<Value> = kinds(entries)
        .into_iter()
        .map(|(kind, names)| json!({ "kind": kind, "count": names.len(), "scripts": names }))
        .collect();
    json!({ "groups": groups, "first_differences": kinds })
}

/// Whether this many percent of the credible scripts are identical.
pub fn agrees(entries: &[Entry], percent: f64) -> bool {
    counts(entries).get("all").is_some_and(|all| 100.0 * all.share() >= percent)
}

#[cfg(test)]
mod tests {
    use super::super::judge::First;
    use super::*;

    fn entry(name: &str, verdict: Verdict) -> Entry {
        Entry { name: name.into(), verdict }
    }

    #[test]
    fn scripts_are_counted_under_each_feature_and_alone_under_their_only_one() {
        let groups = groups("000007-cubic-ack-loss+idle-plain");
        assert_eq!(groups, ["all", "plain", "cubic", "with ack-loss", "with idle"]);
        assert!(super::groups("000007-reno-ack-loss-stamps").contains(&"only ack-loss".to_string()));
    }

    #[test]
    fn the_share_is_of_those_that_can_be_believed_and_kinds_are_grouped() {
        let different = Verdict::Different(First { kind: "late".into(), text: String::new() });
        let entries = [
            entry("1-reno-loss-plain", Verdict::Identical),
            entry("2-reno-loss-plain", different.clone()),
            entry("3-reno-tail-plain", different),
            entry("4-reno-loss-plain", Verdict::Spoiled("late player".into())),
        ];
        let found = json(&entries);
        assert_eq!(found["groups"]["only loss"]["identical_share"], 0.5);
        assert_eq!(found["groups"]["all"]["spoiled"], 1);
        assert_eq!(
            found["first_differences"][0]["scripts"],
            json!(["2-reno-loss-plain", "3-reno-tail-plain"])
        );
        assert!(agrees(&entries, 33.0) && !agrees(&entries, 34.0));
    }
}

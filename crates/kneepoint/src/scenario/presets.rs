// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Names from papers that stand for one of our algorithms with certain settings.

use super::tree::{Node, Table, Value};
use crate::settings::names::same_name;
use crate::tcp::Recovery;
use crate::{cc, queue};

/// The family of a preset's algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Congestion controls.
    Control,
    /// Queue disciplines.
    Queue,
}

/// A name for an algorithm with settings.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name.
    pub name: &'static str,
    /// Its meaning.
    pub about: &'static str,
    /// The family of its algorithm.
    pub family: Of,
    /// The algorithm's name in the registry.
    pub of: &'static str,
    /// The loss recovery that comes with it.
    pub recovery: Option<Recovery>,
    /// The explicit feedback of the bottleneck that comes with it, in a scheme.
    pub feedback: Option<&'static str>,
    /// The parameters it sets.
    pub set: &'static [(&'static str, &'static str)],
}

impl Preset {
    /// Its meaning: `the queue adaptive-red with ecn = true`.
    pub fn meaning(&self) -> String {
        let family = match self.family {
            Of::Control => "controller",
            Of::Queue => "queue",
        };
        let setting = |(name, value): &(&str, &str)| format!("{name} = {value}");
        let with = self.set.iter().map(setting).collect::<Vec<_>>();
        let recovery = self.recovery.map(|recovery| format!("recovery = {recovery}"));
        let feedback = self.feedback.map(|feedback| format!("feedback = {feedback}"));
        let with = with.into_iter().chain(recovery).chain(feedback).collect::<Vec<_>>();
        format!("the {family} {} with {}", self.of, with.join(", "))
    }

    const fn control(name: &'static str, of: &'static str, about: &'static str) -> Preset {
        Preset { name, about, family: Of::Control, of, recovery: None, feedback: None, set: &[] }
    }

    const fn queue(name: &'static str, of: &'static str, about: &'static str) -> Preset {
        Preset { family: Of::Queue, ..Preset::control(name, of, about) }
    }

    const fn repairing(self, recovery: Recovery) -> Preset {
        Preset { recovery: Some(recovery), ..self }
    }

    const fn told_by(self, feedback: &'static str) -> Preset {
        Preset { feedback: Some(feedback), ..self }
    }

    const fn with(self, set: &'static [(&'static str, &'static str)]) -> Preset {
        Preset { set, ..self }
    }
}

/// Every preset. In a scheme a preset takes precedence over an algorithm of the same name; in a scenario the
/// algorithm does, because `[tcp]` there sets the recovery, and `[feedback]` the feedback of bottlenecks.
pub const PRESETS: &[Preset] = &[
    Preset::control("sack", "reno", "Reno's window with selective acknowledgements.")
        .repairing(Recovery::Sack),
    Preset::control("newreno", "reno", "Reno's window with NewReno's recovery.").repairing(Recovery::NewReno),
    Preset::control("reno", "reno", "Reno's window with Reno's recovery.").repairing(Recovery::Reno),
    Preset::control("tahoe", "reno", "Reno's window with Tahoe's recovery.").repairing(Recovery::Tahoe),
    Preset::control("old-tahoe", "reno", "Reno's window where every loss waits for the timer.")
        .repairing(Recovery::OldTahoe),
    Preset::control("ratcp", "ratcp", "RATCP with Reno's recovery, given its exact fair rate: RATCP-Reno.")
        .repairing(Recovery::Reno)
        .told_by("oracle"),
    Preset::control(
        "ratcp-old-tahoe",
        "ratcp",
        "RATCP where every loss waits for the timer, given its exact fair rate.",
    )
    .repairing(Recovery::OldTahoe)
    .told_by("oracle"),
    Preset::control("rcp", "rcp", "RCP with its routers.").told_by("rcp"),
    Preset::control("xcp", "xcp", "XCP with its routers.").told_by("xcp"),
    Preset::control("abc", "abc", "ABC with its routers.").told_by("abc"),
    Preset::queue("red-ecn", "adaptive-red", "Adaptive gentle RED that marks: RED-ECN in the PERT paper.")
        .with(&[("ecn", "true")]),
    Preset::queue(
        "l4s",
        "step",
        "A queue that marks packets of scalable senders beyond a delay of 1 ms, and no others.",
    )
    .with(&[("scalable_only", "true"), ("delay", "1ms")]),
    Preset::queue("pi-ecn", "pi", "A router with a proportional-integral controller that marks.")
        .with(&[("ecn", "true")]),
    Preset::queue(
        "pisa",
        "pi",
        "PI with short-lived flow adjustments: drops in proportion to the sender's window.",
    )
    .with(&[("spare", "sa")]),
    Preset::queue("pisa-ecn", "pi", "PISA that marks.").with(&[("spare", "sa"), ("ecn", "true")]),
    Preset::queue(
        "pimc",
        "pi",
        "PI with a minimum window: packets of senders with small windows are not dropped.",
    )
    .with(&[("spare", "mc"), ("at_arrival", "true")]),
    Preset::queue("pimc-ecn", "pi", "PIMC that marks.").with(&[
        ("spare", "mc"),
        ("at_arrival", "true"),
        ("ecn", "true"),
    ]),
];

/// Adds the presets that a table names, each once, in order.
pub(super) fn named_in(table: &Table, found: &mut Vec<&'static Preset>) {
    for (key, node) in &table.entries {
        named_by(&key.text, node, found);
    }
}

fn named_by(key: &str, node: &Node, found: &mut Vec<&'static Preset>) {
    // The last step of a path, as in a sweep.
    let field = key.rsplit('.').next().unwrap_or(key);
    match &node.value {
        Value::Table(inner) => named_in(inner, found),
        Value::List(nodes) => nodes.iter().for_each(|one| named_by(key, one, found)),
        _ => {
            let written = node
                .as_text()
                .filter(|_| ["scheme", "cc", "queue", "reverse_queue", "kind"].contains(&field));
            for part in written.into_iter().flat_map(|text| text.split('/')) {
                let name = part.split(':').next().unwrap_or(part).trim();
                let preset = PRESETS.iter().find(|preset| same_name(preset.name, name));
                // Outside schemes an algorithm takes precedence over a preset of its name.
                let algorithm = field != "scheme"
                    && (cc::Config::named(name).is_some() || queue::Config::named(name).is_some());
                let preset = preset
                    .filter(|preset| !algorithm && !found.iter().any(|known| known.name == preset.name));
                found.extend(preset);
            }
        }
    }
}

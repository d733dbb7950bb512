// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Schemes: a congestion control and the queue discipline of the bottleneck, in one word.
//!
//! `CC[/QUEUE]`, each `NAME[:key=value,key=value]`: `pert`, `sack/droptail`, `pert:t1=5ms,decrease=0.3/red:ecn=true`.

use super::choose::{Precedence, choose, unfold};
use super::fault::Faults;
use super::tree::{Node, Table};
use crate::{cc, queue, tcp};

pub use super::presets::{Of, PRESETS, Preset};

/// A congestion control with a queue discipline.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    /// Source text.
    pub name: String,
    /// The congestion control.
    pub cc: cc::Config,
    /// Loss recovery implied by the name.
    pub recovery: Option<tcp::Recovery>,
    /// The discipline of the bottleneck.
    pub queue: queue::Config,
}

/// Default discipline: the first of the registry.
const QUEUE: &str = queue::REGISTRY[0].name;

/// Parses a scheme; the error names the problem and the alternatives.
pub fn parse(text: &str) -> Result<Scheme, String> {
    let (control, queue) = split(text);
    let mut faults = Faults::default();
    let node = |part: &str| Node::text(part, &(0..0));
    let cc = choose::<cc::Config>(&node(control), "the scheme", Precedence::Presets, &mut faults);
    let discipline =
        choose::<queue::Config>(&node(queue), "the scheme's queue", Precedence::Presets, &mut faults);
    match (cc, discipline) {
        (Some(cc), Some(discipline)) => Ok(Scheme {
            name: text.trim().into(),
            cc: cc.config,
            recovery: cc.recovery,
            queue: discipline.config,
        }),
        _ => {
            let sentence = |fault: super::Fault| match fault.help {
                Some(help) => format!("{}; {help}", fault.message),
                None => fault.message,
            };
            let sentences: Vec<String> = faults.finish("").into_iter().map(sentence).collect();
            Err(sentences.join("\n"))
        }
    }
}

/// The two parts of a scheme.
pub(super) fn split(text: &str) -> (&str, &str) {
    let (control, queue) = text.split_once('/').unwrap_or((text, QUEUE));
    (control.trim(), queue.trim())
}

/// Loss recovery implied by a controller's name in a scheme.
pub(super) fn recovery(control: &str) -> Option<tcp::Recovery> {
    let name = control.split(':').next().unwrap_or_default().trim();
    PRESETS.iter().find(|preset| preset.family == Of::Control && preset.name == name)?.recovery
}

impl Scheme {
    /// The scheme as sections of a scenario: its queue and a group of flows.
    pub fn to_toml(&self) -> String {
        let (control, queue) = split(&self.name);
        let recovery = self.recovery.map(|recovery| format!("tcp = {{ recovery = \"{recovery}\" }}\n"));
        format!(
            "queue = {}\n\n[[flows]]\ncc = {}\n{}",
            inline(queue),
            inline(control),
            recovery.unwrap_or_default()
        )
    }
}

/// `{ kind = "pert", t1 = "5ms" }`.
fn inline(part: &str) -> String {
    let mut faults = Faults::default();
    let table: Table = unfold(&Node::text(part, &(0..0)), "", &mut faults).unwrap_or_default();
    let field = |(key, node): &(super::tree::Key, Node)| {
        format!("{} = {}", key.text, node.raw().map_or(String::new(), |raw| raw.to_string()))
    };
    format!("{{ {} }}", table.entries.iter().map(field).collect::<Vec<_>>().join(", "))
}

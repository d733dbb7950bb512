// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Schemes: a congestion control, with the queue discipline and the explicit feedback of the bottleneck, in one word.
//!
//! `CC[/QUEUE[/FEEDBACK]]`, each `NAME[:key=value,key=value]`: `pert`, `sack/droptail`,
//! `pert:t1=5ms,decrease=0.3/red:ecn=true`, `ratcp/droptail/erica`.

use super::choose::{Family, Precedence, choose, unfold};
use super::extensions::Extensions;
use super::family::Members;
use super::tree::{Node, Table, Value};
use crate::fault::Faults;
use crate::settings::names::same_name;
use crate::tcp::Host;
use crate::{cc, feedback, queue, tcp};

pub use super::presets::{Of, PRESETS, Preset};

/// A congestion control with a queue discipline.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    /// The text, with every name as declared.
    pub name: String,
    /// The congestion control.
    pub cc: cc::Config,
    /// Loss recovery implied by the name.
    pub recovery: Option<tcp::Recovery>,
    /// The discipline of the bottleneck.
    pub queue: queue::Config,
    /// The explicit feedback of the bottleneck that the name gives or implies.
    pub feedback: Option<feedback::Config>,
}

/// Default discipline: the first of the registry.
const QUEUE: &str = queue::REGISTRY[0].name;

/// The text with every name as declared, parameters included, and without spaces around its parts.
pub fn declared(text: &str) -> String {
    let families = [
        <cc::Config as Family>::MEMBERS,
        <queue::Config as Family>::MEMBERS,
        <feedback::Config as Family>::MEMBERS,
    ];
    let part = |(part, family): (&str, Members)| {
        let (name, settings) = part.split_once(':').map_or((part, None), |(name, all)| (name, Some(all)));
        let setting = |setting: &str| match setting.split_once('=') {
            Some((parameter, value)) => format!("{}={}", family.parameter(name, parameter), value.trim()),
            None => setting.to_string(),
        };
        let settings = settings.map(|all| all.split(',').map(setting).collect::<Vec<_>>().join(","));
        let name = family.declared(name.trim()).unwrap_or(name.trim());
        settings.map_or(name.to_string(), |settings| format!("{name}:{settings}"))
    };
    text.splitn(3, '/').zip(families).map(part).collect::<Vec<_>>().join("/")
}

/// Parses a scheme; the error names the problem and the alternatives.
pub fn parse(text: &str) -> Result<Scheme, String> {
    read(text, &Extensions::NONE)
}

impl Extensions {
    /// Reads a scheme, as [`parse`] does.
    pub fn scheme(&self, text: &str) -> Result<Scheme, String> {
        read(text, self)
    }
}

fn read(text: &str, extensions: &Extensions) -> Result<Scheme, String> {
    let text = &*declared(text);
    let parts = Parts::of(text);
    let mut faults = Faults::default();
    let node = |part: &str| Node::text(part, &(0..0));
    let cc = choose::<cc::Config>(
        &node(parts.control),
        "the scheme",
        Precedence::Presets,
        extensions,
        &mut faults,
    );
    let discipline = choose::<queue::Config>(
        &node(parts.queue),
        "the scheme's queue",
        Precedence::Presets,
        extensions,
        &mut faults,
    );
    let feedback = parts.feedback.map(|told| {
        choose::<feedback::Config>(
            &node(told),
            "the scheme's feedback",
            Precedence::Members,
            extensions,
            &mut faults,
        )
    });
    match (cc, discipline, feedback) {
        (Some(cc), Some(discipline), told @ (None | Some(Some(_)))) => Ok(Scheme {
            name: text.into(),
            cc: cc.config,
            recovery: cc.recovery,
            queue: discipline.config,
            feedback: told.flatten().map(|told| told.config),
        }),
        _ => {
            let sentences: Vec<String> = faults.finish("").iter().map(ToString::to_string).collect();
            Err(sentences.join("\n"))
        }
    }
}

/// The parts of a scheme as written.
pub(super) struct Parts<'t> {
    pub control: &'t str,
    pub queue: &'t str,
    /// The feedback that is written, or that the controller's name implies.
    pub feedback: Option<&'t str>,
}

impl<'t> Parts<'t> {
    pub fn of(text: &'t str) -> Parts<'t> {
        let mut parts = text.splitn(3, '/').map(str::trim);
        let (control, queue) = (parts.next().unwrap_or_default(), parts.next().unwrap_or(QUEUE));
        let feedback = parts.next().or_else(|| preset(control)?.feedback);
        Parts { control, queue, feedback }
    }

    /// Loss recovery implied by the controller's name under the options of a host. Under a host other than the papers'
    /// an algorithm's own name, such as `reno`, implies none.
    pub fn recovery(&self, host: Host) -> Option<tcp::Recovery> {
        let preset = preset(self.control)?;
        preset.recovery.filter(|_| host == Host::Paper || preset.name != preset.of)
    }
}

fn preset(control: &str) -> Option<&'static Preset> {
    let name = control.split(':').next().unwrap_or_default().trim();
    PRESETS.iter().find(|preset| preset.family == Of::Control && same_name(preset.name, name))
}

impl Scheme {
    /// The scheme where hosts are of this kind.
    #[must_use]
    pub fn on(self, host: Host) -> Scheme {
        Scheme { recovery: Parts::of(&self.name).recovery(host), ..self }
    }

    /// The fields of a scenario that are about the bottleneck: its queue, and its feedback if it has one.
    pub(crate) fn bottleneck(&self) -> Table {
        let Parts { queue, feedback, .. } = Parts::of(&self.name);
        let fields = Table::default().with("queue", chosen::<queue::Config>(queue));
        match feedback {
            Some(feedback) => fields.with("feedback", chosen::<feedback::Config>(feedback)),
            None => fields,
        }
    }

    /// The fields of a group that are about its senders: their controller, and their recovery if the scheme implies one.
    pub(crate) fn sender(&self) -> Table {
        let fields = Table::default().with("cc", chosen::<cc::Config>(Parts::of(&self.name).control));
        match self.recovery {
            Some(recovery) => fields.with("tcp", Table::default().with("recovery", Value::text(recovery))),
            None => fields,
        }
    }
}

/// A part of a scheme as a table: `{ kind = "pert", t1 = "5ms" }`.
fn chosen<F: Family>(part: &str) -> Table {
    unfold(&Node::text(part, &(0..0)), F::MEMBERS, "", &mut Faults::default()).unwrap_or_default()
}

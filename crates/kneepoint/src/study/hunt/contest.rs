// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Contests: who sends on a network, alone or in a pair.

use crate::cc;
use crate::fault::Fault;
use crate::feedback;
use crate::queue;
use crate::scenario::scheme::Scheme;
use crate::scenario::{Extensions, scheme};
use crate::spec::Group;
use crate::tcp::Host;

crate::choice! {
    /// A group of a contest.
    pub enum Line {
        /// The flow that is measured.
        Subject = "subject",
        /// The other flow.
        Rival = "rival",
    }
}

crate::choice! {
    /// The flows that share the network with the measured one.
    pub enum Company {
        /// Nobody.
        Alone = "alone",
        /// A flow of the reference.
        Reference = "beside the reference",
        /// A flow of the same controller.
        Itself = "beside itself",
    }
}

/// The hosts of a hunt and the senders on them, as the scenario's reader makes them.
#[derive(Clone, Debug)]
pub struct Contestants {
    /// The scheme that is hunted.
    pub subject: Contestant,
    /// The scheme with which it is compared.
    pub reference: Contestant,
    /// The hosts.
    pub host: Host,
    feedback: feedback::Config,
}

/// A scheme and its sender.
#[derive(Clone, Debug)]
pub struct Contestant {
    /// The scheme, as it was named.
    pub name: String,
    sender: Group,
}

impl Contestant {
    /// Its controller.
    pub fn controller(&self) -> Option<&cc::Config> {
        self.sender.cc.as_ref()
    }
}

/// Two senders on one network, or one.
#[derive(Clone, Debug)]
pub struct Contest {
    subject: Group,
    rival: Option<Group>,
    /// The explicit feedback of the bottleneck.
    pub feedback: feedback::Config,
}

impl Contestants {
    /// The contestants of these names; the error says which name is wrong, and why.
    pub fn new(
        subject: &str,
        reference: &str,
        host: Host,
        extensions: &Extensions,
    ) -> Result<Contestants, String> {
        let (one, other) =
            (Contestants::scheme(subject, extensions)?, Contestants::scheme(reference, extensions)?);
        let feedback = one.feedback.clone().or_else(|| other.feedback.clone()).unwrap_or_default();
        let sender = |scheme: &Scheme| -> Result<Contestant, String> {
            let control = scheme.name.split('/').next().unwrap_or_default();
            let text = format!(
                "topology = {{ kind = \"dumbbell\", rate = \"1mbit\" }}\ntcp = {{ preset = \"{host}\" }}\n\
                 flows = [{{ name = \"subject\", cc = \"{control}\" }}]\n"
            );
            let all = |faults: Vec<Fault>| {
                let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
                format!("`{control}`: {}", told.join("; "))
            };
            let plan = extensions.parse_with(&text, &|named| Err(format!("`{named}` is not opened")));
            let mut plan = plan.map_err(all)?;
            let mut group = plan.cases.remove(0).valid.groups()[0].clone();
            group.pairs.clear();
            group.members.clear();
            Ok(Contestant { name: scheme::declared(control), sender: group })
        };
        Ok(Contestants { subject: sender(&one)?, reference: sender(&other)?, host, feedback })
    }

    /// The scheme of a contestant; the error says why a hunt has no such contestant.
    pub fn scheme(name: &str, extensions: &Extensions) -> Result<Scheme, String> {
        if name.split([':', '/']).next().is_none_or(|control| control.trim().is_empty()) {
            return Err(format!("the name of a controller is missing in \"{name}\""));
        }
        let scheme = extensions.scheme(name).map_err(|why| format!("`{name}`: {why}"))?;
        match scheme.queue == queue::Config::default() {
            true => Ok(scheme),
            false => Err(format!("`{name}` has a queue, and each network of a hunt has its own")),
        }
    }

    /// Whether both send alike, whatever their names.
    pub fn are_alike(&self) -> bool {
        self.subject.sender == self.reference.sender
    }

    /// The contest of the subject, or of the reference in its place.
    pub fn contest(&self, company: Company, of_reference: bool) -> Contest {
        let own = if of_reference { &self.reference } else { &self.subject };
        let rival = match company {
            Company::Alone => None,
            Company::Reference => Some(&self.reference),
            Company::Itself => Some(own),
        };
        Contest {
            subject: own.sender.clone(),
            rival: rival.map(|one| one.sender.clone()),
            feedback: self.feedback.clone(),
        }
    }

    /// The feedback of the bottleneck in a scenario; none where senders get none.
    pub fn feedback(&self) -> Option<&'static str> {
        (self.feedback != feedback::Config::default()).then(|| self.feedback.name())
    }
}

impl Contest {
    /// Its groups, in the order of tables.
    pub fn lines(&self) -> impl Iterator<Item = Line> {
        let count = if self.is_pair() { 2 } else { 1 };
        Line::ALL.iter().copied().take(count)
    }

    /// Whether there are two.
    pub fn is_pair(&self) -> bool {
        self.rival.is_some()
    }

    /// The sender of a group.
    pub fn group(&self, line: Line) -> &Group {
        match (line, &self.rival) {
            (Line::Rival, Some(rival)) => rival,
            _ => &self.subject,
        }
    }

    /// A full packet of the subject on the wire.
    pub fn packet(&self) -> crate::units::Bytes {
        self.subject.full_packet().unwrap_or(crate::units::Bytes(1500))
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Names from papers that stand for one of our algorithms with certain settings.

use crate::tcp::Recovery;

/// The family that a preset's algorithm is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Congestion controls.
    Control,
    /// Queue disciplines.
    Queue,
}

/// A name that stands for an algorithm with settings.
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
    /// The parameters it sets.
    pub set: &'static [(&'static str, &'static str)],
}

const fn sender(name: &'static str, about: &'static str, recovery: Recovery) -> Preset {
    Preset { name, about, family: Of::Control, of: "reno", recovery: Some(recovery), set: &[] }
}

/// Every preset. In a scheme a preset goes before an algorithm of the same name; in a scenario the algorithm
/// does, because `[tcp]` there says how losses are repaired.
pub const PRESETS: &[Preset] = &[
    sender("sack", "Reno's window with selective acknowledgements.", Recovery::Sack),
    sender("newreno", "Reno's window with NewReno's recovery.", Recovery::NewReno),
    sender("reno", "Reno's window with Reno's recovery.", Recovery::Reno),
    sender("tahoe", "Reno's window with Tahoe's recovery.", Recovery::Tahoe),
    sender("old-tahoe", "Reno's window where every loss waits for the timer.", Recovery::OldTahoe),
    Preset {
        name: "red-ecn",
        about: "Adaptive gentle RED that marks: what the PERT paper calls RED-ECN.",
        family: Of::Queue,
        of: "adaptive-red",
        recovery: None,
        set: &[("ecn", "true")],
    },
    Preset {
        name: "l4s",
        about: "A queue that marks packets of scalable senders beyond a delay of 1 ms, and no others.",
        family: Of::Queue,
        of: "step",
        recovery: None,
        set: &[("scalable_only", "true"), ("delay", "1ms")],
    },
    Preset {
        name: "pi-ecn",
        about: "A router with a proportional-integral controller that marks.",
        family: Of::Queue,
        of: "pi",
        recovery: None,
        set: &[("ecn", "true")],
    },
    Preset {
        name: "pisa",
        about: "PI with short-lived flow adjustments: drops in proportion to the sender's window.",
        family: Of::Queue,
        of: "pi",
        recovery: None,
        set: &[("spare", "sa")],
    },
    Preset {
        name: "pisa-ecn",
        about: "PISA that marks.",
        family: Of::Queue,
        of: "pi",
        recovery: None,
        set: &[("spare", "sa"), ("ecn", "true")],
    },
    Preset {
        name: "pimc",
        about: "PI with a minimum window: packets of senders with small windows are not dropped.",
        family: Of::Queue,
        of: "pi",
        recovery: None,
        set: &[("spare", "mc"), ("at_arrival", "true")],
    },
    Preset {
        name: "pimc-ecn",
        about: "PIMC that marks.",
        family: Of::Queue,
        of: "pi",
        recovery: None,
        set: &[("spare", "mc"), ("at_arrival", "true"), ("ecn", "true")],
    },
];

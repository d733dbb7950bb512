// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The scenarios that a page offers. The comment at the top of each is its story.

use serde::Serialize;

/// A scenario to begin with.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Preset {
    /// Its name in addresses.
    pub id: &'static str,
    /// The heading under which it is listed.
    pub family: &'static str,
    /// The scenario.
    pub text: &'static str,
}

macro_rules! presets {
    ($($family:literal { $($id:literal,)* })*) => {
        /// All of them, in the order of the list.
        pub const ALL: &[Preset] = &[$($(
            Preset { id: $id, family: $family, text: include_str!(concat!("../presets/", $id, ".toml")) },
        )*)*];
    };
}

presets! {
    "First steps" {
        "sawtooth",
        "bufferbloat",
        "knee",
        "rtt-unfairness",
    }
    "Queues" {
        "fq-rescues",
        "l4s",
        "web-objects",
    }
    "Paths and neighbours" {
        "bbr-beside-cubic",
        "leo-handover",
        "lossy-satellite",
        "video",
        "thousand-flows",
    }
    "Figures of papers" {
        "pert-figure-7",
        "pert-figure-8",
        "pert-figure-11",
        "adaptive-pert",
        "ratcp-figure-4",
        "pisa-web",
        "live-video",
    }
}

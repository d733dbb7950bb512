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
    /// The published figure that it is about, by its name for `knee reproduce`.
    pub figure: Option<&'static str>,
    /// The scenario.
    pub text: &'static str,
}

macro_rules! presets {
    ($($family:literal { $($id:literal $(: $figure:literal)?,)* })*) => {
        /// All of them, in the order of the list.
        pub const ALL: &[Preset] = &[$($(Preset {
            id: $id,
            family: $family,
            figure: figure!($($figure)?),
            text: include_str!(concat!("../presets/", $id, ".toml")),
        },)*)*];
    };
}

macro_rules! figure {
    () => {
        None
    };
    ($name:literal) => {
        Some($name)
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
        "pert-figure-7": "pert.fig7",
        "pert-figure-8": "pert.fig8",
        "pert-figure-11": "pert.fig11",
        "adaptive-pert": "adaptive-pert.fig28",
        "ratcp-figure-6": "ratcp.fig6",
        "pisa-web": "pisa.tab52",
        "live-video": "video.fig7",
    }
}

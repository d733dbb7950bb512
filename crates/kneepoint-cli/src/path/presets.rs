// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Named paths: properties of access links, where a named source measured them. Every option overrides its own.

use clap::builder::{PossibleValue, PossibleValuesParser};

use super::Way;

/// A path with a name.
pub struct Preset {
    /// The name.
    pub name: &'static str,
    /// A sentence with the source.
    pub about: &'static str,
    /// Properties by their keys, with the direction of each that has one.
    pub properties: &'static [(Option<Way>, &'static str, &'static str)],
}

const UP: Option<Way> = Some(Way::Up);

/// Every path that has a name.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "leo",
        about: "A satellite in a low orbit: 50 ms, 150 Mbit/s, another satellite every 15 s (Huston, APNIC 2024); 15 Mbit/s up, jitter and outages are assumed.",
        properties: &[
            (None, "rate", "150mbit"),
            (UP, "rate", "15mbit"),
            (UP, "buffer", "128kb"),
            (None, "rtt", "50ms"),
            (None, "buffer", "1bdp"),
            (None, "jitter", "6ms"),
            (None, "handover", "15s:outage=60ms,delays=16ms,12ms,21ms,14ms"),
        ],
    },
    Preset {
        name: "geo",
        about: "A geostationary satellite: 600 ms, 100 and 10 Mbit/s (Michel et al., IMC 2022).",
        properties: &[
            (None, "rate", "100mbit"),
            (UP, "rate", "10mbit"),
            (None, "rtt", "600ms"),
            (None, "buffer", "1bdp"),
            (UP, "buffer", "750kb"),
        ],
    },
    Preset {
        name: "cable",
        about: "Cable at 1:20, an example: 200 and 10 Mbit/s, 20 ms, and a grant to send every 2 ms.",
        properties: &[
            (None, "rate", "200mbit"),
            (UP, "rate", "10mbit"),
            (None, "rtt", "20ms"),
            (None, "buffer", "1bdp"),
            (UP, "buffer", "64kb"),
            (UP, "grants", "2ms"),
        ],
    },
];

/// A path by its name.
pub fn named(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name.eq_ignore_ascii_case(name))
}

/// Parses the name of a path.
pub fn names() -> PossibleValuesParser {
    PRESETS.iter().map(|preset| PossibleValue::new(preset.name).help(preset.about)).collect::<Vec<_>>().into()
}

impl Preset {
    /// The value of a property of the path as a whole.
    pub fn get(&self, word: &str) -> Option<&'static str> {
        let own = |(way, name, _): &&(Option<Way>, &str, &'static str)| way.is_none() && *name == word;
        self.properties.iter().find(own).map(|(.., value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::super::property;
    use super::*;

    #[test]
    fn every_preset_consists_of_known_properties_each_once() {
        for preset in PRESETS {
            for (place, (way, word, value)) in preset.properties.iter().enumerate() {
                let known = property::named(word).unwrap_or_else(|| panic!("{}: {word}", preset.name));
                assert!(known.toml(value).is_ok(), "{}: {word}={value}", preset.name);
                let twice =
                    preset.properties[..place].iter().any(|other| (other.0, other.1) == (*way, *word));
                assert!(!twice, "{}: {word}", preset.name);
            }
            assert!(
                ["rate", "rtt", "buffer"].iter().all(|word| preset.get(word).is_some()),
                "{}",
                preset.name
            );
        }
    }
}

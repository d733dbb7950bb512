// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Several values of a property, with commas between them: an axis of runs.

use super::fields::axis;
use super::table::scalar;

/// Several values of a property.
pub struct Several<'w> {
    /// The field of its section, where it is a section.
    pub(super) part: Option<&'static str>,
    /// Further required lines of the section, in TOML.
    pub(super) whole: Option<String>,
    /// As written.
    pub(super) values: Vec<&'w str>,
}

impl Several<'_> {
    /// The line that makes an axis of `field`.
    pub fn axis(&self, field: &str) -> String {
        let toml = |value: &&str| match share(value) {
            Some(share) if self.part.is_some() => share.to_string(),
            _ => scalar(value),
        };
        let path = self.part.map_or(field.to_string(), |part| format!("{field}.{part}"));
        axis(&path, self.values.iter().map(toml))
    }
}

/// A number that may be meant as a percentage: of all packets, or of more.
pub(super) fn ambiguous(written: &str) -> bool {
    written.trim().parse::<f64>().is_ok_and(|share| share >= 1.0)
}

/// A number, or a percentage.
pub(super) fn share(written: &str) -> Option<f64> {
    match written.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok().map(|percent| percent / 100.0),
        None => written.parse().ok(),
    }
}

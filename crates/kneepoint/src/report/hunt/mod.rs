// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a hunt found: the document with the map of weaknesses, and machine-readable data from which a hunt resumes.

mod data;
mod document;

pub use data::{Hunted, hunted, read, records};
pub use document::document;

use crate::experiment::hunted::Finding;
use crate::study::hunt::Hunt;

/// A hunt and its findings.
pub struct Outcome<'o> {
    /// The hunt.
    pub hunt: &'o Hunt,
    /// The findings, in the order of weaknesses.
    pub findings: &'o [Finding],
    /// Links to the studio, one for each finding.
    pub links: &'o [String],
    /// For each weakness, how many of its worst networks do not show it with further seeds or to a
    /// comparison.
    pub others: &'o [usize],
}

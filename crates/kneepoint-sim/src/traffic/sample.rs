// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sizes that were observed, one by one.

use std::fmt;
use std::ops::RangeInclusive;

use super::csv::{SIZE, is_csv, rows};
use crate::settings::{List, Raw, Setting};
use crate::units::Bytes;

/// The sizes of transfers.
pub(super) const SIZES: RangeInclusive<Bytes> = Bytes(1)..=Bytes(1_000_000_000);

/// Observed sizes, at least one.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct Sample(List<Bytes>);

impl Sample {
    /// The sizes in the given order.
    pub(super) fn values(&self) -> &[Bytes] {
        self.0.values()
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Setting for Sample {
    const KIND: &'static str = "list of sizes";
    const JSON: &'static [&'static str] = &["string", "array"];

    fn read(raw: &Raw) -> Result<Sample, String> {
        let sizes = match raw {
            Raw::Text(text) if is_csv(text) => rows(text, &[SIZE], |cells| cells.first(SIZES))?.into(),
            _ => List::<Bytes>::read(raw)?,
        };
        match sizes.values().iter().find(|size| !SIZES.contains(size)) {
            Some(size) => Err(format!("{size} is outside the allowed range, {}", Bytes::describe(&SIZES))),
            None => Ok(Sample(sizes)),
        }
    }
}

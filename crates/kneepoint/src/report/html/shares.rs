// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Throughput shares: the shares of the bottleneck as a picture, and the queue that packets met.

use std::fmt;

use super::super::{Comparison, shares};

pub(super) fn write(page: &mut String, comparison: &Comparison) -> fmt::Result {
    let figures: Vec<_> = shares::cut(comparison).into_iter().chain(shares::positions(comparison)).collect();
    super::write_section(page, "Throughput shares", "", "grid halves", &figures)
}

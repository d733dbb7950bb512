// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Results as tables: rows of numbers under labels, estimates over seeds, and formats of numbers.

pub mod number;
pub mod paired;
mod records;
mod row;
mod series;
mod statistics;
pub mod steady;

pub use records::{Cell, Records, defined};
pub use row::{Labels, Row, quantity, value};
pub use series::Table;
pub use statistics::{Bounds, Estimate, jain_index};

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parts that several tests build on.

pub mod dumbbell;
pub mod ledger;
pub mod mutations;
pub mod schema;
pub mod shots;
pub mod wire;

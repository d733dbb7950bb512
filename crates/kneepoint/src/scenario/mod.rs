// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Scenarios: TOML text to [`Valid`], or to an error that shows the place and the remedy.

mod valid;

pub use valid::{CbrGroup, FlowGroup, FlowSpec, LinkSpec, Network, NodeId, Schedule, Valid, WebGroup};

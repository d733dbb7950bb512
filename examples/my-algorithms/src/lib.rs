// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Algorithms in their own crate: a controller, a queue discipline and a source of traffic, each in one file.
//!
//! The files are written like the laboratory's own. [`known`] gives them the names by which scenarios and schemes choose them.

pub mod budget;
pub mod poisson;
pub mod ramp;

use kneepoint::scenario::Extensions;
use kneepoint::{cc, queue, traffic};

/// The algorithms of this crate. The error says which name is taken.
pub fn known() -> Result<Extensions, String> {
    Extensions::NONE
        .controller(cc::external::of::<budget::Budget>("budget", include_str!("budget.rs")).versioned("1"))?
        .queue(queue::external::of::<ramp::Ramp>("ramp", include_str!("ramp.rs")).versioned("1"))?
        .source(
            traffic::external::of::<poisson::Poisson>("poisson", include_str!("poisson.rs")).versioned("1"),
        )
}

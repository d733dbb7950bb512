// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs a [`Valid`](crate::scenario::Valid) scenario for one seed and tells observers what happens.

mod observe;
mod roster;

pub use observe::{Event, FlowId, LinkId, Observer, View};
pub use roster::{Roster, Slot};

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The controllers of this crate by the names that commands and scenarios use.

use kneepoint::scenario::Extensions;

/// `reno-in-c`, of `reno.c`.
pub fn known() -> Result<Extensions, String> {
    Extensions::NONE.controller(kneepoint_c::controller!(reno_in_c)?)
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Datagrams at a constant rate, on a schedule, that nothing slows down.

use crate::units::{Bytes, Rate, Span};

crate::settings! {
    /// A constant-rate source.
    pub struct Params {
        /// Rate on the wire while it is on.
        rate: Rate = Rate::from_mbit(1), Rate(8)..=Rate::from_mbit(1_000_000);
        /// Size of a packet on the wire.
        size: Bytes = Bytes(1000), Bytes(1)..=Bytes(60_000);
        /// How long it stays on; 0 for always.
        on: Span = Span::ZERO, Span::ZERO..=Span::from_secs(1_000_000);
        /// How long it then stays off.
        off: Span = Span::ZERO, Span::ZERO..=Span::from_secs(1_000_000);
    }
}

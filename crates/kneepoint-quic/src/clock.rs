// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Instants of a stack as times of a connection.

use std::time::Instant;

use kneepoint_cc::units::{Span, Time};

/// When a connection began. Times are relative to the start; earlier times count as the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl Clock {
    pub(crate) fn starting(now: Instant) -> Clock {
        Clock(now)
    }

    pub(crate) fn at(self, instant: Instant) -> Time {
        let passed = instant.saturating_duration_since(self.0).as_nanos();
        Span(u64::try_from(passed).unwrap_or(u64::MAX)).after_start()
    }
}

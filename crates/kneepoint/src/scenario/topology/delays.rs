// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Delays of a link from instants on, as a list or as the text of a file.

use std::fmt;
use std::ops::RangeInclusive;

use crate::link::recording;
use crate::settings::{List, Never, Or, Raw, Setting, Timed, increasing};
use crate::units::Span;

/// Delays of a link from instants on, or none.
pub(in crate::scenario) type DelaySteps = Or<Delays, Never>;

/// Times and the delay from each of them on.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct Delays(List<Timed<Span>>);

impl fmt::Display for Delays {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Setting for Delays {
    const KIND: &'static str = "list of delays";
    const JSON: &'static [&'static str] = &["string", "array"];

    fn read(raw: &Raw) -> Result<Delays, String> {
        match raw {
            // The text of a file.
            Raw::Text(text) if text.is_empty() || text.contains('\n') => {
                recording::delays(text).map(|all| Delays(all.into()))
            }
            _ => List::read(raw).map(Delays),
        }
    }
    fn within(&self, range: &RangeInclusive<Delays>) -> bool {
        self.0.within(&(range.start().0.clone()..=range.end().0.clone()))
    }
}

/// The range of times and delays in [`DelaySteps`].
pub(super) fn delay_range() -> RangeInclusive<DelaySteps> {
    let step = |at, value| Or::is(Delays(List::one(Timed { at, value })));
    step(Span::ZERO, Span::ZERO)..=step(Span::from_secs(1_000_000), Span::from_secs(500))
}

/// After how long delays begin again.
pub(super) type Period = Or<Span, Never>;

/// The range of [`Period`].
pub(super) fn period_range() -> RangeInclusive<Period> {
    Or::is(Span::from_micros(1))..=Or::is(Span::from_secs(1_000_000))
}

/// Whether the instants of delays increase, and repeated delays have a period behind the last of them.
pub(super) fn delays_repeat(delays: &DelaySteps, period: &Period) -> Result<(), String> {
    let all = steps(delays);
    match (all.last(), period.get()) {
        (None, Some(period)) => Err(format!("delay_period, {period}, repeats no delay_steps: give some")),
        (Some(last), Some(period)) if last.at >= *period => Err(format!(
            "delay_period, {period}, ends before the last of delay_steps, at {}: let it be longer",
            last.at
        )),
        _ => increasing("delay_steps", &all),
    }
}

/// The delays.
pub(super) fn steps(delays: &DelaySteps) -> Vec<Timed<Span>> {
    delays.get().map_or(Vec::new(), |delays| delays.0.values().to_vec())
}

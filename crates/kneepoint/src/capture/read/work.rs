// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The steps of loops over what a file decides, counted for the tests that compare a file with one twice as long.

#[cfg(test)]
thread_local!(static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) });

/// Counts a step.
pub(super) fn step() {
    #[cfg(test)]
    STEPS.set(STEPS.get() + 1);
}

#[cfg(test)]
mod tests;

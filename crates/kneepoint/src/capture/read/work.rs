// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Counts iterations of loops whose number depends on a file, for tests that compare a file with one of twice its length.

#[cfg(test)]
thread_local!(static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) });

/// Counts a step.
pub(super) fn step() {
    #[cfg(test)]
    STEPS.set(STEPS.get() + 1);
}

#[cfg(test)]
mod tests;

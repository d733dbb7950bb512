// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Who does the work of a verdict: the caller has the threads.

/// Workers that share pieces of work.
pub trait Crew {
    /// How many work at once.
    fn hands(&self) -> usize;

    /// Results in order.
    fn map<T: Sync, R: Send>(&self, items: &[T], make: impl Fn(&T) -> R + Sync) -> Vec<R>;
}

/// The caller's thread.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Crew for Alone {
    fn hands(&self) -> usize {
        1
    }

    fn map<T: Sync, R: Send>(&self, items: &[T], make: impl Fn(&T) -> R + Sync) -> Vec<R> {
        items.iter().map(make).collect()
    }
}

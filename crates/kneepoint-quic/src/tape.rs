// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Signals to the controllers of connections, kept outside of them.

use std::sync::{Arc, Mutex, PoisonError};
use std::vec::Vec;

use crate::host::{Host, Told};

/// The records of connections, in order of their beginning. Copies are of the same tape.
#[derive(Clone, Debug, Default)]
pub struct Tape(Arc<Mutex<Vec<Vec<Told>>>>);

impl Tape {
    /// The records so far. They are taken from the tape.
    pub fn take(&self) -> Vec<Vec<Told>> {
        self.with(std::mem::take)
    }

    /// The record of a new connection.
    pub(crate) fn begin(&self, host: &mut Host) -> Track {
        host.record();
        let place = self.with(|all| {
            all.push(Vec::new());
            all.len() - 1
        });
        Track { tape: self.clone(), place }
    }

    fn with<T>(&self, how: impl FnOnce(&mut Vec<Vec<Told>>) -> T) -> T {
        // Nothing that holds the lock can fail.
        how(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The place of a connection on a tape.
#[derive(Clone, Debug)]
pub(crate) struct Track {
    tape: Tape,
    place: usize,
}

impl Track {
    /// Adds what the host recorded since.
    pub(crate) fn keep(&self, host: &mut Host) {
        let told = host.take();
        self.tape.with(|all| {
            if let Some(record) = all.get_mut(self.place) {
                record.extend(told);
            }
        });
    }
}

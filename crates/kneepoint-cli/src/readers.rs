// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Readers of files of this program's own, for tests that give them others.

use std::path::Path;

use kneepoint::study::Record;

use crate::store::Store;

/// A kept run of this name in a folder.
pub fn kept(folder: &Path, name: &str, seed: u64) -> Option<Record> {
    Store::at(Some(folder)).get(name, seed).ok().flatten()
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Removes everything of kneepoint from this kernel.

use super::errors::Error;
use super::{controllers, default, filters, pins};

/// Removes filters and controllers in any state, and restores defaults; returns a sentence for each.
pub fn clean() -> Result<Vec<String>, Error> {
    pins::require()?;
    let namespaces = filters::namespaces();
    let mut done = Vec::new();
    for restored in default::restore_all(&namespaces)? {
        done.push(format!("default congestion control {} again, no longer {}", restored.to, restored.from));
    }
    done.extend(
        filters::remove_all(&namespaces)?.into_iter().map(|folder| format!("filter {folder} removed")),
    );
    for name in controllers::left() {
        controllers::unload(&name)?;
        done.push(format!("congestion control {name} unloaded"));
    }
    // A record of a build with other programs.
    let _lock = pins::lock()?;
    for folder in pins::folders() {
        pins::remove(&folder)?;
        done.push(format!("pins of {folder} removed"));
    }
    Ok(done)
}

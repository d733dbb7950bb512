// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The Linux in virtual time that was built on this machine, ready for instances.

use std::path::PathBuf;

use kneepoint_linux::uml::{self, Kernel, Recipe, Station};

use crate::failure::Failure;

/// The kernel with these patches.
pub fn recipe(patches: &[PathBuf]) -> Result<Recipe, Failure> {
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).map_err(|error| Failure::io("read", path, &error))?;
        Ok((path.display().to_string(), text))
    };
    patches.iter().map(read).collect::<Result<_, Failure>>().map(Recipe::new)
}

/// The kernel with these patches, and a place for its instances.
pub fn ready(patches: &[PathBuf]) -> Result<(Kernel, Station), Failure> {
    let cache = cache()?;
    let found = recipe(patches)?.find(&cache).map_err(|error| Failure::io("use", &cache, &error))?;
    let Some(found) = found else {
        let (what, more) = match patches {
            [] => ("the kernel for virtual time is not built", ""),
            _ => ("a kernel for virtual time with these patches is not built", "; give it the same --patch"),
        };
        let remedy = format!(
            "`knee doctor --build-uml` builds it once, from the distribution's source, in about ten minutes on two cores; it \
             needs no root{more}"
        );
        return Err(Failure::run(what, remedy));
    };
    let station =
        Station::open().map_err(|error| Failure::of_system("prepare a place for the instance", &error))?;
    Ok((found, station))
}

/// The place of kept kernels.
pub fn cache() -> Result<PathBuf, Failure> {
    uml::cache().ok_or_else(|| Failure::run("this user has no cache", "set HOME or XDG_CACHE_HOME"))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The congestion control of sockets that choose none, a setting of the network namespace.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::controllers::available;
use super::errors::{Error, While};
use super::filters::inside;
use super::pins;
use super::programs::controller;
use super::turn;

const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// A restored default.
#[derive(Clone, Debug)]
pub struct Restored {
    /// The controller that was the default.
    pub from: String,
    /// The controller that is the default now.
    pub to: String,
}

/// The prefix of the files in which previous defaults are stored, one per network namespace.
const MEMORY: &str = "default-";

/// The file with the name of the previous default of this network namespace. The machine's restart removes it, and resets defaults.
fn memory() -> Result<PathBuf, Error> {
    let namespace = fs::metadata("/proc/thread-self/ns/net").during("tell the network namespace")?;
    Ok(Path::new(turn::FOLDER).join(format!("{MEMORY}{}", namespace.ino())))
}

fn current() -> Result<String, Error> {
    fs::read_to_string(DEFAULT).map(|name| name.trim().to_string()).during(format!("read {DEFAULT}"))
}

fn write(name: &str) -> Result<(), Error> {
    fs::write(DEFAULT, name).map_err(|error| {
        let message = format!("cannot make `{name}` the default congestion control: {error}");
        Error::new(
            message,
            format!("it can be one of {}; writing {DEFAULT} needs root", available().join(", ")),
        )
    })
}

/// Makes a loaded controller the default; the previous default.
pub fn default(name: &str) -> Result<String, Error> {
    let name = controller(name)?.name;
    let _lock = pins::lock()?;
    if !available().iter().any(|one| one == name) {
        return Err(Error::new(
            format!("`{name}` is not loaded"),
            format!("`knee kernel load {name}` loads it"),
        ));
    }
    let (previous, memory) = (current()?, memory()?);
    if previous != name && !memory.exists() {
        fs::write(&memory, &previous).during(format!("write {}", memory.display()))?;
    }
    write(name)?;
    Ok(fs::read_to_string(&memory).unwrap_or(previous))
}

/// Puts the previous default back, if one is remembered.
pub fn restore() -> Result<Option<Restored>, Error> {
    let _lock = pins::lock()?;
    put_back()
}

fn put_back() -> Result<Option<Restored>, Error> {
    let memory = memory()?;
    let Ok(to) = fs::read_to_string(&memory) else { return Ok(None) };
    let from = current()?;
    write(&to)?;
    fs::remove_file(&memory).during(format!("remove {}", memory.display()))?;
    Ok(Some(Restored { from, to }))
}

/// Restores the previous default if `name` is the default: unregistered, it would still serve new sockets.
pub(super) fn leave(name: &str) -> Result<Option<Restored>, Error> {
    if current()? != name {
        return Ok(None);
    }
    if let Some(restored) = put_back()? {
        return Ok(Some(restored));
    }
    // Set by something other than knee.
    let others = available();
    let to = others.iter().find(|one| *one == "cubic").or_else(|| others.iter().find(|one| *one != name));
    let to = to.ok_or_else(|| Error::new(format!("`{name}` is the only congestion control"), "keep it"))?;
    write(to)?;
    Ok(Some(Restored { from: name.to_string(), to: to.clone() }))
}

/// Puts the defaults of all network namespaces back that still exist.
pub(super) fn restore_all(namespaces: &BTreeMap<u64, PathBuf>) -> Result<Vec<Restored>, Error> {
    let _lock = pins::lock()?;
    let mut restored = Vec::new();
    for entry in fs::read_dir(turn::FOLDER).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(number) = name.strip_prefix(MEMORY) else { continue };
        match number.parse().ok().and_then(|number: u64| namespaces.get(&number)) {
            Some(path) => restored.extend(inside(path, put_back)?),
            None => fs::remove_file(entry.path()).during(format!("remove {}", entry.path().display()))?,
        }
    }
    Ok(restored)
}

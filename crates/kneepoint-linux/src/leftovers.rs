// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Devices that an interrupted process may have left. Folders of a living process are not leftovers.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::net::if_::if_nameindex;

use crate::tun;

/// The prefix of the names of devices.
const PREFIX: &str = "knee";

/// The fate of a device.
#[derive(Debug)]
pub enum Outcome {
    /// It is gone.
    Removed,
    /// A process has it: this one, if it was found.
    Held(Option<Holder>),
    /// It cannot be removed.
    Stays(io::Error),
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its number.
    pub process: u32,
    /// Its program.
    pub program: String,
}

impl From<io::Result<()>> for Outcome {
    fn from(removed: io::Result<()>) -> Outcome {
        removed.map_or_else(Outcome::Stays, |()| Outcome::Removed)
    }
}

/// Removes devices `knee0` to `knee255` of this network namespace that no process holds.
pub fn remove_leftovers() -> Vec<(String, Outcome)> {
    let removed = |name: String| {
        let outcome = remove_device(&name);
        (name, outcome)
    };
    devices().into_iter().map(removed).collect()
}

/// Devices of the calling thread's namespace; `/sys` shows another namespace's where `nsenter` has not mounted it again.
fn devices() -> Vec<String> {
    let mut names: Vec<String> = if_nameindex()
        .map_or(Vec::new(), |all| all.iter().map(|one| one.name().to_string_lossy().into_owned()).collect());
    // Devices of other programs may have our prefix; ours end with the number of a network as we write it.
    names.retain(|name| (0..=u8::MAX).any(|number| *name == format!("{PREFIX}{number}")));
    names.sort();
    names
}

fn remove_device(name: &str) -> Outcome {
    // The kernel reports the owner of a TUN or TAP device: no other process can open it. Held until it is removed, so
    // that no process takes it meanwhile.
    let kinds = [libc::IFF_TUN, libc::IFF_TAP].map(|kind| tun::attach(name, kind | libc::IFF_NO_PI));
    if kinds.iter().any(is_busy) {
        return Outcome::Held(holder(|process| has_device(process, name)));
    }
    let removed = Command::new("ip").args(["link", "delete", "dev", name]).output();
    let removed = removed.and_then(|output| match output.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_string())),
    });
    removed.into()
}

fn is_busy(attached: &io::Result<File>) -> bool {
    attached.as_ref().is_err_and(|error| error.raw_os_error() == Some(libc::EBUSY))
}

/// Another process whose folder in `/proc` meets this condition.
fn holder(holds: impl Fn(&Path) -> bool) -> Option<Holder> {
    let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = folders.filter_map(|one| Some((one.file_name().to_str()?.parse().ok()?, one.path())));
    let others = processes.filter(|(process, _)| *process != std::process::id());
    let found = others.into_iter().find(|(_, folder): &(u32, PathBuf)| holds(folder));
    found.map(|(process, folder)| Holder {
        process,
        program: fs::read_to_string(folder.join("comm")).unwrap_or_default().trim().to_string(),
    })
}

/// Whether a process has the file of a device.
fn has_device(process: &Path, name: &str) -> bool {
    let files = fs::read_dir(process.join("fdinfo")).into_iter().flatten().flatten();
    files.map(|file| fs::read_to_string(file.path()).unwrap_or_default()).any(|text| {
        text.lines().any(|line| line.strip_prefix("iff:").is_some_and(|device| device.trim() == name))
    })
}

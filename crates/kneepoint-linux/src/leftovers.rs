// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What an interrupted process may have left that has a name: network namespaces and devices. What a living process holds is not left.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::mount::{MntFlags, umount2};
use nix::net::if_::if_nameindex;

use crate::tun;

/// How the names of devices begin.
const PREFIX: &str = "knee";
const NAMESPACES: &str = "/run/netns";

/// Something left over, or held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// What it is: `network namespace`, `device`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
}

/// What became of it.
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

/// Removes named network namespaces `knee-*` and, in this one, devices `knee0` to `knee255` that no process holds.
pub fn remove_leftovers() -> Vec<(Leftover, Outcome)> {
    let namespaces = names_in(NAMESPACES).into_iter().filter(|name| name.starts_with("knee-"));
    let namespaces = namespaces.map(|name| {
        let outcome = remove_namespace(&Path::new(NAMESPACES).join(&name));
        (Leftover { kind: "network namespace", name }, outcome)
    });
    let devices = devices().into_iter().map(|name| {
        let outcome = remove_device(&name);
        (Leftover { kind: "device", name }, outcome)
    });
    namespaces.chain(devices).collect()
}

fn names_in(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    sorted(entries.filter_map(|entry| entry.file_name().into_string().ok()))
}

/// Devices of the calling thread's namespace; `/sys` shows those of another one where `nsenter` has not mounted it anew.
fn devices() -> Vec<String> {
    let names = if_nameindex()
        .map_or(Vec::new(), |all| all.iter().map(|one| one.name().to_string_lossy().into_owned()).collect());
    // Others' devices may begin like ours, which end with the number of a network.
    let is_ours = |name: &String| name.strip_prefix(PREFIX).is_some_and(|rest| rest.parse::<u8>().is_ok());
    sorted(names.into_iter().filter(is_ours))
}

fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names = names.collect::<Vec<_>>();
    names.sort();
    names
}

fn remove_namespace(path: &Path) -> Outcome {
    let holder = number(path).and_then(|own| holder(|process| is_in(process, own)));
    if holder.is_some() {
        return Outcome::Held(holder);
    }
    // A name is a file that the namespace is mounted on.
    let unmounted = match umount2(path, MntFlags::MNT_DETACH) {
        Ok(()) | Err(nix::errno::Errno::EINVAL) => fs::remove_file(path),
        Err(error) => Err(error.into()),
    };
    unmounted.into()
}

fn remove_device(name: &str) -> Outcome {
    // The kernel tells who has a TUN or TAP device: nobody else gets it. Kept until it is removed, so that nobody takes it meanwhile.
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

/// A process other than this one for whose folder in `/proc` this holds.
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

/// Whether a thread of a process is in a network namespace, or has it open.
fn is_in(process: &Path, namespace: (u64, u64)) -> bool {
    let is_it = |path: PathBuf| number(&path) == Some(namespace);
    files(process, "task").any(|thread| is_it(thread.join("ns/net"))) || files(process, "fd").any(is_it)
}

/// What tells a file from all others, whatever it is called.
fn number(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// Whether a process has the file of a device.
fn has_device(process: &Path, name: &str) -> bool {
    files(process, "fdinfo").any(|file| {
        let text = fs::read_to_string(file).unwrap_or_default();
        text.lines().any(|line| line.strip_prefix("iff:").is_some_and(|device| device.trim() == name))
    })
}

fn files(process: &Path, folder: &str) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(process.join(folder)).into_iter().flatten().flatten().map(|entry| entry.path())
}

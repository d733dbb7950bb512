// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What an interrupted process may have left that has a name: network namespaces and devices.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use nix::mount::{MntFlags, umount2};

/// The prefix of every name that Kneepoint gives.
const PREFIX: &str = "knee";
const NAMESPACES: &str = "/run/netns";

/// Something left over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// What it is: `network namespace`, `device`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
}

fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect::<Vec<_>>();
    names.retain(|name| name.starts_with(PREFIX));
    names.sort();
    names
}

/// Removes named network namespaces `knee-*` and, in this one, devices `knee*`; each with the reason if it stays.
pub fn remove_leftovers() -> Vec<(Leftover, io::Result<()>)> {
    let namespaces = names(NAMESPACES).into_iter().filter(|name| name.starts_with("knee-"));
    let namespaces = namespaces.map(|name| {
        let path = Path::new(NAMESPACES).join(&name);
        // A name is a file that the namespace is mounted on.
        let unmounted = match umount2(&path, MntFlags::MNT_DETACH) {
            Ok(()) | Err(nix::errno::Errno::EINVAL) => fs::remove_file(&path),
            Err(error) => Err(error.into()),
        };
        (Leftover { kind: "network namespace", name }, unmounted)
    });
    let devices = names("/sys/class/net").into_iter().map(|name| {
        let removed = Command::new("ip").args(["link", "delete", "dev", &name]).output();
        let removed = removed.and_then(|output| match output.status.success() {
            true => Ok(()),
            false => Err(io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_string())),
        });
        (Leftover { kind: "device", name }, removed)
    });
    namespaces.chain(devices).collect()
}

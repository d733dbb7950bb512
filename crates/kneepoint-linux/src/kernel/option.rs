// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The program that passes signals of packets to a controller, in an option of TCP (`bpf/rate_option.bpf.c`): it is
//! attached to the sockets of a cgroup. It shares the controller's map and its folder of pins, and goes with them.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use libbpf_rs::MapCore;

use super::errors::{Error, While};
use super::{objects, pins};

/// The pin of the link that holds the program at the cgroup.
const LINK: &str = "option";
/// The map that it shares with the controller, and the one with its counters.
const SHARED: &str = "advices";
const COUNTS: &str = "counts";

/// The uses of the option so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OptionUse {
    /// Packets that this machine wrote it into.
    pub written: u64,
    /// Packets that gave a sender its rate.
    pub told: u64,
}

/// The root of the cgroups of version 2, if they are mounted.
fn root() -> io::Result<Option<PathBuf>> {
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    let of_version_2 = mounts
        .lines()
        .find(|line| line.split_once(" - ").is_some_and(|(_, kind)| kind.starts_with("cgroup2 ")));
    Ok(of_version_2.and_then(|line| line.split(' ').nth(4)).map(PathBuf::from))
}

/// Attaches the program to a cgroup, by default to the root of all, and returns the cgroup, or none if there are no cgroups. The
/// controller's maps are pinned.
pub fn attach(controller: &str, code: &[u8], cgroup: Option<&Path>) -> Result<Option<PathBuf>, Error> {
    let place = match cgroup {
        Some(cgroup) => Some(cgroup.to_path_buf()),
        None => root().during("read the mounts")?,
    };
    let Some(place) = place else { return Ok(None) };
    let folder = pins::folder(controller);
    let mut object = objects::open(LINK, code)?;
    for mut map in object.maps_mut().filter(|map| map.name() == SHARED) {
        map.reuse_pinned_map(folder.join(SHARED)).during("share the map of a controller")?;
    }
    let mut object = objects::load(LINK, object)?;
    for mut map in object.maps_mut().filter(|map| map.name() == COUNTS) {
        map.pin(folder.join(COUNTS)).during("pin a map")?;
    }
    let doing = || format!("attach a program to the cgroup {}", place.display());
    let directory = File::open(&place).during(doing())?;
    let program = object.progs_mut().next().expect("the object has a program");
    let mut link = program.attach_cgroup(directory.as_raw_fd()).during(doing())?;
    link.pin(folder.join(LINK)).during("pin a program")?;
    Ok(Some(place))
}

/// The uses of a loaded controller's option, if the program is attached.
pub fn used(controller: &str) -> Option<OptionUse> {
    let map = objects::map(controller, COUNTS)?;
    let count = |place: u32| {
        let value = map.lookup(&place.to_ne_bytes(), libbpf_rs::MapFlags::ANY).ok()??;
        Some(u64::from_ne_bytes(value.try_into().ok()?))
    };
    Some(OptionUse { written: count(0)?, told: count(1)? })
}

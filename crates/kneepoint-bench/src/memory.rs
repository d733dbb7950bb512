// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The memory that runs may take together: the given limit, or three quarters of the available memory.
//!
//! ```text
//! available   the least of  MemAvailable of the machine
//!                           limit − usage of each control group that this process is in (versions 1 and 2)
//!                           half of the room below RLIMIT_AS, because tables that double need twice their contents
//! ```
//!
//! Where none of them is known there is no limit, unless one is given.

use std::fmt;
use std::fs;
use std::path::Path;

use kneepoint::units::Bytes;
use rustix::process::{Resource, getrlimit};

use crate::session::Spelling;

/// Memory that runs may take together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// In bytes.
    pub bytes: u64,
    origin: Origin,
    /// The options that allow more, as written.
    spelling: Spelling,
}

/// The source of the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Said,
    Machine,
    ControlGroup,
    AddressSpace,
}

impl Allowance {
    /// The given amount, or else a share of the available memory.
    pub fn new(said: Option<Bytes>, spelling: Spelling) -> Option<Allowance> {
        let (bytes, origin) = match said {
            Some(bytes) => (bytes.0, Origin::Said),
            None => available().map(|(bytes, origin)| (bytes / 4 * 3, origin))?,
        };
        Some(Allowance { bytes, origin, spelling })
    }

    /// The option that changes it, in the caller's spelling.
    pub fn option(&self, name: &str, value: &str) -> String {
        self.spelling.option(name, value)
    }
}

impl fmt::Display for Allowance {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let allowed = size(self.bytes);
        match self.origin {
            Origin::Said => write!(out, "the {allowed} of `{}`", self.option("memory", "")),
            Origin::Machine => write!(out, "{allowed}, three quarters of this machine's available memory"),
            Origin::ControlGroup => {
                write!(out, "{allowed}, three quarters of the control group's free memory")
            }
            Origin::AddressSpace => write!(out, "{allowed}, by the limit of the address space (`ulimit -v`)"),
        }
    }
}

/// The least of the limits.
fn available() -> Option<(u64, Origin)> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let groups = in_control_groups(Path::new("/sys/fs/cgroup"), &read("/proc/self/cgroup"));
    let found = [
        (kilobytes(&read("/proc/meminfo"), "MemAvailable:"), Origin::Machine),
        (groups, Origin::ControlGroup),
        (address_space(&read("/proc/self/status")), Origin::AddressSpace),
    ];
    let known = found.into_iter().filter_map(|(bytes, origin)| Some((bytes?, origin)));
    known.min_by_key(|(bytes, _)| *bytes)
}

/// The value of a line such as `MemAvailable:   23421912 kB`, in bytes.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// Half of the room below RLIMIT_AS.
fn address_space(status: &str) -> Option<u64> {
    let limit = getrlimit(Resource::As).current?;
    Some(limit.saturating_sub(kilobytes(status, "VmSize:").unwrap_or(0)) / 2)
}

/// The files of a version of control groups: where they are, limit, usage, and the part of it that is given back on demand.
struct Version {
    folder: &'static str,
    limit: &'static str,
    usage: &'static str,
    cache: &'static str,
}

const SECOND: Version =
    Version { folder: "", limit: "memory.max", usage: "memory.current", cache: "inactive_file" };
const FIRST: Version = Version {
    folder: "memory",
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    cache: "total_inactive_file",
};

/// The free memory of a process's control groups, from the lines of `/proc/self/cgroup`.
fn in_control_groups(root: &Path, membership: &str) -> Option<u64> {
    let groups = membership.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        match controllers {
            "" => Some((SECOND, path)),
            _ if controllers.split(',').any(|one| one == "memory") => Some((FIRST, path)),
            _ => None,
        }
    });
    groups.filter_map(|(version, path)| least(&root.join(version.folder), path, &version)).min()
}

/// The free memory of a group and of the groups that contain it. Within a container the path may be wrong, and the
/// root is the container's group.
fn least(root: &Path, path: &str, version: &Version) -> Option<u64> {
    let own = root.join(path.trim_start_matches('/'));
    let around = own.ancestors().take_while(|folder| folder.starts_with(root));
    around.filter_map(|folder| leaves(folder, version)).min()
}

fn leaves(group: &Path, version: &Version) -> Option<u64> {
    let read = |file: &str| fs::read_to_string(group.join(file)).ok();
    let number = |file: &str| read(file)?.trim().parse::<u64>().ok();
    let (limit, usage) = (number(version.limit)?, number(version.usage).unwrap_or(0));
    let stat = read("memory.stat").unwrap_or_default();
    let cached = stat.lines().find_map(|line| line.strip_prefix(version.cache)?.trim().parse::<u64>().ok());
    Some(limit.saturating_sub(usage.saturating_sub(cached.unwrap_or(0))))
}

/// A number of bytes to two or three digits.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
    let place = bytes.checked_ilog10().map_or(0, |digits| digits as usize / 3).min(UNITS.len() - 1);
    let number = bytes as f64 / 1000u64.pow(place as u32) as f64;
    let digits = usize::from(place > 0 && number < 10.0);
    format!("{number:.digits$} {}", UNITS[place])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_has_two_or_three_digits() {
        let sizes = [0, 999, 1000, 9_940_000, 17_200_000_000, 127_500_000_000_000, u64::MAX];
        assert_eq!(sizes.map(size), ["0 B", "999 B", "1.0 kB", "9.9 MB", "17 GB", "128 TB", "18 EB"]);
    }

    #[test]
    fn the_available_memory_of_a_machine_is_read() {
        assert_eq!(kilobytes("MemTotal: 9 kB\nMemAvailable:   23 kB\n", "MemAvailable:"), Some(23 * 1024));
        assert_eq!(kilobytes("MemTotal: 9 kB\n", "MemAvailable:"), None);
    }

    #[test]
    fn the_narrowest_control_group_around_a_process_counts_in_both_versions() {
        let root = tempfile::tempdir().expect("a directory");
        let write = |file: &str, text: &str| {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        };
        let left = |membership: &str| in_control_groups(root.path(), membership);
        assert_eq!(left("0::/a/b\n"), None);
        write("a/memory.max", "9000\n");
        write("a/memory.current", "3000\n");
        write("a/memory.stat", "anon 2000\ninactive_file 500\n");
        write("a/b/memory.max", "max\n");
        assert_eq!(left("0::/a/b\n"), Some(6500));
        write("a/b/memory.max", "4000\n");
        assert_eq!(left("0::/a/b\n"), Some(4000));
        // Within a container the root is its own group.
        write("memory.max", "1000\n");
        assert_eq!(left("0::/elsewhere\n"), Some(1000));
        write("memory/c/memory.limit_in_bytes", "700\n");
        write("memory/c/memory.usage_in_bytes", "200\n");
        assert_eq!(left("5:cpu,memory:/c\n3:pids:/c\n"), Some(500));
    }
}

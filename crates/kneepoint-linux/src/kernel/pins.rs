// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Names below `/sys/fs/bpf/knee`: everything that this crate leaves in the kernel has one, a folder per program.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};
use nix::sys::statfs::{FsType, statfs};
use nix::unistd::geteuid;

use super::errors::{Error, While};
use super::turn::{self, Turn};

const BPFFS: &str = "/sys/fs/bpf";
/// The magic number of bpffs (`linux/magic.h`).
const MAGIC: u32 = 0xcafe_4a11;

/// The directory of the programs.
pub fn root() -> PathBuf {
    Path::new(BPFFS).join("knee")
}

/// The folder of a program.
pub fn folder(name: &str) -> PathBuf {
    root().join(name)
}

/// Whether bpffs is mounted at its usual place.
pub fn mounted() -> bool {
    statfs(BPFFS).is_ok_and(|place| place.filesystem_type() == FsType(MAGIC.into()))
}

/// Whether `/sys` is one that `ip netns exec` has mounted for the time of a command: it is named after the namespace.
fn passing() -> bool {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let latest = mounts.lines().rfind(|line| line.split(' ').nth(4) == Some("/sys"));
    let source = latest.and_then(|line| line.split_once(" - ")?.1.split(' ').nth(1));
    source.is_some_and(|source| Path::new("/run/netns").join(source).exists())
}

/// Makes the folder of a program, and mounts bpffs if it is not mounted.
pub fn make(name: &str) -> Result<(), Error> {
    if !mounted() {
        if passing() {
            return Err(Error::new(
                format!(
                    "{BPFFS} is not visible: `ip netns exec` has covered it, and mounts there end with the command"
                ),
                "enter a network namespace with `nsenter --net=/run/netns/NAME knee …`",
            ));
        }
        mount(Some("bpf"), BPFFS, Some("bpf"), MsFlags::empty(), None::<&str>)
            .during(format!("mount the BPF file system at {BPFFS}"))?;
    }
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder(name));
    made.during(format!("make {}", folder(name).display()))
}

/// The names of all folders, sorted.
pub fn folders() -> Vec<String> {
    let entries = fs::read_dir(root()).into_iter().flatten().flatten();
    let mut names = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect::<Vec<_>>();
    names.sort();
    names
}

/// Removes a folder with its pins; returns whether it existed.
pub fn remove(name: &str) -> Result<bool, Error> {
    let folder = folder(name);
    let remove = |path: &Path| if path.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) };
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        remove(&entry.path()).during(format!("remove {}", entry.path().display()))?;
    }
    let existed = match fs::remove_dir(&folder) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        error => error.map(|()| true).during(format!("remove {}", folder.display()))?,
    };
    // The last one leaves nothing; this fails while others run.
    let _ = fs::remove_dir(root());
    Ok(existed)
}

/// Whether this process may see pins: to others everything looks absent.
pub fn visible() -> bool {
    geteuid().is_root()
}

/// Refuses a process that may not see pins.
pub fn require() -> Result<(), Error> {
    match visible() {
        true => own(),
        false => Err(Error::new(
            "only root sees and changes what knee has loaded into the kernel",
            "run it with sudo; `knee kernel list` shows the names that the kernel knows, without root",
        )),
    }
}

/// Waits until no other process changes pins.
pub fn lock() -> Result<Turn, Error> {
    let turn = turn::take()?;
    own()?;
    Ok(turn)
}

/// Refuses a folder that another user made: in the BPF file system every user may make one, also as a link to another.
fn own() -> Result<(), Error> {
    match fs::symlink_metadata(root()) {
        Ok(_) => turn::is_own(&root()),
        Err(_) => Ok(()),
    }
}

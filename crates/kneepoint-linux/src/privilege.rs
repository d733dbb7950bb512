// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Privileges: what a machine must allow, who stands behind `sudo`, and how to give privileges up.

use std::fs;
use std::io;

use nix::sched::{CloneFlags, unshare};
use nix::unistd::{Gid, Uid, getgid, getuid, setgid, setgroups, setuid};

/// The user who called `sudo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    user: Uid,
    group: Gid,
}

impl Caller {
    /// Whoever called `sudo`, if somebody did.
    pub fn behind_sudo() -> Option<Caller> {
        let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
        let (user, group) = (number("SUDO_UID")?, number("SUDO_GID")?);
        Some(Caller { user: Uid::from_raw(user), group: Gid::from_raw(group) })
    }

    /// Makes the calling process this user's.
    pub fn become_caller(self) -> io::Result<()> {
        setgroups(&[self.group])?;
        setgid(self.group)?;
        setuid(self.user)?;
        Ok(())
    }
}

/// Gives up what only setting up needed: the process becomes that of whoever called `sudo`, and loses all capabilities.
pub fn drop_privileges() -> io::Result<()> {
    if let Some(caller) = Caller::behind_sudo() {
        return caller.become_caller();
    }
    // SAFETY: both structures live through the call, and version 3 takes two sets.
    let result = unsafe {
        let header = [0x2008_0522_u32, 0];
        let none = [0u32; 6];
        libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr())
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Becomes root of a user namespace of its own, which may have network namespaces without the machine's permission. To be
/// called while the process has one thread.
pub fn enter_user_namespace() -> io::Result<()> {
    let (user, group) = (getuid(), getgid());
    unshare(CloneFlags::CLONE_NEWUSER)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

/// Whether the process has the rights of root.
pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

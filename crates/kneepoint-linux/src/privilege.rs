// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Privileges: the rights that are needed, the users that programs run as, and how privileges are given up.
//!
//! The kernel keeps rights for each thread, and a thread or process begins with its maker's. So they are given up by
//! system calls that
//! concern the calling thread alone, in every thread that outlives the set-up, and [`Rights::keep`] in the last one
//! checks that none has any.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::LazyLock;

use libc::{c_long, c_ulong};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{self, Gid, Uid, geteuid, getgid, getgroups, getuid, setfsgid, setfsuid};

/// A user of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The number.
    pub uid: Uid,
    /// The group of files that the user makes.
    pub gid: Gid,
    groups: Vec<Gid>,
}

/// The group of those who are in none (`nogroup`).
const NO_GROUP: Gid = Gid::from_raw(65534);

impl User {
    /// The user of a name or number; the reason where there is none.
    pub fn named(name: &str) -> Result<User, String> {
        let number = name.parse::<u32>().ok().map(Uid::from_raw);
        let found = number.map_or_else(|| unistd::User::from_name(name), unistd::User::from_uid);
        match (found, number) {
            (Ok(Some(found)), _) => Ok(User::of(&found)),
            // A number needs no name.
            (_, Some(uid)) => Ok(User::numbered(uid)),
            (Ok(None), None) => Err(format!("this machine has no user `{name}`")),
            (Err(error), None) => Err(format!("cannot look for a user `{name}`: {error}")),
        }
    }

    /// A user unknown to the machine is in no group: a group of the same number may be any group.
    fn numbered(uid: Uid) -> User {
        User { uid, gid: NO_GROUP, groups: Vec::new() }
    }

    fn of(found: &unistd::User) -> User {
        let name = CString::new(found.name.clone()).ok();
        let groups = name.and_then(|name| unistd::getgrouplist(&name, found.gid).ok());
        User { uid: found.uid, gid: found.gid, groups: groups.unwrap_or_else(|| vec![found.gid]) }
    }

    /// The caller of `sudo`, unless that is root.
    fn behind_sudo() -> Option<User> {
        let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
        let (uid, gid) = (Uid::from_raw(number("SUDO_UID")?), Gid::from_raw(number("SUDO_GID")?));
        let known = unistd::User::from_uid(uid).ok().flatten();
        let user = User { gid, ..known.map_or_else(|| User::numbered(uid), |known| User::of(&known)) };
        (!uid.is_root()).then_some(user)
    }
}

/// The rights that a thread or a program keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rights {
    /// All rights of the process.
    All,
    /// The rights of a user, or of the process's own user: without capabilities, and without a way to get any by running a program.
    Of(Option<User>),
}

impl Rights {
    /// The rights of the caller of `sudo`, or else of the process's user.
    pub fn of_caller() -> Rights {
        // Once: in a user namespace, which the process may enter, it is root and there are no other users.
        static CALLER: LazyLock<Rights> =
            LazyLock::new(|| Rights::Of(is_root().then(User::behind_sudo).flatten()));
        CALLER.clone()
    }

    /// The rights of the user of this name or number: all of root's for root.
    pub fn of_user(name: &str) -> Result<Rights, String> {
        let user = User::named(name)?;
        match user.uid {
            uid if !is_root() && uid == geteuid() => Ok(Rights::Of(None)),
            _ if !is_root() => Err("only root can run a program as another user: run it with sudo".into()),
            uid if uid.is_root() => Ok(Rights::All),
            _ => Ok(Rights::Of(Some(user))),
        }
    }

    /// The user, if different from the process's.
    pub fn user(&self) -> Option<&User> {
        match self {
            Rights::All => None,
            Rights::Of(user) => user.as_ref(),
        }
    }

    /// Gives up everything else, for the calling thread and its children. It makes system calls only, and allocates
    /// nothing.
    pub fn keep(&self) -> io::Result<()> {
        let Rights::Of(user) = self else { return Ok(()) };
        if let Some(User { uid, gid, groups }) = user {
            let (uid, gid) = (c_long::from(uid.as_raw()), c_long::from(gid.as_raw()));
            set_groups(groups)?;
            call(numbers::SETRESGID, [gid; 3])?;
            call(numbers::SETRESUID, [uid; 3])?;
        }
        // Neither a file that is set-user-ID nor one with capabilities gives any back. The bounding set stays as it is:
        // a program whose file carries capabilities outside of it, such as `ping`, would not start at all.
        // SAFETY: the call takes numbers, and concerns the calling thread.
        if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1 as c_ulong, 0, 0, 0) } < 0 {
            return Err(io::Error::last_os_error());
        }
        // Version 3 takes two sets of three words.
        let (header, none) = ([0x2008_0522_u32, 0], [0u32; 6]);
        call(libc::SYS_capset, [header.as_ptr() as c_long, none.as_ptr() as c_long, 0])
    }

    /// The same for the last thread of a process that has any left.
    pub fn keep_in_every_thread(&self) -> io::Result<()> {
        self.keep()?;
        match capable_threads()?.as_slice() {
            [] => Ok(()),
            _ if *self == Rights::All => Ok(()),
            threads => Err(io::Error::other(format!("the threads {threads:?} have capabilities"))),
        }
    }
}

/// Does work with files as the caller of `sudo`, who owns the new files and gains no further access.
pub fn as_caller<T>(work: impl FnOnce() -> T) -> io::Result<T> {
    let caller = Rights::of_caller();
    let Some(user) = caller.user() else { return Ok(work()) };
    // For the calling thread alone, as all of these.
    let groups = getgroups()?;
    set_groups(&user.groups)?;
    let own = (setfsgid(user.gid), setfsuid(user.uid));
    let done = work();
    setfsuid(own.1);
    setfsgid(own.0);
    set_groups(&groups)?;
    Ok(done)
}

fn set_groups(groups: &[Gid]) -> io::Result<()> {
    call(numbers::SETGROUPS, [groups.len() as c_long, groups.as_ptr() as c_long, 0])
}

/// Has a program run with these rights.
pub fn confine(command: &mut Command, rights: Rights) {
    // SAFETY: between fork and exec it makes system calls only, and allocates nothing.
    unsafe { command.pre_exec(move || rights.keep()) };
}

/// Linux's calls, which concern one thread; the C library's concern all threads of the process.
fn call(number: c_long, [a, b, c]: [c_long; 3]) -> io::Result<()> {
    // SAFETY: each caller passes numbers, or the places of values that live through the call and are as long as it says.
    if unsafe { libc::syscall(number, a, b, c) } < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The variants with 32-bit user ids.
#[cfg(not(any(target_arch = "x86", target_arch = "arm")))]
mod numbers {
    pub use libc::{SYS_setgroups as SETGROUPS, SYS_setresgid as SETRESGID, SYS_setresuid as SETRESUID};
}
#[cfg(any(target_arch = "x86", target_arch = "arm"))]
mod numbers {
    pub use libc::{
        SYS_setgroups32 as SETGROUPS, SYS_setresgid32 as SETRESGID, SYS_setresuid32 as SETRESUID,
    };
}

/// The threads of this process that have capabilities.
fn capable_threads() -> io::Result<Vec<String>> {
    let mut capable = Vec::new();
    for thread in fs::read_dir("/proc/self/task")? {
        let thread = thread?;
        // A thread that has ended meanwhile has none.
        let status = fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        let held = status.lines().find_map(|line| line.strip_prefix("CapPrm:"));
        if held.is_some_and(|mask| mask.trim().chars().any(|digit| digit != '0')) {
            capable.push(thread.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(capable)
}

/// Becomes root of its own user namespace, which may have network namespaces without the machine's permission. To be
/// called while the process has one thread.
pub fn enter_user_namespace() -> io::Result<()> {
    let (user, group, _) = (getuid(), getgid(), Rights::of_caller());
    unshare(CloneFlags::CLONE_NEWUSER)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

/// Whether the process has the rights of root.
pub fn is_root() -> bool {
    geteuid().is_root()
}

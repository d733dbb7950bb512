// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Network namespaces: fresh ones without a name, which vanish with the last thread and file that holds them, the caller's own, and
//! those created with `ip netns`.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::thread::{self, JoinHandle};

use nix::sched::{CloneFlags, setns, unshare};

use crate::tun;

/// Settings of every fresh namespace. Metrics of earlier connections must not leak into later ones, and buffers must never be
/// what limits a transfer; they start at the kernel's defaults, for a receiver with more room acknowledges every one of
/// the first two hundred packets (it advertises a window that opens with each).
pub const SYSCTLS: [(&str, &str); 9] = [
    ("tcp_no_metrics_save", "1"),
    ("tcp_rmem", "4096 131072 67108864"),
    ("tcp_wmem", "4096 16384 67108864"),
    ("tcp_ecn", "2"),
    ("tcp_timestamps", "1"),
    ("tcp_sack", "1"),
    ("tcp_recovery", "1"),
    ("tcp_early_retrans", "3"),
    ("tcp_slow_start_after_idle", "1"),
];

/// A network namespace.
#[derive(Debug)]
pub struct Namespace(File);

impl Namespace {
    /// A fresh namespace with [`SYSCTLS`] and a loopback device.
    pub fn new() -> io::Result<Namespace> {
        let made = thread::Builder::new().spawn(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            for (name, value) in SYSCTLS {
                fs::write(format!("/proc/sys/net/ipv4/{name}"), value)?;
            }
            // Programs have no capabilities, and need none for ports below 1024 and for echo requests. In a user namespace there is one group.
            fs::write("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0")?;
            let echo = |groups| fs::write("/proc/sys/net/ipv4/ping_group_range", groups);
            echo("0 2147483647").or_else(|_| echo("0 0"))?;
            tun::loopback()?;
            File::open("/proc/thread-self/ns/net")
        })?;
        made.join().expect("no panic inside").map(Namespace)
    }

    /// The namespace of a file in `/proc`.
    pub fn of(file: File) -> Namespace {
        Namespace(file)
    }

    /// The caller's.
    pub fn own() -> io::Result<Namespace> {
        File::open("/proc/thread-self/ns/net").map(Namespace)
    }

    /// The one that `ip netns add NAME` made.
    pub fn named(name: &str) -> io::Result<Namespace> {
        File::open(Path::new("/run/netns").join(name)).map(Namespace)
    }

    /// A thread inside it.
    pub fn spawn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<JoinHandle<io::Result<T>>> {
        let namespace = self.0.try_clone()?;
        thread::Builder::new().spawn(move || {
            setns(namespace, CloneFlags::CLONE_NEWNET)?;
            work()
        })
    }

    /// The result of work inside it.
    pub fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        self.spawn(work)?.join().expect("no panic inside")
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

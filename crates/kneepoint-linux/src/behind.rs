// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Two hosts with a link between them, and programs on them.
//!
//! ```text
//! near: its own namespace ─ kneeN ─ link ─ kneeN ─ far: the caller's namespace, or one of its own
//! ```

use std::ffi::OsString;
use std::fs;
use std::io::{self, PipeWriter};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::prctl;
use nix::sys::signal::Signal;

use crate::namespace::Namespace;
use crate::privilege::Rights;
use crate::tun::{self, Address, Device, Network};

/// The time that a server must listen before the program that needs it starts.
const READY: Duration = Duration::from_secs(3);

/// A host: a namespace with a device.
#[derive(Debug)]
pub struct Host {
    namespace: Namespace,
    /// Its end of the link.
    pub device: Device,
    /// Its addresses.
    pub address: Address,
}

impl Host {
    /// Starts a program on the host, with these rights. When it ends or is dropped, or this process ends in any way, everything
    /// that it started ends, too.
    pub fn start(
        &self,
        words: &[OsString],
        peer: &Host,
        output: Stdio,
        rights: &Rights,
    ) -> io::Result<Program> {
        let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let namespace = self.namespace.as_fd().try_clone_to_owned()?;
        let rights = rights.clone();
        let mut command = Command::new(program);
        command.args(arguments).stdout(output);
        for (name, address) in [("KNEE_HOST", self.address), ("KNEE_PEER", peer.address)] {
            command.env(name, address.v4.to_string()).env(format!("{name}6"), address.v6.to_string());
        }
        let (stop, hold) = io::pipe()?;
        let stop = OwnedFd::from(stop);
        let inside = move || {
            setns(&namespace, CloneFlags::CLONE_NEWNET)?;
            contain(&stop, &rights)?;
            rights.keep()
        };
        // SAFETY: between fork and exec it makes system calls only, and allocates nothing.
        unsafe { command.pre_exec(inside) };
        let child = command.spawn()?;
        Ok(Program { child, hold: Some(hold) })
    }

    /// Waits a few seconds for a listener on a TCP port of the host; returns whether there is one.
    pub fn listens(&self) -> io::Result<bool> {
        let listening = || {
            let tables = ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"];
            // The fourth column is the state; 0A is LISTEN.
            let any = |table: &&str| {
                let text = fs::read_to_string(table).unwrap_or_default();
                text.lines().any(|line| line.split_whitespace().nth(3) == Some("0A"))
            };
            tables.iter().any(any)
        };
        self.namespace.run(move || {
            let began = Instant::now();
            while !listening() {
                if began.elapsed() > READY {
                    return Ok(false);
                }
                thread::sleep(Duration::from_millis(10));
            }
            Ok(true)
        })
    }

    /// A thread on the host.
    pub fn spawn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<JoinHandle<io::Result<T>>> {
        self.namespace.spawn(work)
    }

    /// The result of work on the host.
    pub fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        self.namespace.run(work)
    }
}

/// Continues as the second process of a PID namespace, between fork and exec. The calling process stays outside and the first one
/// inside, only to wait, with the program's rights: when the program ends, or the other end of `stop` is closed, or one
/// of these ends, the kernel ends every process that the program started.
fn contain(stop: &OwnedFd, rights: &Rights) -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWPID)?;
    let outside = own_process()?;
    // SAFETY: the process has one thread, and everything called here may be called between fork and exec.
    unsafe {
        match libc::fork() {
            -1 => return Err(io::Error::last_os_error()),
            0 => {}
            child => {
                rights.keep()?;
                let ended = process(child)?;
                wait_for(child, Some([stop, &ended]))
            }
        }
    }
    let inside = own_process()?;
    // SAFETY: as above.
    unsafe {
        match libc::fork() {
            -1 => Err(io::Error::last_os_error()),
            0 => end_with(&inside),
            child => {
                // A process that becomes another user's no longer ends with its parent until it asks again.
                rights.keep()?;
                end_with(&outside)?;
                wait_for(child, None)
            }
        }
    }
}

/// The kernel kills the calling process when its parent ends. The parent may have ended before this request, so it is
/// checked once more, by a descriptor, because a parent in another PID namespace has no number here.
fn end_with(parent: &OwnedFd) -> io::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    let mut ended = [PollFd::new(parent.as_fd(), PollFlags::POLLIN)];
    match poll(&mut ended, PollTimeout::ZERO)? {
        0 => Ok(()),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}

/// A descriptor of the calling process that can be read when it has ended.
fn own_process() -> io::Result<OwnedFd> {
    process(nix::unistd::getpid().as_raw())
}

fn process(number: libc::pid_t) -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointers; the descriptor that it returns is new and has no other owner.
    unsafe {
        let file = libc::syscall(libc::SYS_pidfd_open, number, 0);
        if file < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(file as i32)) }
    }
}

/// Ends the calling process as `child` ends. Of two descriptors the first can be read when the child is to be ended, the second when it
/// has ended.
unsafe fn wait_for(child: libc::pid_t, watched: Option<[&OwnedFd; 2]>) -> ! {
    // SAFETY: no memory but the status is written, and no destructor runs.
    unsafe {
        // Descriptors of the parent would keep its pipes open.
        close_all_but(watched.map_or([2; 2], |two| two.map(AsRawFd::as_raw_fd)));
        // A terminal's interrupt is for the program.
        libc::signal(libc::SIGINT, libc::SIG_IGN);
        if let Some(two) = watched {
            let mut files = two.map(|file| PollFd::new(file.as_fd(), PollFlags::POLLIN));
            while !files.iter().any(|file| file.any().unwrap_or(false)) {
                // An interruption is neither of them.
                let _ = poll(&mut files, PollTimeout::NONE);
            }
            if files[0].any().unwrap_or(false) {
                libc::kill(child, libc::SIGKILL);
            }
        }
        let mut status = 0;
        while libc::waitpid(child, &raw mut status, 0) < 0 && *libc::__errno_location() == libc::EINTR {}
        let code =
            if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) };
        libc::_exit(code)
    }
}

/// Closes all descriptors above the usual three but these.
unsafe fn close_all_but(mut kept: [RawFd; 2]) {
    kept.sort_unstable();
    let [first, second] = kept.map(|file| file as libc::c_uint);
    for (from, to) in
        [(3, first.wrapping_sub(1)), (first + 1, second.wrapping_sub(1)), (second + 1, libc::c_uint::MAX)]
    {
        if from <= to {
            // SAFETY: the caller no longer uses any of them.
            unsafe { libc::syscall(libc::SYS_close_range, from, to, 0) };
        }
    }
}

/// The place of the far host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Far {
    /// The caller's namespace: its servers are on the other side of the link.
    Here,
    /// A separate namespace.
    Apart,
}

/// The near host, whose every packet goes through the link, and the far one.
pub fn hosts(place: Far) -> io::Result<[Host; 2]> {
    let other = match place {
        Far::Here => Namespace::own()?,
        Far::Apart => Namespace::new()?,
    };
    let hosts = joined(Namespace::new()?, other)?;
    let name = hosts[0].device.name.clone();
    hosts[0].run(move || tun::route_all(&name))?;
    Ok(hosts)
}

/// A device in each of two network namespaces created with `ip netns`, with an address and no other route.
pub fn between(names: [&str; 2]) -> io::Result<[Host; 2]> {
    let open = |name: &str| {
        Namespace::named(name).map_err(|error| {
            io::Error::new(error.kind(), format!("network namespace `{name}`: {error} (`ip netns list`)"))
        })
    };
    joined(open(names[0])?, open(names[1])?)
}

/// A device in each of two namespaces, in the first network that neither of them has.
fn joined(near: Namespace, far: Namespace) -> io::Result<[Host; 2]> {
    let taken = [near.run(routes)?, far.run(routes)?].concat();
    for network in (0..=u8::MAX).map(Network).filter(|one| !taken.contains(&one.host(0).v4)) {
        // Another emulation may have come first since. The shared namespace must be asked first, since a fresh one is
        // empty.
        let device = |namespace: &Namespace, address| match namespace.run(move || Device::open(address)) {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => Ok(None),
            other => other.map(Some),
        };
        let [own, peer] = [network.host(1), network.host(2)];
        let Some(there) = device(&far, peer)? else { continue };
        let Some(here) = device(&near, own)? else { continue };
        let far = Host { namespace: far, device: there, address: peer };
        return Ok([Host { namespace: near, device: here, address: own }, far]);
    }
    Err(io::Error::other("all networks 10.77.0.0/24 to 10.77.255.0/24 are in use: end other emulations"))
}

/// Destinations of the routes in the calling thread's namespace.
fn routes() -> io::Result<Vec<Ipv4Addr>> {
    let table = fs::read_to_string("/proc/thread-self/net/route")?;
    let destination = |line: &str| u32::from_str_radix(line.split_whitespace().nth(1)?, 16).ok();
    Ok(table.lines().filter_map(destination).map(|one| u32::from_be(one).into()).collect())
}

/// A program on a host. It is ended when dropped.
#[derive(Debug)]
pub struct Program {
    /// The process that waits for it.
    child: Child,
    /// The pipe whose closing ends that process's wait, also when this process ends in any way.
    hold: Option<PipeWriter>,
}

impl Program {
    /// A descriptor that can be read when it has ended.
    pub fn ended(&self) -> io::Result<OwnedFd> {
        process(self.child.id() as libc::pid_t)
    }

    /// Its exit status; none while it runs.
    pub fn status(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Its exit status; none if it was still running and is ended by this call. It may belong to another user, so
    /// that only the waiting process may signal it.
    pub fn end(&mut self) -> io::Result<Option<ExitStatus>> {
        let ended = self.child.try_wait()?;
        self.hold = None;
        self.child.wait()?;
        Ok(ended)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

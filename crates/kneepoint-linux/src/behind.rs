// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Two hosts with a link between them, and programs on them.
//!
//! ```text
//! near: a namespace of its own ─ knee0 ─ link ─ knee0 ─ far: the caller's namespace, or one of its own
//! ```

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::namespace::Namespace;
use crate::privilege::Caller;
use crate::tun::{Address, Device};

/// How long a server is given to listen before the program that needs it starts.
const READY: Duration = Duration::from_secs(3);
/// How long a program is given to end when asked to.
const GRACE: Duration = Duration::from_millis(500);

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
    fn new(namespace: Namespace, address: Address) -> io::Result<Host> {
        let device = namespace.run(move || Device::open(address))?;
        Ok(Host { namespace, device, address })
    }

    /// Starts a program on the host. When it ends, or the calling thread does, everything that it started ends, too.
    pub fn start(&self, words: &[OsString], peer: &Host, output: Stdio) -> io::Result<Program> {
        let (program, arguments) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let namespace = self.namespace.as_fd().try_clone_to_owned()?;
        let caller = Caller::behind_sudo();
        let mut command = Command::new(program);
        command.args(arguments).stdout(output);
        for (name, address) in [("KNEE_HOST", self.address), ("KNEE_PEER", peer.address)] {
            command.env(name, address.v4.to_string()).env(format!("{name}6"), address.v6.to_string());
        }
        let emulator = own_process()?;
        let inside = move || {
            setns(&namespace, CloneFlags::CLONE_NEWNET)?;
            contain(&emulator)?;
            if let Some(caller) = caller {
                caller.become_caller()?;
            }
            Ok(())
        };
        // SAFETY: between fork and exec it makes system calls only, and allocates nothing.
        unsafe { command.pre_exec(inside) };
        command.spawn().map(Program)
    }

    /// Waits until somebody on the host listens to a TCP port, for a few seconds: whether somebody does.
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
/// inside, only to wait: when the program ends, or the emulator, or any of these, the kernel ends whatever the program started.
fn contain(emulator: &OwnedFd) -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWPID)?;
    end_with(emulator)?;
    for _ in 0..2 {
        let parent = own_process()?;
        // SAFETY: the process has one thread, and everything called here may be called between fork and exec.
        unsafe {
            match libc::fork() {
                -1 => return Err(io::Error::last_os_error()),
                0 => end_with(&parent)?,
                child => wait_for(child),
            }
        }
    }
    Ok(())
}

/// The kernel kills the calling process when its parent ends. If the parent ended before that was asked for, nobody would: it is looked at
/// once more, by a descriptor, because a parent in another PID namespace has no number here.
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
    // SAFETY: the call takes no pointers; what it returns is new and nobody else's.
    unsafe {
        let file = libc::syscall(libc::SYS_pidfd_open, number, 0);
        if file < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(file as i32)) }
    }
}

/// Ends the calling process as `child` ends.
unsafe fn wait_for(child: libc::pid_t) -> ! {
    // SAFETY: no memory but the status is written, and no destructor runs.
    unsafe {
        // Descriptors of the parent would keep its pipes open.
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0);
        // A terminal's interrupt is for the program.
        libc::signal(libc::SIGINT, libc::SIG_IGN);
        let mut status = 0;
        while libc::waitpid(child, &raw mut status, 0) < 0 && *libc::__errno_location() == libc::EINTR {}
        let code =
            if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) };
        libc::_exit(code)
    }
}

/// Where the far host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Far {
    /// The caller's namespace: its servers are on the other side of the link.
    Here,
    /// A namespace of its own.
    Apart,
}

/// The near host, whose every packet goes through the link, and the far one.
pub fn hosts(place: Far) -> io::Result<[Host; 2]> {
    let network = free_network(&[routes()?])?;
    let near = Host::new(Namespace::new()?, Address::of(network, 1))?;
    let other = match place {
        Far::Here => Namespace::own()?,
        Far::Apart => Namespace::new()?,
    };
    let far = Host::new(other, Address::of(network, 2))?;
    let device = &near.device;
    let route = || device.route_all();
    thread::scope(|scope| {
        let routed = scope.spawn(|| {
            setns(&near.namespace, CloneFlags::CLONE_NEWNET)?;
            route()
        });
        routed.join().expect("no panic inside")
    })?;
    Ok([near, far])
}

/// A device in each of two network namespaces that `ip netns` named, with an address and no other route.
pub fn between(names: [&str; 2]) -> io::Result<[Host; 2]> {
    let open = |name: &str| {
        Namespace::named(name).map_err(|error| {
            io::Error::new(error.kind(), format!("network namespace `{name}`: {error} (`ip netns list`)"))
        })
    };
    let [near, far] = [open(names[0])?, open(names[1])?];
    let network = free_network(&[near.run(routes)?, far.run(routes)?])?;
    Ok([Host::new(near, Address::of(network, 1))?, Host::new(far, Address::of(network, 2))?])
}

/// The routes of the calling thread's namespace.
fn routes() -> io::Result<String> {
    fs::read_to_string("/proc/thread-self/net/route")
}

/// The first network 10.77.N.0/24 to which none of these routes leads.
fn free_network(routes: &[String]) -> io::Result<u8> {
    let destinations: Vec<u32> = routes
        .iter()
        .flat_map(|routes| routes.lines())
        .filter_map(|line| u32::from_str_radix(line.split_whitespace().nth(1)?, 16).ok().map(u32::from_be))
        .collect();
    let taken = |network: u8| destinations.contains(&u32::from(Address::of(network, 0).v4));
    (0..=u8::MAX).find(|network| !taken(*network)).ok_or_else(|| {
        io::Error::other("all networks 10.77.0.0/24 to 10.77.255.0/24 are in use: end other emulations")
    })
}

/// A program on a host. It is ended when dropped.
#[derive(Debug)]
pub struct Program(Child);

impl Program {
    /// A descriptor that can be read when it has ended.
    pub fn ended(&self) -> io::Result<OwnedFd> {
        process(self.0.id() as libc::pid_t)
    }

    /// Ends it if it runs, first with a request: how it ended.
    pub fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.0.try_wait()? {
            return Ok(status);
        }
        // It may have become another user's program, which this process may no longer signal.
        let _ = kill(Pid::from_raw(self.0.id() as i32), Signal::SIGTERM);
        let asked = Instant::now();
        while asked.elapsed() < GRACE {
            if let Some(status) = self.0.try_wait()? {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(10));
        }
        self.0.kill()?;
        self.0.wait()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

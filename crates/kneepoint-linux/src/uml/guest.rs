// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The first process of an instance: this program, which makes the network, runs hosts on it and records its observations.

mod recorder;

use std::fs::{self, File};
use std::io;
use std::net::{SocketAddrV4, TcpListener, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::reboot::{RebootMode, reboot};
use nix::time::{ClockId, clock_gettime};

use super::job::Job;
use super::layout::{FAR, NEAR, address};
use super::netlink::{self, NAMESPACES, Socket};
use super::outcome::{Outcome, failed};
use super::ring::Ring;
use crate::emulator::Side;
use crate::live::crew::{self, Post, Sinks};
use crate::live::hosts;
use crate::live::{self, PORT, Plan, duration};
use crate::namespace::Namespace;
use recorder::Recorder;

/// The path of this program in an instance.
pub(super) const PROGRAM: &str = "/knee-inside";
/// The directory of an instance's run.
const RUN: &str = "/run";
/// The contents of that directory.
pub(super) const JOB: &str = "job";
pub(super) const OUTCOME: &str = "outcome";
pub(super) const PACKETS: &str = "packets";
pub(super) const REACHED: &str = "reached";
/// After the end of a run queues empty and packets arrive, so that the fate of every packet is known.
const TRAVEL: Duration = Duration::from_secs(2);

/// Whether this process is the first of an instance.
pub fn is_inside() -> bool {
    std::process::id() == 1 && std::env::args_os().next().is_some_and(|program| program == PROGRAM)
}

/// Does the instance's work, and ends it.
pub fn main() -> ! {
    let text = match run() {
        Ok(outcome) => outcome.write(),
        Err(error) => failed(&error.to_string()),
    };
    let written = File::create(Path::new(RUN).join(OUTCOME))
        .and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes()).and_then(|()| file.sync_all()));
    if let Err(error) = written {
        eprintln!("{text}{error}");
    }
    let _ = reboot(RebootMode::RB_POWER_OFF);
    std::process::exit(1);
}

/// A failure with the attempted action.
fn trying<T>(what: impl std::fmt::Display, done: io::Result<T>) -> io::Result<T> {
    done.map_err(|error| io::Error::new(error.kind(), format!("{what}: {error}")))
}

fn run() -> io::Result<Outcome> {
    let nothing: Option<&str> = None;
    mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), nothing)?;
    // The instance's own process works in the directory of the run.
    mount(Some("none"), RUN, Some("hostfs"), MsFlags::empty(), Some("/proc/self/cwd"))?;
    let text = trying("the job", fs::read_to_string(Path::new(RUN).join(JOB)))?;
    let job = Job::read(&text).map_err(io::Error::other)?;
    live::allow_files()?;
    // Buffers of sockets do not limit transfers.
    fs::write("/proc/sys/net/ipv4/tcp_mem", "100000 150000 200000")?;
    let network = Network::make(&job)?;
    work(job, network)
}

/// The network at work.
struct Network {
    hosts: [Namespace; 2],
    sockets: Vec<Socket>,
    rings: Vec<Ring>,
}

impl Network {
    fn make(job: &Job) -> io::Result<Network> {
        let hosts = [Namespace::new()?, Namespace::new()?];
        for (host, namespace) in hosts.iter().zip([NEAR, FAR]) {
            hold(&std::os::fd::AsFd::as_fd(host).as_raw_fd(), namespace)?;
        }
        for namespace in 2..job.namespaces {
            unshare(CloneFlags::CLONE_NEWNET)?;
            hold(&File::open("/proc/thread-self/ns/net")?.as_raw_fd(), namespace)?;
        }
        let mut sockets = Vec::new();
        for namespace in 0..job.namespaces {
            enter(namespace)?;
            sockets.push(Socket::open()?);
        }
        for (place, (namespace, message)) in job.messages.iter().enumerate() {
            trying(format!("message {place}"), sockets[*namespace as usize].say(message))?;
        }
        for namespace in &job.forwarding {
            enter(*namespace)?;
            fs::write("/proc/sys/net/ipv4/ip_forward", "1")?;
        }
        for (namespace, device) in &job.plain {
            enter(*namespace)?;
            netlink::plain(*device)?;
        }
        if job.ecn {
            for namespace in [NEAR, FAR] {
                enter(namespace)?;
                fs::write("/proc/sys/net/ipv4/tcp_ecn", "1")?;
            }
        }
        let mut rings = Vec::new();
        for (namespace, _) in &job.points {
            enter(*namespace)?;
            rings.push(trying("a ring", Ring::open())?);
        }
        Ok(Network { hosts, sockets, rings })
    }

    fn host(&self, side: Side) -> &Namespace {
        &self.hosts[usize::from(side == Side::Far)]
    }
}

/// Keeps a namespace by the number under which messages refer to it.
fn hold(file: &RawFd, namespace: u32) -> io::Result<()> {
    // SAFETY: the call takes no pointers, and no other code uses these file numbers.
    let held = unsafe { libc::dup2(*file, (NAMESPACES + namespace) as RawFd) };
    if held < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The calling thread goes into a namespace.
fn enter(namespace: u32) -> io::Result<()> {
    // SAFETY: the file was opened by `hold`, and stays open.
    let file = unsafe { std::os::fd::BorrowedFd::borrow_raw((NAMESPACES + namespace) as RawFd) };
    Ok(setns(file, CloneFlags::CLONE_NEWNET)?)
}

/// The beginning of the run, by both clocks: on a whole second, so that ticks have the same phase in every run.
fn beginning() -> io::Result<(Instant, u64)> {
    let read = |clock| clock_gettime(clock).map(|time| Duration::from(time).as_nanos() as u64);
    // Reading a clock takes a constant time, so an observation between two readings belongs to their middle.
    let before = Instant::now();
    let real = read(ClockId::CLOCK_REALTIME)?;
    let after = Instant::now();
    let middle = before + (after - before) / 2;
    const SECOND: u64 = 1_000_000_000;
    let begins = (real / SECOND + 2) * SECOND;
    Ok((middle + Duration::from_nanos(begins - real), begins))
}

fn work(job: Job, network: Network) -> io::Result<Outcome> {
    let (began, begins) = beginning()?;
    let end = began + duration(job.end);
    let empty = end + duration(job.drain) + TRAVEL;
    let Job { changes, points, counted, plan, .. } = job;
    let Plan { transfers, crews, .. } = plan;
    let own = |sender: Side, path: usize| SocketAddrV4::new(address(sender, path), PORT + path as u16);

    let stopped = Arc::new(AtomicBool::new(false));
    let mut sinks = Vec::new();
    for side in [Side::Near, Side::Far] {
        let to = transfers.iter().enumerate().filter(|(_, one)| one.sender != side);
        let to: Vec<(SocketAddrV4, String)> =
            to.map(|(path, one)| (own(side, path), one.control.clone())).collect();
        let host = network.host(side);
        let listeners = host.run(move || listeners_at(&to))?;
        sinks.push(host.spawn(move || hosts::sink(listeners, end))?);
    }
    let mut senders = Vec::new();
    for (path, transfer) in transfers.iter().enumerate() {
        let order = transfer.order(own(transfer.sender.other(), path), began, end);
        senders.push(network.host(transfer.sender).spawn(move || hosts::send(&order))?);
    }
    let (news, heard) = mpsc::channel();
    let mut path = transfers.len();
    let mut workers = Vec::new();
    for crew in crews {
        let to: Vec<SocketAddrV4> =
            (path..path + crew.ways.len()).map(|pair| own(crew.sender.other(), pair)).collect();
        path += crew.ways.len();
        let far_ends = far_ends(network.host(crew.sender.other()), to.clone(), crew.control.clone())?;
        let post = Post { to, sinks: far_ends, began, end, news: news.clone(), crew };
        workers.push(network.host(post.crew.sender).spawn(move || crew::work(post))?);
    }
    drop(news);

    let Network { sockets, rings, hosts: _hosts } = network;
    let recorder = Recorder::new(rings, points, begins, Path::new(RUN))?;
    let flag = Arc::clone(&stopped);
    let recording = thread::spawn(move || recorder.record(&flag));
    for (at, (namespace, message)) in changes {
        thread::sleep((began + duration(at)).saturating_duration_since(Instant::now()));
        trying("a change", sockets[namespace as usize].say(&message))?;
    }
    let spent = live::together(senders)?;
    live::together(workers)?;
    live::together(sinks)?;
    thread::sleep(empty.saturating_duration_since(Instant::now()));
    stopped.store(true, Ordering::Release);
    let missed = joined(recording)?;
    let mut dropped = Vec::new();
    for namespace in counted {
        dropped.extend(sockets[namespace as usize].dropped()?);
    }
    Ok(Outcome {
        retransmissions: spent.iter().map(|one| one.retransmissions).collect(),
        news: heard.try_iter().collect(),
        dropped,
        missed,
    })
}

fn joined<T>(thread: JoinHandle<io::Result<T>>) -> io::Result<T> {
    thread.join().expect("no panic inside")
}

/// The far ends of pairs of hosts.
fn far_ends(host: &Namespace, at: Vec<SocketAddrV4>, control: String) -> io::Result<Sinks> {
    host.run(move || {
        Ok(if control.is_empty() {
            Sinks::Datagrams(at.iter().map(UdpSocket::bind).collect::<io::Result<_>>()?)
        } else {
            let at: Vec<_> = at.into_iter().map(|one| (one, control.clone())).collect();
            Sinks::Connections(listeners_at(&at)?)
        })
    })
}

fn listeners_at(addresses: &[(SocketAddrV4, String)]) -> io::Result<Vec<TcpListener>> {
    let mut all = Vec::new();
    for (address, control) in addresses {
        all.extend(hosts::listen(*address.ip(), &[address.port()])?);
        hosts::answers(&all[all.len() - 1], control)?;
    }
    Ok(all)
}

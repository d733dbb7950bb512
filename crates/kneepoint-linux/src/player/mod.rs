// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Plays scripts to sockets of this machine's kernel, many at a time, and records what they send.
//!
//! ```text
//! application ─ socket of the kernel ─ device ─ path, receiver: the player
//!       └──────── one thread, scheduled in real time ──────┘
//! ```
//!
//! A frame that the player writes is received by the kernel within the call, and packets that the kernel sends
//! immediately can be read when the call returns, so both times are exact to some microseconds. Frames that a timer of
//! the kernel sends are read when the thread wakes up.
//! The device does not segment, so that the record shows segments as TCP sends them.

mod conversation;
mod path;
pub mod plan;
mod receiver;
pub mod record;
mod socket;
mod stage;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::thread::{self, Builder};

use kneepoint::units::{Span, Time};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sched::{CloneFlags, setns};
use nix::sys::time::TimeSpec;

use crate::emulator::be_prompt_at;
use crate::frame::{self, Tuple};
use crate::namespace::Namespace;
use crate::tun::{Address, Device, Network, VIRTUAL_HEADER};
use conversation::Conversation;
use plan::Plan;
use record::Played;
use socket::Application;
use stage::{Cue, Stage, clock};

/// Settings of the namespace beyond [`SYSCTLS`](crate::SYSCTLS): those of packetdrill's tests, and room for a script's data.
pub const SETTINGS: [(&str, &str); 9] = [
    ("tcp_rmem", "4096 540000 15728640"),
    ("tcp_wmem", "4096 4194304 4194304"),
    ("tcp_frto", "2"),
    ("tcp_dsack", "1"),
    ("tcp_reordering", "3"),
    ("tcp_early_retrans", "4"),
    ("tcp_tso_win_divisor", "3"),
    ("tcp_pacing_ss_ratio", "200"),
    ("tcp_pacing_ca_ratio", "120"),
];
/// The first port of the kernel's sockets and of the peer; each connection has the next.
const PORTS: (u16, u16) = (10_000, 10_000);
/// Connections whose ports differ.
const MOST: usize = 50_000;
/// Below the emulator's.
const PRIORITY: i32 = 40;
/// The time between the beginnings of the first connections, which is not a multiple of a tick.
const STAGGER: Span = Span::from_micros(7_300);
/// The longest frame.
const LONGEST: usize = 70_000;
/// The position of a TCP header's flags behind an IPv4 header.
const FLAGS: usize = 20 + 13;

/// A namespace with a device, in which scripts are played.
#[derive(Debug)]
pub struct Player {
    namespace: Namespace,
    device: Device,
    address: Address,
    peer: Address,
    restart_after_idle: bool,
}

impl Player {
    /// A separate namespace, with or without the reduction of windows after an idle period.
    pub fn new(restart_after_idle: bool) -> io::Result<Player> {
        let namespace = Namespace::new()?;
        let [address, peer] = [1, 2].map(|host| Network(0).host(host));
        let device = namespace.run(move || {
            let idle = ("tcp_slow_start_after_idle", if restart_after_idle { "1" } else { "0" });
            for (name, value) in SETTINGS.into_iter().chain([idle]) {
                fs::write(format!("/proc/sys/net/ipv4/{name}"), value)?;
            }
            Device::open_uncut(address)
        })?;
        Ok(Player { namespace, device, address, peer, restart_after_idle })
    }

    /// Plays plans, this many at a time; `progress` is called for each that has ended.
    pub fn play(
        &self,
        plans: Vec<Plan>,
        at_once: usize,
        progress: &(dyn Fn() + Sync),
    ) -> io::Result<Vec<Played>> {
        assert!(plans.len() <= MOST, "each connection has its port");
        let wrong = plans.iter().find(|plan| plan.restart_after_idle != self.restart_after_idle);
        assert!(wrong.is_none(), "a player has one setting of idle periods");
        thread::scope(|scope| {
            let playing = Builder::new().spawn_scoped(scope, || {
                setns(&self.namespace, CloneFlags::CLONE_NEWNET)?;
                be_prompt_at(PRIORITY);
                let mut machine = Machine::new(self, plans)?;
                machine.run(at_once, progress)?;
                machine.played.sort_by_key(|(number, _)| *number);
                Ok(machine.played.into_iter().map(|(_, played)| played).collect())
            })?;
            playing.join().expect("no panic inside")
        })
    }
}

/// A cue to a connection.
struct Due {
    at: Time,
    order: u64,
    who: usize,
    cue: Cue,
}

impl Due {
    fn key(&self) -> (Time, u64) {
        (self.at, self.order)
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Due) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The earliest is the greatest.
impl Ord for Due {
    fn cmp(&self, other: &Due) -> Ordering {
        other.key().cmp(&self.key())
    }
}

struct Machine<'a> {
    device: &'a File,
    player: &'a Player,
    waiting: std::vec::IntoIter<Plan>,
    begun: usize,
    running: BTreeMap<usize, Conversation>,
    played: Vec<(usize, Played)>,
    dues: BinaryHeap<Due>,
    order: u64,
    /// A tick, its number, and the time between two.
    tick: (Time, u64),
    every: Span,
    room: Vec<u8>,
}

impl<'a> Machine<'a> {
    fn new(player: &'a Player, plans: Vec<Plan>) -> io::Result<Machine<'a>> {
        let every = tick_length();
        Ok(Machine {
            device: &player.device.file,
            player,
            waiting: plans.into_iter(),
            begun: 0,
            running: BTreeMap::new(),
            played: Vec::new(),
            dues: BinaryHeap::new(),
            order: 0,
            tick: tick(every)?,
            every,
            room: vec![0; LONGEST],
        })
    }

    fn run(&mut self, at_once: usize, progress: &dyn Fn()) -> io::Result<()> {
        let start = clock();
        for place in 0..at_once as u64 {
            self.begin(Time(start.0 + place * STAGGER.0))?;
        }
        while !self.running.is_empty() {
            let overdue = self.dues.peek().map_or(Span::ZERO, |due| clock().since(due.at));
            self.read(overdue)?;
            if self.act()? {
                progress();
            }
        }
        Ok(())
    }

    /// Begins the next connection at a time.
    fn begin(&mut self, at: Time) -> io::Result<()> {
        let Some(plan) = self.waiting.next() else { return Ok(()) };
        let who = self.begun;
        self.begun += 1;
        let ports = (PORTS.0 + who as u16, PORTS.1 + who as u16);
        let (from, to) = (IpAddr::V4(self.player.peer.v4), IpAddr::V4(self.player.address.v4));
        let flow = Tuple { from, to, ports: (ports.1, ports.0), protocol: 6 };
        let application = Application::listen(self.player.address.v4, ports.0, &plan.controller)?;
        self.running.insert(who, Conversation::new(plan, flow, application, at));
        self.push(who, vec![(at, Cue::Open)]);
        Ok(())
    }

    fn push(&mut self, who: usize, cues: Vec<(Time, Cue)>) {
        for (at, cue) in cues {
            self.order += 1;
            self.dues.push(Due { at, order: self.order, who, cue });
        }
    }

    /// Reads everything that the kernel sent; `overdue` is the player's delay.
    fn read(&mut self, overdue: Span) -> io::Result<()> {
        loop {
            let length = match (&mut &*self.device).read(&mut self.room) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            let frame = &self.room[VIRTUAL_HEADER.min(length)..length];
            let Some(headers) = frame::read(frame).filter(|headers| headers.tcp.is_some()) else { continue };
            let flags = frame.get(FLAGS).copied().unwrap_or(0);
            let who = usize::from(headers.flow.ports.1.wrapping_sub(PORTS.1));
            let Some(conversation) = self.running.get_mut(&who) else { continue };
            let mut stage = Stage::new(self.device);
            conversation.was_late(overdue);
            conversation.on_frame(&mut stage, &headers, flags);
            let cues = stage.cues;
            self.push(who, cues);
        }
    }

    /// Handles the next cue, or waits until there is one or the kernel sends; returns whether a connection ended.
    fn act(&mut self) -> io::Result<bool> {
        let next = self.dues.peek().map_or(Time::NEVER, |due| due.at);
        let now = clock();
        if next > now {
            self.wait(next.since(now))?;
            return Ok(false);
        }
        let Some(due) = self.dues.pop() else { return Ok(false) };
        let Some(conversation) = self.running.get_mut(&due.who) else { return Ok(false) };
        let mut stage = Stage::new(self.device);
        conversation.was_late(stage.now.since(due.at));
        conversation.on_cue(&mut stage, due.cue);
        let (cues, over) = (stage.cues, conversation.over());
        self.push(due.who, cues);
        if !over {
            return Ok(false);
        }
        let ended = self.running.remove(&due.who).expect("it runs");
        self.played.push((due.who, ended.finish(self.tick, self.every)));
        self.begin(Time(clock().0 + STAGGER.0))?;
        Ok(true)
    }

    fn wait(&self, span: Span) -> io::Result<()> {
        let most = span.min(Span::from_secs(1));
        let mut files = [PollFd::new(self.device.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut files, Some(TimeSpec::new(0, most.0.min(999_999_999) as i64)), None) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// The last tick of the kernel's clock and its number: ticks are whole multiples of the time between two.
fn tick(every: Span) -> io::Result<(Time, u64)> {
    let last = || Time(clock().0 / every.0 * every.0);
    loop {
        let before = last();
        let text = fs::read_to_string("/proc/timer_list")?;
        let number = text.lines().find_map(|line| line.strip_prefix("jiffies: ")?.trim().parse().ok());
        let number = number.ok_or_else(|| io::Error::other("/proc/timer_list has no line `jiffies: N`"))?;
        if last() == before {
            return Ok((before, number));
        }
    }
}

/// The time between two ticks.
fn tick_length() -> Span {
    let resolution = nix::time::clock_getres(nix::time::ClockId::CLOCK_MONOTONIC_COARSE);
    resolution.map_or(Span::from_millis(4), |time| Span(time.tv_nsec() as u64))
}

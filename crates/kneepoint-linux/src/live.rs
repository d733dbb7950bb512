// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Traffic of the kernel over an emulated network, seen by the observers of a simulation.
//!
//! ```text
//! sending    processor time of the threads that write into a group's sockets, in user and kernel mode; sources that open
//!            connections include the clients' ends
//! receiving  the time of the near host's kernel for received frames: TCP takes them in, congestion control processes
//!            acknowledgements, and newly permitted segments are sent
//! ```
//!
//! Both count from the beginning of the run to its end, per packet of data. Receiving is elapsed time of the thread that carries packets,
//! which nothing interrupts where it has real-time scheduling.

pub(crate) mod crew;
pub(crate) mod hosts;
#[cfg(feature = "bpf")]
mod inside;
mod plan;
#[cfg(test)]
mod tests;
pub mod video;

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, mpsc};
use std::thread::{self, Builder, JoinHandle};
use std::time::{Duration, Instant};

use kneepoint::link::{NodeId, Routes};
use kneepoint::packet::Flags;
use kneepoint::spec::Valid;
use kneepoint::trace::{Event, Observer};
use kneepoint::units::{Span, Time};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::behind::{self, Far, Host};
use crate::emulator::{self, Capture, Emulator, Late, Side, Stop};
use crate::frame::Tuple;
use crate::tap::{Role, Tap};
use crate::tun;
use crew::{Post, Sinks};
pub use plan::{Crew, Member, Plan, Transfer};
use video::{Playback, Shown};

/// The port of the first sink.
pub(crate) const PORT: u16 = 5001;
/// The time for hosts to come up before the first transfer.
const SETTLE: Duration = Duration::from_millis(200);

/// The observations of a run.
#[derive(Debug)]
pub struct Outcome<O> {
    /// The observer of the network.
    pub watch: O,
    /// Retransmissions of each transfer, by its kernel's counter; films are not among them.
    pub retransmissions: Vec<u32>,
    /// The lateness of the links.
    pub late: Late,
    /// The reason why that spoils the run, if it does.
    pub spoiled: Option<String>,
    /// Processor time and packets of data by group.
    pub groups: Vec<Effort>,
    /// The time that the near host took to receive, and the packets of all groups.
    pub receiving: Effort,
    /// Packets that exceeded the MTU.
    pub superpackets: u64,
    /// Packets that a host did not take from its device.
    pub refused: u64,
    /// The films that were played, in the order of their transfers.
    pub shown: Vec<Shown>,
}

/// Processor time for packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// The time.
    pub spent: Duration,
    /// The packets of data.
    pub packets: u64,
}

impl Effort {
    /// Nanoseconds per packet; NaN without packets.
    pub fn ns_per_packet(self) -> f64 {
        self.spent.as_nanos() as f64 / self.packets as f64
    }
}

/// Requirements of transfers with these congestion controls that this machine lacks, if any.
pub fn missing(controls: &[&str]) -> Option<String> {
    if !nix::unistd::geteuid().is_root() {
        return Some(format!(
            "only root can make hosts with a link between them, and this is user {}",
            nix::unistd::geteuid()
        ));
    }
    if !std::path::Path::new("/dev/net/tun").exists() {
        return Some("there is no /dev/net/tun".into());
    }
    let known = available();
    let unknown = controls.iter().find(|control| !known.iter().any(|one| one == *control))?;
    Some(format!("the kernel has no congestion control `{unknown}`, only {}", known.join(" ")))
}

/// The congestion controls that the kernel has at present.
pub fn available() -> Vec<String> {
    let known = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    known.split_whitespace().map(String::from).collect()
}

/// Carries out a plan over the network of `valid` for as long as it says. Flow number `n` is the n-th transfer; times count from the
/// instant at which hosts are ready. `asked` is checked periodically: if it is set, the run ends.
pub fn experiment<O: Observer + Send>(
    valid: &Valid,
    seed: u64,
    plan: Plan,
    watch: O,
    asked: &(dyn Fn() -> bool + Sync),
) -> io::Result<Outcome<O>> {
    experiment_captured(valid, seed, plan, watch, &mut (), asked)
}

/// The same, with every frame of both hosts given to a capture.
pub fn experiment_captured<O: Observer + Send>(
    valid: &Valid,
    seed: u64,
    plan: Plan,
    watch: O,
    capture: &mut (impl Capture + Send),
    asked: &(dyn Fn() -> bool + Sync),
) -> io::Result<Outcome<O>> {
    allow_files()?;
    let hosts = behind::hosts(Far::Apart)?;
    let [near, far] = &hosts;
    let of = |side: Side| if side == Side::Near { near } else { far };
    negotiate(valid, &hosts)?;

    let began = Instant::now() + SETTLE;
    let end = began + duration(valid.schedule().duration.since(Time::ZERO));
    #[cfg(feature = "bpf")]
    let inside = inside::look(&plan.controls(), end);
    #[cfg(not(feature = "bpf"))]
    let inside = Box::new(|_: &Tuple| Vec::new());
    let ways = plan.paths();
    let Plan { transfers, crews, show } = plan;
    let played = |transfer: &Transfer| show.as_ref().filter(|show| show.group == transfer.group);
    let roles = roles(&transfers, &crews);

    let receives = |side: Side| answering(&transfers, |one| one.sender != side && played(one).is_none());
    let sinks = [Side::Near, Side::Far].map(|side| sink(of(side), receives(side), end));
    let sinks = sinks.into_iter().collect::<io::Result<Vec<_>>>()?;
    let send = |(place, transfer): (usize, &Transfer)| {
        let to = SocketAddrV4::new(of(transfer.sender.other()).address.v4, PORT + place as u16);
        let order = transfer.order(to, began, end);
        of(transfer.sender).spawn(move || hosts::send(&order))
    };
    let (films, bulk): (Vec<_>, Vec<_>) =
        transfers.iter().enumerate().partition(|(_, one)| played(one).is_some());
    let senders = bulk.iter().copied().map(send).collect::<io::Result<Vec<_>>>()?;
    let serve = |(place, transfer): &(usize, &Transfer)| {
        let host = of(transfer.sender);
        let (address, control, payload) = (host.address.v4, transfer.control.clone(), transfer.payload);
        let port = video::PORT + *place as u16;
        let listener = host.run(move || video::server::listen(address, port, &control, payload))?;
        let clip = played(transfer).map(|film| Arc::clone(&film.clip)).unwrap_or_default();
        host.spawn(move || video::server::serve(&listener, &clip, began, end))
    };
    let servers = films.iter().map(serve).collect::<io::Result<Vec<_>>>()?;

    let (news, heard) = mpsc::channel();
    let of_crews: Vec<u32> = crews.iter().map(|crew| crew.group).collect();
    let mut port = PORT + transfers.len() as u16;
    let workers = crews.into_iter().map(|crew| {
        let (from, to) = (of(crew.sender), of(crew.sender.other()));
        let first = port;
        port += crew.ways.len() as u16;
        let (addresses, far_ends) = far_ends(to, (first..port).collect(), crew.control.clone())?;
        let post = Post { crew, to: addresses, sinks: far_ends, began, end, news: news.clone() };
        from.spawn(move || crew::work(post))
    });
    let workers = workers.collect::<io::Result<Vec<_>>>()?;

    let above = |used: u16, from: u16| used.checked_sub(from).map(usize::from);
    let of_films: Vec<usize> = films.iter().map(|(place, _)| *place).collect();
    let classify = move |tuple: &Tuple| {
        let film = above(tuple.ports.0, video::PORT).filter(|film| of_films.contains(film));
        roles.get(film.or_else(|| above(tuple.ports.1, PORT))?).copied()
    };
    let tap = Tap::new(tun::MTU as u16, transfers.len() as u32, Box::new(classify)).hearing(heard);
    let counted = (watch, Count(vec![0; valid.groups().len()]));
    let mut emulator = Emulator::new(valid, seed, &ways, tap, counted).seeing(inside);
    let never: OwnedFd = EventFd::from_flags(EfdFlags::EFD_CLOEXEC)?.into();
    let play = |(place, transfer): (usize, &Transfer)| {
        let (viewer, server) = (of(transfer.sender.other()), of(transfer.sender));
        let from = SocketAddrV4::new(server.address.v4, video::PORT + place as u16);
        let times = [began, began + duration(transfer.start), end];
        played(transfer)
            .map_or(Ok(Playback::default()), |film| video::play(film, [viewer, server], from, times))
    };
    let (carried, playbacks) = thread::scope(|scope| {
        let viewers = films.iter().map(|film| Builder::new().spawn_scoped(scope, || play(*film)));
        let viewers = viewers.collect::<io::Result<Vec<_>>>()?;
        let link = Builder::new().spawn_scoped(scope, || {
            emulator::be_prompt();
            let _sleepless = emulator::Sleepless::request();
            // A tenth of a millisecond more matters less to transfers than the processor that it would take from hosts.
            let (at, when) = (valid.schedule().duration, never.as_fd());
            let stop = Stop { at, when, asked: &|| asked(), awake: Span::ZERO };
            emulator::carry(&mut emulator, [&near.device.file, &far.device.file], began, &stop, capture)
        })?;
        let carried = link.join().expect("no panic inside");
        let playbacks = viewers.into_iter().map(|one| one.join().expect("no panic inside"));
        let playbacks = playbacks.collect::<io::Result<Vec<_>>>();
        io::Result::Ok((carried?, playbacks?))
    })?;
    if asked() {
        // Hosts would continue to the end of the run without use.
        return Err(io::ErrorKind::Interrupted.into());
    }
    let served = together(servers)?;
    let spent = together(senders)?;
    let worked = together(workers)?;
    together(sinks)?;
    let ((seen, Count(packets)), passed) = emulator.finish(carried.ended);
    let effort = |(group, sent): (u32, &u64)| {
        let of_transfers = bulk.iter().map(|(_, transfer)| transfer.group).zip(&spent);
        let shown = films.iter().map(|(_, transfer)| transfer.group).zip(served.iter().map(|one| &one.spent));
        let all = of_transfers.chain(shown).chain(of_crews.iter().copied().zip(&worked));
        let own = all.filter(|(one, _)| *one == group).map(|(_, one)| one.processor);
        Effort { spent: own.sum(), packets: *sent }
    };
    let late = carried.lateness.summary();
    Ok(Outcome {
        watch: seen,
        retransmissions: spent.iter().map(|one| one.retransmissions).collect(),
        late,
        spoiled: late.spoils(least_rtt(valid, &ways)),
        groups: (0..).zip(&packets).map(effort).collect(),
        receiving: Effort { spent: duration(carried.receiving[0]), packets: packets.iter().sum() },
        superpackets: passed.superpackets(),
        refused: carried.refused,
        shown: playbacks
            .into_iter()
            .zip(served)
            .map(|(playback, served)| Shown { playback, served })
            .collect(),
    })
}

/// The results of threads.
pub(crate) fn together<T>(threads: Vec<JoinHandle<io::Result<T>>>) -> io::Result<Vec<T>> {
    threads.into_iter().map(|one| one.join().expect("no panic inside")).collect()
}

/// The roles of flows, by the destination port of their data.
pub(crate) fn roles(transfers: &[Transfer], crews: &[Crew]) -> Vec<Role> {
    let listed = (0..).zip(transfers).map(|(place, one)| Role {
        group: one.group,
        listed: Some(place),
        ..Role::default()
    });
    let pairs = crews.iter().flat_map(|crew| crew.ways.iter().map(|_| crew.group));
    let opened = pairs.map(|group| Role { group, told: true, ..Role::default() });
    (0..).zip(listed.chain(opened)).map(|(path, role)| Role { path, ..role }).collect()
}

/// The far ends of pairs of hosts, at these ports.
fn far_ends(host: &Host, ports: Vec<u16>, control: String) -> io::Result<(Vec<SocketAddrV4>, Sinks)> {
    let address = host.address.v4;
    let addresses = ports.iter().map(|port| SocketAddrV4::new(address, *port)).collect();
    let sinks = host.run(move || {
        Ok(if control.is_empty() {
            let sockets = ports.iter().map(|port| UdpSocket::bind((address, *port)));
            Sinks::Datagrams(sockets.collect::<io::Result<_>>()?)
        } else {
            let listeners = hosts::listen(address, &ports)?;
            listeners.iter().try_for_each(|listener| hosts::answers(listener, &control))?;
            Sinks::Connections(listeners)
        })
    })?;
    Ok((addresses, sinks))
}

/// Allows as many open files as the machine permits this process: a connection has two.
pub(crate) fn allow_files() -> io::Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    Ok(setrlimit(Resource::RLIMIT_NOFILE, most, most)?)
}

/// The least delay there and back.
pub fn least_rtt(valid: &Valid, ways: &[(NodeId, NodeId)]) -> Span {
    let mut routes = Routes::new(valid.network());
    let links = &valid.network().links;
    let mut rtt = |(near, far): (NodeId, NodeId)| {
        let there = routes.path(near, far).into_iter().chain(routes.path(far, near)).flatten();
        there.fold(Span::ZERO, |sum, link| sum + links[link as usize].delay)
    };
    ways.iter().map(|way| rtt(*way)).min().unwrap_or_default()
}

/// The places of the transfers in `wanted`, as ports, with their congestion controls.
fn answering(transfers: &[Transfer], wanted: impl Fn(&Transfer) -> bool) -> Vec<(u16, String)> {
    let places = (PORT..).zip(transfers).filter(|(_, one)| wanted(one));
    places.map(|(port, one)| (port, one.control.clone())).collect()
}

fn sink(host: &Host, at: Vec<(u16, String)>, end: Instant) -> io::Result<JoinHandle<io::Result<()>>> {
    let address: Ipv4Addr = host.address.v4;
    let listeners = host.run(move || {
        let mut all = Vec::new();
        for (port, control) in &at {
            all.extend(hosts::listen(address, &[*port])?);
            hosts::answers(&all[all.len() - 1], control)?;
        }
        Ok(all)
    })?;
    host.spawn(move || hosts::sink(listeners, end))
}

/// Hosts request ECN if the transfers of some group do.
fn negotiate(valid: &Valid, hosts: &[Host; 2]) -> io::Result<()> {
    if valid.groups().iter().filter_map(|group| group.tcp.as_ref()).any(|tcp| tcp.ecn) {
        for host in hosts {
            host.run(|| fs::write("/proc/sys/net/ipv4/tcp_ecn", "1"))?;
        }
    }
    Ok(())
}

pub(crate) fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.0)
}

/// Counts packets of data by group.
pub(crate) struct Count(pub(crate) Vec<u64>);

impl Observer for Count {
    #[inline]
    fn on(&mut self, _: Time, event: &Event) {
        if let Event::Sent { packet, group } = event
            && !packet.flags.has(Flags::SYN)
            && let Some(count) = self.0.get_mut(*group as usize)
        {
            *count += 1;
        }
    }
}

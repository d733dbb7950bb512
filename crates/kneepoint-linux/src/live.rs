// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Transfers of the kernel over an emulated network, seen by the observers of a simulation.
//!
//! ```text
//! sending    processor time of the threads that write into a group's sockets, in user and kernel mode
//! receiving  how long the kernel of the near host took to receive frames: TCP takes them in, congestion control hears of
//!            acknowledgements, and what that lets go is sent
//! ```
//!
//! Both count from the beginning of the run to its end, per packet of data. Receiving is elapsed time of the thread that carries packets,
//! which nothing interrupts where it has real-time scheduling.

mod hosts;
mod plan;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use kneepoint::link::{NodeId, Routes};
use kneepoint::packet::Flags;
use kneepoint::spec::Valid;
use kneepoint::trace::{Event, Observer};
use kneepoint::units::{Bytes, Span, Time};
use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::behind::{self, Far, Host};
use crate::emulator::{self, Emulator, Late, Side, Stop};
use crate::frame::Tuple;
use crate::tap::{Role, Tap};
use crate::tun;
use hosts::{Order, Spent};
pub use plan::transfers;

/// The port of the first sink.
const PORT: u16 = 5001;
/// How long hosts are given to come up before the first transfer.
const SETTLE: Duration = Duration::from_millis(200);

/// A transfer.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// Its congestion control, as the kernel names it.
    pub control: String,
    /// When it starts.
    pub start: Span,
    /// When it has no more to send, if it was not done before.
    pub stop: Option<Span>,
    /// How much it has to send; without end if none.
    pub size: Option<Bytes>,
    /// The payload of its packets, where it is not what the device allows.
    pub payload: Option<Bytes>,
    /// Its group, by its place among the groups of traffic.
    pub group: u32,
    /// The host that sends.
    pub sender: Side,
    /// The nodes of the near and of the far host.
    pub way: (NodeId, NodeId),
}

impl Transfer {
    /// One without end, from the near host.
    pub fn endless(control: &str, start: Span, group: u32, way: (NodeId, NodeId)) -> Transfer {
        let (control, sender) = (control.to_string(), Side::Near);
        Transfer { control, start, stop: None, size: None, payload: None, group, sender, way }
    }
}

/// What was seen.
#[derive(Debug)]
pub struct Outcome<O> {
    /// The observer of the network.
    pub watch: O,
    /// Packets that each transfer sent again, as its kernel counts them.
    pub retransmissions: Vec<u32>,
    /// How late the links were.
    pub late: Late,
    /// Why that spoils the run, if it does.
    pub spoiled: Option<String>,
    /// Processor time and packets of data by group.
    pub groups: Vec<Effort>,
    /// The time that the near host took to receive, and the packets of all groups.
    pub receiving: Effort,
    /// Packets that exceeded the MTU.
    pub superpackets: u64,
    /// Packets that a host did not take from its device.
    pub refused: u64,
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

/// What this machine lacks for transfers with these congestion controls, if it lacks anything.
pub fn missing(controls: &[&str]) -> Option<String> {
    if !nix::unistd::geteuid().is_root() {
        return Some("the program does not run as root".into());
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

/// Runs transfers over the network of `valid` for as long as it says. Flow number `n` is the n-th transfer; times count from the
/// instant at which hosts are ready. `asked` is looked at now and then: when it says so, the run ends.
pub fn experiment<O: Observer + Send>(
    valid: &Valid,
    seed: u64,
    transfers: &[Transfer],
    watch: O,
    asked: &(dyn Fn() -> bool + Sync),
) -> io::Result<Outcome<O>> {
    let hosts = behind::hosts(Far::Apart)?;
    let [near, far] = &hosts;
    let of = |side: Side| if side == Side::Near { near } else { far };
    negotiate(valid, &hosts)?;

    let began = Instant::now() + SETTLE;
    let whole = valid.schedule().duration.since(Time::ZERO);
    let end = began + duration(whole);
    let receives = |side: Side| ports(transfers, move |one| one.sender != side);
    let sinks = [Side::Near, Side::Far].map(|side| sink(of(side), receives(side), end));
    let sinks = sinks.into_iter().collect::<io::Result<Vec<_>>>()?;
    let send = |(place, transfer): (usize, &Transfer)| {
        let to = SocketAddrV4::new(of(transfer.sender.other()).address.v4, PORT + place as u16);
        let order = Order {
            to,
            control: transfer.control.clone(),
            payload: transfer.payload,
            size: transfer.size,
            start: began + duration(transfer.start),
            stop: transfer.stop.map_or(end, |stop| end.min(began + duration(stop))),
            end,
        };
        of(transfer.sender).spawn(move || hosts::send(&order))
    };
    let senders = transfers.iter().enumerate().map(send).collect::<io::Result<Vec<_>>>()?;

    let groups: Vec<u32> = transfers.iter().map(|transfer| transfer.group).collect();
    let classify = move |tuple: &Tuple| {
        let place = u32::from(tuple.ports.1.checked_sub(PORT)?);
        Some(Role { group: *groups.get(place as usize)?, listed: Some(place) })
    };
    let tap = Tap::new(tun::MTU as u16, transfers.len() as u32, Box::new(classify));
    let ways: Vec<(NodeId, NodeId)> = transfers.iter().map(|transfer| transfer.way).collect();
    let counted = (watch, Count(vec![0; valid.groups().len()]));
    let mut emulator = Emulator::new(valid, seed, &ways, tap, counted);
    let never: OwnedFd = EventFd::from_flags(EfdFlags::EFD_CLOEXEC)?.into();
    let carried = std::thread::scope(|scope| {
        let link = scope.spawn(|| {
            emulator::be_prompt();
            let stop = Stop { at: valid.schedule().duration, when: never.as_fd(), asked: &|| asked() };
            emulator::carry(&mut emulator, [&near.device.file, &far.device.file], began, &stop, &mut ())
        });
        link.join().expect("no panic inside")
    })?;
    let spent = senders.into_iter().map(|one| one.join().expect("no panic inside"));
    let spent: Vec<Spent> = spent.collect::<io::Result<_>>()?;
    for sink in sinks {
        sink.join().expect("no panic inside")?;
    }
    let ((seen, Count(packets)), passed) = emulator.finish(carried.ended);
    let effort = |(group, sent): (u32, &u64)| {
        let own = transfers.iter().zip(&spent).filter(|(transfer, _)| transfer.group == group);
        Effort { spent: own.map(|(_, one)| one.processor).sum(), packets: *sent }
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
    })
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

/// The places of the transfers that are `wanted`, as ports.
fn ports(transfers: &[Transfer], wanted: impl Fn(&Transfer) -> bool) -> Vec<u16> {
    (PORT..).zip(transfers).filter(|(_, one)| wanted(one)).map(|(port, _)| port).collect()
}

fn sink(host: &Host, ports: Vec<u16>, end: Instant) -> io::Result<std::thread::JoinHandle<io::Result<()>>> {
    let address: Ipv4Addr = host.address.v4;
    let listeners = host.run(move || hosts::listen(address, &ports))?;
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

fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.0)
}

/// Counts packets of data by group.
struct Count(Vec<u64>);

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

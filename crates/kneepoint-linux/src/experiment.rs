// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bulk transfers of the kernel over an emulated network, seen by the observers of a simulation.

use std::fs;
use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use kneepoint::link::NodeId;
use kneepoint::spec::Valid;
use kneepoint::trace::Observer;
use kneepoint::units::Span;
use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::behind::{self, Far};
use crate::emulator::{self, Emulator, Late, Stop};
use crate::frame::Tuple;
use crate::hosts;
use crate::tap::{Role, Tap};
use crate::tun;

/// The port of the first sink.
const PORT: u16 = 5001;
/// How long hosts are given to come up before the first transfer.
const SETTLE: Duration = Duration::from_millis(200);

/// A transfer without end.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// Its congestion control, as the kernel names it.
    pub control: String,
    /// When it starts.
    pub start: Span,
    /// Its group, by its place among the groups of traffic.
    pub group: u32,
    /// The nodes from and to which its data travels.
    pub way: (NodeId, NodeId),
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
}

/// What this machine lacks for an experiment with these congestion controls, if it lacks anything.
pub fn missing(controls: &[&str]) -> Option<String> {
    if !nix::unistd::geteuid().is_root() {
        return Some("the program does not run as root".into());
    }
    if !std::path::Path::new("/dev/net/tun").exists() {
        return Some("there is no /dev/net/tun".into());
    }
    let known = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    let unknown = controls.iter().find(|control| !known.split_whitespace().any(|one| one == **control));
    unknown.map(|control| format!("the kernel has no congestion control `{control}`, only {}", known.trim()))
}

/// Runs transfers over the network of `valid` for as long as it says. Flow number `n` is the n-th transfer; times count from the
/// instant at which hosts are ready.
pub fn experiment<O: Observer + Send>(
    valid: &Valid,
    seed: u64,
    transfers: &[Transfer],
    watch: O,
) -> io::Result<Outcome<O>> {
    let hosts = behind::hosts(Far::Apart)?;
    let [near, far] = &hosts;
    let (to, count) = (far.address.v4, transfers.len());
    let listeners = far.run(move || hosts::listen(to, PORT, count))?;
    let sinks = listeners.into_iter().map(|listener| far.spawn(|| hosts::sink(listener)));
    let sinks = sinks.collect::<io::Result<Vec<_>>>()?;

    let began = Instant::now() + SETTLE;
    let span = |span: Span| Duration::from_nanos(span.0);
    let end = began + span(valid.schedule().duration.since(Default::default()));
    let senders = transfers.iter().enumerate().map(|(place, transfer)| {
        let (control, start) = (transfer.control.clone(), began + span(transfer.start));
        let to = SocketAddrV4::new(to, PORT + place as u16);
        near.spawn(move || hosts::send(to, &control, start, end))
    });
    let senders = senders.collect::<io::Result<Vec<_>>>()?;

    let groups: Vec<u32> = transfers.iter().map(|transfer| transfer.group).collect();
    let classify = move |tuple: &Tuple| {
        let place = u32::from(tuple.ports.1.checked_sub(PORT)?);
        Some(Role { group: *groups.get(place as usize)?, listed: Some(place) })
    };
    let tap = Tap::new(tun::MTU as u16, count as u32, Box::new(classify));
    let ways: Vec<(NodeId, NodeId)> = transfers.iter().map(|transfer| transfer.way).collect();
    let mut emulator = Emulator::new(valid, seed, &ways, tap, watch);
    let never: OwnedFd = EventFd::from_flags(EfdFlags::EFD_CLOEXEC)?.into();
    let carried = std::thread::scope(|scope| {
        let link = scope.spawn(|| {
            emulator::be_prompt();
            let stop = Stop { at: valid.schedule().duration, when: never.as_fd(), asked: &|| false };
            emulator::carry(&mut emulator, [&near.device.file, &far.device.file], began, &stop, &mut ())
        });
        link.join().expect("no panic inside")
    })?;
    let counters = senders.into_iter().map(|one| one.join().expect("no panic inside"));
    let counters = counters.collect::<io::Result<Vec<_>>>()?;
    // Sinks whose connection was aborted while the link was going down would wait for ever.
    drop(sinks);
    let (watch, _) = emulator.finish(carried.ended);
    let retransmissions = counters.iter().map(|one| one.retransmissions).collect();
    Ok(Outcome { watch, retransmissions, late: carried.lateness.summary() })
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bulk transfers of the kernel over an emulated link.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::{Duration, Instant};

use kneepoint::units::{Span, Time};

use crate::emulator::{self, Arrival, Lateness, Path};
use crate::hosts;
use crate::namespace::Namespace;
use crate::tun;

const NEAR: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
const FAR: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
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
}

/// Transfers over a link.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The link.
    pub path: Path,
    /// The transfers.
    pub transfers: Vec<Transfer>,
    /// The end of all.
    pub duration: Span,
}

/// What the link and the senders saw. Times count from the beginning of the experiment.
#[derive(Debug)]
pub struct Outcome {
    /// Every packet that came to the queue, in order.
    pub arrivals: Vec<Arrival>,
    /// Packets that each transfer sent again.
    pub retransmissions: Vec<u32>,
    /// How late the link was.
    pub lateness: Lateness,
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

/// Runs an experiment.
pub fn experiment(experiment: &Experiment) -> io::Result<Outcome> {
    let (near, far) = (Namespace::new()?, Namespace::new()?);
    let devices = [near.run(|| tun::open(NEAR))?, far.run(|| tun::open(FAR))?];
    let count = experiment.transfers.len();
    let listeners = far.run(move || hosts::listen(FAR, PORT, count))?;
    let sinks = listeners.into_iter().map(|listener| far.spawn(|| hosts::sink(listener)));
    let sinks = sinks.collect::<io::Result<Vec<_>>>()?;

    let began = Instant::now() + SETTLE;
    let span = |span: Span| Duration::from_nanos(span.0);
    let end = began + span(experiment.duration);
    let senders = experiment.transfers.iter().enumerate().map(|(place, transfer)| {
        let (control, start) = (transfer.control.clone(), began + span(transfer.start));
        let to = SocketAddrV4::new(FAR, PORT + place as u16);
        near.spawn(move || hosts::send(to, &control, start, end))
    });
    let senders = senders.collect::<io::Result<Vec<_>>>()?;
    let path = experiment.path;
    let origin = began - SETTLE;
    let whole = SETTLE + span(experiment.duration) + SETTLE;
    let link = std::thread::spawn(move || emulator::carry(&path, devices, origin, whole));
    let mut log = link.join().expect("no panic inside")?;
    let counters = senders.into_iter().map(|one| one.join().expect("no panic inside"));
    let counters = counters.collect::<io::Result<Vec<_>>>()?;
    // Sinks whose connection was aborted while the link was going down would wait for ever.
    drop(sinks);

    let lateness = log.lateness();
    let settle = Span(SETTLE.as_nanos() as u64);
    let arrivals =
        log.arrivals.into_iter().filter(|one| one.transfer >= PORT && one.at >= settle.after_start());
    let shifted =
        |time: Time| if time == Time::NEVER { time } else { time.since(settle.after_start()).after_start() };
    let shifted = arrivals.map(|one| Arrival {
        at: shifted(one.at),
        departs: shifted(one.departs),
        transfer: one.transfer - PORT,
        ..one
    });
    Ok(Outcome {
        arrivals: shifted.filter(|one| one.at < experiment.duration.after_start()).collect(),
        retransmissions: counters.iter().map(|one| one.retransmissions).collect(),
        lateness,
    })
}

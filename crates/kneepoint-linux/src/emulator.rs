// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A link between two devices: a drop-tail queue, a rate and a delay one way, a delay the other way.
//!
//! The clock of the link is virtual. A packet departs at `max(arrival, departure of the one before) + size / rate`, and
//! arrives a delay later, whenever the thread wakes up; the thread's lateness shifts a packet's delivery and nothing
//! else.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use kneepoint::units::{Bytes, Rate, Span, Time};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

/// A link.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// The rate of the forward way.
    pub rate: Rate,
    /// The delay of both ways together.
    pub rtt: Span,
    /// Packets that wait at most, the one in transmission not counted.
    pub buffer: usize,
}

/// A packet at the queue.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When it came.
    pub at: Time,
    /// When it was sent; [`Time::NEVER`] if it was dropped.
    pub departs: Time,
    /// Its size on the wire.
    pub size: Bytes,
    /// The number of its transfer: at the link, the port that it is for.
    pub transfer: u16,
    /// Packets that waited when it came.
    pub waiting: u32,
}

/// How much later packets were delivered than the link's clock says.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lateness {
    /// The median.
    pub p50: Span,
    /// Of 99 in 100 packets.
    pub p99: Span,
    /// Of all packets.
    pub max: Span,
}

/// A way through the link.
#[derive(Debug, Default)]
struct Line {
    /// When the last packet departs.
    free: Time,
    /// Departures of packets that wait or are in transmission.
    departures: VecDeque<Time>,
    /// Packets on their way: when they arrive.
    flying: VecDeque<(Time, Vec<u8>)>,
}

/// The log of a link.
#[derive(Debug, Default)]
pub struct Log {
    /// Every packet of the forward way.
    pub arrivals: Vec<Arrival>,
    late: Vec<Span>,
}

impl Log {
    /// The lateness of all deliveries.
    pub fn lateness(&mut self) -> Lateness {
        self.late.sort_unstable();
        let at = |share: f64| {
            let place = (share * self.late.len() as f64) as usize;
            self.late.get(place.min(self.late.len().saturating_sub(1))).copied().unwrap_or_default()
        };
        Lateness { p50: at(0.5), p99: at(0.99), max: at(1.0) }
    }
}

/// Carries packets between two devices for `span`, from `began` on.
pub fn carry(path: &Path, devices: [File; 2], began: Instant, span: Duration) -> io::Result<Log> {
    be_prompt();
    let mut log = Log::default();
    let mut lines = [Line::default(), Line::default()];
    let [mut near, mut far] = devices;
    let mut room = [0u8; 65_536];
    let clock = || Span(began.elapsed().as_nanos() as u64).after_start();
    let end = Span(span.as_nanos() as u64).after_start();
    loop {
        let now = clock();
        if now >= end {
            return Ok(log);
        }
        deliver(&mut lines[0], &mut far, now, &mut log)?;
        deliver(&mut lines[1], &mut near, now, &mut log)?;
        while let Some(packet) = read(&mut near, &mut room)? {
            offer(path, &mut lines[0], packet, clock(), &mut log);
        }
        while let Some(packet) = read(&mut far, &mut room)? {
            lines[1].flying.push_back((clock() + Span(path.rtt.0 / 2), packet.to_vec()));
        }
        let next = lines.iter().filter_map(|line| line.flying.front()).map(|(at, _)| *at).min();
        let wait = next.unwrap_or(end).min(end).since(clock());
        if wait > Span::ZERO {
            let mut files = [near.as_fd(), far.as_fd()].map(|file| PollFd::new(file, PollFlags::POLLIN));
            ppoll(&mut files, Some(TimeSpec::from_duration(Duration::from_nanos(wait.0))), None)?;
        }
    }
}

fn read<'r>(device: &mut File, room: &'r mut [u8]) -> io::Result<Option<&'r [u8]>> {
    match device.read(room) {
        Ok(size) => Ok(Some(&room[..size])),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

/// A packet comes to the queue.
fn offer(path: &Path, line: &mut Line, packet: &[u8], now: Time, log: &mut Log) {
    while line.departures.front().is_some_and(|departs| *departs <= now) {
        line.departures.pop_front();
    }
    let waiting = line.departures.len().saturating_sub(1);
    let size = Bytes(packet.len() as u64);
    let fits = line.departures.is_empty() || waiting < path.buffer;
    let departs = if fits { line.free.max(now) + path.rate.time_for(size) } else { Time::NEVER };
    log.arrivals.push(Arrival { at: now, departs, size, transfer: port(packet), waiting: waiting as u32 });
    if fits {
        line.free = departs;
        line.departures.push_back(departs);
        line.flying.push_back((departs + Span(path.rtt.0 / 2), packet.to_vec()));
    }
}

/// The destination's port of a TCP packet over IPv4; zero of any other.
fn port(packet: &[u8]) -> u16 {
    let start = 4 * usize::from(packet.first().unwrap_or(&0) & 15);
    match packet.get(start + 2..start + 4) {
        Some(&[high, low]) if packet[0] >> 4 == 4 && packet[9] == libc::IPPROTO_TCP as u8 => {
            u16::from_be_bytes([high, low])
        }
        _ => 0,
    }
}

fn deliver(line: &mut Line, device: &mut File, now: Time, log: &mut Log) -> io::Result<()> {
    while let Some((at, packet)) = line.flying.pop_front_if(|(at, _)| *at <= now) {
        log.late.push(now.since(at));
        match device.write(&packet) {
            Ok(_) => {}
            // The other end is gone, or the device's host has no room.
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Real-time scheduling and timers without slack, where the machine allows them.
fn be_prompt() {
    // SAFETY: the parameters live through the call, and the thread is the caller's own.
    unsafe {
        let parameters = libc::sched_param { sched_priority: 50 };
        libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters);
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A probe of a link by its own clocks, independent of the emulator's own lateness figures.
//!
//! ```text
//! near: the clock is read ─ datagram ─ link ─ datagram ─ far: the kernel's time of arrival (SO_TIMESTAMPNS)
//! ```
//!
//! Single packets, each alone on the link, measure the one-way delay: far apart, so that idle threads sleep in between,
//! and in a stream. Trains of packets measure the rate, from the first arrival of a train to its last. Both times are
//! of one clock of one machine. The kernel stamps a datagram when the emulator writes it, so the
//! receiver may wake up when it likes; the time between the near host's timestamp and the emulator's reading counts as
//! the link's.

use std::io;
use std::mem;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Barrier};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use kneepoint::units::{Bytes, Rate, Span};
use nix::time::{ClockId, clock_gettime};

use crate::behind::Host;
use crate::emulator;
use crate::privilege::Rights;
use crate::tun;

const PORT: u16 = 5001;
/// Headers of IPv4 and UDP.
const HEADERS: usize = 28;
/// A packet fills the device's greatest.
pub const PACKET: Bytes = Bytes(tun::MTU as u64);
/// Below the emulator's, which thus reads a packet as soon as it is sent.
const PRIORITY: i32 = 40;
/// Before the first packet, for hosts to come up.
const SETTLE: Duration = Duration::from_millis(200);
/// The receiver has everything if nothing arrived for this long after the delay.
const SILENCE: Duration = Duration::from_millis(500);
/// Socket buffers, for trains.
const BUFFER: libc::c_int = 8 << 20;
/// A difference of the two clocks of the machine that grows by more was a clock that was set.
const STEADY: i64 = 50_000;

/// The packets to send.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Packets that are alone on the link, and the time between two of them on average: sparse ones, and a stream.
    pub single: [(usize, Duration); 2],
    /// Trains.
    pub trains: usize,
    /// Packets of each.
    pub length: usize,
    /// The time between the ends of two trains.
    pub pause: Duration,
}

impl Plan {
    /// For a link of this rate: a thousand packets sparse and a thousand in a stream; trains of 5 ms, or of sixteen packets where those take
    /// longer.
    pub fn of(rate: Rate) -> Plan {
        let packet = Duration::from_nanos(rate.time_for(PACKET).0);
        let length = (5_000_000 / packet.as_nanos().max(1) as usize).clamp(16, 400);
        let single = [5_000, 300].map(|micros| (1000, Duration::from_micros(micros).max(2 * packet)));
        let pause = Duration::from_millis(30) + packet * length as u32;
        Plan { single, trains: 20, length, pause }
    }

    fn alone(&self) -> usize {
        self.single.iter().map(|(count, _)| count).sum()
    }

    fn packets(&self) -> usize {
        self.alone() + self.trains * self.length
    }
}

/// The measurements.
#[derive(Clone, Debug, Default)]
pub struct Probed {
    /// One-way delays of single packets in order of sending: of sparse packets, and of packets in the stream.
    pub delays: [Vec<Span>; 2],
    /// Single packets that did not arrive.
    pub lost: usize,
    /// The rate of each train that arrived whole.
    pub rates: Vec<Rate>,
    /// Whether both ends were scheduled in real time.
    pub prompt: bool,
}

/// A probe at work.
pub struct Probe(JoinHandle<io::Result<Probed>>);

impl Probe {
    /// Starts both ends. Packets follow when the caller carries them; `end` is called when everything has arrived.
    pub fn start(
        near: &Host,
        far: &Host,
        plan: Plan,
        end: impl FnOnce() + Send + 'static,
    ) -> io::Result<Probe> {
        let to = SocketAddr::from((far.address.v4, PORT));
        let ready = Arc::new(Barrier::new(3));
        let of = || ready.clone();
        let (sent, received) = (of(), of());
        let sender = near.spawn(move || send(to, plan, &sent))?;
        let receiver = far.spawn(move || {
            let probed = receive(to, plan.packets(), &received).and_then(|arrivals| {
                let prompt = sender.join().expect("no panic inside")?;
                Ok(Probed { prompt, ..judge(plan, &arrivals) })
            });
            end();
            probed
        })?;
        // Both have what they need from root and have dropped it, as the caller may now.
        ready.wait();
        Ok(Probe(receiver))
    }

    /// The result.
    pub fn join(self) -> io::Result<Probed> {
        self.0.join().expect("no panic inside")
    }
}

/// The times of sending and arrival of a packet, in nanoseconds of the machine's clock.
type Arrival = Option<(u64, u64)>;

fn clock(which: ClockId) -> i64 {
    clock_gettime(which).map_or(0, |time| time.tv_sec() * 1_000_000_000 + time.tv_nsec())
}

/// Sends everything; returns whether it was scheduled in real time.
fn send(to: SocketAddr, plan: Plan, ready: &Barrier) -> io::Result<bool> {
    let socket = UdpSocket::bind("0.0.0.0:0");
    let socket = socket.and_then(|socket| set(&socket, libc::SO_SNDBUFFORCE, BUFFER).map(|()| socket));
    let prompt = emulator::be_prompt_at(PRIORITY);
    let kept = Rights::of_caller().keep();
    ready.wait();
    let socket = kept.and(socket)?;
    thread::sleep(SETTLE);
    let mut room = [0; PACKET.0 as usize - HEADERS];
    let offset = || clock(ClockId::CLOCK_REALTIME) - clock(ClockId::CLOCK_MONOTONIC);
    let before = offset();
    let mut put = |number: usize| {
        room[..8].copy_from_slice(&(number as u64).to_le_bytes());
        room[8..16].copy_from_slice(&clock(ClockId::CLOCK_REALTIME).to_le_bytes());
        socket.send_to(&room, to).map(drop)
    };
    let times = plan.single.into_iter().flat_map(|(count, every)| std::iter::repeat_n(every, count));
    for (number, every) in times.enumerate() {
        put(number)?;
        // Without a rhythm: multiples of the golden section never repeat.
        thread::sleep(every.mul_f64(0.5 + (number as f64 * 0.618_034).fract()));
    }
    for train in 0..plan.trains {
        thread::sleep(plan.pause);
        for place in 0..plan.length {
            put(plan.alone() + train * plan.length + place)?;
        }
    }
    if (offset() - before).abs() > STEADY {
        return Err(io::Error::other("the machine's clock was set during the probe: run it again"));
    }
    Ok(prompt)
}

/// Records arrivals, by number.
fn receive(at: SocketAddr, packets: usize, ready: &Barrier) -> io::Result<Vec<Arrival>> {
    let socket = UdpSocket::bind(at).and_then(|socket| {
        set(&socket, libc::SO_TIMESTAMPNS, 1)?;
        set(&socket, libc::SO_RCVBUFFORCE, BUFFER)?;
        socket.set_read_timeout(Some(Duration::from_millis(50)))?;
        Ok(socket)
    });
    let kept = Rights::of_caller().keep();
    ready.wait();
    let socket = kept.and(socket)?;
    let mut arrivals = vec![None; packets];
    // The first packet may take as long as the link's delay.
    let (mut heard, mut patience) = (Instant::now(), Duration::from_secs(10));
    while heard.elapsed() < patience && arrivals.last().is_none_or(Option::is_none) {
        match take(&socket) {
            Ok((number, sent, arrived)) => {
                if let Some(place) = arrivals.get_mut(number as usize) {
                    *place = Some((sent, arrived));
                }
                (heard, patience) = (Instant::now(), 2 * SILENCE);
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(arrivals)
}

/// A packet's number, when it was sent, and when the kernel had it.
fn take(socket: &UdpSocket) -> io::Result<(u64, u64, u64)> {
    let (mut room, mut aside) = ([0_u8; 16], [0_u64; 8]);
    // SAFETY: all that the message points to lives through the calls; the kernel fills in at most the announced
    // lengths, and the control message is read within these.
    unsafe {
        let mut part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
        let mut message: libc::msghdr = mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = aside.as_mut_ptr().cast();
        message.msg_controllen = mem::size_of_val(&aside) as _;
        if libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0) < 0 {
            return Err(io::Error::last_os_error());
        }
        let head = libc::CMSG_FIRSTHDR(&raw const message);
        if head.is_null() || (*head).cmsg_type != libc::SCM_TIMESTAMPNS {
            return Err(io::Error::other("the kernel does not stamp datagrams"));
        }
        let time: libc::timespec = libc::CMSG_DATA(head).cast::<libc::timespec>().read_unaligned();
        let word = |at: usize| u64::from_le_bytes(room[at..at + 8].try_into().expect("eight bytes"));
        Ok((word(0), word(8), time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64))
    }
}

fn set(socket: &UdpSocket, name: libc::c_int, value: libc::c_int) -> io::Result<()> {
    let size = mem::size_of_val(&value) as libc::socklen_t;
    let place = (&raw const value).cast();
    // SAFETY: the value lives through the call and is as long as it says.
    let set = unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, name, place, size) };
    if set < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Delays and rates from arrivals.
fn judge(plan: Plan, arrivals: &[Arrival]) -> Probed {
    let (single, trains) = arrivals.split_at(plan.alone());
    let (sparse, stream) = single.split_at(plan.single[0].0);
    let delays = [sparse, stream].map(|one| {
        let delays = one.iter().flatten().map(|(sent, arrived)| Span(arrived.saturating_sub(*sent)));
        delays.collect::<Vec<_>>()
    });
    let rate = |train: &[Arrival]| {
        let times = train.iter().map(|arrival| arrival.map(|(_, arrived)| arrived));
        let times = times.collect::<Option<Vec<_>>>()?;
        let span = times.last()?.checked_sub(*times.first()?).filter(|span| *span > 0)?;
        let bits = 8 * PACKET.0 * (times.len() as u64 - 1);
        Some(Rate((u128::from(bits) * 1_000_000_000 / u128::from(span)) as u64))
    };
    let rates = trains.chunks(plan.length).filter_map(rate).collect();
    Probed { lost: plan.alone() - delays.iter().map(Vec::len).sum::<usize>(), delays, rates, prompt: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_and_rates_follow_from_when_packets_were_sent_and_arrived() {
        let single = [(2, Duration::ZERO), (1, Duration::ZERO)];
        let plan = Plan { single, trains: 2, length: 3, pause: Duration::ZERO };
        // The second single packet is lost, and one of the second train, whose rate is therefore unknown.
        let train = [Some((0, 5_000)), Some((0, 17_000)), Some((0, 29_000))];
        let arrivals =
            [&[Some((10, 35)), None, Some((50, 70))][..], &train, &[Some((0, 1)), None, Some((0, 3))]]
                .concat();
        let probed = judge(plan, &arrivals);
        assert_eq!((probed.delays, probed.lost), ([vec![Span(25)], vec![Span(20)]], 1));
        // A packet each 12 us.
        assert_eq!(probed.rates, [Rate::from_mbit(1000)]);
    }

    #[test]
    fn trains_last_five_milliseconds_where_sixteen_packets_do_not() {
        assert_eq!([10, 100, 1000].map(|mbit| Plan::of(Rate::from_mbit(mbit)).length), [16, 41, 400]);
    }
}

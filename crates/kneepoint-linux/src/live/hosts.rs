// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hosts of the kernel: senders, and the sinks that they send to. Every wait has an end, so that nothing outlives its run.

use std::io::{self, Read, Write};
use std::mem;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::thread;
use std::time::{Duration, Instant};

use kneepoint::units::Bytes;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{self, sockopt};

/// A chunk that a sender writes or a sink reads at once.
pub(crate) const CHUNK: usize = 256 * 1024;
/// Data that a sender's socket holds unsent; small, so that a transfer stops soon on request.
const UNSENT: libc::c_int = 256 * 1024;
/// The longest wait between two readings of the clock.
const LOOK: Duration = Duration::from_millis(50);
/// The nice value of hosts.
const PRIORITY: libc::c_int = -15;
/// The bytes that timestamps take from the MSS of a socket.
const TIMESTAMPS: u64 = 12;

/// The work of a sender.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) to: SocketAddrV4,
    pub(crate) control: String,
    pub(crate) payload: Option<Bytes>,
    pub(crate) size: Option<Bytes>,
    pub(crate) start: Instant,
    pub(crate) stop: Instant,
    /// The end of the run, when remaining work is given up.
    pub(crate) end: Instant,
}

/// The cost of a transfer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    pub(crate) retransmissions: u32,
    /// Processor time of its thread, in user and kernel mode.
    pub(crate) processor: Duration,
}

/// Lets the calling thread run before others of the machine, which its own server would not share: a host that must wait
/// for its processor answers in bursts. Where that is not permitted it waits.
pub(crate) fn hurry() {
    // SAFETY: the call takes no pointers; on Linux it concerns the calling thread alone.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, PRIORITY) };
}

/// Sends as ordered.
pub(crate) fn send(order: &Order) -> io::Result<Spent> {
    hurry();
    thread::sleep(order.start.saturating_duration_since(Instant::now()));
    let Some(mut stream) = connect(order)? else { return Ok(Spent::default()) };
    let data = vec![0; CHUNK];
    let mut left = order.size.map_or(u64::MAX, |size| size.0);
    while left > 0 && wait(&stream, PollFlags::POLLOUT, order.stop)? {
        match stream.write(&data[..data.len().min(usize::try_from(left).unwrap_or(usize::MAX))]) {
            Ok(written) if order.size.is_some() => left -= written as u64,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // At the end of the run the other end leaves, and on a short path that is known here before a wait is over.
            Err(_) if Instant::now() >= order.end => break,
            Err(error) => return Err(error),
        }
    }
    // The other end closes when it has everything.
    if Instant::now() < order.end {
        stream.shutdown(std::net::Shutdown::Write)?;
        if wait(&stream, PollFlags::POLLIN, order.end)? {
            let _ = stream.read(&mut [0; 1]);
        }
    }
    let spent = Spent { retransmissions: info(&stream)?.tcpi_total_retrans, processor: processor_time() };
    abort(&stream)?;
    Ok(spent)
}

/// A connection; none if the run ended before it was open.
fn connect(order: &Order) -> io::Result<Option<TcpStream>> {
    let stream = socket(order.to, &order.control, order.payload)?;
    if !wait(&stream, PollFlags::POLLOUT, order.end)? {
        return Ok(None);
    }
    stream.take_error()?.map_or(Ok(Some(stream)), Err)
}

/// A sender that begins to connect.
pub(crate) fn socket(to: SocketAddrV4, control: &str, payload: Option<Bytes>) -> io::Result<TcpStream> {
    let flags = socket::SockFlag::SOCK_CLOEXEC | socket::SockFlag::SOCK_NONBLOCK;
    let socket = socket::socket(socket::AddressFamily::Inet, socket::SockType::Stream, flags, None)?;
    configure(&socket, control, payload)?;
    match socket::connect(socket.as_raw_fd(), &socket::SockaddrIn::from(to)) {
        Ok(()) | Err(Errno::EINPROGRESS) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(TcpStream::from(socket))
}

/// Sets the congestion control of a socket and the payload of its packets; sockets accepted from a listener inherit
/// both.
pub(crate) fn configure(
    socket: &(impl AsFd + AsRawFd),
    control: &str,
    payload: Option<Bytes>,
) -> io::Result<()> {
    socket::setsockopt(socket, sockopt::TcpCongestion, &control.into())?;
    if let Some(payload) = payload {
        socket::setsockopt(socket, sockopt::TcpMaxSeg, &((payload.0 + TIMESTAMPS) as u32))?;
    }
    set(socket, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, UNSENT)
}

/// Makes a listener answer as a host with this congestion control: DCTCP sets ECN bits in a SYN, which others do not
/// accept.
pub(crate) fn answers(listener: &TcpListener, control: &str) -> io::Result<()> {
    Ok(socket::setsockopt(listener, sockopt::TcpCongestion, &control.into())?)
}

/// Waits until a file is ready: whether it was before `until`.
pub(crate) fn wait(file: &impl AsFd, what: PollFlags, until: Instant) -> io::Result<bool> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        let mut files = [PollFd::new(file.as_fd(), what)];
        match poll(&mut files, timeout(left)) {
            Ok(0) | Err(Errno::EINTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
}

fn timeout(left: Duration) -> PollTimeout {
    PollTimeout::try_from(left.min(LOOK) + Duration::from_millis(1)).unwrap_or(PollTimeout::ZERO)
}

/// Listeners at ports of an address.
pub(crate) fn listen(address: Ipv4Addr, ports: &[u16]) -> io::Result<Vec<TcpListener>> {
    let listener = |port: &u16| {
        let listener = TcpListener::bind((address, *port))?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    ports.iter().map(listener).collect()
}

/// Accepts connections and takes what they bring until `end`, without looking at it.
pub(crate) fn sink(listeners: Vec<TcpListener>, end: Instant) -> io::Result<()> {
    hurry();
    let mut streams: Vec<TcpStream> = Vec::new();
    while !listeners.is_empty() && Instant::now() < end {
        let listening = listeners.iter().map(|one| PollFd::new(one.as_fd(), PollFlags::POLLIN));
        let reading = streams.iter().map(|one| PollFd::new(one.as_fd(), PollFlags::POLLIN));
        let mut files: Vec<PollFd> = listening.chain(reading).collect();
        match poll(&mut files, timeout(end.saturating_duration_since(Instant::now()))) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready: Vec<bool> = files.iter().map(|file| file.any().unwrap_or(false)).collect();
        let mut of_streams = ready[listeners.len()..].iter();
        streams.retain(|stream| !of_streams.next().is_some_and(|has| *has) || discard(stream));
        for (listener, _) in listeners.iter().zip(&ready).filter(|(_, has)| **has) {
            if let Ok((stream, _)) = listener.accept() {
                stream.set_nonblocking(true)?;
                streams.push(stream);
            }
        }
    }
    Ok(())
}

/// Reads the data of a connection: returns whether more may follow.
fn discard(stream: &TcpStream) -> bool {
    match take(stream) {
        Ok(taken) => taken > 0,
        Err(error) => error.kind() == io::ErrorKind::WouldBlock,
    }
}

/// Reads the data of a connection, a chunk at most: returns the number of bytes.
pub(crate) fn take(stream: &TcpStream) -> io::Result<u64> {
    // SAFETY: with MSG_TRUNC the kernel drops the bytes of a TCP socket and writes nothing.
    let taken = unsafe {
        libc::recv(stream.as_raw_fd(), std::ptr::null_mut(), CHUNK, libc::MSG_TRUNC | libc::MSG_DONTWAIT)
    };
    u64::try_from(taken).map_err(|_| io::Error::last_os_error())
}

/// Bytes written to a connection and not yet acknowledged.
pub(crate) fn unacknowledged(stream: &TcpStream) -> io::Result<usize> {
    let mut left: libc::c_int = 0;
    // SAFETY: the kernel writes one integer.
    let asked = unsafe { libc::ioctl(stream.as_raw_fd(), libc::TIOCOUTQ, &raw mut left) };
    if asked < 0 { Err(io::Error::last_os_error()) } else { Ok(usize::try_from(left).unwrap_or(0)) }
}

fn set(socket: &impl AsRawFd, level: libc::c_int, name: libc::c_int, value: libc::c_int) -> io::Result<()> {
    let size = mem::size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the value lives through the call and is as long as it says.
    let result =
        unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const value).cast(), size) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The kernel's information on a connection.
pub(crate) fn info(stream: &TcpStream) -> io::Result<libc::tcp_info> {
    // SAFETY: `tcp_info` is integers only; the kernel writes at most `size` bytes of it.
    unsafe {
        let mut info: libc::tcp_info = mem::zeroed();
        let mut size = mem::size_of::<libc::tcp_info>() as libc::socklen_t;
        let (place, file) = ((&raw mut info).cast(), stream.as_raw_fd());
        let result = libc::getsockopt(file, libc::IPPROTO_TCP, libc::TCP_INFO, place, &raw mut size);
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(info) }
    }
}

/// Ends a connection without sending the remaining data.
pub(crate) fn abort(stream: &TcpStream) -> io::Result<()> {
    let now = libc::linger { l_onoff: 1, l_linger: 0 };
    Ok(socket::setsockopt(stream, sockopt::Linger, &now)?)
}

/// The time that the calling thread has used a processor.
pub(crate) fn processor_time() -> Duration {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID);
    time.map_or(Duration::ZERO, Duration::from)
}

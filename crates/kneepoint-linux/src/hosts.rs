// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hosts of the kernel: bulk senders and the sinks that they send to.

use std::io::{self, Read, Write};
use std::mem;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::socket::{self, sockopt};

/// A chunk that a sender writes or a sink reads at once.
const CHUNK: usize = 256 * 1024;

/// The counters of a transfer's sender at its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Packets sent again.
    pub retransmissions: u32,
}

/// Accepts one connection per listener and reads until it ends.
pub fn sink(listener: TcpListener) -> io::Result<()> {
    let (mut stream, _) = listener.accept()?;
    let mut room = vec![0; CHUNK];
    while !matches!(stream.read(&mut room), Ok(0) | Err(_)) {}
    Ok(())
}

/// Sends without end from `start` until `end`, with this congestion control.
pub fn send(to: SocketAddrV4, control: &str, start: Instant, end: Instant) -> io::Result<Counters> {
    thread::sleep(start.saturating_duration_since(Instant::now()));
    let socket = socket::socket(
        socket::AddressFamily::Inet,
        socket::SockType::Stream,
        socket::SockFlag::SOCK_CLOEXEC,
        None,
    )?;
    socket::setsockopt(&socket, sockopt::TcpCongestion, &control.into())?;
    socket::connect(socket.as_raw_fd(), &socket::SockaddrIn::from(to))?;
    let mut stream = TcpStream::from(socket);
    stream.set_write_timeout(Some(Duration::from_millis(50)))?;
    let data = vec![0; CHUNK];
    while Instant::now() < end {
        match stream.write(&data) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    let counters = counters(&stream)?;
    abort(&stream)?;
    Ok(counters)
}

fn counters(stream: &TcpStream) -> io::Result<Counters> {
    // SAFETY: `tcp_info` is integers only; the kernel writes at most `size` bytes of it.
    let info = unsafe {
        let mut info: libc::tcp_info = mem::zeroed();
        let mut size = mem::size_of::<libc::tcp_info>() as libc::socklen_t;
        let result = libc::getsockopt(
            stream.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut size,
        );
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        info
    };
    Ok(Counters { retransmissions: info.tcpi_total_retrans })
}

/// Ends a connection without sending what is left.
fn abort(stream: &TcpStream) -> io::Result<()> {
    let now = libc::linger { l_onoff: 1, l_linger: 0 };
    Ok(socket::setsockopt(stream, sockopt::Linger, &now)?)
}

/// Listeners at consecutive ports, from `first` on.
pub fn listen(address: Ipv4Addr, first: u16, count: usize) -> io::Result<Vec<TcpListener>> {
    (0..count).map(|place| TcpListener::bind((address, first + place as u16))).collect()
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The kernel's socket: an application that listens, accepts one connection and writes.

use std::io;
use std::mem;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockProtocol, SockType, SockaddrIn, accept4, bind, listen, setsockopt,
    socket, sockopt,
};

/// A listening socket, then the connection.
#[derive(Debug)]
pub(super) struct Application {
    socket: OwnedFd,
    /// The data to write; its bytes do not matter.
    room: Vec<u8>,
}

impl Application {
    pub fn listen(address: Ipv4Addr, port: u16, controller: &str) -> io::Result<Application> {
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let made = socket(AddressFamily::Inet, SockType::Stream, flags, SockProtocol::Tcp)?;
        setsockopt(&made, sockopt::ReuseAddr, &true)?;
        setsockopt(&made, sockopt::TcpCongestion, &controller.into())?;
        let [a, b, c, d] = address.octets();
        bind(made.as_raw_fd(), &SockaddrIn::new(a, b, c, d, port))?;
        listen(&made, Backlog::new(1)?)?;
        Ok(Application { socket: made, room: Vec::new() })
    }

    /// Accepts the waiting connection, and stops listening.
    pub fn accept(&mut self) -> io::Result<()> {
        let accepted = accept4(self.socket.as_raw_fd(), SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC)?;
        // SAFETY: the descriptor is new and has no other owner.
        self.socket = unsafe { OwnedFd::from_raw_fd(accepted) };
        Ok(())
    }

    /// Writes, and returns the number of bytes that the kernel took.
    pub fn write(&mut self, bytes: u32) -> io::Result<u32> {
        self.room.resize(bytes as usize, 0);
        Ok(nix::unistd::write(&self.socket, &self.room)? as u32)
    }

    /// Ends the connection with a reset.
    pub fn abort(self) -> io::Result<()> {
        let linger = libc::linger { l_onoff: 1, l_linger: 0 };
        let (size, place) = (mem::size_of_val(&linger) as libc::socklen_t, (&raw const linger).cast());
        // SAFETY: the value lives through the call and is as long as it says.
        let set = unsafe {
            libc::setsockopt(self.socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_LINGER, place, size)
        };
        if set < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

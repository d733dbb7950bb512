// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Helpers for tests of kernel programs.

use std::io::Read as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::process::Command;

use kneepoint_linux::kernel;
use nix::sys::socket::{self, sockopt};

use crate::say;

/// Whether this machine can load programs; a message says if not.
pub fn able() -> bool {
    has(|need| need.required)
}

/// Whether it can also judge packets by the length of a queue.
pub fn able_to_judge() -> bool {
    has(|need| need.required || need.name == kernel::LENGTHS)
}

fn has(what: impl Fn(&kernel::Need) -> bool) -> bool {
    let missing = kernel::needs().into_iter().find(|need| what(need) && !need.met);
    if let Some(need) = &missing {
        say(&format!("SKIPPED: {} ({}): {}", need.name, need.found, need.remedy));
    }
    missing.is_none()
}

pub fn sh(line: &str) -> String {
    let output = Command::new("sh").args(["-ec", line]).output().unwrap();
    assert!(output.status.success(), "{line}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Connects with this congestion control.
pub fn connect(to: SocketAddr, control: &str) -> TcpStream {
    let family = if to.is_ipv4() { socket::AddressFamily::Inet } else { socket::AddressFamily::Inet6 };
    let socket = socket::socket(family, socket::SockType::Stream, socket::SockFlag::empty(), None).unwrap();
    socket::setsockopt(&socket, sockopt::TcpCongestion, &control.into()).unwrap();
    socket::connect(socket.as_raw_fd(), &socket::SockaddrStorage::from(to)).unwrap();
    TcpStream::from(socket)
}

/// Accepts one connection; the bytes that came.
pub fn sink(listener: TcpListener) -> usize {
    let (mut stream, _) = listener.accept().unwrap();
    let (mut room, mut count) = (vec![0; 1 << 18], 0);
    while let Ok(size @ 1..) = stream.read(&mut room) {
        count += size;
    }
    count
}

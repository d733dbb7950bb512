// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A device whose packets a program reads and writes, with an address.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::{c_short, ifreq};

/// The name of the device inside its namespace.
const NAME: &str = "knee0";
/// Packets that the device holds until the program reads them; it reads at once.
const QUEUE: i32 = 10_000;
/// Ethernet's.
pub const MTU: i32 = 1500;

/// Opens the device of the calling thread's namespace and gives it an address in a network of 24 bits.
pub fn open(address: Ipv4Addr) -> io::Result<File> {
    let device = OpenOptions::new().read(true).write(true).open("/dev/net/tun")?;
    let mut request = request();
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as c_short;
    ask(&device, libc::TUNSETIFF as libc::Ioctl, &mut request)?;
    set_nonblocking(&device)?;

    let socket = socket()?;
    request.ifr_ifru.ifru_addr = internet(address);
    ask(&socket, libc::SIOCSIFADDR as libc::Ioctl, &mut request)?;
    request.ifr_ifru.ifru_netmask = internet(Ipv4Addr::new(255, 255, 255, 0));
    ask(&socket, libc::SIOCSIFNETMASK as libc::Ioctl, &mut request)?;
    request.ifr_ifru.ifru_mtu = MTU;
    ask(&socket, libc::SIOCSIFMTU as libc::Ioctl, &mut request)?;
    request.ifr_ifru.ifru_metric = QUEUE;
    ask(&socket, libc::SIOCSIFTXQLEN as libc::Ioctl, &mut request)?;
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as c_short;
    ask(&socket, libc::SIOCSIFFLAGS as libc::Ioctl, &mut request)?;
    Ok(device)
}

fn request() -> ifreq {
    // SAFETY: every field of `ifreq` is an integer, an address or a union of these, for which zero is a value.
    let mut request: ifreq = unsafe { mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(NAME.bytes()) {
        *place = byte as libc::c_char;
    }
    request
}

fn socket() -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointers.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if socket < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(socket) })
}

fn ask(file: &impl AsRawFd, what: libc::Ioctl, request: &mut ifreq) -> io::Result<()> {
    // SAFETY: `what` is one of the requests above, all of which take a pointer to an `ifreq`, which lives until the end.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), what, std::ptr::from_mut(request)) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn set_nonblocking(file: &File) -> io::Result<()> {
    use nix::fcntl::{FcntlArg, OFlag, fcntl};
    fcntl(file, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok(())
}

fn internet(address: Ipv4Addr) -> libc::sockaddr {
    // SAFETY: zero is a value of both types, and a `sockaddr_in` is as long as a `sockaddr` and made to be used as one.
    unsafe {
        let mut internet: libc::sockaddr_in = mem::zeroed();
        internet.sin_family = libc::AF_INET as libc::sa_family_t;
        internet.sin_addr.s_addr = u32::from(address).to_be();
        mem::transmute(internet)
    }
}

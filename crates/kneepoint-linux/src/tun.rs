// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A device whose packets a program reads and writes, with an address.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::{c_char, c_int, c_short, ifreq};

/// The place where devices are made.
const DEVICES: &str = "/dev/net/tun";
/// Packets that the device holds until the program reads them; it reads at once.
const QUEUE: c_int = 10_000;
/// Bytes of the header before each packet of a device that does not cut.
pub const VIRTUAL_HEADER: usize = 10;
/// Ethernet's.
pub const MTU: c_int = 1500;

/// One of the networks of links, by its number: 10.77.NUMBER.0/24 and fd6b:6e65:65:NUMBER::/64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network(pub u8);

impl Network {
    /// The name of its devices. A namespace has one device of a name, and who makes it first has the network there.
    fn device(self) -> String {
        format!("knee{}", self.0)
    }

    /// The addresses of one of its hosts.
    pub const fn host(self, host: u8) -> Address {
        Address {
            v4: Ipv4Addr::new(10, 77, self.0, host),
            v6: Ipv6Addr::new(0xfd6b, 0x6e65, 0x0065, self.0 as u16, 0, 0, 0, host as u16),
            network: self,
        }
    }
}

/// The addresses of a host, in networks of 24 and 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// IPv4.
    pub v4: Ipv4Addr,
    /// IPv6.
    pub v6: Ipv6Addr,
    network: Network,
}

/// A device. It vanishes when it is dropped, or when the process ends in any way.
#[derive(Debug)]
pub struct Device {
    /// Its packets, each with its IP header first.
    pub file: File,
    /// Its name in its namespace.
    pub name: String,
}

impl Device {
    /// Opens a device of the calling thread's namespace and gives it its addresses. [`libc::EBUSY`] says that the namespace has a device
    /// in this network.
    pub fn open(address: Address) -> io::Result<Device> {
        let device = Device::made(address.network, libc::IFF_TUN | libc::IFF_NO_PI)?;
        set_up(&device.name, address)?;
        Ok(device)
    }

    /// The same for a device to which the kernel leaves checksums and the cutting of long segments: each packet begins with a
    /// [header](VIRTUAL_HEADER) of virtio.
    pub fn open_uncut(address: Address) -> io::Result<Device> {
        let device = Device::made(address.network, libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR)?;
        let offloads = libc::c_ulong::from(libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO_ECN);
        // SAFETY: the request takes its argument by value.
        let set =
            unsafe { libc::ioctl(device.file.as_raw_fd(), libc::TUNSETOFFLOAD as libc::Ioctl, offloads) };
        if set < 0 {
            return Err(io::Error::last_os_error());
        }
        set_up(&device.name, address)?;
        Ok(device)
    }

    /// A new device of this kind, without addresses.
    fn made(network: Network, flags: c_int) -> io::Result<Device> {
        let name = network.device();
        let file = attach(&name, flags | libc::IFF_TUN_EXCL)?;
        set_nonblocking(&file)?;
        Ok(Device { file, name })
    }
}

/// Sends everything without another route through this device of the calling thread's namespace.
pub fn route_all(device: &str) -> io::Result<()> {
    let socket = socket(libc::AF_INET)?;
    let mut name = request(device).ifr_name;
    // SAFETY: zero is a value of every field of a route.
    let mut route: libc::rtentry = unsafe { mem::zeroed() };
    route.rt_dst = internet(Ipv4Addr::UNSPECIFIED);
    route.rt_genmask = internet(Ipv4Addr::UNSPECIFIED);
    route.rt_flags = libc::RTF_UP;
    route.rt_dev = name.as_mut_ptr();
    ask(&socket, libc::SIOCADDRT as libc::Ioctl, &mut route)
}

/// The file of a device of the calling thread's namespace, made if there is none of this name.
pub(crate) fn attach(name: &str, flags: c_int) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).open(DEVICES).map_err(|error| {
        // On most machines every user may open it.
        io::Error::new(error.kind(), format!("{DEVICES}: {error}"))
    })?;
    let mut request = request(name);
    request.ifr_ifru.ifru_flags = flags as c_short;
    ask(&file, libc::TUNSETIFF as libc::Ioctl, &mut request)?;
    Ok(file)
}

/// Brings up the loopback device of the calling thread's namespace.
pub fn loopback() -> io::Result<()> {
    let mut request = request("lo");
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as c_short;
    ask(&socket(libc::AF_INET)?, libc::SIOCSIFFLAGS as libc::Ioctl, &mut request)
}

fn set_up(name: &str, address: Address) -> io::Result<()> {
    let socket4 = socket(libc::AF_INET)?;
    let mut request = request(name);
    let mut set = |what: libc::Ioctl, change: &dyn Fn(&mut ifreq)| {
        change(&mut request);
        ask(&socket4, what, &mut request)
    };
    set(libc::SIOCSIFADDR as libc::Ioctl, &|one| one.ifr_ifru.ifru_addr = internet(address.v4))?;
    set(libc::SIOCSIFNETMASK as libc::Ioctl, &|one| {
        one.ifr_ifru.ifru_netmask = internet(Ipv4Addr::new(255, 255, 255, 0));
    })?;
    set(libc::SIOCSIFMTU as libc::Ioctl, &|one| one.ifr_ifru.ifru_mtu = MTU)?;
    // Root of a user namespace may not; the device then has the usual five hundred places.
    let _ = set(libc::SIOCSIFTXQLEN as libc::Ioctl, &|one| one.ifr_ifru.ifru_metric = QUEUE);
    set(libc::SIOCSIFFLAGS as libc::Ioctl, &|one| {
        one.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as c_short;
    })?;
    set(libc::SIOCGIFINDEX as libc::Ioctl, &|_| {})?;
    // SAFETY: the last request filled in the index.
    let index = unsafe { request.ifr_ifru.ifru_ifindex };
    // A machine without IPv6 has no such socket, and the link carries IPv4 alone.
    if let Ok(socket6) = socket(libc::AF_INET6) {
        let v6 = libc::in6_addr { s6_addr: address.v6.octets() };
        let mut request6 = libc::in6_ifreq { ifr6_addr: v6, ifr6_prefixlen: 64, ifr6_ifindex: index };
        match ask(&socket6, libc::SIOCSIFADDR as libc::Ioctl, &mut request6) {
            // IPv6 is switched off for the device.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EACCES | libc::EOPNOTSUPP)) => {}
            other => other?,
        }
    }
    Ok(())
}

pub(crate) fn request(name: &str) -> ifreq {
    // SAFETY: every field of `ifreq` is an integer, an address or a union of these, for which zero is a value.
    let mut request: ifreq = unsafe { mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *place = byte as c_char;
    }
    request
}

pub(crate) fn socket(family: c_int) -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointers.
    let socket = unsafe { libc::socket(family, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if socket < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(socket) })
}

pub(crate) fn ask<T>(file: &impl AsRawFd, what: libc::Ioctl, request: &mut T) -> io::Result<()> {
    // SAFETY: each caller passes the type that its request takes a pointer to; the value lives until the end.
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

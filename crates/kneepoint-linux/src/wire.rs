// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An Ethernet device of this machine, whose frames a program reads and writes whole.
//!
//! ```text
//! network ─ device ─ packet socket, promiscuous ─ program
//! ```
//!
//! Work that the kernel leaves to a device is done here: an unfinished checksum of a sender on this machine is
//! computed, and a VLAN tag that the device removed is restored. A frame that an offload merged of several is longer
//! than any that the
//! network carries; it is counted and dropped.

use std::cell::Cell;
use std::ffi::CString;
use std::io::{self, ErrorKind};
use std::mem;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use libc::{c_int, socklen_t};

use crate::emulator::Port;
use crate::frame;
use crate::tun::{ask, request, socket};

/// Frames that wait in the socket until the program reads them; it reads at once.
const BUFFER: c_int = 8 << 20;
/// Bytes of two addresses, before the tag or the type.
const ADDRESSES: usize = 12;
const TAG: usize = 4;
/// The protocol of a tag (IEEE 802.1Q) where the kernel does not say it.
const TAGGED: u16 = 0x8100;
/// Offloads that merge or tag frames: the request that asks for one, its bit in the answer, its name to `ethtool`.
const OFFLOADS: [(u32, u32, &str); 4] =
    [(0x2b, 1, "gro"), (0x1e, 1, "tso"), (0x23, 1, "gso"), (0x25, 1 << 15, "lro")];
const SIOCETHTOOL: libc::Ioctl = 0x8946;

/// A device's frames.
#[derive(Debug)]
pub struct Wire {
    socket: OwnedFd,
    /// The device.
    pub name: String,
    long: Cell<u64>,
}

/// The kernel's information on a frame besides its bytes.
#[derive(Default)]
struct Aside {
    unfinished: bool,
    tag: Option<(u16, u16)>,
}

impl Wire {
    /// Listens to all frames of a device of the calling thread's namespace, and can send frames from it.
    pub fn open(name: &str) -> io::Result<Wire> {
        let text = CString::new(name).map_err(|_| ErrorKind::InvalidInput)?;
        // SAFETY: the name ends with a zero, and the other call takes no pointers.
        let (index, socket) = unsafe {
            let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
            // For no protocol, so that nothing arrives before the socket is bound to its device.
            (libc::if_nametoindex(text.as_ptr()), libc::socket(libc::AF_PACKET, kind, 0))
        };
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and has no other owner.
        let socket = unsafe { OwnedFd::from_raw_fd(socket) };
        if index == 0 {
            return Err(io::Error::new(ErrorKind::NotFound, format!("no device is called `{name}`")));
        }
        let wire = Wire { socket, name: name.to_string(), long: Cell::new(0) };
        wire.set(libc::SOL_PACKET, libc::PACKET_AUXDATA, &1)?;
        // Packets that the program sends must not come back.
        wire.set(libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1)?;
        wire.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &BUFFER)?;
        // SAFETY: zero is a value of every field of both.
        let (mut address, mut promiscuous): (libc::sockaddr_ll, libc::packet_mreq) =
            unsafe { (mem::zeroed(), mem::zeroed()) };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = index as c_int;
        promiscuous.mr_ifindex = index as c_int;
        promiscuous.mr_type = libc::PACKET_MR_PROMISC as u16;
        wire.set(libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &promiscuous)?;
        let size = mem::size_of::<libc::sockaddr_ll>() as socklen_t;
        // SAFETY: the address lives through the call and is as long as it says.
        let bound = unsafe { libc::bind(wire.socket.as_raw_fd(), (&raw const address).cast(), size) };
        if bound < 0 { Err(io::Error::last_os_error()) } else { Ok(wire) }
    }

    /// Offloads of the device that merge frames, by the names that `ethtool -K` has for them.
    pub fn offloads(&self) -> Vec<&'static str> {
        let on = |command: u32, bit: u32| {
            let (Ok(socket), mut value) = (socket(libc::AF_INET), [command, 0]) else { return false };
            let mut request = request(&self.name);
            request.ifr_ifru.ifru_data = value.as_mut_ptr().cast();
            ask(&socket, SIOCETHTOOL, &mut request).is_ok() && value[1] & bit != 0
        };
        OFFLOADS.into_iter().filter(|(command, bit, _)| on(*command, *bit)).map(|(.., name)| name).collect()
    }

    /// Whether the device is up.
    pub fn is_up(&self) -> bool {
        let mut request = request(&self.name);
        let asked = socket(libc::AF_INET)
            .and_then(|socket| ask(&socket, libc::SIOCGIFFLAGS as libc::Ioctl, &mut request));
        // SAFETY: a request that succeeded has filled in the flags.
        asked.is_ok() && unsafe { request.ifr_ifru.ifru_flags } & libc::IFF_UP as i16 != 0
    }

    /// The IPv4 address of the device, if it has one.
    pub fn address(&self) -> Option<Ipv4Addr> {
        let mut request = request(&self.name);
        ask(&socket(libc::AF_INET).ok()?, libc::SIOCGIFADDR as libc::Ioctl, &mut request).ok()?;
        // SAFETY: the request has filled in the address, which is one of IPv4 because the socket is.
        let address =
            unsafe { mem::transmute::<libc::sockaddr, libc::sockaddr_in>(request.ifr_ifru.ifru_addr) };
        Some(Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr)))
    }

    /// Frames that were longer than any that are carried.
    pub fn long(&self) -> u64 {
        self.long.get()
    }

    /// The number of frames that arrived faster than they were read, since the last call.
    pub fn overrun(&self) -> io::Result<u64> {
        // SAFETY: the structure is integers only, and the kernel writes at most `size` bytes of it.
        unsafe {
            let mut statistics: libc::tpacket_stats = mem::zeroed();
            let mut size = mem::size_of::<libc::tpacket_stats>() as socklen_t;
            let (file, place) = (self.socket.as_raw_fd(), (&raw mut statistics).cast());
            let got = libc::getsockopt(file, libc::SOL_PACKET, libc::PACKET_STATISTICS, place, &raw mut size);
            if got < 0 { Err(io::Error::last_os_error()) } else { Ok(u64::from(statistics.tp_drops)) }
        }
    }

    fn set<T>(&self, level: c_int, name: c_int, value: &T) -> io::Result<()> {
        let (file, size) = (self.socket.as_raw_fd(), mem::size_of::<T>() as socklen_t);
        // SAFETY: the value lives through the call and is as long as it says; each caller passes the option's type.
        let set = unsafe { libc::setsockopt(file, level, name, std::ptr::from_ref(value).cast(), size) };
        if set < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// A frame's own length, and the kernel's information on it.
    fn take(&self, room: &mut [u8]) -> io::Result<(usize, Aside)> {
        let mut aside = [0_u64; 8];
        // SAFETY: all that the message points to lives through the calls; the kernel fills in at most the announced
        // lengths, and control messages are read within these.
        unsafe {
            let mut part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
            let mut message: libc::msghdr = mem::zeroed();
            message.msg_iov = &raw mut part;
            message.msg_iovlen = 1;
            message.msg_control = aside.as_mut_ptr().cast();
            message.msg_controllen = mem::size_of_val(&aside) as _;
            let length = libc::recvmsg(self.socket.as_raw_fd(), &raw mut message, libc::MSG_TRUNC);
            if length < 0 {
                return Err(io::Error::last_os_error());
            }
            let mut said = Aside::default();
            let head = libc::CMSG_FIRSTHDR(&raw const message);
            if !head.is_null() && (*head).cmsg_type == libc::PACKET_AUXDATA {
                let data: libc::tpacket_auxdata =
                    libc::CMSG_DATA(head).cast::<libc::tpacket_auxdata>().read_unaligned();
                said.unfinished = data.tp_status & libc::TP_STATUS_CSUMNOTREADY != 0;
                let known = data.tp_status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
                let protocol = if known { data.tp_vlan_tpid } else { TAGGED };
                let tagged = data.tp_status & libc::TP_STATUS_VLAN_VALID != 0;
                said.tag = tagged.then_some((protocol, data.tp_vlan_tci));
            }
            Ok((length as usize, said))
        }
    }
}

impl Port for Wire {
    fn receive(&self, room: &mut [u8]) -> io::Result<usize> {
        let (mut length, aside) = self.take(room).map_err(|error| match error.raw_os_error() {
            // Reported once when the device goes down; it may come up again.
            Some(libc::ENETDOWN) => ErrorKind::WouldBlock.into(),
            _ => error,
        })?;
        if length + TAG > room.len() {
            self.long.set(self.long.get() + 1);
            return Err(ErrorKind::Interrupted.into());
        }
        if let Some((protocol, tag)) = aside.tag {
            room.copy_within(ADDRESSES..length, ADDRESSES + TAG);
            room[ADDRESSES..][..2].copy_from_slice(&protocol.to_be_bytes());
            room[ADDRESSES + 2..][..2].copy_from_slice(&tag.to_be_bytes());
            length += TAG;
        }
        if aside.unfinished {
            let frame = &mut room[..length];
            let header = frame::ethernet(frame);
            frame::finish_checksum(&mut frame[header..]);
        }
        Ok(length)
    }

    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        // SAFETY: the bytes live through the call.
        let sent = unsafe {
            libc::send(self.socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT)
        };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn file(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::emulator::LONGEST;
    use crate::namespace::Namespace;

    /// Frames other than the kernel's announcements.
    fn frames(wire: &Wire) -> Vec<Vec<u8>> {
        let mut room = [0; LONGEST];
        let mut frames = Vec::new();
        loop {
            match wire.receive(&mut room) {
                Ok(length) => frames.push(room[..length].to_vec()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}");
                    break;
                }
            }
        }
        frames.retain(|frame| frame[6..12] == [2; 6]);
        frames
    }

    #[test]
    fn frames_arrive_as_they_were_sent_with_their_tags_and_only_at_the_other_end() {
        if let Some(lack) = crate::live::missing(&[]) {
            let _ = io::Write::write_fmt(&mut io::stderr(), format_args!("SKIPPED: {lack}\n"));
            return;
        }
        let tried = Namespace::new().unwrap().run(|| {
            let pair = "ip link add w0 mtu 4000 type veth peer name w1 mtu 4000; ip link set w0 up; ip link set w1 up";
            assert!(Command::new("sh").args(["-ec", pair]).status()?.success());
            let [near, far] = [Wire::open("w0")?, Wire::open("w1")?];
            assert!(near.is_up() && near.address().is_none());
            assert!(Wire::open("w9").is_err_and(|error| error.to_string().contains("`w9`")));
            let frame = |after: &[u8], length: usize| {
                // To another host, which a device receives in promiscuous mode.
                let mut frame = [&[4; 6][..], &[2; 6], after].concat();
                frame.resize(length, 7);
                frame
            };
            let plain = frame(&[0x88, 0xb5], 60);
            let tagged = frame(&[0x81, 0, 0x20, 5, 0x88, 0xb5], 80);
            let service = frame(&[0x88, 0xa8, 0, 9, 0x81, 0, 0, 5, 0x88, 0xb5], 90);
            for one in [&plain, &tagged, &service, &frame(&[0x88, 0xb5], 3000)] {
                near.send(one)?;
            }
            thread::sleep(Duration::from_millis(100));
            assert_eq!(frames(&far), [plain, tagged, service]);
            assert_eq!((far.long(), near.long(), far.overrun()?), (1, 0, 0));
            assert_eq!(frames(&near), Vec::<Vec<u8>>::new(), "what was sent does not come back");
            Ok(())
        });
        tried.unwrap();
    }
}

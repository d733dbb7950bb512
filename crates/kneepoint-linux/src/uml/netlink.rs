// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Messages of routing netlink, as bytes, and a socket to send them.
//!
//! Numbers of interfaces are chosen here and not by the kernel, so every message is known before the instance runs.

use std::io;
use std::mem;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::tun;

/// The first number of a file that is a namespace, in the process that sends messages: namespace n is file NAMESPACES + n.
pub(super) const NAMESPACES: u32 = 1000;

const ACKNOWLEDGED: u16 = (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
const CREATED: u16 = ACKNOWLEDGED | (libc::NLM_F_CREATE | libc::NLM_F_EXCL) as u16;
const PUT: u16 = ACKNOWLEDGED | (libc::NLM_F_CREATE | libc::NLM_F_REPLACE) as u16;
/// Attributes inside an attribute (`NLA_F_NESTED`).
const NESTED: u16 = 1 << 15;

/// The kind, the attributes of an interface inside it, and its peer's.
const INFO_KIND: u16 = 1;
const INFO_DATA: u16 = 2;
const VETH_PEER: u16 = 1;

/// A route's size of packets, inside its metrics.
const ROUTE_MTU: u16 = 2;

/// The address that every device has: on a link without address resolution, frames are addressed to the sender's.
const HARDWARE: [u8; 6] = [2, 0, 0, 0, 0, 1];

/// A message, being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message(Vec<u8>);

impl Message {
    /// A message of this kind, with its fixed part.
    fn new(kind: u16, flags: u16, fixed: &[u8]) -> Message {
        let mut bytes = vec![0; 16];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        bytes.extend_from_slice(fixed);
        Message(bytes)
    }

    /// With an attribute.
    fn with(mut self, kind: u16, value: &[u8]) -> Message {
        self.0.extend_from_slice(&attribute(kind, value));
        self
    }

    /// The whole, with its length.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.0.clone();
        let length = bytes.len() as u32;
        bytes[..4].copy_from_slice(&length.to_ne_bytes());
        bytes
    }

    /// Two devices that are the ends of a cable, each with its number in its namespace. The sender is in that of the first.
    pub(super) fn cable([near, far]: [u32; 2], far_namespace: u32) -> Message {
        let peer = [
            interface(far, 0, 0),
            attribute(libc::IFLA_IFNAME, &name(far)),
            attribute(libc::IFLA_ADDRESS, &HARDWARE),
            attribute(libc::IFLA_NET_NS_FD, &(NAMESPACES + far_namespace).to_ne_bytes()),
        ];
        let data = attribute(VETH_PEER, &peer.concat());
        let info = [attribute(INFO_KIND, b"veth"), attribute(INFO_DATA | NESTED, &data)];
        Message::new(libc::RTM_NEWLINK, CREATED, &interface(near, 0, 0))
            .with(libc::IFLA_IFNAME, &name(near))
            .with(libc::IFLA_ADDRESS, &HARDWARE)
            .with(libc::IFLA_LINKINFO | NESTED, &info.concat())
    }

    /// A device works, without address resolution.
    pub(super) fn up(device: u32) -> Message {
        let flags = (libc::IFF_UP | libc::IFF_NOARP) as u32;
        Message::new(libc::RTM_NEWLINK, ACKNOWLEDGED, &interface(device, flags, flags))
    }

    /// The largest packet that disciplines of a device expect, without its Ethernet header.
    pub(super) fn mtu(device: u32, mtu: u32) -> Message {
        Message::new(libc::RTM_NEWLINK, ACKNOWLEDGED, &interface(device, 0, 0))
            .with(libc::IFLA_MTU, &mtu.to_ne_bytes())
    }

    /// A device has an address.
    pub(super) fn address(device: u32, address: Ipv4Addr) -> Message {
        let mut fixed = vec![libc::AF_INET as u8, 32, 0, 0];
        fixed.extend_from_slice(&device.to_ne_bytes());
        Message::new(libc::RTM_NEWADDR, CREATED, &fixed)
            .with(libc::IFA_LOCAL, &address.octets())
            .with(libc::IFA_ADDRESS, &address.octets())
    }

    /// The route to an address, or the default route, is this device; local packets have the address `source`. The
    /// packet size is the route's, for any MTU of the device.
    pub(super) fn route(to: Option<Ipv4Addr>, device: u32, source: Option<Ipv4Addr>) -> Message {
        let length = if to.is_some() { 32 } else { 0 };
        let (table, protocol) = (libc::RT_TABLE_MAIN, libc::RTPROT_STATIC);
        let mut fixed =
            vec![libc::AF_INET as u8, length, 0, 0, table, protocol, libc::RT_SCOPE_LINK, libc::RTN_UNICAST];
        fixed.extend_from_slice(&0u32.to_ne_bytes());
        let mut message = Message::new(libc::RTM_NEWROUTE, CREATED, &fixed);
        if let Some(to) = to {
            message = message.with(libc::RTA_DST, &to.octets());
        }
        if let Some(source) = source {
            message = message.with(libc::RTA_PREFSRC, &source.octets());
        }
        let size = attribute(ROUTE_MTU, &(tun::MTU as u32).to_ne_bytes());
        message.with(libc::RTA_OIF, &device.to_ne_bytes()).with(libc::RTA_METRICS | NESTED, &size)
    }

    /// A queue discipline at a place of a device, new or with other options.
    pub(super) fn discipline(
        device: u32,
        handle: u32,
        parent: u32,
        kind: &str,
        options: &[Vec<u8>],
    ) -> Message {
        Message::control(libc::RTM_NEWQDISC, PUT, device, [handle, parent], kind, options)
    }

    /// A class of a discipline, new or with other options.
    pub(super) fn class(device: u32, handle: u32, parent: u32, kind: &str, options: &[Vec<u8>]) -> Message {
        Message::control(libc::RTM_NEWTCLASS, PUT, device, [handle, parent], kind, options)
    }

    /// A discipline receives packet sizes that are greater by `overhead`.
    pub(super) fn sized(self, overhead: i32) -> Message {
        // struct tc_sizespec: cell_log, size_log, cell_align, overhead, linklayer, mpu, mtu, tsize
        let mut spec = vec![0; 24];
        spec[4..8].copy_from_slice(&overhead.to_ne_bytes());
        self.with(TCA_STAB | NESTED, &attribute(1, &spec))
    }

    fn control(
        kind: u16,
        flags: u16,
        device: u32,
        [handle, parent]: [u32; 2],
        name: &str,
        options: &[Vec<u8>],
    ) -> Message {
        let fixed: Vec<u8> =
            [0, device, handle, parent, 0].iter().flat_map(|field: &u32| field.to_ne_bytes()).collect();
        let named = Message::new(kind, flags, &fixed).with(TCA_KIND, &[name.as_bytes(), &[0]].concat());
        if options.is_empty() { named } else { named.with(TCA_OPTIONS | NESTED, &options.concat()) }
    }

    /// Asks for all disciplines.
    pub(super) fn disciplines() -> Message {
        let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
        Message::new(libc::RTM_GETQDISC, flags, &[0; 20])
    }
}

const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_STATS2: u16 = 7;
const TCA_STAB: u16 = 8;
const TCA_STATS_QUEUE: u16 = 3;

/// An attribute, padded.
pub(super) fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 + value.len());
    bytes.extend_from_slice(&(4 + value.len() as u16).to_ne_bytes());
    bytes.extend_from_slice(&kind.to_ne_bytes());
    bytes.extend_from_slice(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// The attributes in these bytes.
fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut left = bytes;
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes(left.get(..2)?.try_into().ok()?));
        let kind = u16::from_ne_bytes(left.get(2..4)?.try_into().ok()?);
        let value = left.get(4..length)?;
        left = left.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        Some((kind & !NESTED, value))
    })
}

/// struct ifinfomsg.
fn interface(number: u32, flags: u32, change: u32) -> Vec<u8> {
    let mut fixed = vec![0; 4];
    for field in [number, flags, change] {
        fixed.extend_from_slice(&field.to_ne_bytes());
    }
    fixed
}

fn name(device: u32) -> Vec<u8> {
    format!("e{device}\0").into_bytes()
}

/// Packets that a discipline dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dropped {
    pub(super) device: u32,
    pub(super) parent: u32,
    pub(super) packets: u32,
}

/// A socket of the calling thread's namespace.
pub(super) struct Socket(OwnedFd);

impl Socket {
    pub(super) fn open() -> io::Result<Socket> {
        // SAFETY: the call takes no pointers.
        let socket = unsafe {
            libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_ROUTE)
        };
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and has no other owner.
        let socket = unsafe { OwnedFd::from_raw_fd(socket) };
        // Errors contain the kernel's text, but not the message that caused them.
        for option in [libc::NETLINK_CAP_ACK, libc::NETLINK_EXT_ACK] {
            let on: libc::c_int = 1;
            let size = mem::size_of_val(&on) as libc::socklen_t;
            // SAFETY: the value lives through the call and is as long as it says.
            let set = unsafe {
                let (file, value) = (socket.as_raw_fd(), (&raw const on).cast());
                libc::setsockopt(file, libc::SOL_NETLINK, option, value, size)
            };
            if set < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(Socket(socket))
    }

    /// Sends a message and waits for the kernel's word.
    pub(super) fn say(&self, message: &[u8]) -> io::Result<()> {
        self.send(message)?;
        let answer = self.receive()?;
        let code = answer.get(16..20).and_then(|code| code.try_into().ok()).map_or(-1, i32::from_ne_bytes);
        if code == 0 {
            return Ok(());
        }
        let error = io::Error::from_raw_os_error(-code);
        Err(io::Error::new(
            error.kind(),
            sentence(&answer).map_or(error.to_string(), |said| format!("{error}: {said}")),
        ))
    }

    /// The drops of all disciplines of the namespace.
    pub(super) fn dropped(&self) -> io::Result<Vec<Dropped>> {
        self.send(&Message::disciplines().bytes())?;
        let mut all = Vec::new();
        loop {
            let answer = self.receive()?;
            let mut left = &answer[..];
            while left.len() >= 16 {
                let word =
                    |at: usize| u32::from_ne_bytes([left[at], left[at + 1], left[at + 2], left[at + 3]]);
                let length = (word(0) as usize).clamp(16, left.len());
                match u16::from_ne_bytes([left[4], left[5]]) {
                    kind if kind == libc::NLMSG_DONE as u16 => return Ok(all),
                    kind if kind == libc::NLMSG_ERROR as u16 => return Err(io::ErrorKind::InvalidData.into()),
                    _ if length >= 36 => all.extend(drops(&left[16..length])),
                    _ => {}
                }
                left = left.get(length.next_multiple_of(4)..).unwrap_or(&[]);
            }
        }
    }

    fn send(&self, message: &[u8]) -> io::Result<()> {
        // SAFETY: the bytes live through the call and are as many as it says.
        let sent = unsafe { libc::send(self.0.as_raw_fd(), message.as_ptr().cast(), message.len(), 0) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn receive(&self) -> io::Result<Vec<u8>> {
        let mut room = vec![0u8; 1 << 16];
        // SAFETY: the kernel writes at most as many bytes as there are.
        let got = unsafe { libc::recv(self.0.as_raw_fd(), room.as_mut_ptr().cast(), room.len(), 0) };
        let got = usize::try_from(got).map_err(|_| io::Error::last_os_error())?;
        room.truncate(got);
        Ok(room)
    }
}

/// The kernel's text in an error: it follows the number and the header of the offending message.
fn sentence(answer: &[u8]) -> Option<String> {
    let (_, text) = attributes(answer.get(36..)?).find(|(kind, _)| *kind == 1)?;
    Some(String::from_utf8_lossy(text).trim_end_matches('\0').to_string())
}

/// The drops of the discipline in this message.
fn drops(body: &[u8]) -> Option<Dropped> {
    let word = |bytes: &[u8], at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let (_, statistics) = attributes(&body[20..]).find(|(kind, _)| *kind == TCA_STATS2)?;
    let (_, queue) = attributes(statistics).find(|(kind, _)| *kind == TCA_STATS_QUEUE)?;
    // struct tcmsg, and struct gnet_stats_queue: qlen, backlog, drops
    Some(Dropped { device: word(body, 4)?, parent: word(body, 12)?, packets: word(queue, 8)? })
}

/// Switches off the merging and splitting of segments between TCP and a device of the calling thread's namespace.
pub(super) fn plain(device: u32) -> io::Result<()> {
    /// `ETHTOOL_STXCSUM`, `ETHTOOL_STSO`, `ETHTOOL_SGSO`, `ETHTOOL_SGRO`
    const OFFLOADS: [u32; 4] = [0x17, 0x1f, 0x24, 0x2c];
    let socket = tun::socket(libc::AF_INET)?;
    let mut request = tun::request(&format!("e{device}"));
    for offload in OFFLOADS {
        // struct ethtool_value
        let mut value = [offload, 0];
        request.ifr_ifru.ifru_data = value.as_mut_ptr().cast();
        // SAFETY: the kernel reads the request and the two words that it points to, which live through the call.
        let set =
            unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL as libc::Ioctl, &raw mut request) };
        if set < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_begins_with_its_length_and_its_attributes_are_padded() {
        let message = Message::route(Some(Ipv4Addr::new(10, 2, 0, 1)), 7, None).bytes();
        assert_eq!(message.len(), 16 + 12 + 8 + 8 + 12);
        assert_eq!(message[..4], 56u32.to_ne_bytes());
        let found: Vec<_> = attributes(&message[28..]).collect();
        assert_eq!(
            found,
            [
                (1, &[10, 2, 0, 1][..]),
                (4, &7u32.to_ne_bytes()[..]),
                (8, &attribute(ROUTE_MTU, &1500u32.to_ne_bytes())[..])
            ]
        );
        assert_eq!(attribute(1, b"veth\0").len(), 12);
    }

    #[test]
    fn a_cable_names_both_ends_and_the_namespace_of_the_other() {
        let message = Message::cable([10, 11], 3).bytes();
        let text = String::from_utf8_lossy(&message);
        assert!(text.contains("e10\0") && text.contains("e11\0") && text.contains("veth"), "{text}");
        let namespace = 1003u32.to_ne_bytes();
        assert!(message.windows(4).any(|four| four == namespace));
    }

    #[test]
    fn the_sentence_of_the_kernel_is_read_from_an_error() {
        let mut answer = vec![0; 36];
        assert_eq!(sentence(&answer), None);
        answer.extend(attribute(1, b"Unknown qdisc\0"));
        assert_eq!(sentence(&answer).as_deref(), Some("Unknown qdisc"));
    }

    #[test]
    fn drops_are_read_from_the_statistics_of_a_discipline() {
        let queue: Vec<u8> = [3u32, 4500, 17, 0, 0].iter().flat_map(|word| word.to_ne_bytes()).collect();
        let mut body: Vec<u8> =
            [0u32, 12, 0x20000, 0x10001, 0].iter().flat_map(|word| word.to_ne_bytes()).collect();
        body.extend(attribute(TCA_KIND, b"pfifo\0"));
        body.extend(attribute(TCA_STATS2, &attribute(TCA_STATS_QUEUE, &queue)));
        assert_eq!(drops(&body), Some(Dropped { device: 12, parent: 0x10001, packets: 17 }));
        assert_eq!(drops(&body[..20]), None);
    }
}

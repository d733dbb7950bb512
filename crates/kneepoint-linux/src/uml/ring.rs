// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A ring that the kernel fills with packets of a namespace, each with the time at which it was seen (`TPACKET_V3`).
//!
//! The kernel timestamps packets where it handles them, which takes no time in the instance; a program that reads the
//! clock would advance it.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

/// Blocks are passed on when they are full or this old, in milliseconds.
const OLD_MS: u32 = 4;
const BLOCK: usize = 1 << 18;
const BLOCKS: usize = 16;
/// The kept bytes of a packet.
const KEPT: u32 = 128;

/// A packet in the ring.
pub(super) struct Seen<'r> {
    /// Nanoseconds of CLOCK_REALTIME.
    pub(super) at: u64,
    pub(super) device: u32,
    pub(super) leaving: bool,
    /// The length of the whole packet.
    pub(super) length: u32,
    /// Its first bytes, from the IP header on.
    pub(super) bytes: &'r [u8],
}

/// The ring of a namespace.
pub(super) struct Ring {
    socket: OwnedFd,
    memory: *mut u8,
    next: usize,
}

// SAFETY: the memory belongs to the ring alone, which is used by one thread at a time.
unsafe impl Send for Ring {}

impl Ring {
    /// A ring for every device of the calling thread's namespace.
    pub(super) fn open() -> io::Result<Ring> {
        // Without a protocol it receives nothing until it is complete.
        // SAFETY: the call takes no pointers.
        let socket = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and has no other owner.
        let socket = unsafe { OwnedFd::from_raw_fd(socket) };
        let version = libc::tpacket_versions::TPACKET_V3 as libc::c_int;
        set(&socket, libc::SOL_PACKET, libc::PACKET_VERSION, &version)?;
        // `ret KEPT`: all packets, of each this many bytes.
        let mut filter = libc::sock_filter { code: 0x06, jt: 0, jf: 0, k: KEPT };
        let program = libc::sock_fprog { len: 1, filter: &raw mut filter };
        set(&socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &program)?;
        let request = libc::tpacket_req3 {
            tp_block_size: BLOCK as u32,
            tp_block_nr: BLOCKS as u32,
            tp_frame_size: 2048,
            tp_frame_nr: (BLOCKS * BLOCK / 2048) as u32,
            tp_retire_blk_tov: OLD_MS,
            tp_sizeof_priv: 0,
            tp_feature_req_word: 0,
        };
        set(&socket, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        // SAFETY: a new mapping of the socket's ring, of the requested length.
        let memory = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(ptr::null_mut(), BLOCK * BLOCKS, access, libc::MAP_SHARED, socket.as_raw_fd(), 0)
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let ring = Ring { socket, memory: memory.cast(), next: 0 };
        // SAFETY: zero is a value of every field.
        let mut all: libc::sockaddr_ll = unsafe { mem::zeroed() };
        all.sll_family = libc::AF_PACKET as u16;
        all.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        let size = mem::size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: the address lives through the call and is as long as it says.
        let bound = unsafe { libc::bind(ring.socket.as_raw_fd(), (&raw const all).cast(), size) };
        if bound < 0 { Err(io::Error::last_os_error()) } else { Ok(ring) }
    }

    /// Passes on the kernel's packets, in their order.
    pub(super) fn take(&mut self, mut each: impl FnMut(Seen)) {
        loop {
            // SAFETY: blocks lie one after another in the mapping, aligned to a page.
            let block = unsafe { self.memory.add(self.next * BLOCK) };
            // SAFETY: a block begins with its description, whose status the kernel and we change in turn.
            let (header, status) = unsafe {
                let header = &raw mut (*block.cast::<libc::tpacket_block_desc>()).hdr.bh1;
                (header, AtomicU32::from_ptr(&raw mut (*header).block_status))
            };
            if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
                return;
            }
            // SAFETY: the block is ours now, and the kernel filled in how many packets are where.
            unsafe {
                let count = (*header).num_pkts;
                let mut packet = block.add((*header).offset_to_first_pkt as usize);
                for _ in 0..count {
                    each(seen(packet));
                    packet = packet.add((*packet.cast::<libc::tpacket3_hdr>()).tp_next_offset as usize);
                }
            }
            status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
            self.next = (self.next + 1) % BLOCKS;
        }
    }

    /// Packets that found no room in the ring since the last call.
    pub(super) fn missed(&self) -> io::Result<u32> {
        // struct tpacket_stats_v3: tp_packets, tp_drops, tp_freeze_q_cnt
        let mut counts = [0u32; 3];
        let mut size = mem::size_of_val(&counts) as libc::socklen_t;
        // SAFETY: the kernel writes at most as many bytes as there are.
        let got = unsafe {
            let (file, place) = (self.socket.as_raw_fd(), counts.as_mut_ptr().cast());
            libc::getsockopt(file, libc::SOL_PACKET, libc::PACKET_STATISTICS, place, &raw mut size)
        };
        if got < 0 { Err(io::Error::last_os_error()) } else { Ok(counts[1]) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing refers to it.
        unsafe { libc::munmap(self.memory.cast(), BLOCK * BLOCKS) };
    }
}

/// A packet at its place in a block.
///
/// # Safety
///
/// The packet as the kernel wrote it, valid while it is borrowed.
unsafe fn seen<'r>(packet: *const u8) -> Seen<'r> {
    // SAFETY: the caller says so; a packet's link-layer address follows its header.
    unsafe {
        let header = &*packet.cast::<libc::tpacket3_hdr>();
        let aligned = mem::size_of::<libc::tpacket3_hdr>().next_multiple_of(16);
        let address = &*packet.add(aligned).cast::<libc::sockaddr_ll>();
        let kept = header.tp_snaplen.min(KEPT) as usize;
        Seen {
            at: u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec),
            device: address.sll_ifindex.cast_unsigned(),
            leaving: address.sll_pkttype == libc::PACKET_OUTGOING,
            length: header.tp_len,
            bytes: std::slice::from_raw_parts(packet.add(usize::from(header.tp_net)), kept),
        }
    }
}

fn set<T>(socket: &OwnedFd, level: libc::c_int, name: libc::c_int, value: &T) -> io::Result<()> {
    let size = mem::size_of::<T>() as libc::socklen_t;
    // SAFETY: the value lives through the call and is as long as it says.
    let done =
        unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, ptr::from_ref(value).cast(), size) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

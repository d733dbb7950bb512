// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The script for a kernel socket.

use kneepoint::units::Span;

/// Payload of a full segment, which the peer's SYN announces.
pub const MSS: u32 = 1000;

/// A connection: the application's writes, the path, the receiver, and the faults.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The seed of the jitter.
    pub seed: u64,
    /// The congestion control of the kernel's socket.
    pub controller: String,
    /// The peer asks for selective acknowledgements.
    pub sack: bool,
    /// The peer asks for timestamps.
    pub timestamps: bool,
    /// The peer asks for congestion notification.
    pub ecn: bool,
    /// The kernel reduces its window after an idle period (`tcp_slow_start_after_idle`).
    pub restart_after_idle: bool,
    /// The power of two by which the peer's windows are scaled.
    pub scale: u8,
    /// Bytes that the peer offers at first.
    pub window: u32,
    /// The time from a segment's departure to the arrival of its acknowledgement.
    pub rtt: Span,
    /// An additional random delay up to this much, in order.
    pub jitter: Span,
    /// The time that a full segment takes at the bottleneck; none for a path without one.
    pub spacing: Span,
    /// Segments that wait there at most.
    pub queue: u32,
    /// The peer acknowledges every n-th segment in order.
    pub every: u32,
    /// The delay of the n-th.
    pub patience: Span,
    /// The application's writes and their times, from the arrival of the SYN.
    pub writes: Vec<Write>,
    /// The impairments of the path.
    pub impairments: Vec<Impairment>,
    /// The latest end of the script.
    pub until: Span,
}

/// A call of the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// The time from the arrival of the SYN; not before the connection is accepted.
    pub at: Span,
    /// Bytes.
    pub bytes: u32,
}

/// The n-th transmission of a segment. Segments count from zero by sequence number in units of [`MSS`]; transmissions, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Transmission {
    /// The segment.
    pub segment: u32,
    /// The number of its transmission.
    pub nth: u32,
}

/// A disturbance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Impairment {
    /// The segment is lost.
    Loss(Transmission),
    /// It arrives this much later than others, which overtake it.
    Late(Transmission, Span),
    /// It arrives a second time, this much later.
    Twice(Transmission, Span),
    /// A queue marks it.
    Mark(Transmission),
    /// The n-th acknowledgement is lost.
    LostAck(u32),
    /// It arrives this much later than others.
    LateAck(u32, Span),
    /// From a time on, the peer has room for this many bytes.
    Window(Span, u32),
}

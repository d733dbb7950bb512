// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Signals to a controller: acknowledgements, losses, timeouts, marks, advice, and sizes that the host sets.

use super::Any;
use crate::rng::Rng;
use crate::units::{PacketRate, Span, Time};

/// An acknowledgement arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// The time.
    pub now: Time,
    /// The round-trip time it measures, where it measures one.
    pub rtt: Option<Span>,
    /// The time from sender to receiver that it measures, where it measures one: the receiver's clock less the
    /// sender's (RFC 7323 TSval less TSecr). The clocks may differ by an unknown constant.
    pub one_way: Option<Span>,
    /// Packets newly acknowledged in order; zero for a duplicate.
    pub acked: u32,
    /// Packets known to have arrived, in order or not. Packets that the sender forgets at a timeout stay counted.
    pub delivered: u64,
    /// Packets retransmitted so far.
    pub resent: u64,
    /// Marked packets according to this acknowledgement: for [`Marks`](super::Marks) that are echoed one by one, else
    /// zero.
    pub marked: u32,
    /// Packets by which this acknowledgement may grow the window: `acked` up to the host's limit per
    /// acknowledgement, and zero while something other than the window limits the sender or losses are repaired.
    pub credit: f64,
    /// Whether the sender had nothing more to send: neither its window nor its pace held it back.
    pub limited: bool,
    /// The first packet not yet acknowledged in order.
    pub una: u64,
    /// The next packet never sent so far.
    pub next: u64,
    /// Packets outstanding, as the host's recovery counts them.
    pub in_flight: u32,
    /// Whether losses are being repaired.
    pub recovering: bool,
}

/// Packets were lost: once per episode, when the host begins to repair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// The time.
    pub now: Time,
    /// The base of a reduction: the usable part of the window, or the outstanding packets (RFC 5681 §3.1), depending on
    /// the host.
    pub flight: f64,
    /// The first packet not yet acknowledged in order.
    pub una: u64,
    /// The next packet never sent so far: the episode ends when it is acknowledged.
    pub next: u64,
}

/// The retransmission timer expired: nothing counts as in flight from here.
///
/// Tahoe's fast retransmit, which also starts over from one packet, sends this signal after [`Loss`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timeout {
    /// The time.
    pub now: Time,
    /// Packets that a reduction starts from, as in [`Loss`].
    pub flight: f64,
    /// Whether the loss was already reported, so that the threshold must not fall again.
    pub reported: bool,
    /// The next packet never sent so far.
    pub next: u64,
}

/// The receiver echoed a congestion mark: at most once per window of data (RFC 3168 §6.1.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ecn {
    /// The time.
    pub now: Time,
    /// Packets that a reduction starts from, as in [`Loss`].
    pub flight: f64,
    /// The next packet never sent so far.
    pub next: u64,
}

/// The host sets the window and the slow-start threshold itself: a reduction proved needless and is undone (RFC 4015 §4,
/// RFC 5682 §3, RFC 3708 §3), or the connection was idle or did not use its window (RFC 2861 §3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resize {
    /// The time.
    pub now: Time,
    /// The window from now on, in packets.
    pub window: f64,
    /// The slow-start threshold from now on, in packets.
    pub threshold: f64,
    /// Why.
    pub cause: Cause,
}

/// Settings of a controller that a host may change.
#[derive(Debug)]
pub struct Sizes<'a> {
    /// Its window in packets.
    pub window: &'a mut f64,
    /// Its slow-start threshold in packets.
    pub threshold: &'a mut f64,
}

/// The reason why a host sets the window itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The congestion signal was spurious.
    Undo,
    /// The connection was idle, or did not use its window.
    Idle,
    /// After a timeout some packets are still in flight: the window is the restart window plus these packets.
    Timeout,
}

/// The network advised the sender: before the [`Ack`] that carried the advice, or with which it was learned.
#[derive(Clone, Copy, Debug)]
pub struct Advised {
    /// The time.
    pub now: Time,
    /// The advice.
    pub advice: Advice,
}

/// Explicit feedback from the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Advice {
    /// The rate that the path allows.
    Rate(PacketRate),
    /// Packets by which the window should change.
    Change(f64),
}

/// A host's signal to a controller, as a value, to be kept and replayed to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Signal {
    /// An acknowledgement, and the number from 0 and below 1 that the controller may draw.
    Ack(Ack, f64),
    /// A loss.
    Loss(Loss),
    /// A timeout.
    Timeout(Timeout),
    /// A mark.
    Ecn(Ecn),
    /// Sizes that the host sets.
    Resize(Resize),
    /// Sending begins again.
    Resume {
        /// The time.
        now: Time,
        /// The time for which nothing was in flight.
        idle: Span,
    },
}

impl Signal {
    /// Tells it to a controller. Whether that yields to early congestion: a host then sends [`Signal::Ecn`].
    #[inline]
    pub fn tell(&self, controller: &mut Any) -> bool {
        match self {
            Signal::Ack(ack, draw) => {
                controller.on_ack(ack, &mut Rng::drawing(*draw));
                return controller.yields();
            }
            Signal::Loss(loss) => controller.on_loss(loss),
            Signal::Timeout(timeout) => controller.on_timeout(timeout),
            Signal::Ecn(ecn) => controller.on_ecn(ecn),
            Signal::Resize(resize) => controller.on_resize(resize),
            Signal::Resume { now, idle } => controller.on_resume(*now, *idle),
        }
        false
    }
}

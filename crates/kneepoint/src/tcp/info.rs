// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The state of a sender as a program on its host can ask for it (Linux `TCP_INFO`).

use crate::units::Span;

/// The state of congestion control, as Linux names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CongestionState {
    /// Nothing is missing.
    #[default]
    Open,
    /// Something arrived out of order, and nothing is lost as far as is known.
    Disorder,
    /// The window comes down after a mark.
    Cwr,
    /// Losses are repaired, and the window comes down.
    Recovery,
    /// The retransmission timer expired.
    Loss,
}

/// The state of a sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info {
    /// The state of congestion control.
    pub state: CongestionState,
    /// The congestion window in packets.
    pub window: u32,
    /// The slow-start threshold in packets; none before the first loss.
    pub threshold: Option<u32>,
    /// Segments sent and not acknowledged in order.
    pub unacked: u32,
    /// Those of them that were received out of order.
    pub sacked: u32,
    /// Those of them that are lost, as far as is known.
    pub lost: u32,
    /// Retransmissions on their way.
    pub retransmitted: u32,
    /// Retransmissions so far.
    pub total_retransmitted: u32,
    /// The reordering degree: segments by which one may be late without being lost.
    pub reordering: u32,
    /// The smoothed round-trip time.
    pub srtt: Span,
    /// Its variation, a quarter of what the timeout adds to it.
    pub rttvar: Span,
    /// The retransmission timeout.
    pub timeout: Span,
    /// Segments known to have arrived.
    pub delivered: u64,
}

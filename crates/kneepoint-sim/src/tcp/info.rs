// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The state of a sender in the terms of Linux's TCP_INFO.

use crate::units::Span;

crate::choice! {
    /// The congestion state of a sender, in Linux's terms and order.
    pub enum CongestionState {
        /// Nothing is missing.
        Open = "Open",
        /// A packet arrived out of order, or twice.
        Disorder = "Disorder",
        /// A mark reduces the window.
        Cwr = "CWR",
        /// Losses are repaired.
        Recovery = "Recovery",
        /// The retransmission timer expired.
        Loss = "Loss",
    }
}

/// The state of a sender. Counts are in segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// The congestion state.
    pub state: CongestionState,
    /// The congestion window (`snd_cwnd`).
    pub window: u32,
    /// The slow-start threshold; none while it is infinite (`snd_ssthresh`).
    pub threshold: Option<u32>,
    /// Sent and not acknowledged in order (`packets_out`).
    pub unacked: u32,
    /// Of these, received out of order (`sacked_out`).
    pub sacked: u32,
    /// Of these, taken for lost (`lost_out`).
    pub lost: u32,
    /// Of these, retransmitted (`retrans_out`).
    pub retransmitted: u32,
    /// All retransmissions so far (`total_retrans`).
    pub total_retransmitted: u32,
    /// The degree of reordering up to which nothing counts as lost (`reordering`).
    pub reordering: u32,
    /// The smoothed round-trip time; zero before the first sample.
    pub srtt: Span,
    /// Its mean deviation.
    pub rttvar: Span,
    /// The retransmission timeout (`rto`).
    pub timeout: Span,
    /// Known to have arrived so far (`delivered`).
    pub delivered: u64,
    /// Of these, marked, where the receiver counts them (`delivered_ce`); and their bytes (`delivered_ce_bytes`).
    pub marked: (u32, u32),
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A sender that does not choose what it sends: a capture says it, and the controller learns what it would have learned there.
//!
//! Only senders whose recovery goes by time follow a capture. An acknowledgement is taken in as any other; what was sent in answer to it
//! is imposed; [`rest`](Sender::rest) ends the answer.

use std::sync::Arc;

use super::{Phase, Sender};
use crate::cc::{Cause, Control};
use crate::tcp::CongestionState;
use crate::units::{PacketRate, Time};

/// Where a sender stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// What controller and recovery permit.
    pub control: Control,
    /// Packets in flight, as the recovery counts them.
    pub in_flight: u32,
    /// The state of congestion control.
    pub state: CongestionState,
    /// The segment up to which all has to arrive for the last recovery to end: another one for each reduction.
    pub point: u32,
}

impl Sender {
    /// The SYN left: its answer opens the connection.
    pub fn impose_opening(&mut self) {
        if let Phase::Opening { sent, .. } = &mut self.phase {
            *sent = true;
        }
    }

    /// Another sender sent segment `seq` now; `heard` is when the last acknowledgement arrived.
    pub fn impose(&mut self, seq: u32, heard: Time, now: Time) {
        if matches!(self.phase, Phase::Opening { .. }) {
            self.phase = Phase::Open;
        }
        self.pass(now);
        if let Some((rack, mut host)) = self.lend(now) {
            rack.impose(seq, heard, &mut host);
        }
        self.follow();
    }

    /// Blocks of acknowledgements are derived, and measure no round trips: they would find too short ones.
    pub fn ignore_times_of_blocks(&mut self) {
        if let Some(rack) = &mut self.rack {
            rack.ignore_times_of_blocks();
        }
    }

    /// The other sender has no retransmission timeout, as QUIC's has none (RFC 9002 §6.2): what it sends once more, it took for lost.
    pub fn never_expires(&mut self) {
        if let Some(rack) = &mut self.rack {
            rack.never_expires();
        }
    }

    /// Time passes: what is missing may be lost by now.
    pub fn pass(&mut self, now: Time) {
        if let Some((rack, mut host)) = self.lend(now) {
            rack.judge_by_time(&mut host);
        }
        self.follow();
    }

    /// Nothing more was sent for now.
    pub fn rest(&mut self, now: Time) {
        if let Some((rack, mut host)) = self.lend(now) {
            rack.rest(&mut host);
        }
        self.follow();
    }

    /// Sets by how many packets the next acknowledgement may grow the window at most, where it is in congestion avoidance.
    pub fn limit_growth(&mut self, packets: f64) {
        let threshold = self.controller.threshold().unwrap_or(f64::INFINITY);
        let most = if self.control.window < threshold { f64::INFINITY } else { packets };
        Arc::make_mut(&mut self.options).growth_per_ack = most;
    }

    /// The other sender's window was seen to be this: this one goes on from there, in avoidance if `avoids` or its own window is beyond its
    /// threshold.
    pub fn anchor(&mut self, window: f64, avoids: bool, now: Time) {
        if let Some((_, mut host)) = self.lend(now) {
            let threshold = host.threshold();
            let threshold = if avoids { threshold.min(window) } else { threshold };
            host.resize(window, threshold, Cause::Idle);
        }
    }

    /// The other sender's window was this, and it was reduced once more in an episode of loss: QUIC's recovery begins anew with the loss of a packet that
    /// left after the last reduction, and lasts until one is acknowledged that leaves after this one (RFC 9002 §7.3.2).
    pub fn reduce_again(&mut self, window: f64, now: Time) {
        self.anchor(window, false, now);
        if let Some((rack, mut host)) = self.lend(now) {
            rack.reduce_again(&mut host);
        }
        self.follow();
    }

    /// Segments that its host sends together at a pace.
    pub fn unit(&self, pace: PacketRate) -> u32 {
        crate::tcp::rack::unit_at(pace, self.options.payload)
    }

    /// Where it stands. Without recovery by time, packets in flight are those outstanding.
    pub fn standing(&self) -> Standing {
        let rack = self.rack.as_deref();
        Standing {
            control: self.control,
            in_flight: rack.map_or(self.high - self.una, crate::tcp::rack::Rack::pipe),
            state: rack.map_or(CongestionState::Open, crate::tcp::rack::Rack::state),
            point: rack.map_or(0, crate::tcp::rack::Rack::point),
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reported state of a sender, and its memory.

use super::{Phase, Sender};
use crate::tcp::info::{CongestionState, Info};
use crate::tcp::rack::Rack;
use crate::tcp::{Options, Recovery};
use crate::units::Time;

impl Sender {
    /// Bytes on the heap of a sender with these options.
    pub fn history(options: &Options) -> usize {
        if options.recovery == Recovery::Rack { size_of::<Rack>() } else { 0 }
    }

    /// Bytes that it and its receiver keep of a segment outstanding.
    pub fn segment(options: &Options) -> usize {
        // A bit in the sets of each of them, in rings that may have twice the room.
        let bits = size_of::<u8>();
        if options.recovery == Recovery::Rack { bits + Rack::SEGMENT } else { bits }
    }

    /// Its bytes on the heap now.
    pub fn footprint(&self) -> usize {
        Sender::history(&self.options) + self.outstanding() as usize * Sender::segment(&self.options)
    }

    /// Its state in the terms of TCP_INFO. The threshold and the mean deviation of round-trip times are the controller's, where it
    /// shows them.
    pub fn info(&mut self) -> Info {
        let marked = self.count.map_or((0, 0), |count| count.marked());
        if let Some((rack, mut host)) = self.lend(Time::ZERO) {
            return Info { marked, ..rack.info(&mut host) };
        }
        let (sacked, unacked) = (self.board.len(), self.high - self.una);
        let threshold = self.controller.threshold().filter(|threshold| threshold.is_finite());
        Info {
            state: self.congestion_state(sacked),
            window: self.control.window as u32,
            threshold: threshold.map(|threshold| threshold as u32),
            unacked,
            sacked: sacked.max(self.duplicates.min(unacked.saturating_sub(1))),
            lost: 0,
            retransmitted: 0,
            total_retransmitted: self.resent,
            reordering: self.options.dupthresh,
            srtt: self.rtt.smoothed(),
            rttvar: self.rtt.variation(),
            timeout: self.rtt.timeout(),
            delivered: u64::from(self.delivered),
            marked,
        }
    }

    fn congestion_state(&self, sacked: u32) -> CongestionState {
        match self.phase {
            Phase::Recovery => CongestionState::Recovery,
            Phase::Restart => CongestionState::Loss,
            _ if self.prr.is_some() => CongestionState::Cwr,
            _ if sacked > 0 || self.duplicates > 0 => CongestionState::Disorder,
            _ => CongestionState::Open,
        }
    }
}

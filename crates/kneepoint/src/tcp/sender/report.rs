// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a sender says of itself.

use super::{Phase, Sender};
use crate::tcp::info::{CongestionState, Info};

impl Sender {
    /// Its state in the terms of TCP_INFO. The threshold and the mean deviation of round-trip times are those of the controller, where
    /// it shows them.
    pub fn info(&self) -> Info {
        let sacked = self.rack.as_ref().map_or(self.board.len(), |rack| rack.sacked());
        let unacked = self.high - self.una;
        let retransmitted = self.rack.as_ref().map_or(0, |rack| rack.resent());
        // Linux counts those that were sent again as lost until they arrive.
        let lost = self.rack.as_ref().map_or(0, |rack| unacked - sacked - rack.pipe() + retransmitted);
        Info {
            state: self.congestion_state(sacked),
            window: self.control.window as u32,
            threshold: self.threshold(),
            unacked,
            sacked: sacked.max(self.duplicates.min(unacked.saturating_sub(1))),
            lost,
            retransmitted,
            total_retransmitted: self.resent,
            reordering: self.options.dupthresh,
            srtt: self.rtt.smoothed(),
            rttvar: self.rtt.deviation(),
            timeout: self.rtt.timeout(),
            delivered: u64::from(self.delivered),
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

    fn threshold(&self) -> Option<u32> {
        let state = self.controller.state();
        let named = state.iter().find(|(name, _)| name.starts_with("ssthresh"));
        named
            .map(|(_, value)| *value)
            .filter(|value| value.is_finite() && *value < 1e9)
            .map(|value| value as u32)
    }
}

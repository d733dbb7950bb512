// SPDX-License-Identifier: Apache-2.0 OR MIT
//! BBR's window: towards its target, and in recovery and ProbeRTT.

use super::State;
use super::phases::Mode;
use crate::cc::Ack;
use crate::cc::delivery::Sample;

impl State {
    pub(super) fn save_window(&mut self) {
        let alone = self.repair.is_none() && !matches!(self.mode, Mode::ProbeRtt { .. });
        self.prior_window = if alone { self.window } else { self.prior_window.max(self.window) };
    }

    pub(super) fn set_window(&mut self, ack: &Ack, sample: &Sample) {
        if self.linux.is_some() && sample.newly == 0.0 {
            return self.bound_window();
        }
        if self.repair.is_some_and(|end| ack.una >= end) {
            self.repair = None;
            self.conserves = false;
            self.window = self.window.max(self.prior_window);
        }
        self.conserves &= !sample.round;
        if ack.recovering || self.linux.is_some() {
            self.window = (self.window - sample.lost).max(1.0);
        }
        if self.conserves {
            self.window = self.window.max(self.in_flight + sample.newly);
        } else {
            let gain = if self.filled() && self.mode != Mode::Drain {
                self.params.cwnd_gain
            } else {
                self.params.startup_gain
            };
            let target = match &self.linux {
                Some(linux) => self.linux_target(gain, self.extra(linux)),
                None => self.draft_target(gain),
            };
            if self.filled() {
                self.window = (self.window + sample.newly).min(target);
            } else if self.window < target || (self.delivery.delivered() as f64) < self.initial_window {
                self.window += sample.newly;
            }
            self.window = self.window.max(self.params.min_window);
        }
        self.bound_window();
    }

    /// In ProbeRTT.
    fn bound_window(&mut self) {
        if matches!(self.mode, Mode::ProbeRtt { .. }) {
            self.window = self.window.min(self.params.min_window);
        }
    }
}

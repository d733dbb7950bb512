// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Undo: what a repair changed is restored when its losses turn out to be none.
//!
//! draft-ietf-ccwg-bbr-06 §5.5.11.

use super::State;
use super::bounds::Bounds;
use super::phases::Mode;

/// What was so before a repair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    bounds: Bounds,
    /// The state that losses ended, if they did: Startup or Up.
    pub ended: Option<Mode>,
}

impl Undo {
    pub fn new() -> Undo {
        Undo { bounds: Bounds::new(), ended: None }
    }
}

impl State {
    /// A repair begins.
    pub(super) fn save(&mut self) {
        self.save_window();
        self.undo = Undo { bounds: self.bounds, ended: None };
    }

    /// No packet of the repair was lost.
    pub(super) fn restore(&mut self) {
        self.window = self.window.max(self.prior_window);
        self.repair = None;
        self.model.lost = 0.0;
        self.model.watch_growth(0.0);
        self.bounds.raise(&self.undo.bounds);
        let probing = matches!(self.mode, Mode::ProbeRtt(..));
        match self.undo.ended.take() {
            Some(Mode::Startup) if self.mode != Mode::Startup => {
                self.filled = false;
                if !probing {
                    self.mode = Mode::Startup;
                }
            }
            Some(Mode::Up) if self.mode != Mode::Up && !probing => self.refill(),
            _ => {}
        }
    }
}

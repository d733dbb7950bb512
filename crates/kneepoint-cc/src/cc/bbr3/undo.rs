// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Undo: changes of a recovery episode are reverted when its losses turn out to be spurious.
//!
//! draft-ietf-ccwg-bbr-06 §5.5.11.

use super::State;
use super::bounds::Bounds;
use super::phases::Mode;

/// The state before a recovery episode.
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
    /// A recovery episode begins.
    pub(super) fn save(&mut self) {
        self.save_window();
        self.undo = Undo { bounds: self.bounds, ended: None };
    }

    /// No packet of the recovery episode was lost.
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

#[cfg(test)]
mod tests {
    use super::super::Bbr3;
    use super::Mode;
    use crate::cc::delivery::tests::Path;
    use crate::cc::{Cause, Controller, Resize, Start};
    use crate::units::Span;

    /// Eight packets count as lost while it probes, and none was: 101 packets in flight are safe after all.
    #[test]
    fn a_repair_that_was_none_leaves_window_bounds_and_phase_as_they_were() {
        let fresh = Bbr3::new(Default::default(), Start::new(10.0));
        let mut path = Path::new(fresh, 1000.0, Span::from_millis(100));
        path.until(|path| path.controller.0.mode == Mode::Up);
        let before = path.window();
        path.lose(8);
        path.until(|path| path.controller.0.mode == Mode::Down);
        assert!(path.controller.0.bounds.inflight_hi.is_finite());
        let undone = Resize { now: path.now, window: before, threshold: f64::INFINITY, cause: Cause::Undo };
        path.controller.on_resize(&undone);
        let state = &path.controller.0;
        assert_eq!((state.mode, state.bounds.inflight_hi), (Mode::Refill, f64::INFINITY));
        assert!(path.window() >= before, "{} {before}", path.window());
        path.until(|path| path.controller.0.mode == Mode::Up);
    }
}

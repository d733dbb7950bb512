// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The window that a sender logged, and its falls: a loss reduces it and the suspect's window, the one before the other.

use std::iter::Peekable;

/// A logged window below this part of the one before was reduced.
const FALLEN: f64 = 0.9;

/// What the falls of the logged window and the losses that the suspect sees still lack.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lacks {
    Nothing,
    /// The window fell in this round trip or, if `late`, in the one before; the suspect has not seen why.
    Loss {
        late: bool,
    },
    /// The suspect saw a loss, and the window did not fall yet.
    Fall,
}

/// The window that a sender logged; none in a capture.
#[derive(Clone, Copy, Debug)]
pub struct Logged {
    window: Option<f64>,
    lacks: Lacks,
}

impl Logged {
    /// Nothing was logged yet.
    pub fn new() -> Logged {
        Logged { window: None, lacks: Lacks::Nothing }
    }

    /// The last one, in packets.
    pub fn window(&self) -> Option<f64> {
        self.window
    }

    /// Whether the window fell, and the suspect has not seen why.
    pub fn lacks_loss(&self) -> bool {
        matches!(self.lacks, Lacks::Loss { .. })
    }

    /// Takes the windows that were logged before a step; returns the one from which they fell.
    pub fn read<'w>(
        &mut self,
        windows: &mut Peekable<impl Iterator<Item = &'w (usize, f64)>>,
        step: usize,
    ) -> Option<f64> {
        let mut fell = None;
        while let Some((_, window)) = windows.next_if(|(after, _)| *after <= step) {
            fell = self.window.filter(|before| *window < FALLEN * before).or(fell);
            self.window = Some(*window);
        }
        fell
    }

    /// The window fell: for a loss that the suspect saw, or will see, or once more while it repairs losses. Returns whether once more.
    pub fn fall(&mut self, repairs: bool) -> bool {
        match self.lacks {
            Lacks::Fall => self.lacks = Lacks::Nothing,
            _ if repairs => return true,
            _ => self.lacks = Lacks::Loss { late: false },
        }
        false
    }

    /// After a step in which a recovery of the suspect `began` or did not; whether it repairs losses now.
    pub fn follow(&mut self, began: bool, repairs: bool) {
        self.lacks = match self.lacks {
            Lacks::Loss { .. } if began => Lacks::Nothing,
            _ if began => Lacks::Fall,
            Lacks::Fall if !repairs => Lacks::Nothing,
            same => same,
        };
    }

    /// A round trip ended. After two of them, the window fell for another reason.
    pub fn end_round(&mut self) {
        self.lacks = match self.lacks {
            Lacks::Loss { late: false } => Lacks::Loss { late: true },
            Lacks::Loss { late: true } => Lacks::Nothing,
            same => same,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fall_and_a_loss_are_one_whichever_comes_first_and_a_further_fall_is_another() {
        let mut first = Logged::new();
        assert!(!first.fall(false) && first.lacks_loss());
        first.follow(true, true);
        assert!(!first.lacks_loss() && first.fall(true));
        let mut after = Logged::new();
        after.follow(true, true);
        assert!(!after.fall(true) && after.fall(true));
        // The recovery ended and began again with one acknowledgement: the next fall is that one's.
        after.follow(true, true);
        assert!(!after.fall(true));
    }

    #[test]
    fn a_fall_without_a_loss_is_forgotten_after_two_round_trips_and_a_loss_without_a_fall_after_its_repair() {
        let mut logged = Logged::new();
        assert!(!logged.fall(false));
        logged.end_round();
        assert!(logged.lacks_loss());
        logged.end_round();
        assert!(!logged.lacks_loss());
        logged.follow(true, true);
        logged.follow(false, false);
        assert!(!logged.fall(false) && logged.lacks_loss());
    }

    #[test]
    fn windows_are_read_up_to_a_step() {
        let all = [(0, 40.0), (3, 41.5), (4, 30.0), (9, 29.0)];
        let (mut logged, mut windows) = (Logged::new(), all.iter().peekable());
        assert_eq!((logged.read(&mut windows, 3), logged.window()), (None, Some(41.5)));
        assert_eq!((logged.read(&mut windows, 5), logged.window()), (Some(41.5), Some(30.0)));
        assert_eq!((logged.read(&mut windows, 9), logged.window()), (None, Some(29.0)));
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! LEDBAT++: LEDBAT on round trips that decreases in proportion to its window, and pauses at times to see the path without its own queue.
//!
//! P. Balasubramanian, O. Ertugay, D. Havey, M. Bagnulo, "LEDBAT++: Congestion Control for Background Traffic", draft-irtf-iccrg-ledbat-plus-plus-06, §4.
//!
//! ```text
//! GAIN = 1 / min(16, ceil(2 TARGET / base))                                               §4.2
//! slow start:      W += GAIN per packet acknowledged, up to S; the first one ends at q > 3/4 TARGET   §4.1
//! beyond it, per round trip:
//!   q <= TARGET:   W += GAIN
//!   q >  TARGET:   W += max(GAIN - CONSTANT W (q / TARGET - 1), -W/2)                     §4.3
//! slowdown:        S = W, W = 2 for two round trips, then slow start up to S              §4.4
//!   the first one two round trips after the first slow start, the next ones nine times the
//!   length of the one before after its end
//! loss: W = S = F/2                timeout: S = F/2, W = 1, slow start
//! ```
//!
//! `W` window, `S` slow-start threshold, `F` flight at the loss (RFC 5681 §3.1): packets; `base`, `q` base and queueing delay of round trips, as in RFC 6817. TARGET = 60 ms,
//! CONSTANT = 1. A slowdown takes at most a tenth of the time, and newcomers measure a base delay without the queue of the others.
//!
//! Readings: the rules come from implementations that cite the draft's sections; its own text was not at hand. Rules for a round trip are
//! applied to each acknowledgement in its part, acked / W. A round trip is the smoothed one (RFC 6298). A slowdown is over when the window is
//! back at S, or when a loss ends it before; a loss puts off a slowdown that is due in less than two round trips.

use alloc::vec::Vec;

use super::base_delay::BaseDelay;
use super::delay::Delay;
use super::{Ack, Control, Controller, Loss, Sizes, Start, Timeout};
use crate::rng::Rng;
use crate::units::{Span, Time};

crate::settings! {
    /// LEDBAT++'s parameters.
    pub struct Params {
        /// The queueing delay that it adds at most.
        target: Span = Span::from_millis(60), Span::from_micros(1)..=Span::from_secs(10);
        /// The part of the window by which a queue of twice the target reduces it in a round trip, before the limit of a half.
        constant: f64 = 1.0, 0.0..=100.0;
        /// The greatest divisor of the gain: paths far shorter than the target get no smaller one.
        max_divisor: f64 = 16.0, 1.0..=1000.0;
        /// The part of the target at which the first slow start ends.
        exit: f64 = 0.75, 0.01..=10.0;
        /// Time between two slowdowns, in lengths of the first of them; 0 for none.
        spacing: f64 = 9.0, 0.0..=1000.0;
        /// Samples whose least is the current delay.
        current_filter: u32 = 4, 1..=1000;
        /// Minutes whose least is the base delay.
        base_history: u32 = 10, 1..=1000;
        /// The window of a slowdown, in packets.
        min_window: f64 = 2.0, 1.0..=100.0;
    }
}

/// Round trips between the end of the first slow start and the first slowdown, and for which a slowdown holds the window.
const PAUSE: u64 = 2;

/// The course of slowdowns.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Course {
    /// The first slow start.
    First,
    /// A slowdown begins at this time.
    Due(Time),
    /// The window is held until the second time, in a slowdown that began at the first.
    Held(Time, Time),
    /// It grows back in a slowdown that began at this time.
    Back(Time),
    /// None follows.
    Over,
}

/// A LEDBAT++ controller.
#[derive(Clone, Debug)]
pub struct LedbatPp {
    params: Params,
    window: f64,
    threshold: f64,
    delays: BaseDelay,
    rtt: Delay,
    course: Course,
}

impl LedbatPp {
    fn gain(&self) -> f64 {
        let base = self.delays.base().0 as f64;
        if base == 0.0 {
            return 1.0;
        }
        1.0 / libm::ceil(2.0 * self.params.target.0 as f64 / base).clamp(1.0, self.params.max_divisor)
    }

    /// q / TARGET.
    fn fullness(&self) -> f64 {
        self.delays.queueing().0 as f64 / self.params.target.0 as f64
    }

    fn pause(&self) -> Span {
        self.rtt.smoothed() * PAUSE
    }

    /// Growth and decrease by one acknowledgement.
    fn steer(&mut self, ack: &Ack) {
        let fullness = self.fullness();
        if self.window < self.threshold {
            self.window = (self.window + self.gain() * ack.credit).min(self.threshold);
        } else if fullness <= 1.0 {
            self.window += self.gain() * ack.credit / self.window;
        } else {
            let less = self.params.constant * self.window * (fullness - 1.0);
            let change = (self.gain() - less).max(-self.window / 2.0);
            let acked = if change > 0.0 { ack.credit } else { f64::from(ack.acked) };
            self.window = (self.window + change * acked / self.window).max(self.least());
        }
    }

    /// The least window of a decrease.
    fn least(&self) -> f64 {
        self.params.min_window.min(self.window)
    }

    /// Begins and ends slow starts and slowdowns.
    fn advance(&mut self, now: Time) {
        match self.course {
            Course::First if self.fullness() > self.params.exit => self.threshold = self.window,
            Course::Due(at) if now >= at => {
                self.threshold = self.window;
                self.window = self.least();
                self.course = Course::Held(now, now + self.pause());
            }
            Course::Held(began, until) if now >= until => self.course = Course::Back(began),
            _ => {}
        }
        if self.window >= self.threshold {
            self.end(now);
        }
    }

    /// A slow start is over.
    fn end(&mut self, now: Time) {
        let wait = match self.course {
            Course::First if self.params.spacing > 0.0 => self.pause(),
            Course::First => {
                self.course = Course::Over;
                return;
            }
            Course::Held(began, _) | Course::Back(began) => {
                Span((now.since(began).0 as f64 * self.params.spacing) as u64)
            }
            Course::Due(_) | Course::Over => return,
        };
        self.course = Course::Due(now + wait);
    }
}

impl Controller for LedbatPp {
    type Params = Params;

    fn new(params: Params, start: Start) -> LedbatPp {
        LedbatPp {
            window: start.initial_window,
            threshold: start.initial_ssthresh,
            delays: BaseDelay::new(params.current_filter, params.base_history),
            rtt: Delay::new(0.875),
            course: Course::First,
            params,
        }
    }

    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        if let Some(rtt) = ack.rtt {
            self.delays.observe(rtt, ack.now);
            self.rtt.observe(rtt);
        }
        if !matches!(self.course, Course::Held(..)) {
            self.steer(ack);
        }
        self.advance(ack.now);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.window = (loss.flight / 2.0).min(self.window).max(self.least());
        self.threshold = self.window;
        if let Course::Due(at) = self.course {
            self.course = Course::Due(at.max(loss.now + self.pause()));
        }
        self.end(loss.now);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if !timeout.reported {
            self.threshold = (timeout.flight / 2.0).max(self.params.min_window);
        }
        self.end(timeout.now);
        self.window = 1.0;
    }

    fn sizes(&mut self) -> Option<Sizes<'_>> {
        Some(Sizes { window: &mut self.window, threshold: &mut self.threshold })
    }

    fn control(&self) -> Control {
        Control { window: self.window.max(1.0), pacing: None }
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("base_delay_ms", self.delays.base().as_millis_f64()),
            ("queueing_delay_ms", self.delays.queueing().as_millis_f64()),
            ("gain", self.gain()),
            ("slowdown", f64::from(matches!(self.course, Course::Held(..) | Course::Back(_)))),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;

    const BASE: Span = Span::from_millis(60);

    /// Beyond its slow start, without slowdowns, with a base delay of 60 ms.
    fn avoiding(window: f64) -> Trace<LedbatPp> {
        let params = Params { spacing: 0.0, ..Params::default() };
        let mut trace = Trace::new(LedbatPp::new(params, Start::avoiding(window)));
        trace.rtt = BASE;
        trace.round_trip();
        trace
    }

    /// The change of the window in a round trip with so many milliseconds of queue.
    fn change(window: f64, queueing: u64) -> f64 {
        let mut trace = avoiding(window);
        trace.rtt = BASE + Span::from_millis(queueing);
        (0..4).for_each(|_| trace.ack(Span::ZERO));
        trace.controller.window = window;
        trace.round_trip() - window
    }

    #[test]
    fn the_gain_is_smaller_on_shorter_paths() {
        let mut one = LedbatPp::new(Params::default(), Start::new(10.0));
        // ceil(120 / base), no more than 16.
        for (base, divisor) in [(200, 1.0), (119, 2.0), (60, 2.0), (10, 12.0), (5, 16.0)] {
            one.delays = BaseDelay::new(4, 10);
            one.delays.observe(Span::from_millis(base), Time::ZERO);
            assert_eq!(one.gain(), 1.0 / divisor, "{base} ms");
        }
    }

    #[test]
    fn below_the_target_it_gains_half_a_packet_and_above_it_loses_in_proportion() {
        assert!((change(100.0, 0) - 0.5).abs() < 0.01);
        assert!((change(100.0, 60) - 0.5).abs() < 0.01);
        // 0.5 - 100 · (66 / 60 - 1) = -9.5 at the first acknowledgement; the window of later ones is smaller, to 0.905 of it.
        let tenth = change(100.0, 66);
        assert!((-9.5..-9.0).contains(&tenth), "{tenth}");
        // Never more than half of the window in a round trip: each acknowledgement takes half a packet.
        assert!((change(100.0, 300) + 50.0).abs() < 1e-9, "{}", change(100.0, 300));
    }

    #[test]
    fn slow_start_grows_by_the_gain_and_the_first_one_ends_at_three_quarters_of_the_target() {
        let mut trace = Trace::new(LedbatPp::new(Params::default(), Start::new(10.0)));
        trace.rtt = BASE;
        // The first sample comes before the first growth: half a packet for each of ten.
        assert_eq!(trace.round_trip(), 15.0);
        trace.rtt = BASE + Span::from_millis(45);
        (0..4).for_each(|_| trace.ack(Span::ZERO));
        assert_eq!(trace.controller.course, Course::First);
        trace.rtt = BASE + Span::from_millis(46);
        (0..4).for_each(|_| trace.ack(Span::ZERO));
        assert!(matches!(trace.controller.course, Course::Due(_)));
        assert_eq!(trace.controller.threshold, 19.0);
    }

    #[test]
    fn slowdowns_take_a_tenth_of_the_time() {
        let start = Start { initial_ssthresh: 40.0, ..Start::new(10.0) };
        let mut trace = Trace::new(LedbatPp::new(Params::default(), start));
        trace.rtt = BASE;
        // Times from one slowdown to the next, and within slowdowns.
        let (mut began, mut slow, mut fast, mut held) = (None, Span::ZERO, Span::ZERO, 0);
        while held < 5 {
            let gap = Span(BASE.0 / trace.window() as u64);
            let before = trace.controller.course;
            trace.ack(gap);
            match trace.controller.course {
                Course::Held(at, until) if began != Some(at) => {
                    assert_eq!((until - at, trace.window()), (BASE * 2, 2.0));
                    (began, held) = (Some(at), held + 1);
                }
                _ if began.is_none() => {}
                Course::Due(_) if matches!(before, Course::Due(_)) => fast = fast + gap,
                _ => slow = slow + gap,
            }
        }
        let share = slow.0 as f64 / (slow + fast).0 as f64;
        assert!((share - 0.1).abs() < 0.01, "{share}");
    }

    #[test]
    fn a_loss_halves_and_a_timeout_starts_over() {
        let mut trace = avoiding(40.0);
        let before = trace.window();
        trace.loss();
        assert_eq!((trace.window(), trace.controller.threshold), (before / 2.0, before / 2.0));
        trace.timeout();
        assert_eq!((trace.window(), trace.controller.threshold), (1.0, before / 4.0));
        assert_eq!(trace.round_trip(), 1.5);
    }
}

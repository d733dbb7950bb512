// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Early responses: when a sender may respond, and its window afterwards.
//!
//! S. Bhandarkar, A. L. N. Reddy, Y. Zhang, D. Loguinov, "Emulating AQM from End Hosts", SIGCOMM 2007, §3.
//!
//! ```text
//! W <- max((1 - f) min(W, R), least window),  S <- max(W, least threshold)
//! ```
//!
//! `W` window, `S` slow-start threshold, `R` receive window: packets; `f` decrease.
//!
//! "Since the impact of response may not be seen until after an RTT, we limit the early response to once per RTT": the first
//! packet that shows the impact is the first one sent after the response. It is a marker, and the next response waits
//! until it is acknowledged, as ns-2 waits after a mark of ECN. No response is made during recovery.
//!
//! A window that grows beyond the receive window (ns-2's does) is not in use there, and a response that cuts all of it may change nothing.
//! So a response acts on the window in use, as reductions of ns-2 do (`windowd` in tcp.cc).

use alloc::boxed::Box;

use super::window::Window;
use super::{Ack, Start};

crate::settings! {
    /// The conditions of an early response.
    pub struct Params {
        /// Wait between early responses until a packet that was sent after the last is acknowledged.
        once_per_round_trip: bool = true;
        /// Count a loss, and the end of its repair, as a response that delays the next one.
        loss_counts: bool = true;
    }
}

/// The window after an early response.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// The least window, in packets.
    pub min_window: f64,
    /// The least slow-start threshold, in packets.
    pub min_threshold: f64,
    /// Whether the acknowledgement that responds grows the window, too.
    pub grows: bool,
}

/// Inputs and results of a response, kept apart from the state that every acknowledgement reads.
#[derive(Clone, Debug)]
struct Reach {
    /// The receive window, in packets.
    room: f64,
    cut: Cut,
}

/// The state between early responses.
#[derive(Clone, Debug)]
pub struct Early {
    /// The next response waits until this packet is acknowledged.
    marker: u64,
    reach: Box<Reach>,
    params: Params,
    responses: u32,
    recovering: bool,
    in_slow_start: bool,
}

impl Early {
    /// Free to respond, in slow start too if `in_slow_start`.
    pub fn new(params: &Params, cut: Cut, in_slow_start: bool, start: &Start) -> Early {
        let reach = Box::new(Reach { room: start.room, cut });
        Early { marker: 0, reach, params: params.clone(), responses: 0, recovering: false, in_slow_start }
    }

    /// An acknowledgement arrived; it may be the end of a recovery episode.
    #[inline]
    pub fn hear(&mut self, ack: &Ack) {
        if self.recovering && !ack.recovering {
            self.lost(ack.next);
        }
        self.recovering = ack.recovering;
    }

    /// Whether a response to the current acknowledgement is permitted.
    #[inline]
    pub fn allowed(&self, ack: &Ack, slow_start: bool) -> bool {
        !ack.recovering
            && (ack.una > self.marker || !self.params.once_per_round_trip)
            && (self.in_slow_start || !slow_start)
    }

    /// Leaves the fraction `kept` of the window in use; `next` is the next packet never sent so far. Whether the acknowledgement may
    /// still grow the window.
    pub fn respond(&mut self, window: &mut Window, kept: f64, next: u64) -> bool {
        let Reach { room, cut } = &*self.reach;
        window.packets = (window.packets.min(*room) * kept).max(cut.min_window);
        window.ssthresh = window.packets.max(cut.min_threshold);
        self.marker = next;
        self.responses += 1;
        cut.grows
    }

    /// Packets were lost; `next` is the next packet never sent so far.
    pub fn lost(&mut self, next: u64) {
        if self.params.loss_counts {
            self.marker = next;
        }
    }

    /// Responses so far.
    pub fn responses(&self) -> u64 {
        u64::from(self.responses)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::super::{Controller, pert, pert::Pert, pert_adaptive::PertAdaptive};
    use super::*;
    use crate::settings::{Raw, Settings};
    use crate::units::Span;

    /// The window after an early response at 40 packets where the receiver has room for 20: on a path of 60 ms, a queue
    /// of 200 ms exceeds every threshold, and the average is the last sample.
    fn left<C: Controller>(room: f64) -> f64 {
        left_with::<C>(room, "early_in_slow_start", &Raw::Bool(false))
    }

    fn left_with<C: Controller>(room: f64, name: &str, value: &Raw) -> f64 {
        let mut params = C::Params::default();
        params.set("history", &Raw::Float(0.0)).expect("a parameter of every PERT");
        params.set(name, value).expect("a parameter of every PERT");
        let mut trace = Trace::new(C::new(params, Start { room, ..Start::avoiding(40.0) }));
        trace.ack(Span::from_millis(1));
        trace.rtt = Span::from_millis(260);
        trace.ack(Span::from_millis(1));
        trace.window()
    }

    #[test]
    fn an_early_response_acts_on_the_window_in_use_whatever_its_controller() {
        // 0.65 of 20, and of 40 and the packet's growth: 40.025.
        assert_eq!(left::<Pert>(20.0), 13.0);
        assert!((left::<Pert>(f64::INFINITY) - 0.65 * 40.025).abs() < 1e-9);
        // q / (q + qm) is a half where q is the greatest.
        assert_eq!(left::<PertAdaptive>(20.0), 10.0);
        assert!((left::<PertAdaptive>(f64::INFINITY) - 20.0125).abs() < 1e-9);
    }

    #[test]
    fn the_acknowledgement_that_responds_may_grow_the_window_and_the_threshold_may_follow_it_below_two() {
        let grows = Raw::Bool(true);
        // 13 packets, and 1 / 13.
        assert!((left_with::<Pert>(20.0, "grow_on_response", &grows) - (13.0 + 1.0 / 13.0)).abs() < 1e-9);
        assert!((left_with::<PertAdaptive>(20.0, "grow_on_response", &grows) - 10.1).abs() < 1e-9);
        // Two packets leave 1.3: with a threshold of two the next acknowledgement is of slow start, else of avoidance.
        let after_the_next = |min_threshold| {
            let params = pert::Params { history: 0.0, min_threshold, ..pert::Params::default() };
            let mut trace: Trace<Pert> =
                Trace::new(Pert::new(params, Start { room: 2.0, ..Start::avoiding(40.0) }));
            for rtt in [60, 260, 60] {
                trace.rtt = Span::from_millis(rtt);
                trace.ack(Span::from_millis(1));
            }
            trace.window()
        };
        // 1.3 + 0.7, and the rest of the packet in avoidance: 0.3 / 2.
        assert!((after_the_next(2.0) - 2.15).abs() < 1e-9);
        assert!((after_the_next(1.0) - (1.3 + 1.0 / 1.3)).abs() < 1e-9);
    }
}

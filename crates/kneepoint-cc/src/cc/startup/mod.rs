// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The end of slow start before a loss ends it.
//!
//! Controllers that slow-start through [`Window::grow`](super::window::Window::grow) have it. Those whose publications
//! define their own start keep it: BBR, BBRv3, C4, Copa, FAST, LEDBAT, LEDBAT++, Vegas.

use alloc::boxed::Box;

use super::{Ack, Start};

use hystart::HyStart;
use hystart_pp::HyStartPp;
use rapid::Rapid;
use search::Search;

mod hystart;
mod hystart_pp;
mod rapid;
mod search;

crate::choice! {
    /// The growth of the window below its threshold.
    pub enum SlowStart {
        /// As in the controller itself: HyStart for CUBIC in Linux, doubling for all others.
        Own = "own",
        /// It doubles every round trip until the threshold or a loss (RFC 5681 §3.1).
        Doubling = "doubling",
        /// It doubles until trains of acknowledgements or rising delays say that the path is full (Linux's `tcp_cubic`).
        HyStart = "hystart",
        /// It doubles until delays rise, then grows slowly for some rounds to see whether they fall again (RFC 9406).
        HyStartPp = "hystart++",
        /// It doubles until deliveries no longer double every round trip (draft-chung-ccwg-search, SEARCH 3.0).
        Search = "search",
        /// It triples every round trip while nothing queues (draft-kazuho-ccwg-rapid-start).
        Rapid = "rapid",
    }
}

crate::choice! {
    /// The rest of an acknowledgement that takes the window past its threshold.
    pub enum Crossing {
        /// It grows the window as congestion avoidance does (Linux's `tcp_slow_start`).
        Carried = "carried",
        /// Nothing: the window stops at the threshold.
        Dropped = "dropped",
        /// It belongs to slow start, and the window passes the threshold (ns-2's `opencwnd`).
        Doubled = "doubled",
    }
}

/// Looks for the end of slow start.
#[derive(Clone, Debug, PartialEq)]
pub enum Startup {
    /// Linux's.
    HyStart(HyStart),
    /// RFC 9406.
    HyStartPp(HyStartPp),
    /// SEARCH.
    Search(Box<Search>),
    /// Rapid Start.
    Rapid(Box<Rapid>),
}

impl Startup {
    /// The value of `start`; none where slow start only doubles.
    pub fn of(start: &Start) -> Option<Startup> {
        match start.slow_start {
            SlowStart::Own | SlowStart::Doubling => None,
            SlowStart::HyStart => Some(Startup::HyStart(HyStart::default())),
            SlowStart::HyStartPp => Some(Startup::HyStartPp(HyStartPp::default())),
            SlowStart::Search => Some(Startup::Search(Box::default())),
            SlowStart::Rapid => Some(Startup::Rapid(Box::default())),
        }
    }

    /// Processes an acknowledgement in slow start, before the window of `window` packets grows: returns the
    /// permitted growth in units of doubling, or none where slow start is over.
    pub fn haste(&mut self, ack: &Ack, window: f64) -> Option<f64> {
        match self {
            Startup::HyStart(hystart) => (!hystart.full(ack, window)).then_some(1.0),
            Startup::HyStartPp(hystart) => hystart.haste(ack),
            Startup::Search(search) => (!search.full(ack)).then_some(1.0),
            Startup::Rapid(rapid) => Some(rapid.haste(ack)),
        }
    }

    /// The first reduction, which a controller makes from a window of `before` packets to `after`.
    pub fn reduced(&mut self, before: f64, after: f64) -> f64 {
        match self {
            Startup::Rapid(rapid) => rapid.reduced(before, after),
            _ => after,
        }
    }

    /// The window of `window` packets after an acknowledgement outside of slow start, if it is still being reduced.
    pub fn converged(&mut self, ack: &Ack, window: f64) -> Option<f64> {
        match self {
            Startup::Rapid(rapid) => rapid.converged(ack, window),
            _ => None,
        }
    }

    /// The timer expired: the window starts over from one packet.
    pub fn restart(&mut self) {
        match self {
            Startup::HyStart(hystart) => *hystart = HyStart::default(),
            Startup::HyStartPp(hystart) => hystart.retire(),
            Startup::Search(search) => search.retire(),
            Startup::Rapid(rapid) => rapid.retire(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::super::window::{InLinux, Window};
    use super::super::{Control, Controller, Loss, Timeout, reno};
    use super::*;
    use crate::rng::Rng;
    use crate::units::Span;

    /// A window without other state.
    #[derive(Clone, Debug)]
    pub(super) struct Bare(pub Window);

    impl Bare {
        pub(super) fn trace(slow_start: SlowStart, window: f64) -> Trace<Bare> {
            Trace::new(Bare::new(reno::Params::default(), Start { slow_start, ..Start::new(window) }))
        }
    }

    impl Controller for Bare {
        type Params = reno::Params;

        fn new(_: reno::Params, start: Start) -> Bare {
            Bare(Window::new(start, InLinux::WholeLeft))
        }
        fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
            self.0.grow(ack, 1.0);
        }
        fn on_loss(&mut self, loss: &Loss) {
            self.0.reduce_to(loss.flight / 2.0);
        }
        fn on_timeout(&mut self, timeout: &Timeout) {
            self.0.restart(timeout, timeout.flight / 2.0);
        }
        fn control(&self) -> Control {
            self.0.control()
        }
    }

    #[test]
    fn no_start_grows_faster_than_doubling_or_forever() {
        for (slow_start, seed) in [(SlowStart::HyStart, 1), (SlowStart::HyStartPp, 2), (SlowStart::Search, 3)]
        {
            let mut script = Rng::stream(seed, "delays", 0);
            let mut trace = Bare::trace(slow_start, 10.0);
            while trace.controller.0.slow_start() {
                let before = trace.window();
                trace.rtt = Span::from_micros(40_000 + 20 * trace.una + script.below(1_000));
                trace.ack(Span::from_micros(script.below(4_000)));
                assert!(trace.window() - before <= 1.0 && trace.window() < 10_000.0);
            }
            assert_eq!(trace.controller.0.ssthresh.floor(), trace.window().floor());
        }
    }
}

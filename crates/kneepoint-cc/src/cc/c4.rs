// SPDX-License-Identifier: Apache-2.0 OR MIT
//! C4: paces at the greatest rate that was seen to arrive, with a window for the greatest round trip, and yields earlier the faster it is.
//!
//! C. Huitema, S. Nandakumar, C. Jennings, "Specification of Christian's Congestion Control Code (C4)", draft-huitema-ccwg-c4-spec, text of
//! the authors' repository between revisions 00 and 04; revision 04 was not at hand.
//!
//! ```text
//! rate = a N            window = max(a N X, 2 packets)                                       §4.1
//! each sample r:        N <- max(N, r), but not while recovering from congestion             §3.1
//! each era, if a <= 1 in the era before:                                                     §3.2
//!   m <- least R of the era, or (7 m + that) / 8 where it is greater
//!   g  = min(greatest R of the era, m + 250 ms)
//!   X <- g, or (7 X + g) / 8 where it is smaller
//! Initial   a = 2:      to Recovery after 3 eras without a greater N, or at congestion        §4.2
//! Recovery  a = 15/16:  an era; then Initial after 3 successful pushes or at the first high jitter,
//!                       m < 2/5 X, else Cruising                                            §4.3
//! Cruising  a = 1:      4 eras, then Pushing, or Recovery at congestion                        §4.4
//! Pushing   a = 17/16, or 17/16 + 3/16 (1 - E/e) after a successful push: an era             §4.5
//! congestion while cruising: N <- (1 - b) N                                                    §5.6
//!   delay:  R > X + d      b = (R - X - d) / d     d = min(25 ms, (1/16 + 3/16 (1 - s)) X)     §5.2
//!   loss:   L > l          b = 1/4                 l = 0.02 + (1 - s) / 2                      §5.3
//!   marks:  E > e          b = (E - e) / e         e = (2 - s) 3/32                           §5.4
//! ```
//!
//! `N` nominal rate, `r` rate of arrival: packets/s; `X` nominal greatest round trip, `m` running least one, `R` round trips; `a` alpha; `b` no more
//! than 1/4; `L` smoothed share of lost packets, weight 1/16 per packet; `E` share of marks, weight 1/16 per acknowledgement, at once where it
//! is a half; `s` sensitivity: 0 up to 50 kB/s, 0.92 at 1 MB/s, 1 from 10 MB/s, linear between. A push succeeded if N rose without
//! congestion: at all, or after more than 17/16 by a quarter of what was expected. An era lasts until a packet sent in it is acknowledged.
//!
//! Readings: N grows with greater samples (the text prints the comparison the other way round, and says that samples only increase it). The
//! push after a success is 5/4 without marks, as in the table of §4.1; the printed formula would be 17/8. b of delays is the excess over
//! X + d in units of d (a parenthesis is missing). A sample's interval is the longer of sending and arrival, as in `delivery`. In
//! Initial congestion by delay counts if N did not grow for two eras, by loss after 20 packets. Losses that a timer alone finds change nothing
//! (§5.3.1), so a timeout does not either. Losses are counted as they are repaired. Sensitivity counts packets of `packet`. An era in which
//! the sender had nothing to send neither counts as one without a greater N nor ends Cruising. In Initial m is learned and X is not. E is zero
//! again after each Recovery. A sample over less than half of m is none.
//! Departures: the pacing quantum of 4 ms is the host's. Marks are echoed one by one, as for Prague.
//! Known weakness: flows take each other's queues for jitter, and X rises with them. Alone at 20 Mbit/s and 50 ms, on Linux's hosts and a buffer of
//! one BDP, a flow keeps 0.6 ms of queue and 97 % of the link; four of them keep 36 ms.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{Ack, Control, Controller, Ecn, Loss, Marks, Start, Timeout};
use crate::rng::Rng;
use crate::units::{Bytes, PacketRate, Span};

use state::{Phase, State};

mod congestion;
mod state;

crate::settings! {
    /// C4's parameters.
    pub struct Params {
        /// The size of a packet, for its sensitivity to rates in bytes per second.
        packet: Bytes = Bytes(1500), Bytes(64)..=Bytes(65_536);
        /// The most by which jitter may raise the nominal round trip.
        max_jitter: Span = Span::from_millis(250), Span::ZERO..=Span::from_secs(10);
        /// Eras of cruising between two pushes.
        cruise: u32 = 4, 1..=1000;
        /// Eras without a greater rate after which the initial state ends, and successful pushes that begin it again.
        patience: u32 = 3, 1..=1000;
        /// The greatest reduction of the rate by one signal.
        reduction: f64 = 0.25, 0.01..=0.99;
        /// The least window in packets.
        min_window: f64 = 2.0, 1.0..=100.0;
    }
}

/// The greatest window in packets: no path has more, and a wrong sample could give anything.
const MOST: f64 = 1e9;

/// A C4 controller.
#[derive(Clone, Debug)]
pub struct C4(Box<State>);

impl Controller for C4 {
    type Params = Params;

    const MARKS: Marks = Marks::Scalable;
    const STEERS_RECOVERY: bool = true;

    fn new(params: Params, start: Start) -> C4 {
        C4(Box::new(State::new(params, start)))
    }

    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        let state = &mut *self.0;
        let least = if state.running.is_finite() { state.running } else { 0.0 };
        let sample = state.delivery.on_ack(ack, Span::from_secs_f64(0.5 * least));
        state.era.limited |= ack.limited;
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt > Span::ZERO) {
            let rtt = rtt.as_secs_f64();
            if state.nominal == 0.0 {
                (state.nominal, state.running) = (rtt, rtt);
            }
            state.era.least = state.era.least.min(rtt);
            state.era.greatest = state.era.greatest.max(rtt);
        }
        if let Some(rate) = sample.rate.filter(|_| !(state.phase == Phase::Recovery && state.congested)) {
            state.rate = state.rate.max(rate);
        }
        let tolerance = state.tolerance();
        if let Some(signal) = state.shares.observe(ack, &sample, tolerance, state.nominal) {
            state.answer(signal);
        }
        if sample.round {
            state.turn();
        }
    }

    fn on_loss(&mut self, _: &Loss) {}

    fn on_timeout(&mut self, _: &Timeout) {}

    fn on_ecn(&mut self, _: &Ecn) {}

    fn control(&self) -> Control {
        let state = &self.0;
        if state.rate == 0.0 || state.nominal == 0.0 {
            return Control { window: state.initial_window, pacing: None };
        }
        let rate = state.alpha * state.rate;
        let window = (rate * state.nominal).clamp(state.params.min_window, MOST);
        Control { window, pacing: Some(PacketRate(rate)) }
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        let state = &self.0;
        vec![
            ("phase", state.phase as u8 as f64),
            ("nominal_rate_pps", state.rate),
            ("nominal_max_rtt_ms", 1e3 * state.nominal),
            ("running_min_rtt_ms", if state.running.is_finite() { 1e3 * state.running } else { 0.0 }),
            ("alpha", state.alpha),
            ("loss_share", state.shares.lost),
            ("mark_share", state.shares.marked),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::delivery::tests::Path;
    use super::*;

    fn fresh() -> C4 {
        C4::new(Params::default(), Start::new(10.0))
    }

    /// 1000 packets/s, 1.5 MB/s, over 100 ms.
    fn path() -> Path<C4> {
        Path::new(fresh(), 1000.0, Span::from_millis(100))
    }

    fn seconds(path: &mut Path<C4>, seconds: u64) {
        path.until(|path| path.now >= Span::from_secs(seconds).after_start());
    }

    #[test]
    fn alone_it_fills_the_link_and_keeps_a_short_queue() {
        let mut path = path();
        seconds(&mut path, 5);
        let before = path.delivered;
        let mut most = 0.0_f64;
        path.until(|path| {
            most = most.max(path.queue());
            path.now >= Span::from_secs(25).after_start()
        });
        let share = (path.delivered - before) as f64 / 20_000.0;
        assert!(share > 0.95, "{share}");
        // A push of an era adds a sixteenth of 100 packets.
        assert!(most < 20.0, "{most}");
    }

    #[test]
    fn the_initial_state_doubles_and_ends_three_eras_after_the_link_is_full() {
        let mut path = path();
        path.until(|path| path.controller.0.phase != Phase::Initial);
        let state = &path.controller.0;
        assert!((950.0..1050.0).contains(&state.rate), "{}", state.rate);
        // 10, 20, 40, 80 packets and full after four round trips.
        let trips = path.now.as_secs_f64() / 0.1;
        assert!((6.0..16.0).contains(&trips), "{trips}");
    }

    #[test]
    fn a_timeout_changes_nothing() {
        let mut path = path();
        seconds(&mut path, 3);
        let mut c4 = path.controller;
        let before = c4.control();
        c4.on_timeout(&Timeout {
            now: Span::from_secs(4).after_start(),
            flight: 100.0,
            reported: false,
            next: 300,
        });
        assert_eq!(c4.control(), before);
    }
}

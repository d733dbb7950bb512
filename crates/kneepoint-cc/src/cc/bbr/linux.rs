// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The packets that `tcp_bbr` of Linux 6.18 permits in flight beyond the product of rate and delay.
//!
//! ```text
//! Q = packets that the pacing rate sends in 1/1024 s, whole, at most 64 KB, at least 2; 1 below 1.2 Mbit/s
//! target = product + 3 Q, both whole, up to the next even number; 2 more while bandwidth is probed
//! window = target with extra in the product, once the pipe is full
//! extra  = greatest of (arrived since t0) - (B · time since t0), of the last 5 to 10 rounds; at most 100 ms of B
//! t0 is now wherever B expects at least as many as have arrived since
//!
//! in the network at the next departure = in flight - B (d - now), and Q more while p > 1
//! d <- (d, between the acknowledgement before and this one) + sent between them / pace
//! ```
//!
//! A packet counts 1448 bytes, the payload of a full one on Ethernet, where Linux counts bytes.

use super::super::Ack;
use super::super::delivery::Sample;
use super::policing::{News, Policing};
use super::{Mode, State};
use crate::rng::Rng;
use crate::units::{Span, Time};

/// Rates are paced in bursts that last a second over this (`sk_pacing_shift`).
const BURSTS: f64 = 1024.0;
/// 64 KB less the greatest headers, in packets.
const GREATEST_BURST: f64 = 45.0;
/// 1.2 Mbit/s in packets per second.
const SLOW: f64 = 1.2e6 / 8.0 / 1448.0;
/// Rounds that each of the two slots of `extra` lasts.
const SLOT_ROUNDS: u32 = 5;
/// An epoch of this many packets ends.
const LONGEST: f64 = (1 << 20) as f64;

/// The time at rate B that is allowed for a bunch of packets.
const GREATEST_EXTRA: f64 = 0.1;

/// Q.
fn quantum(pacing: f64) -> f64 {
    libm::floor(pacing / BURSTS).min(GREATEST_BURST).max(if pacing < SLOW { 1.0 } else { 2.0 })
}

/// `product`, and the additions of hosts.
fn target(product: f64, pacing: f64, probes: bool) -> f64 {
    let packets = libm::ceil(product) + 3.0 * quantum(pacing);
    2.0 * libm::ceil(packets / 2.0) + if probes { 2.0 } else { 0.0 }
}

/// The number of packets that arrive at once, in excess of the rate.
#[derive(Clone, Debug, Default)]
pub struct Aggregation {
    /// t0, and the arrivals since.
    began: Time,
    arrived: f64,
    greatest: [f64; 2],
    slot: usize,
    rounds: u32,
    /// The smallest RTT of the connection; zero before the first.
    least_rtt: Span,
    pub(super) policing: Policing,
    departures: Departures,
}

/// The time of the next departure (`tcp_wstamp_ns`), as far as acknowledgements tell: what was sent between two of them left at the pace.
#[derive(Clone, Debug, Default)]
struct Departures {
    next: Time,
    /// Packets sent so far, and the time of the last acknowledgement.
    sent: u64,
    heard: Time,
}

impl Departures {
    /// Another acknowledgement, before which packets left at this pace.
    fn observe(&mut self, ack: &Ack, pacing: f64) {
        let sent = ack.next + ack.resent;
        if sent > self.sent {
            let lasts = Span::from_secs_f64((sent - self.sent) as f64 / pacing);
            self.next = self.next.max(self.heard).min(ack.now) + lasts;
        }
        (self.sent, self.heard) = (sent, ack.now);
    }
}

impl Aggregation {
    /// `newly` packets arrived, while B is `rate` and the window `window`.
    fn observe(&mut self, now: Time, newly: f64, rate: f64, window: f64, round: bool) {
        self.rounds += u32::from(round);
        if self.rounds >= SLOT_ROUNDS {
            self.rounds = 0;
            self.slot = 1 - self.slot;
            self.greatest[self.slot] = 0.0;
        }
        let mut expected = libm::floor(rate * now.since(self.began).as_secs_f64());
        if self.arrived <= expected || self.arrived + newly >= LONGEST {
            (self.began, self.arrived, expected) = (now, 0.0, 0.0);
        }
        self.arrived += newly;
        let greatest = &mut self.greatest[self.slot];
        *greatest = greatest.max((self.arrived - expected).min(window));
    }

    /// The smallest RTT of the connection, with one more.
    pub(super) fn least_rtt(&mut self, rtt: Option<Span>) -> Span {
        if let Some(rtt) = rtt.filter(|rtt| self.least_rtt == Span::ZERO || *rtt < self.least_rtt) {
            self.least_rtt = rtt;
        }
        self.least_rtt
    }

    /// extra.
    fn extra(&self) -> f64 {
        self.greatest[0].max(self.greatest[1])
    }
}

impl State {
    /// `gain` products of rate and delay plus `extra` packets, and the packets that the host's granularity adds.
    #[cold]
    pub(super) fn linux_target(&self, gain: f64, extra: f64) -> f64 {
        let known = self.rtt < Span::MAX;
        let product =
            if known { gain * self.bandwidth * self.rtt.as_secs_f64() } else { self.initial_window };
        let probes = matches!(self.mode, Mode::ProbeBw { phase: 0, .. });
        target(libm::ceil(product) + extra, self.pacing, probes)
    }

    /// Additional packets in flight that aggregation of acknowledgements permits.
    pub(super) fn extra(&self, aggregation: &Aggregation) -> f64 {
        let most = libm::floor(GREATEST_EXTRA * self.bandwidth);
        if self.filled() { aggregation.extra().min(most) } else { 0.0 }
    }

    /// Of so many packets in flight now, those in the network when the next ones leave, with these if they are to become more.
    pub(super) fn in_network(&self, in_flight: f64, now: Time) -> f64 {
        let Some(linux) = &self.linux else { return in_flight };
        let arrive = libm::floor(self.bandwidth * linux.departures.next.since(now).as_secs_f64());
        let leave = if self.gain() > 1.0 { quantum(self.pacing) } else { 0.0 };
        (in_flight + leave - arrive).max(0.0)
    }

    /// Learns when packets left before an acknowledgement.
    pub(super) fn learn_departures(&mut self, ack: &Ack) {
        if let Some(linux) = &mut self.linux {
            linux.departures.observe(ack, self.pacing);
        }
    }

    /// Whether it uses the rate of a policer.
    pub(super) fn policed(&self) -> bool {
        self.linux.as_ref().is_some_and(|linux| linux.policing.rate().is_some())
    }

    /// Updates the policer detector after an acknowledgement or a timeout.
    #[cold]
    pub(super) fn police(
        &mut self,
        now: Time,
        (losses, limited, round): (bool, bool, bool),
        rng: Option<&mut Rng>,
    ) {
        let probes = matches!(self.mode, Mode::ProbeBw { .. });
        let (delivered, lost) = (self.delivery.delivered(), self.delivery.resent());
        let Some(linux) = &mut self.linux else { return };
        let news = News { now, delivered, lost, losses, limited, round, probes };
        let over = linux.policing.observe(news);
        self.bandwidth = linux.policing.rate().unwrap_or(self.rate);
        if over && let Some(draws) = rng {
            self.probe_bandwidth(now, draws);
        }
    }

    #[cold]
    pub(super) fn learn_aggregation(&mut self, now: Time, sample: &Sample) {
        if let Some(aggregation) = &mut self.linux
            && sample.newly > 0.0
            && sample.rate.is_some()
        {
            aggregation.observe(now, sample.newly, self.bandwidth, self.window, sample.round);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::phase;
    use super::super::{Bbr, Params};
    use super::*;
    use crate::cc::delivery::tests::{Path, plain};
    use crate::cc::{Controller, Start, Version};

    #[test]
    fn a_burst_is_a_millisecond_of_packets_between_one_or_two_and_64_kilobytes() {
        // 1 Mbit/s, 2, 20, 100 Mbit/s, and 1 Gbit/s of packets of 1448 bytes.
        let packets = |bits: f64| bits / 8.0 / 1448.0;
        assert_eq!(
            [1e6, 2e6, 20e6, 100e6, 1e9].map(|bits| quantum(packets(bits))),
            [1.0, 2.0, 2.0, 8.0, 45.0]
        );
    }

    #[test]
    fn a_target_is_even_and_two_more_while_bandwidth_is_probed() {
        // 66.7 packets and three times two.
        assert_eq!((target(66.7, 1726.0, false), target(66.7, 1726.0, true)), (74.0, 76.0));
        assert_eq!((target(66.0, 1726.0, false), target(67.0, 1726.0, false)), (72.0, 74.0));
    }

    #[test]
    fn what_arrives_at_once_is_extra_for_five_rounds_at_least_and_ten_at_most() {
        let mut aggregation = Aggregation::default();
        let mut at = |millis, newly, round| {
            let now = Span::from_millis(millis).after_start();
            aggregation.observe(now, newly, 1000.0, 500.0, round);
            aggregation.extra()
        };
        // B expects one per millisecond.
        assert!((1..100).all(|millis| at(millis, 1.0, false) == 1.0));
        // Nothing for 19 ms, then 20 at once: they begin an epoch.
        assert_eq!(at(119, 20.0, false), 20.0);
        // Ten more after 4 ms, of which B expects four.
        assert_eq!(at(123, 10.0, false), 26.0);
        assert!((1..10).all(|round| at(1_000 + round, 1.0, true) == 26.0));
        assert!(at(2_000, 1.0, true) <= 2.0);
    }

    #[test]
    fn the_next_departure_follows_from_what_was_sent_between_acknowledgements() {
        let mut departures = Departures::default();
        let mut after = |millis, next| {
            let ack = Ack { now: Span::from_millis(millis).after_start(), next, ..plain() };
            departures.observe(&ack, 1000.0);
            departures.next.0 / 1_000_000
        };
        // Packets leave after the acknowledgement before, one each millisecond.
        assert_eq!([after(1000, 10), after(1004, 20), after(1006, 20)], [10, 1010, 1010]);
        // The next ones leave when these have; a pace that is behind begins anew.
        assert_eq!([after(1012, 30), after(1100, 30), after(1101, 32)], [1020, 1020, 1102]);
        // No later than an acknowledgement that comes before.
        assert_eq!(after(1101, 40), 1109);
    }

    #[test]
    fn in_the_network_is_what_will_be_when_the_next_packets_leave() {
        let mut state = *linux().controller.0;
        (state.bandwidth, state.pacing, state.mode) = (1000.0, 4096.0, Mode::Drain);
        let now = Span::from_secs(1).after_start();
        state.linux.as_mut().unwrap().departures.next = now + Span::from_micros(2900);
        // Two arrive until then; four leave, if there are to be more.
        assert_eq!(state.in_network(50.0, now), 48.0);
        state.mode = Mode::ProbeBw { phase: 0, since: now };
        assert_eq!(state.in_network(50.0, now), 52.0);
        state.linux = None;
        assert_eq!(state.in_network(50.0, now), 50.0);
    }

    #[test]
    fn a_rate_sample_is_as_long_as_the_smallest_round_trip_of_the_connection() {
        let mut aggregation = Aggregation::default();
        let least: [Span; 4] = [None, Some(50), Some(90), Some(40)]
            .map(|millis| aggregation.least_rtt(millis.map(Span::from_millis)));
        assert_eq!(least, [0, 50, 50, 40].map(Span::from_millis));
    }

    #[test]
    fn no_more_is_extra_than_the_window() {
        let mut aggregation = Aggregation::default();
        aggregation.observe(Span::from_secs(1).after_start(), 90.0, 1000.0, 30.0, false);
        assert_eq!(aggregation.extra(), 30.0);
    }

    #[test]
    fn only_a_smaller_round_trip_renews_the_smallest_in_linux() {
        let less = |version, rtt| {
            let mut bbr = Bbr::new(Params::default(), Start { version, ..Start::new(10.0) });
            bbr.0.rtt = Span(100_000_500);
            bbr.0.is_less(Span(rtt))
        };
        // As small in whole microseconds, and one smaller.
        assert_eq!([100_000_100, 99_999_900].map(|rtt| less(Version::Linux, rtt)), [false, true]);
        assert!(less(Version::Published, 100_000_500));
    }

    /// A path of 1000 packets/s and 100 ms.
    fn linux() -> Path<Bbr> {
        let bbr = Bbr::new(Params::default(), Start { version: Version::Linux, ..Start::new(10.0) });
        Path::new(bbr, 1000.0, Span::from_millis(100))
    }

    #[test]
    fn linux_paces_a_hundredth_below_the_rate_from_the_first() {
        let mut path = linux();
        assert!((path.pacing() - 0.99 * 2.885 * 10.0 / 0.001).abs() < 1e-6);
        path.until(|path| path.delivered > 0);
        assert!((path.pacing() - 0.99 * 2.885 * 10.0 / 0.101).abs() < 1e-6, "{}", path.pacing());
        path.until(|path| phase(&path.controller) == Some(2));
        assert!((path.pacing() - 0.99 * path.controller.0.rate).abs() < 1e-6);
        // Two products of 101 ms, the extra packet of a bunch of one, and three times two; even.
        path.until(|path| path.now >= Span::from_secs(5).after_start() && phase(&path.controller) == Some(5));
        let state = &path.controller.0;
        let extra = state.extra(state.linux.as_ref().unwrap());
        assert!((state.rate - 1000.0).abs() < 1.0 && extra == 1.0, "{} {extra}", state.rate);
        assert_eq!(path.window(), 210.0);
    }
}

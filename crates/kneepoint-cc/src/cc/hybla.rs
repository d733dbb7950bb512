// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hybla: grows in time as Reno does on a path of 25 ms, for any round-trip time.
//!
//! C. Caini, R. Firrincieli, "TCP Hybla: A TCP Enhancement for Heterogeneous Networks", International Journal of Satellite Communications and Networking 22(5) 2004, §3; on Linux hosts as `tcp_hybla` of Linux 6.12.
//!
//! ```text
//! ρ = max(RTT / RTT0, 1)
//! W < S:   W += 2^ρ - 1     per packet acknowledged          slow start
//! W >= S:  W += ρ² / W      per packet acknowledged          avoidance
//! loss:    S = W = W / 2    timeout: S = W / 2, W = 1
//! ```
//!
//! `W` window, `S` slow-start threshold: packets; `RTT` smoothed round-trip time, `RTT0` = 25 ms.
//!
//! Readings: RTT is the least of the smoothed ones, as in Linux, so that its own queue does not hasten a flow.
//! Departures: the paper multiplies the initial window and threshold by ρ, which the scenario sets here, and paces packets. The window ends
//! at 65,535 packets, as in Linux: at ρ = 22 slow start would add four million with each acknowledgement.
//!
//! Linux differs: it counts acknowledgements, not packets, so that a receiver that delays them halves the growth; ρ is whole eighths,
//! growth whole 128ths, and below them a packet for W acknowledgements; until what was sent before a loss is acknowledged it is Reno;
//! a connection begins with ρ packets, known from its handshake, and here with two.

use alloc::vec::Vec;

use super::delay::Delay;
use super::window::{InLinux, Window};
use super::{Ack, Control, Controller, Loss, Sizes, Start, Timeout, Version};
use crate::rng::Rng;
use crate::units::Span;

crate::settings! {
    /// Hybla's parameters.
    pub struct Params {
        /// RTT0: the round-trip time of the path whose growth is imitated.
        reference_rtt: Span = Span::from_millis(25), Span::from_millis(1)..=Span::from_secs(10);
    }
}

/// The weight of the past in the smoothed RTT (RFC 6298).
const SMOOTHING: f64 = 0.875;
/// One in Linux's units, of ρ and of the growth.
const EIGHTHS: f64 = 8.0;
const PARTS: f64 = 128.0;
/// 2^ρ is not greater in Linux.
const GREATEST_POWER: f64 = 16.0;

/// The greatest window, in packets.
const GREATEST: f64 = 65_535.0;

/// The window of a fresh connection in Linux, where the kernel takes ρ.
const FIRST_IN_LINUX: f64 = 2.0;

/// A Hybla controller.
#[derive(Clone, Debug)]
pub struct Hybla {
    params: Params,
    window: Window,
    rtt: Delay,
    /// The least smoothed RTT.
    least: Span,
    /// ρ.
    rho: f64,
    linux: Option<Count>,
}

/// Linux's counters, in the order of its fields.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    /// Parts of a packet.
    parts: f64,
    /// Acknowledgements that added less than a packet.
    heard: f64,
    /// It is Reno until this packet is acknowledged.
    suspended: Option<u64>,
}

impl Hybla {
    fn observe(&mut self, rtt: Span) {
        self.rtt.observe(rtt);
        let smoothed = self.rtt.smoothed();
        if smoothed < self.least {
            self.least = smoothed;
            let rho = smoothed.0 as f64 / self.params.reference_rtt.0 as f64;
            let whole = self.linux.map_or(rho, |_| libm::floor(rho * EIGHTHS) / EIGHTHS);
            self.rho = whole.max(1.0);
        }
    }

    /// 2^ρ - 1 packets, or ρ² / W, in 128ths of a packet.
    fn step(&self) -> f64 {
        if self.window.slow_start() {
            let whole = libm::floor(self.rho);
            let fraction = libm::floor(libm::exp2(self.rho - whole) * PARTS);
            libm::exp2(whole.min(GREATEST_POWER)) * fraction - PARTS
        } else {
            let squared = libm::floor(self.rho * self.rho * PARTS);
            libm::floor(squared / self.window.packets)
        }
    }

    /// Linux's growth with an acknowledgement.
    fn count(&mut self, mut count: Count) -> Count {
        let (step, slow_start) = (self.step(), self.window.slow_start());
        count.heard += if !slow_start && step < PARTS { 1.0 } else { 0.0 };
        self.window.packets += libm::floor(step / PARTS);
        count.parts += step % PARTS;
        while count.parts >= PARTS {
            self.window.packets += 1.0;
            (count.parts, count.heard) = (count.parts - PARTS, 0.0);
        }
        if step == 0.0 && count.heard >= self.window.packets {
            self.window.packets += 1.0;
            count.heard = 0.0;
        }
        if slow_start {
            self.window.packets = self.window.packets.min(self.window.ssthresh);
        }
        count
    }

    fn suspend(&mut self, next: u64) {
        self.linux = self.linux.map(|count| Count { heard: 0.0, suspended: Some(next), ..count });
    }
}

impl Controller for Hybla {
    type Params = Params;

    fn new(params: Params, start: Start) -> Hybla {
        let linux = (start.version == Version::Linux).then(Count::default);
        let fresh = linux.is_some() && start.initial_ssthresh == f64::INFINITY;
        let initial_window = if fresh { FIRST_IN_LINUX } else { start.initial_window };
        let window = Window::new(Start { initial_window, ..start }, InLinux::WholeLeft);
        Hybla { params, window, rtt: Delay::new(SMOOTHING), least: Span::MAX, rho: 1.0, linux }
    }

    fn on_ack(&mut self, ack: &Ack, _: &mut Rng) {
        if let Some(rtt) = ack.rtt {
            self.observe(rtt);
        }
        if let Some(mut count) = self.linux {
            count.suspended = count.suspended.filter(|end| ack.una < *end);
            self.linux = Some(match count.suspended {
                Some(_) => {
                    self.window.grow(ack, 1.0);
                    count
                }
                None if ack.credit > 0.0 => self.count(count),
                None => count,
            });
        } else if self.window.slow_start() {
            let growth = (libm::exp2(self.rho) - 1.0) * ack.credit;
            self.window.packets = (self.window.packets + growth).min(self.window.ssthresh);
        } else {
            self.window.grow(ack, self.rho * self.rho);
        }
        self.window.packets = self.window.packets.min(GREATEST);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.window.reduce_to(loss.flight / 2.0);
        self.suspend(loss.next);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.window.restart(timeout, timeout.flight / 2.0);
        self.suspend(timeout.next);
    }

    fn sizes(&mut self) -> Option<Sizes<'_>> {
        Some(self.window.sizes())
    }

    #[inline]
    fn control(&self) -> Control {
        self.window.control()
    }

    fn state(&self) -> Vec<(&'static str, f64)> {
        vec![("rho", self.rho)]
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Trace;
    use super::*;

    fn trace(version: Version, start: Start, rtt: u64) -> Trace<Hybla> {
        let mut trace = Trace::new(Hybla::new(Params::default(), Start { version, ..start }));
        trace.rtt = Span::from_millis(rtt);
        trace
    }

    #[test]
    fn a_path_four_times_as_long_gains_sixteen_packets_a_round_trip() {
        // 16 packets in 100 ms equal four in 25 ms, where Reno gains one with a window a quarter as large.
        let mut long = trace(Version::Published, Start::avoiding(400.0), 100);
        let gained = long.round_trip() - 400.0;
        assert!((15.5..16.0).contains(&gained), "{gained}");
        let mut short = trace(Version::Published, Start::avoiding(100.0), 20);
        let reno = short.round_trip() - 100.0;
        assert!((0.99..1.0).contains(&reno), "{reno}");
    }

    #[test]
    fn slow_start_adds_two_to_the_power_of_rho_less_one() {
        let mut fresh = trace(Version::Published, Start::new(10.0), 75);
        fresh.ack(Span::from_millis(1));
        assert_eq!(fresh.window(), 17.0);
    }

    #[test]
    fn a_queue_of_its_own_does_not_hasten_it() {
        let mut trace = trace(Version::Published, Start::avoiding(100.0), 50);
        trace.ack(Span::from_millis(1));
        trace.rtt = Span::from_millis(500);
        (0..200).for_each(|_| trace.ack(Span::from_millis(1)));
        assert_eq!(trace.controller.rho, 2.0);
    }

    #[test]
    fn the_window_ends_where_that_of_linux_does() {
        for version in [Version::Published, Version::Linux] {
            let mut far = trace(version, Start::new(10.0), 560);
            (0..3).for_each(|_| far.ack(Span::from_millis(1)));
            assert_eq!(far.window(), GREATEST);
        }
    }

    #[test]
    fn linux_adds_whole_128ths_for_each_acknowledgement() {
        // 55 ms are ρ = 17/8; 17² 128 / 64 = 578, and 578 / 100 = 5 parts: 26 acknowledgements are 130.
        let mut steady = trace(Version::Linux, Start::avoiding(100.0), 55);
        (0..25).for_each(|_| steady.ack(Span::from_millis(1)));
        assert_eq!(steady.window(), 100.0);
        steady.ack(Span::from_millis(1));
        assert_eq!(steady.window(), 101.0);
        // 2² · 139 - 128 = 428 parts: three packets and 44 parts.
        let mut fresh = trace(Version::Linux, Start::new(10.0), 55);
        fresh.ack(Span::from_millis(1));
        assert_eq!((fresh.window(), fresh.controller.linux.map(|count| count.parts)), (5.0, Some(44.0)));
    }

    #[test]
    fn linux_is_reno_until_what_was_sent_before_a_loss_is_acknowledged() {
        let mut trace = trace(Version::Linux, Start::avoiding(100.0), 50);
        trace.loss();
        assert_eq!(trace.window(), 50.0);
        (0..50).for_each(|_| trace.ack(Span::from_millis(1)));
        assert_eq!(trace.window(), 51.0);
    }
}

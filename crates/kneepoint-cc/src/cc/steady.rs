// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The steady state: the mean window at a given loss rate, as published and as measured of a controller.
//!
//! A controller's own file states its response function as a [`ResponseFunction`]; [`mean_window`] measures what the controller
//! does under the assumptions of such laws: one flow, always limited by its window, a constant round-trip time and so
//! no queue, each loss noticed at once and repaired without a pause.
//!
//! ```text
//! mean window = packets · RTT / time
//! ```

use super::{Ack, Any, Config, Loss, Start};
use crate::rng::Rng;
use crate::settings::Raw;
use crate::units::{Span, Time};

/// The sequence of losses at a rate `p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Losses {
    /// Every 1/p-th packet is lost.
    Periodic,
    /// Each packet is lost with probability p.
    Random,
}

/// A response function: published, or derived from published equations.
#[derive(Clone, Copy, Debug)]
pub struct ResponseFunction {
    /// Its publication, or `derived` with the source.
    pub source: &'static str,
    /// The law itself, for readers.
    pub formula: &'static str,
    /// Parameters that it assumes and that are not the defaults: names and values.
    pub settings: &'static [(&'static str, &'static str)],
    /// The assumed sequence of losses.
    pub losses: Losses,
    /// The mean window in packets at a loss rate and a round-trip time in seconds.
    pub window: fn(f64, f64) -> f64,
    /// Loss rates at which it is tried.
    pub rates: &'static [f64],
    /// The permitted deviation of a measurement, as a fraction of the law.
    pub within: f64,
    /// The reason for the tolerance: effects that the formula leaves out.
    pub because: &'static str,
}

impl ResponseFunction {
    /// `config` with the settings that the law assumes.
    pub fn assume(&self, config: &Config) -> Config {
        let mut config = config.clone();
        for (name, value) in self.settings {
            let set = config.set(name, &Raw::guess(value));
            debug_assert!(set.is_ok(), "{}: {name} = {value}: {set:?}", self.source);
        }
        config
    }
}

/// The mean window of additive increase by `increase` packets a round trip and decrease by the fraction `decrease`,
/// under periodic losses: sqrt(a (2 - b) / (2 b p)).
///
/// S. Floyd, M. Handley, J. Padhye, "A Comparison of Equation-Based and AIMD Congestion Control", 2000.
pub fn aimd(increase: f64, decrease: f64, p: f64) -> f64 {
    libm::sqrt(increase * (2.0 - decrease) / (2.0 * decrease * p))
}

/// The argument in 10⁻⁹ to 10⁹ at which `rising` is `target`, by bisection of its logarithm.
pub fn solve(target: f64, rising: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (1e-9_f64, 1e9_f64);
    while high / low > 1.0 + 1e-5 {
        let middle = libm::sqrt(low * high);
        if rising(middle) < target {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// A host without a network: every packet is acknowledged a round-trip time after it was sent, or lost.
struct Host {
    controller: Any,
    rng: Rng,
    /// Round trips since the start.
    round_trips: f64,
    una: u64,
    rtt: Span,
}

impl Host {
    fn new(config: &Config, window: f64, rtt: Span) -> Host {
        // In congestion avoidance from the start.
        let controller = config.build(Start::avoiding(window));
        Host { controller, rng: Rng::stream(1, "controller", 0), round_trips: 0.0, una: 0, rtt }
    }

    fn window(&self) -> f64 {
        self.controller.control().window
    }

    /// The next packet has its turn, a window's part of a round trip after the one before.
    fn packet(&mut self, lost: bool) {
        let window = self.window();
        self.round_trips += 1.0 / window;
        self.una += 1;
        let now = Time((self.round_trips * self.rtt.0 as f64) as u64);
        let (una, next) = (self.una, self.una + window as u64);
        if lost {
            self.controller.on_loss(&Loss { now, flight: window, una, next });
            return;
        }
        let ack = Ack {
            now,
            rtt: Some(self.rtt),
            one_way: Some(self.rtt),
            acked: 1,
            delivered: una,
            resent: 0,
            marked: 0,
            credit: 1.0,
            limited: false,
            una,
            next,
            in_flight: window as u32,
            recovering: false,
        };
        self.controller.on_ack(&ack, &mut self.rng);
    }

    /// Loses a packet, and grows until the window is `peak` again, or for `limit` packets.
    fn lose_and_return(&mut self, peak: f64, limit: u64) {
        self.packet(true);
        let limit = self.una + limit;
        while self.window() < peak && self.una < limit {
            self.packet(false);
        }
    }

    /// Runs until it has done `what`: returns the packets and the round trips that this took.
    fn during(&mut self, what: impl FnOnce(&mut Host)) -> (f64, f64) {
        let (una, round_trips) = (self.una, self.round_trips);
        what(self);
        ((self.una - una) as f64, self.round_trips - round_trips)
    }
}

/// The mean window of a flow that loses packets at the rate `p`.
pub fn mean_window(config: &Config, losses: Losses, p: f64, rtt: Span) -> f64 {
    match losses {
        Losses::Periodic => periodic(config, p, rtt),
        Losses::Random => random(config, p, rtt),
    }
}

/// In a periodic state each loss comes at the window of the previous loss: this searches the window from which the return
/// takes 1/p packets. Losing every 1/p-th packet would lead there as well, but slowly: where a controller lingers at the
/// window of the last loss, as CUBIC and BIC do, a slightly late loss is hardly answered with a larger window, and a flow
/// has not converged hundreds of losses later.
fn periodic(config: &Config, p: f64, rtt: Span) -> f64 {
    let cycle = |peak: f64| {
        let mut host = Host::new(config, peak, rtt);
        let limit = (4.0 / p) as u64;
        // The first ones fill the controller's memory of losses.
        for _ in 0..4 {
            host.lose_and_return(peak, limit);
        }
        host.during(|host| host.lose_and_return(peak, limit))
    };
    // Packets grow with a power of the window, from the first of Scalable TCP to the square of Reno, so that a
    // line through two points on scales of logarithms finds it in a few steps.
    let target = 1.0 / p;
    let mut peak = aimd(1.0, 0.5, p);
    let mut before: Option<(f64, f64)> = None;
    loop {
        let (packets, round_trips) = cycle(peak);
        let power = before.map_or(1.5, |(other, fewer)| libm::log(packets / fewer) / libm::log(peak / other));
        before = Some((peak, packets));
        let next = peak * libm::pow(target / packets, 1.0 / power.clamp(0.8, 3.0));
        if (next / peak - 1.0).abs() < 1e-4 {
            return packets / round_trips;
        }
        peak = next;
    }
}

/// Losses independent of the window.
fn random(config: &Config, p: f64, rtt: Span) -> f64 {
    let mut draws = Rng::stream(1, "loss", 0);
    let mut lose = |host: &mut Host, count: u32| {
        for _ in 0..count {
            // Geometric: the number of arrivals before a loss.
            let arrive = libm::log(1.0 - draws.uniform()) / libm::log1p(-p);
            for _ in 0..arrive as u64 {
                host.packet(false);
            }
            host.packet(true);
        }
    };
    let mut host = Host::new(config, aimd(1.0, 0.5, p), rtt);
    lose(&mut host, 100);
    let (packets, round_trips) = host.during(|host| lose(host, 10_000));
    packets / round_trips
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additive_increase_by_one_and_halving_is_the_square_root_law() {
        assert!((aimd(1.0, 0.5, 1e-4) - (1.5_f64 / 1e-4).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn a_window_is_found_by_its_packets() {
        assert!((solve(50.0, |window| window * window / 2.0) - 10.0).abs() < 1e-3);
    }

    #[test]
    fn losses_come_at_the_rate_given() {
        for losses in [Losses::Periodic, Losses::Random] {
            // Halving loses 1/2 of the window each time, which 1/p packets win back: the mean follows the rate.
            let ratio = mean_window(&Config::default(), losses, 1e-3, Span::from_millis(100))
                / mean_window(&Config::default(), losses, 4e-3, Span::from_millis(100));
            assert!((ratio - 2.0).abs() < 0.05, "{losses:?}: {ratio}");
        }
    }
}

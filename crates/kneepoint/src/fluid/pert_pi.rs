// SPDX-License-Identifier: Apache-2.0 OR MIT
//! PERT with a PI controller, as a fluid: many flows that hold the queueing delay at a target.
//!
//! S. Bhandarkar, A. L. N. Reddy, Y. Zhang, D. Loguinov, "Emulating AQM from End Hosts", SIGCOMM 2007, §6, equations (8), (16)-(21).
//!
//! ```text
//! x1' = 1 / R - f x1(t) x1(t - R) p(t) / R                                             (8), with f = 1/2
//! x2' = N x1 / (R C) - 1
//! x3' = K (x2 - Tq*)
//! p(t) = (K / m) (x2(t - R) - Tq*) + x3(t - R)                                         (16)
//! m = 2N / (R² C),  K = m |j R m + 1| / (R³ C² / (2N)²)     where they are 0: automatic  (21)
//! ```
//!
//! `x1` window, packets; `x2` queueing delay at the router, s; `x3` the controller's integral; `R` round-trip
//! time, s; `C` capacity, packets/s; `N` flows; `f` decrease; `K` gain, 1/s per second; `m` zero, rad/s.
//!
//! Readings:
//! * (17) is printed with the two terms of (16) interchanged: K (1 + s/m) / s is K/m times the error plus K times its
//!   integral.
//! * The integral begins at 0 and rests at p* = 1 / (f W*²); the paper's p* = 0 is only the origin of its measurements.
//! * With constant R, as in (8), the controller and the queue are two integrators in a row, and no gains that were tried
//!   are stable. `variable_rtt` takes `rtt` as the base of R(t) = rtt + x2(t), as the theorem's plant does.
//! * `clipped` holds p to [0, 1], and the integral with it, as an implementation must.

use super::capacity::Capacity;
use super::describes::{Describes, Origin};
use super::theorem::{self, Bottleneck, Theorem};
use super::{Equilibrium, Knob, Model, State};
use crate::law::pi::Continuous;
use crate::units::{Bytes, Span};

crate::settings! {
    /// The parameters of PERT/PI's fluid model: §6.1 on the link of Figure 6.
    pub struct Params {
        /// The link's rate, in packets or bits per second.
        capacity: Capacity = Capacity::Packets(18750.0);
        /// The size of a packet, where the capacity is in bits.
        packet: Bytes = Bytes(1000), Bytes(1)..=Bytes(65535);
        /// The number of flows on the link.
        flows: f64 = 50.0, 0.001..=1000000.0;
        /// The round-trip time; with `variable_rtt` without the queue.
        rtt: Span = Span::from_millis(60), Span::from_micros(10)..=Span::from_secs(100);
        /// The queueing delay to hold.
        target: Span = Span::from_millis(3), Span::ZERO..=Span::from_secs(10);
        /// K, per second and second of delay; 0 is equation (21).
        gain: f64 = 0.0, 0.0..=1000000.0;
        /// m, in rad/s; 0 is equation (21).
        zero: f64 = 0.0, 0.0..=1000000.0;
        /// The fraction by which a response reduces the window.
        decrease: f64 = 0.5, 0.01..=0.99;
        /// Let responses follow the window of a round trip ago, whose packets they answer.
        window_delayed: bool = true;
        /// Let the round-trip time contain the queue.
        variable_rtt: bool = true;
        /// Hold the probability, and the integral, to [0, 1].
        clipped: bool = false;
    }
}

/// PERT/PI's fluid model.
#[derive(Clone, Debug)]
pub struct PertPi {
    capacity: f64,
    flows: f64,
    rtt: f64,
    law: Continuous,
    decrease: f64,
    window_delayed: bool,
    variable_rtt: bool,
}

impl Model for PertPi {
    type Params = Params;
    const STATES: [&'static str; 3] = ["window_packets", "queueing_delay_s", "integral"];
    const KNOBS: &'static [Knob] = &[
        Knob { name: "gain", range: ("0.000001", "10000") },
        Knob { name: "zero", range: ("0.0001", "1000") },
    ];

    const DESCRIBES: Option<Describes> = Some(Describes {
        control: "pert-pi",
        queue: "droptail",
        settings: &[
            ("target", Origin::Given("target")),
            ("gain", Origin::Gain(["gamma", "beta", "frequency"])),
            ("zero", Origin::Zero(["gamma", "beta", "frequency"])),
            ("decrease", Origin::Given("decrease")),
            ("variable_rtt", Origin::Always("true")),
            ("clipped", Origin::Always("true")),
        ],
    });

    fn new(params: Params) -> PertPi {
        let mut model = PertPi {
            capacity: params.capacity.packets(params.packet),
            flows: params.flows,
            rtt: params.rtt.as_secs_f64(),
            law: Continuous {
                target: params.target.as_secs_f64(),
                gain: params.gain,
                zero: params.zero,
                clipped: params.clipped,
            },
            decrease: params.decrease,
            window_delayed: params.window_delayed,
            variable_rtt: params.variable_rtt,
        };
        let (gain, zero) = theorem::pi_gains(model.bottleneck());
        model.law.gain = if model.law.gain == 0.0 { gain } else { model.law.gain };
        model.law.zero = if model.law.zero == 0.0 { zero } else { model.law.zero };
        model
    }

    fn start(&self) -> State {
        [1.0, 0.0, 0.0]
    }

    fn delay(&self, now: &State) -> f64 {
        if self.variable_rtt { self.rtt + now[1].max(0.0) } else { self.rtt }
    }

    fn probability(&self, past: &State) -> f64 {
        self.law.probability(past[1], past[2])
    }

    fn derivative(&self, now: &State, past: &State, probability: f64) -> State {
        let (rtt, then) = (self.delay(now), self.delay(past));
        let responding = if self.window_delayed { past[0] } else { now[0] };
        let window = 1.0 / rtt - self.decrease * now[0] * responding * probability / then;
        let queue = self.flows * now[0] / (rtt * self.capacity) - 1.0;
        let empty = self.variable_rtt && now[1] <= 0.0;
        [window, if empty { queue.max(0.0) } else { queue }, self.law.growth(now[1], now[2])]
    }

    fn equilibrium(&self) -> Result<Equilibrium, String> {
        let at = self.bottleneck();
        let probability = at.probability();
        if self.law.clipped && probability >= 1.0 {
            let window = at.window();
            return Err(format!(
                "no equilibrium: a window of {window:.3} packets needs the probability {probability:.3}"
            ));
        }
        Ok(Equilibrium { state: [at.window(), self.law.target, probability], probability })
    }

    fn fastest(&self) -> f64 {
        // The queue follows the windows within a round trip; the controller acts on the window through p.
        let window = self.bottleneck().window();
        (1.0 / self.rtt).max(self.law.gain / self.law.zero * window * window)
    }

    fn queue(&self, state: &State) -> f64 {
        state[1] * self.capacity
    }

    fn bottleneck(&self) -> Bottleneck {
        let PertPi { capacity, flows, decrease, .. } = *self;
        let rtt = if self.variable_rtt { self.rtt + self.law.target } else { self.rtt };
        Bottleneck { capacity, flows, rtt, decrease }
    }

    fn theorem(&self) -> Theorem {
        theorem::theorem2(self.bottleneck(), self.law.gain, self.law.zero)
    }
}

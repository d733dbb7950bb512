// SPDX-License-Identifier: Apache-2.0 OR MIT
//! TCP through a RED queue, as a fluid.
//!
//! V. Misra, W. Gong, D. Towsley, SIGCOMM 2000; C. Hollot, V. Misra, D. Towsley, W. Gong, "A Control Theoretic Analysis of RED", INFOCOM 2001.
//!
//! ```text
//! R(t) = Tp + q(t) / C
//! W' = 1 / R(t) - f W(t) W(t - R) p(t - R) / R(t - R),   f = 1/2
//! q' = N W / R(t) - C,   and not below an empty queue
//! x' = K (x - q),        K = ln(1 - w) / δ
//! p = maxp (x - minth) / (maxth - minth)
//! at rest: W* = R* C / N,  p* = 1 / (f W*²),  R* = Tp + q* / C
//! ```
//!
//! `W` window, `q` queue, `x` average queue, `minth maxth` thresholds: packets; `Tp` round-trip time without the queue
//! and `R` with it, s; `C` capacity, packets/s; `N` flows; `w` weight of a sample; `δ` sampling interval, s.
//!
//! The stability condition of Hollot et al. equals PERT's Theorem 1 with L = C maxp / (maxth - minth). Linearised,
//! the equations above differ from its plant, (C² / 2N) e^(-sR) / ((s + 2N/(R²C)) (s + 1/R)), only in W(t - R) beside W(t).

use super::capacity::Capacity;
use super::describes::{Describes, Origin};
use super::red::{Red, Shape};
use super::theorem::{self, Bottleneck, Theorem};
use super::{Equilibrium, Knob, Model, State};
use crate::units::{Bytes, Span};

crate::settings! {
    /// The parameters of TCP/RED's fluid model: 60 flows on 3750 packets/s.
    pub struct Params {
        /// The link's rate, in packets or bits per second.
        capacity: Capacity = Capacity::Packets(3750.0);
        /// The size of a packet, where the capacity is in bits.
        packet: Bytes = Bytes(500), Bytes(1)..=Bytes(65535);
        /// The number of flows on the link.
        flows: f64 = 60.0, 0.001..=1000000.0;
        /// The round-trip time without the queue.
        rtt: Span = Span::from_millis(200), Span::from_micros(10)..=Span::from_secs(100);
        /// The average queue, in packets, at which marking begins.
        min_threshold: f64 = 150.0, 0.0..=100000000.0;
        /// The average queue, in packets, at which its probability is `max_p`.
        max_threshold: f64 = 700.0, 0.001..=200000000.0;
        /// The probability at the maximum threshold.
        max_p: f64 = 0.1, 0.000001..=1.0;
        /// The weight of a sample in the average.
        weight: f64 = 0.0000013333, 0.000000000001..=0.9999;
        /// The interval between samples; `0s` is a packet's, 1/C.
        delta: Span = Span::ZERO, Span::ZERO..=Span::from_secs(1000);
        /// The fraction by which a response reduces the window.
        decrease: f64 = 0.5, 0.01..=0.99;
        /// The shape of the law.
        shape: Shape = Shape::Linear;
    }
    check |params: &Params| {
        let Params { min_threshold: min, max_threshold: max, .. } = params;
        let wrong = || format!("min_threshold = {min}, max_threshold = {max}: the minimum must be less, as in 150 and 700");
        if min < max { Ok(()) } else { Err(wrong()) }
    }
}

/// TCP/RED's fluid model.
#[derive(Clone, Debug)]
pub struct TcpRed {
    capacity: f64,
    flows: f64,
    rtt: f64,
    law: Red,
    /// K, per second: negative.
    k: f64,
    decrease: f64,
}

impl TcpRed {
    fn rest(&self) -> Result<(Bottleneck, f64), String> {
        self.law.rest(self.base(), 1.0 / self.capacity)
    }

    /// The link while its queue is empty.
    fn base(&self) -> Bottleneck {
        let TcpRed { capacity, flows, rtt, decrease, .. } = *self;
        Bottleneck { capacity, flows, rtt, decrease }
    }
}

impl Model for TcpRed {
    type Params = Params;
    const STATES: [&'static str; 3] = ["window_packets", "queue_packets", "average_queue_packets"];
    const KNOBS: &'static [Knob] = &[
        Knob { name: "weight", range: ("0.000000001", "0.9") },
        Knob { name: "max_threshold", range: ("1", "100000") },
        Knob { name: "max_p", range: ("0.0001", "1") },
    ];
    const DESCRIBES: Option<Describes> = Some(Describes {
        control: "reno",
        queue: "red",
        settings: &[
            ("min_threshold", Origin::Queue("min_threshold_packets")),
            ("max_threshold", Origin::Queue("max_threshold_packets")),
            ("max_p", Origin::Queue("max_p")),
            ("weight", Origin::Queue("weight")),
            ("decrease", Origin::Given("decrease")),
            ("shape", Origin::Always("gentle")),
        ],
    });

    fn new(params: Params) -> TcpRed {
        let capacity = params.capacity.packets(params.packet);
        let interval = params.delta.as_secs_f64();
        let interval = if interval == 0.0 { 1.0 / capacity } else { interval };
        TcpRed {
            capacity,
            flows: params.flows,
            rtt: params.rtt.as_secs_f64(),
            law: Red::new(params.min_threshold, params.max_threshold, params.max_p, params.shape),
            k: libm::log1p(-params.weight) / interval,
            decrease: params.decrease,
        }
    }

    fn start(&self) -> State {
        [1.0, 0.0, 0.0]
    }

    fn delay(&self, now: &State) -> f64 {
        self.rtt + now[1].max(0.0) / self.capacity
    }

    fn probability(&self, past: &State) -> f64 {
        self.law.probability(past[2])
    }

    fn derivative(&self, now: &State, past: &State, probability: f64) -> State {
        let (rtt, then) = (self.delay(now), self.delay(past));
        let window = 1.0 / rtt - self.decrease * now[0] * past[0] * probability / then;
        let queue = self.flows * now[0] / rtt - self.capacity;
        [window, if now[1] <= 0.0 { queue.max(0.0) } else { queue }, self.k * (now[2] - now[1])]
    }

    fn equilibrium(&self) -> Result<Equilibrium, String> {
        let (at, queue) = self.rest()?;
        Ok(Equilibrium { state: [at.window(), queue, queue], probability: at.probability() })
    }

    fn fastest(&self) -> f64 {
        -self.k
    }

    fn queue(&self, state: &State) -> f64 {
        state[1]
    }

    fn bottleneck(&self) -> Bottleneck {
        self.rest().map_or(self.base(), |(at, _)| at)
    }

    fn theorem(&self) -> Theorem {
        let mut theorem =
            theorem::theorem1(self.bottleneck(), self.capacity * self.law.slope(), self.k, self.law.pmax());
        theorem.name = "Hollot et al., Proposition 1";
        theorem
    }
}

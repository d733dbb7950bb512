// SPDX-License-Identifier: Apache-2.0 OR MIT
//! TCP through a PI queue, as a fluid.
//!
//! C. Hollot, V. Misra, D. Towsley, W. Gong, "On Designing Improved Controllers for AQM Routers Supporting TCP Flows", INFOCOM 2001.
//!
//! ```text
//! R(t) = Tp + q(t) / C
//! W' = 1 / R(t) - f W(t) W(t - R) p(t - R) / R(t - R),   f = 1/2
//! q' = N W / R(t) - C,   and not below an empty queue
//! y' = K (q - q_ref)
//! p = (K / z) (q - q_ref) + y
//! z = 2N / (R² C),  K = z |j z R + 1| / ((R C)³ / (2N)²)     where they are 0: automatic
//! ```
//!
//! `W` window, `q` queue, `q_ref` its target: packets; `y` the controller's integral; `Tp` round-trip time without
//! the queue and `R` with it, s; `C` capacity, packets/s; `N` flows; `K` gain, 1/s per packet; `z` zero, rad/s.
//!
//! `clipped` holds p to [0, 1], and the integral with it, as an implementation must.

use super::capacity::Capacity;
use super::describes::{Describes, Origin};
use super::theorem::{self, Bottleneck, Theorem};
use super::{Equilibrium, Knob, Model, State};
use crate::law::pi::Continuous;
use crate::units::{Bytes, Span};

crate::settings! {
    /// The parameters of TCP/PI's fluid model: 60 flows on 3750 packets/s, a target of 200 packets.
    pub struct Params {
        /// The link's rate, in packets or bits per second.
        capacity: Capacity = Capacity::Packets(3750.0);
        /// The size of a packet, where the capacity is in bits.
        packet: Bytes = Bytes(500), Bytes(1)..=Bytes(65535);
        /// The number of flows on the link.
        flows: f64 = 60.0, 0.001..=1000000.0;
        /// The round-trip time without the queue.
        rtt: Span = Span::from_millis(200), Span::from_micros(10)..=Span::from_secs(100);
        /// The queue to hold, in packets.
        target: f64 = 200.0, 0.0..=100000000.0;
        /// K, per second and packet; 0 is the design of Hollot et al.
        gain: f64 = 0.0, 0.0..=1000.0;
        /// z, in rad/s; 0 is the design of Hollot et al.
        zero: f64 = 0.0, 0.0..=1000000.0;
        /// The fraction by which a response reduces the window.
        decrease: f64 = 0.5, 0.01..=0.99;
        /// Hold the probability, and the integral, to [0, 1].
        clipped: bool = false;
    }
}

/// TCP/PI's fluid model.
#[derive(Clone, Debug)]
pub struct TcpPi {
    capacity: f64,
    flows: f64,
    rtt: f64,
    law: Continuous,
    decrease: f64,
}

impl Model for TcpPi {
    type Params = Params;
    const STATES: [&'static str; 3] = ["window_packets", "queue_packets", "integral"];
    const KNOBS: &'static [Knob] = &[
        Knob { name: "gain", range: ("0.000000001", "1") },
        Knob { name: "zero", range: ("0.0001", "1000") },
    ];

    const DESCRIBES: Option<Describes> = Some(Describes {
        control: "reno",
        queue: "pi",
        settings: &[
            ("target", Origin::Given("reference")),
            ("gain", Origin::Gain(["a", "b", "frequency"])),
            ("zero", Origin::Zero(["a", "b", "frequency"])),
            ("decrease", Origin::Given("decrease")),
            ("clipped", Origin::Always("true")),
        ],
    });

    fn new(params: Params) -> TcpPi {
        let mut model = TcpPi {
            capacity: params.capacity.packets(params.packet),
            flows: params.flows,
            rtt: params.rtt.as_secs_f64(),
            law: Continuous {
                target: params.target,
                gain: params.gain,
                zero: params.zero,
                clipped: params.clipped,
            },
            decrease: params.decrease,
        };
        let (gain, zero) = theorem::pi_gains(model.bottleneck());
        model.law.gain = if model.law.gain == 0.0 { gain / model.capacity } else { model.law.gain };
        model.law.zero = if model.law.zero == 0.0 { zero } else { model.law.zero };
        model
    }

    fn start(&self) -> State {
        [1.0, 0.0, 0.0]
    }

    fn delay(&self, now: &State) -> f64 {
        self.rtt + now[1].max(0.0) / self.capacity
    }

    fn probability(&self, past: &State) -> f64 {
        self.law.probability(past[1], past[2])
    }

    fn derivative(&self, now: &State, past: &State, probability: f64) -> State {
        let (rtt, then) = (self.delay(now), self.delay(past));
        let window = 1.0 / rtt - self.decrease * now[0] * past[0] * probability / then;
        let queue = self.flows * now[0] / rtt - self.capacity;
        [window, if now[1] <= 0.0 { queue.max(0.0) } else { queue }, self.law.growth(now[1], now[2])]
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
        let window = self.bottleneck().window();
        (1.0 / self.rtt).max(self.law.gain * self.capacity / self.law.zero * window * window)
    }

    fn queue(&self, state: &State) -> f64 {
        state[1]
    }

    fn bottleneck(&self) -> Bottleneck {
        let TcpPi { capacity, flows, rtt, decrease, .. } = *self;
        Bottleneck { capacity, flows, rtt: rtt + self.law.target / capacity, decrease }
    }

    fn theorem(&self) -> Theorem {
        let mut theorem = theorem::theorem2(self.bottleneck(), self.law.gain * self.capacity, self.law.zero);
        theorem.name = "Hollot et al., Proposition 2";
        theorem
    }
}

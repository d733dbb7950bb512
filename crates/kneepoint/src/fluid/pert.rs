// SPDX-License-Identifier: Apache-2.0 OR MIT
//! PERT with RED's law, as a fluid: many flows, one link, early responses at random.
//!
//! S. Bhandarkar, A. L. N. Reddy, Y. Zhang, D. Loguinov, "Emulating AQM from End Hosts", SIGCOMM 2007, §5, equations (2)-(14).
//!
//! ```text
//! x1' = 1 / R - f x1(t) x1(t - R) p(t) / R                                         (14), with f = 1/2
//! x2' = N x1 / (R C) - 1
//! x3' = K x3 - K x2,   K = ln α / δ                                                (6), (10)
//! p(t) = pmax (x3(t - R) - Tmin) / (Tmax - Tmin)                                   (4)
//! at rest: W* = R C / N,  p* = 1 / (f W*²),  Tq* = Tmin + p* (Tmax - Tmin) / pmax  (9)
//! ```
//!
//! `x1` window, packets; `x2` queueing delay and `x3` its average, s, at the router; `R` round-trip time, s; `C`
//! capacity, packets/s; `N` flows; `δ` sampling interval of the average, s; `f` decrease.
//!
//! Readings:
//! * As printed, R is constant and contains the queue, so that the queue only integrates. `variable_rtt` takes
//!   `rtt` as the base of R(t) = rtt + x2(t) instead, wherever R stands, with x1(t - R) / R(t - R) for the flow of
//!   responses, and holds an empty queue at zero.
//! * `window_delayed = false` replaces W(t - R) by W(t), as the proof of Theorem 1 and the end of §5.3 do.
//! * The law is the straight line beyond 0 and 1, as printed; `shape` has the curve of real flows too.
//! * §5.4: the sampling interval of a flow is N / C, which is 50 ms with the parameters of Figure 13, not 0.1 ms.
//! * Figure 13 (b)-(d) rest at p* of 0.5, 0.195 and 0.171, above pmax: only the straight line goes there.

use super::capacity::Capacity;
use super::describes::{Describes, Origin};
use super::red::{Red, Shape};
use super::theorem::{self, Bottleneck, Theorem};
use super::{Equilibrium, Knob, Model, State};
use crate::units::{Bytes, Span};

crate::settings! {
    /// The parameters of PERT's fluid model, with the values of Figure 13 (c).
    pub struct Params {
        /// The link's rate, in packets or bits per second.
        capacity: Capacity = Capacity::Packets(100.0);
        /// The size of a packet, where the capacity is in bits.
        packet: Bytes = Bytes(1250), Bytes(1)..=Bytes(65535);
        /// The number of flows on the link.
        flows: f64 = 5.0, 0.001..=1000000.0;
        /// The round-trip time; with `variable_rtt` without the queue.
        rtt: Span = Span::from_millis(160), Span::from_micros(10)..=Span::from_secs(100);
        /// The queueing delay at which responses begin.
        tmin: Span = Span::from_millis(50), Span::ZERO..=Span::from_secs(10);
        /// The queueing delay at which their probability is `pmax`.
        tmax: Span = Span::from_millis(100), Span(1)..=Span::from_secs(20);
        /// The probability at `tmax`.
        pmax: f64 = 0.1, 0.000001..=1.0;
        /// The weight of the past in the average.
        alpha: f64 = 0.99, 0.0001..=0.999999;
        /// The sampling interval of the average.
        delta: Span = Span::from_micros(100), Span(100)..=Span::from_secs(100000);
        /// The fraction by which a response reduces the window.
        decrease: f64 = 0.5, 0.01..=0.99;
        /// Let responses follow the window of a round trip ago, whose packets they answer.
        window_delayed: bool = true;
        /// Let the round-trip time contain the queue.
        variable_rtt: bool = false;
        /// The shape of the law.
        shape: Shape = Shape::Linear;
    }
    check |params: &Params| {
        let Params { tmin, tmax, .. } = params;
        let wrong = || format!("tmin = {tmin}, tmax = {tmax}: tmin must be less, as in 50ms and 100ms");
        if tmin < tmax { Ok(()) } else { Err(wrong()) }
    }
}

/// PERT's fluid model.
#[derive(Clone, Debug)]
pub struct Pert {
    capacity: f64,
    flows: f64,
    rtt: f64,
    law: Red,
    /// K, per second: negative.
    k: f64,
    decrease: f64,
    window_delayed: bool,
    variable_rtt: bool,
}

impl Pert {
    /// The link with the round-trip time as given.
    fn base(&self) -> Bottleneck {
        let Pert { capacity, flows, rtt, decrease, .. } = *self;
        Bottleneck { capacity, flows, rtt, decrease }
    }

    fn rest(&self) -> Result<(Bottleneck, f64), String> {
        self.law.rest(self.base(), if self.variable_rtt { 1.0 } else { 0.0 })
    }
}

impl Model for Pert {
    type Params = Params;
    const STATES: [&'static str; 3] = ["window_packets", "queueing_delay_s", "average_delay_s"];
    const KNOBS: &'static [Knob] = &[
        Knob { name: "delta", range: ("0.001ms", "100000ms") },
        Knob { name: "tmax", range: ("1ms", "10000ms") },
        Knob { name: "pmax", range: ("0.0001", "1") },
    ];
    const DESCRIBES: Option<Describes> = Some(Describes {
        control: "pert",
        queue: "droptail",
        settings: &[
            ("tmin", Origin::Given("t1")),
            ("tmax", Origin::Given("t2")),
            ("pmax", Origin::Given("pmax")),
            ("alpha", Origin::Given("history")),
            ("decrease", Origin::Given("decrease")),
            ("delta", Origin::Interval),
            ("variable_rtt", Origin::Always("true")),
            ("shape", Origin::Always("gentle")),
        ],
    });

    fn new(params: Params) -> Pert {
        Pert {
            capacity: params.capacity.packets(params.packet),
            flows: params.flows,
            rtt: params.rtt.as_secs_f64(),
            law: Red::new(params.tmin.as_secs_f64(), params.tmax.as_secs_f64(), params.pmax, params.shape),
            k: libm::log(params.alpha) / params.delta.as_secs_f64(),
            decrease: params.decrease,
            window_delayed: params.window_delayed,
            variable_rtt: params.variable_rtt,
        }
    }

    /// (1, 1, 1): Figure 13. A queue that is part of the round-trip time begins empty.
    fn start(&self) -> State {
        if self.variable_rtt { [1.0, 0.0, 0.0] } else { [1.0; 3] }
    }

    fn delay(&self, now: &State) -> f64 {
        if self.variable_rtt { self.rtt + now[1].max(0.0) } else { self.rtt }
    }

    fn probability(&self, past: &State) -> f64 {
        self.law.probability(past[2])
    }

    fn derivative(&self, now: &State, past: &State, probability: f64) -> State {
        let (rtt, then) = (self.delay(now), self.delay(past));
        let responding = if self.window_delayed { past[0] } else { now[0] };
        let window = 1.0 / rtt - self.decrease * now[0] * responding * probability / then;
        let queue = self.flows * now[0] / (rtt * self.capacity) - 1.0;
        let empty = self.variable_rtt && now[1] <= 0.0;
        [window, if empty { queue.max(0.0) } else { queue }, self.k * (now[2] - now[1])]
    }

    fn equilibrium(&self) -> Result<Equilibrium, String> {
        let (at, delay) = self.rest()?;
        Ok(Equilibrium { state: [at.window(), delay, delay], probability: at.probability() })
    }

    fn fastest(&self) -> f64 {
        -self.k
    }

    fn queue(&self, state: &State) -> f64 {
        state[1] * self.capacity
    }

    fn bottleneck(&self) -> Bottleneck {
        self.rest().map_or(self.base(), |(at, _)| at)
    }

    fn theorem(&self) -> Theorem {
        theorem::theorem1(self.bottleneck(), self.law.slope(), self.k, self.law.pmax())
    }
}

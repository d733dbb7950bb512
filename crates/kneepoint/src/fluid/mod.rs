// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Fluid models: congestion control as delay-differential equations, and exactly when they are stable.
//!
//! A model has three states and one delay, its round-trip time. It says how the states move and which probability they
//! make; trajectories, equilibrium, modes, margins, boundaries and designs all follow from that.
//!
//! To add one: write `fluid/NAME.rs` like `fluid/tcp_red.rs` and add its line to the registry below.

pub mod axis;
pub mod boundary;
pub mod capacity;
pub mod dde;
pub mod describes;
pub mod design;
pub mod linear;
pub mod map;
pub mod margins;
pub mod red;
pub mod spectrum;
pub mod theorem;
mod theory;

use crate::settings::Settings;
use dde::Trajectory;
use describes::Describes;
use linear::{C64, Linear};
use margins::Margins;
use theorem::{Bottleneck, Theorem};
pub use theory::{Misfit, Theory};

/// The states of a model.
pub type State = [f64; 3];

/// The equilibrium of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equilibrium {
    /// Its states there.
    pub state: State,
    /// The probability there.
    pub probability: f64,
}

/// A design parameter and its range.
#[derive(Clone, Copy, Debug)]
pub struct Knob {
    /// The parameter.
    pub name: &'static str,
    /// The least and the greatest value tried, as written.
    pub range: (&'static str, &'static str),
}

/// A fluid model.
pub trait Model: Clone + std::fmt::Debug {
    /// Its parameters.
    type Params: Settings;
    /// The names of its states, with units.
    const STATES: [&'static str; 3];
    /// The parameters that a designer turns.
    const KNOBS: &'static [Knob];
    /// The controller and the queue it describes, if registered.
    const DESCRIBES: Option<Describes> = None;

    /// A model with these parameters.
    fn new(params: Self::Params) -> Self;
    /// The default states up to time 0.
    fn start(&self) -> State;
    /// The round-trip time in seconds: how long ago the past was.
    fn delay(&self, now: &State) -> f64;
    /// The probability of a response now, from the states a round trip ago.
    fn probability(&self, past: &State) -> f64;
    /// The derivative of the states, per second.
    fn derivative(&self, now: &State, past: &State, probability: f64) -> State;
    /// The equilibrium, or the reason that there is none.
    fn equilibrium(&self) -> Result<Equilibrium, String>;
    /// The rate of its fastest part, per second, which steps must follow.
    fn fastest(&self) -> f64;
    /// The queue in packets.
    fn queue(&self, state: &State) -> f64;
    /// The link and its users, with the round-trip time at the equilibrium.
    fn bottleneck(&self) -> Bottleneck;
    /// The published stability condition.
    fn theorem(&self) -> Theorem;
}

crate::registry! {
    trait Model;
    each each_model;
    algorithms {
        pert::Pert,
        pert_pi::PertPi as "pert-pi",
        tcp_red::TcpRed as "tcp-red",
        tcp_pi::TcpPi as "tcp-pi",
    }
}

/// A model close to its equilibrium.
#[derive(Clone, Debug)]
pub struct Local {
    /// The equilibrium.
    pub equilibrium: Equilibrium,
    /// The round-trip time there, in seconds.
    pub rtt: f64,
    /// The equations there.
    pub linear: Linear,
    /// The modes, the rightmost first.
    pub modes: Vec<C64>,
}

impl Local {
    /// The rightmost mode.
    pub fn mode(&self) -> C64 {
        self.modes.first().copied().unwrap_or(C64::new(f64::NAN, f64::NAN))
    }

    /// Whether small deviations die out.
    pub fn stable(&self) -> bool {
        self.mode().re < 0.0
    }

    /// Whether deviations oscillate in the end.
    pub fn oscillates(&self) -> bool {
        self.mode().im > 0.0
    }

    /// The damping ratio of the rightmost mode: 1 if it does not oscillate, negative if it grows.
    pub fn damping(&self) -> f64 {
        damping(self.mode())
    }

    /// The distance of the loop from instability.
    pub fn margins(&self) -> Margins {
        margins::margins(|frequency| self.linear.gain(frequency), self.rtt)
    }
}

/// The damping ratio of a mode.
fn damping(mode: C64) -> f64 {
    -mode.re / linear::size(mode)
}

impl Any {
    /// The names of the states, with units.
    pub fn states(&self) -> [&'static str; 3] {
        fn of<M: Model>(_: &M) -> [&'static str; 3] {
            M::STATES
        }
        each_model!(self, model => of(model))
    }

    /// The parameters that a designer turns.
    pub fn knobs(&self) -> &'static [Knob] {
        fn of<M: Model>(_: &M) -> &'static [Knob] {
            M::KNOBS
        }
        each_model!(self, model => of(model))
    }

    /// The controller and the queue it describes, if registered.
    pub fn describes(&self) -> Option<Describes> {
        fn of<M: Model>(_: &M) -> Option<Describes> {
            M::DESCRIBES
        }
        each_model!(self, model => of(model))
    }

    /// The default states up to time 0.
    pub fn start(&self) -> State {
        each_model!(self, model => model.start())
    }

    /// The queue in packets.
    pub fn queue(&self, state: &State) -> f64 {
        each_model!(self, model => model.queue(state))
    }

    /// The published stability condition.
    pub fn theorem(&self) -> Theorem {
        each_model!(self, model => model.theorem())
    }

    /// The link and its users, with the round-trip time at the equilibrium.
    pub fn bottleneck(&self) -> Bottleneck {
        each_model!(self, model => model.bottleneck())
    }

    /// The model close to its equilibrium; the error is the reason that it has no equilibrium.
    pub fn local(&self) -> Result<Local, String> {
        each_model!(self, model => local(model))
    }

    /// The model from a constant history on, until `end` seconds.
    pub fn run(&self, start: State, end: f64) -> Result<Trajectory<3>, String> {
        each_model!(self, model => run(model, start, end))
    }
}

fn local(model: &impl Model) -> Result<Local, String> {
    let equilibrium = model.equilibrium()?;
    let linear = Linear::of(model, &equilibrium);
    Ok(Local { rtt: model.delay(&equilibrium.state), modes: spectrum::modes(&linear), equilibrium, linear })
}

/// A model in the integrator's form.
struct Closed<'a, M>(&'a M);

impl<M: Model> dde::Delayed<3, 1> for Closed<'_, M> {
    fn lags(&self, now: &State) -> [f64; 1] {
        [self.0.delay(now)]
    }
    fn derivative(&self, now: &State, [past]: &[State; 1]) -> State {
        self.0.derivative(now, past, self.0.probability(past))
    }
}

fn run(model: &impl Model, start: State, end: f64) -> Result<Trajectory<3>, String> {
    // The shortest delay that can be; the fastest part decays by e^(-1/4) in a step.
    let step = (model.delay(&[0.0; 3]) / 200.0).min(0.25 / model.fastest());
    dde::integrate(&Closed(model), &|_| start, end, step)
}

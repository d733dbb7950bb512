// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Stability over two parameters, point by point.

use super::axis::ParameterAxis;
use super::linear::C64;
use super::theorem::ROUNDING;
use super::{Config, damping};

/// The behaviour of a model at one point of a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MapPoint {
    /// The value on the first axis.
    pub x: f64,
    /// The value on the second.
    pub y: f64,
    /// The rightmost mode; nothing where the model has no equilibrium, or refuses the values.
    pub mode: Option<C64>,
    /// The left side of the published condition over the right one: it holds up to 1.
    pub theorem: f64,
    /// Whether all that it assumes holds, too.
    pub assumptions: bool,
}

impl MapPoint {
    /// The point (x, y) of a map.
    pub fn at(
        config: &Config,
        (x_axis, x): (&ParameterAxis, f64),
        (y_axis, y): (&ParameterAxis, f64),
    ) -> MapPoint {
        let model =
            x_axis.set(config, x).and_then(|config| y_axis.set(&config, y)).map(|config| config.build());
        let Ok(model) = model else {
            return MapPoint { x, y, mode: None, theorem: f64::NAN, assumptions: false };
        };
        let theorem = model.theorem();
        MapPoint {
            x,
            y,
            mode: model.local().ok().map(|local| local.mode()),
            theorem: theorem.left / theorem.right,
            assumptions: theorem.assumptions.iter().all(|(_, holds)| *holds),
        }
    }

    /// The damping ratio of the rightmost mode: 1 if it does not oscillate, negative if it grows.
    pub fn damping(&self) -> Option<f64> {
        self.mode.map(damping)
    }

    /// Whether the inequality of the published condition holds; not where the model refuses the values.
    pub fn allowed(&self) -> bool {
        self.theorem <= ROUNDING
    }

    /// Whether the model is stable there.
    pub fn stable(&self) -> bool {
        self.mode.is_some_and(|mode| mode.re < 0.0)
    }

    /// The fate of a small deviation, in a word.
    pub fn behaviour(&self) -> &'static str {
        match self.mode {
            None => "no equilibrium",
            Some(mode) if mode.re < 0.0 && mode.im > 0.0 => "decaying oscillation",
            Some(mode) if mode.re < 0.0 => "monotone",
            Some(_) => "unstable",
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Stability over two parameters, point by point.

use super::Config;
use super::axis::Axis;
use super::linear::C64;

/// What a model is at one point of a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The value on the first axis.
    pub x: f64,
    /// The value on the second.
    pub y: f64,
    /// The rightmost mode; nothing where the model has no equilibrium, or refuses the values.
    pub mode: Option<C64>,
    /// Whether the inequality of the published condition holds.
    pub theorem: bool,
    /// Whether all that it assumes holds, too.
    pub assumptions: bool,
}

impl Cell {
    /// The point (x, y) of a map.
    pub fn at(config: &Config, (x_axis, x): (&Axis, f64), (y_axis, y): (&Axis, f64)) -> Cell {
        let model =
            x_axis.set(config, x).and_then(|config| y_axis.set(&config, y)).map(|config| config.build(()));
        let Ok(model) = model else { return Cell { x, y, mode: None, theorem: false, assumptions: false } };
        let theorem = model.theorem();
        Cell {
            x,
            y,
            mode: model.local().ok().map(|local| local.mode()),
            theorem: theorem.holds(),
            assumptions: theorem.assumptions.iter().all(|(_, holds)| *holds),
        }
    }

    /// Whether the model is stable there.
    pub fn stable(&self) -> bool {
        self.mode.is_some_and(|mode| mode.re < 0.0)
    }

    /// What happens to a small deviation, in a word.
    pub fn behaviour(&self) -> &'static str {
        match self.mode {
            None => "no equilibrium",
            Some(mode) if mode.re < 0.0 && mode.im > 0.0 => "decaying oscillation",
            Some(mode) if mode.re < 0.0 => "monotone",
            Some(_) => "unstable",
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The settings of a model that are stable with a margin, and those that the published theorem allows.

use super::axis::ParameterAxis;
use super::boundary::intervals;
use super::{Config, Local};

crate::keys! {
    /// The goal of a design.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Goal {
        /// The least phase margin.
        #[serde(rename = "phase_margin_degrees")]
        pub phase: f64,
        /// The least gain margin, as a ratio.
        #[serde(rename = "gain_margin")]
        pub gain: f64,
        /// The least damping ratio of the rightmost mode.
        pub damping: f64,
    }
}

impl Goal {
    /// Stability and nothing more.
    pub const STABLE: Goal = Goal { phase: 0.0, gain: 1.0, damping: 0.0 };

    /// Whether a model meets it.
    pub fn met(&self, local: &Local) -> bool {
        if !(local.stable() && local.damping() >= self.damping) {
            return false;
        }
        if self.phase <= 0.0 && self.gain <= 1.0 {
            return true;
        }
        let margins = local.margins();
        margins.phase.is_none_or(|(phase, _)| phase >= self.phase)
            && margins.gain.is_none_or(|(gain, _)| gain >= self.gain)
    }
}

/// One parameter's values that meet a goal, with the others fixed.
#[derive(Clone, Debug)]
pub struct Design {
    /// The parameter and the values tried.
    pub axis: ParameterAxis,
    /// The intervals that meet the goal, in the axis's unit.
    pub exact: Vec<(f64, f64)>,
    /// The intervals that the published condition allows, regardless of the margin.
    pub theorem: Vec<(f64, f64)>,
    /// The intervals where the theorem's assumptions hold, too.
    pub assumed: Vec<(f64, f64)>,
}

/// The values of a parameter that meet the goal.
pub fn design(config: &Config, axis: ParameterAxis, goal: Goal) -> Result<Design, String> {
    let model = |value: f64| axis.set(config, value).map(|config| config.build());
    model(axis.from).or_else(|_| model(axis.to))?;
    let theorem = |value: f64| model(value).map(|model| model.theorem());
    Ok(Design {
        exact: intervals(&axis, |value| {
            model(value).and_then(|model| model.local()).is_ok_and(|local| goal.met(&local))
        }),
        theorem: intervals(&axis, |value| theorem(value).is_ok_and(|theorem| theorem.holds())),
        assumed: intervals(&axis, |value| {
            theorem(value)
                .is_ok_and(|theorem| theorem.holds() && theorem.assumptions.iter().all(|(_, holds)| *holds))
        }),
        axis,
    })
}

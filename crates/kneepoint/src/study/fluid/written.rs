// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Conditions, margins and designs in machine-readable form.

use serde::{Serialize, Serializer};

use super::{AsGiven, RightmostMode};
use crate::fluid::design::Design;
use crate::fluid::theorem::Theorem;
use crate::keys::{Keyed, Shape};

crate::keys! {
    /// A published stability condition.
    struct Condition<'t> {
        /// Its name.
        name: &'t str,
        /// The left side of the condition; null where it is undefined.
        left: f64,
        /// The right side, which the left one must not exceed.
        right: f64,
        /// Whether it holds.
        holds: bool,
        /// Its assumptions.
        assumptions: Vec<Assumption<'t>>,
    }

    /// An assumption of a condition.
    struct Assumption<'t> {
        /// The assumption.
        what: &'t str,
        /// Whether it holds.
        holds: bool,
    }

    /// A model as given.
    #[derive(Default)]
    struct Margins<'m> {
        /// Whether it has the margin; null without an equilibrium, as are the next three.
        meets_goal: Option<bool>,
        /// Its rightmost mode.
        mode: Option<RightmostMode>,
        /// Its phase margin; null if the gain never crosses 1.
        phase_margin_degrees: Option<f64>,
        /// Its gain margin, as a ratio; null if the phase never crosses.
        gain_margin: Option<f64>,
        /// The reason why it has no equilibrium; null if it has one.
        error: Option<&'m str>,
    }

    /// The designs along a parameter.
    struct Along<'d> {
        /// The parameter.
        parameter: &'d str,
        /// Its unit; empty for a plain number.
        unit: &'d str,
        /// The values that were tried.
        searched: Ends,
        /// Intervals with the margin.
        exact: Vec<Ends>,
        /// Intervals in which the published condition holds.
        theorem: Vec<Ends>,
        /// Intervals in which its assumptions hold, too.
        theorem_with_assumptions: Vec<Ends>,
    }

    /// An interval.
    struct Ends {
        /// The least value, in `unit`.
        from: f64,
        /// The greatest value, in `unit`.
        to: f64,
    }
}

impl Keyed for Theorem {
    const SHAPE: Shape = Condition::SHAPE;
}

impl Keyed for AsGiven {
    const SHAPE: Shape = Margins::SHAPE;
}

impl Keyed for Design {
    const SHAPE: Shape = Along::SHAPE;
}

impl Serialize for Theorem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let assumptions = self.assumptions.iter().map(|(what, holds)| Assumption { what, holds: *holds });
        let Theorem { name, left, right, .. } = *self;
        let assumptions = assumptions.collect();
        Condition { name, left, right, holds: self.holds(), assumptions }.serialize(serializer)
    }
}

impl Serialize for AsGiven {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let margins = match self {
            AsGiven::Margins { meets_goal, mode, phase_margin_degrees, gain_margin } => Margins {
                meets_goal: Some(*meets_goal),
                mode: Some(*mode),
                phase_margin_degrees: *phase_margin_degrees,
                gain_margin: *gain_margin,
                error: None,
            },
            AsGiven::None { error } => Margins { error: Some(error), ..Margins::default() },
        };
        margins.serialize(serializer)
    }
}

impl Serialize for Design {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Design { axis, exact, theorem, assumed } = self;
        let list = |intervals: &[(f64, f64)]| intervals.iter().map(|&(from, to)| Ends { from, to }).collect();
        let along = Along {
            parameter: &axis.name,
            unit: &axis.unit,
            searched: Ends { from: axis.from, to: axis.to },
            exact: list(exact),
            theorem: list(theorem),
            theorem_with_assumptions: list(assumed),
        };
        along.serialize(serializer)
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Fluid: a model's solution, its stability over two parameters, its boundary along one, and its designs.
//!
//! A fluid model has no packets and no seeds, so these studies request no runs: the outcome follows from the model alone.

mod written;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::fluid::axis::ParameterAxis;
use crate::fluid::boundary::{self, Boundary, Change};
use crate::fluid::design::{self, Design, Goal};
use crate::fluid::linear::C64;
use crate::fluid::map::MapPoint;
use crate::fluid::theorem::Theorem;
use crate::fluid::{Config, Local, State};
use crate::keys::Shape;
use crate::table::Table;

crate::keys! {
    /// A model and the parameters that were given; the others have their defaults.
    #[derive(Clone, Debug)]
    pub struct GivenModel {
        /// The name of the model.
        pub model: &'static str,
        /// The parameters that were given; the others have their defaults.
        pub parameters: Named<String> => Shape::Each("<parameter>", "The value as it was written."),
        /// The model with these parameters.
        #[serde(skip)]
        pub config: Config,
    }
}

impl GivenModel {
    /// The model and the given parameters: `pert rtt=171ms`.
    pub fn title(&self) -> String {
        let given = self.parameters.0.iter().map(|(name, value)| format!(" {name}={value}"));
        format!("{}{}", self.model, given.collect::<String>())
    }

    /// Whether this parameter was given.
    pub fn has(&self, name: &str) -> bool {
        self.parameters.0.iter().any(|(given, _)| *given == name)
    }
}

/// Values by name, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T>(pub Vec<(&'static str, T)>);

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

crate::keys! {
    /// A mode as its real and its imaginary part.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct RightmostMode {
        /// The growth of a deviation; negative if it dies out.
        #[serde(rename = "real_per_s")]
        pub real: f64,
        /// Its frequency; 0 if it does not oscillate.
        #[serde(rename = "imaginary_rad_s")]
        pub imaginary: f64,
    }
}

impl From<C64> for RightmostMode {
    fn from(mode: C64) -> RightmostMode {
        RightmostMode { real: mode.re, imaginary: mode.im }
    }
}

crate::keys! {
    /// The solution of a model from constant initial conditions.
    #[derive(Clone, Debug)]
    pub struct Solution {
        /// The model.
        #[serde(flatten)]
        pub subject: GivenModel,
        /// Whether it diverged, and so ends early.
        pub diverged: bool,
        /// The equilibrium; null without one.
        pub equilibrium: Option<Named<f64>> => Shape::Each("<state>", "The state there; also `probability` and `rtt_s`."),
        /// The reason why there is none; null if there is one.
        pub no_equilibrium: Option<String>,
        /// The rightmost mode at the equilibrium; null without one.
        pub mode: Option<RightmostMode>,
        /// Whether small deviations die out; null without an equilibrium.
        pub stable: Option<bool>,
        /// The published stability condition.
        pub theorem: Theorem,
        /// The least value of each state in the last quarter, after the transient.
        pub least: Named<f64> => Shape::Each("<state>", "The value."),
        /// The greatest value of each state in the last quarter.
        pub greatest: Named<f64> => Shape::Each("<state>", "The value."),
        /// The turning points of the window.
        pub turns: Vec<Turn>,
        /// The columns of the trajectory: the time and the states.
        pub columns: Vec<String>,
        /// Evenly spaced instants, the last included: a number for each column.
        pub trajectory: Vec<Vec<f64>>,
        /// The end in seconds, and the state there.
        #[serde(skip)]
        pub end: (f64, State),
    }
}

crate::keys! {
    /// A turning point of the window.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Turn {
        /// The instant.
        pub time_s: f64,
        /// The window there.
        pub window_packets: f64,
    }
}

/// The beginning of the last quarter of a solution of this length.
pub fn settled(end: f64) -> f64 {
    0.75 * end
}

impl Solution {
    /// The solution from `start` (by default the model's) until `until`, written out at intervals of `every`; both in
    /// seconds. The error says why it cannot be integrated.
    pub fn of(subject: GivenModel, start: Option<State>, until: f64, every: f64) -> Result<Solution, String> {
        let model = subject.config.build();
        let path = model.run(start.unwrap_or(model.start()), until)?;
        let (names, end) = (model.states(), path.end());
        let local = model.local();
        let known = local.as_ref().ok();
        let named = |state: State| Named(names.into_iter().zip(state).collect());
        let equilibrium = |near: &Local| {
            let Named(mut values) = named(near.equilibrium.state);
            values.extend([("probability", near.equilibrium.probability), ("rtt_s", near.rtt)]);
            Named(values)
        };
        let ranges = [0, 1, 2].map(|state| path.range(state, settled(end)));
        let turn = |(time_s, window_packets)| Turn { time_s, window_packets };
        let count = (end / every * (1.0 + 1e-12)) as u64;
        let instants = (0..=count).map(|place| (place as f64 * every).min(end));
        Ok(Solution {
            diverged: path.diverged,
            equilibrium: known.map(equilibrium),
            no_equilibrium: local.as_ref().err().cloned(),
            mode: known.map(|near| near.mode().into()),
            stable: known.map(Local::stable),
            theorem: model.theorem(),
            least: named(ranges.map(|(least, _)| least)),
            greatest: named(ranges.map(|(_, most)| most)),
            turns: path.extrema(0, 0.0, end).into_iter().map(turn).collect(),
            columns: ["time_s"].into_iter().chain(names).map(String::from).collect(),
            trajectory: instants.map(|at| [&[at], &path.at(at)[..]].concat()).collect(),
            end: (end, path.at(end)),
            subject,
        })
    }

    /// The trajectory as a table.
    pub fn series(&self) -> Table {
        Table { columns: self.columns.clone(), rows: self.trajectory.clone() }
    }
}

/// The points of a map that are to be computed.
#[derive(Clone, Debug)]
pub struct Plane {
    /// The model.
    pub subject: GivenModel,
    /// The parameter along x.
    pub x: ParameterAxis,
    /// The parameter along y.
    pub y: ParameterAxis,
}

impl Plane {
    /// The points at one value of y.
    pub fn row(&self, y: f64) -> Vec<MapPoint> {
        self.x.values().map(|x| MapPoint::at(&self.subject.config, (&self.x, x), (&self.y, y))).collect()
    }

    /// The map of all rows.
    pub fn map(self, rows: Vec<Vec<MapPoint>>) -> StabilityMap {
        let Plane { subject, x, y } = self;
        let points = rows.concat();
        let count = |of: &dyn Fn(&MapPoint) -> bool| points.iter().filter(|point| of(point)).count();
        let mistaken = |point: &MapPoint| point.mode.is_some() && !point.stable() && point.allowed();
        let counts = Counts {
            points: points.len(),
            with_equilibrium: count(&|point| point.mode.is_some()),
            stable: count(&MapPoint::stable),
            monotone: count(&|point| point.behaviour() == "monotone"),
            stable_and_allowed_by_theorem: count(&|point| point.stable() && point.allowed()),
            unstable_though_allowed_by_theorem: count(&mistaken),
            unstable_though_allowed_with_assumptions: count(&|point| mistaken(point) && point.assumptions),
        };
        StabilityMap { subject, x, y, counts, points }
    }
}

crate::keys! {
    /// The stability of a model over two parameters.
    #[derive(Clone, Debug)]
    pub struct StabilityMap {
        /// The model.
        #[serde(flatten)]
        pub subject: GivenModel,
        /// The parameter along x, with its unit.
        #[serde(serialize_with = "column")]
        pub x: ParameterAxis => Shape::Value,
        /// The parameter along y, with its unit.
        #[serde(serialize_with = "column")]
        pub y: ParameterAxis => Shape::Value,
        /// The number of points by behaviour.
        #[serde(flatten)]
        pub counts: Counts,
        /// The points, row by row.
        #[serde(skip)]
        pub points: Vec<MapPoint>,
    }
}

crate::keys! {
    /// Numbers of points of a map.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Counts {
        /// The number of points.
        pub points: usize,
        /// Of these, those with an equilibrium.
        pub with_equilibrium: usize,
        /// Points at which small deviations die out.
        pub stable: usize,
        /// Points at which they die out without oscillation.
        pub monotone: usize,
        /// Stable ones that the published condition allows.
        pub stable_and_allowed_by_theorem: usize,
        /// Unstable ones that it allows.
        pub unstable_though_allowed_by_theorem: usize,
        /// Of these, those that satisfy its assumptions.
        pub unstable_though_allowed_with_assumptions: usize,
    }
}

fn column<S: Serializer>(axis: &ParameterAxis, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&axis.column())
}

/// The first boundary of stability along a parameter.
#[derive(Clone, Debug)]
pub struct StabilityBoundary {
    /// The model.
    pub subject: GivenModel,
    /// The parameter.
    pub along: ParameterAxis,
    /// The boundary.
    pub found: Boundary,
    /// The published stability condition.
    pub theorem: Theorem,
}

impl StabilityBoundary {
    /// The boundary; the error names the fault of the axis.
    pub fn of(subject: GivenModel, along: ParameterAxis) -> Result<StabilityBoundary, String> {
        let found = boundary::boundary(&subject.config, &along)?;
        Ok(StabilityBoundary { theorem: subject.config.build().theorem(), subject, along, found })
    }
}

impl Serialize for StabilityBoundary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Boundary { unstable, mode, theorem, oscillating } = &self.found;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("model", self.subject.model)?;
        map.serialize_entry("parameters", &self.subject.parameters)?;
        for (what, change) in [("boundary", unstable), ("theorem", theorem), ("oscillation", oscillating)] {
            let at = change.map(|Change { at, .. }| at);
            map.serialize_entry(&format!("{what}_{}", self.along.column()), &at)?;
        }
        map.serialize_entry("frequency_rad_s", &mode.map(|mode| mode.im))?;
        let period = mode.filter(|mode| mode.im > 0.0).map(|mode| std::f64::consts::TAU / mode.im);
        map.serialize_entry("period_s", &period)?;
        map.serialize_entry("unstable_from_the_start", &unstable.is_some_and(|change| change.at_begin))?;
        map.end()
    }
}

crate::keys! {
    /// Parameter values for which a model is stable with a margin.
    #[derive(Clone, Debug)]
    pub struct Designs {
        /// The model.
        #[serde(flatten)]
        pub subject: GivenModel,
        /// The margin.
        pub goal: Goal,
        /// The model with the given parameters.
        pub as_given: AsGiven,
        /// The published stability condition, for the given parameters.
        pub theorem: Theorem,
        /// One for each parameter that was varied.
        pub designs: Vec<Design>,
    }
}

/// The margins of a model as given.
#[derive(Clone, Debug)]
pub enum AsGiven {
    /// Around its equilibrium.
    Margins {
        /// Whether it meets the goal.
        meets_goal: bool,
        /// The rightmost mode.
        mode: RightmostMode,
        /// None if the gain never crosses 1.
        phase_margin_degrees: Option<f64>,
        /// None if the phase never crosses.
        gain_margin: Option<f64>,
    },
    /// It has no equilibrium.
    None {
        /// The reason.
        error: String,
    },
}

/// Values tried along each parameter.
const POINTS: usize = 60;

impl Designs {
    /// The designs along `axes`, or else along each parameter that the model declares for design.
    pub fn of(subject: GivenModel, axes: Vec<ParameterAxis>, goal: Goal) -> Result<Designs, String> {
        let model = subject.config.build();
        let declared = || model.knobs().iter().map(|knob| ParameterAxis::of(knob, POINTS)).collect();
        let axes = if axes.is_empty() { declared() } else { Ok(axes) }?;
        let design = |axis| design::design(&subject.config, axis, goal);
        let designs = axes.into_iter().map(design).collect::<Result<_, _>>()?;
        let as_given = model.local().map_or_else(
            |error| AsGiven::None { error },
            |local| {
                let margins = local.margins();
                AsGiven::Margins {
                    meets_goal: goal.met(&local),
                    mode: local.mode().into(),
                    phase_margin_degrees: margins.phase.map(|(phase, _)| phase),
                    gain_margin: margins.gain.map(|(gain, _)| gain),
                }
            },
        );
        Ok(Designs { theorem: model.theorem(), subject, goal, as_given, designs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trajectory_is_evenly_spaced_and_ends_with_the_solution() {
        let config = Config::named("pert").unwrap();
        let subject = GivenModel { model: "pert", parameters: Named(Vec::new()), config };
        let solution = Solution::of(subject, None, 1.0, 0.1).unwrap();
        assert_eq!(solution.trajectory.len(), 11);
        assert_eq!(solution.trajectory[0], [0.0, 1.0, 1.0, 1.0]);
        assert!((solution.trajectory[10][0] - 1.0).abs() < 1e-9);
        assert_eq!(solution.columns[1..], ["window_packets", "queueing_delay_s", "average_delay_s"]);
    }
}

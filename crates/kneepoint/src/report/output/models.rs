// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Documents about fluid models and the Markov model.

use super::Output;
use super::Part::{self, Estimate, In, Key};

/// A model as it was given.
const GIVEN: &[Part] = &[
    Key("model", "The name of the model."),
    Key("parameters", "The parameters that were given; the others have their defaults."),
    Key("parameters.<parameter>", "The value as it was written."),
];

const MODE: &[Part] = &[
    Key("real_per_s", "The growth of a deviation; negative if it dies out."),
    Key("imaginary_rad_s", "Its frequency; 0 if it does not oscillate."),
];

/// A published stability condition.
const THEOREM: &[Part] = &[
    Key("name", "Its name."),
    Key("left", "The left side of the condition; null where it is undefined."),
    Key("right", "The right side, which the left one must not exceed."),
    Key("holds", "Whether it holds."),
    Key("assumptions[]", "What it assumes."),
    Key("assumptions[].what", "The assumption."),
    Key("assumptions[].holds", "Whether it holds."),
];

const ENDS: &[Part] =
    &[Key("from", "The least value, in `unit`."), Key("to", "The greatest value, in `unit`.")];

const SAMPLED: &[Part] = &[
    Estimate("throughput_pps", "Packets delivered."),
    Estimate("efficiency", "The throughput over the mean fair rate."),
    Estimate("losses_per_s", "Loss events."),
];

pub(super) const ALL: &[Output] = &[
    Output {
        name: "Trajectory",
        from: &["knee fluid run --json"],
        about: "",
        parts: &[
            In("", GIVEN),
            Key("diverged", "Whether it left the finite numbers, and so ends early."),
            Key("equilibrium", "The equilibrium; null without one."),
            Key("equilibrium.<state>", "The state there; also `probability` and `rtt_s`."),
            Key("no_equilibrium", "Why there is none; null if there is one."),
            Key("mode", "The rightmost mode at the equilibrium; null without one."),
            In("mode", MODE),
            Key("stable", "Whether small deviations die out; null without an equilibrium."),
            Key("theorem", "The published stability condition."),
            In("theorem", THEOREM),
            Key("least", "The least value of each state in the last quarter, after the transient."),
            Key("least.<state>", "The value."),
            Key("greatest", "The greatest value of each state in the last quarter."),
            Key("greatest.<state>", "The value."),
            Key("turns[]", "The turning points of the window."),
            Key("turns[].time_s", "The instant."),
            Key("turns[].window_packets", "The window there."),
            Key("columns[]", "The columns of the trajectory: the time and the states."),
            Key("trajectory[][]", "Evenly spaced instants, the last included: a number for each column."),
        ],
    },
    Output {
        name: "Stability map",
        from: &["knee fluid stability --json"],
        about: "",
        parts: &[
            In("", GIVEN),
            Key("x", "The parameter along x, with its unit."),
            Key("y", "The parameter along y, with its unit."),
            Key("points", "The number of points."),
            Key("with_equilibrium", "Of these, those with an equilibrium."),
            Key("stable", "Those at which small deviations die out."),
            Key("monotone", "Those at which they die out without oscillation."),
            Key("stable_and_allowed_by_theorem", "Stable ones that the published condition allows."),
            Key("unstable_though_allowed_by_theorem", "Unstable ones that it allows."),
            Key("unstable_though_allowed_with_assumptions", "Of these, those that satisfy its assumptions."),
            Key("csv", "The file with the points."),
            Key("svg", "The file with the map."),
        ],
    },
    Output {
        name: "Stability boundary",
        from: &["knee fluid boundary --json"],
        about: "",
        parts: &[
            In("", GIVEN),
            Key(
                "boundary_<parameter>",
                "The first value of the parameter at which the model is unstable; null if it is stable throughout. The key ends in the parameter with its unit, as in `boundary_rtt_ms`.",
            ),
            Key(
                "theorem_<parameter>",
                "The first value at which the published condition fails; null if it holds throughout.",
            ),
            Key(
                "oscillation_<parameter>",
                "The first value at which small deviations oscillate; null if they never do.",
            ),
            Key("frequency_rad_s", "The frequency at the boundary; null without one."),
            Key("period_s", "The period at the boundary; null if it does not oscillate there."),
            Key("unstable_from_the_start", "Whether the model is unstable at the first value already."),
        ],
    },
    Output {
        name: "Designs",
        from: &["knee fluid design --json"],
        about: "",
        parts: &[
            In("", GIVEN),
            Key("goal", "The margin."),
            Key("goal.phase_margin_degrees", "The least phase margin."),
            Key("goal.gain_margin", "The least gain margin, as a ratio."),
            Key("goal.damping", "The least damping ratio of the rightmost mode."),
            Key("as_given", "The model with the given parameters."),
            Key(
                "as_given.meets_goal",
                "Whether it has the margin; null without an equilibrium, as are the next three.",
            ),
            Key("as_given.mode", "Its rightmost mode."),
            In("as_given.mode", MODE),
            Key("as_given.phase_margin_degrees", "Its phase margin; null if the gain never crosses 1."),
            Key("as_given.gain_margin", "Its gain margin, as a ratio; null if the phase never crosses."),
            Key("as_given.error", "Why it has no equilibrium; null if it has one."),
            Key("theorem", "The published stability condition, for the given parameters."),
            In("theorem", THEOREM),
            Key("designs[]", "One for each parameter that was varied."),
            Key("designs[].parameter", "The parameter."),
            Key("designs[].unit", "Its unit; empty for a plain number."),
            Key("designs[].searched", "The values that were tried."),
            In("designs[].searched", ENDS),
            Key("designs[].exact[]", "Intervals with the margin."),
            In("designs[].exact[]", ENDS),
            Key("designs[].theorem[]", "Intervals in which the published condition holds."),
            In("designs[].theorem[]", ENDS),
            Key("designs[].theorem_with_assumptions[]", "Intervals in which its assumptions hold, too."),
            In("designs[].theorem_with_assumptions[]", ENDS),
        ],
    },
    Output {
        name: "Markov model",
        from: &["knee markov --json"],
        about: "",
        parts: &[
            Key("parameters", "The parameters that all points share."),
            Key("parameters.<parameter>", "The value as it would be written."),
            Key("along", "The parameter that varies, with its unit; null without one."),
            Key("points[]", "One for each protocol at each value, and for each change of a reading."),
            Key("points[].case", "The protocol with its backlog."),
            Key("points[].protocol", "The protocol."),
            Key("points[].change", "The reading that differs; null for those that were chosen."),
            Key("points[].at", "The value of the parameter that varies; null without one."),
            Key("points[].error", "Which parameters do not fit together; null if there is a solution."),
            Key("points[].solution", "The solution of the analysis; null if there is none."),
            Key("points[].solution.throughput_pps", "Packets delivered."),
            Key("points[].solution.efficiency", "The throughput over the mean fair rate."),
            Key("points[].solution.losses_per_s", "Loss events: each ends in a timeout."),
            Key("points[].solution.loss_probability", "Loss events per packet transmitted."),
            Key(
                "points[].solution.mean_window_packets",
                "The mean window at the epochs of congestion avoidance.",
            ),
            Key("points[].solution.fair_rate_pps", "The mean fair rate."),
            Key("points[].solution.states", "States of congestion avoidance."),
            Key("points[].solution.transitions", "Transitions of positive probability out of them."),
            Key(
                "points[].solution.residual",
                "The sum of the absolute differences between the stationary law and its image under the transition matrix.",
            ),
            Key("points[].drawn", "The same process by drawing; null without `--monte-carlo`."),
            In("points[].drawn", SAMPLED),
            Key("points[].packets", "Simulated packets; null without `--packets`."),
            In("points[].packets", SAMPLED),
        ],
    },
];

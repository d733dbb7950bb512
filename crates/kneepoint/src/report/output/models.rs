// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Documents about fluid models and the Markov model.

use super::Output;
use super::Part::{Key, Of};
use crate::keys::Keyed;
use crate::markov::{Sampled, Solution};
use crate::study::fluid::{self, Designs, GivenModel, StabilityMap};

pub(super) const ALL: &[Output] = &[
    Output {
        name: "Trajectory",
        from: &["knee fluid run --json"],
        about: "",
        parts: &[Of("", fluid::Solution::SHAPE)],
    },
    Output {
        name: "Stability map",
        from: &["knee fluid stability --json"],
        about: "",
        parts: &[
            Of("", StabilityMap::SHAPE),
            Key("csv", "The file with the points."),
            Key("svg", "The file with the map."),
        ],
    },
    Output {
        name: "Stability boundary",
        from: &["knee fluid boundary --json"],
        about: "",
        parts: &[
            Of("", GivenModel::SHAPE),
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
        parts: &[Of("", Designs::SHAPE)],
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
            Key("points[].change", "The changed reading; null for the chosen ones."),
            Key("points[].at", "The value of the parameter that varies; null without one."),
            Key("points[].error", "Which parameters do not fit together; null if there is a solution."),
            Key("points[].solution", "The solution of the analysis; null if there is none."),
            Of("points[].solution", Solution::SHAPE),
            Key("points[].drawn", "The same process by drawing; null without `--monte-carlo`."),
            Of("points[].drawn", Sampled::SHAPE),
            Key("points[].packets", "Simulated packets; null without `--packets`."),
            Of("points[].packets", Sampled::SHAPE),
        ],
    },
];

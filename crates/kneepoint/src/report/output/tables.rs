// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files of columns: CSV, and Parquet with the same columns.

use super::Part::{self, Columns, HeadlineColumns, Key};
use super::{Definition, Output, unit};
use crate::measure::{COLUMNS, Subject, courses};

/// A pair of controllers in a setting.
pub(super) const CELLS: &[Part] = &[
    Key("row", "The controller whose share it is."),
    Key("column", "The other controller."),
    Key("buffer", "The buffer."),
    Key("flows", "The number of flows of both."),
    Key("row_flows", "Flows of the row."),
    Key("column_flows", "Flows of the column."),
    Key("runs", "The number of runs."),
    Key("fair_share", "The row's part of the flows."),
    Key("share", "The row's part of the bytes that the link served."),
    Key("share_of_fair", "The row's goodput over its fair share."),
    Key("share_of_fair_half_width", "Half the width of its 95 % confidence interval."),
    Key("left_of_fair", "The column's goodput over its fair share."),
    Key("left_of_fair_half_width", "Half the width of its 95 % confidence interval."),
    Key("drop_ratio_row", "The row's dropped packets, as a fraction of its arriving packets."),
    Key("drop_ratio_row_half_width", "Half the width of its 95 % confidence interval."),
    Key("drop_ratio_column", "The column's dropped packets, as a fraction of its arriving packets."),
    Key("drop_ratio_column_half_width", "Half the width of its 95 % confidence interval."),
    Key(
        "loss_ratio",
        "The row's drop ratio over the column's: b / (1 - b), where b is the mean over the runs of the row's drop ratio over the sum of both. None where the column lost nothing.",
    ),
    Key("loss_ratio_low", "The same of the lower end of the 95 % confidence interval of b."),
    Key("loss_ratio_high", "The same for the upper end; none where that is 1."),
    Key("utilization", "The utilization of the link, as a fraction."),
    Key("queue_mean_normalized", "The mean queue, as a fraction of the buffer."),
];

/// The reports of a kernel's controller.
pub(super) const REPORTED: &[Part] = &[
    Key("time_s", "The time of the report."),
    Key("controller", "The congestion control."),
    Key("source", "The sender: address and port."),
    Key("destination", "The receiver: address and port."),
    Key("window_packets", "The congestion window."),
    Key("ssthresh_packets", "The slow-start threshold."),
    Key("rtt_ms", "The latest round-trip time."),
    Key("smoothed_rtt_ms", "The smoothed round-trip time."),
    Key("least_rtt_ms", "The least round-trip time."),
    Key("queueing_delay_ms", "The queueing delay that the controller estimates."),
    Key("alpha_packets", "The additive increase."),
    Key("probability", "The probability of an early response."),
    Key("mode", "The mode of the controller; empty without modes."),
    Key("early_responses", "Early responses so far."),
    Key("losses", "Losses so far."),
    Key("in_flight_packets", "Packets in flight."),
    Key("delivered_packets", "Packets delivered so far."),
    Key("closed", "1 in the last report of a flow, else 0."),
];

const SEED: Part = Key("seed", "The seed of the run.");

/// Last, since it represents columns of any name.
const FACTORS: Part = Key(
    "<factor>",
    "A column for each factor, before all others: `scheme` of `compare`, and the factors, each with its unit, as `rtt_ms` or `buffer_bdp`. Numbers where all its levels are.",
);

/// A sampled series.
pub const SERIES: Output = Output {
    name: "series",
    from: &[
        "OUT/series/NAME-seedN.csv and .parquet",
        "OUT/series/NAME-N.csv of knee live",
        "OUT/series/emulation.csv and .parquet",
    ],
    about: "A line for each sampling instant of a run, the measurement window and the rest.",
    parts: &[Part::Series],
};

/// Coexistence.
pub const COEXISTENCE: Output = Output {
    name: "coexistence",
    from: &["OUT/coexistence.csv and .parquet"],
    about: "A line for each pair in each setting.",
    parts: CELLS,
};

/// Two results side by side.
pub const DIFFERENCES: Output = Output {
    name: "differences",
    from: &["OUT/differences.csv and .parquet of knee diff"],
    about: "A line for each metric of each case that both results have.",
    parts: &[
        Key("case", "The case, by its name in the second result."),
        Key("metric", "The key of the metric, with its unit."),
        Key("of", "The link, group or other part that it is of; empty for the whole run."),
        Key("a", "The mean of the first result over the seeds that both have."),
        Key("a_half_width", "Half the width of its 95 % confidence interval."),
        Key("b", "The mean of the second result over the same seeds."),
        Key("b_half_width", "Half the width of its 95 % confidence interval."),
        Key("difference", "The mean of the second minus the first, seed by seed."),
        Key("difference_half_width", "Half the width of its 95 % confidence interval."),
        Key("seeds", "The number of seeds that both have."),
        Key(
            "p",
            "The probability of so large a difference between equal cases, after Holm's correction over all lines; none without two common seeds, and where nothing is random.",
        ),
        Key("apart", "1 if the difference is distinguishable from chance, else 0."),
        Key("<column>", "A column for each factor of the second result, with its level."),
    ],
};

/// The observations of an experiment.
pub const ESTIMATES: Output = Output {
    name: "estimates",
    from: &["OUT/data/ID.csv and .parquet of knee reproduce"],
    about: "A line for each metric at each point of an experiment.",
    parts: &[
        Key("variant", "The reading of the publication; the first is the one that was taken."),
        Key("metric", "The metric."),
        Key("mean", "Its mean over the seeds, in its unit."),
        Key("half_width", "Half the width of its 95 % confidence interval."),
        Key("seeds", "The number of seeds."),
        Key("<axis>", "A column for each axis of the sweep and of the rows."),
    ],
};

/// Reports of a kernel's controllers.
pub const RECORDS: Output = Output {
    name: "records",
    from: &["OUT/records.csv and .parquet of knee kernel trace"],
    about: "A line for each report of a controller.",
    parts: REPORTED,
};

/// Every file of columns.
pub const TABLES: &[Output] = &[
    Output {
        name: "summary",
        from: &["OUT/summary.csv"],
        about: "A line for each scheme or case.",
        parts: &[Key("runs", "The number of runs."), HeadlineColumns, FACTORS],
    },
    Output {
        name: "runs",
        from: &["OUT/runs.csv"],
        about: "A line for each run.",
        parts: &[
            SEED,
            Columns(Subject::Run),
            Key("cpu_seconds", "Processor time that the run took."),
            Key("bottleneck_packets", "Packets that the bottleneck served in the whole run."),
            Key("events", "Events that the engine handled."),
            FACTORS,
        ],
    },
    Output {
        name: "links",
        from: &["OUT/links.csv"],
        about: "A line for each measured link of each run.",
        parts: &[SEED, Columns(Subject::Link), FACTORS],
    },
    Output {
        name: "groups",
        from: &["OUT/groups.csv"],
        about: "A line for each group of each run.",
        parts: &[SEED, Columns(Subject::Group), FACTORS],
    },
    Output {
        name: "crossings",
        from: &["OUT/crossings.csv"],
        about: "A line for each group at each of several measured links, of each run.",
        parts: &[SEED, Columns(Subject::Crossing), FACTORS],
    },
    Output {
        name: "classes",
        from: &["OUT/classes.csv"],
        about: "A line for each class of transfers by size, of each run.",
        parts: &[SEED, Columns(Subject::Class), FACTORS],
    },
    Output {
        name: "completions",
        from: &["OUT/completions.csv"],
        about: "A line for each time by which transfers of a group had completed, of each run.",
        parts: &[SEED, Columns(Subject::Completion), FACTORS],
    },
    Output {
        name: "startups",
        from: &["OUT/startups.csv"],
        about: "A line for each start-up delay of the live streams of a group, of each run.",
        parts: &[SEED, Columns(Subject::Startup), FACTORS],
    },
    Output {
        name: "drop_windows",
        from: &["OUT/drop_windows.csv"],
        about: "A line for each window that packets of a group did not exceed when they were dropped, of each run.",
        parts: &[SEED, Columns(Subject::DropWindow), FACTORS],
    },
    Output {
        name: "objects",
        from: &["OUT/objects/NAME-seedN.csv"],
        about: "A line for each transfer that completed in the measurement window, in the order of completion.",
        parts: &[
            Key("group", "The group of traffic."),
            Key("began_s", "When it was requested."),
            Key("size_bytes", "Its size."),
            Key("completion_time_s", "How long it took."),
        ],
    },
    SERIES,
    COEXISTENCE,
    DIFFERENCES,
    ESTIMATES,
    Output {
        name: "traces",
        from: &["the table of trace in Python"],
        about: "A line for each trace file.",
        parts: &[
            Key("file", "The file, as given."),
            Key("form", "Its form: `mahimahi`, `text`, `csv` or `json`."),
            Key("entries", "Delivery opportunities, or rows with a rate."),
            Key("duration_s", "After how long it repeats."),
            Key("mean_bps", "The mean rate."),
            Key("least_bps", "The least mean rate of an interval."),
            Key("p5_bps", "The 5th percentile of these rates."),
            Key("p50_bps", "Their median."),
            Key("p95_bps", "Their 95th percentile."),
            Key("greatest_bps", "The greatest of them."),
            Key("gaps", "The number of gaps."),
            Key("longest_gap_ms", "The longest gap; 0 without one."),
        ],
    },
    Output {
        name: "scores",
        from: &["OUT/scores.csv of knee predict"],
        about: "A line for each flow, run, predictor and judge.",
        parts: &[
            Key("flow", "The flow."),
            Key("seed", "The seed; empty for a capture."),
            Key("predictor", "The predictor with its settings."),
            Key("judged_by", "The losses it is judged by: `flow` or `queue`."),
            Key("n1", "Transitions from low to high."),
            Key("n2", "From high to a loss."),
            Key("n3", "From a loss to low."),
            Key("n4", "From low to a loss."),
            Key("n5", "From high to low."),
            Key("n6", "From a loss to high."),
            Key("efficiency", "n2 / (n2 + n5): the fraction of predictions that a loss followed."),
            Key("false_positives", "n5 / (n2 + n5): the fraction of predictions that no loss followed."),
            Key("false_negatives", "n4 / (n2 + n4): the fraction of losses that were not predicted."),
            Key("balance", "The F1 score, 2 n2 / (2 n2 + n5 + n4)."),
            FACTORS,
        ],
    },
    Output {
        name: "connection",
        from: &["OUT/series/NAME.csv of knee plot, for qlog"],
        about: "A line for each time that the state of recovery was recorded.",
        parts: &[
            Key("time_s", "When, from the first event."),
            Key("window_bytes", "The congestion window."),
            Key("in_flight_bytes", "Bytes in flight."),
            Key("rtt_least_ms", "The smallest round-trip time so far."),
            Key("rtt_smoothed_ms", "The smoothed round-trip time."),
            Key("rtt_latest_ms", "The latest round-trip time."),
            Key("delivered_bytes", "Bytes of packets that were acknowledged so far."),
        ],
    },
    Output {
        name: "candidates",
        from: &["OUT/candidates.csv of knee identify"],
        about: "A line for each flow and candidate, the least error first.",
        parts: &[
            Key("flow", "The flow."),
            Key("file", "The qlog; empty for captures, which are taken together."),
            Key("controller", "The controller."),
            Key("version", "Whose version it is."),
            Key("same", "All controllers, with their versions, whose windows never differ in the flow."),
            Key("error", "The mean distance of expected and observed packets in flight, as a logarithm."),
            Key("likelihood", "The likelihood, as a part of that of all candidates."),
            Key("named", "1 if it is in the answer, else 0."),
        ],
    },
    Output {
        name: "trajectory",
        from: &["OUT/trajectory.csv of knee fluid run, and its --csv"],
        about: "A line for each of evenly spaced instants.",
        parts: &[
            Key("time_s", "The instant."),
            Key("<state>", "A column for each state of the model, with its unit."),
        ],
    },
    Output {
        name: "stability",
        from: &["OUT/stability.csv of knee fluid stability"],
        about: "A line for each point of the map.",
        parts: &[
            Key("real_per_s", "The growth of a small deviation; empty without an equilibrium."),
            Key("imaginary_rad_s", "Its frequency."),
            Key("behaviour", "The course of a small deviation."),
            Key(
                "theorem_ratio",
                "The left side of the published condition over the right one, which holds up to 1.",
            ),
            Key("assumptions_hold", "Whether its assumptions hold: `true` or `false`."),
            Key("<parameter>", "The two parameters, with their units."),
        ],
    },
    Output {
        name: "markov",
        from: &["OUT/markov.csv of knee markov"],
        about: "A line for each point.",
        parts: &[
            Key("session", "The protocol with its backlog."),
            Key("reading", "The reading that differs, or `as chosen`."),
            Key("throughput_pps", "Packets delivered, by the analysis."),
            Key("efficiency", "The throughput over the mean fair rate."),
            Key("losses_per_s", "Loss events."),
            Key("loss_probability", "Loss events per packet transmitted."),
            Key("mean_window_packets", "The mean window at the epochs of congestion avoidance."),
            Key("fair_rate_pps", "The mean fair rate."),
            Key("states", "States of congestion avoidance."),
            Key("transitions", "Transitions of positive probability out of them."),
            Key("residual", "The distance of the stationary law from its image under the transition matrix."),
            Key(
                "drawn_<quantity>",
                "The same by drawing, with its half width; empty without `--monte-carlo`.",
            ),
            Key(
                "packets_<quantity>",
                "The same of simulated packets, with its half width; empty without `--packets`.",
            ),
            Key("<parameter>", "The parameter that varies, with its unit, or `at` without one."),
        ],
    },
    Output {
        name: "live",
        from: &["OUT/live.csv"],
        about: "A line for each case and metric.",
        parts: &[
            Key("case", "The case."),
            Key("of", "The link or the group."),
            Key("metric", "The metric."),
            Key("measured", "The kernel's mean, in the unit of the metric."),
            Key("measured_half_width", "Half the width of its 95 % confidence interval."),
            Key("predicted", "The simulator's mean."),
            Key("predicted_half_width", "Half the width of its 95 % confidence interval."),
            Key("error", "The difference relative to the kernel's; empty where that is 0."),
        ],
    },
    Output {
        name: "film",
        from: &["OUT/video.csv"],
        about: "A line for each case, player and metric.",
        parts: &[
            Key("case", "The case."),
            Key("player", "The player."),
            Key("metric", "The metric."),
            Key("mean", "Its mean over the runs that count, in its unit."),
            Key("half_width", "Half the width of its 95 % confidence interval."),
        ],
    },
    RECORDS,
];

/// The columns of the series: declared ones, reports of sources, and the variables that controllers report.
pub(super) fn series() -> Vec<Definition> {
    let declared = COLUMNS.iter().map(|column| Definition {
        path: column.pattern(),
        unit: unit(column.name),
        about: column.about.to_string(),
    });
    let shown = Definition {
        path: "<variable>[<group>]".to_string(),
        unit: "",
        about: "Mean over the group's active flows of a variable that its controllers show, with its unit."
            .to_string(),
    };
    let reported = courses().map(|course| Definition {
        path: format!("{}[<group>]", course.name),
        unit: unit(course.name),
        about: course.about.to_string(),
    });
    declared.chain(reported).chain([shown]).collect()
}

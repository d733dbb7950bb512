// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Documents about simulated runs, about scenarios and about names.

use super::Output;
use super::Part::{self, Headlines, In, Key, Of, Subjects};
use crate::keys::Keyed;
use crate::report::connections::Connections;
use crate::report::difference::Difference;
use crate::report::identification::Identification;
use crate::report::predictions::Predictions;
use crate::report::{Beside, Factor, Manifest, RunResult};
use crate::report::{gate, hunt};
use crate::run::cost::Term;
use crate::study::caution::Caution;

/// A fault of a text.
pub(super) const FAULT: &[Part] = &[
    Key("file", "The file, `-` for standard input."),
    Key("line", "The line, from 1."),
    Key("column", "The column in characters, from 1."),
    Key("message", "The fault: the value and the allowed range."),
    Key("remedy", "The remedy; null where the message has it."),
];

const EXTREME: &[Part] = &[
    Key("beside", "The other controller."),
    Key("buffer", "The buffer."),
    Key("flows", "The number of flows of both."),
    Key("mean", "The mean over the runs, as a fraction of the fair share."),
    Key("half_width", "Half the width of its 95 % confidence interval."),
];

const NAMED: &[Part] = &[
    Key("items[]", "One for each name."),
    Key(
        "items[].kind",
        "The kind of the item: `controller`, `queue`, …; `key` for a key of a file, which `knee explain` defines.",
    ),
    Key("items[].name", "The name in scenarios, or the path of the key."),
    Key("items[].summary", "One sentence."),
    Key("items[].citation", "The publication; empty without one."),
];

pub(super) const ALL: &[Output] = &[
    Output {
        name: "Comparison",
        from: &["knee compare --json", "knee run --json", "knee plot --json", "OUT/summary.json"],
        about: "",
        parts: &[
            Key("title", "The title of the report."),
            Key(
                "verdict",
                "The best scheme, its lead, the confidence in it, and its cost: the first sentence of the report.",
            ),
            Key(
                "factors[]",
                "The factors of the schemes: `scheme` of `compare`, the axes of a sweep; none of a scenario without one.",
            ),
            Of("factors[]", Factor::SHAPE),
            Key("schemes[]", "One for each scheme, or for each case of the sweep."),
            Key("schemes[].scheme", "Its full name."),
            Key("schemes[].levels", "Its levels, by the columns of the factors."),
            Key("schemes[].levels.<column>", "The level: a number in the unit of the factor, or a name."),
            Key("schemes[].controls", "The congestion controls of its groups."),
            Key("schemes[].controls.<group>", "The name of the controller."),
            Key(
                "schemes[].measured_s[]",
                "The beginning and the end of the part of each run that was measured; null where that is unknown.",
            ),
            Headlines("schemes[]"),
            Key(
                "schemes[].fluid",
                "The fluid model that describes it; null without `--overlay fluid`, and where there is none.",
            ),
            Of("schemes[].fluid", Beside::SHAPE),
            Subjects("schemes[]"),
            Key("schemes[].runs[]", "One for each seed."),
            Of("schemes[].runs[]", RunResult::SHAPE),
            Key("cautions[]", "The limits of the runs."),
            Of("cautions[]", Caution::SHAPE),
            Key("manifest", "Enough to repeat the runs."),
            Of("manifest", Manifest::SHAPE),
        ],
    },
    Output {
        name: "Difference",
        from: &["knee diff --json", "OUT/difference.json"],
        about: "Two results side by side: `a` is the first, `b` the second.",
        parts: &[Of("", Difference::SHAPE)],
    },
    Output {
        name: "Forecast",
        from: &[
            "knee compare --dry-run --json",
            "knee run --dry-run --json",
            "knee coexist --dry-run --json",
            "knee reproduce --dry-run --json",
        ],
        about: "",
        parts: &[
            Key("runs", "Different runs that the study wants."),
            Key("kept", "Of these, those that are kept and would be read back."),
            Key("new", "Runs that would be made, of the shard if there is one."),
            Key("left", "Runs that would be left to other shards."),
            Key(
                "cpu_seconds",
                "Processor time of the new ones, by trial of some of them; null if none was tried.",
            ),
            Key("seconds", "The time that passes; null on a cluster, and if none was tried."),
            Key("jobs", "Runs in parallel; null on a cluster without `--jobs`."),
            Key("threads", "Threads of the run that is divided over most; 1 where none is."),
            Key("packets", "The approximate number of packets that the new ones send."),
            Key(
                "memory_bytes",
                "The memory of `jobs` new parallel runs on so many threads, with the results of all runs for the report; on a cluster, the memory of one run.",
            ),
            Key(
                "memory_allowed_bytes",
                "Their limit, from `--memory` or the machine; null on a cluster, and where it is unknown.",
            ),
            Key("memory[]", "The uses of memory by the largest run, the greatest part first."),
            Of("memory[]", Term::SHAPE),
            Key("memory[].bytes", "Bytes in all."),
            Key("shard", "The shard, as `1/2`; null without `--shard`."),
            Key("on", "The cluster that would make the new runs; null without `--on`."),
            Key("store", "The directory searched for kept runs."),
            Key(
                "url",
                "The remote store that the directory mirrors; runs that only it has are counted as new. Null without one.",
            ),
        ],
    },
    Output {
        name: "Shard",
        from: &[
            "knee compare --shard I/N --json",
            "knee run --shard I/N --json",
            "knee coexist --shard I/N --json",
            "knee reproduce --shard I/N --json",
        ],
        about: "While runs are left to other shards. The last shard prints what the verb prints without `--shard`; further seeds and other readings, which `knee reproduce` wants once it has seen the first outcomes, are made by that shard alone.",
        parts: &[
            Key("shard", "The shard, as `1/2`."),
            Key("runs", "Different runs that the study wants, or with `--readings` both studies."),
            Key("kept", "The kept runs among these."),
            Key("left", "Runs that are left to other shards."),
        ],
    },
    Output {
        name: "Coexistence",
        from: &["knee coexist --json", "OUT/coexistence.json"],
        about: "",
        parts: &[
            Key("title", "The title of the report."),
            Key("about", "The setting in a sentence."),
            Key("mix", "The row's part of the flows."),
            Key("enough", "Which part of a fair share is enough."),
            Key("rule", "How verdicts are reached."),
            Key("control", "Controllers against themselves."),
            Key("verdicts[]", "One for each controller."),
            Key("verdicts[].controller", "The controller."),
            Key("verdicts[].verdict", "The verdict."),
            Key("verdicts[].grounds", "What it rests on."),
            Key("verdicts[].takes_least", "Where it gets least; null without a run."),
            In("verdicts[].takes_least", EXTREME),
            Key("verdicts[].leaves_least", "Where it leaves least to the others; null without a run."),
            In("verdicts[].leaves_least", EXTREME),
            Key("cells[]", "One for each pair in each setting."),
            In("cells[]", super::tables::CELLS),
            Key("cells[].meetings[]", "One for each run of the pair, for `knee plot`."),
            Key("cells[].meetings[].share", "The part of the bytes served that is the row's."),
            Key(
                "cells[].meetings[].drop_ratio_row",
                "The row's packets dropped, as a fraction; null without a packet.",
            ),
            Key("cells[].meetings[].drop_ratio_column", "The column's."),
            Key("cells[].meetings[].utilization", "Utilization, as a fraction."),
            Key("cells[].meetings[].queue_mean_normalized", "Mean queue of buffer, as a fraction."),
            Key("manifest", "Enough to repeat the runs."),
            Of("manifest", Manifest::SHAPE),
        ],
    },
    Output {
        name: "Claims",
        from: &["knee reproduce --json", "OUT/claims.json"],
        about: "",
        parts: &[
            Key("claims[]", "One for each claim of each experiment, each on its own line."),
            Key("claims[].experiment", "The id of the experiment."),
            Key("claims[].claim", "The id of the claim in it."),
            Key("claims[].text", "The claim in words."),
            Key("claims[].verdict", "Whether it holds."),
            Key("claims[].certain", "Whether the intervals over the seeds confirm the verdict."),
            Key("claims[].ours", "Our number, or our numbers by name; null where the claim is about none."),
            Key("claims[].ours.<name>", "Our number."),
            Key(
                "claims[].intervals",
                "Half the width of the 95 % confidence interval of `ours`, in the same form.",
            ),
            Key("claims[].intervals.<name>", "Half the width."),
            Key("claims[].published", "The published number, as the experiment writes it."),
            Key("claims[].tolerance", "The tolerance of the check, as the experiment writes it."),
            Key("claims[].reason", "Why it fails, where that is said."),
            Key(
                "claims[].cause",
                "Where the cause lies: `publication`, `unstated`, `ours` or `unknown`; null if it holds.",
            ),
            Key("claims[].pace", "`full`, or `quick` for shortened runs."),
            Key("claims[].seeds", "The number of seeds of the point with most."),
            Key("claims[].alternatives", "Verdicts under other readings of the publication, by their names."),
            Key("claims[].alternatives.<reading>", "The verdict."),
            Key("claims[].points[]", "One for each point at which the claim was checked."),
            Key("claims[].points[].at", "The point of the sweep, by axis."),
            Key("claims[].points[].at.<axis>", "The label along the axis."),
            Key("claims[].points[].check", "The check."),
            Key("claims[].points[].left", "Its left side."),
            Key("claims[].points[].right", "Its right side."),
            Key("claims[].points[].margin", "Its margin; negative where it fails."),
            Key(
                "claims[].points[].half_width",
                "Half the width of the 95 % confidence interval of the margin.",
            ),
            Key("claims[].points[].seeds", "The number of seeds that both sides have."),
            Key("claims[].points[].holds", "Whether it holds there."),
        ],
    },
    Output {
        name: "Experiments",
        from: &["knee reproduce --list --json"],
        about: "",
        parts: &[
            Key("experiments[]", "One for each experiment."),
            Key("experiments[].name", "The name that selects it."),
            Key("experiments[].id", "Its id."),
            Key("experiments[].paper", "The publication that it belongs to."),
            Key("experiments[].title", "Its title."),
            Key("experiments[].source", "The figure or table."),
            Key("experiments[].claims", "The number of its claims."),
            Key("experiments[].file", "Its file."),
        ],
    },
    Output {
        name: "Gate",
        from: &["knee gate run --json", "knee gate accept --json"],
        about: "The exit status is 1 if a case failed and 2 if one could not be judged, although there is an answer.",
        parts: &[Of("", gate::Told::SHAPE)],
    },
    Output {
        name: "Gate files",
        from: &["knee gate init --json"],
        about: "",
        parts: &[
            Key("gate", "The file that says what to test."),
            Key("workflow", "The workflow of GitHub Actions."),
        ],
    },
    Output {
        name: "Hunt",
        from: &["knee hunt --json", "OUT/hunt.json"],
        about: "`--resume` goes on from this file.",
        parts: &[Of("", hunt::Hunted::SHAPE)],
    },
    Output {
        name: "Manifest",
        from: &["OUT/manifest.json of knee reproduce"],
        about: "",
        parts: &[Of("", Manifest::SHAPE)],
    },
    Output {
        name: "Predictions",
        from: &["knee predict --json", "OUT/scores.json"],
        about: "",
        parts: &[Of("", Predictions::SHAPE)],
    },
    Output {
        name: "Connections",
        from: &["knee plot --json, for qlog", "OUT/connections.json of knee plot"],
        about: "",
        parts: &[Of("", Connections::SHAPE)],
    },
    Output {
        name: "Identification",
        from: &["knee identify --json", "OUT/identification.json"],
        about: "",
        parts: &[Of("", Identification::SHAPE)],
    },
    Output {
        name: "Captured flows",
        from: &["knee predict --flows --json"],
        about: "",
        parts: &[
            Key(
                "flows[]",
                "One for each sender of TCP data in the capture, the ones with the most data first.",
            ),
            Key("flows[].flow", "Sender and receiver: `ADDRESS:PORT-ADDRESS:PORT`."),
            Key("flows[].bytes", "Payload that it sent."),
            Key("flows[].packets", "Data packets, in the segments of the first transmission."),
            Key(
                "flows[].losses",
                "Packets lost, as counted by retransmissions, in the segments of the first transmission.",
            ),
            Key("flows[].round_trips", "Samples of the round-trip time."),
            Key("flows[].duration_s", "From its first packet to its last."),
            Key("notes[]", "Remarks for readers."),
        ],
    },
    Output {
        name: "Checked files",
        from: &["knee check --json"],
        about: "The exit status is 2 if a file is not valid, although there is an answer.",
        parts: &[
            Key("files[]", "One for each file that could be read."),
            Key("files[].file", "The file."),
            Key("files[].valid", "Whether it is valid. If it is not, the four keys below are null."),
            Key("files[].name", "The name of the scenario, or the title of the experiment."),
            Key("files[].cases", "The number of cases of its sweep."),
            Key("files[].seeds[]", "The seeds."),
            Key("files[].extent", "Cases, seeds and runs in words."),
            Key("files[].faults[]", "Every fault; empty if it is valid."),
            In("files[].faults[]", FAULT),
        ],
    },
    Output { name: "Names", from: &["knee list --json"], about: "", parts: NAMED },
    Output {
        name: "Explanations",
        from: &["knee explain --json"],
        about: "",
        parts: &[
            In("", NAMED),
            Key("items[].header", "The documentation of its file: equations, citation, readings."),
            Key("items[].parameters[]", "Its parameters."),
            Key("items[].parameters[].name", "The name."),
            Key("items[].parameters[].kind", "The kind of value."),
            Key("items[].parameters[].default", "The default."),
            Key("items[].parameters[].range", "The allowed range; null without one."),
            Key("items[].parameters[].choices[]", "The allowed names, if it is one of several."),
            Key("items[].parameters[].choices[].name", "The name."),
            Key("items[].parameters[].choices[].doc", "What it means."),
            Key("items[].parameters[].doc", "What the parameter is."),
        ],
    },
    Output {
        name: "Studio",
        from: &["knee studio --json"],
        about: "",
        parts: &[
            Key("page", "The file that was written; null where the page is served."),
            Key("address", "Where browsers of this machine find the page; null with `--out`."),
        ],
    },
    Output {
        name: "Example",
        from: &["knee init --json"],
        about: "",
        parts: &[Key("file", "The file that was written; null with `-`."), Key("text", "The scenario.")],
    },
    Output {
        name: "Manual pages",
        from: &["knee man --json"],
        about: "",
        parts: &[
            Key("directory", "The directory they were written to; null without `--out`."),
            Key("pages[]", "The names of the pages."),
            Key("text", "The page of `knee` where none was written, else null."),
        ],
    },
    Output {
        name: "Errors",
        from: &["every verb with --json, on standard error"],
        about: "One object on one line, the last of standard error. Standard output is empty, unless a verb was interrupted: then it has \
                what was finished.",
        parts: &[
            Key(
                "status",
                "The exit status: 1 for an error while reading, writing or running, 2 for invalid arguments or an invalid scenario, 130 after Ctrl-C.",
            ),
            Key("message", "The error."),
            Key("remedy", "The remedy; null where the message has it."),
            Key("faults[]", "Every fault of a scenario, an experiment or a trace; empty for other errors."),
            In("faults[]", FAULT),
        ],
    },
];

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Documents about this machine: its kernel, emulated links, kept traces.

use super::Output;
use super::Part::{self, In, Key, Of};
use super::documents::FAULT;
use crate::keys::Keyed;
use crate::report::{live, playback, recording};
use crate::table::Row;
use crate::tcp::script::Difference;

const LATENESS: &[Part] = &[
    Key("p50", "The median, in microseconds."),
    Key("p99", "The 99th percentile, in microseconds."),
    Key("max", "The greatest, in microseconds."),
];

/// A loaded algorithm's parameters.
const SETTINGS: &[Part] = &[
    Key("settings", "The parameters; null if it is not loaded."),
    Key("settings.<parameter>", "The value."),
];

pub(super) const ALL: &[Output] = &[
    Output {
        name: "Kernel and simulator",
        from: &["knee live --json", "OUT/live.json"],
        about: "",
        parts: &[Of("", live::Report::SHAPE)],
    },
    Output {
        name: "Clients",
        from: &["knee live --client --json"],
        about: "",
        parts: &[
            Key("clients[]", "One for each group of each run."),
            Key("clients[].case", "The case."),
            Key("clients[].repetition", "The number of the run."),
            Key("clients[].group", "The group."),
            Key("clients[].quantity", "What was measured."),
            Key("clients[].unit", "Its unit."),
            Key("clients[].client", "What the program says."),
            Key("clients[].meter", "What the meter says."),
            Key("clients[].spoiled", "Why the run does not count; null if it counts."),
        ],
    },
    Output {
        name: "Film",
        from: &["knee live video --json", "OUT/video.json"],
        about: "",
        parts: &[Of("", playback::Report::SHAPE)],
    },
    Output {
        name: "Traces",
        from: &["knee trace --json"],
        about: "",
        parts: &[Of("", recording::Traces::SHAPE)],
    },
    Output {
        name: "Emulation",
        from: &["knee emulate --json", "OUT/summary.json of knee emulate"],
        about: "",
        parts: &[
            Key("valid", "Whether packets were in time."),
            Key("spoiled", "Why they were not; null if they were."),
            Key("seconds", "The length of the emulation."),
            Key("lateness_us", "How much later than the link's clock says packets reached their hosts."),
            In("lateness_us", LATENESS),
            Key("real_time", "Whether it had real-time scheduling."),
            Key("traps[]", "Reasons why numbers may mislead, in words."),
            Key("rows[]", "The results, as in a simulated run."),
            Of("rows[]", Row::SHAPE),
        ],
    },
    Output {
        name: "Probe of an emulated link",
        from: &["knee emulate --probe --json"],
        about: "",
        parts: &[
            Key("valid", "Whether packets were in time, by the emulator's own clock."),
            Key("good", "Whether 99 of 100 packets of the stream were within 0.1 ms."),
            Key("real_time", "Whether emulator and probe had real-time scheduling."),
            Key("delay_promised_ms", "The one-way delay of a packet that is alone."),
            Key("sparse_error_us", "The error of the delay of packets far apart."),
            In("sparse_error_us", LATENESS),
            Key("stream_error_us", "The error of the delay of packets in a stream."),
            In("stream_error_us", LATENESS),
            Key("lateness_us", "The same by the emulator's own clock."),
            In("lateness_us", LATENESS),
            Key("packets", "Single packets that were sent."),
            Key("lost", "Of these, those that did not arrive."),
            Key("rate_promised_mbps", "The rate of the link."),
            Key("rate_mbps", "The rate of trains of packets."),
            Key("rate_mbps.median", "Of all trains, in Mbit/s."),
            Key("rate_mbps.min", "The least, in Mbit/s."),
            Key("rate_mbps.max", "The greatest, in Mbit/s."),
            Key("trains", "The number of trains."),
            Key("train_packets", "The length of a train."),
        ],
    },
    Output {
        name: "Replay",
        from: &["knee replay --json"],
        about: "The exit status is 1 if windows part.",
        parts: &[
            Key("cc", "The controller with its settings."),
            Key("on[]", "The implementations."),
            Key("steps", "The number of steps of the trace."),
            Key("verdict", "`agree`, `part`, or `undecided` where a draw was too close."),
            Key("step", "The first step at which they part; null if they agree."),
            Key(
                "greatest_difference",
                "The greatest difference of windows, relative to the window; null if they part.",
            ),
            Key("shown[]", "The steps around it."),
            Key("shown[].step", "The step, from 1."),
            Key("shown[].at_us", "Its time."),
            Key("shown[].heard", "The signals to the controllers."),
            Key("shown[].windows", "The windows after it, in packets, by implementation."),
            Key("shown[].windows.<implementation>", "The window, in packets."),
            Key("shown[].difference", "Their relative difference."),
        ],
    },
    Output {
        name: "Drill",
        from: &["knee drill --json"],
        about: "The exit status is 1 if a script failed, and 2 if one is outside the subset and none failed.",
        parts: &[
            Key("scripts[]", "One for each script."),
            Key("scripts[].file", "The file."),
            Key("scripts[].verdict", "`passed`, `failed`, or `refused` for a script outside the subset."),
            Key("scripts[].events", "Events that occurred; null for a refused script."),
            Key("scripts[].difference", "The first difference; null if there is none."),
            Of("scripts[].difference", Difference::SHAPE),
            Key("scripts[].faults[]", "Why the script is refused; empty if it is not."),
            In("scripts[].faults[]", FAULT),
            Key("passed", "Scripts that passed."),
            Key("failed", "Scripts that failed."),
            Key("refused", "Scripts outside the subset."),
        ],
    },
    Output {
        name: "This machine",
        from: &["knee doctor --json"],
        about: "",
        parts: &[
            Key("version", "The version of knee."),
            Key("revision", "The revision of its source."),
            Key("cores", "Processor cores."),
            Key("kernel", "The kernel."),
            Key("memory_mib", "Physical memory; null where it is unknown."),
            Key("findings[]", "One for each capability."),
            Key("findings[].name", "The capability."),
            Key("findings[].available", "Whether this machine has it."),
            Key("findings[].detail", "What was found."),
            Key("findings[].used_for", "What it is used for."),
        ],
    },
    Output {
        name: "Cleaning",
        from: &["knee doctor --clean --json"],
        about: "",
        parts: &[
            Key("done[]", "What was removed, in words."),
            Key("kept[]", "The resources of a process, in words."),
        ],
    },
    Output {
        name: "Kernel: controllers",
        from: &["knee kernel list --json"],
        about: "",
        parts: &[
            Key("controllers[]", "The congestion controls of this build."),
            Key("controllers[].name", "The name for sockets."),
            Key("controllers[].controller", "The controller of the laboratory."),
            Key("controllers[].summary", "One sentence."),
            Key("controllers[].loaded", "Whether it is loaded; without root, by whomever."),
            In("controllers[]", SETTINGS),
        ],
    },
    Output {
        name: "Kernel: load",
        from: &["knee kernel load --json"],
        about: "",
        parts: &[
            Key("name", "The name for sockets."),
            In("", SETTINGS),
            Key("cgroup", "The cgroup whose sockets read a TCP option; null for controllers without one."),
        ],
    },
    Output {
        name: "Kernel: unload",
        from: &["knee kernel unload --json"],
        about: "",
        parts: &[
            Key("unloaded[]", "One for each."),
            Key("unloaded[].name", "The name."),
            Key("unloaded[].sockets", "Open sockets that keep it until they close."),
            Key(
                "unloaded[].default",
                "The default congestion control that was put back; null if it was not the default.",
            ),
        ],
    },
    Output {
        name: "Kernel: status",
        from: &["knee kernel status --json"],
        about: "",
        parts: &[
            Key("name", "The name for sockets."),
            Key("controller", "The controller of the laboratory."),
            In("", SETTINGS),
            Key("since", "When it was loaded, ISO 8601."),
            Key("sockets", "Sockets that use it; null where that is unknown."),
            Key("runs_counted", "Whether the kernel counts runs."),
            Key("option", "The use of its TCP option; null for controllers without one."),
            Key("option.written", "Packets sent with it."),
            Key("option.told", "Packets that told a rate."),
            Key("programs[]", "Its programs."),
            Key("programs[].name", "The name."),
            Key("programs[].runs", "How often it ran."),
            Key("programs[].time_s", "The time that it took."),
        ],
    },
    Output {
        name: "Kernel: default",
        from: &["knee kernel default --json"],
        about: "",
        parts: &[
            Key(
                "default",
                "The default congestion control from now on; null if `--restore` had nothing to do.",
            ),
            Key("previous", "The default before; null if `--restore` had nothing to do."),
        ],
    },
    Output {
        name: "Kernel: flows",
        from: &["knee kernel top --json"],
        about: "",
        parts: &[
            Key("flows[]", "The flows that reported within a second."),
            In("flows[]", super::tables::REPORTED),
            Key("flows[].rate_packets_per_s", "Packets delivered; null in the first report of a flow."),
        ],
    },
    Output {
        name: "Kernel: trace",
        from: &["knee kernel trace --json"],
        about: "",
        parts: &[
            Key("records", "The number of records."),
            Key("out", "The directory that they were written to."),
        ],
    },
    Output {
        name: "Kernel: queue law",
        from: &["knee kernel aqm LAW --json"],
        about: "",
        parts: &[
            Key("law", "The law."),
            Key("device", "The device."),
            Key("netns", "Its network namespace; null for the present one."),
            In("", SETTINGS),
        ],
    },
    Output {
        name: "Kernel: state of a queue law",
        from: &["knee kernel aqm status --json"],
        about: "",
        parts: &[
            Key("device", "The device."),
            Key("netns", "Its network namespace; null for the present one."),
            In("", SETTINGS),
            Key("queue_packets", "The queue at the latest arrival."),
            Key("probability", "The probability of a drop or mark."),
            Key(
                "average_window_packets",
                "The average of the windows that packets carry; 0 for a law that does not average.",
            ),
            Key("packets", "Packets that were judged."),
            Key("hinted", "Of these, those that carry a window."),
            Key("spared", "Packets that their window spared."),
            Key("dropped", "Packets that were dropped."),
            Key("marked", "Packets that were marked."),
            Key("unmarkable", "Packets that were dropped because they could not be marked."),
        ],
    },
    Output {
        name: "Kernel: hints",
        from: &["knee kernel hint --json"],
        about: "",
        parts: &[
            Key("device", "The device."),
            Key("netns", "Its network namespace; null for the present one."),
            Key("hinted", "Packets with a window so far."),
        ],
    },
    Output {
        name: "Kernel: removal",
        from: &["knee kernel aqm remove --json", "knee kernel hint remove --json"],
        about: "",
        parts: &[
            Key("removed", "What was removed: `aqm` or `hint`."),
            Key("device", "The device."),
            Key("netns", "Its network namespace; null for the present one."),
        ],
    },
    Output {
        name: "Kernel: rates",
        from: &["knee kernel rate list --json", "knee kernel rate set --json"],
        about: "",
        parts: &[
            Key("rates[]", "The rates given to senders, or the one just set."),
            Key("rates[].destination", "The host."),
            Key("rates[].rate_bps", "The rate."),
        ],
    },
    Output {
        name: "Kernel: cleared rates",
        from: &["knee kernel rate clear --json"],
        about: "",
        parts: &[Key("cleared", "How many were cleared.")],
    },
];

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The quantities of a series.

use crate::measure::Subject;

/// A quantity of a series: `drops` has the columns `drops[r1-r2]`, ….
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// The name before the brackets, with the unit.
    pub name: &'static str,
    /// The subject, whose name stands in the brackets: a measured link, a group, or one of its flows.
    pub subject: Subject,
    /// A sentence.
    pub about: &'static str,
}

/// Every quantity, but for the variables that controllers show: these are means over a group's active flows.
pub const COLUMNS: [Column; 15] = [
    column("time_s", Subject::Run, "The sampling instant."),
    column("queue_packets", Subject::Link, "Packets that wait, without the one in transmission."),
    column(
        "link_throughput_bps",
        Subject::Link,
        "Bits transmitted since the instant before, over the time since.",
    ),
    column(
        "capacity_bps",
        Subject::Link,
        "Bits that the link could have transmitted since the instant before, over the time since; of links whose capacity varies.",
    ),
    column(
        "delay_ms",
        Subject::Link,
        "How long a packet travels on the link from the instant on; of links whose delay changes.",
    ),
    column("drops", Subject::Link, "Packets that the queue dropped since the instant before."),
    column("marks", Subject::Link, "Packets that got a congestion mark since the instant before."),
    column(
        "throughput_bps",
        Subject::Group,
        "Payload that reached receivers for the first time since the instant before, in order or not, over the time since.",
    ),
    column("active_flows", Subject::Group, "Flows that have begun and not ended."),
    column(
        "retransmissions",
        Subject::Group,
        "Segments that its senders retransmitted since the instant before.",
    ),
    column("timeouts", Subject::Group, "Retransmission timers that expired since the instant before."),
    column("rtt_ms", Subject::Group, "Mean over its active flows of the latest round-trip time."),
    column(
        "window_packets",
        Subject::Flow,
        "Congestion window of some flows, or of every flow with `--sample all`.",
    ),
    column("flow_rtt_ms", Subject::Flow, "Its latest round-trip time, with `--sample all`."),
    column(
        "flow_throughput_bps",
        Subject::Flow,
        "Payload that reached its receiver for the first time since the instant before, over the time since, with `--sample all`.",
    ),
];

impl Column {
    /// Its name with its subject's between `<` and `>`: `queue_packets[<link>]`.
    pub fn pattern(&self) -> String {
        match self.subject {
            Subject::Run => self.name.to_string(),
            Subject::Flow => format!("{}[<group>/<flow>]", self.name),
            subject => format!("{}[<{subject}>]", self.name),
        }
    }
}

const fn column(name: &'static str, subject: Subject, about: &'static str) -> Column {
    Column { name, subject, about }
}

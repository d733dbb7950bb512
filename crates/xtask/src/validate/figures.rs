// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The figures that are compared, from a recorded row and from the rows of our run.

use std::collections::BTreeMap;

use kneepoint::measure::Subject;
use kneepoint::table::Row;
use serde_json::Value;

use crate::setting::{self, Setup};

/// The place of measurement: the bottleneck, a hop, or the flows over all hops.
pub type Location = String;

/// Figures of one run at one place; NaN where the simulator does not report them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Mean queue over the buffer.
    pub queue: f64,
    /// Packets dropped, and over packets arrived.
    pub drops: Ratio,
    /// Packets marked, and over packets arrived.
    pub marks: Ratio,
    /// Bits on the wire over the link's capacity.
    pub utilization: f64,
    /// Payload of the long flows over the link's rate.
    pub goodput: f64,
    /// Jain's index of the long flows.
    pub jain: f64,
}

/// A count of packets and the fraction it is of all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The count.
    pub packets: f64,
    /// The fraction.
    pub ratio: f64,
}

const UNKNOWN: Ratio = Ratio { packets: f64::NAN, ratio: f64::NAN };

const NOTHING: Figures = Figures {
    queue: f64::NAN,
    drops: UNKNOWN,
    marks: UNKNOWN,
    utilization: f64::NAN,
    goodput: f64::NAN,
    jain: f64::NAN,
};

/// The place where flows over all hops are measured.
const ALL_HOPS: &str = "all hops";

impl Figures {
    /// The figures of a recorded row.
    pub fn recorded(row: &Value, setup: &Setup) -> BTreeMap<Location, Figures> {
        let number = |value: &Value, key: &str| value[key].as_f64().unwrap_or(f64::NAN);
        let ratio = |value: &Value, count: &str, rate: &str| Ratio {
            packets: number(value, count),
            ratio: number(value, rate),
        };
        let Some(links) = row["links"].as_array() else {
            // With data in both directions the recorded bytes cannot be distinguished from 32-bit wraps.
            let two_way = setup.count("rev", 0) > 0;
            let figures = Figures {
                queue: number(row, "q_norm"),
                drops: ratio(row, "drops", "drop_rate"),
                marks: ratio(row, "marks", "mark_rate"),
                utilization: if two_way { f64::NAN } else { number(row, "util_wire") },
                goodput: number(row, "util_goodput_long"),
                jain: number(row, "jain"),
            };
            return BTreeMap::from([("bottleneck".into(), figures)]);
        };
        let rate = number(row, "bw") / 1e6;
        let hop = |(place, link): (usize, &Value)| {
            let figures = Figures {
                queue: number(link, "q_norm"),
                drops: ratio(link, "drops", "drop_rate"),
                // Later hops count marks of earlier ones again.
                marks: if place == 0 {
                    let share = number(link, "mark_rate_cum");
                    Ratio { packets: share * number(link, "arrivals"), ratio: share }
                } else {
                    UNKNOWN
                },
                utilization: number(link, "util_wire"),
                goodput: number(link, "goodput_adjacent_mbps") / rate,
                jain: number(link, "jain_adjacent"),
            };
            (format!("hop {}", place + 1), figures)
        };
        let mut places: BTreeMap<Location, Figures> = links.iter().enumerate().map(hop).collect();
        let goodput = number(row, "goodput_long_mbps") / rate;
        places.insert(ALL_HOPS.into(), Figures { goodput, jain: number(row, "jain_long"), ..NOTHING });
        places
    }

    /// The figures of our run at the same places.
    pub fn ours(rows: &[Row], setup: &Setup) -> BTreeMap<Location, Figures> {
        let rate = setup.number("bw", 150e6);
        let buffer = setting::buffer(setup);
        // ns-2's Vegas counts the header as payload.
        let payload = if setup.scheme().0 == "vegas" { 1000.0 / 960.0 } else { 1.0 };
        let at = |link: &Row, group: &Row| Figures {
            queue: link.value("queue_mean_packets") / buffer,
            drops: Ratio { packets: link.value("drops"), ratio: link.value("drop_ratio") },
            marks: Ratio { packets: link.value("marks"), ratio: link.value("mark_ratio") },
            utilization: link.value("utilization"),
            ..flows(group, rate / payload)
        };
        let of = |subject: Subject| rows.iter().filter(|row| subject.has(row)).collect::<Vec<_>>();
        // Web traffic comes after the long flows, which alone have a fairness.
        let (links, mut groups) = (of(Subject::Link), of(Subject::Group));
        groups.retain(|group| group.value("flows").is_finite());
        if !setup.parking_lot() {
            return BTreeMap::from([("bottleneck".into(), at(links[0], groups[0]))]);
        }
        let hops = links.iter().zip(&groups).enumerate();
        let mut places: BTreeMap<Location, Figures> =
            hops.map(|(place, (link, group))| (format!("hop {}", place + 1), at(link, group))).collect();
        if let Some(long) = groups.last() {
            places.insert(ALL_HOPS.into(), flows(long, rate / payload));
        }
        places
    }

    /// The mean over runs.
    pub fn mean(runs: &[Figures]) -> Figures {
        let mean = |of: &dyn Fn(&Figures) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
        Figures {
            queue: mean(&|run| run.queue),
            drops: Ratio { packets: mean(&|run| run.drops.packets), ratio: mean(&|run| run.drops.ratio) },
            marks: Ratio { packets: mean(&|run| run.marks.packets), ratio: mean(&|run| run.marks.ratio) },
            utilization: mean(&|run| run.utilization),
            goodput: mean(&|run| run.goodput),
            jain: mean(&|run| run.jain),
        }
    }
}

fn flows(group: &Row, rate: f64) -> Figures {
    Figures { goodput: group.value("goodput_bps") / rate, jain: group.value("jain_index"), ..NOTHING }
}

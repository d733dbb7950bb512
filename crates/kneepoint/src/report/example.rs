// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A comparison that never ran, to try reports on.

use super::{Comparison, Factors, Manifest, RunResult, SCHEMA_VERSION, SchemeResult};
use crate::measure::Subject;
use crate::scenario::Settings;
use crate::table::{Labels, Row, Table, jain_index};

/// Two schemes, three seeds.
pub(super) fn comparison() -> Comparison {
    of("Two schemes on a dumbbell", &["reno/droptail", "prert/pi"])
}

/// Any number of schemes, three seeds; the more to the right the emptier their queues.
pub(super) fn of(title: &str, schemes: &[&str]) -> Comparison {
    Comparison::of_schemes(
        title.into(),
        (0..).zip(schemes).map(|(place, scheme)| scheme_result(scheme, place)).collect(),
        Manifest {
            schema_version: SCHEMA_VERSION,
            tool_version: "0.1.0".into(),
            git_revision: Some("a07d871".into()),
            scenario: vec![(
                "dumbbell.toml".into(),
                "# <a> & b, see https://example.org\nduration = \"100s\"\n".into(),
            )],
            files: [("arrivals.csv".into(), "4e07408562bedb8b60ce05c1decfe3ad".into())].into(),
            scenario_hash: "6b86b273ff34fce19d6b804eff5a3f57".into(),
            seeds: vec![1, 2, 3],
            host: Some("laboratory, 8 cores".into()),
            kernel: Some("Linux 6.12".into()),
            created: Some("2026-01-02T03:04:05Z".into()),
            command: Some("knee compare dumbbell.toml --seeds 3".into()),
            notes: vec!["Buffers of one bandwidth-delay product.".into()],
            presets: Default::default(),
        },
    )
}

/// Four congestion controls with three buffers and three round trips, three seeds, without series.
pub(super) fn grid() -> Comparison {
    let pair = |key: &str, value: &str| (key.to_string(), value.to_string());
    let mut cases: Vec<Settings> = Vec::new();
    for control in ["cubic", "reno", "bbr", "vegas"] {
        for buffer in ["0.5bdp", "1bdp", "2bdp"] {
            cases.extend(["20ms", "80ms", "200ms"].map(|rtt| {
                vec![
                    pair("flows.long.cc", control),
                    pair("topology.buffer", buffer),
                    pair("topology.rtt", rtt),
                ]
            }));
        }
    }
    let all = Factors::of(&cases);
    let schemes = all.levels.iter().enumerate().map(|(case, levels)| {
        let place = (levels[0] + levels[2]) as u64;
        let mut scheme = scheme_result(&all.name(case, ""), place);
        scheme.runs.iter_mut().for_each(|run| run.rows.retain(|row| !Subject::Length.has(row)));
        SchemeResult { levels: levels.clone(), series: None, ..scheme }
    });
    let schemes = schemes.collect();
    Comparison { factors: all.factors, schemes, ..of("A grid", &[]) }
}

/// Noise in [-1, 1] that is the same each time.
fn noise(step: u64) -> f64 {
    let mixed = step.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn scheme_result(scheme: &str, place: u64) -> SchemeResult {
    let level = 600.0 / (1.0 + 1.3 * place as f64);
    let runs = (1..=3).map(|seed| RunResult {
        seed,
        cpu_seconds: 1.25 + 0.1 * noise(seed),
        bottleneck_packets: 1_875_000 + seed,
        events: 9_000_000 + seed,
        rows: rows(level * (1.0 + 0.05 * noise(seed + 10 * place)), place),
    });
    SchemeResult {
        scheme: scheme.into(),
        levels: Vec::new(),
        controls: Labels::from([("forward".to_string(), "reno".to_string())]),
        runs: runs.collect(),
        measured: Some((50.0, 100.0)),
        series: Some(series(level, place)),
        theory: None,
    }
}

/// The metrics of a distribution of times around `scale` milliseconds.
fn times(row: Row, key: &str, scale: f64) -> Row {
    let statistics = [("mean", 1.0), ("p50", 0.9), ("p90", 1.6), ("p95", 1.9), ("p99", 2.4), ("max", 2.9)];
    statistics.iter().fold(row, |row, (name, factor)| row.with(format!("{key}_{name}_ms"), factor * scale))
}

fn rows(level: f64, place: u64) -> Vec<Row> {
    let delay = 1e3 * level / 18_750.0;
    let goodput = |flow| 1.45e7 * (1.0 + 0.2 * noise(flow + 100 * place + level as u64));
    let goodputs: Vec<f64> = (0..10).map(goodput).collect();
    let drops = (40_000 / (place + 1)) as f64;
    let of_link = |row: Row| {
        times(row, "queueing_delay", delay)
            .with("queue_mean_packets", level)
            .with("queue_mean_normalized", level / 1125.0)
            .with("drop_ratio", drops / 1_900_000.0)
            .with("mark_ratio", (12_000 * place) as f64 / 1_900_000.0)
            .with("utilization", 0.9987 - 0.004 * place as f64 - 0.00001 * level)
    };
    let run = of_link(Row::new([]))
        .with("window_s", 100.0)
        .with("jain_index", jain_index(&goodputs))
        .with("flow_goodput_bps", goodputs.iter().sum::<f64>() / 10.0);
    let link = of_link(Row::new([("link", "r1-r2".into())]))
        .with("buffer_packets", 1125.0)
        .with("capacity_bps", 1.5e8)
        .with("arrivals", 1_900_000.0)
        .with("drops", drops);
    let forward = times(group("forward", 0.8, level), "rtt", 60.0 + delay)
        .with("flows", 10.0)
        .with("goodput_bps", goodputs.iter().sum())
        .with("jain_index", jain_index(&goodputs))
        .with("repairs", 420.0)
        .with("timeouts", 3.0)
        .with("completions", 0.0);
    let noise = times(group("noise", 0.2, level), "delay", 30.0 + delay)
        .with("delivered_packets", 390_000.0)
        .with("throughput_bps", 3e7);
    let whole = [run, link, forward, noise];
    whole
        .into_iter()
        .chain(lengths(level))
        .chain(["forward", "noise"].map(|name| position(name, level)))
        .collect()
}

fn group(name: &str, share: f64, level: f64) -> Row {
    Row::new([("group", name.into())])
        .with("share", share)
        .with("drop_ratio", 0.0105)
        .with("throughput_variance_to_mean_bps", 2e5 * (1.0 + share))
        .with("queue_position_mean", level / 1125.0)
        .with("queue_position_median", level / 1125.0)
        .with("queue_position_entropy", 0.0)
}

/// All packets of a group found the same queue.
fn position(group: &str, level: f64) -> Row {
    let middle = (libm::floor(20.0 * level / 1125.0) + 0.5) / 20.0;
    Row::new([("group", group.into()), ("bin", format!("{middle:.4}"))]).with("queue_position_share", 1.0)
}

fn lengths(level: f64) -> Vec<Row> {
    let weight = |length: u32| {
        let off = (f64::from(length) - level) / (30.0 + 0.25 * level);
        libm::exp(-0.5 * off * off)
    };
    let total: f64 = (0..1126).map(weight).sum();
    let row = |length: u32| {
        let labels = [("link", "r1-r2".into()), ("bin", length.to_string())];
        Row::new(labels).with("queue_length_share", weight(length) / total)
    };
    (0..1126).map(row).collect()
}

fn series(level: f64, place: u64) -> Table {
    let columns = [
        "time_s",
        "queue_packets[r1-r2]",
        "link_throughput_bps[r1-r2]",
        "drops[r1-r2]",
        "marks[r1-r2]",
        "throughput_bps[forward]",
        "active_flows[forward]",
        "retransmissions[forward]",
        "timeouts[forward]",
        "rtt_ms[forward]",
        "window_packets[forward/0]",
        "window_packets[forward/9]",
    ];
    let row = |step: u64| {
        let time = step as f64 * 0.05;
        let saw = |period: f64, phase: f64| {
            let turn = time / period + phase;
            turn - libm::floor(turn)
        };
        let started = (time / 4.0).min(1.0);
        vec![
            time,
            (started * level * (0.55 + 0.9 * saw(7.0 + place as f64, 0.0) + 0.08 * noise(step)))
                .clamp(0.0, 1125.0),
            started * 1.5e8 * (1.0 - 0.01 * noise(step + 3).abs()),
            // The first scheme drops, all others mark, and nothing is retransmitted.
            if place == 0 && step % 140 == 139 { 30.0 } else { 0.0 },
            if place > 0 { libm::floor(8.0 * noise(step + 5).max(0.0)) } else { 0.0 },
            1.45e8 * (1.0 + 0.02 * noise(step + 7)),
            libm::floor(10.0 * started),
            0.0,
            if step % 700 == 699 { 1.0 } else { 0.0 },
            60.0 + started * level * 0.06,
            started * (120.0 + level * 0.2) * (0.5 + 0.5 * saw(11.0, 0.3)),
            started * (110.0 + level * 0.2) * (0.5 + 0.5 * saw(13.0, 0.8)),
        ]
    };
    Table { columns: columns.map(String::from).to_vec(), rows: (0..2000).map(row).collect() }
}

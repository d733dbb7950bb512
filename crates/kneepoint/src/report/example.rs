// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A comparison that never ran, to try reports on.

use super::{Comparison, Manifest, RunResult, SCHEMA_VERSION, SchemeResult};
use crate::measure::{
    CbrSummary, Distribution, Drops, GroupSummary, LinkSummary, Position, ShareSummary, Summary,
};
use crate::queue::Reason;
use crate::table::Table;

/// Two schemes, three seeds.
pub(super) fn comparison() -> Comparison {
    of("Two schemes on a dumbbell", &["reno/droptail", "prert/pi"])
}

/// Any number of schemes, three seeds; the more to the right the emptier their queues.
pub(super) fn of(title: &str, schemes: &[&str]) -> Comparison {
    Comparison {
        title: title.into(),
        schemes: (0..).zip(schemes).map(|(place, scheme)| scheme_result(scheme, place)).collect(),
        manifest: Manifest {
            schema_version: SCHEMA_VERSION,
            tool_version: "0.1.0".into(),
            git_revision: Some("a07d871".into()),
            scenario: vec![(
                "dumbbell.toml".into(),
                "# <a> & b, see https://example.org\nduration = \"100s\"\n".into(),
            )],
            scenario_hash: "6b86b273ff34fce19d6b804eff5a3f57".into(),
            seeds: vec![1, 2, 3],
            host: Some("laboratory, 8 cores".into()),
            kernel: Some("Linux 6.12".into()),
            created: Some("2026-01-02T03:04:05Z".into()),
            command: Some("knee compare dumbbell.toml --seeds 3".into()),
            notes: vec!["Buffers of one bandwidth-delay product.".into()],
        },
    }
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
        summary: summary(level * (1.0 + 0.05 * noise(seed + 10 * place)), place),
    });
    SchemeResult {
        scheme: scheme.into(),
        runs: runs.collect(),
        series: Some(series(level, place)),
        theory: None,
    }
}

fn distribution(scale: f64) -> Distribution {
    Distribution {
        count: 1000,
        mean: scale,
        p50: 0.9 * scale,
        p90: 1.6 * scale,
        p95: 1.9 * scale,
        p99: 2.4 * scale,
        max: 2.9 * scale,
    }
}

fn summary(level: f64, place: u64) -> Summary {
    let mut drops = Drops::default();
    (0..40_000 / (place + 1)).for_each(|_| drops.count(Reason::Overflow));
    let weights: Vec<f64> = (0..1126)
        .map(|length| {
            let off = (f64::from(length) - level) / (30.0 + 0.25 * level);
            libm::exp(-0.5 * off * off)
        })
        .collect();
    let total: f64 = weights.iter().sum();
    Summary {
        window_s: 100.0,
        links: vec![LinkSummary {
            name: "r1-r2".into(),
            queue_mean_packets: level,
            queue_mean_bytes: 1040.0 * level,
            buffer_packets: Some(1125.0),
            queue_mean_normalized: level / 1125.0,
            queue_distribution: weights.iter().map(|weight| weight / total).collect(),
            queueing_delay: distribution(level / 18_750.0),
            arrivals: 1_900_000,
            drops,
            marks: 12_000 * place,
            served_packets: 1_875_000,
            served_bytes: 1_950_000_000,
            utilization: 0.9987 - 0.004 * place as f64 - 0.00001 * level,
        }],
        groups: vec![GroupSummary {
            name: "forward".into(),
            cc: "reno".into(),
            crosses_bottleneck: true,
            goodput_bps: (0..10)
                .map(|flow| 1.45e7 * (1.0 + 0.2 * noise(flow + 100 * place + level as u64)))
                .collect(),
            rtt: distribution(0.06 + level / 18_750.0),
            repairs: 420,
            timeouts: 3,
            completed: 0,
            completions: Distribution { count: 0, ..distribution(f64::NAN) },
        }],
        web: Vec::new(),
        cbr: vec![CbrSummary {
            name: "noise".into(),
            delivered_packets: 390_000,
            throughput_bps: 3e7,
            delay: distribution(0.03 + level / 18_750.0),
        }],
        shares: [("forward", 0.8), ("noise", 0.2)].map(|(name, part)| share(name, part, level)).to_vec(),
    }
}

fn share(name: &str, share: f64, level: f64) -> ShareSummary {
    let shares: Vec<f64> =
        (0..20).map(|bin| f64::from(u8::from(bin == (20.0 * level / 1125.0) as usize))).collect();
    ShareSummary {
        name: name.into(),
        share,
        arrivals: (1_900_000.0 * share) as u64,
        drops: (20_000.0 * share) as u64,
        served_bytes: (1_950_000_000.0 * share) as u64,
        throughput_variance_to_mean_bps: 2e5 * (1.0 + share),
        position: Position { mean: level / 1125.0, median: level / 1125.0, entropy: 0.0, shares },
    }
}

fn series(level: f64, place: u64) -> Table {
    let columns = [
        "time_s",
        "queue_packets[r1-r2]",
        "throughput_bps[forward]",
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
            1.45e8 * (1.0 + 0.02 * noise(step + 7)),
            started * (120.0 + level * 0.2) * (0.5 + 0.5 * saw(11.0, 0.3)),
            started * (110.0 + level * 0.2) * (0.5 + 0.5 * saw(13.0, 0.8)),
        ]
    };
    Table { columns: columns.map(String::from).to_vec(), rows: (0..2000).map(row).collect() }
}

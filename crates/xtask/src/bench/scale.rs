// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The cost of a packet against the number of flows, and the cache misses that bend the curve.

use std::fmt::Write;

use super::case::{Benchmark, SCALE};
use super::{instructions, ns2_ns_per_packet, page, this, timing};

/// The legend of the table.
pub const METHOD: &str = "\
As `d100` with other numbers of flows, each with its 1.5 Mbit/s of the link. *Misses* are those of a processor with caches of 32 KiB,
8 ways, and 1 MiB, 16 ways, under valgrind's cachegrind, in the steady state; runs of 100 000 flows are too long for it, and for
ns-2 those of more than 1000. *Memory* is the peak of the process: besides the state of a flow, some twelve packets and
acknowledgements of each are on the links. Each time is that of one run.
";

/// The caches of cachegrind: instructions, data, last level.
const CACHES: [&str; 4] = ["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64"];

/// More flows take too long under valgrind.
const COUNTED: u32 = 10_000;

/// The measurements of a number of flows.
pub struct Point {
    case: &'static Benchmark,
    ns: f64,
    peak_mib: f64,
    misses: Option<instructions::Misses>,
    ns2: Option<f64>,
}

/// Measures every number of flows; ns-2 if requested.
pub fn measure(beside: bool) -> Result<Vec<Point>, String> {
    let program = this()?;
    SCALE
        .iter()
        .map(|case| {
            eprintln!("{} flows", case.flows);
            let one = timing(&program, case.name, case.counted.1)?;
            let misses = (case.flows <= COUNTED).then(|| {
                let misses = instructions::misses_per_packet(&program, case.name, case.counted, &CACHES);
                misses.inspect_err(|error| eprintln!("NO CACHE MISSES: {error}")).ok()
            });
            let ns2 = case.ns2_seconds.filter(|_| beside).map(|seconds| ns2_ns_per_packet(case, seconds));
            Ok(Point {
                case,
                ns: one.ns_per_packet(),
                peak_mib: one.peak_kib as f64 / 1024.0,
                misses: misses.flatten(),
                ns2: ns2.transpose()?,
            })
        })
        .collect()
}

/// The curve as a Markdown table.
pub fn table(points: &[Point]) -> String {
    let mut text = String::from(
        "| flows | ns/packet | first-level misses/packet | last-level misses/packet | memory, MiB | ns-2, ns/packet | ns-2 / ours |\n\
         |---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for one in points {
        let of = |value: fn(&instructions::Misses) -> f64| page::shown(one.misses.as_ref().map(value), 1);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | {:.0} | {} | {} | {:.1} | {} | {} |",
            one.case.flows,
            one.ns,
            of(|misses| misses.first),
            of(|misses| misses.last),
            one.peak_mib,
            page::shown(one.ns2, 0),
            page::shown(one.ns2.map(|theirs| theirs / one.ns), 1),
        );
    }
    text
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs a scenario with the algorithms of this crate and prints a table: `cargo run -p my-algorithms`.

use kneepoint::measure::Meter;
use kneepoint::run::run;
use kneepoint::table::value;

/// Labels of a row.
type Labels = &'static [(&'static str, &'static str)];

/// Numbers to print of a run: title, metric, scale and labels of the row.
const COLUMNS: [(&str, &str, f64, Labels); 4] = [
    ("utilization", "utilization", 1.0, &[]),
    ("queue, ms", "queueing_delay_mean_ms", 1.0, &[]),
    ("long, Mbit/s", "goodput_bps", 1e-6, &[("group", "long")]),
    ("noise, Mbit/s", "throughput_bps", 1e-6, &[("group", "noise")]),
];

fn main() -> Result<(), String> {
    let known = my_algorithms::known()?;
    for entry in known.entries() {
        println!("{:10}{}", entry.name, entry.summary());
    }
    let plan = known.parse(include_str!("../scenario.toml")).map_err(|faults| faults[0].to_string())?;
    print!("\n{:28}{:>6}", "scheme", "seed");
    COLUMNS.iter().for_each(|(title, ..)| print!("{title:>15}"));
    println!();
    for case in &plan.cases {
        let scheme = case.settings.first().map_or("", |(_, scheme)| scheme);
        for &seed in &plan.seeds {
            let (meter, _) = run(&case.valid, seed, Meter::new(&case.valid, seed));
            let rows = meter.finish();
            print!("{scheme:28}{seed:>6}");
            for (_, metric, scale, labels) in COLUMNS {
                print!("{:>15.2}", scale * value(&rows, metric, labels));
            }
            println!();
        }
    }
    Ok(())
}

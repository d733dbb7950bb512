// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Holds instruction counts at the committed record: a count may fall, and rises only with a reason.
//!
//! Counts are deterministic for one compiler, so a single run suffices and a busy machine does not matter. Another
//! compiler, instruction set or profile gives other counts: these are not compared.

use std::fmt::Write;

use clap::Args;
use kneepoint::cc;
use rayon::prelude::*;

use super::acks;
use super::case::Benchmark;
use super::instructions;
use super::machine;
use super::record::{Build, FILE, Figure, Per, Record, TOLERANCE};
use super::variants;

/// The recorded cases, among the measured ones of `bench`.
const HELD: [&str; 6] = ["d1000", "d100", "d100-linux", "d100-unwatched", "d100-minimal", "web1000"];

/// The use of the counts.
#[derive(Args)]
pub struct Arguments {
    /// Write crates/xtask/record.toml: lower counts, and higher ones with a reason.
    #[arg(long)]
    write: bool,
    /// The reason for a rise of counts; kept in the record.
    #[arg(long, requires = "write")]
    reason: Option<String>,
    /// Compare with the record of an earlier revision.
    #[arg(long, value_name = "REVISION", conflicts_with = "write")]
    since: Option<String>,
}

/// Measures and compares. Returns whether every count is at its record.
pub fn run(arguments: &Arguments) -> Result<bool, String> {
    let build = Build::own();
    let mut record = match &arguments.since {
        Some(revision) => Record::at(revision)?,
        None => Record::read()?,
    };
    if record.build != build {
        if !arguments.write {
            println!("{}", skipped(&build, &record.build));
            return Ok(true);
        }
        record = Record::empty(build);
    }
    let figures = measure()?;
    println!("Instructions counted by valgrind, {}:\n", record.build);
    print!("{}", table(&figures, &record));
    if arguments.write {
        record.ratchet(&figures, &machine::revision(), arguments.reason.as_deref())?.write(&figures)?;
        println!("\n{FILE} is written: commit it with the change.");
        return Ok(true);
    }
    Ok(report(&figures, &record))
}

/// Every figure, the longest runs first.
fn measure() -> Result<Vec<Figure>, String> {
    let packet = |name: &'static str| {
        let case = Benchmark::named(name).ok_or_else(|| format!("no case is called {name}"))?;
        Ok(Figure {
            per: Per::Packet,
            name,
            count: instructions::per_packet(&super::this()?, name, case.counted)?,
        })
    };
    let walk = acks::instructions(acks::NOTHING)?;
    let acknowledgement = |name: &'static str| {
        Ok(Figure { per: Per::Acknowledgement, name, count: acks::instructions(name)? - walk })
    };
    let names: Vec<_> = cc::REGISTRY.iter().map(|entry| entry.name).collect();
    // One job at a time per core: long runs must not end up in one core's share.
    let packets = HELD.par_iter().with_max_len(1).map(|name| packet(name));
    let variants: Vec<_> = variants::all().collect();
    let variants = variants
        .par_iter()
        .with_max_len(1)
        .map(|one| Ok(Figure { per: one.per, name: one.name, count: one.instructions()? }));
    let acknowledgements = names.par_iter().with_max_len(1).map(|name| acknowledgement(name));
    packets.chain(variants).chain(acknowledgements).collect()
}

fn skipped(own: &Build, recorded: &Build) -> String {
    let line = "=".repeat(70);
    format!(
        "{line}\nSKIPPED: instruction counts are not compared.\n\
         This is a {own};\n{FILE} holds those of a {recorded}.\n\
         Build as recorded, or record the counts of this build:\n  make ratchet ARGS=--write\n{line}"
    )
}

/// Record and measurement side by side.
fn table(figures: &[Figure], record: &Record) -> String {
    let mut text = format!("{:<32} {:>9} {:>9} {:>8}\n", "instructions per", "record", "now", "change");
    for figure in figures {
        let name = format!("{} {}", figure.per, figure.name);
        let count = record.count(figure).map_or("—".into(), |count| format!("{count:.1}"));
        let change = record.excess(figure).map_or("new".into(), |excess| format!("{excess:+.1} %"));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<32} {count:>9} {:>9.1} {change:>8}", figure.count);
    }
    text
}

/// Prints the required actions. Returns whether every count is at its record.
fn report(figures: &[Figure], record: &Record) -> bool {
    let excess = |figure: &&Figure| record.excess(figure).unwrap_or(0.0);
    let above = figures.iter().filter(|figure| excess(figure) > TOLERANCE).count();
    let below = figures.iter().filter(|figure| excess(figure) < -TOLERANCE).count();
    let new = figures.iter().filter(|figure| record.count(figure).is_none()).count();
    if below + new > 0 {
        println!(
            "\n{below} are more than {TOLERANCE} % below their record, {new} have none yet. To hold them:\n  \
             make ratchet ARGS=--write"
        );
    }
    if above > 0 {
        println!(
            "\nFAILED: {above} are more than {TOLERANCE} % above their record, {FILE}.\n\
             Make the change cheaper, or accept the rise and commit the record with the change:\n  \
             make ratchet ARGS='--write --reason \"TEXT\"'"
        );
    }
    above == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(count: f64) -> Vec<Figure> {
        vec![Figure { per: Per::Packet, name: "d100", count }]
    }

    #[test]
    fn more_than_one_percent_above_the_record_fails() {
        let record = Record::empty(Build::own()).ratchet(&figure(2000.0), "", None).unwrap();
        assert!(report(&figure(2019.0), &record));
        assert!(!report(&figure(2021.0), &record));
        assert!(report(&figure(1000.0), &record), "a count may fall");
        assert!(report(&figure(9000.0), &Record::empty(Build::own())), "a new case exceeds nothing");
    }

    #[test]
    fn held_cases_exist() {
        for name in HELD {
            assert!(Benchmark::named(name).is_some(), "{name}");
        }
    }
}

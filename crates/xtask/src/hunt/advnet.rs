// SPDX-License-Identifier: Apache-2.0 OR MIT
//! AdvNet's traces, which the kernel scored, and our scores of the same (S. S. Ahmed et al., PACMNET 4 (CoNEXT2), 2026; the data is in
//! `validation/advnet`).
//!
//! A trace is `[rate, rate, delay, delay, length, length, queue]` in units of 500 kbit/s, 1 ms one way, 50 ms and 100 packets, and its score the
//! part of the capacity that one flow of the kernel did not use:
//!
//! ```text
//! score = (capacity − throughput) / capacity
//! ```

use std::path::Path;

use clap::Args;
use kneepoint::scenario::Extensions;
use kneepoint::study::hunt::{Arena, Company, Contestants, Genome, Step, WEAKNESSES};
use kneepoint::tcp::Host;
use rayon::prelude::*;

/// The traces to compare.
#[derive(Args)]
pub struct Arguments {
    /// Every n-th trace
    #[arg(long, default_value_t = 1)]
    each: usize,
    /// Print every trace
    #[arg(long)]
    print: bool,
    /// Write the part of docs/hunt.md
    #[arg(long)]
    write: bool,
}

/// The controllers with a file of traces.
const FILES: [&str; 2] = ["bbr", "vegas"];

/// A full packet on the wire over its payload.
const WIRE: f64 = 1500.0 / 1448.0;

/// A trace with both scores.
pub struct Scored {
    /// The trace as published.
    pub trace: Vec<u32>,
    /// The kernel's score.
    pub kernel: f64,
    /// Ours.
    pub ours: f64,
}

/// The traces of a controller's file, each with the kernel's score.
fn traces(controller: &str) -> Result<Vec<(Vec<u32>, f64)>, String> {
    let name = format!("validation/advnet/{controller}_2.txt");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(&name);
    let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
    let line = |line: &str| -> Option<(Vec<u32>, f64)> {
        let (trace, score) = line.strip_prefix('[')?.split_once(']')?;
        let trace = trace.split(',').map(|value| value.trim().parse().ok()).collect::<Option<Vec<u32>>>()?;
        Some((trace, score.trim().parse().ok()?))
    };
    text.lines().map(|one| line(one).ok_or_else(|| format!("{name}: `{one}` is not a trace"))).collect()
}

/// The network of a trace.
fn genome(trace: &[u32]) -> Result<Genome, String> {
    let [a, b, c, d, e, f, queue] = trace else { return Err(format!("{trace:?} has not seven numbers")) };
    let step = |rate: u32, delay: u32, lasting: u32| Step { rate: 500 * rate, delay, lasting: 50 * lasting };
    Ok(Genome { steps: vec![step(*a, *c, *e), step(*b, *d, *f)], ..Genome::plain(100 * queue) })
}

/// Every n-th trace of a controller with our score.
pub fn scored(controller: &str, each: usize) -> Result<Vec<Scored>, String> {
    let contestants = Contestants::new(controller, "cubic", Host::Linux, &Extensions::NONE)?;
    let arena = Arena::new(contestants, vec![&WEAKNESSES[0]]);
    let chosen: Vec<_> = traces(controller)?.into_iter().step_by(each).collect();
    let score = |(trace, kernel): (Vec<u32>, f64)| -> Result<Scored, String> {
        let genome = genome(&trace)?;
        let gauged = arena.gauged(&genome, Company::Alone, 1).map_err(|invalid| invalid.to_string())?;
        let [subject, _] = gauged.ok_or("no contest")?;
        Ok(Scored { trace, kernel, ours: 1.0 - WIRE * subject.goodput[0] / genome.mean_rate() })
    };
    chosen.into_par_iter().map(score).collect()
}

/// Spearman's rank correlation; equal values have the mean of their ranks.
pub fn spearman(pairs: &[(f64, f64)]) -> f64 {
    let one = ranks(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    let other = ranks(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    let mean = (pairs.len() as f64 + 1.0) / 2.0;
    let sum = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum() };
    sum(&one, &other) / (sum(&one, &one) * sum(&other, &other)).sqrt()
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let alike = values.iter().filter(|other| *other == value).count();
        below as f64 + (alike as f64 + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

/// Compares, and prints the result.
pub fn run(arguments: &Arguments) -> Result<bool, String> {
    let mut lines = String::from(
        "| controller | traces | Spearman's ρ | of the kernel's worst tenth, among our worst fifth | mean difference of scores | mean absolute difference |\n\
         |---|---:|---:|---:|---:|---:|\n",
    );
    for controller in FILES {
        let all = scored(controller, arguments.each)?;
        let pairs: Vec<(f64, f64)> = all.iter().map(|one| (one.kernel, one.ours)).collect();
        let count = all.len() as f64;
        let bias = pairs.iter().map(|(kernel, ours)| ours - kernel).sum::<f64>() / count;
        let error = pairs.iter().map(|(kernel, ours)| (ours - kernel).abs()).sum::<f64>() / count;
        let top = |of: fn(&Scored) -> f64, part: f64| -> f64 {
            let mut values: Vec<f64> = all.iter().map(of).collect();
            values.sort_by(|a, b| b.total_cmp(a));
            values[((part * count) as usize).min(values.len() - 1)]
        };
        let (theirs, own) = (top(|one| one.kernel, 0.1), top(|one| one.ours, 0.2));
        let worst: Vec<&Scored> = all.iter().filter(|one| one.kernel > theirs).collect();
        let met = worst.iter().filter(|one| one.ours > own).count();
        lines += &format!(
            "| {controller} | {} | {:.2} | {met} of {} | {bias:+.3} | {error:.3} |\n",
            all.len(),
            spearman(&pairs),
            worst.len()
        );
        if arguments.print {
            for Scored { trace, kernel, ours } in &all {
                println!("{controller} {trace:?} kernel {kernel:.3} ours {ours:.3}");
            }
        }
    }
    print!("{lines}");
    if arguments.write {
        super::page::put("advnet", &lines)?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_correlation_of_ranks_is_one_for_any_rising_course() {
        assert_eq!(spearman(&[(1.0, 5.0), (2.0, 70.0), (3.0, 800.0)]), 1.0);
        assert_eq!(spearman(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]), -1.0);
        assert!(spearman(&[(1.0, 1.0), (1.0, 2.0), (2.0, 2.0), (3.0, 1.0)]).abs() < 0.5);
    }

    #[test]
    fn every_tenth_trace_ranks_much_as_in_the_kernel() {
        for (controller, least) in [("bbr", 0.85), ("vegas", 0.85)] {
            let all = scored(controller, 10).unwrap();
            let pairs: Vec<(f64, f64)> = all.iter().map(|one| (one.kernel, one.ours)).collect();
            assert!(spearman(&pairs) > least, "{controller}: {}", spearman(&pairs));
        }
    }
}

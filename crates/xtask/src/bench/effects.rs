// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The cost of a packet on links that do more than queue, delay and lose: none may cost twice a packet of `d100`.

use rayon::prelude::*;

use super::case::{Benchmark, EFFECTS};
use super::instructions;

/// The case with a plain link.
const PLAIN: &str = "d100";
/// The most that an effect may cost, in packets of the plain link.
const MOST: f64 = 2.0;

/// Counts instructions and prints them. Whether every case keeps to the limit.
pub fn run() -> Result<bool, String> {
    let program = super::this()?;
    let plain = Benchmark::named(PLAIN).ok_or("there is no plain case")?;
    let cases: Vec<&Benchmark> = [plain].into_iter().chain(&EFFECTS).collect();
    let count = |case: &&Benchmark| instructions::per_packet(&program, case.name, case.counted);
    let counts = cases.par_iter().with_max_len(1).map(count).collect::<Result<Vec<f64>, String>>()?;
    println!("| case | instructions | of {PLAIN} | |\n|---|---:|---:|---|");
    for (case, own) in cases.iter().zip(&counts) {
        println!("| {} | {own:.0} | {:.2} | {} |", case.name, own / counts[0], case.about);
    }
    Ok(counts.iter().all(|own| *own <= MOST * counts[0]))
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares every controller and queue of Linux with the kernel in virtual time, each cell by its own means.
//!
//! ```text
//! validation/linux-virtual/results.csv ─┬ means of three starts ───────╮
//!                                       └ scenario → runs → means ─────┤
//! validation/uml/*.csv ── what `knee live --on uml` measured ──────────┤
//! validation/uml/*.toml ── cases → a run each ─────────────────────────┴ table, counts, docs/linux-queues.md
//! ```

mod cell;
mod grid;
mod page;
mod simulated;

use rayon::prelude::*;

use cell::{Cell, Figures};
pub use page::write;

/// A figure that is compared.
struct Compared {
    key: &'static str,
    of: fn(&Figures) -> f64,
    /// Whether it applies to a cell.
    concerns: fn(&Pair) -> bool,
    /// Whether the kernel's value and ours agree.
    agrees: fn(f64, f64) -> bool,
    about: &'static str,
}

fn within(share: f64, a: f64, b: f64) -> bool {
    (a - b).abs() <= share * a.abs().max(b.abs())
}

/// A factor of 1.5, or 5 packets.
fn counts_alike(a: f64, b: f64) -> bool {
    a.max(b) <= 1.5 * a.min(b) || (a - b).abs() <= 5.0
}

/// The figures, with the limits of agreement.
const COMPARED: [Compared; 6] = [
    Compared {
        key: "use",
        of: |it| it.utilization,
        concerns: |_| true,
        agrees: |a, b| within(0.1, a, b),
        about: "10 %",
    },
    Compared {
        key: "delay, ms",
        of: |it| it.delay_ms,
        concerns: |_| true,
        agrees: |a, b| within(0.2, a, b) || (a - b).abs() <= 1.0,
        about: "20 %, or 1 ms",
    },
    Compared {
        key: "drops",
        of: |it| it.drops,
        concerns: |_| true,
        agrees: counts_alike,
        about: "a factor of 1.5, or 5 packets",
    },
    Compared {
        key: "marks",
        of: |it| it.marks,
        concerns: |pair| pair.marks,
        agrees: counts_alike,
        about: "a factor of 1.5, or 5 packets",
    },
    Compared {
        key: "Jain",
        of: |it| it.jain,
        concerns: |pair| pair.flows > 1,
        agrees: |a, b| (a - b).abs() <= 0.1,
        about: "0.1",
    },
    Compared {
        key: "share",
        of: |it| it.share,
        concerns: |pair| pair.parties > 1,
        agrees: |a, b| (a - b).abs() <= 0.1,
        about: "10 points",
    },
];

/// A cell of the kernel, and ours.
struct Pair {
    name: String,
    /// Whether packets are marked.
    marks: bool,
    flows: u32,
    /// Different controllers against one another.
    parties: usize,
    kernel: Figures,
    ours: Figures,
}

impl Pair {
    fn of(cell: &Cell, tcp: &str, seeds: u64) -> Result<Pair, String> {
        let runs = simulated::runs(cell, tcp, seeds)?;
        let mean = |of: fn(&Figures) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
        let ours = Figures {
            utilization: mean(|one| one.utilization),
            delay_ms: mean(|one| one.delay_ms),
            drops: mean(|one| one.drops),
            marks: mean(|one| one.marks),
            jain: mean(|one| one.jain),
            share: mean(|one| one.share),
        };
        let (flows, parties) = (cell.flows(), cell.mix.len());
        Ok(Pair { name: cell.name(), marks: cell.ecn, flows, parties, kernel: cell.kernel, ours })
    }

    /// Whether a figure agrees; none where it does not concern the cell.
    fn agrees(&self, figure: &Compared) -> Option<bool> {
        let [theirs, ours] = [&self.kernel, &self.ours].map(figure.of);
        (figure.concerns)(self).then(|| (figure.agrees)(theirs, ours))
    }

    /// Whether a figure is beyond its limit.
    fn is_beyond(&self) -> bool {
        COMPARED.iter().any(|one| self.agrees(one) == Some(false))
    }

    /// `0.987 / 0.991`
    fn numbers(&self, figure: &Compared) -> String {
        let [theirs, ours] = [&self.kernel, &self.ours].map(figure.of).map(number);
        format!("{theirs} / {ours}")
    }
}

/// `0.987`, `41.3`, `413`.
fn number(value: f64) -> String {
    match value {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

/// Every cell compared with the simulator, which has this many runs of the cells in `results.csv`.
fn all(tcp: &str, seeds: u64) -> Result<Vec<Pair>, String> {
    let cells = cell::cells()?;
    let of_cells = cells.par_iter().with_max_len(1).map(|cell| Pair::of(cell, tcp, seeds));
    let mut pairs: Vec<Pair> = of_cells.collect::<Result<_, String>>()?;
    pairs.extend(grid::pairs()?);
    Ok(pairs)
}

/// Jain's index.
fn jain(goodputs: &[f64]) -> f64 {
    let (total, squares) =
        goodputs.iter().fold((0.0, 0.0), |(sum, squares), one| (sum + one, squares + one * one));
    total * total / (goodputs.len() as f64 * squares)
}

/// The number of figures of these cells that agree, and of all that apply.
fn tally<'p>(pairs: impl IntoIterator<Item = &'p Pair>, figure: &Compared) -> (usize, usize) {
    let agreed: Vec<bool> = pairs.into_iter().filter_map(|pair| pair.agrees(figure)).collect();
    (agreed.iter().filter(|one| **one).count(), agreed.len())
}

/// The number of all figures that agree, and of all.
fn total(pairs: &[Pair]) -> (usize, usize) {
    let add = |(close, all), one| {
        let (agreed, measured) = tally(pairs, one);
        (close + agreed, all + measured)
    };
    COMPARED.iter().fold((0, 0), add)
}

/// Prints the cells with this in their name, by default those with a figure beyond its limit; returns whether enough of all agree.
pub fn print(only: Option<&str>, tcp: &str, every: bool, seeds: u64) -> Result<bool, String> {
    let mut pairs = all(tcp, seeds)?;
    pairs.retain(|one| only.is_none_or(|only| one.name.contains(only)));
    if pairs.is_empty() {
        return Err("no cell has such a name".into());
    }
    print!("{:64}", "kernel / simulator");
    COMPARED.iter().for_each(|one| print!(" {:>16} ", one.key));
    println!();
    for pair in pairs.iter().filter(|pair| every || pair.is_beyond()) {
        print!("{:64}", pair.name);
        for one in &COMPARED {
            match pair.agrees(one) {
                Some(close) => print!(" {:>16}{}", pair.numbers(one), if close { ' ' } else { '!' }),
                None => print!(" {:>17}", ""),
            }
        }
        println!();
    }
    for one in &COMPARED {
        let (agreed, measured) = tally(&pairs, one);
        println!("`{}`: {agreed} of {measured} within {}", one.key, one.about);
    }
    let (close, all) = total(&pairs);
    println!("all: {close} of {all}, {:.1} %", 100.0 * close as f64 / all as f64);
    Ok(close as f64 >= GOAL * all as f64)
}

/// The part of all figures that must be within the limit.
const GOAL: f64 = 0.98;

#[cfg(test)]
mod tests {
    use super::super::page::PRESET;
    use super::*;

    /// Of a hundred figures; a single seed scatters more than the means of three.
    const GOAL_OF_ONE_SEED: usize = 97;

    #[test]
    fn the_simulators_linux_is_the_kernel_in_virtual_time_within_the_limits() {
        let pairs = all(PRESET, 1).unwrap();
        let (close, all) = total(&pairs);
        assert!(pairs.len() > 400, "{} cells", pairs.len());
        let beyond: Vec<&str> =
            pairs.iter().filter(|pair| pair.is_beyond()).map(|pair| pair.name.as_str()).collect();
        assert!(100 * close >= GOAL_OF_ONE_SEED * all, "{close} of {all}; beyond: {beyond:?}");
    }
}

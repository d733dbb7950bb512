// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Windows over time, ours and ns-2's, with the same losses at the same times.
//!
//! In queues and shares of many flows a controller's behaviour is masked by its host, its neighbours and randomness.
//! Here everything is deterministic: one flow, one link, and one packet lost at each given time.

mod compare;
mod pair;
mod recorded;
mod section;

use kneepoint::measure::Series;
use kneepoint::scenario;
use rayon::prelude::*;

use crate::explanations::Explanations;
use compare::{MEASURES, Measured};
use pair::Pair;

pub use section::{figures, section};

/// Group of these points in the explanations.
const GROUP: &str = "K";

/// The window at each step.
pub type Windows = Vec<f64>;

/// A pair of runs with its results.
pub struct PairedWindows {
    pair: Pair,
    ours: Windows,
    theirs: Windows,
    /// In the order of [`MEASURES`].
    measured: [Measured; MEASURES.len()],
    /// Number of the explanation of each differing measure.
    pub because: [Option<usize>; MEASURES.len()],
}

/// Our scenarios.
pub fn scenarios(only: Option<&str>) -> Result<Vec<String>, String> {
    pairs(only)?.iter().map(Pair::scenario).collect()
}

fn pairs(only: Option<&str>) -> Result<Vec<Pair>, String> {
    let mut pairs = pair::read(include_str!("../../../../../validation/trajectories.toml"))?;
    pairs.retain(|pair| only.is_none_or(|only| pair.name().contains(only)));
    Ok(pairs)
}

/// Runs ns-2 for all pairs and records the results.
pub fn record() -> Result<bool, String> {
    recorded::keep(&pairs(None)?)
}

/// Runs and compares the pairs whose name contains `only`; with `live`, ns-2 runs now.
pub fn run(
    only: Option<&str>,
    live: bool,
    explanations: &Explanations,
) -> Result<Vec<PairedWindows>, String> {
    let pairs = pairs(only)?;
    let theirs = recorded::theirs(&pairs, live)?;
    pairs.into_par_iter().zip(theirs).map(|(pair, theirs)| row(pair, theirs, explanations)).collect()
}

fn row(pair: Pair, theirs: Windows, explanations: &Explanations) -> Result<PairedWindows, String> {
    let ours = ours(&pair)?;
    if ours.len() != theirs.len() {
        return Err(format!("{}: {} samples of ours, {} of ns-2's", pair.name(), ours.len(), theirs.len()));
    }
    let measured = MEASURES.map(|measure| (measure.of)(&pair.path, &ours, &theirs));
    let because = std::array::from_fn(|place| {
        let differs = measured[place].differs();
        let found = || explanations.find(&pair.name(), MEASURES[place].key);
        differs.then(found).flatten().map(|(number, _)| number)
    });
    Ok(PairedWindows { pair, ours, theirs, measured, because })
}

/// Our window at each step.
fn ours(pair: &Pair) -> Result<Windows, String> {
    let text = pair.scenario()?;
    let faults = |faults: Vec<scenario::Fault>| {
        let lines: Vec<String> = faults.iter().map(|fault| fault.message.clone()).collect();
        format!("{}: {}\n{text}", pair.name(), lines.join("; "))
    };
    let plan = scenario::parse(&text).map_err(faults)?;
    let valid = plan.cases.into_iter().next().ok_or("a plan without a case")?.valid;
    let (series, _) = kneepoint::run::run(&valid, 1, Series::new(&valid, 1, 1));
    let table = series.table();
    let column = table.columns_of("window_packets").first().copied().ok_or("a run without a window")?;
    Ok(table.values(column).collect())
}

/// Prints a line per pair.
pub fn print(rows: &[PairedWindows]) {
    let width = rows.iter().map(|row| row.pair.name().chars().count()).max().unwrap_or(0);
    for row in rows {
        print!("{:width$}", row.pair.name());
        for ((measure, measured), because) in MEASURES.iter().zip(&row.measured).zip(row.because) {
            let mark = match (measured.differs(), because) {
                (true, Some(reason)) => format!("[{}]", reason + 1),
                (true, None) => "!".into(),
                _ => String::new(),
            };
            print!("  {} {}{mark}", measure.key, measured.difference());
        }
        println!();
    }
}

/// Reports unexplained differences; returns whether there are none.
pub fn report(rows: &[PairedWindows]) -> bool {
    let mut explained = true;
    for row in rows {
        for ((measure, measured), because) in MEASURES.iter().zip(&row.measured).zip(row.because) {
            if measured.differs() && because.is_none() {
                explained = false;
                println!(
                    "unexplained: {}: {} is {} off{}",
                    row.pair.name(),
                    measure.key,
                    measured.difference(),
                    measured.place()
                );
            }
        }
    }
    explained
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ns_2_did_is_recorded_for_every_pair() {
        let pairs = pairs(None).expect("the committed file reads");
        assert!(pairs.len() > 3);
        let theirs = recorded::theirs(&pairs, false).expect("a row for each pair");
        assert!(pairs.iter().zip(theirs).all(|(pair, windows)| windows.len() == pair.samples()));
    }

    #[test]
    fn a_controller_of_another_generation_is_told_apart() {
        let explanations = Explanations::read("it", "because = []").expect("an empty list");
        let mut pairs = pairs(Some("idle/cubic:era=2006/Linux cubic")).expect("the committed file reads");
        let theirs = recorded::theirs(&pairs, false).expect("a row for each pair").remove(0);
        let same = row(pairs[0].clone(), theirs.clone(), &explanations).expect("a run");
        assert!(report(&[same]));
        pairs[0].ours = "cubic".into();
        let other = row(pairs.remove(0), theirs, &explanations).expect("a run");
        assert!(other.measured.iter().all(Measured::differs) && !report(&[other]));
    }
}

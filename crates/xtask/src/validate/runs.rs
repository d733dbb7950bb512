// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs our scenarios on all cores, longest first.

use std::collections::BTreeMap;

use indicatif::{ProgressBar, ProgressStyle};
use kneepoint::measure::{Meter, Subject};
use kneepoint::scenario;
use kneepoint::spec::Valid;
use rayon::prelude::*;

use super::figures::{Figures, Location};
use super::record::Point;
use crate::setting;

/// Our results for one point, one per seed.
pub type Measured = Vec<BTreeMap<Location, Figures>>;

/// Runs every point with `seeds` seeds.
pub fn run(points: &[Point], seeds: u64) -> Result<Vec<Measured>, String> {
    let valids = points.iter().map(|point| valid(point, seeds)).collect::<Result<Vec<_>, _>>()?;
    let mut tasks: Vec<(usize, u64)> =
        (0..points.len()).flat_map(|place| (1..=seeds).map(move |seed| (place, seed))).collect();
    tasks.sort_by_key(|(place, _)| std::cmp::Reverse(work(&valids[*place])));
    let bar = progress(tasks.iter().map(|(place, _)| work(&valids[*place])).sum());
    let mut done: Vec<(usize, u64, BTreeMap<Location, Figures>)> = tasks
        .into_par_iter()
        // One at a time, so that work is taken in the order of the queue.
        .by_uniform_blocks(1)
        .map(|(place, seed)| {
            let valid = &valids[place];
            let (meter, _) = kneepoint::run::run(valid, seed, Meter::new(valid, seed));
            bar.inc(work(valid));
            (place, seed, Figures::ours(&meter.rows(&Subject::FEW), &points[place].setup))
        })
        .collect();
    bar.finish_and_clear();
    done.sort_by_key(|(place, seed, _)| (*place, *seed));
    let mut measured = vec![Vec::new(); points.len()];
    for (place, _, figures) in done {
        measured[place].push(figures);
    }
    Ok(measured)
}

/// The scenario of a point.
pub fn valid(point: &Point, seeds: u64) -> Result<Valid, String> {
    let text = setting::scenario(&point.name(), &point.setup, seeds);
    let faults = |faults: Vec<scenario::Fault>| {
        let lines: Vec<String> = faults.iter().map(|fault| fault.message.clone()).collect();
        format!("{}: {}\n{text}", point.name(), lines.join("; "))
    };
    let plan = scenario::parse(&text).map_err(faults)?;
    let case = plan.cases.into_iter().next().ok_or("a plan without a case")?;
    Ok(case.valid)
}

/// Estimated cost of a run: the packets it serves.
fn work(valid: &Valid) -> u64 {
    let rates = valid.network().links.iter().filter(|link| link.measured).filter_map(|link| link.rate);
    let bits: f64 = rates.map(|rate| rate.as_f64() * valid.schedule().duration.as_secs_f64()).sum();
    (bits / 8000.0) as u64
}

fn progress(total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {elapsed} gone, {eta} to go");
    let bar = ProgressBar::new(total);
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(std::time::Duration::from_millis(500));
    bar
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Published weaknesses, looked for from random starts: how many of ten seeds find each, and how soon.

use std::time::Duration;

use clap::Args;
use kneepoint::study::hunt::{Company, Elite, Hunt, Profile, Weakness};

use super::search::{hunt, until};

/// How long is looked.
#[derive(Args)]
pub struct Arguments {
    /// Seeds of each
    #[arg(long, default_value_t = 10)]
    seeds: u64,
    /// Seconds for each seed
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The weaknesses whose names contain this
    #[arg(long, default_value = "")]
    only: String,
    /// Write the part of docs/hunt.md
    #[arg(long)]
    write: bool,
}

/// A published weakness.
struct Known {
    name: &'static str,
    source: &'static str,
    subject: &'static str,
    reference: &'static str,
    weakness: &'static str,
    /// The most steps of a network.
    steps: u32,
    /// Whether a network shows it.
    shows: fn(&Hunt, &Elite) -> bool,
    /// What has to be seen, in words.
    criterion: &'static str,
}

const KNOWN: &[Known] = &[
    Known {
        name: "BBR uses less than a tenth",
        source: "CCAC, SIGCOMM 2021, `bbr_low_util`",
        subject: "bbr",
        reference: "cubic",
        weakness: "use",
        steps: 15,
        shows: |hunt, elite| used(hunt, elite) < 0.1,
        criterion: "use < 10 % of the capacity, cubic more than twice as much",
    },
    Known {
        name: "Copa uses less than a tenth",
        source: "CCAC, SIGCOMM 2021, `copa_low_util`",
        subject: "copa",
        reference: "cubic",
        weakness: "use",
        steps: 1,
        shows: |hunt, elite| used(hunt, elite) < 0.1,
        criterion: "use < 10 % of a constant capacity, cubic more than twice as much",
    },
    Known {
        name: "AIMD loses early",
        source: "CCAC, SIGCOMM 2021, `aimd_premature_loss`",
        subject: "reno",
        reference: "bbr",
        weakness: "premature",
        steps: 1,
        shows: early,
        criterion: "a loss with a window ≤ 2 BDP before a buffer ≥ 2 BDP, at a constant rate",
    },
    Known {
        name: "BBR stalls",
        source: "CC-Fuzz, HotNets 2022",
        subject: "bbr",
        reference: "cubic",
        weakness: "stall",
        steps: 15,
        shows: |_, elite| elite.score >= 0.25,
        criterion: "nothing delivered for ten round trips and a quarter of the run longer than with cubic",
    },
    Known {
        name: "Copa starves",
        source: "V. Arun et al., Starvation in End-to-End Congestion Control, SIGCOMM 2022",
        subject: "copa",
        reference: "cubic",
        weakness: "starvation",
        steps: 1,
        shows: |hunt, elite| starved(hunt, elite) < 0.1,
        criterion: "one of two flows gets less than a tenth of the other at a constant rate, more even with cubic",
    },
    Known {
        name: "BBR starves",
        source: "the same",
        subject: "bbr",
        reference: "cubic",
        weakness: "starvation",
        steps: 1,
        shows: |hunt, elite| starved(hunt, elite) < 0.1,
        criterion: "the same",
    },
];

/// The part of the capacity that the subject uses alone.
fn used(hunt: &Hunt, elite: &Elite) -> f64 {
    let gauged = hunt.arena.gauged(&elite.genome, Company::Alone, 1);
    let goodput = gauged.ok().flatten().map_or(f64::NAN, |[subject, _]| subject.goodput[0]);
    if elite.score < 0.5 { f64::NAN } else { goodput * 1500.0 / 1448.0 / elite.genome.mean_rate() }
}

fn early(hunt: &Hunt, elite: &Elite) -> bool {
    let bdp = elite.genome.least_bdp(hunt.packet());
    let gauged = hunt.arena.gauged(&elite.genome, Company::Alone, 1);
    let window = gauged.ok().flatten().map_or(f64::NAN, |[subject, _]| subject.window_at_drop);
    bdp >= 5.0 && f64::from(elite.genome.buffer) >= 2.0 * bdp && window <= 2.0 * bdp
}

/// The lesser goodput over the greater.
fn starved(hunt: &Hunt, elite: &Elite) -> f64 {
    let gauged = hunt.arena.gauged(&elite.genome, Company::Itself, 1);
    let [a, b] = gauged.ok().flatten().map_or([f64::NAN; 2], |[subject, _]| subject.goodput);
    a.min(b) / a.max(b)
}

/// Looks for each.
pub fn run(arguments: &Arguments) -> Result<bool, String> {
    let mut lines = String::from(
        "| weakness | published by | what has to be seen | found by | networks, median | seconds, median | seconds, most |\n|---|---|---|---:|---:|---:|---:|\n",
    );
    let any = Profile::named("any").ok_or("no profile `any`")?;
    for known in KNOWN.iter().filter(|known| known.name.contains(&arguments.only)) {
        let weakness = Weakness::named(known.weakness).ok_or("no such weakness")?;
        let mut found = Vec::new();
        for seed in 1..=arguments.seeds {
            let profile = any.with_steps(known.steps);
            let mut hunt = hunt(known.subject, known.reference, &[weakness], &profile, seed)?;
            let budget = Duration::from_secs(arguments.seconds);
            let one = until(&mut hunt, budget, known.shows)?;
            match &one {
                Some((elite, networks, after)) => {
                    println!(
                        "{} seed {seed}: {networks} networks, {after:.1?}: {:?}",
                        known.name, elite.genome
                    );
                }
                None => {
                    let best = hunt.progress.archives[0].best().map_or(0.0, |elite| elite.score);
                    println!(
                        "{} seed {seed}: not in {} networks, best score {best:.2}",
                        known.name, hunt.progress.evaluations
                    );
                }
            }
            found.extend(one.map(|(_, networks, after)| (networks, after.as_secs_f64())));
        }
        let mut seconds: Vec<f64> = found.iter().map(|one| one.1).collect();
        let mut networks: Vec<u64> = found.iter().map(|one| one.0).collect();
        seconds.sort_by(f64::total_cmp);
        networks.sort_unstable();
        let shown = |value: Option<String>| value.unwrap_or_else(|| "–".into());
        lines += &format!(
            "| {} | {} | {} | {} of {} seeds | {} | {} | {} |\n",
            known.name,
            known.source,
            known.criterion,
            found.len(),
            arguments.seeds,
            shown(networks.get(networks.len() / 2).map(u64::to_string)),
            shown(seconds.get(seconds.len() / 2).map(|value| format!("{value:.1}"))),
            shown(seconds.last().map(|value| format!("{value:.1}")))
        );
    }
    print!("{lines}");
    if arguments.write {
        super::page::put("rediscovery", &lines)?;
    }
    Ok(true)
}

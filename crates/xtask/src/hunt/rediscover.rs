// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Published weaknesses, searched for from random starts: how many of ten seeds find each, and how soon.

use std::time::Duration;

use clap::Args;
use kneepoint::study::hunt::{Company, Elite, Gene, Hunt, PROFILES, Profile, Weakness};
use kneepoint::units::Span;

use super::search::{hunt, until};

/// The time budget.
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
    /// The networks.
    profile: fn(&Profile) -> Profile,
    /// Whether a network shows it.
    shows: fn(&Hunt, &Elite) -> bool,
    /// The required observation, in words.
    criterion: &'static str,
}

/// The properties that most of them share: a network of constant capacity, and CUBIC for comparison.
const USUAL: Known = Known {
    name: "",
    source: "",
    subject: "bbr",
    reference: "cubic",
    weakness: "use",
    profile: Profile::clone,
    shows: |hunt, elite| used(hunt, elite) < 0.1,
    criterion: "the same",
};

const KNOWN: &[Known] = &[
    Known {
        name: "BBR uses less than a tenth where the rate rises",
        source: "AdvNet, CoNEXT 2026, §4.4.1",
        profile: |_| named("any").with(Gene::Burst, (0, 0)).with(Gene::Loss, (0, 0)),
        criterion: "use < 10 %, CUBIC more than twice as much; no losses, no cross traffic",
        ..USUAL
    },
    Known {
        name: "BBR uses less than a tenth",
        source: "CCAC, SIGCOMM 2021, `bbr_low_util`",
        // Random jitter is not an adversary; a delay in steps is.
        profile: |constant| constant.delayed(4, 10.0).with(Gene::Lasting, (500, 20_000)),
        shows: |hunt, elite| elite.genome.duration() >= Span::from_secs(5) && used(hunt, elite) < 0.1,
        criterion: "use < 10 % of a constant capacity in 5 s at least; the delay has up to four steps; CUBIC more than twice as much",
        ..USUAL
    },
    Known {
        name: "Copa uses less than a tenth",
        source: "CCAC, SIGCOMM 2021, `copa_low_util`",
        subject: "copa",
        criterion: "use < 10 % of a constant capacity, CUBIC more than twice as much",
        ..USUAL
    },
    Known {
        name: "AIMD loses early",
        source: "CCAC, SIGCOMM 2021, `aimd_premature_loss`",
        subject: "reno",
        reference: "bbr",
        weakness: "premature",
        shows: early,
        criterion: "a loss with a window ≤ 2 BDP before a buffer ≥ 2 BDP, and of BBR none so early",
        ..USUAL
    },
    Known {
        name: "BBR stalls",
        source: "CC-Fuzz, HotNets 2022",
        weakness: "stall",
        profile: |constant| {
            constant
                .with(Gene::Burst, (100, 20_000))
                .with(Gene::BurstStart, (0, 10_000))
                .with(Gene::BurstLasting, (100, 5000))
        },
        shows: stalled,
        criterion: "after cross traffic has ended nothing is delivered for a quarter of the run, and with CUBIC something is",
        ..USUAL
    },
    Known {
        name: "Copa starves",
        source: "V. Arun et al., SIGCOMM 2022",
        subject: "copa",
        weakness: "starvation",
        shows: |hunt, elite| starved(hunt, elite) < 0.1,
        criterion: "one of two flows gets less than a tenth of the other before a buffer ≥ 1 BDP, more than that with CUBIC",
        ..USUAL
    },
    Known {
        name: "BBR starves",
        source: "the same",
        weakness: "starvation",
        shows: |hunt, elite| starved(hunt, elite) < 0.1,
        ..USUAL
    },
];

fn named(name: &str) -> &'static Profile {
    Profile::named(name).unwrap_or(&PROFILES[0])
}

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

/// Whether the subject pauses for a quarter of the run after cross traffic has ended.
fn stalled(hunt: &Hunt, elite: &Elite) -> bool {
    let genome = &elite.genome;
    let gauged = hunt.arena.gauged(genome, Company::Alone, 1);
    let Some([subject, _]) = gauged.ok().flatten() else { return false };
    let ended =
        if genome.burst > 0 { f64::from(genome.burst_start + genome.burst_lasting) / 1e3 } else { 0.0 };
    let pause = subject.gap.to.as_secs_f64() - subject.gap.from.as_secs_f64().max(ended);
    elite.score >= 0.25 && pause >= 0.25 * genome.duration().as_secs_f64()
}

/// The lesser goodput over the greater, before a buffer that is not short.
fn starved(hunt: &Hunt, elite: &Elite) -> f64 {
    if f64::from(elite.genome.buffer) < elite.genome.least_bdp(hunt.packet()) || elite.score < 0.5 {
        return f64::NAN;
    }
    let gauged = hunt.arena.gauged(&elite.genome, Company::Itself, 1);
    let [a, b] = gauged.ok().flatten().map_or([f64::NAN; 2], |[subject, _]| subject.goodput);
    a.min(b) / a.max(b)
}

/// Looks for each.
pub fn run(arguments: &Arguments) -> Result<bool, String> {
    let mut lines = String::from(
        "| weakness | published by | what has to be seen | found by | networks, median | seconds, median | seconds, most |\n|---|---|---|---:|---:|---:|---:|\n",
    );
    let constant = named("constant");
    for known in KNOWN.iter().filter(|known| known.name.contains(&arguments.only)) {
        let weakness = Weakness::named(known.weakness).ok_or("no such weakness")?;
        let mut found = Vec::new();
        for seed in 1..=arguments.seeds {
            let profile = (known.profile)(constant);
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

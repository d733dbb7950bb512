// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Profiles of realism: how far the numbers of a network may go.
//!
//! The bounds are ours, after the sources; rates are typical of slow lines of each kind, because a controller's weakness seldom
//! depends on the rate and a run's time does.

use super::gene::{GENES, Gene};
use super::genome::{Genome, Step};
use crate::rng::Rng;
use crate::table::number::counted;

/// Bounds of networks.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its name.
    pub name: &'static str,
    /// Its description.
    pub about: &'static str,
    /// The origin of its bounds.
    pub source: &'static str,
    /// The greatest number of steps.
    pub steps: u32,
    /// The longest run, in milliseconds.
    pub longest: u32,
    /// The greatest rate of a run over the least.
    pub rate_change: f64,
    /// The greatest delay of a run over the least.
    pub delay_change: f64,
    /// Queue disciplines.
    pub queues: &'static [&'static str],
    /// The least and the greatest value of each gene, in the order of [`Gene::ALL`]. An optional gene may be zero, too.
    bounds: [(u32, u32); GENES],
}

/// Every profile.
pub const PROFILES: &[Profile] = &[
    Profile {
        name: "wired",
        about: "fixed lines: constant rates and routes, now and then a change of route or of the line's rate",
        source: "J. Gettys, K. Nichols, Bufferbloat, ACM Queue 9(11), 2011; FCC, Measuring Broadband America, 2023; CableLabs, DOCSIS 3.1 MULPI, \
                 §7.2 (a grant every 2 ms)",
        steps: 3,
        longest: 12_000,
        rate_change: 4.0,
        delay_change: 2.0,
        queues: &["droptail", "codel", "fq-codel", "pie"],
        bounds: [
            (1000, 20_000),
            (2, 100),
            (1000, 10_000),
            (5, 1000),
            (1, 1000),
            (50, 2000),
            (1000, 4000),
            (100, 10_000),
            (0, 10_000),
            (200, 5000),
            (1, 200),
            (50, 2000),
            (100, 6000),
        ],
    },
    Profile {
        name: "wifi",
        about: "wireless lines at home: rates change with position and neighbours, packets leave in aggregates",
        source: "IEEE 802.11-2020, §9.3 (aggregates of at most 5.484 ms); C. Pei et al., WiFi Can Be the Weakest Link of Round Trip Network \
                 Latency, INFOCOM 2016",
        steps: 8,
        longest: 12_000,
        rate_change: 10.0,
        delay_change: 2.0,
        queues: &["droptail", "fq-codel"],
        bounds: [
            (500, 20_000),
            (2, 60),
            (200, 6000),
            (20, 1000),
            (10, 10_000),
            (200, 20_000),
            (1000, 20_000),
            (100, 10_000),
            (0, 10_000),
            (100, 5000),
            (1, 100),
            (200, 20_000),
            (100, 6000),
        ],
    },
    Profile {
        name: "leo",
        about: "satellites in low orbits: rate and delay change every 15 s, some packets are lost",
        source: "F. Michel et al., A First Look at Starlink Performance, IMC 2022; N. Mohan et al., A Multifaceted Look at Starlink Performance, \
                 WWW 2024",
        steps: 3,
        longest: 32_000,
        rate_change: 5.0,
        delay_change: 2.5,
        queues: &["droptail", "fq-codel"],
        bounds: [
            (1000, 10_000),
            (10, 50),
            (2000, 15_000),
            (20, 1000),
            (100, 20_000),
            (500, 10_000),
            (1000, 10_000),
            (100, 5000),
            (0, 20_000),
            (200, 5000),
            (5, 60),
            (500, 10_000),
            (500, 15_000),
        ],
    },
    Profile {
        name: "cellular",
        about: "mobile networks: rates change within a second, buffers are deep, bunches are common",
        source: "K. Winstein et al., Stochastic Forecasts Achieve High Throughput and Low Delay over Cellular Networks, NSDI 2013; H. Jiang et al., \
                 Tackling Bufferbloat in 3G/4G Networks, IMC 2012",
        steps: 15,
        longest: 16_000,
        rate_change: 50.0,
        delay_change: 3.0,
        queues: &["droptail"],
        bounds: [
            (200, 15_000),
            (10, 100),
            (100, 5000),
            (50, 3000),
            (10, 10_000),
            (500, 30_000),
            (1000, 40_000),
            (100, 5000),
            (0, 10_000),
            (100, 5000),
            (5, 150),
            (500, 20_000),
            (100, 8000),
        ],
    },
    Profile {
        name: "constant",
        about: "one rate and one delay, drop tail, no other flows and no random losses: jitter and bunches of acknowledgements remain",
        source: "V. Arun et al., Toward Formally Verifying Congestion Control Behavior, SIGCOMM 2021, §3 (a path with bounded jitter); V. Arun, M. Alizadeh, \
                 H. Balakrishnan, Starvation in End-to-End Congestion Control, SIGCOMM 2022, §2",
        steps: 1,
        longest: 20_000,
        rate_change: 1.0,
        delay_change: 1.0,
        queues: &["droptail"],
        bounds: [
            (1000, 20_000),
            (2, 100),
            (5000, 20_000),
            (5, 5000),
            (0, 0),
            (50, 50_000),
            (1000, 100_000),
            (0, 0),
            (0, 0),
            (0, 0),
            (1, 200),
            (50, 50_000),
            (100, 1000),
        ],
    },
    Profile {
        name: "any",
        about: "all that TCP may meet, the networks of AdvNet among it",
        source: "RFC 9743, §5 and §6; S. S. Ahmed et al., AdvNet, PACMNET 4 (CoNEXT2), 2026: 0.5 to 10 Mbit/s, 1 to 30 ms, 0.5 to 2 s a step, 100 to \
                 10,000 packets",
        steps: 15,
        longest: 20_000,
        rate_change: 100.0,
        delay_change: 50.0,
        queues: &["droptail", "codel", "fq-codel", "pie", "red"],
        bounds: [
            (100, 20_000),
            (1, 200),
            (100, 10_000),
            (2, 10_000),
            (10, 50_000),
            (50, 50_000),
            (1000, 100_000),
            (100, 20_000),
            (0, 20_000),
            (100, 10_000),
            (1, 300),
            (50, 50_000),
            (100, 10_000),
        ],
    },
];

/// An optional gene is zero in half of the networks: a network with everything at once is uninformative.
const ABSENT: f64 = 0.6;

impl Profile {
    /// The profile of this name.
    pub fn named(name: &str) -> Option<&'static Profile> {
        PROFILES.iter().find(|profile| profile.name == name)
    }

    /// The same with at most this many steps, and at most its own number.
    #[must_use]
    pub fn with_steps(&self, steps: u32) -> Profile {
        Profile { steps: steps.clamp(1, self.steps), ..self.clone() }
    }

    /// With up to this many steps, the greatest delay of which is at most `change` times the least: bounded jitter as chosen by an adversary.
    #[must_use]
    pub fn delayed(&self, steps: u32, change: f64) -> Profile {
        Profile { steps, delay_change: change, ..self.clone() }
    }

    /// The same with other bounds of a gene.
    #[must_use]
    pub fn with(&self, gene: Gene, bounds: (u32, u32)) -> Profile {
        let mut other = self.clone();
        other.bounds[gene.place()] = bounds;
        other
    }

    /// The least and the greatest value of a gene.
    pub fn bounds(&self, gene: Gene) -> (u32, u32) {
        self.bounds[gene.place()]
    }

    /// A network at random.
    pub fn draw(&self, rng: &mut Rng) -> Genome {
        let count = 1 + rng.below(u64::from(self.steps)) as usize;
        // Two steps are as frequent as many: short courses can be understood.
        let count = if rng.chance(0.5) { count.min(2) } else { count };
        let mut genome = Genome {
            steps: vec![Step { rate: 0, delay: 0, lasting: 0 }; count],
            queue: self.queue(rng),
            odd: rng.chance(0.5),
            ..Genome::plain(0)
        };
        for (gene, number) in genome.numbers() {
            *number = self.value(gene, rng);
        }
        self.repair(&mut genome);
        genome
    }

    /// A discipline: most often the first.
    pub fn queue(&self, rng: &mut Rng) -> String {
        let first = rng.chance(0.7);
        if first { self.queues[0] } else { rng.pick(self.queues) }.to_string()
    }

    /// A value of a gene, uniform on a logarithmic scale.
    pub fn value(&self, gene: Gene, rng: &mut Rng) -> u32 {
        if gene.optional() && rng.chance(ABSENT) {
            return 0;
        }
        let (least, greatest) = self.bounds(gene);
        let (low, high) = (libm::log(f64::from(least.max(1))), libm::log(f64::from(greatest.max(1))));
        libm::round(libm::exp(rng.between(low, high))) as u32
    }

    /// Brings every number, and their combination, within the bounds.
    pub fn repair(&self, genome: &mut Genome) {
        genome.steps.truncate(self.steps as usize);
        for (gene, number) in genome.numbers() {
            let (least, greatest) = self.bounds(gene);
            if !(gene.optional() && *number == 0) {
                *number = (*number).clamp(least, greatest);
            }
        }
        hold(&mut genome.steps, self.rate_change, |step| &mut step.rate);
        hold(&mut genome.steps, self.delay_change, |step| &mut step.delay);
        self.shorten(&mut genome.steps);
        // A rival that starts late has no time to share.
        let (earliest, _) = self.bounds(Gene::RivalStart);
        let half = (genome.duration().0 / 2_000_000) as u32;
        genome.rival_start = if half < earliest { 0 } else { genome.rival_start.min(half) };
        if !self.queues.contains(&genome.queue.as_str()) {
            genome.queue = self.queues[0].to_string();
        }
    }

    /// Cuts a course that is longer than the limit. Each step keeps at least the minimum.
    fn shorten(&self, steps: &mut Vec<Step>) {
        let (least, _) = self.bounds(Gene::Lasting);
        steps.truncate((self.longest / least) as usize);
        let total: u32 = steps.iter().map(|step| step.lasting).sum();
        if total > self.longest {
            let sure = least * steps.len() as u32;
            let part = f64::from(self.longest - sure) / f64::from(total - sure);
            for step in steps {
                step.lasting = least + (f64::from(step.lasting - least) * part) as u32;
            }
        }
    }

    /// Whether a network is within the bounds.
    pub fn allows(&self, genome: &Genome) -> bool {
        let mut repaired = genome.clone();
        self.repair(&mut repaired);
        repaired == *genome
    }

    /// The reason why a network is outside the bounds: its first number that is, or the combination.
    pub fn objection(&self, genome: &Genome) -> Option<String> {
        let count = genome.steps.len();
        if !(1..=self.steps as usize).contains(&count) {
            return Some(format!(
                "its network has {}, and may have 1 to {}",
                counted(count, "step"),
                self.steps
            ));
        }
        let mut copy = genome.clone();
        let outside = copy.numbers().into_iter().find_map(|(gene, number)| {
            let (least, greatest) = self.bounds(gene);
            let zero = if gene.optional() { "0 or " } else { "" };
            let allowed = (least..=greatest).contains(number) || gene.optional() && *number == 0;
            (!allowed).then(|| format!("its {gene} is {number}, and may be {zero}{least} to {greatest}"))
        });
        let combined = || {
            let name = self.name;
            format!("the profile {name} does not allow its network, {genome}")
        };
        outside.or_else(|| (!self.allows(genome)).then(combined))
    }
}

/// Raises the values that are less than the greatest over `change`.
fn hold(steps: &mut [Step], change: f64, of: fn(&mut Step) -> &mut u32) {
    let greatest = steps.iter_mut().map(|step| *of(step)).max().unwrap_or(0);
    let least = libm::ceil(f64::from(greatest) / change) as u32;
    for step in steps {
        let value = of(step);
        *value = (*value).max(least);
    }
}

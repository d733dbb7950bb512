// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Weaknesses: properties in which a controller can be far worse than a reference on the same network, with scores.
//!
//! A score is in [0, 1]: zero where the subject is as good as the reference or better, near one where it is as bad as can be.
//! A weakness is found where its score is at least [`Weakness::found`].

use super::contest::Company;
use super::gauge::Gauged;
use super::genome::Genome;
use crate::units::Bytes;

/// The subject and the reference, each on the same network.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// The network.
    pub genome: &'a Genome,
    /// The subject.
    pub subject: &'a Gauged,
    /// The reference in its place.
    pub reference: &'a Gauged,
    /// A full packet of the subject.
    pub packet: Bytes,
}

/// A kind of weakness.
#[derive(Clone, Copy, Debug)]
pub struct Weakness {
    /// Its name.
    pub name: &'static str,
    /// The weakness, in a sentence about the subject.
    pub about: &'static str,
    /// The flows on the network.
    pub company: Company,
    /// The scoring rule.
    pub score: fn(&Compared) -> f64,
    /// The least score of a finding.
    pub found: f64,
    /// The quantity that a claim compares: an expression in which `{}` represents the choice of a sender, as
    /// `sender=bbr`. A metric that only links have names the bottleneck, `r1-r2`.
    pub quantity: &'static str,
    /// Whether a claim is about the subject's longest pause, instead of the interval of rates.
    pub in_pause: bool,
    /// The same for people, with its unit.
    pub told: &'static str,
    /// Whether less of it is worse.
    pub less: bool,
}

/// Every weakness.
pub const WEAKNESSES: &[Weakness] = &[
    Weakness {
        name: "use",
        about: "it delivers far less, alone on the network",
        company: Company::Alone,
        // AdvNet's score: the reference's surplus, relative to the greater of the two.
        score: |both| lack(both.subject.goodput[0], both.reference.goodput[0]),
        found: 0.5,
        quantity: "goodput_bps[group=subject, {}]",
        in_pause: false,
        told: "goodput, bit/s",
        less: true,
    },
    Weakness {
        name: "stall",
        about: "for many round trips nothing is delivered",
        company: Company::Alone,
        score: stall,
        found: 0.25,
        quantity: "goodput_bps[group=subject, {}]",
        in_pause: true,
        told: "goodput in the pause, bit/s",
        less: true,
    },
    Weakness {
        name: "queue",
        about: "packets wait far longer at the bottleneck",
        company: Company::Alone,
        score: |both| excess(both.subject.delay, both.reference.delay, both),
        found: 0.5,
        quantity: "queueing_delay_mean_ms[{}]",
        in_pause: false,
        told: "mean queueing delay, ms",
        less: false,
    },
    Weakness {
        name: "swing",
        about: "the queueing delay swings far wider: its 99th percentile is far above its median",
        company: Company::Alone,
        score: |both| excess(both.subject.swing, both.reference.swing, both),
        found: 0.5,
        quantity: "(queueing_delay_p99_ms[link=r1-r2, {}] - queueing_delay_p50_ms[link=r1-r2, {}])",
        in_pause: false,
        told: "99th percentile less median of the queueing delay, ms",
        less: false,
    },
    Weakness {
        name: "loss",
        about: "it makes far more losses",
        company: Company::Alone,
        score: |both| lack(both.reference.drops.max(0.01), both.subject.drops),
        found: 0.5,
        quantity: "drop_ratio[{}]",
        in_pause: false,
        told: "packets dropped, as a fraction",
        less: false,
    },
    Weakness {
        name: "premature",
        about: "the buffer overflows while its window is far below what path and buffer hold",
        company: Company::Alone,
        score: premature,
        found: 0.3,
        quantity: "drops_overflow[link=r1-r2, {}]",
        in_pause: false,
        told: "packets that found no room",
        less: false,
    },
    Weakness {
        name: "share",
        about: "against a flow of the reference it delivers far less than another flow of the reference would",
        company: Company::Reference,
        score: |both| lack(both.subject.goodput[0], both.reference.goodput[0]),
        found: 0.6,
        quantity: "goodput_bps[group=subject, {}]",
        in_pause: false,
        told: "goodput against the reference, bit/s",
        less: true,
    },
    Weakness {
        name: "crowding",
        about: "it leaves far less to a flow of the reference than another flow of the reference would",
        company: Company::Reference,
        score: |both| lack(both.subject.goodput[1], both.reference.goodput[1]),
        found: 0.6,
        quantity: "goodput_bps[group=rival, {}]",
        in_pause: false,
        told: "goodput of the reference against it, bit/s",
        less: true,
    },
    Weakness {
        name: "starvation",
        about: "of two flows of its own one gets far less than the other, more so than with the reference",
        company: Company::Itself,
        score: |both| lack(evenness(both.subject), evenness(both.reference)),
        found: 0.6,
        quantity: "min(goodput_bps[group=subject, {}], goodput_bps[group=rival, {}]) / max(goodput_bps[group=subject, {}], goodput_bps[group=rival, {}])",
        in_pause: false,
        told: "lesser goodput over the greater",
        less: true,
    },
    Weakness {
        name: "law",
        about: "its window was no positive number",
        company: Company::Alone,
        score: |both| f64::from(u8::from(!both.subject.lawful && both.reference.lawful)),
        found: 1.0,
        quantity: "goodput_bps[group=subject, {}]",
        in_pause: false,
        told: "goodput, bit/s",
        less: true,
    },
];

impl Weakness {
    /// The weakness of this name.
    pub fn named(name: &str) -> Option<&'static Weakness> {
        WEAKNESSES.iter().find(|weakness| weakness.name == name)
    }
}

/// The part by which `ours` is below `theirs`; zero if it is not.
fn lack(ours: f64, theirs: f64) -> f64 {
    if theirs > ours { (theirs - ours) / theirs } else { 0.0 }
}

/// The part of a time, with a round trip added, by which it exceeds the reference's: a short queue counts little, even if the reference's
/// is much shorter.
fn excess(ours: f64, theirs: f64, both: &Compared) -> f64 {
    let rtt = both.genome.longest_rtt().as_secs_f64();
    if ours > theirs { (ours - theirs) / (ours + rtt) } else { 0.0 }
}

/// Round trips without a delivery that are a stall.
const STALLED: f64 = 10.0;

fn stall(both: &Compared) -> f64 {
    let pause = |one: &Gauged| one.gap.span().as_secs_f64();
    let (ours, theirs) = (pause(both.subject), pause(both.reference));
    let rtt = both.genome.longest_rtt().as_secs_f64();
    if ours < STALLED * rtt {
        return 0.0;
    }
    (ours - theirs).max(0.0) / both.genome.duration().as_secs_f64()
}

/// Room is the bandwidth-delay product and the buffer: no smooth flow of a smaller window fills it.
fn premature(both: &Compared) -> f64 {
    let room = both.genome.least_bdp(both.packet) + f64::from(both.genome.buffer);
    let early = |one: &Gauged| (1.0 - one.window_at_drop / room).clamp(0.0, 1.0);
    (early(both.subject) - early(both.reference)).max(0.0)
}

fn evenness(one: &Gauged) -> f64 {
    let [a, b] = one.goodput;
    if a.max(b) > 0.0 { a.min(b) / a.max(b) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::study::hunt::profile::Profile;
    use crate::units::{Interval, Span, Time};

    fn gauged(goodput: [f64; 2]) -> Gauged {
        let gap = Interval { from: Time::ZERO, to: Span::from_millis(10).after_start() };
        Gauged {
            goodput,
            gap,
            delay: 0.01,
            swing: 0.01,
            drops: 0.0,
            window_at_drop: f64::INFINITY,
            lawful: true,
        }
    }

    fn scores(subject: &Gauged, reference: &Gauged) -> Vec<f64> {
        let mut rng = Rng::stream(1, "test", 0);
        let genome = Profile::named("any").unwrap().draw(&mut rng);
        let both = Compared { genome: &genome, subject, reference, packet: Bytes(1500) };
        WEAKNESSES.iter().map(|weakness| (weakness.score)(&both)).collect()
    }

    #[test]
    fn the_reference_has_no_weakness_beside_itself() {
        let one = gauged([3e6, 1e6]);
        assert_eq!(scores(&one, &one), vec![0.0; WEAKNESSES.len()]);
    }

    #[test]
    fn a_tenth_of_the_goodput_is_a_score_of_nine_tenths() {
        let all = scores(&gauged([1e6, 1e6]), &gauged([1e7, 1e6]));
        assert!((all[0] - 0.9).abs() < 1e-12, "{all:?}");
    }

    #[test]
    fn every_score_is_between_zero_and_one_whatever_was_measured() {
        let extremes = [0.0, 1e-9, 1.0, 1e12];
        for a in extremes {
            for b in extremes {
                let odd =
                    Gauged { delay: a, swing: b, drops: a.min(1.0), window_at_drop: b, ..gauged([a, b]) };
                for (one, other) in [(&odd, &gauged([b, a])), (&gauged([b, a]), &odd)] {
                    assert!(scores(one, other).iter().all(|score| (0.0..=1.0).contains(score)), "{a} {b}");
                }
            }
        }
    }
}

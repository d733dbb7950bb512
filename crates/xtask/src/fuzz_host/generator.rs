// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Plans by seed.

use kneepoint::rng::Rng;
use kneepoint::units::Span;
use kneepoint_linux::player::plan::{MSS, Plan, Write};

use super::features::Feature;

/// Features, controllers and switches that plans may have.
pub struct Choice {
    pub features: Vec<&'static Feature>,
    pub controllers: Vec<String>,
    /// Features of one plan at most.
    pub together: u64,
}

/// A plan, with the names of its features.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub seed: u64,
    pub features: Vec<&'static str>,
    pub plan: Plan,
}

impl Case {
    /// Its name: a file, or a line of a report.
    pub fn name(&self) -> String {
        let stamps = if self.plan.timestamps { "stamps" } else { "plain" };
        format!("{:06}-{}-{}-{stamps}", self.seed, self.plan.controller, self.features.join("+"))
    }
}

/// The case of a seed.
pub fn case(seed: u64, choice: &Choice) -> Case {
    let mut rng = Rng::stream(seed, "fuzz host", 0);
    let (mut plan, segments) = base(seed, choice, &mut rng);
    let mut features = Vec::new();
    // Half of the plans have one feature, a quarter two, and so on.
    while features.len() < choice.together.min(choice.features.len() as u64) as usize {
        let feature = choice.features[rng.below(choice.features.len() as u64) as usize];
        if !features.contains(&feature.name) {
            (feature.add)(&mut plan, segments, &mut rng);
            features.push(feature.name);
        }
        if rng.chance(0.5) {
            break;
        }
    }
    features.sort_unstable();
    Case { seed, features, plan }
}

/// Between two numbers, small ones more often.
fn small(rng: &mut Rng, least: f64, most: f64) -> f64 {
    let draw = rng.uniform();
    least + (most - least) * draw * draw
}

/// Without disturbances so far.
fn base(seed: u64, choice: &Choice, rng: &mut Rng) -> (Plan, u32) {
    let controller = choice.controllers[rng.below(choice.controllers.len() as u64) as usize].clone();
    let segments = small(rng, 12.0, 200.0) as u32;
    let rtt = Span::from_micros(small(rng, 10e3, 200e3) as u64);
    // Without any, acknowledgements of retransmissions are as fast as the fastest, and microseconds decide whether RACK believes them.
    let jitter = Span::from_micros(300 + rng.below(2700));
    let spacing =
        if rng.chance(0.5) { Span::ZERO } else { Span::from_micros(rng.between(100.0, 3000.0) as u64) };
    let at = rtt + Span::from_millis(5 + rng.below(20));
    let plan = Plan {
        seed,
        controller,
        sack: true,
        timestamps: rng.chance(0.5),
        ecn: false,
        restart_after_idle: rng.chance(0.5),
        scale: 7,
        window: 1 << 20,
        rtt,
        jitter,
        spacing,
        queue: 1000,
        every: rng.pick(&[1, 1, 2, 2, 2, 4]),
        patience: Span::from_millis(40),
        writes: vec![Write { at, bytes: segments * MSS }],
        impairments: Vec::new(),
        until: Span::from_secs(6),
    };
    (plan, segments)
}

#[cfg(test)]
mod tests {
    use super::super::features::FEATURES;
    use super::*;

    fn choice() -> Choice {
        Choice {
            features: FEATURES.iter().collect(),
            controllers: vec!["reno".into(), "cubic".into()],
            together: 3,
        }
    }

    #[test]
    fn a_seed_is_a_case_and_another_seed_another_one() {
        for seed in 0..200 {
            assert_eq!(case(seed, &choice()), case(seed, &choice()));
            assert_ne!(case(seed, &choice()).plan, case(seed + 1, &choice()).plan);
        }
    }

    #[test]
    fn every_feature_and_switch_comes_about_and_plans_can_be_played() {
        let cases: Vec<Case> = (0..500).map(|seed| case(seed, &choice())).collect();
        for feature in &FEATURES {
            assert!(cases.iter().any(|case| case.features == [feature.name]), "only {}", feature.name);
        }
        assert!(cases.iter().any(|case| case.features.len() == 3));
        for case in &cases {
            let plan = &case.plan;
            assert!(
                plan.writes
                    .iter()
                    .all(|write| write.at > plan.rtt && write.bytes % MSS == 0 && write.bytes > 0)
            );
            assert!(plan.rtt >= Span::from_millis(10) && plan.until > plan.writes[0].at);
            assert!(plan.window >> plan.scale <= u32::from(u16::MAX));
        }
    }
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Laws of the laws that make probabilities from signals.

use kneepoint::law::sparing::{Params, Rule, Sparing};
use kneepoint::law::spread::Spread;
use kneepoint::law::{self, Adjustment};
use kneepoint::rng::Rng;
use kneepoint::units::{Span, Time};

use super::Family;

/// A signal: ordinary, at rest, or as extreme as an integer of 64 bits.
fn signal(script: &mut Rng) -> f64 {
    match script.below(10) {
        0 => 0.0,
        1 => script.pick(&[1e19, f64::MIN_POSITIVE, 1e300]),
        2..6 => script.between(0.0, 0.1),
        _ => script.between(0.0, 100.0),
    }
}

/// Every law with its defaults and with each parameter at the ends of its range, and a script for each.
fn laws() -> impl Iterator<Item = (law::Config, law::Any, Rng)> {
    let variants = law::Config::variants().into_iter().zip(0..);
    variants.map(|(config, index)| (config.clone(), config.build(), Rng::stream(index, "script", 4)))
}

#[test]
fn a_probability_lies_between_0_and_1_whatever_the_signal() {
    for (config, mut law, mut script) in laws() {
        assert_eq!(law.probability(), 0.0, "{config:?} before the first sample");
        let mut now = Time::ZERO;
        for _ in 0..3_000 {
            now += Span(script.below(20_000_000));
            let signal = signal(&mut script);
            law.sample(signal, now);
            let probability = law.probability();
            assert!((0.0..=1.0).contains(&probability), "{config:?} at {signal}: {probability}");
        }
    }
}

#[test]
fn from_one_state_a_greater_signal_never_makes_a_smaller_probability() {
    for (config, mut law, mut script) in laws() {
        let mut now = Time::ZERO;
        for _ in 0..1_000 {
            now += Span(script.below(20_000_000));
            let (one, other) = (signal(&mut script), signal(&mut script));
            let after = |signal| {
                let mut law = law.clone();
                law.sample(signal, now);
                law.probability()
            };
            let (less, more) = (after(one.min(other)), after(one.max(other)));
            assert!(less <= more, "{config:?} at {one} and {other}: {less} and {more}");
            law.sample(one, now);
        }
    }
}

#[test]
fn an_adjusted_probability_of_any_law_lies_between_0_and_1() {
    for (config, mut law, mut script) in laws() {
        for _ in 0..1_000 {
            law.sample(signal(&mut script), Time::ZERO);
            let (count, size) = (script.below(100) as f64, script.pick(&[40.0, 1040.0, 9000.0]));
            let spread = Spread { wait: script.chance(0.5), count, size, mean_size: 1040.0 };
            let adjusted = spread.adjust(law.probability());
            assert!((0.0..=1.0).contains(&adjusted), "{config:?} with {spread:?}: {adjusted}");
        }
        for spare in Rule::ALL {
            let mut sparing = Sparing::new(Params { spare: *spare, ..Params::default() });
            for _ in 0..1_000 {
                law.sample(signal(&mut script), Time::ZERO);
                let window = script.pick(&[f64::MIN_POSITIVE, 0.5, 7.0, 100.0, 1e300]);
                sparing.observe(script.chance(0.8).then_some(window));
                let adjusted = sparing.adjust(law.probability());
                assert!((0.0..=1.0).contains(&adjusted), "{config:?} with {sparing:?}: {adjusted}");
            }
        }
    }
}

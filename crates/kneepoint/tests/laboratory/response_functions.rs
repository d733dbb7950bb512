// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Every response function that a controller's file states, compared with the controller.

use kneepoint::cc::steady::{ResponseFunction, mean_window};
use kneepoint::cc::{Config, REGISTRY};
use kneepoint::settings::Raw;
use kneepoint::units::Span;

/// The round-trip time of every measurement.
const RTT: Span = Span::from_millis(100);

/// The difference of `config` from `law` at the loss rate `p`, as a fraction of the law.
fn off(config: &Config, law: &ResponseFunction, p: f64) -> f64 {
    mean_window(&law.assume(config), law.losses, p, RTT) / (law.window)(p, RTT.as_secs_f64()) - 1.0
}

fn named(name: &str) -> Config {
    Config::named(name).expect("a controller")
}

#[test]
fn every_controller_has_the_mean_window_that_was_published() {
    let mut faults = Vec::new();
    for entry in REGISTRY {
        let config = named(entry.name);
        for law in config.steady_state() {
            for &p in law.rates {
                let off = off(&config, law, p);
                if off.is_nan() || off.abs() > law.within {
                    faults.push(format!("{} at {p}: off by {off:+.4}: {}", entry.name, law.source));
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// Not for HSTCP, whose increase compensates for any decrease.
#[test]
fn a_constant_that_is_a_tenth_off_is_noticed() {
    for (name, parameter, value) in [
        ("reno", "decrease", 0.55),
        ("cubic", "beta", 0.73),
        ("illinois", "alpha_max", 11.0),
        ("scalable", "increase", 0.009),
        ("bic", "max_step", 17.6),
        ("htcp", "beta_max", 0.72),
        ("ltcp", "decrease", 0.165),
    ] {
        let mut config = named(name);
        assert_eq!(config.set(parameter, &Raw::Float(value)), Ok(()), "{name}");
        let law = &config.steady_state()[0];
        let noticed = law.rates.iter().any(|&p| off(&config, law, p).abs() > law.within);
        assert!(noticed, "{name}: {parameter} = {value} passes for the law");
    }
}

#[test]
fn a_law_says_all_that_its_table_shows() {
    for entry in REGISTRY {
        for law in named(entry.name).steady_state() {
            assert!(!law.rates.is_empty() && law.within > 0.0, "{}: {law:?}", entry.name);
            assert!([law.source, law.formula, law.because].iter().all(|text| !text.is_empty()), "{law:?}");
            let mut config = named(entry.name);
            for (parameter, value) in law.settings {
                assert_eq!(config.set(parameter, &Raw::guess(value)), Ok(()), "{}", law.source);
            }
        }
    }
}

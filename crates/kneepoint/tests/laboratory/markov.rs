// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The solution of RATCP's analysis compared with random drawings of the same process, and with the claims of the
//! paper.

use kneepoint::markov::{PRESETS, Params, Protocol, Readings, simulate, solve};
use kneepoint::rng::Rng;
use kneepoint::settings::{Raw, Settings};

/// Readings that are tried: every preset, and every change of a single reading from the defaults.
fn readings() -> Vec<(String, Readings)> {
    let mut all: Vec<_> = PRESETS
        .iter()
        .map(|preset| (preset.name.to_string(), Params::default().with(preset).readings))
        .collect();
    for field in Readings::fields() {
        for (value, _) in field.choices {
            let mut readings = Readings::default();
            readings.set(field.name, &Raw::Text((*value).to_string())).unwrap();
            if readings != Readings::default() {
                all.push((format!("{} = {value}", field.name), readings));
            }
        }
    }
    all
}

/// Drawn and solved throughput differ by less than 1 %, and by less than four standard errors; so do losses, by less than 5 %.
fn agree(name: &str, params: &Params) {
    let solved = solve(params).unwrap();
    let drawn = simulate(params, 600_000, Rng::stream(1, "markov", 0)).unwrap();
    let width = |estimate: kneepoint::table::Estimate| 2.0 * estimate.half_width.unwrap();
    println!(
        "{name:40} {:5} λ = {:<4} efficiency {:.4}, drawn {:.4} ± {:.4}; losses {:.5}, drawn {:.5} ± {:.5} /s; {} states",
        params.protocol,
        params.arrivals,
        solved.efficiency,
        drawn.efficiency.mean,
        width(drawn.efficiency) / 2.0,
        solved.losses,
        drawn.losses.mean,
        width(drawn.losses) / 2.0,
        solved.states,
    );
    let off = (solved.efficiency - drawn.efficiency.mean).abs();
    assert!(off < 0.01 * solved.efficiency && off < width(drawn.efficiency), "{name}: {off}");
    let losses_off = (solved.losses - drawn.losses.mean).abs();
    assert!(
        losses_off < 0.05 * solved.losses + 1e-5 && losses_off <= width(drawn.losses) + 1e-5,
        "{name}: {losses_off} losses/s"
    );
    assert!(solved.residual <= 1e-10);
}

#[test]
fn drawing_agrees_with_the_solution_under_every_reading() {
    for (name, readings) in readings() {
        // TCP loses at the default buffer. RATCP does with a shorter one, and with the shortest in slow start, too.
        let tcp = Params {
            readings: readings.clone(),
            protocol: Protocol::Tcp,
            arrivals: 0.5,
            ..Params::default()
        };
        agree(&name, &tcp);
        for (backlog, buffer) in [(4.0, 12), (12.0, 8)] {
            agree(&name, &Params { protocol: Protocol::Ratcp, backlog, buffer, ..tcp.clone() });
        }
        agree(&name, &Params { protocol: Protocol::Ratcp, arrivals: 2.0, ..tcp });
    }
}

#[test]
fn drawing_agrees_with_the_solution_at_every_rate_of_arrivals() {
    for arrivals in [0.01, 0.1, 1.0, 4.5] {
        for protocol in [Protocol::Ratcp, Protocol::Tcp] {
            agree("paper", &Params { protocol, arrivals, ..Params::default() });
        }
    }
}

#[test]
fn ratcp_gains_at_low_rates_and_a_larger_backlog_helps_it() {
    for preset in PRESETS {
        let efficiency = |protocol, arrivals, backlog| {
            solve(&Params { protocol, arrivals, backlog, ..Params::default().with(preset) })
                .unwrap()
                .efficiency
        };
        let gain = efficiency(Protocol::Ratcp, 0.001, 1.0) / efficiency(Protocol::Tcp, 0.001, 1.0) - 1.0;
        println!("{}: RATCP gains {:.1} % at low rates", preset.name, 100.0 * gain);
        // The paper's 17 % to 20 % need other values of the parameters lost from its text.
        assert!(gain > 0.05, "{gain}");
        for arrivals in [0.1, 0.5, 1.0] {
            assert!(efficiency(Protocol::Ratcp, arrivals, 4.0) > efficiency(Protocol::Ratcp, arrivals, 1.0));
        }
    }
}

#[test]
fn the_size_of_the_chain_is_the_one_that_is_documented() {
    let states = |protocol| solve(&Params { protocol, ..Params::default() }).unwrap().states;
    assert_eq!((states(Protocol::Ratcp), states(Protocol::Tcp)), (4180, 6039));
}

#[test]
fn parameters_that_do_not_fit_together_are_refused_with_a_remedy() {
    let refused = |params: Params| solve(&params).unwrap_err();
    let often = refused(Params { arrivals: 6.0, ..Params::default() });
    assert!(often.contains("arrivals") && often.contains("lower"), "{often}");
    let many = refused(Params { max_sessions: 30, ..Params::default() });
    assert!(many.contains("max_sessions") && many.contains("carried"), "{many}");
}

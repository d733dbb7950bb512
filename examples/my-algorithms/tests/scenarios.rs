// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Algorithms of another crate in scenarios: chosen by name, set, swept, refused, and run like the laboratory's own.

use kneepoint::measure::Meter;
use kneepoint::run::run;
use kneepoint::scenario::{self, Extensions, Plan};
use kneepoint::table::{Row, value};
use my_algorithms::known;

const TEXT: &str = include_str!("../scenario.toml");

fn read(text: &str) -> Plan {
    known().unwrap().parse(text).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// The problems of a text, each with its remedy.
fn faults(text: &str) -> String {
    let faults = known().unwrap().parse(text).expect_err("a fault");
    faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn rows(plan: &Plan, case: usize, seed: u64) -> Vec<Row> {
    let valid = &plan.cases[case].valid;
    run(valid, seed, Meter::new(valid, seed)).0.finish()
}

#[test]
fn algorithms_of_this_crate_run_beside_those_of_the_laboratory() {
    let plan = read(TEXT);
    let [droptail, ramp, budget, less] = [0, 1, 2, 3].map(|case| rows(&plan, case, 1));
    let delay_ms = |rows: &[Row]| value(rows, "queueing_delay_mean_ms", &[]);
    assert!(delay_ms(&ramp) < delay_ms(&droptail), "{} {}", delay_ms(&ramp), delay_ms(&droptail));
    assert!(delay_ms(&budget) < delay_ms(&droptail), "{} {}", delay_ms(&budget), delay_ms(&droptail));
    assert!(delay_ms(&less) < delay_ms(&budget), "{} {}", delay_ms(&less), delay_ms(&budget));
    for rows in [droptail, ramp, budget, less] {
        let noise = value(&rows, "throughput_bps", &[("group", "noise")]);
        assert!((0.9e6..1.1e6).contains(&noise), "{noise}");
        assert!(value(&rows, "utilization", &[]) > 0.85);
    }
}

#[test]
fn the_same_seed_gives_the_same_rows_and_another_seed_others() {
    let plan = read(TEXT);
    for case in [1, 2] {
        assert_eq!(rows(&plan, case, 1), rows(&plan, case, 1));
        assert_ne!(rows(&plan, case, 1), rows(&plan, case, 2));
    }
}

#[test]
fn without_the_extensions_a_scenario_that_names_them_is_refused() {
    let faults = scenario::parse(TEXT).expect_err("unknown names");
    let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert!(told.iter().any(|fault| fault.contains("`poisson`")), "{told:?}");
}

#[test]
fn a_misspelt_name_and_a_value_out_of_range_are_refused_as_those_of_the_laboratory_are() {
    let misspelt = faults(&TEXT.replace("budget/droptail", "bugdet/droptail"));
    assert!(misspelt.contains("no congestion control called `bugdet`; did you mean `budget`?"), "{misspelt}");
    let beyond = faults(&TEXT.replace("budget=2ms", "budget=20s"));
    assert!(beyond.contains("\"20s\" is outside the allowed range, 1us to 10s"), "{beyond}");
    let unknown = faults(&TEXT.replace("rate = \"1mbit\"", "ratee = \"1mbit\""));
    assert!(unknown.contains("has no field `ratee`; did you mean `rate`?"), "{unknown}");
}

#[test]
fn parameters_of_groups_of_another_crate_can_be_swept_and_given_once_for_all() {
    let swept = TEXT.split("[sweep]").next().unwrap().to_string()
        + "[sweep]\n\"poisson.noise.rate\" = [\"1mbit\", \"2mbit\"]\n\"flows.long.cc\" = [\"budget\"]\n";
    let plan = read(&(swept + "\n[controllers.budget]\nbudget = \"3ms\"\n"));
    assert_eq!(plan.cases.len(), 2);
    let group = &plan.cases[1].valid.groups();
    let budget = group.iter().find_map(|group| group.cc.as_ref()?.get("budget"));
    assert_eq!(budget.as_deref(), Some("3ms"));
    assert!(group.iter().any(|group| group.source.get("rate").as_deref() == Some("2mbit")));
}

#[test]
fn a_name_that_is_taken_is_refused() {
    use kneepoint::{cc, queue, traffic};
    use my_algorithms::{budget::Budget, poisson::Poisson, ramp::Ramp};
    let controller = |name| known().and_then(|known| known.controller(cc::external::of::<Budget>(name, "")));
    for name in ["reno", "sack", "budget"] {
        assert!(controller(name).unwrap_err().contains(name));
    }
    assert!(controller("Budget 2").unwrap_err().contains("lower-case"));
    assert!(controller("budget2").is_ok());
    let queue = |name| Extensions::NONE.queue(queue::external::of::<Ramp>(name, ""));
    assert!(queue("red").is_err() && queue("budget").is_ok());
    let source = known().and_then(|known| known.source(traffic::external::of::<Poisson>("another", "")));
    assert!(source.unwrap_err().contains("section called `poisson`"));
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Differences whose numbers are known beforehand.

use super::super::example;
use super::super::format::text;
use super::*;
use crate::report::factor::{Factor, Factors, Level};

/// Adds a number to a headline metric of the whole run in each run of a case.
fn shifted(mut comparison: Comparison, case: usize, key: &str, by: f64) -> Comparison {
    for run in &mut comparison.schemes[case].runs {
        let row = run.rows.iter_mut().find(|row| row.labels.is_empty()).unwrap();
        let value = row.value(key) + by * (1.0 + 0.001 * run.seed as f64);
        row.values.insert(key.into(), Some(value));
    }
    comparison
}

fn between(a: &Comparison, b: &Comparison) -> Difference {
    difference(("out/a", a), ("out/b", b), &[])
}

#[test]
fn equal_results_are_said_to_be_the_same_and_no_difference_is_told_apart() {
    let found = between(&example::comparison(), &example::comparison());
    assert!(found.same && found.changed.is_empty() && found.gone.is_empty() && found.new.is_empty());
    assert!(
        found.cases.iter().flat_map(|case| &case.metrics).all(|one| !one.apart && one.difference.mean == 0.0)
    );
    let told = text::render(&document(&found));
    assert!(told.contains("A and B have the same numbers in all 6 runs."), "{told}");
}

#[test]
fn a_shift_that_every_seed_shows_is_told_apart_with_its_size_and_no_other_is() {
    let a = example::comparison();
    let b = shifted(example::comparison(), 1, "queue_mean_packets", 100.0);
    let found = between(&a, &b);
    let apart: Vec<_> = found
        .cases
        .iter()
        .flat_map(|case| case.metrics.iter().filter(|one| one.apart).map(|one| (case.case.as_str(), one)))
        .collect();
    let [("prert/pi", one)] = apart[..] else { panic!("{apart:?}") };
    assert_eq!(one.metric, "queue_mean_packets");
    assert!((one.difference.mean - 100.2).abs() < 1e-9, "{:?}", one.difference);
    // One of m comparisons has a probability below 1; the others differ by nothing.
    let m = found.cases.iter().flat_map(|case| &case.metrics).filter(|any| any.p.is_some()).count() as f64;
    let alone = crate::table::paired::Paired::of([(100.1, 0.0), (100.2, 0.0), (100.3, 0.0)]).p.unwrap();
    assert!((one.p.unwrap() - m * alone).abs() < 1e-9, "{:?}", one.p);
    let told = text::render(&document(&found));
    assert!(
        told.contains("is distinguishable from chance; the largest in proportion:")
            && told.contains("prert/pi"),
        "{told}"
    );
    assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
}

#[test]
fn cases_are_matched_by_the_factors_that_both_have_and_the_others_are_new_or_gone() {
    let a = example::of("a", &["reno/droptail", "vegas", "prert/pi"]);
    let mut b = example::of("b", &["cubic", "reno/droptail", "prert/pi"]);
    // Another factor with a single level does not separate them.
    b.factors.push(Factor {
        key: "topology.rtt".into(),
        name: "RTT".into(),
        unit: "ms",
        column: "rtt_ms".into(),
        levels: vec![Level { text: "20 ms".into(), number: Some(20.0) }],
    });
    b.schemes.iter_mut().for_each(|scheme| scheme.levels.push(0));
    let found = between(&a, &b);
    let cases: Vec<&str> = found.cases.iter().map(|case| case.case.as_str()).collect();
    assert_eq!(
        (cases, found.gone, found.new),
        (vec!["reno/droptail", "prert/pi"], vec!["vegas".into()], vec!["cubic".into()])
    );
}

#[test]
fn a_fall_has_a_minus_and_a_single_case_no_note_on_its_seed() {
    let one = || example::of("one", &["reno"]);
    let told = text::render(&document(&between(&one(), &shifted(one(), 0, "queue_mean_packets", -100.0))));
    assert!(told.contains("−100") && !told.contains("-100"), "{told}");
    let mut lone = one();
    lone.schemes[0].runs.truncate(1);
    assert!(between(&lone, &lone).notes.is_empty());
    let mut two = example::of("two", &["reno", "vegas"]);
    two.schemes.iter_mut().for_each(|scheme| scheme.runs.truncate(1));
    assert_eq!(between(&two, &two).notes, ["2 of 2 cases have one seed in common, which gives no interval"]);
}

#[test]
fn two_lone_cases_are_compared_whatever_they_are_called() {
    let (a, b) = (example::of("a", &["before"]), example::of("b", &["after"]));
    assert_eq!(between(&a, &b).cases.len(), 1);
    let two = example::of("b", &["after", "later"]);
    assert!(between(&a, &two).cases.is_empty());
    assert!(text::render(&document(&between(&a, &two))).contains("No case of A is a case of B."));
}

#[test]
fn a_level_that_one_varies_is_matched_with_the_same_one_that_the_other_writes() {
    let pair = |key: &str, value: &str| (key.to_string(), value.to_string());
    let cases = ["1bdp", "2bdp"].map(|buffer| vec![pair("topology.buffer", buffer)]);
    let Factors { factors, levels } = Factors::of(&cases);
    let mut a = example::of("a", &["buffer 1 BDP", "buffer 2 BDP"]);
    a.factors = factors;
    a.schemes.iter_mut().zip(levels).for_each(|(scheme, levels)| scheme.levels = levels);
    let fixed = |text: &str| {
        let mut b = example::of("b", &["b"]);
        (b.factors, b.schemes[0].levels) = (Vec::new(), Vec::new());
        b.manifest.scenario = vec![("b".into(), text.into())];
        b
    };
    let found = |text: &str| {
        let found = between(&a, &fixed(text));
        (found.cases.len(), found.gone)
    };
    for text in ["[topology]\nbuffer = \"2bdp\"\n", "[topology]\nbuffer = \"2 BDP\"\n"] {
        assert_eq!(found(text), (1, vec!["buffer 1 BDP".to_string()]), "{text}");
    }
    for text in ["[topology]\nbuffer = \"3bdp\"\n", "[topology]\nrtt = \"20ms\"\n"] {
        assert_eq!(found(text).0, 0, "{text}");
    }
}

#[test]
fn without_two_common_seeds_it_says_that_there_is_no_interval() {
    let a = example::comparison();
    let mut b = shifted(example::comparison(), 0, "queue_mean_packets", 5.0);
    b.schemes.iter_mut().for_each(|scheme| scheme.runs.truncate(1));
    let told = text::render(&document(&between(&a, &b)));
    assert!(told.contains("No difference has an interval: A and B have 1 seed in common."), "{told}");
    b.schemes.iter_mut().for_each(|scheme| scheme.runs[0].seed = 77);
    let none = text::render(&document(&between(&a, &b)));
    assert!(none.contains("A and B have 0 seeds in common.") && !none.contains("None of"), "{none}");
}

#[test]
fn runs_are_paired_by_the_seeds_that_both_have() {
    let a = example::comparison();
    let mut b = shifted(example::comparison(), 0, "queue_mean_packets", 5.0);
    for scheme in &mut b.schemes {
        scheme.runs.remove(0);
        scheme.runs.reverse();
    }
    let found = between(&a, &b);
    assert_eq!(found.cases[0].seeds, [2, 3]);
    let queue = found.cases[0].metrics.iter().find(|one| one.metric == "queue_mean_packets").unwrap();
    assert!((queue.difference.mean - 5.0125).abs() < 1e-9, "{queue:?}");
    for scheme in &mut b.schemes {
        scheme.runs.iter_mut().for_each(|run| run.seed += 100);
    }
    let apart = between(&a, &b);
    assert!(apart.cases.iter().all(|case| case.seeds.is_empty() && case.metrics.is_empty()));
    assert!(apart.notes[0].contains("no seed in common"), "{:?}", apart.notes);
}

#[test]
fn a_chosen_metric_is_compared_wherever_it_is() {
    let comparison = example::comparison();
    let wanted = ["jain_index".to_string()];
    let found = difference(("a", &comparison), ("b", &comparison), &wanted);
    let parts: Vec<String> = found.cases[0].metrics.iter().map(Compared::part).collect();
    assert!(parts.contains(&String::new()) && parts.contains(&"forward".to_string()), "{parts:?}");
}

#[test]
fn a_grid_of_cases_fits_a_screen_and_pages_have_all_of_it() {
    let names: Vec<String> = (0..36).map(|place| format!("case {place}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let a = example::of("grid", &names);
    let mut b = example::of("grid", &names);
    for case in 0..names.len() {
        // The least queue changes most in proportion.
        b = shifted(b, case, "queue_mean_packets", if case == 30 { 5000.0 } else { 50.0 });
        b = shifted(b, case, "queueing_delay_mean_ms", 7.0);
    }
    let document = document(&between(&a, &b));
    let told = text::render(&document);
    assert!(told.lines().count() < 50 && told.contains("case 30  queue, packets"), "{told}");
    let page = crate::report::format::markdown::render(&document);
    assert!(names.iter().all(|name| page.contains(&format!("| {name} |"))), "{page}");
}

#[test]
fn every_difference_has_a_line_of_its_own_in_files() {
    let found = between(&example::comparison(), &example::comparison());
    let written = records(&found);
    assert_eq!(written.rows.len(), found.cases.iter().map(|case| case.metrics.len()).sum::<usize>());
    assert!(written.rows.iter().all(|row| row.len() == written.columns.len()));
}

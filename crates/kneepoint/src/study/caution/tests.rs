// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of the wording of cautions.

use super::*;
use crate::scenario::parse;
use crate::table::Table;

const SCENARIO: &str = "[run]\nduration = '80s'\nmeasure = '20s..80s'\n[topology]\nkind = 'dumbbell'\nrate = '5mbit'\n[[flows]]\nname = 'long'\ncc = 'reno'\n";

fn valid() -> Valid {
    parse(SCENARIO).unwrap().cases.remove(0).valid
}

/// Three runs with these numbers of the group, and this queue in each of sixty parts.
fn runs(numbers: &[(&str, f64)], queue: impl Fn(usize, u64) -> f64) -> Vec<Record> {
    let run = |seed: u64| {
        let group = Row::new([("group", "long".into())]);
        let row = numbers.iter().fold(group, |row, (key, value)| row.with(*key, *value));
        let columns = vec!["time_s".to_string(), "queue_mean_packets[bottleneck]".to_string()];
        let rows = (0..60).map(|part| vec![20.5 + part as f64, queue(part, seed)]).collect();
        let parts = Some(Table { columns, rows });
        let own = Row::new([]).with("queue_mean_packets", seed as f64);
        Record { parts, ..Record::computed(seed, 0.0, vec![own, row]) }
    };
    (1..4).map(run).collect()
}

fn noise(part: usize, seed: u64) -> f64 {
    10.0 + ((part as u64 * 7 + seed * 13) % 11) as f64 / 11.0
}

fn said(numbers: &[(&str, f64)], queue: impl Fn(usize, u64) -> f64) -> Vec<Caution> {
    let (valid, runs) = (valid(), runs(numbers, queue));
    of(&[Case { name: "a", valid: &valid, runs: &runs }])
}

#[test]
fn a_steady_window_with_many_events_has_no_caution() {
    let many = [("flows", 2.0), ("repairs", 20.0), ("timeouts", 0.0)];
    assert_eq!(said(&many, noise), []);
}

#[test]
fn a_queue_that_begins_high_is_told_with_the_time_from_which_it_is_steady() {
    let begins = |part: usize, seed: u64| noise(part, seed) + if part < 12 { 30.0 } else { 0.0 };
    let [caution] = &said(&[], begins)[..] else { panic!("one caution") };
    assert_eq!(
        (caution.kind.as_str(), caution.subject.as_str()),
        ("unsteady", "queue_mean_packets[bottleneck]")
    );
    assert_eq!(
        caution.text,
        "Mean queue of a is not steady: over the window 57 % above its last half. Steady from 32 s on: measure from there to 92 s."
    );
    let grows = |part: usize, seed: u64| noise(part, seed) + part as f64;
    let [late] = &said(&[], grows)[..] else { panic!("one caution") };
    assert!(late.text.ends_with("measure from 80 s to 200 s at least."), "{}", late.text);
}

/// Halves that differ by this much over all runs, among swings and by another difference in each run, so that it is no certain drift.
#[test]
fn halves_that_differ_make_a_window_short_and_less_so_where_it_has_many_round_trips() {
    let swing = |percent: f64| {
        move |part: usize, seed: u64| {
            let swings = 3.0 * libm::cos(std::f64::consts::TAU * 3.0 * (part as f64 + 0.5) / 60.0);
            let differs = percent / 100.0 * [2.5, 1.5, -1.0][seed as usize - 1];
            10.0 * (1.0 + if part < 30 { -differs } else { differs } / 2.0) + swings
        }
    };
    let of = |trip_ms: f64, percent: f64| {
        let all = said(&[("flows", 2.0), ("rtt_mean_ms", trip_ms)], swing(percent));
        all.into_iter().find(|one| one.kind == "brief")
    };
    assert_eq!(of(100.0, 14.0), None);
    let many = of(100.0, 20.0).unwrap();
    assert_eq!(
        many.text,
        "Short window: Mean queue of a differs by 20 % between its halves, and the limit is 15 %: measure from 80 s to 200 s at least."
    );
    assert_eq!(many.subject, "queue_mean_packets[bottleneck]");
    let few = of(2000.0, 16.0).unwrap();
    assert_eq!(
        few.text,
        "Short window: Mean queue of a differs by 16 % between its halves, and the limit with fewer than fifty round trips is 6 %: \
         measure from 80 s to 200 s at least."
    );
    assert_eq!(of(2000.0, 5.0), None);
    // The remedy is twice the window of a minute, or fifty round trips.
    let brief = of(6000.0, 16.0).unwrap();
    assert!(brief.text.ends_with("measure from 170 s to 470 s at least."), "{}", brief.text);
}

/// A certain drift of a quantity is told once, and halves of another quantity are still compared.
#[test]
fn a_drift_takes_the_place_of_a_short_window_of_the_same_quantity_alone() {
    let long = [("flows", 2.0), ("rtt_mean_ms", 100.0)];
    let grows = |part: usize, seed: u64| noise(part, seed) + part as f64;
    let kinds = |runs: &[Record]| -> Vec<String> {
        let valid = valid();
        of(&[Case { name: "a", valid: &valid, runs }]).into_iter().map(|one| one.kind).collect()
    };
    let mut runs = runs(&long, grows);
    assert_eq!(kinds(&runs), ["unsteady"]);
    for run in &mut runs {
        let parts = run.parts.as_mut().unwrap();
        parts.columns.push("goodput_bps[long]".into());
        // It swings, and its last half has three times the mean of the first: more than the queue's.
        for (place, row) in parts.rows.iter_mut().enumerate() {
            let swings = libm::cos(std::f64::consts::TAU * 3.0 * (place as f64 + 0.5) / 60.0);
            let level = [9.0, 3.0, -3.0][run.seed as usize - 1] * if place < 30 { -0.5 } else { 0.5 };
            row.push(3.0 + level + 6.0 * swings);
        }
    }
    assert_eq!(kinds(&runs), ["unsteady", "brief"]);
}

#[test]
fn few_losses_few_transfers_and_a_tail_are_told_with_what_would_do() {
    let few = said(&[("flows", 2.0), ("repairs", 2.0), ("timeouts", 0.0)], noise);
    assert_eq!(
        few[0].text,
        "Few losses: long of a recovered 6 times in all runs, timeouts included; ten times need a window of 100 s, or 5 seeds."
    );
    let transfers = [
        ("completions", 400.0),
        ("completion_time_mean_ms", 100.0),
        ("completion_time_max_ms", 30_000.0),
        ("completion_time_p99_ms", 900.0),
    ];
    let [tail, percentile] = &said(&transfers, noise)[..] else { panic!("two cautions") };
    // 30 s of 120 s, and 4 of 400 transfers.
    assert_eq!((tail.kind.as_str(), percentile.kind.as_str()), ("tail", "percentile"));
    assert!((tail.found - 0.25).abs() < 1e-9 && (percentile.found - 4.0).abs() < 1e-9);
    assert!(tail.text.contains("at least 6000 transfers: 5.0 times"), "{}", tail.text);
    assert!(percentile.text.ends_with("ten need a window of 150 s."), "{}", percentile.text);
}

#[test]
fn a_run_that_all_seeds_gave_is_counted_once_and_no_seeds_are_advised() {
    let (valid, mut runs) = (valid(), runs(&[("flows", 2.0), ("repairs", 6.0), ("timeouts", 0.0)], noise));
    let said = |told: &[Record]| of(&[Case { name: "a", valid: &valid, runs: told }]);
    assert_eq!(said(&runs), []);
    runs[1].rows = runs[0].rows.clone();
    runs[2].rows = runs[0].rows.clone();
    let begin = "Few losses: long of a recovered 6 times in each run, timeouts included; ten times need a window of 100 s.";
    for same in [&runs[..2], &runs[..]] {
        assert_eq!(said(same).iter().map(|one| one.text.as_str()).collect::<Vec<_>>(), [begin]);
    }
    let alone =
        "recovered 6 times in all runs, timeouts included; ten times need a window of 100 s, or 2 seeds.";
    assert!(said(&runs[..1])[0].text.ends_with(alone));
}

#[test]
fn seeds_that_repeat_a_run_are_told_unless_nothing_is_random() {
    let (valid, mut runs) = (valid(), runs(&[], noise));
    runs[2].rows = runs[0].rows.clone();
    let told = of(&[Case { name: "a", valid: &valid, runs: &runs }]);
    assert!(told[0].text.contains("1 of 3 runs of a repeat another one"), "{told:?}");
    runs[1].rows = runs[0].rows.clone();
    assert_eq!(of(&[Case { name: "a", valid: &valid, runs: &runs }]), []);
}

#[test]
fn retransmissions_without_losses_after_timeouts_are_told_with_the_hosts_that_avoid_them() {
    let told = |retransmissions: f64, timeouts: f64, drops: f64, hosts: &str| {
        let text = format!("{SCENARIO}[tcp]\npreset = '{hosts}'\n");
        let valid = parse(&text).unwrap().cases.remove(0).valid;
        let mut runs = runs(&[("retransmissions", retransmissions), ("timeouts", timeouts)], noise);
        for run in &mut runs {
            run.rows.push(Row::new([("link", "r1-r2".into())]).with("drops", drops));
        }
        of(&[Case { name: "a", valid: &valid, runs: &runs }])
    };
    let [caution] = &told(200.0, 20.0, 120.0, "paper")[..] else { panic!("one caution") };
    assert_eq!((caution.kind.as_str(), caution.subject.as_str()), ("spurious", "retransmissions"));
    assert!((caution.found - 0.4).abs() < 1e-9);
    let begin = "Spurious timeouts: 40 % of the segments that a retransmitted had not been lost, after 60 timeouts in all runs.";
    assert!(caution.text.starts_with(begin) && caution.text.contains("`--tcp linux`"), "{}", caution.text);
    assert_eq!(told(200.0, 20.0, 160.0, "paper"), []);
    assert_eq!(told(200.0, 3.0, 0.0, "paper"), []);
    assert_eq!(told(200.0, 20.0, 120.0, "linux"), []);
}

#[test]
fn the_worst_case_stands_for_the_others_of_its_kind() {
    let (valid, few, fewer) = (
        valid(),
        runs(&[("flows", 1.0), ("repairs", 3.0), ("timeouts", 0.0)], noise),
        runs(&[("flows", 1.0), ("repairs", 2.0), ("timeouts", 0.0)], noise),
    );
    let case = |name, runs| Case { name, valid: &valid, runs };
    let [told] = &of(&[case("few", &few), case("fewer", &fewer)])[..] else { panic!("one caution") };
    assert_eq!(told.case, "fewer");
    assert!(told.text.ends_with("The same applies to another number of this study."));
}

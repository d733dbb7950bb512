// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests of the wording of verdicts.

use super::super::{Factors, RunResult, example};
use super::*;
use crate::table::Row;

/// Levels of factors, and for each seed the queueing delay in milliseconds and the utilization.
type Given = (&'static [(&'static str, &'static str)], &'static [(f64, f64)]);

fn comparison(cases: &[Given]) -> Comparison {
    let mut comparison = example::of("t", &vec!["case"; cases.len()]);
    let settings = |(levels, _): &Given| {
        levels.iter().map(|(key, level)| (key.to_string(), level.to_string())).collect()
    };
    let all = Factors::of(&cases.iter().map(settings).collect::<Vec<_>>());
    for (case, (scheme, (_, seen))) in comparison.schemes.iter_mut().zip(cases).enumerate() {
        let template = scheme.runs[0].clone();
        let run = |(seed, (delay, utilization)): (u64, &(f64, f64))| {
            let row = Row::new([]).with("queueing_delay_mean_ms", *delay).with("utilization", *utilization);
            RunResult { seed, events: seed, rows: vec![row], ..template.clone() }
        };
        scheme.scheme = all.name(case, "untitled");
        scheme.levels = all.levels[case].clone();
        scheme.runs = (1..).zip(*seen).map(run).collect();
    }
    comparison.factors = all.factors;
    comparison
}

fn said(cases: &[Given]) -> String {
    verdict(&comparison(cases)).plain()
}

const PIE: Given = (&[("scheme", "pie")], &[(12.2, 0.990), (12.4, 0.991), (12.3, 0.989), (12.3, 0.990)]);
const CODEL: Given = (&[("scheme", "codel")], &[(12.4, 0.992), (12.1, 0.991), (12.5, 0.990), (12.3, 0.990)]);
const DROPTAIL: Given =
    (&[("scheme", "droptail")], &[(17.8, 0.994), (17.9, 0.995), (18.0, 0.994), (17.9, 0.995)]);
const RED: Given = (&[("scheme", "red")], &[(23.8, 0.994), (24.0, 0.994), (24.1, 0.995), (24.2, 0.994)]);

#[test]
fn of_two_rivals_it_says_by_how_much_how_sure_and_at_what_cost() {
    assert_eq!(
        said(&[DROPTAIL, PIE]),
        "pie has 31 % less queueing delay than droptail (12.3 ms against 17.9 ms, 4 seeds, p < 0.001), at 0.5 % less utilization."
    );
}

#[test]
fn of_several_it_names_the_best_and_the_next_and_equals_are_named_together() {
    assert_eq!(
        said(&[DROPTAIL, PIE, RED]),
        "pie has the least queueing delay of 3: 12.3 ms, 31 % less than droptail, the next (17.9 ms, 4 seeds, p < 0.001), at 0.5 % \
         less utilization."
    );
    assert_eq!(
        said(&[DROPTAIL, PIE, CODEL]),
        "pie has the least queueing delay of 3: 12.3 ms, 31 % less than droptail (17.9 ms, 4 seeds, p < 0.001), at 0.5 % less \
         utilization; codel (12.3 ms) is statistically indistinguishable from it."
    );
}

#[test]
fn what_seeds_do_not_tell_apart_is_not_called_better() {
    assert_eq!(
        said(&[PIE, CODEL]),
        "The queueing delay of pie and codel is statistically indistinguishable (12.3 and 12.3 ms, 4 seeds, p = 0.8)."
    );
    let lone = |given: Given| -> Given { (given.0, &given.1[..1]) };
    let text = said(&[lone(PIE), lone(DROPTAIL)]);
    assert!(text.contains("(12.2 ms against 17.8 ms, one run of each, untested)"), "{text}");
}

#[test]
fn delays_that_differ_by_less_than_a_packet_takes_are_equal() {
    let said = |cases: &[Given], mbit: f64| {
        let mut comparison = comparison(cases);
        for run in comparison.schemes.iter_mut().flat_map(|scheme| &mut scheme.runs) {
            let link = Row::new([("link", "r1-r2".into())]).with("served_packets", 1000.0);
            run.rows.push(link.with("served_bytes", 1.5e6).with("capacity_bps", mbit * 1e6));
        }
        verdict(&comparison).plain()
    };
    // 1500 bytes take 6 ms at 2 Mbit/s, and 5 at 2.4.
    let equal = "The queueing delay of pie and droptail is equal within the time of one packet, 6.0 ms (12.3 and 17.9 ms).";
    assert_eq!(said(&[DROPTAIL, PIE], 2.0), equal);
    assert!(said(&[DROPTAIL, PIE], 2.4).starts_with("pie has 31 % less queueing delay than droptail"));
    let three = said(&[DROPTAIL, PIE, RED], 2.0);
    assert!(
        three.starts_with("pie has the least queueing delay of 3: 12.3 ms, 49 % less than red (24.0 ms,"),
        "{three}"
    );
    assert!(
        three.contains("droptail (17.9 ms) is equal to it within the time of one packet, 6.0 ms, with"),
        "{three}"
    );
    let lone = |given: Given| -> Given { (given.0, &given.1[..1]) };
    assert!(said(&[lone(PIE), lone(DROPTAIL)], 2.0).contains("is equal within the time of one packet"));
    const ONE: [&[(f64, f64)]; 2] = [PIE.1, DROPTAIL.1];
    let places = said(
        &[
            (&[("flows.a.cc", "bbr"), ("topology.rtt", "20ms")], ONE[0]),
            (&[("flows.a.cc", "cubic"), ("topology.rtt", "20ms")], ONE[1]),
            (&[("flows.a.cc", "bbr"), ("topology.rtt", "80ms")], ONE[0]),
            (&[("flows.a.cc", "cubic"), ("topology.rtt", "80ms")], ONE[1]),
        ],
        2.0,
    );
    assert!(places.starts_with("At none of 2 values of RTT is one the best in"), "{places}");
    assert!(
        places.contains("statistically indistinguishable, or equal within the time of one packet."),
        "{places}"
    );
}

#[test]
fn of_single_runs_one_with_the_best_number_is_equal_and_not_indistinguishable() {
    const TWIN: Given = (&[("scheme", "twin")], PIE.1);
    let lone = |given: Given| -> Given { (given.0, &given.1[..1]) };
    let text = said(&[lone(DROPTAIL), lone(PIE), lone(TWIN)]);
    assert!(text.contains("(12.2 ms) is equal to it") && text.contains("than droptail"), "{text}");
}

#[test]
fn over_several_conditions_it_counts_them() {
    const SEEN: [&[(f64, f64)]; 2] = [PIE.1, DROPTAIL.1];
    let case = |levels, seen: usize| -> Given { (levels, SEEN[seen]) };
    let text = said(&[
        case(&[("flows.a.cc", "bbr"), ("topology.rtt", "20ms")], 0),
        case(&[("flows.a.cc", "cubic"), ("topology.rtt", "20ms")], 1),
        case(&[("flows.a.cc", "bbr"), ("topology.rtt", "80ms")], 0),
        case(&[("flows.a.cc", "cubic"), ("topology.rtt", "80ms")], 1),
        case(&[("flows.a.cc", "bbr"), ("topology.rtt", "320ms")], 1),
        case(&[("flows.a.cc", "cubic"), ("topology.rtt", "320ms")], 0),
    ]);
    assert_eq!(
        text,
        "bbr has the least queueing delay at 2 of 3 values of RTT (RTT 20 ms and 80 ms), 31 % less than the next (p < 0.05), at 0.5 % \
         less utilization; cubic at 1 (RTT 320 ms)."
    );
    const ONE: [&[(f64, f64)]; 2] = [&[PIE.1[0]], &[DROPTAIL.1[0]]];
    let single = said(&[
        (&[("flows.a.cc", "bbr"), ("topology.rtt", "20ms")], ONE[0]),
        (&[("flows.a.cc", "cubic"), ("topology.rtt", "20ms")], ONE[1]),
        (&[("flows.a.cc", "bbr"), ("topology.rtt", "80ms")], ONE[0]),
        (&[("flows.a.cc", "cubic"), ("topology.rtt", "80ms")], ONE[1]),
    ]);
    assert!(
        single.contains("at all 2 values of RTT") && single.contains("(one run of each, untested)"),
        "{single}"
    );
}

/// Two congestion controls at two round trips and two buffers; the levels of `seen` say which has which numbers.
fn grid(seen: [(Seen, Seen); 4]) -> Vec<Given> {
    const LEVELS: [[(&str, &str); 2]; 4] = [
        [("topology.rtt", "20ms"), ("topology.buffer", "1bdp")],
        [("topology.rtt", "20ms"), ("topology.buffer", "2bdp")],
        [("topology.rtt", "80ms"), ("topology.buffer", "1bdp")],
        [("topology.rtt", "80ms"), ("topology.buffer", "2bdp")],
    ];
    let case = |control: &'static str, place: usize, numbers: Seen| -> Given {
        let levels = [("flows.a.cc", control), LEVELS[place][0], LEVELS[place][1]];
        (Vec::leak(levels.to_vec()), numbers)
    };
    let both = |(place, (bbr, cubic))| [case("bbr", place, bbr), case("cubic", place, cubic)];
    (0..).zip(seen).flat_map(both).collect()
}

/// The numbers of each seed.
type Seen = &'static [(f64, f64)];

#[test]
fn over_several_conditions_it_names_them_and_says_the_cost_where_it_is_paid() {
    // With the same utilization as its rival.
    const FREE: Seen = &[(12.2, 0.994), (12.4, 0.995), (12.3, 0.994), (12.3, 0.995)];
    let text =
        said(&grid([(PIE.1, DROPTAIL.1), (FREE, DROPTAIL.1), (FREE, DROPTAIL.1), (DROPTAIL.1, PIE.1)]));
    assert_eq!(
        text,
        "bbr has the least queueing delay at 3 of 4 combinations of RTT and buffer (all but RTT 80 ms with buffer 2 BDP), 31 % less \
         than the next (p < 0.05), at 0.5 % less utilization at RTT 20 ms with buffer 1 BDP; cubic at 1 (RTT 80 ms with buffer 2 BDP)."
    );
    let free = said(&grid([(FREE, DROPTAIL.1), (FREE, DROPTAIL.1), (DROPTAIL.1, PIE.1), (PIE.1, CODEL.1)]));
    assert!(
        free.contains(
            "(RTT 20 ms), 31 % less than the next (p < 0.05), at no distinguishable cost in utilization;"
        ),
        "{free}"
    );
    assert!(
        free.ends_with(
            "; at 1 (RTT 80 ms with buffer 2 BDP) the best is statistically indistinguishable from others."
        ),
        "{free}"
    );
    let corners = said(&grid([(FREE, DROPTAIL.1), (PIE.1, CODEL.1), (PIE.1, CODEL.1), (FREE, DROPTAIL.1)]));
    assert!(
        corners.contains("at 2 of 4 combinations of RTT and buffer (RTT 20 ms with buffer 1 BDP; RTT 80 ms with buffer 2 BDP), "),
        "{corners}"
    );
    let all = said(&grid([(PIE.1, DROPTAIL.1), (FREE, DROPTAIL.1), (FREE, DROPTAIL.1), (FREE, DROPTAIL.1)]));
    assert!(all.contains("at all 4 combinations of RTT and buffer, 31 %"), "{all}");
}

#[test]
fn quantities_that_are_the_same_everywhere_have_no_range() {
    const FULL: [Seen; 2] = [&[(12.2, 1.0), (12.4, 1.0)], &[(17.8, 1.0), (17.9, 1.0)]];
    let text = said(&[(&[("topology.rtt", "20ms")], FULL[0]), (&[("topology.rtt", "80ms")], FULL[1])]);
    assert!(text.ends_with("and utilization is 100 % at both (2 seeds)."), "{text}");
    let names = said(&[(&[("run.preset", "a")], FULL[0]), (&[("run.preset", "b")], FULL[1])]);
    assert!(names.ends_with("and utilization is 100 % everywhere (2 seeds)."), "{names}");
}

#[test]
fn conditions_alone_have_a_course_and_a_case_alone_has_its_numbers() {
    let text = said(&[(&[("topology.rtt", "80ms")], PIE.1), (&[("topology.rtt", "20ms")], DROPTAIL.1)]);
    assert_eq!(
        text,
        "From RTT 20 ms to RTT 80 ms, queueing delay falls from 17.9 to 12.3 ms and utilization falls from 99.45 to 99.0 % (4 seeds)."
    );
    assert_eq!(
        said(&[PIE]),
        "Queueing delay is 12.30 ± 0.13 ms and utilization is 99.00 ± 0.13 % (4 seeds)."
    );
    assert_eq!(verdict(&comparison(&[])), Prose::default());
}

#[test]
fn the_cost_is_against_the_best_in_it_not_against_the_next_in_delay() {
    // The next in delay is the emptiest link.
    const IDLE: Given =
        (&[("scheme", "idle")], &[(14.8, 0.850), (14.9, 0.851), (15.0, 0.849), (14.9, 0.850)]);
    assert_eq!(
        said(&[DROPTAIL, PIE, IDLE]),
        "pie has the least queueing delay of 3: 12.3 ms, 17 % less than idle, the next (14.9 ms, 4 seeds, p < 0.001), at 0.5 % less \
         utilization than droptail."
    );
    let levels = |control: &'static str, rtt: &'static str| -> &'static [(&'static str, &'static str)] {
        Vec::leak(vec![("flows.a.cc", control), ("topology.rtt", rtt)])
    };
    let at = |rtt| [(levels("a", rtt), DROPTAIL.1), (levels("b", rtt), PIE.1), (levels("c", rtt), IDLE.1)];
    let text = said(&[at("20ms"), at("80ms")].concat());
    assert!(text.contains(", at 0.5 % less utilization than the best rival in it."), "{text}");
}

#[test]
fn an_equal_without_the_cost_is_said_to_spare_it() {
    const FULL: Given =
        (&[("scheme", "full")], &[(12.5, 0.994), (12.2, 0.995), (12.6, 0.994), (12.4, 0.995)]);
    let text = said(&[PIE, RED, FULL]);
    assert!(text.contains(", at 0.5 % less utilization than full;"), "{text}");
    assert!(
        text.ends_with(
            "full (12.4 ms) is statistically indistinguishable from it, with 0.5 % more utilization."
        ),
        "{text}"
    );
}

#[test]
fn more_seeds_are_advised_where_intervals_are_apart_and_where_seeds_are_few() {
    const NEAR: Seen = &[(10.0, 1.0), (10.1, 1.0), (9.9, 1.0)];
    const FAR: Seen = &[(14.0, 1.0), (16.0, 1.0), (18.0, 1.0)];
    let one = |name: &'static str, seen: Seen| -> Given { (Vec::leak(vec![("scheme", name)]), seen) };
    let others = [one("d", FAR), one("e", NEAR), one("f", FAR)];
    let text = said(&[&[one("a", NEAR), one("b", FAR)], &others[..]].concat());
    assert!(text.contains("indistinguishable") || text.contains("None is"), "{text}");
    assert!(
        text.ends_with(
            "Some of their 95 % intervals do not overlap: more seeds may separate them (--seeds 10)."
        ),
        "{text}"
    );
    let few = said(&[one("a", NEAR), one("b", &[(10.1, 1.0), (9.8, 1.0), (10.2, 1.0)])]);
    assert!(few.ends_with("3 seeds separate only large differences; more may help (--seeds 10)."), "{few}");
    assert!(!said(&[PIE, CODEL]).contains("--seeds"));
}

#[test]
fn along_a_number_a_course_without_distinct_ends_is_told_level_by_level() {
    const NOISY: Seen = &[(40.0, 0.90), (600.0, 0.99)];
    let at = |rtt: &'static str, seen: Seen| -> Given { (Vec::leak(vec![("topology.rtt", rtt)]), seen) };
    let text = said(&[
        at("10ms", &[(8.0, 1.0), (8.1, 1.0)]),
        at("40ms", &[(33.4, 1.0), (33.6, 1.0)]),
        at("600ms", NOISY),
    ]);
    assert_eq!(
        text,
        "From RTT 10 ms to RTT 600 ms, queueing delay is 8.1, 34 and 320 ms and utilization is 100, 100 and 94 %; the ends are \
         statistically indistinguishable in all of these (2 seeds). 2 seeds separate only large differences; more may help (--seeds 10)."
    );
    let peaked = said(&[at("10ms", PIE.1), at("40ms", RED.1), at("90ms", DROPTAIL.1)]);
    assert!(peaked.contains("queueing delay is 12.3, 24.0 and 17.9 ms"), "{peaked}");
}

#[test]
fn a_scheme_alone_is_not_named_at_each_condition_and_one_flow_is_not_fair() {
    let case = |rtt: &'static str, buffer: &'static str, seen: Seen| -> Given {
        let levels = vec![("flows.a.cc", "pert"), ("topology.rtt", rtt), ("topology.buffer", buffer)];
        (Vec::leak(levels), seen)
    };
    let cases = [case("20ms", "1bdp", PIE.1), case("80ms", "2bdp", DROPTAIL.1)];
    let text = said(&cases);
    assert!(text.contains("12.3 ms (RTT 20 ms, buffer 1 BDP)") && !text.contains("pert"), "{text}");
    let with_jain = |jain: f64| {
        let mut comparison = comparison(&[PIE]);
        for row in comparison.schemes.iter_mut().flat_map(|one| &mut one.runs).flat_map(|run| &mut run.rows) {
            *row = row.clone().with("jain_index", jain);
        }
        verdict(&comparison).plain()
    };
    assert!(!with_jain(1.0).contains("fairness") && with_jain(0.99).contains("fairness"));
}
